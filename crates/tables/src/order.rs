//! Orders that would tell what redaction hides. A telephone number is `[phone]` in every row; rows
//! in its order still say whose number is the higher one, and with one number known, nearly which.
//!
//! So rows are not sorted by a field whose values are mostly private, and groups of such a field
//! come in the order of what else is shown of them.

use columns::{Aggregate, Direction, Filter, Op, Output, OutputSort, Query, Test, Value as Cell};
use model::Deadline;

use crate::config::FieldType;
use crate::private::is_private;
use crate::schema::{is_redacted, leaf};
use crate::served_table::ServedTable;
use crate::{Error, Result};

/// How many values of a field are looked at.
const N_LOOKED_AT: usize = 500;

impl ServedTable {
    /// Refuses an order by fields whose values rows do not show.
    ///
    /// Fails as a query does, too.
    pub(crate) fn check_order<'f>(
        &self,
        fields: impl Iterator<Item = &'f str>,
        deadline: &Deadline,
    ) -> Result<()> {
        for name in fields {
            if let Some(mark) = self.order_mark(name, deadline)? {
                return Err(Error::BadAggregate {
                    problem: format!(
                        "`sort` by `{name}` is not given: its values are redacted as `{mark}`, and \
                         their order would tell them; sort by another field"
                    ),
                });
            }
        }
        Ok(())
    }

    /// Refuses an order of groups by such a field, and lets what is shown decide between groups of
    /// one. `names` are those of groups and measures.
    pub(crate) fn check_group_order(
        &self,
        wanted: &mut Aggregate,
        names: &[String],
        deadline: &Deadline,
    ) -> Result<()> {
        let n_groupings = wanted.group_by.len();
        let mut marks = Vec::with_capacity(names.len());
        for group in &wanted.group_by {
            marks.push(self.order_mark(&group.column, deadline)?);
        }
        for measure in &wanted.measures {
            let of_values = match measure.op {
                Op::Count | Op::CountDistinct => None,
                Op::Sum | Op::Avg | Op::Min | Op::Max | Op::Percentile(_) => {
                    measure.column.as_ref()
                }
            };
            let mark = of_values.map(|name| self.order_mark(name, deadline)).transpose()?;
            marks.push(mark.flatten());
        }
        let place_of = |output: Output| match output {
            Output::Group(at) => at,
            Output::Measure(at) => n_groupings + at,
        };
        for sort in &wanted.sort {
            let at = place_of(sort.output);
            if let (Some(Some(mark)), Some(name)) = (marks.get(at), names.get(at)) {
                return Err(Error::BadAggregate {
                    problem: format!(
                        "`sort` by `{name}` is not given: its values are redacted as `{mark}`, and \
                         their order would tell them; sort by a count or by another group"
                    ),
                });
            }
        }
        let has_private_group = marks.iter().take(n_groupings).any(Option::is_some);
        if has_private_group {
            let groups = (0..n_groupings).map(Output::Group);
            let measures = (0..wanted.measures.len()).map(Output::Measure);
            let shown = groups.chain(measures).filter(|output| marks[place_of(*output)].is_none());
            let direction = Direction::Ascending;
            wanted.sort.extend(shown.map(|output| OutputSort { output, direction }));
        }
        Ok(())
    }

    /// Gives the mark of a field whose values are mostly private, in text too.
    fn order_mark(&self, name: &str, deadline: &Deadline) -> Result<Option<&'static str>> {
        if let Some(mark) = self.identifier_mark(name, deadline)? {
            return Ok(Some(mark));
        }
        let field = self.schema.field(name).filter(|field| is_redacted(field));
        if !field.is_some_and(|field| leaf(field).field_type == FieldType::String) {
            return Ok(None);
        }
        self.remembered_mark(name, || {
            let is_there = Test::Not(Box::new(Test::AnyOf(vec![Cell::Null])));
            let query = Query {
                filters: vec![Filter::new(name, is_there)],
                ..Query::first(N_LOOKED_AT, vec![name.to_owned()])
            };
            let answer = self.ask(&query, deadline)?;
            let values: Vec<&Cell> = answer.rows.iter().flatten().collect();
            let private: Vec<&&Cell> = values.iter().filter(|value| is_private(value)).collect();
            let is_most = !private.is_empty() && 2 * private.len() >= values.len();
            Ok(private.first().filter(|_| is_most).and_then(|value| mark_in(value)))
        })
    }
}

/// Gives the mark that replaces the first private piece of a text.
fn mark_in(value: &Cell) -> Option<&'static str> {
    match value {
        Cell::Text(text) => text::find_private(text).first().map(|piece| piece.kind.mark()),
        Cell::List(items) => items.iter().find_map(mark_in),
        Cell::Null
        | Cell::Integer(_)
        | Cell::Real(_)
        | Cell::Decimal(_)
        | Cell::Boolean(_)
        | Cell::Timestamp(_) => None,
    }
}
