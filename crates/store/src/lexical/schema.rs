//! The fields of the full-text index, and how a passage becomes an entry in them.

use model::{AttributeValue, Attributes};
use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, JsonObjectOptions, OwnedValue, Schema,
    TextFieldIndexing, TextOptions,
};
use text::Language;

use super::index::Entry;
use super::packed::{PACKED, Packer};
use crate::{Form, analysis};

/// Is between the name and the value of a keyword attribute in one index term.
const NAME_END: char = '\0';
/// The engine's longest term is 65,530 bytes; a longer keyword is matched by its start.
const MAX_KEYWORD_BYTES: usize = 32_768;

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// The passage's number in its namespace.
    pub(super) number: Field,
    /// The first passage number of the document's version: deletes a version as a whole.
    pub(super) version: Field,
    pub(super) document: Field,
    pub(super) passage: Field,
    pub(super) pointer: Field,
    pub(super) keyword: Field,
    pub(super) integer: Field,
    exact: Field,
    folded: Field,
    title_exact: Field,
    title_folded: Field,
}

/// The name of the column that leads from an entry to its passage.
pub(super) const NUMBER: &str = "number";
/// The name of the column family of integer attributes.
const INTEGER: &str = "integer";

impl Fields {
    pub(super) fn schema() -> (Schema, Fields) {
        let words = |kept| {
            TextOptions::default().set_indexing_options(
                TextFieldIndexing::default().set_tokenizer(PACKED).set_index_option(kept),
            )
        };
        // Phrases are looked for in the folded form alone; positions of both would cost a fifth
        // of the time that indexing takes.
        let exact = words(IndexRecordOption::WithFreqs);
        let folded = words(IndexRecordOption::WithFreqsAndPositions);
        let whole = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::Basic),
        );
        let mut builder = Schema::builder();
        let fields = Fields {
            number: builder.add_u64_field(NUMBER, FAST),
            version: builder.add_u64_field("version", INDEXED),
            document: builder.add_text_field("document", whole.clone()),
            passage: builder.add_text_field("passage", whole.clone()),
            pointer: builder.add_text_field("pointer", whole.clone()),
            keyword: builder.add_text_field("keyword", whole),
            integer: builder.add_json_field(INTEGER, JsonObjectOptions::default().set_fast("raw")),
            exact: builder.add_text_field("exact", exact.clone()),
            folded: builder.add_text_field("folded", folded.clone()),
            title_exact: builder.add_text_field("title_exact", exact),
            title_folded: builder.add_text_field("title_folded", folded),
        };
        (builder.build(), fields)
    }

    /// Gives the field that holds a form of the words of the text.
    pub(super) fn text(&self, form: Form) -> Field {
        match form {
            Form::Exact => self.exact,
            Form::Folded => self.folded,
        }
    }

    /// Gives the field that holds a form of the words of the title and headings.
    pub(super) fn title(&self, form: Form) -> Field {
        match form {
            Form::Exact => self.title_exact,
            Form::Folded => self.title_folded,
        }
    }
}

/// Makes entries, keeping its buffers and the words above a passage from one to the next.
#[derive(Debug, Default)]
pub(super) struct EntryMaker {
    exact: Packer,
    folded: Packer,
    above: Option<Above>,
}

/// What is above a passage, with its packed words: most passages are below what the one before them
/// is below.
#[derive(Debug)]
struct Above {
    title: String,
    headings: Vec<String>,
    language: Language,
    exact: String,
    folded: String,
}

impl Above {
    fn is_of(&self, entry: &Entry<'_>) -> bool {
        let Above { title, headings, language, .. } = self;
        title == entry.title && *headings == entry.passage.headings && *language == entry.language
    }
}

impl EntryMaker {
    /// Makes the index entry of a passage.
    pub(super) fn make(&mut self, fields: &Fields, entry: &Entry<'_>) -> TantivyDocument {
        let passage = entry.passage;
        let mut document = TantivyDocument::new();
        document.add_u64(fields.number, u64::from(entry.number));
        document.add_u64(fields.version, u64::from(entry.version));
        document.add_text(fields.document, entry.document.as_str());
        document.add_text(fields.passage, passage.id.as_str());
        document.add_text(fields.pointer, passage.pointer.to_string());
        add_attributes(&mut document, fields, entry.attributes);

        let above = match self.above.take().filter(|above| above.is_of(entry)) {
            Some(above) => above,
            None => self.pack_above(entry),
        };
        self.clear();
        self.push(&passage.text, entry.language);
        document.add_text(fields.exact, self.exact.as_str());
        document.add_text(fields.folded, self.folded.as_str());
        document.add_text(fields.title_exact, &above.exact);
        document.add_text(fields.title_folded, &above.folded);
        self.above = Some(above);
        document
    }

    /// Forgets the words above the last passage: what counts as private may have changed since.
    pub(super) fn begin_anew(&mut self) {
        self.above = None;
    }

    fn pack_above(&mut self, entry: &Entry<'_>) -> Above {
        self.clear();
        self.push(entry.title, entry.language);
        for heading in &entry.passage.headings {
            self.exact.gap();
            self.folded.gap();
            self.push(heading, entry.language);
        }
        Above {
            title: entry.title.to_owned(),
            headings: entry.passage.headings.clone(),
            language: entry.language,
            exact: self.exact.as_str().to_owned(),
            folded: self.folded.as_str().to_owned(),
        }
    }

    fn clear(&mut self) {
        self.exact.clear();
        self.folded.clear();
    }

    fn push(&mut self, text: &str, language: Language) {
        analysis::visit(text, language, |token| {
            self.exact.push(token.exact, token.position);
            self.folded.push(token.stem, token.position);
        });
    }
}

pub(super) fn keyword_term(attribute: &str, value: &str) -> String {
    let mut term = format!("{attribute}{NAME_END}{value}");
    if term.len() > MAX_KEYWORD_BYTES {
        let end = (0..=MAX_KEYWORD_BYTES).rev().find(|end| term.is_char_boundary(*end));
        term.truncate(end.unwrap_or(0));
    }
    term
}

pub(super) fn integer_column(attribute: &str) -> String {
    format!("{INTEGER}.{}", column_key(attribute))
}

fn add_attributes(document: &mut TantivyDocument, fields: &Fields, attributes: &Attributes) {
    let mut integers = std::collections::BTreeMap::new();
    for (name, value) in attributes {
        match value {
            AttributeValue::Integer(number) => {
                integers.insert(column_key(name), OwnedValue::I64(*number));
            }
            AttributeValue::Keyword(word) => {
                document.add_text(fields.keyword, keyword_term(name, word));
            }
            AttributeValue::Keywords(words) => {
                for word in words {
                    document.add_text(fields.keyword, keyword_term(name, word));
                }
            }
        }
    }
    if !integers.is_empty() {
        document.add_object(fields.integer, integers);
    }
}

/// Spells an attribute's name so that no character of it means something in a column path.
fn column_key(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for char in name.chars() {
        if char.is_ascii_alphanumeric() || char == '_' {
            key.push(char);
        } else {
            key.push_str(&format!("~{:x}~", u32::from(char)));
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use model::{DocumentId, Passage, PassageId, Pointer, Span};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// An entry is the same whatever was made before it.
        #[test]
        fn entries_do_not_depend_on_those_before(
            places in proptest::collection::vec((0_usize..3, 0_usize..4, any::<bool>()), 1..12),
        ) {
            let titles = ["Cranes", "The harbour of Brăila", ""];
            let headings: [&[&str]; 4] =
                [&[], &["Hooks"], &["Hooks", "Write to ana@example.org"], &["Hooks and", "ropes"]];
            let (_, fields) = Fields::schema();
            let (document, attributes) = (DocumentId::new("d"), Attributes::default());
            let mut maker = EntryMaker::default();
            for (number, (title, below, is_english)) in (0..).zip(places) {
                let text = format!("Part {number} is greased. ");
                let passage = Passage {
                    id: PassageId::new(format!("d#{number}")),
                    ordinal: number,
                    span: Span::new(0, text.len()),
                    text,
                    pointer: Pointer::Whole,
                    headings: headings[below].iter().map(|&heading| heading.to_owned()).collect(),
                };
                let entry = Entry {
                    number,
                    version: 0,
                    document: &document,
                    title: titles[title],
                    attributes: &attributes,
                    language: if is_english { Language::English } else { Language::Romanian },
                    passage: &passage,
                };
                let alone = EntryMaker::default().make(&fields, &entry);
                prop_assert_eq!(maker.make(&fields, &entry), alone);
            }
        }
    }
}
