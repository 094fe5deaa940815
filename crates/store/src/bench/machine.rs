//! What the system says about this process.

use std::time::{Duration, Instant};

/// Clock ticks of `/proc/self/stat` in one second, fixed by the kernel's interface.
const TICKS_PER_SECOND: f64 = 100.0;

/// Gives the processor time that this process has used, in seconds; 0 where it is not known.
pub fn cpu_seconds() -> f64 {
    let stat = fs_err::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may hold spaces, so fields are counted after it.
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / TICKS_PER_SECOND
}

/// Gives a figure of `/proc/self/status` in megabytes, such as `VmRSS`; 0 where it is not known.
pub(super) fn megabytes(name: &str) -> f64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

/// Times each call and gives the milliseconds at half and at 99 of 100 of them.
///
/// # Errors
///
/// The first error of a call.
pub fn percentiles<E>(
    n_calls: usize,
    mut call: impl FnMut(usize) -> Result<(), E>,
) -> Result<(f64, f64), E> {
    let mut times: Vec<Duration> = Vec::with_capacity(n_calls);
    for call_idx in 0..n_calls {
        let begun = Instant::now();
        call(call_idx)?;
        times.push(begun.elapsed());
    }
    times.sort();
    let at = |part: f64| {
        let idx = ((times.len() as f64 * part).ceil() as usize).clamp(1, times.len().max(1)) - 1;
        times.get(idx).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    Ok((at(0.50), at(0.99)))
}
