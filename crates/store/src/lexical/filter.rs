//! Which entries of each segment fit a filter.

use std::ops::Bound;

use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, TERMINATED, Term};

use super::index::LexicalView;
use super::schema::{integer_column, keyword_term};
use crate::bits::Bits;
use crate::contract::prefix_range;
use crate::{Filter, Result};

impl LexicalView {
    /// Gives for each segment the live entries that fit; nothing when all of them do.
    pub(crate) fn allowed(&self, filter: &Filter) -> Result<Vec<Option<Bits>>> {
        self.searcher
            .segment_readers()
            .iter()
            .map(|segment| {
                if filter.is_all() && !segment.has_deletes() {
                    return Ok(None);
                }
                let mut fitting = self.fitting(segment, filter)?;
                if let Some(alive) = segment.alive_bitset() {
                    let mut living = Bits::none(segment.max_doc());
                    alive.iter_alive().for_each(|entry| living.insert(entry));
                    fitting.intersect(&living);
                }
                Ok(Some(fitting))
            })
            .collect()
    }

    /// Turns the allowed entries into the numbers of their passages.
    pub(crate) fn numbers_of(&self, allowed: &[Option<Bits>], end: u32) -> Bits {
        let mut numbers = Bits::none(end);
        for ((segment, column), allowed) in
            self.searcher.segment_readers().iter().zip(&self.numbers).zip(allowed)
        {
            let mut insert = |entry: u32| {
                if let Ok(number) = u32::try_from(column.get_val(entry)) {
                    numbers.insert(number);
                }
            };
            match allowed {
                Some(allowed) => allowed.iter().for_each(&mut insert),
                None => (0..segment.max_doc()).for_each(&mut insert),
            }
        }
        numbers
    }

    fn fitting(&self, segment: &SegmentReader, filter: &Filter) -> Result<Bits> {
        let end = segment.max_doc();
        let fields = &self.fields;
        let mut fitting = Bits::none(end);
        match filter {
            Filter::All => return Ok(Bits::all(end)),
            Filter::Equals { attribute, value } => {
                insert_term(
                    segment,
                    fields.keyword,
                    &keyword_term(attribute, value),
                    &mut fitting,
                )?;
            }
            Filter::AnyOf { attribute, values } => {
                for value in values {
                    let term = keyword_term(attribute, value);
                    insert_term(segment, fields.keyword, &term, &mut fitting)?;
                }
            }
            Filter::Range { attribute, from, to } => {
                insert_range(segment, attribute, *from, *to, &mut fitting)?;
            }
            Filter::Documents(ids) => {
                for id in ids {
                    insert_term(segment, fields.document, id.as_str(), &mut fitting)?;
                }
            }
            Filter::DocumentPrefix(prefix) => {
                insert_prefix(segment, fields.document, prefix, &mut fitting)?;
            }
            Filter::PassagePrefix(prefix) => {
                insert_prefix(segment, fields.passage, prefix, &mut fitting)?;
            }
            Filter::PointerPrefix(prefix) => {
                insert_prefix(segment, fields.pointer, prefix, &mut fitting)?;
            }
            Filter::Pointer(pointer) => {
                insert_term(segment, fields.pointer, pointer, &mut fitting)?;
            }
            Filter::And(parts) => {
                fitting = Bits::all(end);
                for part in parts {
                    fitting.intersect(&self.fitting(segment, part)?);
                }
            }
            Filter::Or(parts) => {
                for part in parts {
                    fitting.unite(&self.fitting(segment, part)?);
                }
            }
            Filter::Not(part) => {
                fitting = self.fitting(segment, part)?;
                fitting.complement();
            }
        }
        Ok(fitting)
    }
}

fn insert_term(
    segment: &SegmentReader,
    field: Field,
    text: &str,
    fitting: &mut Bits,
) -> Result<()> {
    let term = Term::from_field_text(field, text);
    let index = segment.inverted_index(field)?;
    if let Some(postings) = index.read_postings(&term, IndexRecordOption::Basic)? {
        insert_postings(postings, fitting);
    }
    Ok(())
}

fn insert_prefix(
    segment: &SegmentReader,
    field: Field,
    prefix: &str,
    fitting: &mut Bits,
) -> Result<()> {
    let index = segment.inverted_index(field)?;
    let (_, end) = prefix_range(prefix.as_bytes());
    let mut range = index.terms().range().ge(prefix.as_bytes());
    if let Bound::Excluded(end) = &end {
        range = range.lt(end);
    }
    let mut terms = range.into_stream()?;
    while terms.advance() {
        let info = terms.value().clone();
        insert_postings(
            index.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?,
            fitting,
        );
    }
    Ok(())
}

fn insert_range(
    segment: &SegmentReader,
    attribute: &str,
    from: Option<i64>,
    to: Option<i64>,
    fitting: &mut Bits,
) -> Result<()> {
    let Some(column) = segment.fast_fields().column_opt::<i64>(&integer_column(attribute))? else {
        return Ok(());
    };
    // The column answers wrongly for ends outside of what it holds, so they are drawn in.
    let from = from.unwrap_or(i64::MIN).max(column.min_value());
    let to = to.unwrap_or(i64::MAX).min(column.max_value());
    if from > to {
        return Ok(());
    }
    let mut entries = vec![];
    column.get_docids_for_value_range(from..=to, 0..segment.max_doc(), &mut entries);
    entries.into_iter().for_each(|entry| fitting.insert(entry));
    Ok(())
}

fn insert_postings(mut postings: impl Postings, fitting: &mut Bits) {
    let mut entry = postings.doc();
    while entry != TERMINATED {
        fitting.insert(entry);
        entry = postings.advance();
    }
}
