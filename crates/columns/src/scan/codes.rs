//! From a condition on values to a set of codes: each distinct value is tested once, whatever
//! the number of rows.

use rayon::prelude::*;

use super::containing::containing;
use crate::column::{Distinct, NULL_CODE};
use crate::query::{Range, Sight, Test, Unmatched};
use crate::shown::{holds_in_public, public_pieces};
use crate::{Column, Error, Kind, Result, Value, decimal};

/// How many values one thread looks at for private pieces.
const PRIVATE_AT_ONCE: usize = 1024;

/// The codes that pass.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CodeSet {
    /// None.
    Nothing,
    /// No condition is left, so that nothing is looked up.
    Everything,
    /// Those from the first to the last.
    Span(u32, u32),
    /// Those marked 1.
    Table(Vec<u8>),
}

/// A condition ready to be scanned.
#[derive(Debug)]
pub(crate) enum Condition {
    /// A row passes when one of its codes does.
    Any(CodeSet),
    /// A row passes when none of its codes does; only for cells with several values.
    None(CodeSet),
    /// A row passes when it holds all codes of one of the lists.
    HoldsAll(Vec<Vec<u32>>),
    /// The opposite.
    LacksAll(Vec<Vec<u32>>),
}

/// Finds the codes of a column that fulfil a test.
pub(crate) fn compile(column: &Column, test: &Test, sight: Sight) -> Result<Condition> {
    Ok(match test {
        Test::Not(inner) => match compile(column, inner, sight)? {
            Condition::Any(set) if !column.has_lists() => {
                Condition::Any(complement(set, column.distinct.len()))
            }
            Condition::Any(set) => Condition::None(set),
            Condition::None(set) => Condition::Any(set),
            Condition::HoldsAll(lists) => Condition::LacksAll(lists),
            Condition::LacksAll(lists) => Condition::HoldsAll(lists),
        },
        Test::HoldsAll(alternatives) => Condition::HoldsAll(
            alternatives
                .iter()
                .filter_map(|values| {
                    let seen = |code: &u32| sight == Sight::Whole || !column.is_private(*code);
                    let find = |value| find(&column.distinct, value).filter(seen);
                    values.iter().map(find).collect()
                })
                .collect(),
        ),
        Test::Contains { .. } | Test::AnyOf(_) | Test::Within(_) | Test::HasPrefix(_) => {
            Condition::Any(seen(column, passing(column, test)?, test, sight))
        }
    })
}

/// Leaves out the codes that pass only through what redaction takes out.
fn seen(column: &Column, set: CodeSet, test: &Test, sight: Sight) -> CodeSet {
    let is_private = |code: &u32| column.is_private(*code);
    let passes_by_private = |code: &u32| {
        let Distinct::Text(texts) = &column.distinct else { return true };
        let pieces = public_pieces(column.name(), texts.value(*code as usize));
        pieces.is_some_and(|pieces| !holds_in_public(test, &pieces))
    };
    if sight == Sight::Whole || set == CodeSet::Nothing {
        return set;
    }
    let n_codes = column.distinct.len() as u32;
    let codes = match &set {
        CodeSet::Span(first, last) => *first..*last + 1,
        CodeSet::Nothing | CodeSet::Everything | CodeSet::Table(_) => 0..n_codes,
    };
    let hidden: Vec<u32> = codes
        .into_par_iter()
        .with_min_len(PRIVATE_AT_ONCE)
        .filter(|code| set.contains(*code) && is_private(code) && passes_by_private(code))
        .collect();
    if hidden.is_empty() {
        return set;
    }
    let mut marks: Vec<u8> = (0..n_codes).map(|code| u8::from(set.contains(code))).collect();
    for code in hidden {
        marks[code as usize] = 0;
    }
    CodeSet::of(marks)
}

/// Names the values of a test that no row of the table has.
pub(crate) fn unmatched(
    column: &Column,
    filter_idx: usize,
    test: &Test,
    sight: Sight,
) -> Result<Vec<Unmatched>> {
    // A value that is there and hidden is one that no row has, as far as the caller may know.
    let find = |distinct: &Distinct, value: &Value| {
        find(distinct, value).filter(|code| sight == Sight::Whole || !column.is_private(*code))
    };
    let passing = |column: &Column, test: &Test| -> Result<CodeSet> {
        Ok(seen(column, passing(column, test)?, test, sight))
    };
    let missing = |value: &Value| Unmatched { filter_idx, value: value.clone() };
    Ok(match test {
        Test::Contains { text, .. } => {
            let is_empty = passing(column, test)? == CodeSet::Nothing;
            if is_empty { vec![missing(&Value::Text(text.clone()))] } else { Vec::new() }
        }
        Test::AnyOf(values) => values
            .iter()
            .filter(|value| find(&column.distinct, value).is_none())
            .map(missing)
            .collect(),
        Test::Within(ranges) => ranges
            .iter()
            .filter(|range| {
                let test = Test::Within(vec![(*range).clone()]);
                passing(column, &test).is_ok_and(|set| set == CodeSet::Nothing)
            })
            .map(|range| missing(&range.low))
            .collect(),
        Test::HasPrefix(prefixes) => prefixes
            .iter()
            .map(|prefix| Value::Text(prefix.clone()))
            .filter(|prefix| {
                let test = Test::HasPrefix(vec![prefix.as_str().unwrap_or_default().to_owned()]);
                passing(column, &test).is_ok_and(|set| set == CodeSet::Nothing)
            })
            .map(|prefix| missing(&prefix))
            .collect(),
        Test::HoldsAll(lists) => lists
            .iter()
            .flatten()
            .filter(|value| find(&column.distinct, value).is_none())
            .map(missing)
            .collect(),
        Test::Not(_) => Vec::new(),
    })
}

/// Gives the code of a value, where the column has it.
pub(crate) fn find(distinct: &Distinct, value: &Value) -> Option<u32> {
    if *value == Value::Null {
        return Some(NULL_CODE);
    }
    let at = lower_bound(distinct, value);
    let is_there = (at as usize) < distinct.len() && compare(distinct, at, value).is_eq();
    is_there.then_some(at)
}

/// Gives the first code whose value is not below the given one; the number of codes when all
/// are below.
pub(crate) fn lower_bound(distinct: &Distinct, value: &Value) -> u32 {
    partition(distinct, |code| compare(distinct, code, value).is_lt())
}

fn upper_bound(distinct: &Distinct, value: &Value) -> u32 {
    partition(distinct, |code| compare(distinct, code, value).is_le())
}

fn partition(distinct: &Distinct, is_before: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (1_u32, distinct.len() as u32);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Compares a distinct value with any value. Values of another type are above everything, so
/// that they are found nowhere.
fn compare(distinct: &Distinct, code: u32, value: &Value) -> std::cmp::Ordering {
    use std::cmp::Ordering::Less;
    let at = code as usize;
    match (distinct, value) {
        (Distinct::Text(texts), Value::Text(text)) => texts.value(at).cmp(text.as_str()),
        (Distinct::Integers(numbers), Value::Integer(number)) => numbers.value(at).cmp(number),
        (Distinct::Integers(numbers), Value::Real(number)) => {
            (numbers.value(at) as f64).total_cmp(&(number + 0.0))
        }
        (Distinct::Reals(numbers), Value::Real(number)) => {
            numbers.value(at).total_cmp(&(number + 0.0))
        }
        (Distinct::Reals(numbers), Value::Integer(number)) => {
            numbers.value(at).total_cmp(&(*number as f64))
        }
        (Distinct::Integers(_) | Distinct::Reals(_), Value::Decimal(_))
        | (Distinct::Decimals(_), Value::Integer(_) | Value::Real(_) | Value::Decimal(_)) => {
            decimal::compare(&distinct.value(code), value)
        }
        (Distinct::Booleans(flags), Value::Boolean(flag)) => flags.value(at).cmp(flag),
        (Distinct::Timestamps(moments), Value::Timestamp(millis) | Value::Integer(millis)) => {
            moments.value(at).cmp(millis)
        }
        _ => Less,
    }
}

fn passing(column: &Column, test: &Test) -> Result<CodeSet> {
    let distinct = &column.distinct;
    match test {
        Test::Contains { text, case } => {
            let Distinct::Text(texts) = distinct else {
                return Err(wrong_test(column, "a text inside"));
            };
            Ok(CodeSet::of(containing(texts, text, *case)))
        }
        Test::AnyOf(values) => {
            let mut marks = vec![0; distinct.len()];
            for code in values.iter().filter_map(|value| find(distinct, value)) {
                marks[code as usize] = 1;
            }
            Ok(CodeSet::of(marks))
        }
        Test::Within(ranges) => {
            let spans: Vec<(u32, u32)> =
                ranges.iter().filter_map(|range| span_of(distinct, range)).collect();
            Ok(CodeSet::of_spans(&spans, distinct.len()))
        }
        Test::HasPrefix(prefixes) => {
            let Distinct::Text(texts) = distinct else {
                return Err(wrong_test(column, "a prefix"));
            };
            let spans: Vec<(u32, u32)> = prefixes
                .iter()
                .filter_map(|prefix| {
                    let first = lower_bound(distinct, &Value::Text(prefix.clone()));
                    let end = partition(distinct, |code| {
                        let text = texts.value(code as usize);
                        text < prefix.as_str() || text.starts_with(prefix.as_str())
                    });
                    (first < end).then(|| (first, end - 1))
                })
                .collect();
            Ok(CodeSet::of_spans(&spans, distinct.len()))
        }
        Test::HoldsAll(_) | Test::Not(_) => unreachable!("handled before single codes are tested"),
    }
}

fn span_of(distinct: &Distinct, range: &Range) -> Option<(u32, u32)> {
    let first = if range.low == Value::Null { 1 } else { lower_bound(distinct, &range.low) };
    let end = if range.high == Value::Null {
        distinct.len() as u32
    } else {
        upper_bound(distinct, &range.high)
    };
    (first < end).then(|| (first, end - 1))
}

fn wrong_test(column: &Column, test: &'static str) -> Error {
    let kind: Kind = column.kind();
    Error::WrongTest { column: column.name().to_owned(), kind: kind.as_str(), test }
}

fn complement(set: CodeSet, n_codes: usize) -> CodeSet {
    match set {
        CodeSet::Nothing => CodeSet::Everything,
        CodeSet::Everything => CodeSet::Nothing,
        CodeSet::Span(first, last) => {
            let mut marks = vec![1; n_codes];
            marks[first as usize..=last as usize].fill(0);
            CodeSet::of(marks)
        }
        CodeSet::Table(marks) => CodeSet::of(marks.into_iter().map(|mark| 1 - mark).collect()),
    }
}

impl CodeSet {
    /// Takes marks, and recognises a span, which is compared and not looked up.
    fn of(marks: Vec<u8>) -> Self {
        let Some(first) = marks.iter().position(|mark| *mark == 1) else {
            return CodeSet::Nothing;
        };
        let last = marks.iter().rposition(|mark| *mark == 1).expect("there is a first");
        let is_span = marks[first..=last].iter().all(|mark| *mark == 1);
        match (is_span, last - first + 1 == marks.len()) {
            (true, true) => CodeSet::Everything,
            (true, false) => CodeSet::Span(first as u32, last as u32),
            (false, _) => CodeSet::Table(marks),
        }
    }

    fn of_spans(spans: &[(u32, u32)], n_codes: usize) -> Self {
        match spans {
            [] => CodeSet::Nothing,
            [(first, last)] => CodeSet::Span(*first, *last),
            spans => {
                let mut marks = vec![0; n_codes];
                for (first, last) in spans {
                    marks[*first as usize..=*last as usize].fill(1);
                }
                CodeSet::of(marks)
            }
        }
    }
}
