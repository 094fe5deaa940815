//! Sizes, scales and labels: where things are so that nothing overlaps.

/// A drawing's size and what its text needs.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Its width, in its own pixels.
    pub width: f64,
    /// In the same pixels.
    pub height: f64,
    /// The style class that shows it on the right screens.
    pub class: &'static str,
}

/// For screens from 720 pixels.
pub const WIDE: Layout = Layout { width: 960.0, height: 420.0, class: "wide" };

/// For telephones.
pub const NARROW: Layout = Layout { width: 340.0, height: 280.0, class: "narrow" };

/// The size of text in a drawing, in its own pixels.
pub(crate) const FONT_SIZE: f64 = 13.0;

/// The space between two labels that keeps them apart.
const LABEL_GAP: f64 = 10.0;

/// Estimates the width of a text: a little generous for digits, right for most letters.
pub(crate) fn text_width(text: &str) -> f64 {
    width_at(text, FONT_SIZE)
}

/// Estimates the width of a text in letters of a size.
pub(crate) fn width_at(text: &str, font_size: f64) -> f64 {
    // From Hangul on, most letters of the world's writing fill a square.
    text.chars().map(|char| if char < '\u{1100}' { 0.58 } else { 1.0 }).sum::<f64>() * font_size
}

/// Cuts a text that is wider than its room.
pub(crate) fn fitted(text: &str, font_size: f64, room: f64) -> String {
    if width_at(text, font_size) <= room {
        return text.to_owned();
    }
    let mut cut = text.to_owned();
    while cut.pop().is_some() && width_at(&cut, font_size) + font_size > room {}
    format!("{}…", cut.trim_end())
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
    fn labels_never_overlap() {
        let labels: Vec<String> = (0..72).map(|at| format!("2024-{at:02}")).collect();
        for room in [2.0, 5.0, 20.0, 100.0] {
            let stride = label_stride(&labels, room);
            assert!(stride as f64 * room >= text_width("2024-00") + LABEL_GAP - 0.001);
        }
    }
}
