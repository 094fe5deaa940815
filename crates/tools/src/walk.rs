//! What a cursor is of: the tool, and the arguments that decide what is in the list.
//!
//! A cursor of another list goes on in the middle of this one, and what is before that is lost
//! without a word. So every cursor ends in a mark of its list, and one of another is refused.

use across::Given;
use serde_json::Value;

use crate::ToolError;
use crate::paging::bad_cursor;

/// Is before the mark at the end of a cursor, and in no mark itself.
const BEFORE_MARK: char = '~';

/// Characters of a mark: one list in 250,000 has that of another.
const MARK_CHARS: usize = 3;

/// Six bits each, none of which needs to be escaped in an address.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A list that is walked through.
pub struct Walk {
    mark: String,
}

impl Walk {
    /// Gives the walk of a tool through what these arguments ask for. Arguments that say how much of
    /// it one answer holds are not among them.
    pub fn of(tool: &str, arguments: &Value) -> Self {
        let place = Given::place_of(&format!("{tool}\0{arguments}"));
        let digit = |at: usize| char::from(DIGITS[(place >> (6 * at)) as usize & 63]);
        Walk { mark: (0..MARK_CHARS).map(digit).collect() }
    }

    /// Writes a cursor.
    pub fn written(&self, place: &str) -> String {
        format!("{place}{BEFORE_MARK}{}", self.mark)
    }

    /// Writes a cursor that names what was given.
    pub fn written_given(&self, given: &Given) -> String {
        self.written(&given.encode())
    }

    /// Tells whether a mark is that of this list.
    pub(crate) fn has_mark(&self, mark: &str) -> bool {
        self.mark == mark
    }

    /// Reads a cursor that [`Walk::written`] wrote.
    ///
    /// Fails with the sentence for the caller when it is none, or one of another list.
    pub fn read<'a>(&self, cursor: &'a str) -> Result<&'a str, ToolError> {
        let (place, mark) = place_in(cursor)?;
        if mark == self.mark { Ok(place) } else { Err(other_list(cursor)) }
    }

    /// Reads a cursor that names what was given.
    ///
    /// Fails with the sentence for the caller when it is none, or one of another list.
    pub fn read_given(&self, cursor: Option<&str>) -> Result<Given, ToolError> {
        let Some(cursor) = cursor else { return Ok(Given::default()) };
        let (place, mark) = place_in(cursor)?;
        if mark != self.mark {
            return Err(other_list(cursor));
        }
        Given::decode(place).ok_or_else(|| bad_cursor(cursor))
    }
}

/// Takes a cursor apart, whatever list it is of: the place, and the mark of the list.
pub(crate) fn place_in(cursor: &str) -> Result<(&str, &str), ToolError> {
    let is_mark =
        |mark: &str| mark.len() == MARK_CHARS && mark.bytes().all(|digit| DIGITS.contains(&digit));
    let parts = cursor.trim().rsplit_once(BEFORE_MARK);
    parts
        .filter(|(place, mark)| !place.is_empty() && is_mark(mark))
        .ok_or_else(|| bad_cursor(cursor))
}

/// What is said of a cursor of another list.
pub(crate) const OTHER_LIST: &str = "belongs to another tool or to other arguments";

/// Refuses a cursor of another list.
pub(crate) fn other_list(cursor: &str) -> ToolError {
    let shown: String = cursor.chars().take(100).collect();
    ToolError::bad_request(format!("`cursor` {OTHER_LIST}: `{shown}`"))
        .with_detail("argument", "cursor")
        .with_hint(
            "pass `next` with the same arguments as the call that gave it, or leave `cursor` out \
             to begin again",
        )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The cursor of another question was taken, and the pages before it were never given.
    #[test]
    fn a_cursor_is_of_one_list() {
        let walk = Walk::of("search", &json!(["lighthouse"]));
        let given = Given::default().with(["/a", "/b"]);
        let cursor = walk.written_given(&given);
        assert_eq!(walk.read_given(Some(&cursor)).unwrap(), given);
        assert_eq!(walk.read_given(None).unwrap(), Given::default());
        assert_eq!(walk.read(&walk.written("a~b c/")).unwrap(), "a~b c/");
        for other in [
            Walk::of("search", &json!(["harbour"])),
            Walk::of("searchFiles", &json!(["lighthouse"])),
        ] {
            let refused = other.read_given(Some(&cursor)).unwrap_err();
            assert!(refused.message.contains("other arguments"), "{refused}");
            assert!(other.read(&cursor).is_err());
        }
        for nonsense in ["", "2000", "w", "copies2/", "w~", "~abc", "資料~資"] {
            let refused = walk.read_given(Some(nonsense)).unwrap_err();
            assert!(refused.message.contains("not a cursor"), "{nonsense}: {refused}");
        }
    }
}
