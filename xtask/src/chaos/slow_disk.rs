//! A disk that takes its time: every sync of the server is held up, by `strace` where it is
//! installed and may look at the process.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Pid, Signal};

use super::Random;
use super::faults::changes;
use super::ledger::Ledger;
use super::site::Site;

/// How long `strace` may take until it holds the process.
const ATTACH_LIMIT: Duration = Duration::from_secs(10);

/// Tells whether the disk can be made slow here: whether a program of our own can be.
pub(crate) fn can_be_slow() -> bool {
    let mut sleeper = match Command::new("sleep").arg("60").spawn() {
        Ok(sleeper) => sleeper,
        Err(_) => return false,
    };
    let slowed = slow(sleeper.id(), 1);
    let is_slow = slowed.is_ok();
    if let Ok(mut strace) = slowed {
        let _ = strace.kill();
        let _ = strace.wait();
    }
    let _ = sleeper.kill();
    let _ = sleeper.wait();
    is_slow
}

/// Makes changes on a slow disk; every second time the server is killed on it.
pub(crate) fn slow_disk(
    site: &mut Site,
    ledger: &mut Ledger,
    random: &mut Random,
) -> anyhow::Result<()> {
    let milliseconds = 5 + random.next() % 60;
    let mut strace = slow(site.process()?, milliseconds)?;
    let done = changes(site, ledger, random);
    if random.below(2) == 0 {
        site.kill();
    }
    // Asked to end, it lets go of the process; killed, it might leave it stopped.
    if let Some(pid) = Pid::from_raw(i32::try_from(strace.id())?) {
        let _ = rustix::process::kill_process(pid, Signal::INT);
    }
    strace.wait()?;
    done?;
    if site.process().is_err() { site.start() } else { Ok(()) }
}

/// Holds up every sync of a process by so many milliseconds.
fn slow(process: u32, milliseconds: u64) -> anyhow::Result<Child> {
    let delay = format!("inject=fsync,fdatasync,sync_file_range:delay_enter={milliseconds}ms");
    let strace = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync,sync_file_range"])
        .args(["-e", &delay, "-p", &process.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("`strace` cannot be started")?;
    wait_until_held(process, strace)
}

fn wait_until_held(process: u32, mut strace: Child) -> anyhow::Result<Child> {
    let begun = Instant::now();
    loop {
        let status = fs_err::read_to_string(format!("/proc/{process}/status"))?;
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
        if tracer.is_some_and(|tracer| tracer.trim() != "0") {
            return Ok(strace);
        }
        if strace.try_wait()?.is_some() || begun.elapsed() > ATTACH_LIMIT {
            let _ = strace.kill();
            let _ = strace.wait();
            anyhow::bail!("`strace` may not look at process {process}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}
