//! The passages of a document as its page shows them: which of them is the hit, each character once,
//! private pieces taken out.

use maud::{Markup, html};
use model::{Passage, Pointer};

use super::marked::{marked, n_found};

/// One piece to show: its place, and the text that the piece before it did not show.
pub(super) struct Piece {
    pub(super) ordinal: usize,
    pub(super) pointer: String,
    pub(super) n_chars: usize,
    pub(super) n_overlap: usize,
    pub(super) text: String,
    pub(super) is_hit: bool,
}

/// What is between a pointer and the character of the file's text where a hit begins: it is named
/// where a page or sheet is longer than an answer shows of it.
const CHAR: &str = ", char ";

/// Finds the passage that a pointer leads to: the one with its character; of those at it the one
/// that says most of the query; or the last one that begins before its line, since a hit points at
/// the line that says most of the query.
pub(super) fn hit_at(passages: &[Passage], at: &str, query: &str) -> Option<usize> {
    let char_at = at.rsplit_once(CHAR).and_then(|(_, number)| number.trim().parse::<usize>().ok());
    if let Some(char_at) = char_at {
        let holds = |passage: &Passage| (passage.span.start..passage.span.end).contains(&char_at);
        return passages.iter().rposition(holds);
    }
    let is_at = |passage: &Passage| passage.pointer.to_string().eq_ignore_ascii_case(at);
    let there = passages.iter().enumerate().filter(|(_, passage)| is_at(passage));
    // Of several that say as much, the first.
    let best = there.rev().max_by_key(|(_, passage)| n_found(&passage.text, query));
    best.map(|(ordinal, _)| ordinal).or_else(|| {
        let wanted: Pointer = at.parse().ok()?;
        let line = wanted.line()?;
        passages.iter().map(|passage| &passage.pointer).rposition(|pointer| {
            pointer.line().is_some_and(|first| first <= line) && pointer.on_line(line) == wanted
        })
    })
}

/// Cuts the shown passages so that each character appears once, with private pieces taken out by
/// looking at the whole text that is shown.
pub(super) fn redacted_pieces(
    passages: &[Passage],
    from: usize,
    until: usize,
    hit: Option<usize>,
) -> Vec<Piece> {
    let mut whole = String::new();
    let mut cuts: Vec<(usize, usize, usize)> = Vec::new();
    let mut shown_until = 0;
    for passage in &passages[from..until] {
        let n_overlap = shown_until.min(passage.span.end).saturating_sub(passage.span.start);
        if passage.span.start > shown_until {
            // Passages that do not touch must not make a private piece together.
            whole.push('\n');
        }
        let start = whole.len();
        whole.extend(passage.text.chars().skip(n_overlap));
        cuts.push((start, whole.len(), n_overlap));
        shown_until = shown_until.max(passage.span.end);
    }
    let private = text::find_private(&whole);
    (from..until)
        .zip(cuts)
        .map(|(ordinal, (start, end, n_overlap))| {
            let mut text = String::new();
            let mut done = start;
            for piece in
                private.iter().filter(|piece| piece.bytes.end > start && piece.bytes.start < end)
            {
                let (first, last) = (piece.bytes.start.max(start), piece.bytes.end.min(end));
                text.push_str(&whole[done.min(first)..first]);
                text.push_str("[redacted]");
                done = last;
            }
            text.push_str(&whole[done..end]);
            let passage = &passages[ordinal];
            Piece {
                ordinal,
                pointer: passage.pointer.to_string(),
                n_chars: passage.span.len(),
                n_overlap,
                text,
                is_hit: hit == Some(ordinal),
            }
        })
        .collect()
}

pub(super) fn piece_of(piece: &Piece, query: &str) -> Markup {
    let class = if piece.is_hit { "passage hit" } else { "passage" };
    let id = if piece.is_hit { "hit".to_owned() } else { format!("p{}", piece.ordinal) };
    html! {
        div class=(class) id=(id) {
            span .tag { "passage " (piece.ordinal + 1) " · " (piece.pointer) " · " (piece.n_chars) " characters"
                @if piece.n_overlap > 0 { ", " (piece.n_overlap) " of them shared with the one before" } }
            // Empty lines at the border of a passage say nothing.
            @let text = piece.text.trim_matches('\n');
            @if query.is_empty() { (text) } @else { (marked(text, query)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{PassageId, Span};

    use super::*;

    fn passage(ordinal: u32, start: usize, text: &str) -> Passage {
        Passage {
            id: PassageId::new(format!("p{ordinal}")),
            ordinal,
            text: text.to_owned(),
            span: Span::new(start, start + text.chars().count()),
            pointer: Pointer::Line(1),
            headings: Vec::new(),
        }
    }

    #[test]
    fn overlapping_passages_show_each_character_once() {
        let passages =
            [passage(0, 0, "one two țhree"), passage(1, 8, "țhree four"), passage(2, 40, "far")];
        let pieces = redacted_pieces(&passages, 0, 3, Some(1));
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(texts, ["one two țhree", " four", "far"]);
        assert!(pieces[1].is_hit && pieces[1].n_overlap == 5);
    }

    #[test]
    fn a_line_leads_to_the_passage_that_holds_it() {
        let at = |pointer: Pointer| Passage { pointer, ..passage(0, 0, "x") };
        let inner = |line| Pointer::Inner {
            path: "a.txt".to_owned(),
            place: Box::new(Pointer::Line(line)),
        };
        let passages = [1, 11, 30].map(|line| at(Pointer::Line(line)));
        for (pointer, expected) in
            [("line 1", Some(0)), ("line 7", Some(0)), ("line 11", Some(1)), ("line 99", Some(2))]
        {
            assert_eq!(hit_at(&passages, pointer, ""), expected, "{pointer}");
        }
        for other in ["page 2", "a.txt > line 7", "nonsense"] {
            assert_eq!(hit_at(&passages, other, ""), None, "{other}");
        }
        assert_eq!(hit_at(&[at(inner(1)), at(inner(5))], "a.txt > line 4", ""), Some(0));
    }

    /// A hit in the middle of a long page opened the file at its beginning, with no hit in sight.
    #[test]
    fn a_character_of_a_long_page_leads_to_its_passage() {
        let on_page = |ordinal, start, page| Passage {
            pointer: Pointer::Page(page),
            ..passage(ordinal, start, &"x".repeat(500))
        };
        let passages = [on_page(0, 0, 1), on_page(1, 450, 2), on_page(2, 900, 2)];
        for (pointer, expected) in [
            ("page 2, char 1000", Some(2)),
            ("page 2, char 925", Some(2)),
            ("page 2, char 460", Some(1)),
            ("whole, char 0", Some(0)),
            ("page 2, char 5000", None),
            ("page 2", Some(1)),
        ] {
            assert_eq!(hit_at(&passages, pointer, ""), expected, "{pointer}");
        }
    }

    /// Of the passages of a page the first was shown as the hit, whatever it said.
    #[test]
    fn of_the_passages_of_a_page_the_one_that_was_sought_is_the_hit() {
        let on_page =
            |ordinal, text| Passage { pointer: Pointer::Page(7), ..passage(ordinal, 0, text) };
        let passages =
            [on_page(0, "the seal sleeps"), on_page(1, "the walrus sleeps"), on_page(2, "walrus")];
        assert_eq!(hit_at(&passages, "page 7", "sleeping walrus"), Some(1));
        assert_eq!(hit_at(&passages, "page 7", "nothing of it"), Some(0));
    }

    #[test]
    fn what_is_private_is_taken_out_even_over_a_border() {
        let passages = [passage(0, 0, "write to some"), passage(1, 9, "someone@example.org now")];
        let pieces = redacted_pieces(&passages, 0, 2, None);
        let all: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert!(!all.contains("someone@example.org") && !all.contains("example.org"), "{all}");
    }
}
