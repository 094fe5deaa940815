//! What a curve does on each set: order, level, and what off-topic queries get.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use retrieve::EvidenceKind;

use crate::newton::{Curve, collection, dot, fit, is_seen};
use crate::queries::Kind;
use crate::rows::Row;

/// The threshold that the figures are for.
const THRESHOLD: f64 = 0.6;

/// What is measured of one set and one kind of query.
#[derive(Debug, Default)]
struct Figures {
    n: usize,
    ndcg: f64,
    n_first_right: usize,
    n_over: usize,
}

/// Prints the figures of a curve on the held-out half.
pub(crate) fn print(rows: &[Row], kind: EvidenceKind, curve: &Curve) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(
        out,
        "\n{kind:?}: held-out half\n{:<24} {:<13} {:>5} {:>8} {:>12} {:>9}",
        "set", "queries", "n", "ndcg@10", "first, ≥ 0.6", "any ≥ 0.6"
    )?;
    let mut all: BTreeMap<(&str, Kind), Figures> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_held_out) {
        measure(row, kind, curve, all.entry((&row.set, row.kind)).or_default());
    }
    for ((set, queries), figures) in &all {
        let n = figures.n.max(1) as f64;
        writeln!(
            out,
            "{set:<24} {:<13} {:>5} {:>8.4} {:>12.3} {:>9.3}",
            format!("{queries:?}"),
            figures.n,
            figures.ndcg / n,
            figures.n_first_right as f64 / n,
            figures.n_over as f64 / n
        )?;
    }
    for queries in [Kind::Judged, Kind::Title, Kind::Short, Kind::Function, Kind::Unanswerable] {
        let own =
            || all.iter().filter(|((_, kind), _)| *kind == queries).map(|(_, figures)| figures);
        let n: usize = own().map(|figures| figures.n).sum();
        let right: usize = own().map(|figures| figures.n_first_right).sum();
        let over: usize = own().map(|figures| figures.n_over).sum();
        let ndcg: f64 = own().map(|figures| figures.ndcg).sum();
        let n = n.max(1) as f64;
        writeln!(
            out,
            "all {queries:?}: ndcg@10 {:.4}, first right and over {:.3}, any over {:.4}",
            ndcg / n,
            right as f64 / n,
            over as f64 / n
        )?;
    }
    for (name, weight) in kind.names().iter().zip(curve) {
        write!(out, "{name} {weight:.3}; ")?;
    }
    writeln!(out)?;
    Ok(())
}

/// Prints what each collection gets from coefficients that were fitted on all others.
pub(crate) fn leave_one_out(rows: &[Row]) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "\nfitted on all other collections (held-out half, judged queries)")?;
    let collections: BTreeSet<&str> = rows.iter().map(|row| collection(&row.set)).collect();
    for left_out in collections {
        for kind in [EvidenceKind::Words, EvidenceKind::Tokens] {
            let curve = fit(rows, kind, Some(left_out));
            let mut figures = Figures::default();
            let own = rows.iter().filter(|row| {
                row.is_held_out && row.kind == Kind::Judged && collection(&row.set) == left_out
            });
            for row in own {
                measure(row, kind, &curve, &mut figures);
            }
            let n = figures.n.max(1) as f64;
            writeln!(
                out,
                "{left_out:<24} {kind:?}: ndcg@10 {:.4}, first right and over {:.3}",
                figures.ndcg / n,
                figures.n_first_right as f64 / n
            )?;
        }
    }
    Ok(())
}

fn measure(row: &Row, kind: EvidenceKind, curve: &Curve, figures: &mut Figures) {
    let mut scored: Vec<(f64, bool)> = row
        .candidates
        .iter()
        .filter(|candidate| is_seen(&candidate.evidence, kind))
        .map(|candidate| {
            let logit = dot(&candidate.evidence.figures(kind), curve);
            (1.0 / (1.0 + (-logit).exp()), candidate.is_relevant)
        })
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let gained: f64 = scored
        .iter()
        .take(10)
        .enumerate()
        .filter(|(_, (_, is_relevant))| *is_relevant)
        .map(|(place, _)| gain(place))
        .sum();
    let ideal: f64 = (0..row.n_relevant.min(10)).map(gain).sum();
    figures.n += 1;
    figures.ndcg += if ideal > 0.0 { gained / ideal } else { 0.0 };
    let is_over = scored.first().is_some_and(|(score, _)| *score >= THRESHOLD);
    let is_right = scored.first().is_some_and(|(_, is_relevant)| *is_relevant);
    figures.n_over += usize::from(is_over);
    figures.n_first_right += usize::from(is_over && is_right);
}
