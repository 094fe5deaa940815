//! Prints the figures of this crate:
//! `cargo run --release -p lookup --example measure_lookup FOLDER [MODELS]`. With a folder of models it
//! prints what meaning adds instead.

use std::sync::Arc;

use infer::{EmbedderChoice, EmbedderSlot};
use lookup::{ModelNameEmbedder, NameEmbedder, bench};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("the folder of Romanian data");
    let report = match arguments.next() {
        None => bench::run(folder.as_ref()),
        Some(models_dir) => {
            let slot = EmbedderSlot::new(EmbedderChoice::Local {
                model: "multilingual-e5-small".to_owned(),
                models_dir: models_dir.into(),
            });
            let meaning: Arc<dyn NameEmbedder> = Arc::new(ModelNameEmbedder::new(Arc::new(slot)));
            bench::run_with_meaning(folder.as_ref(), &meaning)
        }
    };
    for figure in report.expect("the folder is laid out as expected").figures {
        let note = figure.note.unwrap_or_default();
        eprintln!("{:60} {:10.4} {:8} {note}", figure.name, figure.value, figure.unit);
    }
}
