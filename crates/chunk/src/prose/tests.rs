//! Proves the laws of the prose cutter, and what it keeps together.

use model::BLOCK_SEPARATOR;
use proptest::prelude::*;

use super::*;
use model::BlockKind;

fn config(target_chars: usize, overlap_chars: usize) -> ProseConfig {
    ProseConfig { target_chars, overlap_chars, max_chars: target_chars + target_chars / 2 }
}

fn paragraph(text: &str) -> Block {
    Block::new(text, Pointer::Whole, BlockKind::Paragraph)
}

fn heading(level: u8, text: &str) -> Block {
    Block::new(text, Pointer::Whole, BlockKind::Heading(level))
}

#[track_caller]
fn check(blocks: &[Block], target_chars: usize, overlap_chars: usize, expected: &[&str]) {
    let pieces = cut_prose(blocks.to_vec(), &config(target_chars, overlap_chars));
    let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(texts, expected);
}

#[test]
fn sentences_stay_whole() {
    let text = "The first one. The second one. The third one.";
    check(&[paragraph(text)], 30, 0, &["The first one. The second one.", "The third one."]);
    check(
        &[paragraph("最初の文です。次の文です。最後です。")],
        14,
        0,
        &["最初の文です。次の文です。", "最後です。"],
    );
    check(&[], 30, 0, &[]);
    check(&[paragraph(" \n ")], 30, 0, &[]);
}

#[test]
fn neighbours_share_the_end_of_the_one_before() {
    let text = "The first one is here. The second one follows. The third one ends it.";
    check(
        &[paragraph(text)],
        50,
        14,
        &["The first one is here. The second one follows.", "one follows. The third one ends it."],
    );
}

#[test]
fn long_sentences_are_cut_at_words() {
    check(&[paragraph("aaaa bbbb cccc dddd eeee")], 10, 0, &["aaaa bbbb", "cccc dddd", "eeee"]);
    check(&[paragraph("あいうえおかきくけこ")], 4, 0, &["あいうえ", "おかきく", "けこ"]);
}

#[test]
fn headings_stay_with_what_follows() {
    let blocks = [
        heading(1, "Budget"),
        paragraph("Money is spent on schools and on roads."),
        heading(2, "Schools"),
        paragraph("There are many schools in this town, and each has a roof."),
    ];
    let pieces = cut_prose(blocks.to_vec(), &config(60, 0));
    assert_eq!(pieces[0].text, "Budget\n\nMoney is spent on schools and on roads.");
    assert_eq!(pieces[0].headings, Vec::<String>::new());
    assert_eq!(
        pieces[1].text,
        "Schools\n\nThere are many schools in this town, and each has a roof."
    );
    assert_eq!(pieces[1].headings, ["Budget"]);
}

#[test]
fn headings_are_known_to_every_passage_below() {
    let blocks = [
        heading(1, "One"),
        heading(2, "Two"),
        paragraph("A first sentence stands here. A second sentence stands here. A third one too."),
        heading(1, "Three"),
        paragraph("The last."),
    ];
    let pieces = cut_prose(blocks.to_vec(), &config(40, 0));
    assert_eq!(pieces[1].headings, ["One", "Two"]);
    assert_eq!(pieces.last().unwrap().text, "Three\n\nThe last.");
    assert!(pieces.last().unwrap().headings.is_empty());
}

#[test]
fn tables_stay_whole_where_they_fit() {
    let small = "a | b\n1 | 2\n3 | 4";
    let table = |text: &str| {
        let pointer = Pointer::Sheet { name: "Q2".to_owned(), range: None };
        Block::new(text, pointer, BlockKind::Table)
    };
    check(&[table(small)], 12, 4, &[small]);
    let rows: Vec<String> = (0..6).map(|row| format!("row {row} | value {row}")).collect();
    let pieces = cut_prose(vec![table(&rows.join("\n"))], &config(36, 10));
    assert_eq!(pieces.len(), 3);
    assert_eq!(pieces[0].text, "row 0 | value 0\nrow 1 | value 1");
    assert_eq!(pieces[0].headings, Vec::<String>::new());
    assert_eq!(pieces[1].headings, ["row 0 | value 0"]);
}

#[test]
fn places_are_kept_apart_and_lines_are_counted() {
    let page = |number, text: &str| Block::new(text, Pointer::Page(number), BlockKind::Paragraph);
    let pieces =
        cut_prose(vec![page(1, "One."), page(1, "Two."), page(2, "Three.")], &config(100, 10));
    let found: Vec<(&str, &Pointer)> =
        pieces.iter().map(|piece| (piece.text.as_str(), &piece.pointer)).collect();
    assert_eq!(found, [("One.\n\nTwo.", &Pointer::Page(1)), ("Three.", &Pointer::Page(2))]);

    let code = Block::new("a = 1\nb = 2\nc = 3\nd = 4", Pointer::Line(10), BlockKind::Code);
    let pieces = cut_prose(vec![code], &config(12, 0));
    let pointers: Vec<&Pointer> = pieces.iter().map(|piece| &piece.pointer).collect();
    assert_eq!(pointers, [&Pointer::Line(10), &Pointer::Line(12)]);
}

fn any_block() -> impl Strategy<Value = Block> {
    let kind = prop_oneof![
        Just(BlockKind::Heading(1)),
        Just(BlockKind::Heading(2)),
        Just(BlockKind::Paragraph),
        Just(BlockKind::Paragraph),
        Just(BlockKind::Table),
        Just(BlockKind::Code),
        Just(BlockKind::ListItem),
        Just(BlockKind::Other),
    ];
    let pointer = prop_oneof![
        Just(Pointer::Whole),
        (1_u32..3).prop_map(Pointer::Page),
        (1_u32..50).prop_map(Pointer::Line),
    ];
    let text = "[a-c \\n.|。、あe\u{301}😀]{0,60}|\\PC{0,30}";
    (text, pointer, kind).prop_map(|(text, pointer, kind)| Block::new(text, pointer, kind))
}

proptest! {
    #[test]
    fn laws(
        blocks in prop::collection::vec(any_block(), 0..8),
        target_chars in 1_usize..60,
        overlap_chars in 0_usize..30,
    ) {
        let config = config(target_chars, overlap_chars);
        let whole = Block::whole_text(&blocks);
        let chars: Vec<char> = whole.chars().collect();
        let pieces = cut_prose(blocks.clone(), &config);
        let mut covered = vec![false; chars.len()];
        let mut last: Option<Span> = None;
        for piece in &pieces {
            let at_span: String = chars[piece.span.start..piece.span.end].iter().collect();
            prop_assert_eq!(&at_span, &piece.text);
            prop_assert_eq!(piece.text.trim(), &piece.text);
            prop_assert!(!piece.text.is_empty());
            prop_assert!(piece.span.len() <= config.max_chars.max(1));
            if let Some(last) = last {
                prop_assert!(piece.span.start > last.start && piece.span.end > last.end);
                prop_assert!(last.end.saturating_sub(piece.span.start) <= overlap_chars);
            }
            last = Some(piece.span);
            covered[piece.span.start..piece.span.end].fill(true);
        }
        for (char, is_covered) in chars.iter().zip(&covered) {
            prop_assert!(*is_covered || char.is_whitespace(), "`{}` is in no passage", char);
        }
        // A passage begins at its pointer's place.
        let mut starts = Vec::new();
        let mut at = 0;
        for block in &blocks {
            starts.push(at);
            at += block.text.chars().count() + BLOCK_SEPARATOR.chars().count();
        }
        for piece in &pieces {
            let first = piece.span.start;
            let block_idx = starts.partition_point(|start| *start <= first) - 1;
            match (&piece.pointer, &blocks[block_idx].pointer) {
                (Pointer::Line(line), Pointer::Line(block_line)) => {
                    let before = &chars[starts[block_idx]..first];
                    let n_breaks = before.iter().filter(|char| **char == '\n').count();
                    prop_assert_eq!(*line as usize, *block_line as usize + n_breaks);
                }
                (pointer, block_pointer) => prop_assert_eq!(pointer, block_pointer),
            }
        }
    }
}
