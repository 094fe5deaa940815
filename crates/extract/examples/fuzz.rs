//! Reads damaged copies of real files for some time: every one must end without a panic, within
//! its time, in text or a named warning.
//!
//! `cargo run --release -p extract --example fuzz -- FOLDER SECONDS [SEED]`

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use extract::{Caps, extract};

/// Larger files take too long to be read often.
const MAX_BYTES: u64 = 300_000;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok());
    let limit = Duration::from_secs(number(arguments.next()).unwrap_or(60));
    let mut random = Random(number(arguments.next()).unwrap_or(1).max(1));
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files)?;
    if files.is_empty() {
        eprintln!("no files in `{folder}`");
        return Ok(());
    }
    let caps = Caps { time: Duration::from_secs(10), ..Caps::standard() };
    let started = Instant::now();
    let (mut n_runs, mut n_bad, mut slowest) = (0_u64, 0_u64, Duration::ZERO);
    std::panic::set_hook(Box::new(|_| {}));
    while started.elapsed() < limit {
        let seed = random.0;
        let path = &files[random.below(files.len())];
        let other = &files[random.below(files.len())];
        let bytes = damaged(fs_err::read(path)?, &fs_err::read(other)?, &mut random);
        let began = Instant::now();
        let (document, warnings) = extract(&bytes, &path.to_string_lossy(), &caps);
        let took = began.elapsed();
        n_runs += 1;
        if took > slowest {
            slowest = took;
            eprintln!("slowest {took:?}: {} from seed {seed}", path.display());
        }
        let panic = warnings.iter().find(|warning| warning.code == "parser_panicked");
        let is_mute = document.blocks.is_empty() && warnings.is_empty();
        if panic.is_some() || is_mute || took > caps.time * 2 {
            n_bad += 1;
            eprintln!("bad: {} from seed {seed}: {panic:?} {took:?}", path.display());
        }
    }
    eprintln!("{n_runs} files read, {n_bad} bad, slowest {slowest:?}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if fs_err::metadata(&path)?.len() < MAX_BYTES {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

fn damaged(mut bytes: Vec<u8>, other: &[u8], random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(8) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = random.below(bytes.len());
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + random.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + random.below(256)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            5 if !other.is_empty() => {
                let from = random.below(other.len());
                let end = (from + random.below(512)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            _ => {
                let value = [0, 1, 0x7f, 0x80, 0xff][random.below(5)];
                let end = (at + 4).min(bytes.len());
                bytes[at..end].fill(value);
            }
        }
    }
    bytes
}

/// Numbers that a seed decides.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}
