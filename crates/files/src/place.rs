//! Pointers as people and models write them: in any case, with or without quotes, nearly right.
//!
//! A pointer that was given by a search is read back exactly. Anything else is tried as what it
//! most likely means, against the places that the file really has.

use std::fmt;

use model::{Passage, Pointer};

use crate::{Error, Result};

/// A place in a file: a unit, and a character of the file's text where the unit is long.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) pointer: Option<Pointer>,
    pub(crate) char_start: Option<usize>,
}

/// Is between a pointer and the character.
const CHAR: &str = ", char ";

impl fmt::Display for Place {
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
) -> Result<(Place, std::ops::Range<usize>)> {
    let (unit, char_start) = match text.rsplit_once(CHAR) {
        Some((unit, number)) => match number.trim().parse() {
            Ok(number) => (unit, Some(number)),
            Err(_) => (text, None),
        },
        None => (text, None),
    };
    let readings = readings(unit, passages);
    let Some(first) = readings.first() else {
        return Err(unit
            .parse::<Pointer>()
            .map_or_else(Into::into, |place| no_place(path, &place, passages)));
    };
    for pointer in &readings {
        if let Some(covered) = covered(passages, pointer) {
            return Ok((Place { pointer: Some(pointer.clone()), char_start }, covered));
        }
    }
    Err(no_place(path, first, passages))
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
    // A file inside an archive: only the place behind the path is read anew.
    if let Some((path, place)) = plain.rsplit_once(" > ") {
        let inner = readings_of_unit(place, passages);
        readings.extend(
            inner
                .into_iter()
                .map(|place| Pointer::Inner { path: path.to_owned(), place: Box::new(place) }),
        );
    }
    readings.extend(readings_of_unit(plain, passages));
    readings
}

fn readings_of_unit(text: &str, passages: &[Passage]) -> Vec<Pointer> {
    let lower = text.to_lowercase();
    let number = first_number(&lower);
    let word: String = lower.chars().take_while(|char| char.is_alphabetic()).collect();
    let numbered = |make: fn(u32) -> Pointer| number.map(make).into_iter().collect();
    match word.as_str() {
        "page" | "pages" | "p" | "pp" | "pg" | "pagina" | "seite" | "ページ" => {
            numbered(Pointer::Page)
        }
        "slide" | "slides" | "folie" | "スライド" => numbered(Pointer::Slide),
        "line" | "lines" | "l" | "row" | "zeile" | "行" => numbered(Pointer::Line),
        "message" | "messages" | "msg" | "mail" | "email" => numbered(Pointer::Message),
        "sheet" | "worksheet" | "tab" | "シート" => {
            let rest = text.get(word.len()..).unwrap_or_default();
            sheets(rest.trim_start_matches([':', ' ', '=']), passages)
        }
        // A bare number counts whatever the file is made of.
        "" if number.is_some() => {
            let number = number.unwrap_or_default();
            vec![
                Pointer::Page(number),
                Pointer::Slide(number),
                Pointer::Line(number),
                Pointer::Message(number),
            ]
        }
        // The name of a sheet alone, or `Q2!A1:C9`.
        _ => sheets(text, passages),
    }
}

/// Finds sheets of the file by name, whatever the case and the quotes.
fn sheets(text: &str, passages: &[Passage]) -> Vec<Pointer> {
    let (name, range) = match text.rsplit_once('!') {
        Some((name, range)) => (name, Some(range.trim().to_owned())),
        None => (text, None),
    };
    let quotes = ['\'', '"', '`', '‘', '’', '“', '”', ' '];
    let wanted = name.trim_matches(quotes).to_lowercase();
    let names = passages.iter().filter_map(|passage| {
        let Pointer::Sheet { name, .. } = &passage.pointer else { return None };
        Some(name)
    });
    let mut names: Vec<&String> = names.filter(|name| name.to_lowercase() == wanted).collect();
    names.dedup();
    let with_range =
        names.iter().map(|name| Pointer::Sheet { name: (*name).clone(), range: range.clone() });
    let alone = names.iter().map(|name| Pointer::Sheet { name: (*name).clone(), range: None });
    with_range.chain(alone).collect()
}

fn first_number(text: &str) -> Option<u32> {
    let digits: String = text
        .chars()
        .skip_while(|char| !char.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok().filter(|number| *number > 0)
}

/// Gives the passages that a pointer covers: the same place, all rows of a sheet, everything
/// of an inner file, or the passage that a line is in.
fn covered(passages: &[Passage], place: &Pointer) -> Option<std::ops::Range<usize>> {
    let run = |covers: &dyn Fn(&Pointer) -> bool| {
        let first = passages.iter().position(|passage| covers(&passage.pointer))?;
        let n = passages[first..].iter().take_while(|passage| covers(&passage.pointer)).count();
        Some(first..first + n)
    };
    if let Some(exact) = run(&|pointer| pointer == place) {
        return Some(exact);
    }
    match place {
        Pointer::Whole => Some(0..passages.len()),
        Pointer::Line(wanted) => {
            let at = passages.iter().rposition(
                |passage| matches!(&passage.pointer, Pointer::Line(line) if line <= wanted),
            )?;
            Some(at..at + 1)
        }
        Pointer::Sheet { name, range: _ } => {
            run(&|pointer| matches!(pointer, Pointer::Sheet { name: other, .. } if other == name))
        }
        Pointer::Inner { path, .. } => {
            run(&|pointer| matches!(pointer, Pointer::Inner { path: other, .. } if other == path))
        }
        Pointer::Page(_) | Pointer::Slide(_) | Pointer::Message(_) | Pointer::Json(_) => None,
    }
}

fn no_place(path: &str, place: &Pointer, passages: &[Passage]) -> Error {
    let shown = |passage: Option<&Passage>| {
        passage.map(|passage| passage.pointer.to_string()).unwrap_or_default()
    };
    Error::NoPlace {
        path: path.to_owned(),
        pointer: place.to_string(),
        first: shown(passages.first()),
        last: shown(passages.last()),
    }
}

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
        let found = find("/f", text, &passages).ok();
        let found = found.map(|(place, covered)| (place.to_string(), covered));
        assert_eq!(found, expected.map(|(place, covered)| (place.to_owned(), covered)), "{text}");
    }

    #[test]
    fn pointers_are_read_as_they_are_meant() {
        let pages = ["page 1", "page 2", "page 2", "page 3"];
        for text in
            ["page 2", "Page 2", "PAGE 2", "page2", "p. 2", "p2", "pages 2-3", "\"page 2\"", "2"]
        {
            check(&pages, text, Some(("page 2", 1..3)));
        }
        check(&pages, "page 2, char 17", Some(("page 2, char 17", 1..3)));
        check(&pages, "page 9", None);
        check(&pages, "the second", None);
        let slides = ["slide 6", "slide 7"];
        for text in ["Slide 7", "slide #7", "slide 7", "7"] {
            check(&slides, text, Some(("slide 7", 1..2)));
        }
        let sheets = ["sheet 'Q1' A1:B9", "sheet 'Q2' A1:B9", "sheet 'Q2' A10:B19"];
        for text in ["sheet 'Q2'", "sheet Q2", "Sheet \"q2\"", "Q2", "sheet: Q2"] {
            check(&sheets, text, Some(("sheet 'Q2'", 1..3)));
        }
        check(&sheets, "sheet 'Q2' A10:B19", Some(("sheet 'Q2' A10:B19", 2..3)));
        check(&sheets, "Q2!A10:B19", Some(("sheet 'Q2' A10:B19", 2..3)));
        check(&["line 1", "line 40"], "Line 50", Some(("line 50", 1..2)));
        check(&["line 1", "line 40"], "lines 40-45", Some(("line 40", 1..2)));
        check(
            &["a.docx > page 1", "a.docx > page 2"],
            "a.docx > Page 2",
            Some(("a.docx > page 2", 1..2)),
        );
    }
}
