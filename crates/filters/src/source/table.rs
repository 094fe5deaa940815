//! Rows of text under named columns: all that a dimension needs of its source.

/// Rows as they were read, every cell as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Rows that could not be read, by number.
    pub(crate) bad_rows: Vec<usize>,
}

impl Table {
    /// Gives the position of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}
