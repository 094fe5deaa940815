//! Amounts as people read them: short on an axis, in full where a point is named.

use filters::thousands;

/// From here on an amount is written with a power of ten: its digits would say more than it knows.
const LARGEST_IN_FULL: f64 = 1e15;

/// Below this an amount is written with a power of ten: its zeros would be counted.
const SMALLEST_IN_FULL: f64 = 1e-6;

/// Digits of an amount below one.
const SMALL_DIGITS: i32 = 4;

/// Writes an amount shortly, for an axis: `1.2M`, `350k`, `0.0025`.
pub(crate) fn short(amount: f64) -> String {
    let size = amount.abs();
    if size >= LARGEST_IN_FULL || (size > 0.0 && size < SMALLEST_IN_FULL) {
        return with_power(amount);
    }
    let (divisor, unit) = match size {
        size if size >= 1e12 => (1e12, "T"),
        size if size >= 1e9 => (1e9, "bn"),
        size if size >= 1e6 => (1e6, "M"),
        size if size >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let scaled = amount / divisor;
    if unit.is_empty() && size >= 1000.0 && scaled.fract() == 0.0 {
        return thousands(scaled as i64);
    }
    format!("{}{unit}", decimals(scaled, 0))
}

/// Writes an amount in full: `1,234,567.89`, `0.0034`.
pub fn full(amount: f64) -> String {
    let size = amount.abs();
    if size >= LARGEST_IN_FULL || (size > 0.0 && size < SMALLEST_IN_FULL) {
        return with_power(amount);
    }
    if size < 1.0 && amount != 0.0 {
        return decimals(amount, 2);
    }
    let rounded = (amount * 100.0).round() / 100.0;
    let whole = rounded.trunc();
    let cents = ((rounded - whole).abs() * 100.0).round() as i64;
    let whole = thousands(whole as i64);
    if cents == 0 { whole } else { format!("{whole}.{cents:02}") }
}

/// Writes an amount with two decimals, or with as many as an amount below one needs, and leaves
/// out zeros at its end beyond the least number of decimals.
fn decimals(amount: f64, n_least: usize) -> String {
    let n_decimals = (SMALL_DIGITS - 1 - magnitude(amount)).max(2) as usize;
    let n_decimals = if amount.abs() < 1.0 { n_decimals } else { 2 };
    let mut text = format!("{amount:.n_decimals$}");
    let point = text.len() - n_decimals;
    while text.ends_with('0') && text.len() > point + n_least {
        text.pop();
    }
    if text.ends_with('.') {
        text.pop();
    }
    text
}

/// Gives the power of ten of the first digit.
fn magnitude(amount: f64) -> i32 {
    if amount == 0.0 { 0 } else { amount.abs().log10().floor() as i32 }
}

/// Writes an amount with a power of ten.
fn with_power(amount: f64) -> String {
    let text = format!("{amount:.*e}", SMALL_DIGITS as usize - 1);
    match text.split_once('e') {
        Some((digits, power)) => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}e{power}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_short_and_full() {
        for (amount, expected_short, expected_full) in [
            (0.0, "0", "0"),
            (12.5, "12.5", "12.50"),
            (1500.0, "1,500", "1,500"),
            (350_000.0, "350k", "350,000"),
            (-1_250_000.0, "-1.25M", "-1,250,000"),
            (2.5e9, "2.5bn", "2,500,000,000"),
            (1_234_567.89, "1.23M", "1,234,567.89"),
            (-0.5, "-0.5", "-0.50"),
            // Rates and shares are no zeros.
            (0.003_4, "0.0034", "0.0034"),
            (0.000_3, "0.0003", "0.0003"),
            (0.1 + 0.2, "0.3", "0.30"),
            (-0.012_345_6, "-0.01235", "-0.01235"),
            (2.5e-9, "2.5e-9", "2.5e-9"),
            (3.2e18, "3.2e18", "3.2e18"),
        ] {
            assert_eq!(short(amount), expected_short, "{amount}");
            assert_eq!(full(amount), expected_full, "{amount}");
        }
    }
}
