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
        let mut fitting = Bits::none(segment.max_doc());
        self.insert_fitting(segment, filter, &mut fitting)?;
        Ok(fitting)
    }

    /// Adds the entries that fit a filter to a set.
    fn insert_fitting(
        &self,
        segment: &SegmentReader,
        filter: &Filter,
        fitting: &mut Bits,
    ) -> Result<()> {
        let fields = &self.fields;
        match filter {
            Filter::All => fitting.unite(&Bits::all(segment.max_doc())),
            Filter::Equals { attribute, value } => {
                insert_term(segment, fields.keyword, &keyword_term(attribute, value), fitting)?;
            }
            Filter::AnyOf { attribute, values } => {
                for value in values {
                    let term = keyword_term(attribute, value);
                    insert_term(segment, fields.keyword, &term, fitting)?;
                }
            }
            Filter::Range { attribute, from, to } => {
                insert_range(segment, attribute, *from, *to, fitting)?;
            }
            Filter::Documents(ids) => {
                for id in ids {
                    insert_term(segment, fields.document, id.as_str(), fitting)?;
                }
            }
            Filter::DocumentPrefix(prefix) => {
                insert_prefix(segment, fields.document, prefix, fitting)?;
            }
            Filter::Passages(ids) => {
                for id in ids {
                    insert_term(segment, fields.passage, id.as_str(), fitting)?;
                }
            }
            Filter::PointerPrefix(prefix) => {
                insert_prefix(segment, fields.pointer, prefix, fitting)?;
            }
            Filter::Pointer(pointer) => {
                insert_term(segment, fields.pointer, pointer, fitting)?;
            }
            Filter::And(parts) => {
                let mut all = Bits::all(segment.max_doc());
                for part in parts {
                    all.intersect(&self.fitting(segment, part)?);
                }
                fitting.unite(&all);
            }
            // A hundred parts need one set, not a hundred.
            Filter::Or(parts) => {
                for part in parts {
                    self.insert_fitting(segment, part, fitting)?;
                }
            }
            Filter::Not(part) => {
                let mut others = self.fitting(segment, part)?;
                others.complement();
                fitting.unite(&others);
            }
        }
        Ok(())
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
