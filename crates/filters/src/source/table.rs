//! Rows of text under named columns: all that a dimension needs of its source.

use columns::Dataset;

/// Rows as they were read, every cell as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// Gives the position of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Gives the position of the first of some columns that exists.
    pub(crate) fn column_of(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.column(name))
    }
}

impl From<&Dataset> for Table {
    fn from(dataset: &Dataset) -> Self {
        let columns = dataset.all_columns();
        let cell = |row: usize, column: &columns::Column| {
            column.text(row).map(str::trim).unwrap_or_default().to_owned()
        };
        Table {
            columns: columns.iter().map(|column| column.name().to_owned()).collect(),
            rows: (0..dataset.n_rows())
                .map(|row| columns.iter().map(|column| cell(row, column)).collect())
                .collect(),
        }
    }
}
