//! What can happen to a server.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::ensure;
use rustix::process::Signal;

use super::ledger::Ledger;
use super::site::Site;
use super::upstreams::{model_away, source_away};
use super::{Random, catalogue, slow_disk};
use crate::process::{self, Limit};

/// How long a command of the binary may take.
pub(crate) const COMMAND: Limit = Limit::minutes("a command of the binary", 5);

/// Changes of one round, at most.
const MAX_CHANGES: usize = 12;

/// Kills that follow each other, at least: more than a document may be blamed for.
const MIN_KILLS: usize = 4;

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process is killed in the middle of changes.
    Kill,
    /// The process is killed again and again, soon after each start.
    KillStorm,
    /// The process is asked to end in the middle of changes.
    Stop,
    /// The process stands still for a moment, as on a disk that does not answer.
    Stall,
    /// The configuration changes in the middle of changes.
    Reload,
    /// The disk is full for a while.
    FullDisk,
    /// Files of derived indexes lose their ends.
    TornIndex,
    /// Bytes of derived indexes change.
    FlippedIndex,
    /// A backup is made in the middle of changes, and read back.
    Backup,
    /// The catalogue or its write-ahead log is torn, emptied, removed, or has another bit.
    DamagedCatalogue,
    /// Every sync takes long, and the process may be killed meanwhile.
    SlowDisk,
    /// The model that makes vectors and writes hangs, fails, closes or lies.
    ModelAway,
    /// The database of a table is stopped.
    SourceAway,
}

impl Fault {
    pub(crate) const ALL: [Fault; 13] = [
        Fault::Kill,
        Fault::KillStorm,
        Fault::Stop,
        Fault::Stall,
        Fault::Reload,
        Fault::FullDisk,
        Fault::TornIndex,
        Fault::FlippedIndex,
        Fault::Backup,
        Fault::DamagedCatalogue,
        Fault::SlowDisk,
        Fault::ModelAway,
        Fault::SourceAway,
    ];

    /// Lists those that can happen here, and says which cannot.
    pub(crate) fn possible(site: &Site) -> Vec<Fault> {
        let is_possible = |fault: &Fault| {
            let (is_possible, missing) = match fault {
                Fault::FullDisk => (site.has_small_disk(), "user namespace"),
                Fault::SlowDisk => (slow_disk::can_be_slow(), "`strace`"),
                Fault::SourceAway => (site.upstreams().has_postgres(), "PostgreSQL"),
                Fault::Kill
                | Fault::KillStorm
                | Fault::Stop
                | Fault::Stall
                | Fault::Reload
                | Fault::TornIndex
                | Fault::FlippedIndex
                | Fault::Backup
                | Fault::DamagedCatalogue
                | Fault::ModelAway => (true, ""),
            };
            if !is_possible {
                eprintln!("`{}` is left out: there is no {missing} here", fault.name());
            }
            is_possible
        };
        Fault::ALL.into_iter().filter(is_possible).collect()
    }

    /// Chooses the fault of a round: first each one once, in random order, then any.
    pub(crate) fn choose(random: &mut Random, first: &mut Vec<Fault>, all: &[Fault]) -> Fault {
        if !first.is_empty() {
            return first.swap_remove(random.below(first.len()));
        }
        // A third of all rounds are kills: they are what happens most.
        if random.below(3) == 0 { Fault::Kill } else { all[random.below(all.len())] }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Fault::Kill => "kill -9",
            Fault::KillStorm => "kill -9 again and again",
            Fault::Stop => "stop",
            Fault::Stall => "stall",
            Fault::Reload => "reload",
            Fault::FullDisk => "full disk",
            Fault::TornIndex => "torn index files",
            Fault::FlippedIndex => "flipped index bytes",
            Fault::Backup => "backup",
            Fault::DamagedCatalogue => "damaged catalogue",
            Fault::SlowDisk => "slow disk",
            Fault::ModelAway => "model away",
            Fault::SourceAway => "source away",
        }
    }

    /// Lets it happen, and brings the server back.
    pub(crate) fn happen(
        self,
        site: &mut Site,
        ledger: &mut Ledger,
        random: &mut Random,
    ) -> anyhow::Result<()> {
        match self {
            Fault::Kill => during_changes(site, ledger, random, Site::kill),
            Fault::KillStorm => (0..MIN_KILLS + random.below(MIN_KILLS))
                .try_for_each(|_| during_changes(site, ledger, random, Site::kill)),
            Fault::Stop => during_changes(site, ledger, random, Site::stop),
            Fault::Stall => {
                site.signal(Signal::STOP);
                thread::sleep(Duration::from_millis(random.next() % 500));
                site.signal(Signal::CONT);
                changes(site, ledger, random)
            }
            Fault::Reload => {
                changes(site, ledger, random)?;
                site.touch_configuration(random.next());
                site.signal(Signal::HUP);
                changes(site, ledger, random)
            }
            Fault::FullDisk => full_disk(site, ledger, random),
            Fault::TornIndex => damage(site, ledger, random, |bytes, random| {
                bytes.truncate(random.below(bytes.len()));
            }),
            Fault::FlippedIndex => damage(site, ledger, random, |bytes, random| {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 0x40;
                }
            }),
            Fault::Backup => backup(site, ledger, random),
            Fault::DamagedCatalogue => catalogue::damage(site, ledger, random),
            Fault::SlowDisk => slow_disk::slow_disk(site, ledger, random),
            Fault::ModelAway => model_away(site, ledger, random),
            Fault::SourceAway => source_away(site, ledger, random),
        }
    }
}

/// Some changes, one after the other.
pub(crate) fn changes(site: &Site, ledger: &mut Ledger, random: &mut Random) -> anyhow::Result<()> {
    let http = site.http()?;
    for _ in 0..=random.below(MAX_CHANGES) {
        ledger.change(&http, random);
    }
    Ok(())
}

/// Ends the server while changes are under way, and starts it again.
fn during_changes(
    site: &mut Site,
    ledger: &mut Ledger,
    random: &mut Random,
    end: fn(&mut Site),
) -> anyhow::Result<()> {
    changes(site, ledger, random)?;
    let http = site.http()?;
    let wait = Duration::from_millis(random.next() % 60);
    let n_changes = random.below(MAX_CHANGES);
    thread::scope(|scope| {
        let changing = scope.spawn(|| (0..n_changes).for_each(|_| ledger.change(&http, random)));
        thread::sleep(wait);
        end(site);
        changing.join().map_err(|_| anyhow::anyhow!("a change panicked"))
    })?;
    site.start()
}

/// Fills the disk, makes changes that may be refused, and frees it again.
fn full_disk(site: &mut Site, ledger: &mut Ledger, random: &mut Random) -> anyhow::Result<()> {
    changes(site, ledger, random)?;
    let ballast = site.disk().join("ballast");
    let mut size: usize = 64 << 20;
    let mut written = Vec::new();
    // Fills what is left, in smaller and smaller pieces.
    while size >= 4_096 {
        let file = ballast.with_extension(written.len().to_string());
        match fs_err::write(&file, vec![0; size]) {
            Ok(()) => written.push(file),
            Err(_) => {
                written.push(file);
                size /= 2;
            }
        }
    }
    changes(site, ledger, random)?;
    let http = site.http()?;
    let ready = http.get("/readyz");
    ensure!(ready.status == 200, "reads stopped on a full disk: {}", ready.text());
    ensure!(ready.json()["writes"] == false, "a full disk is not said: {}", ready.text());
    for file in written {
        let _ = fs_err::remove_file(file);
    }
    // What waited goes on without a restart.
    changes(site, ledger, random)
}

/// Damages files of derived indexes while the server is down. The catalogue is the truth and is
/// left alone; everything else can be made again.
fn damage(
    site: &mut Site,
    ledger: &mut Ledger,
    random: &mut Random,
    change: fn(&mut Vec<u8>, &mut Random),
) -> anyhow::Result<()> {
    changes(site, ledger, random)?;
    site.stop();
    let mut files = derived_files(&site.data().join("store"))?;
    for _ in 0..=random.below(3) {
        if files.is_empty() {
            break;
        }
        let file = files.swap_remove(random.below(files.len()));
        let mut bytes = fs_err::read(&file)?;
        if !bytes.is_empty() {
            change(&mut bytes, random);
            fs_err::write(&file, bytes)?;
        }
    }
    let repaired = process::read(with_flag(site, "check", "--repair"), COMMAND)?;
    let said = repaired.stdout + &repaired.stderr;
    ensure!(repaired.status.success(), "`check --repair` failed: {said}");
    site.start()
}

/// Makes a backup while changes go on. It must succeed, and be whole.
fn backup(site: &mut Site, ledger: &mut Ledger, random: &mut Random) -> anyhow::Result<()> {
    changes(site, ledger, random)?;
    let http = site.http()?;
    let name = format!("backup-{}", random.next());
    let file = site.disk().join(&name);
    // A whole path: a command that enters the disk's namespace starts at its root.
    let mut command = site.command("backup");
    command.arg(site.disk_inside().join(&name));
    thread::scope(|scope| {
        let changing = scope.spawn(|| (0..MAX_CHANGES).for_each(|_| ledger.change(&http, random)));
        let made = process::read(command, COMMAND)?;
        ensure!(made.status.success(), "`backup` failed beside the server: {}", made.stderr);
        changing.join().map_err(|_| anyhow::anyhow!("a change panicked"))
    })?;
    fs_err::remove_file(file)?;
    Ok(())
}

fn with_flag(site: &Site, subcommand: &str, flag: &str) -> std::process::Command {
    let mut command = site.command(subcommand);
    command.arg(flag);
    command
}

/// Lists the files of derived indexes below the folder of the store.
fn derived_files(store: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in fs_err::read_dir(store)? {
        let entry = entry?;
        // The catalogue and its log are files of the store's folder itself.
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
