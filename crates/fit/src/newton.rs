//! Logistic curves by Newton's method.
//!
//! Two fits, one after the other. The first is of the order: what tells the relevant candidates
//! of a query from its others. The second is of the level: is this pair relevant at all. It may
//! stretch and move the first by what the query alone says and by the pair of languages, so that
//! it cannot spoil the order. It looks at the relevant candidates and at the few others that come
//! first, because these decide what a threshold lets through.

use std::collections::{BTreeMap, BTreeSet};

use retrieve::EvidenceKind;

use crate::queries::Kind;
use crate::rows::Row;

/// What a judged query of a set weighs against one that was made from it.
const JUDGED_WEIGHT: f64 = 2.0;
/// Candidates of a query, beside the relevant ones, whose level counts.
const N_FIRST: usize = 5;
/// Keeps coefficients small where the data says nothing.
const RIDGE: f64 = 1e-3;
/// Steps of one fit; it ends earlier when nothing moves.
const N_STEPS: usize = 25;
/// Off-topic queries of the tuning half with a result over 0.6, at most.
const OFF_TOPIC_PART: f64 = 0.004;
/// The same of both halves, where nothing but the level is chosen.
const OFF_TOPIC_PART_OF_ALL: f64 = 0.01;
/// The logit of the threshold that this is promised for.
const THRESHOLD_LOGIT: f64 = 0.405_465;

/// Which part of the loss counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Order,
    Level,
}

/// The coefficients of a kind of evidence.
pub(crate) type Curve = Vec<f64>;

/// One candidate in numbers.
struct Point {
    figures: Vec<f64>,
    is_relevant: bool,
}

struct Query {
    weight: f64,
    points: Vec<Point>,
    is_off_topic: bool,
}

/// Fits the curve of a kind on the queries that are not held out, leaving one set out.
pub(crate) fn fit(rows: &[Row], kind: EvidenceKind, left_out: Option<&str>) -> Curve {
    let used: Vec<&Row> = rows
        .iter()
        .filter(|row| !row.is_held_out && left_out != Some(collection(&row.set)))
        // Words say nothing of a pair in two languages.
        .filter(|row| kind != EvidenceKind::Words || !row.set.contains('@'))
        .collect();
    let mut n_of: BTreeMap<(&str, Kind), f64> = BTreeMap::new();
    for row in &used {
        *n_of.entry((&row.set, row.kind)).or_default() += 1.0;
    }
    // Sets that are alike share one say, so that one way of asking does not outvote the others.
    let sets: BTreeSet<&str> = used.iter().map(|row| row.set.as_str()).collect();
    let n_alike =
        |set: &str| sets.iter().filter(|other| family(other) == family(set)).count() as f64;
    let mut queries: Vec<Query> = used
        .iter()
        .map(|row| Query {
            // Every kind of every set has the same say, few queries somewhat less.
            weight: if row.kind == Kind::Judged { JUDGED_WEIGHT } else { 1.0 }
                / n_of[&(row.set.as_str(), row.kind)].max(25.0)
                / n_alike(&row.set).sqrt(),
            points: points(row, kind),
            is_off_topic: row.n_relevant == 0,
        })
        .filter(|query| !query.points.is_empty())
        .collect();
    if queries.is_empty() {
        return vec![0.0; kind.names().len()];
    }
    let deviations = standardise(&mut queries);
    let foreign = kind.names().iter().position(|name| *name == "foreign");
    let order = fit_order(&queries, deviations.len(), foreign);
    let mut curve = fit_level(&queries, &order, foreign);
    shift(&queries, &mut curve, foreign, OFF_TOPIC_PART);
    curve.iter().zip(&deviations).map(|(weight, deviation)| weight / deviation).collect()
}

/// Gives the coefficients that the product has, with their level moved so that of all off-topic
/// queries, in one language and across, at most the promised part passes. Words alone are left as
/// they are: nothing in them depends on the two languages.
pub(crate) fn move_level(rows: &[Row], kind: EvidenceKind) -> Curve {
    if kind == EvidenceKind::Words {
        return kind.coefficients().to_vec();
    }
    let asked = rows.iter().filter(|row| row.kind == Kind::Unanswerable);
    let queries: Vec<Query> = asked
        .map(|row| Query { weight: 1.0, points: points(row, kind), is_off_topic: true })
        .collect();
    let foreign = kind.names().iter().position(|name| *name == "foreign");
    let mut curve = kind.coefficients().to_vec();
    shift(&queries, &mut curve, foreign, OFF_TOPIC_PART_OF_ALL);
    curve
}

/// Fits what tells relevant candidates from others. More of the query in a passage must never
/// lower its score, so the figure that comes out most against it is left out, and the rest is
/// fitted again.
fn fit_order(queries: &[Query], n_figures: usize, foreign: Option<usize>) -> Curve {
    let is_of_query = |idx: usize| idx < EvidenceKind::N_OF_QUERY;
    let mut is_used: Vec<bool> =
        (0..n_figures).map(|idx| !is_of_query(idx) && Some(idx) != foreign).collect();
    loop {
        let used: Vec<Query> = queries
            .iter()
            .filter(|query| !query.is_off_topic)
            .map(|query| {
                query.with(|figures| {
                    figures
                        .iter()
                        .zip(&is_used)
                        .map(|(figure, used)| if *used { *figure } else { 0.0 })
                        .collect()
                })
            })
            .collect();
        let nothing = vec![vec![]; used.len()];
        let curve = minimise(&used, &nothing, vec![0.0; n_figures], Part::Order);
        let most_against = (0..n_figures)
            .filter(|idx| curve[*idx] < -1e-9)
            .min_by(|one, other| curve[*one].total_cmp(&curve[*other]));
        match most_against {
            Some(idx) => is_used[idx] = false,
            None => return curve,
        }
    }
}

/// Fits how an order becomes a level: a stretch, what the query alone says, and whether the pair
/// is of two languages.
fn fit_level(queries: &[Query], order: &Curve, foreign: Option<usize>) -> Curve {
    let n_of_query = EvidenceKind::N_OF_QUERY;
    let first = first_of(queries, order);
    let levels: Vec<Query> = queries
        .iter()
        .map(|query| {
            query.with(|figures| {
                let mut level = figures[..n_of_query].to_vec();
                level.push(foreign.map_or(0.0, |idx| figures[idx]));
                level.push(dot(figures, order));
                level
            })
        })
        .collect();
    let level = minimise(&levels, &first, vec![0.0; n_of_query + 2], Part::Level);
    let stretch = level[n_of_query + 1].max(f64::MIN_POSITIVE);
    let mut curve: Curve = order.iter().map(|weight| weight * stretch).collect();
    curve[..n_of_query].copy_from_slice(&level[..n_of_query]);
    if let Some(idx) = foreign {
        curve[idx] = level[n_of_query];
    }
    curve
}

impl Query {
    fn with(&self, figures: impl Fn(&[f64]) -> Vec<f64>) -> Query {
        let point = |point: &Point| Point {
            figures: figures(&point.figures),
            is_relevant: point.is_relevant,
        };
        Query {
            weight: self.weight,
            points: self.points.iter().map(point).collect(),
            is_off_topic: self.is_off_topic,
        }
    }
}

/// Gives what sets of one kind have in common in their names.
fn family(set: &str) -> &str {
    let corpus = collection(set);
    corpus.split(['-', '_']).next().unwrap_or(corpus)
}

/// Gives the collection of a set: `QUERIES@CORPUS` belongs to the corpus.
pub(crate) fn collection(set: &str) -> &str {
    set.split_once('@').map_or(set, |(_, corpus)| corpus)
}

/// Tells whether a candidate of this kind of evidence would be seen: without vectors only words
/// bring candidates.
pub(crate) fn is_seen(evidence: &retrieve::Evidence, kind: EvidenceKind) -> bool {
    match kind {
        EvidenceKind::Words => evidence.words.coverage > 0.0,
        EvidenceKind::Vector => evidence.vector.is_some(),
        EvidenceKind::Tokens => evidence.late.is_some(),
    }
}

fn points(row: &Row, kind: EvidenceKind) -> Vec<Point> {
    let seen = row.candidates.iter().filter(|candidate| is_seen(&candidate.evidence, kind));
    seen.map(|candidate| Point {
        figures: candidate.evidence.figures(kind),
        is_relevant: candidate.is_relevant,
    })
    .collect()
}

/// Brings every figure but the first to deviation 1, and gives what they were divided by.
fn standardise(queries: &mut [Query]) -> Vec<f64> {
    let n_figures = queries.first().map_or(0, |query| query.points[0].figures.len());
    let mut deviations = vec![1.0; n_figures];
    for (idx, deviation) in deviations.iter_mut().enumerate().skip(1) {
        let values =
            || queries.iter().flat_map(|query| &query.points).map(|point| point.figures[idx]);
        let n = values().count().max(1) as f64;
        let mean = values().sum::<f64>() / n;
        let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        *deviation = variance.sqrt().max(1e-6);
    }
    for point in queries.iter_mut().flat_map(|query| &mut query.points) {
        point
            .figures
            .iter_mut()
            .zip(&deviations)
            .for_each(|(value, deviation)| *value /= deviation);
    }
    deviations
}

/// Gives, for each query, the candidates whose level counts.
fn first_of(queries: &[Query], curve: &Curve) -> Vec<Vec<usize>> {
    queries
        .iter()
        .map(|query| {
            let mut order: Vec<usize> = (0..query.points.len()).collect();
            let score = |idx: &usize| dot(&query.points[*idx].figures, curve);
            order.sort_by(|one, other| score(other).total_cmp(&score(one)));
            let others = order.iter().filter(|idx| !query.points[**idx].is_relevant).take(N_FIRST);
            let relevant = order.iter().filter(|idx| query.points[**idx].is_relevant);
            others.chain(relevant).copied().collect()
        })
        .collect()
}

/// Moves the level so that at most a part of the off-topic queries reaches the threshold: of pairs
/// in one language by the first figure, of pairs in two by the one that marks them.
fn shift(queries: &[Query], curve: &mut Curve, foreign: Option<usize>, part: f64) {
    let mark = |point: &Point| foreign.map_or(0.0, |idx| point.figures[idx]);
    for wanted in [false, true] {
        let figure = if wanted { foreign } else { Some(0) };
        let Some(figure) = figure else { continue };
        // How far the level may rise, for each query, before its best candidate passes.
        let mut slack: Vec<f64> = queries
            .iter()
            .filter(|query| query.is_off_topic)
            .filter_map(|query| {
                let own = query.points.iter().filter(|point| (mark(point) > 0.0) == wanted);
                own.map(|point| {
                    (THRESHOLD_LOGIT - dot(&point.figures, curve)) / point.figures[figure]
                })
                .min_by(f64::total_cmp)
            })
            .collect();
        slack.sort_by(f64::total_cmp);
        let n_under = (slack.len() as f64 * (1.0 - part)) as usize;
        if let Some(slack) = slack.get(slack.len().saturating_sub(n_under + 1)) {
            curve[figure] += slack;
        }
    }
}

fn minimise(queries: &[Query], first: &[Vec<usize>], mut curve: Curve, part: Part) -> Curve {
    let mut loss = loss_of(queries, first, &curve, part);
    for _ in 0..N_STEPS {
        let slope = slope(queries, first, &curve, part);
        let Some(step) = solve(slope.hessian, slope.gradient) else { break };
        let mut length = 1.0;
        let before = loss;
        while length > 1e-4 {
            let tried: Curve =
                curve.iter().zip(&step).map(|(weight, step)| weight - length * step).collect();
            let tried_loss = loss_of(queries, first, &tried, part);
            if tried_loss < loss {
                (curve, loss) = (tried, tried_loss);
                break;
            }
            length /= 2.0;
        }
        if before - loss < 1e-7 * before.abs() {
            break;
        }
    }
    curve
}

struct Slope {
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
}

fn loss_of(queries: &[Query], first: &[Vec<usize>], curve: &Curve, part: Part) -> f64 {
    let mut loss = ridge(curve);
    for (query, first) in queries.iter().zip(first) {
        let scores: Vec<f64> =
            query.points.iter().map(|point| dot(&point.figures, curve)).collect();
        loss += query.weight
            * match part {
                Part::Order => order_loss(query, &scores),
                Part::Level => level_loss(query, first, &scores),
            };
    }
    loss
}

fn ridge(curve: &Curve) -> f64 {
    RIDGE / 2.0 * curve.iter().skip(1).map(|weight| weight * weight).sum::<f64>()
}

fn order_loss(query: &Query, scores: &[f64]) -> f64 {
    let relevant: Vec<f64> = relevant_of(query).map(|idx| scores[idx]).collect();
    if relevant.is_empty() || relevant.len() == scores.len() {
        return 0.0;
    }
    log_sum(scores) - relevant.iter().sum::<f64>() / relevant.len() as f64
}

fn level_loss(query: &Query, first: &[usize], scores: &[f64]) -> f64 {
    let losses = first.iter().map(|idx| {
        let sign = if query.points[*idx].is_relevant { -1.0 } else { 1.0 };
        soft_plus(sign * scores[*idx]) * level_weight(query, *idx, first)
    });
    losses.sum::<f64>()
}

/// All relevant candidates of a query weigh as much as all others together.
fn level_weight(query: &Query, idx: usize, first: &[usize]) -> f64 {
    let is_same =
        |other: &&usize| query.points[**other].is_relevant == query.points[idx].is_relevant;
    1.0 / first.iter().filter(is_same).count().max(1) as f64
}

fn relevant_of(query: &Query) -> impl Iterator<Item = usize> {
    query.points.iter().enumerate().filter(|(_, point)| point.is_relevant).map(|(idx, _)| idx)
}

fn slope(queries: &[Query], first: &[Vec<usize>], curve: &Curve, part: Part) -> Slope {
    let n = curve.len();
    let mut slope = Slope { gradient: vec![0.0; n], hessian: vec![vec![0.0; n]; n] };
    for (idx, weight) in curve.iter().enumerate().skip(1) {
        slope.gradient[idx] += RIDGE * weight;
        slope.hessian[idx][idx] += RIDGE;
    }
    // The level of everything may move freely, but the matrix must stay regular.
    slope.hessian[0][0] += 1e-9;
    for (query, first) in queries.iter().zip(first) {
        let scores: Vec<f64> =
            query.points.iter().map(|point| dot(&point.figures, curve)).collect();
        let n_relevant = relevant_of(query).count();
        if part == Part::Order && n_relevant > 0 && n_relevant < scores.len() {
            let total = log_sum(&scores);
            let mut mean = vec![0.0; n];
            for (point, score) in query.points.iter().zip(&scores) {
                let part = (score - total).exp();
                add(&mut mean, &point.figures, part);
                add_square(&mut slope.hessian, &point.figures, query.weight * part);
                let gained = if point.is_relevant { 1.0 / n_relevant as f64 } else { 0.0 };
                add(&mut slope.gradient, &point.figures, query.weight * (part - gained));
            }
            add_square(&mut slope.hessian, &mean, -query.weight);
        }
        for idx in first.iter().filter(|_| part == Part::Level) {
            let point = &query.points[*idx];
            let said = 1.0 / (1.0 + (-scores[*idx]).exp());
            let weight = query.weight * level_weight(query, *idx, first);
            let wanted = f64::from(u8::from(point.is_relevant));
            add(&mut slope.gradient, &point.figures, weight * (said - wanted));
            add_square(&mut slope.hessian, &point.figures, weight * said * (1.0 - said));
        }
    }
    slope
}

fn add(sum: &mut [f64], values: &[f64], weight: f64) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
}

fn add_square(matrix: &mut [Vec<f64>], values: &[f64], weight: f64) {
    for (row, value) in matrix.iter_mut().zip(values) {
        add(row, values, weight * value);
    }
}

fn log_sum(scores: &[f64]) -> f64 {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln()
}

fn soft_plus(value: f64) -> f64 {
    if value > 30.0 { value } else { value.exp().ln_1p() }
}

pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Solves a system of equations by elimination; nothing when it has no single solution.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|one, other| {
            matrix[*one][column].abs().total_cmp(&matrix[*other][column].abs())
        })?;
        if matrix[pivot][column].abs() < 1e-12 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..n {
            let factor = matrix[row][column] / matrix[column][column];
            let pivot_row = matrix[column].clone();
            add(&mut matrix[row], &pivot_row, -factor);
            right[row] -= factor * right[column];
        }
    }
    for column in (0..n).rev() {
        let known: f64 = (column + 1..n).map(|idx| matrix[column][idx] * right[idx]).sum();
        right[column] = (right[column] - known) / matrix[column][column];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        let solved = solve(vec![vec![0.0, 2.0], vec![3.0, 1.0]], vec![4.0, 5.0]).unwrap();
        assert!((solved[0] - 1.0).abs() < 1e-9 && (solved[1] - 2.0).abs() < 1e-9);
        assert_eq!(solve(vec![vec![1.0, 1.0], vec![1.0, 1.0]], vec![1.0, 2.0]), None);
    }

    #[test]
    fn the_level_lets_the_promised_part_of_off_topic_queries_pass() {
        // The first figure is one, the second the score, the third marks pairs of two languages.
        let query = |score: f64, mark: f64| Query {
            weight: 1.0,
            points: vec![Point { figures: vec![1.0, score, mark], is_relevant: false }],
            is_off_topic: true,
        };
        let scores = (0..100).map(|idx| f64::from(idx) / 100.0);
        let queries: Vec<Query> = scores
            .clone()
            .map(|score| query(score, 0.0))
            .chain(scores.map(|score| query(2.0 * score, 0.5)))
            .collect();
        let mut curve = vec![0.0, 1.0, 0.0];
        shift(&queries, &mut curve, Some(2), 0.1);
        let n_passing = |mark: f64| {
            let own = queries.iter().filter(|query| query.points[0].figures[2] == mark);
            own.filter(|query| dot(&query.points[0].figures, &curve) > THRESHOLD_LOGIT + 1e-9)
                .count()
        };
        assert_eq!([n_passing(0.0), n_passing(0.5)], [9, 9]);
    }

    #[test]
    fn a_figure_that_tells_relevance_gets_a_weight() {
        let point = |figure: f64, is_relevant| Point { figures: vec![1.0, figure], is_relevant };
        let queries: Vec<Query> = (0..20)
            .map(|idx| Query {
                weight: 1.0,
                points: vec![point(1.0 + f64::from(idx % 3), true), point(0.5, false)],
                is_off_topic: false,
            })
            .collect();
        let first = first_of(&queries, &vec![0.0, 0.0]);
        let curve = minimise(&queries, &first, vec![0.0, 0.0], Part::Level);
        assert!(curve[1] > 1.0, "{curve:?}");
        assert!(dot(&[1.0, 0.5], &curve) < 0.0 && dot(&[1.0, 2.0], &curve) > 0.0, "{curve:?}");
    }
}
