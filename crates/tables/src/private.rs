//! Figures of numbers that redaction hides. A card is `[card]` in rows; the sum of two rows, one
//! end of a range of numbers, or a condition on a measure would give its digits back.
//!
//! So a field whose long numbers are mostly private is one of identifiers: it is shown by marks,
//! counted and grouped by its values, and nothing is computed from them. A few numbers that look
//! like a card among many others do not make it one: they are amounts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use columns::{Aggregate, Filter, GroupBy, Op, Query, Range, Test, Value as Cell};
use model::Deadline;
use parking_lot::Mutex;

use crate::config::FieldType;
use crate::numbers::digits_of;
use crate::schema::{is_redacted, leaf};
use crate::secret::MARK;
use crate::served_table::ServedTable;
use crate::{Error, Result};

/// Whole numbers below this are neither a card nor a telephone number.
const LEAST_PRIVATE: i64 = 1_000_000;
/// How many long numbers of a field are looked at.
const N_LOOKED_AT: usize = 500;
/// How long what was found is taken to hold.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// The mark of each field that was looked at, and when that was.
pub(crate) type Marks = Arc<Mutex<HashMap<String, (Instant, Option<&'static str>)>>>;

impl ServedTable {
    /// Gives the mark that stands for the values of a secret field, whatever their type, and for
    /// the numbers of a field of identifiers; none for a field that may be computed with.
    ///
    /// Fails as a query does.
    pub(crate) fn identifier_mark(
        &self,
        name: &str,
        deadline: &Deadline,
    ) -> Result<Option<&'static str>> {
        let Some(field) = self.schema.field(name).filter(|field| is_redacted(field)) else {
            return Ok(None);
        };
        if self.schema.is_secret(name) {
            return Ok(Some(MARK));
        }
        if leaf(field).field_type != FieldType::Number {
            return Ok(None);
        }
        self.remembered_mark(name, || self.mark_of_most(name, deadline))
    }

    /// Gives the mark of a field, which is looked for now and then only.
    pub(crate) fn remembered_mark(
        &self,
        name: &str,
        look: impl FnOnce() -> Result<Option<&'static str>>,
    ) -> Result<Option<&'static str>> {
        let known = self.identifiers.lock().get(name).copied();
        if let Some((_, mark)) = known.filter(|(at, _)| at.elapsed() < GOOD_FOR) {
            return Ok(mark);
        }
        let mark = look()?;
        self.identifiers.lock().insert(name.to_owned(), (Instant::now(), mark));
        Ok(mark)
    }

    fn mark_of_most(&self, name: &str, deadline: &Deadline) -> Result<Option<&'static str>> {
        let long = Range { low: Cell::Integer(LEAST_PRIVATE), high: Cell::Null };
        let query = Query {
            filters: vec![Filter::new(name, Test::Within(vec![long]))],
            ..Query::first(N_LOOKED_AT, vec![name.to_owned()])
        };
        let answer = self.ask(&query, deadline)?;
        let mut n_numbers = 0;
        let mut private = Vec::new();
        for number in answer.rows.iter().flatten().flat_map(items) {
            n_numbers += 1;
            private.extend(private_kind(number).map(text::PrivateKind::mark));
        }
        let is_most = 2 * private.len() >= n_numbers;
        Ok(private.first().copied().filter(|_| is_most))
    }

    /// Gives the marks that are shown in place of measures of identifiers, and refuses what would
    /// tell their digits in another way. `columns` are the names of groups and measures.
    pub(crate) fn measure_marks(
        &self,
        wanted: &Aggregate,
        columns: &[String],
        deadline: &Deadline,
    ) -> Result<Vec<Option<&'static str>>> {
        for group in &wanted.group_by {
            let what = match group.by {
                GroupBy::Width(_) => "`width`",
                GroupBy::Calendar(_, _) => "`bucket`",
                GroupBy::Value => continue,
            };
            self.check_computed(&group.column, what, deadline)?;
        }
        let mut marks = Vec::with_capacity(wanted.measures.len());
        for measure in &wanted.measures {
            let computed = match measure.op {
                Op::Count | Op::CountDistinct => None,
                Op::Sum | Op::Avg | Op::Min | Op::Max | Op::Percentile(_) => {
                    measure.column.as_ref()
                }
            };
            let mark = computed.map(|name| self.identifier_mark(name, deadline)).transpose()?;
            marks.push(mark.flatten());
        }
        for having in &wanted.having {
            let mark = marks.get(having.measure_idx).copied().flatten();
            let name = columns.get(wanted.group_by.len() + having.measure_idx);
            if let (Some(mark), Some(name)) = (mark, name) {
                return Err(Error::BadAggregate {
                    problem: format!(
                        "`having` cannot test `{name}`, which is redacted as `{mark}`: test a count"
                    ),
                });
            }
        }
        Ok(marks)
    }

    /// Refuses to compute with the values of a secret field or of one of identifiers.
    pub(crate) fn check_computed(&self, name: &str, what: &str, deadline: &Deadline) -> Result<()> {
        let Some(mark) = self.identifier_mark(name, deadline)? else { return Ok(()) };
        Err(Error::BadAggregate {
            problem: format!(
                "{what} is not given for `{name}`: its values are redacted as `{mark}`; they can \
                 be counted, and grouped by value"
            ),
        })
    }
}

/// Puts marks in place of the figures of identifiers, behind so many groups; gives how many.
pub(crate) fn put_marks(
    rows: &mut [Vec<Cell>],
    n_groupings: usize,
    marks: &[Option<&'static str>],
) -> usize {
    let mut n_marked = 0;
    for row in rows {
        for (cell, mark) in row.iter_mut().skip(n_groupings).zip(marks) {
            if let Some(mark) = mark.filter(|_| *cell != Cell::Null) {
                *cell = Cell::Text(mark.to_owned());
                n_marked += 1;
            }
        }
    }
    n_marked
}

/// Tells whether redaction hides a value of a redacted field, or a part of it.
pub(crate) fn is_private(value: &Cell) -> bool {
    match value {
        Cell::Null => false,
        Cell::List(values) => values.iter().any(is_private),
        Cell::Text(text) => !text::find_private(text).is_empty(),
        Cell::Integer(_) | Cell::Real(_) | Cell::Decimal(_) => private_kind(value).is_some(),
        Cell::Boolean(_) | Cell::Timestamp(_) => false,
    }
}

/// Tells what a number is by itself: a card, a telephone number.
pub(crate) fn private_kind(number: &Cell) -> Option<text::PrivateKind> {
    let digits = digits_of(number)?;
    text::find_private(&digits).first().map(|piece| piece.kind)
}

fn items(cell: &Cell) -> &[Cell] {
    match cell {
        Cell::List(items) => items,
        one @ (Cell::Null
        | Cell::Text(_)
        | Cell::Integer(_)
        | Cell::Real(_)
        | Cell::Decimal(_)
        | Cell::Boolean(_)
        | Cell::Timestamp(_)) => std::slice::from_ref(one),
    }
}

#[cfg(test)]
mod tests {
    use columns::Direction;
    use model::{Access, Caller};

    use super::*;
    use crate::{
        AggregateRequest, Field, Fields, Filters, GroupRequest, MeasureRequest, QueryRequest,
        Service, ServiceConfig, SortRequest, TableConfig,
    };

    fn service(folder: &std::path::Path) -> Service {
        let csv = "id,card,amount,mail,note\n\
                   1,4111111111111111,4111111111111110,ana@example.org,to ana@example.org\n\
                   2,5500005555555559,3,bob@example.org,b\n3,7,4,cid,c\n";
        fs_err::write(folder.join("a.csv"), csv).unwrap();
        Service::open(ServiceConfig {
            tables: vec![TableConfig {
                name: "people".to_owned(),
                source: "a.csv".to_owned(),
                description: None,
                allow: Access::everyone(),
                null_values: vec![],
                delimiter: None,
                fields: Fields::from([
                    ("id", Field::number()),
                    ("card", Field::number()),
                    ("amount", Field::number()),
                    ("mail", Field::string()),
                    ("note", Field::string()),
                ]),
                relations: vec![],
            }],
            base_folder: folder.to_owned(),
            cache_folder: folder.join("cache"),
            export_link_minutes: crate::EXPORT_LINK_MINUTES,
        })
        .unwrap()
    }

    #[test]
    fn nothing_is_computed_from_cards() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path());
        let (caller, soon) = (Caller::local_admin(), Deadline::after(Duration::from_secs(60)));
        let of = |op, field: &str| MeasureRequest {
            op,
            field: Some(field.to_owned()),
            name: Some("figure".to_owned()),
        };
        let ask = |request: &AggregateRequest| service.aggregate(&caller, request, &soon);
        for op in [Op::Sum, Op::Avg, Op::Min, Op::Max, Op::Percentile(50)] {
            let cards = AggregateRequest { measures: vec![of(op, "card")], ..Default::default() };
            let answer = ask(&cards).unwrap();
            assert_eq!((&answer.rows[0][0], answer.n_marked), (&Cell::from("[card]"), 1));
            let at_least = Filters::from_iter([("min", 4_i64)]);
            let having = Filters::from_iter([("figure", at_least)]);
            assert!(ask(&AggregateRequest { having: having.clone(), ..cards }).is_err());
            let amounts = vec![of(op, "amount")];
            let amounts = AggregateRequest { measures: amounts, having, ..Default::default() };
            assert_eq!(ask(&amounts).unwrap().n_marked, 0, "one long number is an amount");
        }
        let width = |field: &str| AggregateRequest {
            group_by: vec![GroupRequest {
                field: field.to_owned(),
                width: Some(10.0),
                ..Default::default()
            }],
            ..Default::default()
        };
        assert!(ask(&width("card")).is_err() && ask(&width("amount")).is_ok());
        let counted = AggregateRequest {
            measures: vec![of(Op::CountDistinct, "card")],
            ..Default::default()
        };
        assert_eq!(ask(&counted).unwrap().rows[0][0], Cell::Integer(3));
    }

    #[test]
    fn numbers_below_zero_are_no_identifiers() {
        for number in [4_111_111_111_111_111, 16_175_550_123] {
            assert!(private_kind(&Cell::Integer(number)).is_some());
            assert_eq!(private_kind(&Cell::Integer(-number)), None);
            assert_eq!(private_kind(&Cell::Real(-(number as f64))), None);
        }
    }

    #[test]
    fn suggestions_do_not_tell_addresses() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path());
        let (caller, soon) = (Caller::local_admin(), Deadline::after(Duration::from_secs(60)));
        let meant = |mail: &str| {
            let filters = Filters::from_iter([("mail", Filters::from_iter([("eq", mail)]))]);
            let request = QueryRequest { filters, ..QueryRequest::default() };
            let answer = service.query(&caller, &request, &soon).unwrap();
            answer.did_you_mean[0].suggestions.clone()
        };
        assert_eq!(meant("ana@example.or"), []);
        assert_eq!(meant("bo"), []);
        assert_eq!(meant("cidd"), [Cell::from("cid")]);
    }

    #[test]
    fn a_mark_beside_a_guess_does_not_tell_whether_it_is_right() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path());
        let (caller, soon) = (Caller::local_admin(), Deadline::after(Duration::from_secs(60)));
        let total = |field: &str, operator: &str, values: &[&str]| {
            let values = values.iter().map(|value| Cell::from(*value)).collect();
            let filters = Filters::from_iter([(operator, Cell::List(values))]);
            let filters = Filters::from_iter([(field, filters)]);
            let request = QueryRequest { filters, ..QueryRequest::default() };
            service.query(&caller, &request, &soon).unwrap().total
        };
        for guess in ["ana@example.org", "eve@example.org"] {
            assert_eq!(total("mail", "in", &[guess, "[email]"]), 0);
            assert_eq!(total("mail", "in", &[guess, "[email]", "cid"]), 1);
        }
        assert_eq!(total("mail", "in", &["[email]"]), 0);
    }

    #[test]
    fn tokens_do_not_tell_addresses() {
        use base64::Engine as _;
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path());
        let (caller, soon) = (Caller::local_admin(), Deadline::after(Duration::from_secs(60)));
        let sort = SortRequest { id: "note".to_owned(), direction: Direction::Descending };
        let mut request = QueryRequest {
            sort: vec![sort],
            page_size: 1,
            columns: Some(vec!["id".to_owned()]),
            ..QueryRequest::default()
        };
        let mut ids = Vec::new();
        loop {
            let page = service.query(&caller, &request, &soon).unwrap();
            ids.push(page.rows[0][0].clone());
            let Some(next) = page.next else { break };
            let token = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(&next).unwrap();
            let text = String::from_utf8_lossy(&token);
            assert!(!text.contains("example"), "{text}");
            request.cursor = Some(next);
        }
        assert_eq!(ids, [1, 3, 2].map(Cell::Integer));
    }

    /// With one number known, rows in the order of numbers tell nearly what the others are.
    #[test]
    fn neither_rows_nor_groups_come_in_the_order_of_what_is_redacted() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path());
        let (caller, soon) = (Caller::local_admin(), Deadline::after(Duration::from_secs(60)));
        let by =
            |id: &str| vec![SortRequest { id: id.to_owned(), direction: Direction::Ascending }];
        let query = |id: &str| {
            let request = QueryRequest { sort: by(id), ..QueryRequest::default() };
            service.query(&caller, &request, &soon).map_err(|error| error.to_string())
        };
        for (field, mark) in [("mail", "[email]"), ("card", "[card]")] {
            let refused = query(field).unwrap_err();
            assert!(refused.contains(field) && refused.contains(mark), "{refused}");
        }
        assert!(query("id").is_ok() && query("amount").is_ok());
        let group = |field: &str| GroupRequest { field: field.to_owned(), ..Default::default() };
        let ask = |sort: Vec<SortRequest>, measures: &[(Op, &str)]| {
            let measures = measures.iter().map(|(op, field)| MeasureRequest {
                op: *op,
                field: Some((*field).to_owned()),
                name: None,
            });
            let request = AggregateRequest {
                group_by: vec![group("card")],
                measures: measures.collect(),
                sort,
                ..Default::default()
            };
            service.aggregate(&caller, &request, &soon).map_err(|error| error.to_string())
        };
        assert!(ask(by("card"), &[]).is_err());
        assert!(ask(by("max_mail"), &[(Op::Max, "mail")]).is_err());
        let ids: Vec<Cell> = ask(vec![], &[(Op::Max, "id")])
            .unwrap()
            .rows
            .iter()
            .map(|row| row[1].clone())
            .collect();
        assert_eq!(ids, [1, 2, 3].map(Cell::Integer), "by the numbers of cards 3 comes first");
    }
}
