//! Prints the figures of this room: `cargo run --release -p lookup --example measure FOLDER`.

fn main() {
    let folder = std::env::args().nth(1).expect("the folder of Romanian data");
    let report = lookup::bench::run(folder.as_ref()).expect("the folder is laid out as expected");
    for figure in report.figures {
        let note = figure.note.unwrap_or_default();
        eprintln!("{:60} {:10.4} {:8} {note}", figure.name, figure.value, figure.unit);
    }
}
