//! `dowse bench`: measurements that can be repeated anywhere.

mod overhead;
mod process;

use model::Report;

pub(super) use overhead::overhead;

use crate::print;

/// Prints a report as a table.
fn show(report: &Report) {
    let mut rows = vec![vec![report.subject.clone(), String::new(), String::new()]];
    rows.extend(report.figures.iter().map(|figure| {
        let value = format!("{:.2} {}", figure.value, figure.unit);
        vec![figure.name.clone(), value, figure.note.clone().unwrap_or_default()]
    }));
    print::line(print::table(&rows));
}
