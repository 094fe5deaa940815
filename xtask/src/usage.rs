//! What a process uses, as the system counts it: memory, processor, descriptors, bytes written.

use std::path::Path;

use anyhow::Context;

/// What Linux counts process times in.
const TICKS_PER_SECOND: f64 = 100.0;

/// Gives the memory that a process holds now, in kibibytes.
pub(crate) fn memory_kib(process: u32) -> anyhow::Result<u64> {
    status_kib(process, "VmRSS:")
}

/// Gives the most memory that a process has ever held, in kibibytes.
pub(crate) fn peak_kib(process: u32) -> anyhow::Result<u64> {
    status_kib(process, "VmHWM:")
}

fn status_kib(process: u32, name: &str) -> anyhow::Result<u64> {
    let status = fs_err::read_to_string(format!("/proc/{process}/status"))?;
    figure(&status, name).with_context(|| format!("the system does not say `{name}`"))
}

/// Gives how many descriptors a process has open.
pub(crate) fn n_descriptors(process: u32) -> anyhow::Result<u64> {
    Ok(fs_err::read_dir(format!("/proc/{process}/fd"))?.count() as u64)
}

/// Gives the bytes that a process has sent to disks.
pub(crate) fn written_bytes(process: u32) -> anyhow::Result<u64> {
    let io = fs_err::read_to_string(format!("/proc/{process}/io"))?;
    figure(&io, "write_bytes:").context("the system does not say how much was written")
}

/// Gives the seconds of a processor that a process has used.
pub(crate) fn cpu_seconds(process: u32) -> anyhow::Result<f64> {
    cpu_times(process, 11)
}

/// Gives the seconds of a processor that programs have used which this process started and which
/// have ended, with all that they started.
pub(crate) fn cpu_seconds_of_ended() -> anyhow::Result<f64> {
    cpu_times(std::process::id(), 13)
}

/// Adds the time in programs and the time in the system; `at` is the place of the first.
fn cpu_times(process: u32, at: usize) -> anyhow::Result<f64> {
    let stat = fs_err::read_to_string(format!("/proc/{process}/stat"))?;
    // The name in parentheses may hold spaces; what follows it does not.
    let (_, figures) = stat.rsplit_once(')').context("no name of the process")?;
    let figures: Vec<&str> = figures.split_whitespace().collect();
    let ticks = |at: usize| figures.get(at).and_then(|ticks| ticks.parse::<f64>().ok());
    let (user, system) = ticks(at).zip(ticks(at + 1)).context("no times of the process")?;
    Ok((user + system) / TICKS_PER_SECOND)
}

/// Gives the bytes of all files below a folder. A file may go while it is looked at.
pub(crate) fn folder_bytes(folder: &Path) -> anyhow::Result<u64> {
    let mut n_bytes = 0;
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else { continue };
        n_bytes += if metadata.is_dir() {
            folder_bytes(&entry.path()).unwrap_or(0)
        } else {
            metadata.len()
        };
    }
    Ok(n_bytes)
}

/// Finds a number in lines of the form `NAME NUMBER`.
fn figure(lines: &str, name: &str) -> Option<u64> {
    let line = lines.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_work_of_programs_that_ended_is_counted() {
        let before = cpu_seconds_of_ended().unwrap();
        let mut busy = std::process::Command::new("sh");
        busy.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
        assert!(busy.status().unwrap().success());
        assert!(cpu_seconds_of_ended().unwrap() > before);
    }

    #[test]
    fn figures_are_found_by_their_whole_name() {
        let status = "Name:\tdowse\nVmHWM:\t  123 kB\nVmRSS:\t   45 kB\n";
        assert_eq!(figure(status, "VmRSS:"), Some(45));
        assert_eq!(figure(status, "VmHWM:"), Some(123));
        assert_eq!(figure(status, "VmSwap:"), None);
    }
}
