//! Pointers as people and models write them: in any case, with or without quotes, nearly right.
//!
//! A pointer that was given by a search is read back exactly. Anything else is tried as what it
//! most likely means, against the places that the file really has.

mod archive;
mod json;
mod sheets;

use std::fmt;

use model::{Passage, Pointer};

use crate::lines::Lines;
use crate::{Error, Result};

/// A place in a file: a unit, and a character of the file's text where the unit is long.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FilePlace {
    pub(crate) pointer: Option<Pointer>,
    pub(crate) char_start: Option<usize>,
}

/// Is between a pointer and the character.
const CHAR: &str = ", char ";

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pointer {
            Some(pointer) => write!(f, "{pointer}")?,
            None => write!(f, "{}", Pointer::Whole)?,
        }
        match self.char_start {
            Some(char_start) => write!(f, "{CHAR}{char_start}"),
            None => Ok(()),
        }
    }
}

/// Reads a pointer against the places of a file, and gives the passages that it covers.
///
/// Fails when it cannot be read, or when the file has no such place.
pub(crate) fn find(
    path: &str,
    text: &str,
    passages: &[Passage],
    lines: &Lines,
) -> Result<(FilePlace, std::ops::Range<usize>)> {
    let (unit, char_start) = match text.rsplit_once(CHAR) {
        Some((unit, number)) => match number.trim().parse() {
            Ok(number) => (unit, Some(number)),
            Err(_) => (text, None),
        },
        None => (text, None),
    };
    // A character alone, as an offset is given.
    if let Some(number) = unit.trim().strip_prefix("char ").and_then(|number| number.parse().ok()) {
        let place = FilePlace { pointer: Some(Pointer::Whole), char_start: Some(number) };
        return Ok((place, 0..passages.len()));
    }
    if let Some((pointer, (covered, start))) = find_unit(unit, passages, lines) {
        let char_start = char_start.or(start);
        return Ok((FilePlace { pointer: Some(pointer), char_start }, covered));
    }
    if let Some(found) = under_heading(unit, passages) {
        return Ok(found);
    }
    Err(match readings(unit, passages).first() {
        Some(first) => no_place(path, first, passages),
        None => unit
            .parse::<Pointer>()
            .map_or_else(Into::into, |place| no_place(path, &place, passages)),
    })
}

/// Reads the name of a unit against the places of a file.
fn find_unit(text: &str, passages: &[Passage], lines: &Lines) -> Option<(Pointer, Covered)> {
    let covered =
        |pointer: Pointer| covered(passages, lines, &pointer).map(|covered| (pointer, covered));
    readings(text, passages)
        .into_iter()
        .find_map(covered)
        .or_else(|| archive::find(text.trim(), passages, lines))
}

/// Finds the passages under a heading of this name, or the one that has it as a line.
fn under_heading(text: &str, passages: &[Passage]) -> Option<(FilePlace, std::ops::Range<usize>)> {
    let plain = |text: &str| text.trim_matches([' ', '#', '"', '\'', '`']).to_lowercase();
    let wanted = plain(text);
    let wanted = wanted.strip_prefix("section ").map_or(wanted.as_str(), str::trim);
    let is_under = |passage: &Passage| {
        let first_line = passage.text.lines().next().unwrap_or_default();
        passage.headings.iter().any(|heading| plain(heading) == wanted)
            || first_line.starts_with('#') && plain(first_line) == wanted
    };
    if wanted.is_empty() {
        return None;
    }
    let found = |first: usize, n_passages: usize, n_before: usize| {
        let passage = passages.get(first)?;
        let char_start = Some(passage.span.start + n_before);
        let place = FilePlace { pointer: Some(passage.pointer.clone()), char_start };
        Some((place, first..first + n_passages))
    };
    if let Some(first) = passages.iter().position(is_under) {
        let n_passages = passages[first..].iter().take_while(|passage| is_under(passage)).count();
        return found(first, n_passages, 0);
    }
    // Short parts of a text are one passage, with their headings inside.
    passages.iter().enumerate().find_map(|(at, passage)| {
        let mut n_before = 0;
        for line in passage.text.split_inclusive('\n') {
            if line.starts_with('#') && plain(line.trim_end()) == wanted {
                return found(at, 1, n_before);
            }
            n_before += line.chars().count();
        }
        None
    })
}

/// Gives what a text may mean, the likeliest first.
fn readings(text: &str, passages: &[Passage]) -> Vec<Pointer> {
    let mut readings: Vec<Pointer> = text.trim().parse().into_iter().collect();
    let plain = text.trim().trim_matches(['"', '`', '“', '”', '(', ')', '[', ']']).trim();
    let lower = plain.to_lowercase();
    if lower.is_empty()
        || ["start", "beginning", "top", "document", "file"].contains(&lower.as_str())
    {
        readings.push(Pointer::Whole);
    }
    if ["end", "last", "bottom"].contains(&lower.as_str()) || lower.starts_with("last ") {
        readings.extend(passages.last().map(|passage| passage.pointer.clone()));
    }
    // Where the file is JSON, a number in a path is an element and no page.
    readings.extend(json::named(plain, passages));
    // A sheet may be called `Sheet2`, which is a name before it is the second sheet.
    readings.extend(sheets::named(plain, passages));
    readings.extend(readings_of_unit(plain, passages));
    readings
}

fn readings_of_unit(text: &str, passages: &[Passage]) -> Vec<Pointer> {
    let text = text.trim_start_matches('第');
    let lower = text.to_lowercase();
    let number = first_number(&lower);
    let word: String = lower.chars().take_while(|char| char.is_alphabetic()).collect();
    let numbered = |make: &[fn(u32) -> Pointer]| -> Vec<Pointer> {
        number.into_iter().flat_map(|number| make.iter().map(move |make| make(number))).collect()
    };
    match word.as_str() {
        // Slides are pages to some, and pages slides.
        "page" | "pages" | "p" | "pp" | "pg" | "pagina" | "página" | "pag" | "seite" | "side"
        | "sida" | "strona" | "strana" | "страница" | "стр" | "ページ" | "页" | "頁" => {
            numbered(&[Pointer::Page, Pointer::Slide])
        }
        "slide" | "slides" | "folie" | "diapositive" | "diapositiva" | "слайд" | "スライド" => {
            numbered(&[Pointer::Slide, Pointer::Page])
        }
        "line" | "lines" | "l" | "ln" | "zeile" | "ligne" | "linia" | "строка" | "行" => {
            numbered(&[Pointer::Line])
        }
        "row" | "rows" => {
            let row = number.and_then(|row| sheets::row_of_only_sheet(row, passages));
            row.into_iter().chain(numbered(&[Pointer::Line])).collect()
        }
        "message" | "messages" | "msg" | "mail" | "email" => numbered(&[Pointer::Message]),
        "sheet" | "worksheet" | "tab" | "blatt" | "tabellenblatt" | "feuille" | "hoja"
        | "foglio" | "planilha" | "werkblad" | "arkusz" | "лист" | "foaia" | "シート"
        | "工作表" | "시트" => {
            let rest = text.get(word.len()..).unwrap_or_default();
            sheets::named(rest.trim_start_matches([':', ' ', '=', '#']), passages)
        }
        // A bare number counts whatever the file is made of.
        "" if number.is_some() => {
            numbered(&[Pointer::Page, Pointer::Slide, Pointer::Line, Pointer::Message])
        }
        _ => Vec::new(),
    }
}

fn first_number(text: &str) -> Option<u32> {
    let digits: String = text
        .chars()
        .skip_while(|char| !char.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok().filter(|number| *number > 0)
}

/// What a pointer covers, and the character where it begins, where that is in their midst.
type Covered = (std::ops::Range<usize>, Option<usize>);

/// Gives the passages that a pointer covers: the same place, all rows of a sheet, or the passage
/// that a line or a row is in.
fn covered(passages: &[Passage], lines: &Lines, place: &Pointer) -> Option<Covered> {
    let run = |covers: &dyn Fn(&Pointer) -> bool| {
        let first = passages.iter().position(|passage| covers(&passage.pointer))?;
        let n = passages[first..].iter().take_while(|passage| covers(&passage.pointer)).count();
        Some((first..first + n, None))
    };
    let of_sheet = |name: &String| {
        run(&|pointer| matches!(pointer, Pointer::Sheet { name: other, .. } if other == name))
    };
    // The heading of a sheet has the sheet's own pointer: the rows come with it.
    if let Pointer::Sheet { name, range: None } = place {
        return of_sheet(name);
    }
    if let Pointer::Line(wanted) = place {
        return of_line(*wanted, passages, lines).map(|covered| (covered, None));
    }
    if let Some(exact) = run(&|pointer| pointer == place) {
        return Some(exact);
    }
    match place {
        Pointer::Whole => Some((0..passages.len(), None)),
        Pointer::Sheet { name, range: Some(range) } => {
            let row = sheets::rows(name, range, passages);
            row.map(|(covered, start)| (covered, Some(start))).or_else(|| of_sheet(name))
        }
        Pointer::Json(wanted) => {
            json::node(wanted, passages).map(|(covered, start)| (covered, Some(start)))
        }
        // What is inside the file is read against the places of that file ([`archive`]).
        Pointer::Inner { .. }
        | Pointer::Sheet { .. }
        | Pointer::Line(_)
        | Pointer::Page(_)
        | Pointer::Slide(_)
        | Pointer::Message(_) => None,
    }
}

/// Gives the passages that have a line: from the one that it begins in, since the next one may
/// begin in its midst, to the last that begins on it. A blank line is in the passage before it.
fn of_line(wanted: u32, passages: &[Passage], lines: &Lines) -> Option<std::ops::Range<usize>> {
    let begins_by =
        |passage: &Passage| matches!(passage.pointer, Pointer::Line(line) if line <= wanted);
    let last = passages.iter().rposition(begins_by)?;
    let has_it = |passage: &Passage| {
        begins_by(passage) && lines.last_of(passage).is_some_and(|line| line >= wanted)
    };
    match passages.iter().take(last + 1).position(has_it) {
        Some(first) => Some(first..last + 1),
        // Behind the last line there is nothing, but for the blank one that ends it.
        None if last + 1 < passages.len() => Some(last..last + 1),
        None => {
            let end = lines.last_of(&passages[last])?.saturating_add(1);
            (wanted <= end).then_some(last..last + 1)
        }
    }
}

fn no_place(path: &str, place: &Pointer, passages: &[Passage]) -> Error {
    let shown = |passage: Option<&Passage>| {
        passage.map(|passage| passage.pointer.to_string()).unwrap_or_default()
    };
    let (mut first, mut last) = (shown(passages.first()), shown(passages.last()));
    // A passage begins at its pointer: the last line of a file is further down.
    if let Some(Passage { pointer: Pointer::Line(line), text, .. }) = passages.last() {
        let n_behind = text.lines().count().saturating_sub(1);
        let line = line.saturating_add(u32::try_from(n_behind).unwrap_or(u32::MAX));
        last = Pointer::Line(line).to_string();
    }
    // The first and the last do not tell what sheets between them are called.
    let sheets = sheets::names(passages);
    if !sheets.is_empty() {
        let sheet = |name: &&str| Pointer::Sheet { name: (*name).to_owned(), range: None };
        let named = sheets.iter().take(MAX_NAMED_SHEETS).map(|name| sheet(name).to_string());
        first = named.collect::<Vec<_>>().join(", ");
        if sheets.len() > MAX_NAMED_SHEETS {
            first.push_str(", …");
        }
        last.clone_from(&first);
    }
    Error::NoPlace { path: path.to_owned(), pointer: place.to_string(), first, last }
}

/// Sheets that are named where another was asked for.
const MAX_NAMED_SHEETS: usize = 30;

#[cfg(test)]
mod tests {
    use model::{PassageId, Span};

    use super::*;

    fn passages(pointers: &[&str]) -> Vec<Passage> {
        let made = pointers.iter().zip(0..).map(|(pointer, ordinal)| Passage {
            id: PassageId::new(format!("p{ordinal}")),
            ordinal,
            text: "0123456789".to_owned(),
            span: Span { start: ordinal as usize * 10, end: ordinal as usize * 10 + 10 },
            pointer: pointer.parse().unwrap(),
            headings: Vec::new(),
        });
        made.collect()
    }

    #[track_caller]
    fn check(pointers: &[&str], text: &str, expected: Option<(&str, std::ops::Range<usize>)>) {
        let passages = passages(pointers);
        let found = find("/f", text, &passages, &Lines::default()).ok();
        let found = found.map(|(place, covered)| (place.to_string(), covered));
        assert_eq!(found, expected.map(|(place, covered)| (place.to_owned(), covered)), "{text}");
    }

    #[test]
    fn a_heading_inside_a_passage_is_a_place() {
        let mut passages = passages(&["line 1"]);
        passages[0].text = "# Plan\n\nWords.\n\n## Budget\n\nTwelve.".to_owned();
        for text in ["Budget", "## Budget", "section Budget", "budget"] {
            let (place, covered) = find("/f", text, &passages, &Lines::default()).unwrap();
            assert_eq!((place.char_start, covered), (Some(16), 0..1), "{text}");
        }
        assert!(find("/f", "Costs", &passages, &Lines::default()).is_err());
    }

    #[test]
    fn pointers_are_read_as_they_are_meant() {
        let pages = ["page 1", "page 2", "page 2", "page 3"];
        for text in [
            "page 2",
            "Page 2",
            "PAGE 2",
            "page2",
            "p. 2",
            "p2",
            "pages 2-3",
            "\"page 2\"",
            "2",
            "第2页",
            "slide 2",
        ] {
            check(&pages, text, Some(("page 2", 1..3)));
        }
        check(&pages, "page 2, char 17", Some(("page 2, char 17", 1..3)));
        check(&pages, "page 9", None);
        check(&pages, "the second", None);
        let slides = ["slide 6", "slide 7"];
        for text in ["Slide 7", "slide #7", "slide 7", "7", "page 7"] {
            check(&slides, text, Some(("slide 7", 1..2)));
        }
        let sheets = ["sheet 'Q1' A1:B9", "sheet 'Q2' A1:B9", "sheet 'Q2' A10:B19"];
        for text in ["sheet 'Q2'", "sheet Q2", "Sheet \"q2\"", "Q2", "sheet: Q2", "Blatt Q2"] {
            check(&sheets, text, Some(("sheet 'Q2'", 1..3)));
        }
        check(&sheets, "sheet 'Q2' A10:B19", Some(("sheet 'Q2' A10:B19", 2..3)));
        check(&sheets, "Q2!A10:B19", Some(("sheet 'Q2' A10:B19", 2..3)));
        check(&sheets, "sheet 2", Some(("sheet 'Q2'", 1..3)));
        // A row: the block that has it. Its text is no lines of rows here, so the block begins.
        for text in ["Q2 A12", "sheet Q2 A12:B13", "sheet 'Q2' row 12", "Q2!B12"] {
            let found = find("/f", text, &passages(&sheets), &Lines::default()).ok();
            assert_eq!(
                found.map(|(place, covered)| (place.char_start, covered)),
                Some((Some(20), 2..3)),
                "{text}"
            );
        }
        check(&sheets, "Q9", None);
        // What programs call sheets by themselves begins with the word for one.
        let usual = ["sheet 'Sheet3' A1:B9", "sheet 'Sheet2' A1:B9", "sheet 'Feuille1' A1:B9"];
        for text in ["Sheet2", "sheet2", "'Sheet2'", "sheet Sheet2", "sheet 'Sheet2'"] {
            check(&usual, text, Some(("sheet 'Sheet2'", 1..2)));
        }
        check(&usual, "Sheet2!A1:B9", Some(("sheet 'Sheet2' A1:B9", 1..2)));
        check(&usual, "'Feuille1'!A1:B9", Some(("sheet 'Feuille1' A1:B9", 2..3)));
        check(&usual, "sheet 2", Some(("sheet 'Sheet2'", 1..2)));
        check(&usual, "sheet1", Some(("sheet 'Sheet3'", 0..1)));
        check(&["sheet 'A' A1:B9"], "row 5", Some(("sheet 'A' A5, char 0", 0..1)));
        // The heading of a sheet is a passage of its own, with the pointer of the whole sheet.
        let headed = ["sheet 'Q1'", "sheet 'Q1' A1:B9", "sheet 'Q2'", "sheet 'Q2' A1:B9"];
        check(&headed, "sheet 'Q2'", Some(("sheet 'Q2'", 2..4)));
        check(&headed, "Q1", Some(("sheet 'Q1'", 0..2)));
        check(&["line 1", "line 40"], "Line 41", Some(("line 41", 1..2)));
        check(&["line 1", "line 40"], "Line 39", Some(("line 39", 0..1)));
        check(&["line 1", "line 40"], "Line 50", None);
        check(&["line 1", "line 40"], "end", Some(("line 40", 1..2)));
        check(&pages, "last page", Some(("page 3", 3..4)));
        check(&["line 1", "line 40"], "char 15", Some(("whole, char 15", 0..2)));
        check(&["line 1", "line 40"], "lines 40-45", Some(("line 40", 1..2)));
        check(&sheets, "sheet Ｑ２", Some(("sheet 'Q2'", 1..3)));
    }

    /// A line of a text in an archive showed the text's start, and its path alone was refused.
    #[test]
    fn places_inside_an_archive_are_those_of_the_inner_file() {
        let inner = [
            "in/a.txt > line 1",
            "in/a.txt > line 40",
            "in/b.docx > page 1",
            "in/b.docx > page 2",
            "c.xlsx > sheet 'Übersicht' A1:B9",
        ];
        for text in ["in/b.docx > page 2", "in/b.docx>Page 2", "b.docx > p. 2", "IN/B.docx > 2"] {
            check(&inner, text, Some(("in/b.docx > page 2", 3..4)));
        }
        check(&inner, "in/a.txt > line 41", Some(("in/a.txt > line 41", 1..2)));
        check(&inner, "in/a.txt > line 39", Some(("in/a.txt > line 39", 0..1)));
        check(&inner, "a.txt > line 900", None);
        check(&inner, "in/a.txt", Some(("in/a.txt > line 1", 0..2)));
        check(&inner, "b.docx", Some(("in/b.docx > page 1", 2..4)));
        check(&inner, "in/b.docx > page 9", None);
        let sheet = "c.xlsx > sheet 'Übersicht'";
        check(&inner, "c.xlsx > sheet u\u{308}bersicht", Some((sheet, 4..5)));
        check(&["x/a.txt > line 1", "y/a.txt > line 1"], "a.txt", None);
        // Either spelling of a letter with its accent means the one file that has it.
        let (composed, decomposed) = ("é.txt > line 1", "e\u{301}.txt > line 1");
        for stored in [composed, decomposed] {
            for text in ["é.txt > line 1", "e\u{301}.txt > line 1", "é.txt", "e\u{301}.txt"] {
                check(&["e.txt > line 1", stored], text, Some((stored, 1..2)));
            }
        }
    }
}
