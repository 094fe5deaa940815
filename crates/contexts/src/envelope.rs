//! A document inside `{name, data}`: found in the file, however large it is, and cut out of it.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;

use ingest::ObjectError;

use crate::json::{Event, Kind, Walk};
use crate::tables::Staged;
use crate::{Error, Result, Service, limits};

impl Service {
    /// Takes an upload of the form `{name, data}` apart: the file holds the data afterwards.
    /// Gives the name.
    pub fn open_envelope(&self, staged: &Staged) -> Result<String> {
        let file = fs_err::File::open(staged.path()).map_err(Error::Document)?;
        let (name, data) = look_inside(Walk::new(file))?;
        cut_out(staged, &data).map_err(Error::Document)?;
        Ok(name)
    }
}

fn look_inside<R: std::io::Read>(mut walk: Walk<R>) -> Result<(String, Range<u64>)> {
    const FORM: &str = "send `{\"name\": …, \"data\": …}`, or the document itself with `?name=`";
    let wrong = |problem: &str| {
        Error::Object(ObjectError::BadRequest { problem: format!("{problem}; {FORM}") })
    };
    walk.keep_text(0..limits::MAX_NAME_CHARS + 1);
    let (mut name, mut data, mut start) = (None, None, 0);
    while let Some(event) = walk.next()? {
        match (walk.pointer(), event) {
            ("", Event::Begin(Kind::Object) | Event::End(_)) => {}
            ("", Event::Begin(_) | Event::Leaf(_)) => {
                return Err(wrong("the body is not an object"));
            }
            ("/name", Event::Leaf(Kind::String)) => name = Some(walk.text().to_owned()),
            ("/name", _) => return Err(wrong("`name` is not a string")),
            ("/data", Event::Begin(_)) => start = walk.start(),
            ("/data", Event::Leaf(_)) => data = Some(walk.start()..walk.offset()),
            ("/data", Event::End(_)) => data = Some(start..walk.offset()),
            (inside, _) if inside.starts_with("/data/") => {}
            (other, _) => {
                let shown: String = other.chars().skip(1).take(limits::MAX_NAME_CHARS).collect();
                return Err(wrong(&format!("unknown member `{shown}`")));
            }
        }
    }
    match (name, data) {
        (Some(name), Some(data)) => Ok((name, data)),
        (None, _) => Err(wrong("`name` is missing")),
        (_, None) => Err(wrong("`data` is missing")),
    }
}

/// Leaves nothing but these bytes in the file.
fn cut_out(staged: &Staged, bytes: &Range<u64>) -> std::io::Result<()> {
    let mut from = fs_err::File::open(staged.path())?;
    from.seek(SeekFrom::Start(bytes.start))?;
    let cut = staged.path().with_extension("data");
    let mut into = fs_err::File::create(&cut)?;
    let copied = std::io::copy(&mut from.take(bytes.end - bytes.start), &mut into);
    match copied.and_then(|_| fs_err::rename(&cut, staged.path())) {
        Ok(()) => Ok(()),
        Err(error) => {
            // The first failure counts; the file is swept at the next start.
            let _ = fs_err::remove_file(&cut);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = match look_inside(Walk::new(text.as_bytes())) {
            Ok((name, data)) => {
                format!("{name}: {}", &text[data.start as usize..data.end as usize])
            }
            Err(error) => error.to_string(),
        };
        assert!(shown.starts_with(expected), "{shown}");
    }

    #[test]
    fn data_is_found_as_it_stands() {
        check(r#"{"name": "n", "data": {"a": [1, {"data": 2}]}}"#, r#"n: {"a": [1, {"data": 2}]}"#);
        check(r#"{"data":"x","name":"n"}"#, r#"n: "x""#);
        check(r#"{"data": 1e999 , "name":"n"}"#, "n: 1e999");
        check("[1]", "the body is not an object");
        check(r#"{"name": "n"}"#, "`data` is missing");
        check(r#"{"data": []}"#, "`name` is missing");
        check(r#"{"name": 5, "data": []}"#, "`name` is not a string");
        check(r#"{"name": "n", "data": [], "dta": 1}"#, "unknown member `dta`");
        check(r#"{"name": "n", "data": [1,]}"#, "found `]` where a value is expected at line 1");
    }
}
