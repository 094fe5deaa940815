//! One column: a sorted list of its distinct values, and one small code for each row.
//!
//! Invariant: code 0 is always null, codes 1.. are the distinct values in ascending order. So
//! comparing codes compares values, a range of values is a range of codes, and counting codes
//! counts values. This is what makes filters, facets, sorting and extremes one cheap pass.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array,
    LargeStringArray, ListArray, PrimitiveArray, TimestampMillisecondArray, UInt32Array,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use crate::scan::{self, Selected};
use crate::shown;
use crate::{Decimal, Kind, Value};

/// The code of "nothing is there".
pub(crate) const NULL_CODE: u32 = 0;

/// A column of a loaded table.
#[derive(Debug)]
pub struct Column {
    name: String,
    pub(crate) codes: Codes,
    /// Where each row's codes start, for columns with several values in a cell. A cell without
    /// values holds one null code, so no row is empty.
    pub(crate) offsets: Option<OffsetBuffer<i32>>,
    pub(crate) distinct: Distinct,
    /// How many rows hold each code, counted when first asked.
    totals: OnceLock<Vec<u32>>,
    /// Which values redaction changes, as far as it was looked: one [`Privacy`] for each code.
    privacy: OnceLock<Box<[AtomicU8]>>,
}

/// What is known of a value: nothing yet, that it stays, or that redaction changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Privacy {
    Unknown = 0,
    Public = 1,
    Private = 2,
}

/// Codes of all rows, as narrow as the number of distinct values allows.
#[derive(Debug, Clone)]
pub(crate) enum Codes {
    Narrow(ScalarBuffer<u8>),
    Medium(ScalarBuffer<u16>),
    Wide(ScalarBuffer<u32>),
}

/// The distinct values in ascending order after a null in the first place.
#[derive(Debug, Clone)]
pub(crate) enum Distinct {
    Text(LargeStringArray),
    Integers(Int64Array),
    Reals(Float64Array),
    /// Units of one scale, where neither of the two before keeps all digits.
    Decimals(Decimal128Array),
    Booleans(BooleanArray),
    Timestamps(TimestampMillisecondArray),
}

impl Column {
    pub(crate) fn new(
        name: String,
        codes: Codes,
        offsets: Option<OffsetBuffer<i32>>,
        distinct: Distinct,
    ) -> Self {
        let (totals, privacy) = (OnceLock::new(), OnceLock::new());
        Column { name, codes, offsets, distinct, totals, privacy }
    }

    /// Gives the same column; what it is made of is shared.
    pub(crate) fn shared(&self) -> Self {
        let (codes, distinct) = (self.codes.clone(), self.distinct.clone());
        Column::new(self.name.clone(), codes, self.offsets.clone(), distinct)
    }

    /// Gives the name by which queries call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives what the cells hold.
    pub fn kind(&self) -> Kind {
        match self.distinct {
            Distinct::Text(_) => Kind::Text,
            Distinct::Integers(_) | Distinct::Reals(_) | Distinct::Decimals(_) => Kind::Number,
            Distinct::Booleans(_) => Kind::Boolean,
            Distinct::Timestamps(_) => Kind::Timestamp,
        }
    }

    /// Tells whether a cell can hold several values.
    pub fn has_lists(&self) -> bool {
        self.offsets.is_some()
    }

    /// Gives the value of one row.
    ///
    /// # Panics
    ///
    /// When the row is out of bounds.
    pub fn value(&self, row: usize) -> Value {
        match &self.offsets {
            None => self.distinct.value(self.codes.get(row)),
            Some(offsets) => Value::List(
                (offsets[row] as usize..offsets[row + 1] as usize)
                    .map(|item| self.codes.get(item))
                    .filter(|code| *code != NULL_CODE)
                    .map(|code| self.distinct.value(code))
                    .collect(),
            ),
        }
    }

    /// Gives the text of one row, where the column is text and the cell is not null.
    pub fn text(&self, row: usize) -> Option<&str> {
        match &self.distinct {
            Distinct::Text(texts) => {
                let code = self.codes.get(self.first_item(row)) as usize;
                (code != NULL_CODE as usize).then(|| texts.value(code))
            }
            Distinct::Integers(_)
            | Distinct::Reals(_)
            | Distinct::Decimals(_)
            | Distinct::Booleans(_)
            | Distinct::Timestamps(_) => None,
        }
    }

    /// Gives the number of one row, where the column holds numbers and the cell is not null.
    pub fn number(&self, row: usize) -> Option<f64> {
        self.distinct.value(self.codes.get(self.first_item(row))).as_f64()
    }

    /// Counts the distinct values, null not among them.
    pub fn n_distinct(&self) -> usize {
        self.distinct.len() - 1
    }

    /// Gives the distinct values in ascending order, without null.
    pub fn distinct_values(&self) -> impl Iterator<Item = Value> + '_ {
        (1..self.distinct.len()).map(|code| self.distinct.value(code as u32))
    }

    /// Counts the bytes that the column takes, in memory or in its mapped file.
    pub fn n_bytes(&self) -> usize {
        let offsets = self.offsets.as_ref().map_or(0, |offsets| offsets.len() * size_of::<i32>());
        let totals = self.totals.get().map_or(0, |totals| totals.len() * size_of::<u32>());
        self.codes.n_bytes() + offsets + self.distinct.n_bytes() + totals
    }

    /// Counts, for each code, the rows that hold it in the whole table.
    pub(crate) fn totals(&self) -> &[u32] {
        self.totals.get_or_init(|| scan::count_all(self))
    }

    /// Tells whether redaction changes a value. It is looked at once: a text takes microseconds,
    /// and a column may have millions.
    pub(crate) fn is_private(&self, code: u32) -> bool {
        let is_number = self.kind() == Kind::Number;
        if code == NULL_CODE || !(is_number || matches!(self.distinct, Distinct::Text(_))) {
            return false;
        }
        let known = self.privacy.get_or_init(|| {
            (0..self.distinct.len()).map(|_| AtomicU8::new(Privacy::Unknown as u8)).collect()
        });
        let known = &known[code as usize];
        let at_hand = known.load(Relaxed);
        if at_hand != Privacy::Unknown as u8 {
            return at_hand == Privacy::Private as u8;
        }
        let is_private = match &self.distinct {
            Distinct::Text(texts) => {
                shown::public_pieces(&self.name, texts.value(code as usize)).is_some()
            }
            Distinct::Integers(_) | Distinct::Reals(_) | Distinct::Decimals(_) => {
                shown::is_hidden(&self.name, &self.distinct.value(code))
            }
            Distinct::Booleans(_) | Distinct::Timestamps(_) => false,
        };
        let found = if is_private { Privacy::Private } else { Privacy::Public };
        known.store(found as u8, Relaxed);
        is_private
    }

    pub(crate) fn first_item(&self, row: usize) -> usize {
        self.offsets.as_ref().map_or(row, |offsets| offsets[row] as usize)
    }

    /// Gives the column as Arrow keeps it in a file.
    pub(crate) fn to_arrow(&self) -> ArrayRef {
        let values = self.distinct.to_arrow();
        let items: ArrayRef = match &self.codes {
            Codes::Narrow(codes) => dictionary::<UInt8Type>(codes.clone(), values),
            Codes::Medium(codes) => dictionary::<UInt16Type>(codes.clone(), values),
            Codes::Wide(codes) => dictionary::<UInt32Type>(codes.clone(), values),
        };
        match &self.offsets {
            None => items,
            Some(offsets) => {
                let field = Arc::new(Field::new("item", items.data_type().clone(), true));
                Arc::new(ListArray::new(field, offsets.clone(), items, None))
            }
        }
    }

    /// Takes a column back from a file; `None` when the file is not of our making.
    pub(crate) fn from_arrow(name: &str, array: &dyn Array) -> Option<Self> {
        let (items, offsets) = match array.as_any().downcast_ref::<ListArray>() {
            Some(list) => (list.values().clone(), Some(list.offsets().clone())),
            None => (array.slice(0, array.len()), None),
        };
        let (codes, values) = if let Some((codes, values)) = keys::<UInt8Type>(&items) {
            (Codes::Narrow(codes), values)
        } else if let Some((codes, values)) = keys::<UInt16Type>(&items) {
            (Codes::Medium(codes), values)
        } else {
            let (codes, values) = keys::<UInt32Type>(&items)?;
            (Codes::Wide(codes), values)
        };
        Some(Column::new(name.to_owned(), codes, offsets, Distinct::from_arrow(&values)?))
    }
}

impl Codes {
    /// Narrows codes to what the number of distinct values (with null) needs.
    pub(crate) fn narrowed(codes: Vec<u32>, n_distinct: usize) -> Self {
        if n_distinct <= 1 << 8 {
            Codes::Narrow(codes.into_iter().map(|code| code as u8).collect::<Vec<_>>().into())
        } else if n_distinct <= 1 << 16 {
            Codes::Medium(codes.into_iter().map(|code| code as u16).collect::<Vec<_>>().into())
        } else {
            Codes::Wide(codes.into())
        }
    }

    pub(crate) fn get(&self, item: usize) -> u32 {
        match self {
            Codes::Narrow(codes) => u32::from(codes[item]),
            Codes::Medium(codes) => u32::from(codes[item]),
            Codes::Wide(codes) => codes[item],
        }
    }

    /// Calls `visit` with the place among the selected rows and the code of each.
    pub(crate) fn for_each(&self, selected: Selected<'_>, visit: impl FnMut(usize, u32)) {
        match self {
            Codes::Narrow(codes) => each(codes, selected, visit),
            Codes::Medium(codes) => each(codes, selected, visit),
            Codes::Wide(codes) => each(codes, selected, visit),
        }
    }

    fn n_bytes(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.len(),
            Codes::Medium(codes) => codes.len() * size_of::<u16>(),
            Codes::Wide(codes) => codes.len() * size_of::<u32>(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.len(),
            Codes::Medium(codes) => codes.len(),
            Codes::Wide(codes) => codes.len(),
        }
    }
}

fn each<C: Copy + Into<u32>>(
    codes: &[C],
    selected: Selected<'_>,
    mut visit: impl FnMut(usize, u32),
) {
    match selected {
        Selected::All(start, end) => {
            for (at, code) in codes[start..end].iter().enumerate() {
                visit(at, (*code).into());
            }
        }
        Selected::Some(rows) => {
            for (at, row) in rows.iter().enumerate() {
                visit(at, codes[*row as usize].into());
            }
        }
    }
}

impl Distinct {
    /// Counts the values, null among them.
    pub(crate) fn len(&self) -> usize {
        self.as_array().len()
    }

    /// Gives a null and the values of these codes, which ascend.
    pub(crate) fn only(&self, codes: &[u32]) -> Self {
        let wanted: UInt32Array = std::iter::once(NULL_CODE).chain(codes.iter().copied()).collect();
        let kept = arrow_select::take::take(self.as_array(), &wanted, None)
            .expect("every code is below the number of distinct values");
        Distinct::from_arrow(&kept).expect("a part of distinct values is of their type")
    }

    pub(crate) fn value(&self, code: u32) -> Value {
        let at = code as usize;
        if code == NULL_CODE {
            return Value::Null;
        }
        match self {
            Distinct::Text(values) => Value::Text(values.value(at).to_owned()),
            Distinct::Integers(values) => Value::Integer(values.value(at)),
            Distinct::Reals(values) => Value::Real(values.value(at)),
            Distinct::Decimals(values) => {
                Decimal::new(values.value(at), values.scale().unsigned_abs()).to_value()
            }
            Distinct::Booleans(values) => Value::Boolean(values.value(at)),
            Distinct::Timestamps(values) => Value::Timestamp(values.value(at)),
        }
    }

    fn n_bytes(&self) -> usize {
        match self {
            Distinct::Text(values) => {
                values.value_data().len() + size_of_val(values.value_offsets())
            }
            Distinct::Booleans(values) => values.len().div_ceil(8),
            Distinct::Integers(_) | Distinct::Reals(_) | Distinct::Timestamps(_) => {
                self.len() * size_of::<i64>()
            }
            Distinct::Decimals(_) => self.len() * size_of::<i128>(),
        }
    }

    fn as_array(&self) -> &dyn Array {
        match self {
            Distinct::Text(values) => values,
            Distinct::Integers(values) => values,
            Distinct::Reals(values) => values,
            Distinct::Decimals(values) => values,
            Distinct::Booleans(values) => values,
            Distinct::Timestamps(values) => values,
        }
    }

    fn to_arrow(&self) -> ArrayRef {
        match self {
            Distinct::Text(values) => Arc::new(values.clone()),
            Distinct::Integers(values) => Arc::new(values.clone()),
            Distinct::Reals(values) => Arc::new(values.clone()),
            Distinct::Decimals(values) => Arc::new(values.clone()),
            Distinct::Booleans(values) => Arc::new(values.clone()),
            Distinct::Timestamps(values) => Arc::new(values.clone()),
        }
    }

    fn from_arrow(values: &ArrayRef) -> Option<Self> {
        let starts_with_null = !values.is_empty() && values.is_null(0);
        if !starts_with_null || values.null_count() != 1 {
            return None;
        }
        let any = values.as_any();
        if let Some(values) = any.downcast_ref::<LargeStringArray>() {
            return Some(Distinct::Text(values.clone()));
        }
        if let Some(values) = any.downcast_ref::<Int64Array>() {
            return Some(Distinct::Integers(values.clone()));
        }
        if let Some(values) = any.downcast_ref::<Float64Array>() {
            return Some(Distinct::Reals(values.clone()));
        }
        if let Some(values) = any.downcast_ref::<Decimal128Array>() {
            return Some(Distinct::Decimals(values.clone()));
        }
        if let Some(values) = any.downcast_ref::<BooleanArray>() {
            return Some(Distinct::Booleans(values.clone()));
        }
        any.downcast_ref::<TimestampMillisecondArray>()
            .map(|values| Distinct::Timestamps(values.clone()))
    }
}

fn dictionary<K: ArrowDictionaryKeyType>(
    codes: ScalarBuffer<K::Native>,
    values: ArrayRef,
) -> ArrayRef {
    let keys = PrimitiveArray::<K>::new(codes, None);
    Arc::new(
        DictionaryArray::<K>::try_new(keys, values)
            .expect("every code is below the number of distinct values"),
    )
}

fn keys<K: ArrowDictionaryKeyType>(
    items: &ArrayRef,
) -> Option<(ScalarBuffer<K::Native>, ArrayRef)> {
    let is_dictionary = matches!(items.data_type(), DataType::Dictionary(_, _));
    let dictionary = items.as_any().downcast_ref::<DictionaryArray<K>>()?;
    let has_null_keys = dictionary.keys().null_count() > 0;
    (is_dictionary && !has_null_keys)
        .then(|| (dictionary.keys().values().clone(), dictionary.values().clone()))
}
