//! Runs the figures of the store alone: `store_bench FOLDER CORPUS|- SIZE…`.

use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, corpus, sizes @ ..] = &arguments[..] else {
        return Err("expected FOLDER CORPUS|- SIZE…".into());
    };
    let config = store::bench::BenchConfig {
        folder: folder.into(),
        sizes: sizes.iter().map(|size| size.parse()).collect::<Result<_, _>>()?,
        vectors: Vec::new(),
        corpus: (corpus != "-").then(|| corpus.into()),
        n_questions: 200,
        clock: model::Clock::fixed(model::Timestamp(0)),
    };
    let report = store::bench::run(&config)?;
    let mut out = std::io::stdout().lock();
    for figure in report.figures {
        let note = figure.note.map(|note| format!("  ({note})")).unwrap_or_default();
        writeln!(out, "{:<55} {:>12.2} {}{note}", figure.name, figure.value, figure.unit)?;
    }
    Ok(())
}
