//! Moments, sizes and counts as people write them.

use model::Timestamp;

/// How long ago a moment was.
pub(super) fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now.0 - at.0).max(0) / 1_000;
    match seconds {
        0..=59 => "just now".to_owned(),
        60..=3_599 => format!("{} min ago", seconds / 60),
        3_600..=86_399 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// A length of time.
pub(super) fn span(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1_000;
    match seconds {
        0..=59 => format!("{seconds} s"),
        60..=3_599 => format!("{} min", seconds / 60),
        3_600..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A size in the largest unit that leaves a digit before the point.
pub(super) fn bytes(n_bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = n_bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{n_bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// A count with its noun: `1 file`, `2 files`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count as usize))
}

/// A count with thin groups of three digits.
pub(super) fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_sizes_and_times() {
        assert_eq!(counted(0, "file"), "0 files");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(1_000, "file"), "1\u{202f}000 files");
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_500_000), "1.5 MB");
        let hours = |n: i64| Timestamp(n * 3_600_000);
        assert_eq!(ago(hours(0), hours(5)), "5 h ago");
        assert_eq!(ago(hours(5), hours(0)), "just now", "a clock that went back");
        assert_eq!(span(90_000), "1 min");
    }
}
