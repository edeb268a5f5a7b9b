//! S13: the start of Algorithm 1, a hypothesis at a constant angle to the target, learned from 4d points that are set
//! aside.

use crate::experiments::common::*;
use halfspaces_data::{Marginal, UnitSphere, random_target_with_rng};
use halfspaces_linalg::{Classifier, kernels, norm};
use halfspaces_online::{ChainLength, SelfDirectedSession, TwoChains, bounds};

pub(crate) struct StartExperiment;

/// Largest tan θ₀ for which the proof of the chain length of Algorithm 1 applies.
const TANGENT: f64 = std::f64::consts::E - 1.0;
/// Upper bound on the probability of a worse start, chosen from measurements.
const FAILURE: f64 = bounds::CHAIN_START_FAILURE;
/// Number of points per dimension that are summed for the start.
const POINTS: usize = 4;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    dim: usize,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d={}", self.dim)
    }
}

/// Tangents of the angle to the target (`None` if the angle is a right angle or larger), and the number of mistakes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    start: Option<f64>,
    /// The tangent after d/4 points.
    early: Option<f64>,
    mistakes: usize,
}

/// The tangent of the angle between w and w*; `None` if the angle is a right angle or larger.
fn tangent(w: &[f64], target: &[f64]) -> Option<f64> {
    let along = kernels::dot(w, target) / norm(target);
    let across = (kernels::norm_sq(w) - along * along).max(0.0).sqrt();
    (along > 0.0).then(|| across / along)
}

impl Experiment for StartExperiment {
    about! {
        "S13", "The start of Algorithm 1: a constant angle from 4d points";
        "S13": "With probability at least 0.98, the start of Algorithm 1 (the sum of y x over 4d uniform points on the sphere) has an angle θ₀ to the target with tan θ₀ <= e - 1, the premise of the chain length; d = 3 to 10 (standard scale: up to 30, full scale: up to 100)."
            ["DKTZ23 §2, start at a constant angle; the sum and its probability are ours"]
            Measured, null "the sum over d/4 points"
            halfspaces_online::{TwoChains, ChainLength};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let dims = scale.pick(vec![3, 10], vec![3, 5, 10, 30], vec![3, 5, 10, 30, 100]);
        let planned = |dim| Planned {
            configuration: Configuration { dim },
            trials: scale.pick(400, 1000, 4000),
        };
        Ok(dims.into_iter().map(planned).collect())
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let dim = setting.dim;
        let target = random_target_with_rng(dim, rng)?;
        let points = UnitSphere::new(dim)?.sample_with_rng(POINTS * dim + 2, rng)?;
        let labels = target.label_all(&points)?;
        let learner = TwoChains::new(dim, ChainLength::Fixed(1), rng.random())?;
        let mut session = SelfDirectedSession::new(learner, &points)?;
        let (mut mistakes, mut early) = (0, None);
        for revealed in 1..=POINTS * dim {
            let question =
                session.next()?.ok_or("the session ended before the start was complete")?;
            let truth = labels[question.index];
            mistakes += usize::from(question.prediction.is_wrong(truth));
            session.answer(truth)?;
            if revealed == dim.div_ceil(4) {
                early = tangent(session.learner().weights()[0], target.normal());
            }
        }
        let start = tangent(session.learner().weights()[0], target.normal());
        Ok(Outcome { start, early, mistakes })
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        // Right and obtuse angles count as infinitely far.
        let share = |tangent: Option<f64>| tangent.map_or(f64::INFINITY, |t| t / TANGENT);
        let evidence = worst_setting(&results.groups, |group| {
            within_bound(group, FAILURE, |o| share(o.start))
        });
        let null = null_of(&results.groups, |_, o| share(o.early) > 1.0);
        judge_all(section, Experiment::claims(self), [(evidence, null)]);
        section.summary.push("In many dimensions, tan θ₀ is about √(π/8) = 0.63 for the sum of y x over 4d points. The premise fails most often in few dimensions.".into());
        section.tables.push(tangents(results));
    }
}

fn tangents(results: &Results<Configuration, Outcome>) -> Table {
    type Row<'a> = &'a Group<Configuration, Outcome>;
    table(
        "s13-start",
        "tan θ₀ of the start, the premise tan θ₀ <= e - 1, and the mistakes of the start",
        results.groups.iter(),
        &[
            ("d", &|row: &Row<'_>| row.configuration.dim.to_string()),
            ("trials", &|row| row.count()),
            ("tan θ₀, median", &|row| row.median(3, |o| o.start)),
            ("beyond e - 1", &|row| {
                let beyond = |o: &&Outcome| o.start.is_none_or(|t| t > TANGENT);
                row.outcomes.iter().filter(beyond).count().to_string()
            }),
            ("mistakes / d, median", &|row| {
                row.median(2, |o| Some(o.mistakes as f64 / row.configuration.dim as f64))
            }),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_are_those_of_the_angle() {
        assert_eq!(tangent(&[2.0, 1.0], &[3.0, 0.0]), Some(0.5));
        assert_eq!(tangent(&[-2.0, 1.0], &[3.0, 0.0]), None);
    }

    #[test]
    fn starts_beyond_the_premise_violate_the_claim() {
        let verdict = |far: usize| {
            let outcome = |start| Outcome { start: Some(start), early: None, mistakes: 3 };
            // e - 1 is 1.7183.
            let outcomes = [vec![outcome(1.719); far], vec![outcome(1.718); 400 - far]].concat();
            let configuration = Configuration { dim: 3 };
            let group = Group { configuration, planned: 400, outcomes };
            verdicts(&StartExperiment, vec![group])[0]
        };
        assert_eq!([0, 3, 60].map(verdict), [Verdict::Holds, Verdict::Holds, Verdict::Violated]);
        assert_eq!(verdict(8), Verdict::Inconclusive);
    }
}
