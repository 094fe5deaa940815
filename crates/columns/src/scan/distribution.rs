//! How the values of a continuous column are spread: quantiles, and a histogram whose bars have
//! round ends. One value of a continuous column says next to nothing; its distribution does.

use super::series::narrowest_of;
use crate::column::NULL_CODE;
use crate::query::{Bars, Distribution};
use crate::{Column, Value};

/// The quantiles of a distribution, in percent.
pub(crate) const QUANTILES: [u8; 6] = [10, 25, 50, 75, 90, 99];
/// Bars of numbers that are aimed at; round ends can add two.
const N_BARS: f64 = 10.0;
/// The most bars of time.
const MAX_TIME_BARS: i64 = 24;

/// The bars between two extremes.
pub(crate) struct Plan {
    pub(crate) bars: Bars,
    pub(crate) n_bars: usize,
}

impl Plan {
    /// Plans the bars of a column from its lowest and highest value.
    pub(crate) fn of(min: &Value, max: &Value) -> Option<Self> {
        if let (Value::Timestamp(min), Value::Timestamp(max)) = (min, max) {
            let bucket = narrowest_of(*min, *max, MAX_TIME_BARS);
            let first = bucket.index_of(*min);
            let n_bars = (bucket.index_of(*max) - first + 1) as usize;
            let bars = Bars::Time { start: bucket.start_of(first), bucket };
            return Some(Plan { bars, n_bars });
        }
        let (min, max) = (min.as_f64()?, max.as_f64()?);
        let width = round_width((max - min) / N_BARS)?;
        let start = (min / width).floor() * width;
        let n_bars = ((max - start) / width).floor() as usize + 1;
        Some(Plan { bars: Bars::Numbers { start, width }, n_bars })
    }

    /// Gives the bar of a value between the extremes.
    pub(crate) fn bar_of(&self, value: &Value) -> usize {
        let bar = match self.bars {
            Bars::Numbers { start, width } => {
                ((value.as_f64().unwrap_or(start) - start) / width).floor().max(0.0) as usize
            }
            Bars::Time { start, bucket } => {
                let millis = value.as_f64().map_or(start, |millis| millis as i64);
                (bucket.index_of(millis) - bucket.index_of(start)).max(0) as usize
            }
        };
        bar.min(self.n_bars - 1)
    }
}

/// Gives the distribution of counted codes; `None` when there is nothing to spread.
pub(crate) fn of_counts(column: &Column, counts: &[u32]) -> Option<Distribution> {
    let present = || {
        counts
            .iter()
            .enumerate()
            .skip(NULL_CODE as usize + 1)
            .filter(|(_, count)| **count > 0)
            .map(|(code, count)| (code as u32, u64::from(*count)))
    };
    let n: u64 = present().map(|(_, count)| count).sum();
    let first = column.distinct.value(present().next()?.0);
    let last = column.distinct.value(present().next_back()?.0);
    let plan = Plan::of(&first, &last)?;
    let mut totals = vec![0; plan.n_bars];
    let mut quantiles = Vec::with_capacity(QUANTILES.len());
    let mut n_seen = 0;
    for (code, count) in present() {
        let value = column.distinct.value(code);
        totals[plan.bar_of(&value)] += count;
        n_seen += count;
        while let Some(percent) = QUANTILES.get(quantiles.len()) {
            // The value at or below which so many lie.
            if n_seen * 100 < n * u64::from(*percent) {
                break;
            }
            quantiles.push((*percent, value.clone()));
        }
    }
    Some(Distribution { quantiles, bars: plan.bars, totals })
}

/// Gives 1, 2 or 5 times a power of ten, not below the wanted width.
fn round_width(wanted: f64) -> Option<f64> {
    if !(wanted.is_finite() && wanted > 0.0) {
        return None;
    }
    let power = 10_f64.powf(wanted.log10().floor());
    let rounded = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power);
    rounded.into_iter().find(|width| *width >= wanted * (1.0 - 1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_round_ends_and_hold_everything() {
        for (min, max) in [(0, 99), (-43, 1301), (1, 2), (500, 1_500_000), (-7, -3)] {
            let (low, high) = (Value::Integer(min), Value::Integer(max));
            let plan = Plan::of(&low, &high).unwrap();
            let Bars::Numbers { start, width } = plan.bars else { panic!("numbers have bars") };
            assert!(start <= min as f64 && start + width * plan.n_bars as f64 >= max as f64);
            assert!(plan.n_bars <= 12, "{} bars", plan.n_bars);
            assert_eq!((plan.bar_of(&low), plan.bar_of(&high)), (0, plan.n_bars - 1));
        }
        assert!(Plan::of(&Value::Integer(3), &Value::Integer(3)).is_none());
    }
}
