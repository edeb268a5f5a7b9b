//! From a table to an average of halfspaces.

use crate::averaged::{Averaged, Part};
use crate::candidate::{Candidate, ColumnScale, Scale, families};
use crate::race::race;
use crate::report::{Compared, TableReport};
use crate::table::{Comparison, Given, Member, Scaled, Table};
use halfspaces_features::FeatureMap;
use halfspaces_linalg::{InputError, PointSet, RngStream, Threads, rng_for};
use halfspaces_pac::ErrorCount;
use rand::seq::SliceRandom;

/// Fewer rows cannot be split.
pub const MIN_TABLE_ROWS: usize = 10;
/// Rows kept back: a twentieth; from `SURE_FROM` rows on a tenth, at least `SURE` and at most `MAX_KEPT_BACK`.
const SURE_FROM: usize = 5000;
const SURE: usize = 1500;
const MAX_KEPT_BACK: usize = 20_000;

/// How a table is learned from.
pub(crate) struct Plan {
    pub(crate) held_out: Option<f64>,
    pub(crate) max_rows: usize,
    pub(crate) threads: Threads,
    pub(crate) seed: u64,
}

impl Plan {
    /// How many of `n` rows are kept back.
    fn kept_back(&self, n: usize) -> usize {
        match self.held_out {
            Some(share) => ((share * n as f64).round() as usize).min(n - MIN_TABLE_ROWS),
            None if n < SURE_FROM => (n / 20).min(n - MIN_TABLE_ROWS),
            None => (n / 10).clamp(SURE, MAX_KEPT_BACK),
        }
    }
}

/// A candidate, its error, and what it was compared by.
struct Tried {
    family: usize,
    candidate: Candidate,
    error: f64,
    compared: Comparison,
}

pub(crate) fn learn<P: PointSet>(
    points: &P,
    given: &Given<'_>,
    plan: &Plan,
) -> Result<(Averaged, TableReport), InputError> {
    let Plan { max_rows, threads, seed, .. } = *plan;
    if given.classes.is_empty() {
        return Err(InputError::Empty);
    }
    let has_weight = |i: &usize| (given.weight)(*i) > 0.0;
    let mut order: Vec<usize> = (0..given.classes.len()).filter(has_weight).collect();
    let n = order.len();
    let enough = n >= MIN_TABLE_ROWS;
    let requirement = "at least 10, those of weight 0 not counted";
    InputError::check_parameter("number of rows", n as f64, enough, requirement)?;
    order.shuffle(&mut rng_for(RngStream::TableRows, seed));
    let (kept_back, rows) = order.split_at(plan.kept_back(n));
    let rows = &rows[..rows.len().min(max_rows)];

    let chosen_points = points.select(rows)?;
    let table = Table::new(given, rows, seed)?;
    let mut scales = Vec::with_capacity(2);
    let mut spaces = Vec::with_capacity(2);
    for columns in [ColumnScale::Standardised, ColumnScale::Ranked] {
        let scale = Scale::fit(columns, &chosen_points)?;
        let scaled = scale.apply_on(&chosen_points, threads)?;
        spaces.push(Scaled::new(columns, scaled, &table)?);
        scales.push(scale);
    }
    let (Some(ranked), Some(standardised)) = (scales.pop(), scales.pop()) else {
        unreachable!("both scales are fitted above")
    };
    let of_scale = |columns| match columns {
        ColumnScale::Standardised => &spaces[0],
        ColumnScale::Ranked => &spaces[1],
    };

    let families = families(!table.is_uniform(), table.sums());
    let (entrants, dropped) = race(&table, &families, of_scale, threads)?;
    let mut tried = Vec::new();
    let mut features = Vec::with_capacity(entrants.len());
    for entrant in entrants {
        features.push((entrant.index, entrant.features));
        for compared in entrant.compared {
            let candidate = entrant.family.candidate(compared.method);
            let error = table.error(&compared.values);
            tried.push(Tried { family: entrant.index, candidate, error, compared });
        }
    }
    // Stable: of equal errors the earlier first.
    tried.sort_by(|a, b| a.error.total_cmp(&b.error));
    let compared: Vec<Compared> =
        tried.iter().map(|t| Compared { candidate: t.candidate, error: t.error }).collect();
    let errors: Vec<f64> = tried.iter().map(|t| t.error).collect();
    tried.truncate(table.near_best(&errors));
    let mut sum = table.no_values()?;
    let mut deviations = Vec::with_capacity(tried.len());
    for t in &tried {
        let deviation = table.deviation(&t.compared.values);
        sum.iter_mut().zip(&t.compared.values).for_each(|(sum, v)| *sum += v / deviation);
        deviations.push(deviation);
    }

    // What no chosen one needs is dropped here.
    let is_used = |family: usize| tried.iter().any(|t| t.family == family);
    features.retain(|(family, _)| is_used(*family));
    let parts = threads.map_with(
        features.into_iter(),
        || (),
        |(), (family, features)| {
            let of_family = tried.iter().zip(&deviations).filter(|(t, _)| t.family == family);
            let mut members = Vec::new();
            for (t, deviation) in of_family {
                let (method, duals) = (t.candidate.method, &t.compared.duals);
                members.push(Member { method, deviation: *deviation, duals });
            }
            let space = &families[family];
            table.part(family, of_scale(space.columns), space, &members, features)
        },
    );
    let parts = parts.into_iter().collect::<Result<Vec<Part>, InputError>>()?;
    let mut report = TableReport {
        compared,
        dropped,
        chosen: tried.len(),
        learned_from: rows.len(),
        compared_on: table.compared_rows().count(),
        error: table.error(&sum),
        kept_back: None,
    };
    let average = Averaged::new(standardised, ranked, parts, table.scaling(&sum)?);
    if !kept_back.is_empty() {
        let found = average.classes(&points.select(kept_back)?, threads)?;
        let wrong = found.iter().zip(kept_back).filter(|(y, i)| **y != given.classes[**i]).count();
        report.kept_back = Some(ErrorCount::new(wrong, kept_back.len())?);
    }
    Ok((average, report))
}
