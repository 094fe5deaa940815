//! Fuzz targets: built with the coverage that libFuzzer steers by, run one after the other.
//!
//! The compiler flags are those of the stable toolchain, so that no other one is needed; memory
//! errors are not looked for, since the parsers have no unsafe code.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::process::{self, Limit};
use crate::project;

/// How long the build may take.
const BUILD: Limit = Limit::minutes("build of the fuzz targets", 30);

/// How long one target may take, whatever was asked for.
const RUN: Limit = Limit::minutes("fuzz target", 240);

/// Seconds for each target unless the caller says otherwise.
const SECONDS: u32 = 30;

/// What makes the compiler count which edges of the program were taken.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// The target that is told from any other build by its name, so that build scripts and macros of
/// the host are built without coverage.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// The variable that names a folder of files to begin with: those of a format are taken.
const SEEDS: &str = "DOWSE_FUZZ_SEEDS";

/// Files of the seeds beyond this many bytes are left out: they are too slow to run often.
const MAX_SEED_BYTES: u64 = 64 * 1024;

/// Seeds of one target.
const MAX_SEEDS: usize = 50;

/// The formats whose parsers are targets, by extension; the analyser is the target `text`.
const FORMATS: [&str; 30] = [
    "pdf", "docx", "pptx", "xlsx", "xlsb", "odt", "odp", "ods", "doc", "ppt", "xls", "rtf", "epub",
    "eml", "mbox", "msg", "html", "xml", "md", "txt", "tex", "json", "jsonl", "ipynb", "yaml",
    "csv", "tsv", "zip", "tar", "gz",
];

/// Runs the targets: `[SECONDS [TARGET…]]`, all of them unless some are named.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let (seconds, wanted) = match arguments {
        [] => (SECONDS, &[][..]),
        [seconds, wanted @ ..] => {
            (seconds.parse().context("the first argument is seconds")?, wanted)
        }
    };
    let folder = project::root().join("fuzz");
    let built = project::target_dir().join("fuzz");
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--bins", "--target", TRIPLE]).current_dir(&folder);
    build.env("RUSTFLAGS", COVERAGE).env("CARGO_TARGET_DIR", &built);
    process::run(build, BUILD)?;
    for target in std::iter::once("text").chain(FORMATS) {
        if !wanted.is_empty() && !wanted.contains(&target) {
            continue;
        }
        let corpus = built.join("corpus").join(target);
        fs_err::create_dir_all(&corpus)?;
        if let Some(seeds) = std::env::var_os(SEEDS) {
            let extension = if target == "text" { "txt" } else { target };
            let mut n_left = MAX_SEEDS;
            sow(Path::new(&seeds), extension, &corpus, &mut n_left)?;
        }
        let program = if target == "text" { "text" } else { "parse" };
        let mut fuzz = Command::new(built.join(TRIPLE).join("release").join(program));
        fuzz.env("DOWSE_FUZZ_FORMAT", target);
        fuzz.arg(&corpus).arg(format!("-max_total_time={seconds}"));
        fuzz.args(["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"]);
        fuzz.arg(format!("-artifact_prefix={}/{target}-", built.display()));
        eprintln!("fuzz: {target} for {seconds} s");
        process::run(fuzz, RUN)?;
    }
    Ok(())
}

fn sow(folder: &Path, extension: &str, corpus: &Path, n_left: &mut usize) -> anyhow::Result<()> {
    let mut entries: Vec<_> = fs_err::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs_err::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            sow(&path, extension, corpus, n_left)?;
        } else if *n_left > 0
            && path.extension().is_some_and(|own| own == extension)
            && entry.metadata()?.len() <= MAX_SEED_BYTES
        {
            *n_left -= 1;
            fs_err::copy(&path, corpus.join(format!("seed-{n_left}")))?;
        }
    }
    Ok(())
}
