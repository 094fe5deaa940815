//! Tables and pairs written as JSON in a text: where the values are that [`JsonHeadings`] says are
//! private. Lists may be written as other languages write them, and a text may hold a document on
//! each line.

use std::ops::Range;

use super::columns::SecretTable;
use super::json_headings::{Ended, JsonHeadings, LateNames, Verdict};
use super::placeholder::is_placeholder;
use super::table_rows::MAX_HEADING_BYTES;
use super::{PrivateKind, PrivatePiece};

/// A sign or a word of JSON.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Begin {
        is_object: bool,
    },
    End,
    Key(Range<usize>),
    String(Range<usize>),
    Word(Range<usize>),
    /// No JSON.
    Other,
}

/// Finds the values that are private by names elsewhere.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    if !text.contains(['[', '{']) {
        return;
    }
    let mut reader = Reader::new(text, LateNames::default());
    reader.read(text.len(), found);
    let late = reader.headings.into_late();
    if !late.is_empty() {
        Reader::new(text, late).read(text.len(), found);
    }
}

/// Lists the tables with a column of secrets: their names, and where these hold.
pub(super) fn tables(text: &str) -> Vec<SecretTable> {
    if !text.contains('[') {
        return vec![];
    }
    let mut reader = Reader::new(text, LateNames::default());
    reader.read(text.len(), &mut Vec::new());
    reader.end_tables(0);
    let mut tables: Vec<SecretTable> = reader.ended.into_iter().map(|(_, table)| table).collect();
    tables.sort_by_key(|table| table.heading.start);
    tables
}

/// Gives what has to be read before a place of a text that is in a table, and where the row begins
/// that the place is in.
pub(super) fn context(head: &str, from: usize) -> Option<(String, usize)> {
    if !head.contains('[') {
        return None;
    }
    let mut reader = Reader::new(head, LateNames::default());
    reader.read(from, &mut Vec::new());
    let depth = reader.headings.outside_rows();
    let (opening, stands_for_all) = reader.headings.opening_inside(depth)?;
    let row = reader.starts.get(depth).copied().filter(|_| !stands_for_all);
    Some((opening, row.unwrap_or(reader.at)))
}

/// Tells whether a text is the names of a table with a column of secrets.
pub(super) fn is_heading(names: &str) -> bool {
    opening_of(names).is_some()
}

fn opening_of(names: &str) -> Option<String> {
    if !names.starts_with(['[', '{']) || names.len() > MAX_HEADING_BYTES {
        return None;
    }
    let text = format!("{{\"columns\":{names},\"-\":[");
    let mut reader = Reader::new(&text, LateNames::default());
    reader.read(text.len(), &mut Vec::new());
    reader.headings.opening_inside(reader.starts.len()).map(|(opening, _)| opening)
}

/// Finds what is private in a part of the rows of a table; the part may begin inside a row.
pub(super) fn find_below(names: &str, rows: &str, is_begin: bool, found: &mut Vec<PrivatePiece>) {
    let Some(mut opening) = opening_of(names) else { return };
    let behind = behind_heading(names, rows);
    let is_row = |at: usize| rows.get(at..).is_some_and(|rest| rest.starts_with(['[', '{']));
    if behind.is_some_and(|at| !is_row(at)) {
        // Members follow, one of which holds the rows.
        opening.truncate(opening.rfind("\"-\":").unwrap_or(opening.len()));
    }
    let first = behind.unwrap_or_else(|| if is_begin { 0 } else { first_row(rows) });
    // What is left of the row above may be in the column of secrets.
    let tail = rows.get(..first).unwrap_or_default();
    let end = tail.rfind(']').unwrap_or(tail.len());
    if behind.is_none() && tail.get(..end).is_some_and(|tail| tail.contains(char::is_alphanumeric))
    {
        found.push(PrivatePiece { kind: PrivateKind::Password, bytes: 0..end });
    }
    let text = [&opening, rows.get(first..).unwrap_or_default()].concat();
    let mut below = Vec::new();
    find(&text, &mut below);
    found.extend(below.into_iter().filter_map(|piece| {
        let start = piece.bytes.start.checked_sub(opening.len())?;
        let bytes = first + start..first + piece.bytes.end - opening.len();
        Some(PrivatePiece { kind: piece.kind, bytes })
    }));
}

/// Gives where rows or members begin behind the names of a table, where the text begins before the end
/// of those.
fn behind_heading(names: &str, rows: &str) -> Option<usize> {
    const N_LAST_BYTES: usize = 8;
    let (begin, last) = names.split_at_checked(names.len().checked_sub(N_LAST_BYTES)?)?;
    let at = rows.find(last)?;
    let before = rows.get(..at)?;
    let end = at + last.len();
    let rest = rows.get(end..)?;
    let is_closing = |char: char| char.is_whitespace() || matches!(char, ']' | '}' | ',');
    let is_end = begin.ends_with(before) || before.ends_with(begin);
    is_end.then(|| end + rest.len() - rest.trim_start_matches(is_closing).len())
}

/// Gives where a row begins in text that may begin inside one: behind the end of another. What is
/// in a cell may look the same, so that a list that a member holds is none.
fn first_row(rows: &str) -> usize {
    let mut before = [' ', ' '];
    for (at, char) in rows.char_indices() {
        if matches!((before, char), ([']', ','], '[') | (['}', ','], '{') | ([_, ']'], '[')) {
            return at;
        }
        if !char.is_whitespace() {
            before = [before[1], char];
        }
    }
    rows.len()
}

/// Walks over a text.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    headings: JsonHeadings,
    /// Where each object and list begins that is open.
    starts: Vec<usize>,
    /// The last sign that is no blank.
    last: u8,
    last_string: Range<usize>,
    /// Tables whose names still hold, by the depth at which they do, and those that have ended.
    open_tables: Vec<(usize, SecretTable)>,
    ended: Vec<(usize, SecretTable)>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, late: LateNames) -> Self {
        let mut headings = JsonHeadings::with_late(late);
        // Documents on lines are elements of one list.
        headings.begin(false);
        Reader {
            text,
            at: string_rest(text),
            headings,
            starts: vec![0],
            last: b'[',
            last_string: 0..0,
            open_tables: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Reads all that ends before a place.
    fn read(&mut self, until: usize, found: &mut Vec<PrivatePiece>) {
        while let Some((token, bytes)) = self.token() {
            if bytes.end > until {
                self.at = bytes.start;
                return;
            }
            self.at = bytes.end;
            self.take(token, &bytes, found);
            self.last = *self.text.as_bytes().get(bytes.end - 1).unwrap_or(&b' ');
        }
    }

    fn take(&mut self, token: Token, bytes: &Range<usize>, found: &mut Vec<PrivatePiece>) {
        let text = self.text;
        let word = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        match token {
            Token::Begin { is_object } => {
                self.headings.begin(is_object);
                self.starts.push(bytes.start);
            }
            Token::End if self.starts.len() > 1 => {
                let start = self.starts.pop().unwrap_or_default();
                self.end_tables(self.starts.len());
                match self.headings.end() {
                    Ended::Plain => {}
                    Ended::Pair => push(text, self.last_string.clone(), found),
                    Ended::Names if bytes.end - start <= MAX_HEADING_BYTES => {
                        let (heading, rows) = (start..bytes.end, bytes.end..bytes.end);
                        let table = SecretTable { heading, rows };
                        self.open_tables.push((self.starts.len(), table));
                    }
                    Ended::Names => {}
                }
            }
            Token::Key(key) => self.headings.key(word(&key)),
            Token::String(string) => {
                match self.headings.leaf(Some(word(&string))) {
                    Verdict::Open => {}
                    Verdict::Whole => push(text, string.clone(), found),
                    Verdict::Parts(parts) => {
                        for part in parts {
                            let part = string.start + part.start..string.start + part.end;
                            push(text, part, found);
                        }
                    }
                }
                self.last_string = string;
            }
            Token::Word(range) => {
                if self.headings.leaf(None) == Verdict::Whole {
                    push(text, range, found);
                }
            }
            Token::End | Token::Other => self.restart(),
        }
    }

    /// Forgets what was open: it was no JSON.
    fn restart(&mut self) {
        self.end_tables(0);
        if self.starts.len() > 1 || self.headings.opening_inside(1).is_some() {
            self.headings.restart();
            self.headings.begin(false);
            self.starts.truncate(1);
        }
    }

    /// Ends the tables whose names do not hold any more.
    fn end_tables(&mut self, depth: usize) {
        while let Some((_, table)) = self.open_tables.last().filter(|(own, _)| *own > depth) {
            let mut table = table.clone();
            table.rows.end = self.at.max(table.rows.start);
            self.open_tables.pop();
            self.ended.push((depth, table));
        }
    }

    /// Gives the next token; nothing at the end of the text.
    fn token(&self) -> Option<(Token, Range<usize>)> {
        let mut at = self.at;
        loop {
            let rest = self.text.as_bytes().get(at..)?;
            let byte = rest.first()?;
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => at += 1,
                b'/' if rest.starts_with(b"//") => at += len_to(rest, b"\n"),
                b'/' if rest.starts_with(b"/*") => at += len_to(rest, b"*/"),
                _ => break,
            }
        }
        let byte = *self.text.as_bytes().get(at)?;
        let last = self.text.as_bytes().get(self.at..at)?.iter().rev();
        let last = *last.clone().find(|byte| !byte.is_ascii_whitespace()).unwrap_or(&self.last);
        let is_inside = self.starts.len() > 1;
        let one = at..at + 1;
        Some(match byte {
            b'[' => (Token::Begin { is_object: false }, one),
            b'(' if is_inside => (Token::Begin { is_object: false }, one),
            b'{' => (Token::Begin { is_object: true }, one),
            b']' | b'}' => (Token::End, one),
            b')' if is_inside => (Token::End, one),
            b'"' => self.string(at, b'"'),
            b'\'' if is_inside && b"[{(,:".contains(&last) => self.string(at, b'\''),
            byte if byte.is_ascii_alphanumeric() || b"-+._$".contains(&byte) => {
                let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-+._$".contains(byte);
                let len = self.text.as_bytes().iter().skip(at).take_while(is_word).count();
                let word = at..at + len;
                match self.is_key(word.end) {
                    true => (Token::Key(word.clone()), word),
                    false => (Token::Word(word.clone()), word),
                }
            }
            _ => {
                let len = self.text.get(at..)?.chars().next().map_or(1, char::len_utf8);
                (Token::Other, at..at + len)
            }
        })
    }

    fn string(&self, at: usize, quote: u8) -> (Token, Range<usize>) {
        let end = string_end(self.text, at + 1, quote);
        let behind = (end + 1).min(self.text.len());
        let inner = at + 1..end;
        match self.is_key(behind) {
            true => (Token::Key(inner), at..behind),
            false => (Token::String(inner), at..behind),
        }
    }

    /// Tells whether the sign of a member follows.
    fn is_key(&self, end: usize) -> bool {
        let mut rest = self.text.as_bytes().iter().skip(end);
        rest.find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
    }
}

/// Gives how much of a text belongs to a string that it begins in.
fn string_rest(text: &str) -> usize {
    let end = string_end(text, 0, b'"');
    let signs = |part: &str| part.chars().filter(|char| !char.is_whitespace()).take(2).collect();
    let before: Option<char> = text.get(..end).and_then(|head| head.trim_end().chars().next_back());
    let behind: String = signs(text.get(end + 1..).unwrap_or_default());
    let may_open = before.is_none_or(|before| "[{(,:".contains(before));
    let closes = match behind.chars().next() {
        Some(']' | '}' | ':') => !may_open || before.is_none(),
        Some(',') => !may_open || (before.is_none() && behind.ends_with(['"', '[', '{'])),
        _ => false,
    };
    if closes { end + 1 } else { 0 }
}

fn len_to(rest: &[u8], sign: &[u8]) -> usize {
    let at = rest.windows(sign.len()).position(|window| window == sign);
    at.map_or(rest.len(), |at| at + sign.len())
}

fn push(text: &str, value: Range<usize>, found: &mut Vec<PrivatePiece>) {
    let word = text.get(value.clone()).unwrap_or_default();
    let is_none = matches!(word, "" | "null" | "None" | "true" | "false");
    if !is_none && !is_placeholder(word) {
        found.push(PrivatePiece { kind: PrivateKind::Password, bytes: value });
    }
}

/// Gives where a string ends that begins at a place: at its quote, or with the text.
fn string_end(text: &str, from: usize, quote: u8) -> usize {
    let mut bytes = text.as_bytes().iter().enumerate().skip(from);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            byte if *byte == quote => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::super::tests::values_of;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(values_of(find, text), expected, "{text}");
    }

    #[test]
    fn cells_below_a_name_of_secrets() {
        check(r#"[["user","password"],["ann","tiger"],["bob","li\"on"]]"#, &["tiger", r#"li\"on"#]);
        check(
            r#"{"columns": ["id", "user", "password"], "rows": [[1, "ann", "tiger"], [2, "bob", 4711]]}"#,
            &["tiger", "4711"],
        );
        check(
            r#"{"a": {"fields":["user","api_key"],"data":[["ann","tiger"],["b",null]]}}"#,
            &["tiger"],
        );
        check("[\n  [\"user\", \"password\"],\n  [\"ann\", \"tiger\"]\n]", &["tiger"]);
        // Lists of another kind, and what is no table.
        check(r#"{"fields": ["user", "password"], "roles": ["admin", "reader"]}"#, &[]);
        check(r#"[["user","password"]], [["ann","tiger"]]"#, &[]);
        check(r#"[["user","email"],["ann","tiger"]]"#, &[]);
        check(r#"{"words": [["password", "secret"], ["token", "pwd"]]}"#, &[]);
        check("array[0][1] of the password", &[]);
        check("[[[[\"a\", \"password\"", &[]);
    }

    /// Rows were looked for at one depth, with as many cells as names.
    #[test]
    fn rows_of_every_form() {
        check(
            r#"[["user","password"],["ann","tiger","x"],["bob"],[7,"lion",[]]]"#,
            &["tiger", "lion"],
        );
        check(
            r#"[["user","password"],["ann",{"value":"tiger","n":57}],["bob",["lion",["lynx"]]]]"#,
            &["tiger", "57", "lion", "lynx"],
        );
        check(
            r#"{"columns":[{"name":"user","type":"text"},{"name":"password","type":"text"}],
                "data":[["ann","tiger"]]}"#,
            &["tiger"],
        );
        check(
            r#"{"cols":[{"id":"a","label":"user"},{"id":"b","label":"password"}],
                "rows":[{"c":[{"v":"ann"},{"v":"tiger"}]}]}"#,
            &["tiger"],
        );
        check(r#"{"data":[["ann","tiger"]],"header":["user","password"]}"#, &["tiger"]);
        check(r#"{"header":["user","password"],"pages":{"1":[["ann","tiger"]]}}"#, &["tiger"]);
        check(
            "[\"user\",\"password\"]\n[\"ann\",\"tiger\"]\n[\"bob\",\"lion\"]\n",
            &["tiger", "lion"],
        );
        check("[('user', 'password'), ('ann', 'tiger')]", &["tiger"]);
        check("{columns: ['user', 'password'], // names\n rows: [['ann', 'tiger']]}", &["tiger"]);
        check(
            r#"{"required":["user","password"],"anyOf":[["ann","tiger"]],"enum":["a","b"]}"#,
            &[],
        );
        check(r#"{"grant_types":["password","refresh"],"x":[["a","b"]]}"#, &[]);
    }

    /// Only a list of names directly beside the rows was known.
    #[test]
    fn rows_that_something_beside_them_describes() {
        for schema in [
            r#""schema":{"fields":[{"name":"user"},{"name":"password","type":"string"}]}"#,
            r#""meta":{"view":{"columns":[{"id":1,"name":"user"},{"id":2,"name":"password"}]}}"#,
            r#""meta":[{"name":"user","type":"String"},{"name":"password","type":"String"}]"#,
            r#""ColumnMetadata":[{"label":"user"},{"label":"password"}]"#,
            r#""resultSetMetaData":{"rowType":[{"name":"user"},{"name":"PASSWORD"}]}"#,
            r#""manifest":{"schema":{"column_count":2,"columns":[{"name":"user"},{"name":"password"}]}}"#,
            r#""schema":{"user":"text","password":"text"}"#,
            r#""columns":{"user":{"type":"text"},"password":{"type":"text"}}"#,
            r#""columns":{"0":"user","1":"password"}"#,
            r#""schema":{"header":["user","password"]}"#,
        ] {
            for rows in [
                r#""data":[["ann","tiger"],["bob","lion"]]"#,
                r#""result":{"data_array":[["ann","tiger"],["bob","lion"]]}"#,
                r#""rows":[{"f":[{"v":"ann"},{"v":"tiger"}]},{"f":[{"v":"bob"},{"v":"lion"}]}]"#,
            ] {
                check(&format!("{{{schema},{rows}}}"), &["tiger", "lion"]);
                check(&format!("{{\"x\":1,{rows},{schema}}}"), &["tiger", "lion"]);
                check(&format!("[{{{schema}}},{{{rows}}}]"), &[]);
            }
        }
        check(
            r#"{"fields":[["user",9],["password",9]],"rows":[["ann","tiger"],["bob","lion"]]}"#,
            &["tiger", "lion"],
        );
        check(r#"{"columns":["password"],"rows":[["tiger"],["lion"]]}"#, &["tiger", "lion"]);
        check(r#"{"fields":["password","api_key"],"data":[["tiger","lion"]]}"#, &["tiger", "lion"]);
        // What describes something else.
        check(r#"{"user":{"fields":["user","password"]},"data":[["ann","tiger"]]}"#, &[]);
        check(r#"{"labels":["token"],"bbox":[[1,2],[3,4]]}"#, &[]);
        check(r#"{"fields":["password"],"errors":[{"path":["user","name"]}]}"#, &[]);
        check(r#"{"properties":{"name":"x","password":"[password]"},"at":[[1,2],[3,4]]}"#, &[]);
    }

    /// Names of a table hid the headings of another one inside or beside it, so that its column of
    /// secrets was shown.
    #[test]
    fn headings_inside_of_other_headings() {
        for outer in [
            r#""cols":{"password":{"0":"tiger"},"user":{"0":"ann"}}"#,
            r#""columns":["password","user"]"#,
            r#""schema":{"fields":[{"name":"password"},{"name":"user"}]}"#,
        ] {
            for inner in [
                r#""t":[["user","password"],["lynx","lion"]]"#,
                r#""t":{"fields":["user","password"],"records":[{"v":["lynx","lion"]}]}"#,
                r#""t":{"columns":["user","password"],"rows":["lynx;lion"]}"#,
                r#""t":{"data":[["lynx","lion"]],"header":["user","password"]}"#,
            ] {
                for text in [format!("{{{outer},{inner}}}"), format!("{{{inner},{outer}}}")] {
                    let values = values_of(find, &text);
                    assert!(values.contains(&"lion"), "{text}: {values:?}");
                }
            }
        }
    }

    /// Values far below the name of their list were shown.
    #[test]
    fn a_long_value_of_a_secret() {
        let text =
            format!("{{\"name\":\"password\",\"values\":[{}\"lion\"", "\"tiger\",".repeat(9_000));
        let from = text.len() - 4_000;
        let (opening, row) = context(&text, from).unwrap();
        let piece = opening + &text[row..];
        assert_eq!(values_of(find, &piece).last(), Some(&"lion"));
    }

    #[test]
    fn rows_that_are_strings() {
        check(r#"["user;password","ann;tiger","bob;lion"]"#, &["tiger", "lion"]);
        check(r#"{"header":"user;password","rows":["ann;tiger"]}"#, &["tiger"]);
        check(r#"{"columns":["user","password"],"rows":["ann;tiger"]}"#, &["tiger"]);
        check(r#"["Forgot the password, again?","yes, indeed"]"#, &[]);
    }

    #[test]
    fn values_beside_the_name_of_a_secret() {
        check(r#"[["host","db"],["password","tiger"],["port","5"]]"#, &["tiger"]);
        check(r#"[["password","tiger"],["fox","lion"]]"#, &["tiger", "fox"]);
        check(r#"[["password","user"],["tiger","ann"]]"#, &["tiger"]);
        check(r#"[{"key":"password","value":"tiger"},{"key":"x","value":"y"}]"#, &["tiger"]);
        check(r#"{"k":"password","v":{"now":"tiger","old":["lion"]}}"#, &["tiger", "lion"]);
        check(r#"{"name":"password","values":["tiger","lion"]}"#, &["tiger", "lion"]);
        check(
            r#"[{"values":["tiger","lion"],"name":"password"},{"name":"x","values":["y"]}]"#,
            &["tiger", "lion"],
        );
        check(
            r#"{"columns":[{"name":"user","data":["ann"]},{"name":"password","data":["tiger",57]}]}"#,
            &["tiger", "57"],
        );
        check(r#"{"title":"The secret","data":["chapter one"]}"#, &[]);
    }

    /// A part of rows is read by the names that hold for it.
    #[test]
    fn parts_of_rows() {
        let below = |rows: &str, is_begin: bool| {
            let find = |text: &str, found: &mut Vec<PrivatePiece>| {
                find_below(r#"["user","password"]"#, text, is_begin, found);
            };
            values_of(find, rows).join(" ")
        };
        assert_eq!(below(r#"["ann","tiger"],["bob","lion"]]}"#, true), "tiger lion");
        assert_eq!(below(r#"n","tiger"],["bob","lion"]]}"#, false), "n\",\"tiger\" lion");
        assert_eq!(below(r#"{"c":["bob","lion"]}]"#, true), "lion");
        // What is before the part begins inside the names.
        assert_eq!(below(r#","password"]},"x":{"data":[["ann","tiger"]]}"#, false), "tiger");
        assert_eq!(
            below(r#"[["user","password"],["ann","tiger"],["bob","lion"]"#, false),
            "tiger lion"
        );
        let text =
            r#"{"x":[1],"columns":["user","password"],"rows":[["ann","tiger"],["b","lion"]]}"#;
        let [table] = &tables(text)[..] else { panic!("{:?}", tables(text)) };
        assert_eq!(&text[table.heading.clone()], r#"["user","password"]"#);
        assert_eq!(&text[table.rows.clone()], r#","rows":[["ann","tiger"],["b","lion"]]}"#);
        let from = text.find("tiger").unwrap() + 2;
        let (opening, row) = context(text, from).unwrap();
        assert_eq!(opening, r#"{"columns":["-","password"],"-":["#);
        assert_eq!(&text[row..from], r#"["ann","ti"#);
        assert_eq!(context(text, 5), None);
    }

    #[test]
    fn it_takes_one_walk() {
        for text in [
            "[".repeat(200_000) + &"\"password\",".repeat(20_000),
            "[1,".repeat(200_000),
            "{\"columns\":[\"a\",\"password\"],\"r\":[".repeat(20_000),
            "'[\"".repeat(100_000),
        ] {
            find(&text, &mut Vec::new());
        }
    }
}
