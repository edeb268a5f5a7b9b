//! Settings and outcomes.

use super::play::Run;
use crate::experiments::common::*;
use halfspaces_online::{ChainLength, bounds};

/// k = ⌈2 d lnln n⌉.
pub(super) const SHORT: ChainLength = ChainLength::Practical { factor: 2.0 };

/// The failure probability δ of the theorem with the proved length.
pub(super) const FAILURE: f64 = 0.1;

/// The proved k.
pub(super) const PROVED: ChainLength = ChainLength::Theory { failure: FAILURE };

/// The numbers of points at which runs with the proved length are simulated, as powers of ten.
pub(super) const PROVED_SIZES: [i32; 3] = [10, 30, 80];

/// The numbers of points at which both orders are run, as powers of ten.
pub(super) const SIZES: [i32; 13] = [4, 5, 6, 7, 8, 9, 10, 13, 16, 20, 30, 50, 80];

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// Simulated runs of both orders at every size.
    Drawn { dim: usize },
    /// A run on points, compared with simulated runs.
    Real { dim: usize, points: usize },
    /// Runs with the proved length. If `points` is given, one run is on points; otherwise a run is simulated at each of
    /// [`PROVED_SIZES`].
    Proved { dim: usize, points: Option<usize> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The run of Algorithm 1 and the mistakes in random order, at each of [`SIZES`].
    Drawn(Vec<(Run, f64)>),
    /// The run on points, the simulated runs, and the runs simulated with a tenth of the points.
    Real(Run, Vec<Run>, Vec<Run>),
    /// Each run with the proved length.
    Proved(Vec<Run>),
}

/// 10^e.
pub(super) fn power(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

/// The numbers of points of a setting with the proved length, each with the bound on its mistakes.
pub(super) fn proved_bounds(dim: usize, points: Option<usize>) -> Vec<(f64, f64)> {
    let sizes = match points {
        Some(points) => vec![points as f64],
        None => PROVED_SIZES.map(power).to_vec(),
    };
    let bound = |n: f64| bounds::two_chains_mistakes(dim, n, PROVED.buckets(dim, n), FAILURE);
    sizes.into_iter().map(|n| (n, bound(n))).collect()
}

pub(super) fn drawn(outcome: &Outcome) -> &[(Run, f64)] {
    of_part!(outcome, Outcome::Drawn(runs) => runs)
}

/// The run on points and the simulated runs.
pub(super) fn real_and_drawn(outcome: &Outcome) -> (&Run, &[Run]) {
    match outcome {
        Outcome::Real(run, drawn, _) => (run, drawn),
        _ => unreachable!("an outcome of another part"),
    }
}

/// Computes [`differences`] for the runs simulated with a tenth of the points.
pub(super) fn null_differences(outcome: &Outcome) -> [f64; 2] {
    match outcome {
        Outcome::Real(run, _, null) => apart(run, null),
        _ => unreachable!("an outcome of another part"),
    }
}

/// The mean over the simulated runs minus the value of the real run, for the mistakes in buckets (relative to that
/// mean) and for ln sin θ.
pub(super) fn differences(outcome: &Outcome) -> [f64; 2] {
    let (run, drawn) = real_and_drawn(outcome);
    apart(run, drawn)
}

fn apart(run: &Run, drawn: &[Run]) -> [f64; 2] {
    let mean = |of: &dyn Fn(&Run) -> f64| drawn.iter().map(of).sum::<f64>() / drawn.len() as f64;
    let chains = mean(&|r| r.chains as f64);
    [(chains - run.chains as f64) / chains, mean(&|r| r.log_sin) - run.log_sin]
}
