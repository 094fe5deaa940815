//! What a measurement found: the common shape of everything `dowse bench` prints and saves.

use serde::Serialize;

/// One measured number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What was measured, such as `latin analyse`.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit, such as `MB/s`, `ms p50` or `ratio`.
    pub unit: String,
    /// How it was measured, or what it is compared with.
    pub note: Option<String>,
}

/// A named list of figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// The subject, such as `text`.
    pub subject: String,
    /// The figures in the order they were taken.
    pub figures: Vec<Figure>,
}

impl Report {
    /// Starts an empty report.
    pub fn new(subject: impl Into<String>) -> Self {
        Report { subject: subject.into(), figures: Vec::new() }
    }

    /// Adds a figure.
    pub fn add(&mut self, name: impl Into<String>, value: f64, unit: impl Into<String>) {
        self.figures.push(Figure { name: name.into(), value, unit: unit.into(), note: None });
    }

    /// Adds a figure with a remark.
    pub fn add_noted(
        &mut self,
        name: impl Into<String>,
        value: f64,
        unit: impl Into<String>,
        note: impl Into<String>,
    ) {
        self.figures.push(Figure {
            name: name.into(),
            value,
            unit: unit.into(),
            note: Some(note.into()),
        });
    }
}
