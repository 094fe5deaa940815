//! From a file to blocks of values.

use model::Pointer;

use super::document::Document;
use super::tables::{MAX_CELLS, Names, last_number};
use crate::error::Result;
use crate::output::Output;
use crate::plain::code::push_code;
use crate::plain::json::Values;
use crate::plain::json_tables::Rows;

pub(crate) fn read_yaml(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    let Some(entries) = entries(&text) else { return push_code(&text, output) };
    if let Some(title) = entries.iter().find(|entry| entry.place.pointer == "/title") {
        output.set_title(&title.text);
    }
    let names = Names::of(&entries);
    let mut values = Values::default();
    // The table that is being written, by the pointer of its list.
    let mut table: Option<(String, Rows)> = None;
    let mut entries = entries.into_iter().peekable();
    while let Some(entry) = entries.next() {
        if let Some(row) = names.row_of(&entry.place) {
            let list = row.list.to_owned();
            let (at_row, columns) = (Pointer::Json(row.pointer.to_owned()), row.columns.cloned());
            let pointer = row.pointer.to_owned();
            if table.as_ref().is_none_or(|(open, _)| *open != list) {
                values.end(output)?;
                end(table.take(), output)?;
                table = Some((list, Rows::new(&entry.place.label, columns.as_ref())));
            }
            let mut cells = Vec::new();
            put_cell(&mut cells, entry);
            let is_same = |next: &Entry| {
                names.row_of(&next.place).is_some_and(|next| next.pointer == pointer)
            };
            while let Some(cell) = entries.next_if(is_same) {
                put_cell(&mut cells, cell);
            }
            if let Some((_, rows)) = &mut table {
                rows.row(&at_row, cells.into_iter(), output)?;
            }
            continue;
        }
        end(table.take(), output)?;
        let Entry { place, text, comment } = entry;
        let commented = match comment.is_empty() {
            true => text,
            false => format!("{text} # {comment}"),
        };
        let label = names.label_of(&place);
        let label = label.as_deref().unwrap_or(&place.label).to_owned();
        values.add(place.pointer, &label, &commented, output)?;
    }
    end(table, output)?;
    values.end(output)
}

fn end(table: Option<(String, Rows)>, output: &mut Output) -> Result<()> {
    table.map_or(Ok(()), |(_, rows)| rows.end(output))
}

/// Puts a value at its place in a row, whose cells before it may say nothing.
fn put_cell(cells: &mut Vec<String>, entry: Entry) {
    let Entry { place, text, comment } = entry;
    let column = last_number(&place.pointer).unwrap_or(cells.len()).min(MAX_CELLS);
    cells.resize(column.max(cells.len()), String::new());
    cells.push(if comment.is_empty() { text } else { format!("{text} # {comment}") });
}

/// Where a value is: by RFC 6901, and by its keys in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ValuePlace {
    pub(super) pointer: String,
    pub(super) label: String,
    /// How many lists its pointer ends in.
    pub(super) n_lists: usize,
}

impl ValuePlace {
    pub(super) fn key(&self, key: &str) -> ValuePlace {
        let escaped = model::pointer_token(key);
        let label = match self.label.is_empty() {
            true => key.to_owned(),
            false => format!("{}.{key}", self.label),
        };
        ValuePlace { pointer: format!("{}/{escaped}", self.pointer), label, n_lists: 0 }
    }

    pub(super) fn item(&self, item_idx: usize) -> ValuePlace {
        let (pointer, label) = (format!("{}/{item_idx}", self.pointer), self.label.clone());
        ValuePlace { pointer, label, n_lists: self.n_lists + 1 }
    }
}

/// One value with what is said about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) place: ValuePlace,
    pub(super) text: String,
    pub(super) comment: String,
}

/// Gives the values of a file in its order; nothing when it is not the YAML that is read here.
fn entries(text: &str) -> Option<Vec<Entry>> {
    let documents = documents(text)?;
    let is_one = documents.len() == 1;
    let mut entries = Vec::new();
    for (document_idx, lines) in documents.into_iter().enumerate() {
        let root = match is_one {
            true => ValuePlace::default(),
            false => ValuePlace::default().item(document_idx),
        };
        entries.extend(Document::new(lines).read(&root)?);
    }
    (!entries.is_empty()).then_some(entries)
}

/// Cuts a file into its documents, without those that hold nothing.
fn documents(text: &str) -> Option<Vec<Vec<&str>>> {
    let mut documents = vec![Vec::new()];
    for line in text.lines() {
        let line = line.trim_start_matches('\u{feff}');
        let content = line.trim_start_matches(' ');
        if content.starts_with('\t') && !content.trim().is_empty() {
            return None;
        }
        let marker = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
        match marker.map(str::trim) {
            Some(rest) if rest.is_empty() || rest.starts_with('#') => documents.push(Vec::new()),
            _ if line.starts_with('%') => {}
            _ => documents.last_mut()?.push(line),
        }
    }
    let is_blank = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    documents.retain(|lines| !lines.iter().all(is_blank));
    Some(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values as they are shown: pointer, keys in words, value, comment.
    fn shown(text: &str) -> Option<Vec<String>> {
        let show = |Entry { place, text, comment }: Entry| {
            let comment = if comment.is_empty() { comment } else { format!(" # {comment}") };
            format!("{} | {}: {text}{comment}", place.pointer, place.label)
        };
        entries(text).map(|entries| entries.into_iter().map(show).collect())
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown = shown(text).unwrap_or_else(|| panic!("not read: {text}"));
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn mappings_and_lists_have_the_pointers_of_json() {
        check(
            "apiVersion: apps/v1\nspec:\n  replicas: 3\n  containers:\n  - name: web\n    image: nginx:1.27\n    ports: [80, 443]\n  - name: side\n  a/b: {x: 1, 'y z': \"two, three\"}\n",
            &[
                "/apiVersion | apiVersion: apps/v1",
                "/spec/replicas | spec.replicas: 3",
                "/spec/containers/0/name | spec.containers.name: web",
                "/spec/containers/0/image | spec.containers.image: nginx:1.27",
                "/spec/containers/0/ports/0 | spec.containers.ports: 80",
                "/spec/containers/0/ports/1 | spec.containers.ports: 443",
                "/spec/containers/1/name | spec.containers.name: side",
                "/spec/a~1b/x | spec.a/b.x: 1",
                "/spec/a~1b/y z | spec.a/b.y z: two, three",
            ],
        );
        check(
            "- one\n- \n  two: 2\n-\n  - a\n  - - b\n    - c\n",
            &["/0 | : one", "/1/two | two: 2", "/2/0 | : a", "/2/1/0 | : b", "/2/1/1 | : c"],
        );
        check(
            "list:\n- x\n- y\nempty:\nnone: ~\nafter: z\n",
            &["/list/0 | list: x", "/list/1 | list: y", "/after | after: z"],
        );
    }

    #[test]
    fn strings_are_read_in_all_their_forms() {
        check(
            "a: \"x \\\"y\\\" \\u00e9\\n\"\nb: 'it''s'\nc: |\n  first\n    deeper\n\n  last\nd: >-\n  folded\n  line\n\n  next\ne: plain text\n  that goes on\nf: \"quoted\n  on two\"\ng: [one,\n  two]\nurl: http://example.org/a#b\n",
            &[
                "/a | a: x \"y\" é\n",
                "/b | b: it's",
                "/c | c: first\n  deeper\n\nlast",
                "/d | d: folded line\nnext",
                "/e | e: plain text that goes on",
                "/f | f: quoted on two",
                "/g/0 | g: one",
                "/g/1 | g: two",
                "/url | url: http://example.org/a#b",
            ],
        );
        check(
            "\"quoted key\": 1\nbase: &base\n  x: 1\nuse: *base\ntyped: !!str 5\n",
            &[
                "/quoted key | quoted key: 1",
                "/base/x | base.x: 1",
                "/use | use: *base",
                "/typed | typed: 5",
            ],
        );
    }

    /// Comments say what a setting is for; they are words to search for.
    #[test]
    fn comments_stay_with_what_they_are_about() {
        check(
            "# Settings of the harbour\nport: 80 # where it listens\n# how many\nworkers:\n  # at night\n  few: 2\n# the end\n",
            &[
                "/port | port: 80 # Settings of the harbour where it listens",
                "/workers/few | workers.few: 2 # how many at night the end",
            ],
        );
    }

    #[test]
    fn several_documents_are_a_list() {
        check("---\nkind: A\n---\nkind: B\n", &["/0/kind | kind: A", "/1/kind | kind: B"]);
        check("%YAML 1.2\n---\nkind: A\n...\n", &["/kind | kind: A"]);
    }

    #[test]
    fn what_is_not_understood_is_no_structure() {
        for text in [
            "",
            "only words",
            "a: b: c",
            "image: {{ .Values.image }}",
            "{{- if .x }}\na: 1\n{{- end }}",
            "a:\n\t- x",
            "? complex\n: key",
            "a: \"never closed\nb: 1",
            "a: [never closed\nb: 1",
            "a: 1\n  b: 2",
            "a:\n    b: 1\n  c: 2",
            "a: \"x\" y",
            "a: |9\n  x",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
        // A hostile file ends, and does not overflow the stack.
        assert_eq!(shown(&format!("a: {}", "[".repeat(10_000))), None);
        assert_eq!(shown(&"- ".repeat(10_000)), None);
    }
}
