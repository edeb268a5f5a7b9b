//! The settings and the number of trials at each scale.

use super::workload::{Configuration, Goal, Kind, SYNTHETIC};
use crate::experiments::common::*;
use crate::workload::Inputs;

/// Fraction of a pool that the strong learner may leave unlabelled.
const EPSILON: f64 = 0.1;

/// Smallest and largest number of copies of each corner of the cube for which random starts are judged. These runs are
/// in few dimensions. A failed run makes its mistakes on points that are not labelled yet. If a point has fewer copies
/// than there are rounds, its unlabelled copies become rare, and later runs make fewer mistakes on them. The count then
/// grows with n. The bound of the theorem permits this growth, because it is far above the count. With 32 or more
/// copies, the count no longer grows (table s9-copies).
const COPIES: [usize; 2] = [32, 256];

pub(super) fn flat(
    kind: &Kind,
    dim: usize,
    sizes: [usize; 2],
    (random, warm): (u64, u64),
    trials: u64,
) -> Planned<Configuration> {
    let (kind, epsilon) = (kind.clone(), EPSILON);
    Planned {
        configuration: Configuration::Flat { kind, dim, sizes, epsilon, random, warm },
        trials,
    }
}

/// Whether a kind of data has more than a hundred columns.
fn is_wide(kind: &Kind) -> bool {
    matches!(kind, Kind::Real(name) if name == "mushroom")
}

/// All settings at a scale, each with its number of trials.
pub(super) fn plan(inputs: &Inputs, scale: Scale) -> Vec<Planned<Configuration>> {
    let mut plan = Vec::new();
    let real: Vec<Kind> = inputs.real().into_iter().map(Kind::Real).collect();
    let all = || SYNTHETIC.into_iter().chain(real.clone());
    for kind in all() {
        // A real data set has its own dimension.
        let dims = match &kind {
            Kind::Real(_) => vec![0],
            Kind::Cube | Kind::Lists | Kind::Heavy | Kind::Integer => {
                scale.pick(vec![6], vec![6, 16], vec![6, 16, 30])
            }
            _ => scale.pick(vec![1, 5], vec![1, 2, 3, 5, 20], vec![1, 2, 3, 5, 20, 50]),
        };
        for dim in dims.into_iter().filter(|d| *d != 1 || kind == Kind::Sphere) {
            let points = if is_wide(&kind) { scale.pick(200, 400, 2000) } else { 1000 };
            let configuration = Configuration::Weak { kind: kind.clone(), dim, points };
            plan.push(Planned { configuration, trials: scale.pick(20, 60, 300) });
        }
    }
    for (goal, dims, moves) in [
        (Goal::Updates, scale.pick(vec![5], vec![3, 5, 10], vec![2, 3, 5, 10, 20]), 2000),
        (Goal::Failures, scale.pick(vec![3], vec![2, 3, 5], vec![2, 3, 5, 10]), 100),
    ] {
        for dim in dims {
            let configuration = Configuration::Searched { goal, dim, moves };
            plan.push(Planned { configuration, trials: scale.pick(20, 60, 300) });
        }
    }
    let epsilon = EPSILON;
    for kind in all() {
        let dim = if matches!(kind, Kind::Real(_)) { 0 } else { scale.pick(4, 8, 12) };
        // Real data have many dimensions and take dozens of rounds.
        let is_slow = is_wide(&kind) || (scale == Scale::Smoke && matches!(kind, Kind::Real(_)));
        if is_slow && scale < Scale::Full {
            continue;
        }
        let points = match &kind {
            Kind::Real(_) if is_wide(&kind) => 500,
            Kind::Real(name) if name == "spambase" => scale.pick(120, 120, 1000),
            Kind::Real(_) => scale.pick(200, 200, 1000),
            _ => scale.pick(300, 1000, 3000),
        };
        let configuration = Configuration::Reach { kind, dim, points, epsilon };
        // With δ = 0.05, a verdict needs at least 59 trials without a failure.
        plan.push(Planned { configuration, trials: scale.pick(60, 60, 200) });
    }
    for kind in SYNTHETIC {
        // The pools of the cube contain about one to eight, or three to twenty-two, copies of each of its 2^(d-1)
        // corners. The number of mistakes is therefore also tested on pools with repeated points. The fine structure of
        // clusters becomes visible only with many points.
        let (dim, least) = match kind {
            Kind::Cube | Kind::Lists => (scale.pick(12, 12, 14), 40),
            Kind::Clusters => (scale.pick(4, 6, 8), 320),
            _ => (scale.pick(5, 10, 12), 40),
        };
        let sizes = [least * dim * dim, 8 * least * dim * dim];
        let trials = scale.pick(2, 24, 48);
        let flat = |dim, sizes, random, warm| flat(&kind, dim, sizes, (random, warm), trials);
        let (random, warm) = (scale.pick(2, 2, 3), scale.pick(2, 2, 4));
        if matches!(kind, Kind::Cube | Kind::Lists) {
            plan.push(flat(dim, sizes, 0, warm));
            let dim = scale.pick(6, 8, 10);
            let corners = 1 << (dim - 1);
            plan.push(flat(dim, COPIES.map(|copies| copies * corners), random, 0));
            let copies = (0..=8).step_by(scale.pick(4, 1, 1)).map(|i| 1 << i).collect();
            let configuration = Configuration::Copies { kind: kind.clone(), dim, copies, epsilon };
            plan.push(Planned { configuration, trials });
        } else {
            plan.push(flat(dim, sizes, random, warm));
        }
        let sizes = scale.pick(vec![1000, 4000], vec![1000, 10_000], vec![1000, 10_000, 100_000]);
        let configuration = Configuration::Growth { kind, dim, sizes, epsilon };
        plan.push(Planned { configuration, trials: scale.pick(2, 3, 12) });
    }
    if scale >= Scale::Full {
        // Most points are distinct corners. Pools differ more from each other than runs on one pool do, so there are
        // many pools with one run each.
        for kind in [Kind::Cube, Kind::Lists] {
            plan.push(flat(&kind, 20, [16_000, 128_000], (0, 1), 400));
        }
    }
    if scale != Scale::Smoke {
        for kind in real {
            let Kind::Real(name) = &kind else { continue };
            let sizes = match name.as_str() {
                "wdbc" => vec![140, 560],
                "magic" => vec![1000, 4000, 19_000],
                // This data set has more than a hundred columns, which makes its rounds expensive.
                "mushroom" if scale >= Scale::Full => vec![700, 2800, 5600],
                _ => continue,
            };
            if name == "magic" {
                let runs = (1, scale.pick(2, 2, 4));
                plan.push(flat(&kind, 0, [2375, 19_000], runs, scale.pick(0, 36, 48)));
            }
            let configuration = Configuration::Growth { kind, dim: 0, sizes, epsilon };
            plan.push(Planned { configuration, trials: scale.pick(0, 4, 4) });
        }
    }
    plan
}
