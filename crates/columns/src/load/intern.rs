//! Gives each different cell of a column a number while the source is read, so that typing,
//! sorting and reporting are done once for each different cell and not once for each row.

use ahash::RandomState;
use hashbrown::HashTable;

/// A cell as the source has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Raw<'a> {
    /// Text of a file, still without a type.
    Text(&'a str),
    /// A whole number of a typed source.
    Integer(i64),
    /// A number of a typed source.
    Real(f64),
    /// A flag of a typed source.
    Boolean(bool),
    /// Milliseconds since the epoch, of a typed source.
    Millis(i64),
}

/// The different cells of one column, in the order in which they first came.
#[derive(Default)]
pub(crate) struct Interner {
    hasher: Hasher,
    table: HashTable<u32>,
    cells: Vec<Stored>,
    text: String,
}

/// A fixed seed makes loading the same file twice do the same work in the same order.
struct Hasher(RandomState);

impl Default for Hasher {
    fn default() -> Self {
        Hasher(RandomState::with_seeds(1, 2, 3, 4))
    }
}

#[derive(Clone, Copy)]
enum Stored {
    Text { start: usize, end: usize },
    Integer(i64),
    Real(f64),
    Boolean(bool),
    Millis(i64),
}

impl Interner {
    /// Gives the number of a cell: a new one when it was never seen.
    pub(crate) fn intern(&mut self, raw: Raw<'_>) -> u32 {
        let Interner { hasher, table, cells, text } = self;
        let hash = hash(hasher, raw);
        let found = table.find(hash, |code| same(load(cells[*code as usize], text), raw));
        if let Some(code) = found {
            return *code;
        }
        let code = cells.len() as u32;
        cells.push(match raw {
            Raw::Text(cell) => {
                let start = text.len();
                text.push_str(cell);
                Stored::Text { start, end: text.len() }
            }
            Raw::Integer(number) => Stored::Integer(number),
            Raw::Real(number) => Stored::Real(number),
            Raw::Boolean(flag) => Stored::Boolean(flag),
            Raw::Millis(millis) => Stored::Millis(millis),
        });
        let (cells, text) = (&*cells, &*text);
        table.insert_unique(hash, code, |code| {
            self::hash(hasher, load(cells[*code as usize], text))
        });
        code
    }

    /// Gives the different cells by number.
    pub(crate) fn cells(&self) -> impl ExactSizeIterator<Item = Raw<'_>> {
        self.cells.iter().map(|stored| load(*stored, &self.text))
    }
}

fn load(stored: Stored, text: &str) -> Raw<'_> {
    match stored {
        Stored::Text { start, end } => Raw::Text(&text[start..end]),
        Stored::Integer(number) => Raw::Integer(number),
        Stored::Real(number) => Raw::Real(number),
        Stored::Boolean(flag) => Raw::Boolean(flag),
        Stored::Millis(millis) => Raw::Millis(millis),
    }
}

/// Two reals are the same cell when their bits are, so that NaN is found again.
fn same(left: Raw<'_>, right: Raw<'_>) -> bool {
    match (left, right) {
        (Raw::Real(left), Raw::Real(right)) => left.to_bits() == right.to_bits(),
        (left, right) => left == right,
    }
}

fn hash(hasher: &Hasher, raw: Raw<'_>) -> u64 {
    match raw {
        Raw::Text(text) => hasher.0.hash_one(text.as_bytes()),
        Raw::Integer(number) => hasher.0.hash_one(number),
        Raw::Real(number) => hasher.0.hash_one(number.to_bits()),
        Raw::Boolean(flag) => hasher.0.hash_one(flag),
        Raw::Millis(millis) => hasher.0.hash_one(millis),
    }
}
