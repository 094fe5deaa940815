//! Sizes, scales and labels: where things are so that nothing overlaps.

use filters::thousands;

/// A drawing's size and what its text needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The style class that shows it on the right screens.
    pub(crate) class: &'static str,
}

/// For screens from 720 pixels.
pub(crate) const WIDE: Layout = Layout { width: 960.0, height: 420.0, class: "wide" };

/// For telephones.
pub(crate) const NARROW: Layout = Layout { width: 340.0, height: 280.0, class: "narrow" };

/// The size of text in a drawing, in its own pixels.
pub(crate) const FONT_SIZE: f64 = 13.0;

/// The space between two labels that keeps them apart.
const LABEL_GAP: f64 = 10.0;

/// Estimates the width of a text: a little generous for digits, right for most letters.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * FONT_SIZE * 0.58
}

/// Gives round numbers that cover a range, zero among them.
pub(crate) fn ticks(low: f64, high: f64, n_most: usize) -> Vec<f64> {
    let (low, high) = (low.min(0.0), high.max(0.0));
    let span = if high - low > 0.0 { high - low } else { 1.0 };
    let rough = span / n_most.max(1) as f64;
    let magnitude = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * magnitude)
        .find(|step| *step >= rough * 0.999_999)
        .unwrap_or(10.0 * magnitude);
    let (first, last) = ((low / step).floor() as i64, (low.max(high) / step).ceil() as i64);
    (first..=last.max(first + 1)).map(|at| at as f64 * step).collect()
}

/// Writes an amount shortly, for an axis: `1.2M`, `350k`.
pub(crate) fn short(amount: f64) -> String {
    let size = amount.abs();
    let (divisor, unit) = match size {
        size if size >= 1e12 => (1e12, "T"),
        size if size >= 1e9 => (1e9, "bn"),
        size if size >= 1e6 => (1e6, "M"),
        size if size >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let scaled = amount / divisor;
    let mut text = format!("{scaled:.2}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if unit.is_empty() && size >= 1000.0 && scaled.fract() == 0.0 {
        text = thousands(scaled as i64);
    }
    format!("{text}{unit}")
}

/// Writes an amount in full: `1,234,567.89`.
pub(crate) fn full(amount: f64) -> String {
    let rounded = (amount * 100.0).round() / 100.0;
    let whole = rounded.trunc();
    let cents = ((rounded - whole).abs() * 100.0).round() as i64;
    let sign = if rounded < 0.0 && whole == 0.0 { "-" } else { "" };
    let whole = thousands(whole as i64);
    if cents == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{cents:02}") }
}

/// Gives every how many labels one can be written, so that neighbours stay apart.
pub(crate) fn label_stride(labels: &[String], room_for_each: f64) -> usize {
    let widest = labels.iter().map(|label| text_width(label)).fold(0.0, f64::max);
    (((widest + LABEL_GAP) / room_for_each.max(0.001)).ceil() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover() {
        for (low, high) in [(0.0, 97.0), (0.0, 0.0), (-35.0, 20.0), (0.0, 1.3e9), (3.0, 4.0)] {
            let ticks = ticks(low, high, 5);
            assert!(ticks.first().unwrap() <= &low.min(0.0), "{ticks:?}");
            assert!(ticks.last().unwrap() >= &high, "{ticks:?}");
            assert!(ticks.contains(&0.0), "{ticks:?}");
            assert!((2..=8).contains(&ticks.len()), "{ticks:?}");
        }
        assert_eq!(ticks(0.0, 97.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
    }

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
        ] {
            assert_eq!(short(amount), expected_short);
            assert_eq!(full(amount), expected_full);
        }
    }

    #[test]
    fn labels_never_overlap() {
        let labels: Vec<String> = (0..72).map(|at| format!("2024-{at:02}")).collect();
        for room in [2.0, 5.0, 20.0, 100.0] {
            let stride = label_stride(&labels, room);
            assert!(stride as f64 * room >= text_width("2024-00") + LABEL_GAP - 0.001);
        }
    }
}
