//! Prints the figures of the crate to stderr: `cargo run --release --example figures -- FOLDER`.

use std::path::Path;

fn main() {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("name the folder of the tables");
        return;
    };
    match columns::bench::run(Path::new(&folder)) {
        Ok(report) => {
            for figure in report.figures {
                let note = figure.note.unwrap_or_default();
                eprintln!("{:<40} {:>12.3} {:<8} {note}", figure.name, figure.value, figure.unit);
            }
        }
        Err(error) => eprintln!("{error}"),
    }
}
