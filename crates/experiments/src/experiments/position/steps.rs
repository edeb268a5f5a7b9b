//! F4: the number of steps of the transform's solver against the requested accuracy, on points where the fixed-point
//! iteration is slow.

use crate::experiments::common::*;
use halfspaces_data::{Gaussian, Marginal, Rotation, StudentT};
use halfspaces_forster::{Accuracy, ForsterTransform, Step};
use halfspaces_linalg::{Params, Points};

pub(crate) struct StepsExperiment;

/// Requested accuracies δ, two-sided.
const DELTAS: [f64; 5] = [1e-2, 1e-4, 1e-6, 1e-8, 1e-10];
/// Upper bound on the number of additional steps each time 1/δ grows by a factor of e, chosen from measurements.
const SLOPE: f64 = 0.6;
/// Points per dimension.
const POINTS: usize = 20;
/// Cap on the number of steps. Every fixed-point iteration here stays below it.
const MOST_STEPS: usize = 20_000;

/// The distribution of the points.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// A subspace of half the dimensions contains 0.9 times the number of points that would make it heavy.
    #[strum(to_string = "0.9 of a heavy subspace")]
    NearlyHeavy,
    /// A subspace of half the dimensions contains 0.98 times the number of points that would make it heavy.
    #[strum(to_string = "0.98 of a heavy subspace")]
    AllButHeavy,
    /// Student-t points with one degree of freedom and condition number 10^6.
    #[strum(to_string = "Student-t, condition 10^6")]
    StudentT,
}

const KINDS: [Kind; 3] = [Kind::NearlyHeavy, Kind::AllButHeavy, Kind::StudentT];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    kind: Kind,
    dim: usize,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, d={}", self.kind, self.dim)
    }
}

/// Steps and passes for each of [`DELTAS`]; `None` if the solver did not reach radially isotropic position.
type Counts = [Option<(usize, usize)>; DELTAS.len()];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    automatic: Counts,
    fixed_point: Counts,
}

fn draw(setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Points, Failure> {
    let Configuration { kind, dim } = *setting;
    let n = POINTS * dim;
    let share = match kind {
        Kind::NearlyHeavy => 0.9,
        Kind::AllButHeavy => 0.98,
        Kind::StudentT => return Ok(StudentT::new(dim, 1.0, 1e6)?.sample_with_rng(n, rng)?),
    };
    let mut values = Gaussian::new(dim, 1.0)?.sample_with_rng(n, rng)?.into_vec();
    let inside = (share * n as f64 / 2.0) as usize;
    values.chunks_exact_mut(dim).take(inside).for_each(|row| row[dim / 2..].fill(0.0));
    Ok(Rotation::random_with_rng(dim, rng)?.apply(&Points::new(values, dim)?)?)
}

fn steps(points: &Points, step: Step, delta: f64) -> Result<Option<(usize, usize)>, Failure> {
    let accuracy = Accuracy::TwoSided(delta);
    let params = ForsterTransform::params().accuracy(accuracy).step(step);
    let fit = params.max_iterations(MOST_STEPS).check()?.fit(points)?;
    let counts = fit.levels().iter().map(|l| (l.steps(), l.passes + l.products));
    Ok(fit.is_resolved().then(|| counts.fold((0, 0), |(s, p), (t, q)| (s + t, p + q))))
}

/// The number of additional steps each time 1/δ grows by a factor of e, by least squares.
fn slope(counts: &Counts) -> Option<f64> {
    let logs: Vec<f64> = DELTAS.iter().map(|delta| -delta.ln()).collect();
    let steps: Option<Vec<f64>> = counts.iter().map(|c| c.map(|(steps, _)| steps as f64)).collect();
    stats::slope(&logs, &steps?)
}

impl Experiment for StepsExperiment {
    about! {
        "F4", "Steps of the transform's solver: each digit of accuracy adds few steps";
        "F4": "If a subspace has 0.9 or 0.98 of the points that would make it heavy, and on Student-t points with condition number 10^6, the solver takes in expectation at most 0.6 additional steps each time 1/δ grows by a factor of e (two-sided δ, from 1e-2 to 1e-10)."
            ["ours: the accelerated fixed-point iteration, and Newton's method where that is slow"]
            Measured, null "the plain fixed-point iteration on the same points"
            halfspaces_forster::{ForsterTransform, Step};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let dims = scale.pick(vec![4], vec![4, 10, 20], vec![4, 10, 20, 40]);
        let settings = KINDS.into_iter().flat_map(|kind| dims.iter().map(move |dim| (kind, *dim)));
        let planned = |(kind, dim)| Planned {
            configuration: Configuration { kind, dim },
            trials: scale.pick(3, 12, 30),
        };
        Ok(settings.map(planned).collect())
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let points = draw(setting, rng)?;
        let mut outcome =
            Outcome { automatic: [None; DELTAS.len()], fixed_point: [None; DELTAS.len()] };
        for (which, delta) in DELTAS.into_iter().enumerate() {
            outcome.automatic[which] = steps(&points, Step::Automatic, delta)?;
            outcome.fixed_point[which] = steps(&points, Step::FixedPoint, delta)?;
        }
        Ok(outcome)
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let judged: Vec<(String, Evidence)> = results
            .groups
            .iter()
            .map(|group| {
                let slopes = group.values(|o| slope(&o.automatic));
                let quantity = "additional steps each time 1/δ grows by a factor of e";
                let evidence = Evidence::growth(quantity, group.planned, &slopes, SLOPE);
                (group.configuration.to_string(), evidence)
            })
            .collect();
        // An iteration that does not terminate counts as taking too many steps.
        let alone =
            results.outcomes().map(|(_, o)| slope(&o.fixed_point).is_none_or(|s| s > SLOPE));
        let evidence = [(Evidence::worst_of(&judged), Null::of_cases(alone))];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("In each step, the fixed-point iteration makes one pass over the points and multiplies the residual by a factor that is close to 1 if a subspace is nearly heavy. The solver accelerates this iteration, and switches to Newton's method where it is still slow; a Newton step takes up to 60 passes. The table counts both steps and passes. \"0.9 of a heavy subspace\" means that a subspace contains 0.9 times the number of points that would make it heavy.".into());
        section.figures.extend(figure(results));
        section.tables.push(counts(results));
    }
}

/// Steps against 1/δ in the largest dimension, on the points where the fixed-point iteration is slowest.
fn figure(results: &Results<Configuration, Outcome>) -> Option<Figure> {
    let groups = groups_of(results, |c| c.kind == Kind::AllButHeavy);
    let group = groups.into_iter().max_by_key(|g| g.configuration.dim)?;
    let curve = |of: fn(&Outcome) -> &Counts| {
        DELTAS.into_iter().enumerate().map(move |(which, delta)| {
            (1.0 / delta, group.values(|o| of(o)[which].map(|(steps, _)| steps as f64)))
        })
    };
    let mut layers = mean_curve("plain fixed point", Colour::Orange, curve(|o| &o.fixed_point));
    layers.extend(mean_curve("accelerated, with Newton", Colour::Blue, curve(|o| &o.automatic)));
    Some(Figure {
        name: "f4-steps".into(),
        title: "Eight more digits of accuracy cost a few steps".into(),
        caption: format!(
            "Number of steps of the solver against 1/δ ({}): means with 95 % intervals.",
            group.configuration
        ),
        x: Axis::log("1/δ"),
        y: Axis::log("steps"),
        layers,
    })
}

fn counts(results: &Results<Configuration, Outcome>) -> Table {
    type Row<'a> = &'a Group<Configuration, Outcome>;
    let last = DELTAS.len() - 1;
    let slopes =
        |row: &Row<'_>, of: fn(&Outcome) -> Option<f64>| mean_cells(&row.values(of), 3)[0].clone();
    let at_last = |row: &Row<'_>, of: &dyn Fn(&Outcome) -> Option<usize>| {
        mean_text(&row.values(|o| of(o).map(|n| n as f64)), 1)
    };
    table(
        "f4-steps",
        "Additional steps each time 1/δ grows by a factor of e, and steps and passes at δ = 1e-10: means over trials",
        results.groups.iter(),
        &[
            ("points", &|row: &Row<'_>| row.configuration.kind.to_string()),
            ("d", &|row| row.configuration.dim.to_string()),
            ("trials", &|row| row.count()),
            ("growth", &|row| slopes(row, |o| slope(&o.automatic))),
            ("growth, fixed point", &|row| slopes(row, |o| slope(&o.fixed_point))),
            ("steps", &|row| at_last(row, &|o| o.automatic[last].map(|c| c.0))),
            ("passes", &|row| at_last(row, &|o| o.automatic[last].map(|c| c.1))),
            ("steps, fixed point", &|row| at_last(row, &|o| o.fixed_point[last].map(|c| c.0))),
            ("passes, fixed point", &|row| at_last(row, &|o| o.fixed_point[last].map(|c| c.1))),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_that_is_slow_violates_the_claim() {
        let configuration = Configuration { kind: Kind::NearlyHeavy, dim: 4 };
        let verdict = |a_decade: f64| {
            let outcomes = (0..4).map(|more| {
                // The trials vary a little, since otherwise no mean could be refuted.
                let more = |k: usize| more % 2 * (k / 4);
                let steps = |k: usize| (2.0 * a_decade * k as f64) as usize + 10 + more(k);
                let count = |k: usize| Some((steps(k), 9));
                let counts = [0, 1, 2, 3, 4].map(count);
                Outcome { automatic: counts, fixed_point: counts }
            });
            let group = Group {
                configuration: configuration.clone(),
                planned: 4,
                outcomes: outcomes.collect(),
            };
            let mut section = Section::default();
            StepsExperiment.evaluate(&Results { groups: vec![group] }, &mut section);
            section.claims[0].verdict
        };
        // 0.6 steps per factor of e are 1.38 steps per decade. The null has the same slopes, so it passes as well, and
        // the claim is weak.
        assert_eq!(verdict(1.0), Verdict::Weak);
        assert_eq!(verdict(3.0), Verdict::Violated);
    }

    #[test]
    fn the_solver_ends_where_the_fixed_point_is_slow() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let setting = Configuration { kind: Kind::AllButHeavy, dim: 4 };
        let outcome = StepsExperiment.trial(&setting, &mut rng).unwrap();
        let [found, plain] = [outcome.automatic, outcome.fixed_point].map(|c| slope(&c).unwrap());
        assert!(found < plain, "{found} {plain}");
    }
}
