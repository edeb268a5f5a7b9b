//! P11: the push-away operator preserves signs and margins (CKST24 Lemma 8) for the worst w, x and v. The experiment
//! also measures the two heuristics that are built on this operator. Neither has a proof.

use crate::experiments::common::*;
use crate::experiments::noise::planar::descend;
use halfspaces_data::{
    GlmNoise, Instance, Link, MarginBall, Massart, NoiseModel, Region, StandardLink,
    random_target_with_rng,
};
use halfspaces_linalg::{DenseRow, FitStream, Halfspace, Label, Params, kernels, norm, normalise};
use halfspaces_pac::{GlmHeuristic, GlmPerspectron, Heuristic, PushAway};

pub(crate) struct PushAwayExperiment;

const DIM: usize = 10;
const MARGIN: f64 = 0.2;
const EXCESS: f64 = 0.2;
const JUDGED: usize = 3000;
/// Number of examples between two kept iterates of a heuristic.
const KEPT: u64 = 500;
/// Largest excess error at which a heuristic counts as converged.
const NEAR: f64 = 0.01;

/// Two heuristics without a guarantee and, for comparison, a learner that has one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Learner {
    #[strum(to_string = "tangential, cos θ = {cosine}")]
    Tangential { cosine: f64 },
    #[strum(to_string = "norm-dependent step")]
    NormDependent,
    #[strum(to_string = "GLM Perspectron, ours")]
    Perspectron,
}

const LEARNERS: [Learner; 4] = [
    Learner::Tangential { cosine: 1.0 },
    Learner::Tangential { cosine: 0.5 },
    Learner::NormDependent,
    Learner::Perspectron,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Noise {
    #[strum(to_string = "RCN, η = 0.2")]
    Rcn,
    #[strum(to_string = "Massart, η = 0.2, far points only")]
    Massart,
    #[strum(to_string = "logistic link")]
    Glm,
}

const NOISES: [Noise; 3] = [Noise::Rcn, Noise::Massart, Noise::Glm];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// A search for w, x and v.
    Lemma { dim: usize, starts: usize, moves: usize },
    /// A learner on a random model.
    Run { learner: Learner, noise: Noise },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The smallest products of the pushed point with w and with v, each divided by its bound (below 0 if a sign
    /// changed), and the number of pairs tried.
    Lemma { of_w: f64, of_v: f64, tried: u64 },
    /// The error of the last iterate minus the target level; the number of examples after which every kept iterate has
    /// an error of at most [`NEAR`] above that level (`None` if the error of the last iterate is larger); and the
    /// number of examples used.
    Run { last: f64, settled: Option<u64>, examples: u64 },
}

impl Outcome {
    fn lemma(&self) -> (f64, f64, u64) {
        of_part!(*self, Outcome::Lemma { of_w, of_v, tried } => (of_w, of_v, tried))
    }
}

/// Returns sign(w·x) (w·T(x))/((γ/6)‖w‖), and the smallest sign(v·x) (v·T(x))/(γ/3) over all v of norm at most 1 with
/// |v·x| = γ. The second value is `None` if x is too short for such a v.
fn ratios(w: &[f64], x: &[f64], margin: f64) -> Result<(f64, Option<f64>), Failure> {
    let halfspace = Halfspace::new(w.to_vec())?;
    let row = DenseRow::new(x)?;
    let pushed = PushAway::new(&halfspace, margin)?.apply(row)?;
    let (before, length) = (kernels::dot(w, x), norm(w));
    let side = Label::from_sign(before).as_f64();
    let of_w = side * kernels::dot(w, &pushed) / (PushAway::least_margin(margin) * length);
    let size = norm(x);
    if size < margin {
        return Ok((of_w, None));
    }
    // Since v·x is fixed, v can reduce the product only through the component of T(x) orthogonal to x.
    let mut across = pushed.clone();
    kernels::axpy(-kernels::dot(&pushed, x) / (size * size), x, &mut across);
    // A direction that consists of rounding errors would not be orthogonal to x.
    let some = norm(&across) > 1e-9 && normalise(&mut across);
    kernels::axpy(-kernels::dot(&across, x) / (size * size), x, &mut across);
    let room = (1.0 - (margin / size).powi(2)).max(0.0).sqrt();
    let mut least = f64::INFINITY;
    for sign in [1.0, -1.0] {
        let mut v: Vec<f64> = x.iter().map(|x| sign * margin / (size * size) * x).collect();
        if some {
            kernels::axpy(-sign * room, &across, &mut v);
        }
        least = least.min(sign * kernels::dot(&v, &pushed) / (margin / 3.0));
    }
    Ok((of_w, Some(least)))
}

fn search(
    dim: usize,
    starts: usize,
    moves: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let (mut least_w, mut least_v, mut tried) = (f64::INFINITY, f64::INFINITY, 0);
    let mut fault = None;
    for start in 0..starts {
        // The numbers encode γ, ‖w‖, ‖x‖, the distance by which x is pulled towards the boundary of w, and the two
        // directions.
        descend(2 * dim + 4, moves, rng, |numbers| {
            let (scalars, rest) = numbers.split_at(4);
            let centred = |v: &f64| 2.0 * v - 1.0;
            let mut w: Vec<f64> = rest.iter().take(dim).map(centred).collect();
            let mut x: Vec<f64> = rest.iter().skip(dim).map(centred).collect();
            if !normalise(&mut w) {
                return f64::INFINITY;
            }
            let pull = -(1.2 * scalars[3]).min(1.0) * kernels::dot(&w, &x);
            kernels::axpy(pull, &w, &mut x);
            if !normalise(&mut x) {
                return f64::INFINITY;
            }
            let margin = 1000f64.powf(-scalars[0]);
            let (long, size) = (10f64.powf(6.0 * scalars[1] - 3.0), (1.2 * scalars[2]).min(1.0));
            w.iter_mut().for_each(|v| *v *= long);
            x.iter_mut().for_each(|v| *v *= size);
            // The sign of w·x is not reliable below its rounding error.
            if kernels::dot(&w, &x).abs() < 1e-13 * long {
                return f64::INFINITY;
            }
            tried += 1;
            match ratios(&w, &x, margin) {
                Ok((of_w, of_v)) => {
                    least_w = if of_w.is_nan() { of_w } else { least_w.min(of_w) };
                    least_v = match of_v {
                        Some(of_v) if of_v.is_nan() => of_v,
                        of_v => least_v.min(of_v.unwrap_or(f64::INFINITY)),
                    };
                    if start % 2 == 0 { of_w } else { of_v.unwrap_or(1e3) }
                }
                Err(error) => {
                    fault = Some(error);
                    f64::INFINITY
                }
            }
        });
    }
    fault.map_or(Ok(Outcome::Lemma { of_w: least_w, of_v: least_v, tried }), Err)
}

fn run(learner: Learner, noise: Noise, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let target = random_target_with_rng(DIM, rng)?;
    let (link, flips): (StandardLink, Box<dyn NoiseModel>) = match noise {
        Noise::Rcn => {
            (StandardLink::massart(0.2)?, Box::new(Massart::new(0.2, Region::Everywhere)?))
        }
        Noise::Massart => {
            (StandardLink::massart(0.2)?, Box::new(Massart::new(0.2, Region::Far(0.35))?))
        }
        Noise::Glm => {
            let link = StandardLink::logistic(4.0)?;
            (link, Box::new(GlmNoise::new(link)?.with_margin(MARGIN)?))
        }
    };
    let instance = Instance::new(MarginBall::new(&target, MARGIN)?, target, flips)?;
    let population = instance.population(JUDGED, rng.random())?;
    let level = population.opt_rcn(&link).mean() + link.asymmetry() / 2.0;
    let judge = |w: &Halfspace| -> Result<f64, Failure> { Ok(population.error(w)?.mean() - level) };
    let seed = rng.random();
    let heuristic = match learner {
        Learner::Tangential { cosine } => Heuristic::Tangential { cosine },
        Learner::NormDependent => Heuristic::NormDependent,
        Learner::Perspectron => {
            let params = GlmPerspectron::params(link, MARGIN * (1.0 - 1e-9)).excess(EXCESS);
            let fit = params.seed(seed).check()?.fit_stream(&mut instance.stream_with_rng(rng))?;
            let error = judge(fit.halfspace())?;
            let examples = fit.training() + fit.validation();
            let settled = (error <= NEAR).then_some(examples);
            return Ok(Outcome::Run { last: error, settled, examples });
        }
    };
    let params = GlmHeuristic::params(heuristic, link, MARGIN).excess(EXCESS).seed(seed);
    let params = params.keep_every(KEPT).check()?;
    let run = params.fit_stream(&mut instance.stream_with_rng(rng))?;
    let errors = run.iterates().iter().map(judge).collect::<Result<Vec<f64>, Failure>>()?;
    let last = errors.last().copied().ok_or("the heuristic kept no iterate")?;
    let settled = match errors.iter().rposition(|error| *error > NEAR) {
        None => Some(KEPT),
        Some(at) => (at + 1 < errors.len()).then_some(KEPT * (at as u64 + 2)),
    };
    Ok(Outcome::Run { last, settled, examples: run.steps() })
}

impl Experiment for PushAwayExperiment {
    about! {
        "P11", "The push-away operator, and two heuristics that use it and whose analysis is open";
        "P11": "For every w != 0 and every x and v in the unit ball with |v·x| >= γ, the pushed point T(x) satisfies sign(w·x) w·T(x) >= (γ/6)‖w‖ and sign(v·x) v·T(x) >= γ/3. Tested for w and x found by search, with the worst v for each pair."
            ["CKST24 Lemma 8, with w/‖w‖ in place of w in (13)"]
            Proved, null "3 times the bound"
            halfspaces_pac::{PushAway};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        for dim in [1, 2, 3, 10] {
            let configuration = Configuration::Lemma { dim, starts: 4, moves: 2000 };
            plan.push(Planned { configuration, trials: scale.pick(2, 6, 60) });
        }
        for noise in NOISES {
            for learner in LEARNERS {
                let configuration = Configuration::Run { learner, noise };
                plan.push(Planned { configuration, trials: scale.pick(1, 3, 15) });
            }
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match *setting {
            Configuration::Lemma { dim, starts, moves } => search(dim, starts, moves, rng),
            Configuration::Run { learner, noise } => run(learner, noise, rng),
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let lemmas = groups_of(results, |c| matches!(c, Configuration::Lemma { .. }));
        let searches = || lemmas.iter().flat_map(|g| &g.outcomes).map(Outcome::lemma);
        // A NaN counts as an exception, and so does a search that tried no pair.
        let ratio = |(of_w, of_v, tried): (f64, f64, u64)| {
            let sound = tried > 0 && !of_w.is_nan() && !of_v.is_nan();
            if sound { of_w.min(of_v) } else { f64::NAN }
        };
        let ratios: Vec<f64> = searches().map(ratio).collect();
        let all: u64 = searches().map(|(.., tried)| tried).sum();
        let quantity = "signed product / its bound, of w and of v";
        let evidence = Evidence::deterministic(quantity, Side::AtLeast, planned(&lemmas), &ratios)
            .with_note(&format!("{all} pairs of w and x were tried"));
        judge_all(section, Experiment::claims(self), [(evidence, Null::SmallerBound)]);
        section.summary.push("For given w and x, the worst v has a closed form: |v·x| = γ, and the component of v orthogonal to x points against that of T(x). A search chooses w and x; the norm of w lies between 1e-3 and 1e3. The constants of the lemma are not the best possible.".into());
        section.summary.push("The heuristics of CKST24's Appendix B have no guarantee, and no claim rests on them. They use 576/(γε)² examples, the number that would suffice without the terms that invalidate their proofs. On these models, they always end with the error of w*, so the table shows after how many examples they reach it. No models are known on which they fail.".into());
        section.tables.push(by_dimension(results));
        section.tables.push(heuristics(results));
    }
}

fn by_dimension(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().filter_map(|g| match g.configuration {
        Configuration::Lemma { dim, .. } => {
            Some((dim, g.outcomes.iter().map(Outcome::lemma).collect::<Vec<_>>()))
        }
        Configuration::Run { .. } => None,
    });
    // The value is infinite if no x of the search was long enough for a v.
    let finite = |v: f64| Some(v).filter(|v| v.is_finite());
    let caption = "Smallest signed products with the pushed point, divided by their bounds; the lemma guarantees at least 1";
    table(
        "p11-lemma",
        caption,
        rows,
        &[
            ("d", &|(dim, _)| dim.to_string()),
            ("pairs tried", &|(_, all)| {
                all.iter().map(|(.., tried)| tried).sum::<u64>().to_string()
            }),
            ("least of w over γ/6", &|(_, all)| all.least(3, |(of_w, ..)| finite(*of_w))),
            ("least of v over γ/3", &|(_, all)| all.least(3, |(_, of_v, _)| finite(*of_v))),
        ],
    )
}

fn heuristics(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().filter_map(|g| match g.configuration {
        Configuration::Run { learner, noise } => Some((noise, learner, g)),
        Configuration::Lemma { .. } => None,
    });
    let examples = |o: &Outcome| of_part!(o, Outcome::Run { examples, .. } => *examples as f64);
    let last = |o: &Outcome| of_part!(o, Outcome::Run { last, .. } => *last);
    let settled =
        |o: &Outcome| of_part!(o, Outcome::Run { settled, .. } => settled.map(|n| n as f64));
    let caption = "Medians, γ = ε = 0.2, d = 10: error of the last iterate minus opt_RCN, and the number of examples after which this difference is at most 0.01 for all later iterates. The heuristics have no guarantee. Values below 0 are possible only where some labels are less noisy than the link allows";
    table(
        "p11-heuristics",
        caption,
        rows,
        &[
            ("noise", &|(noise, ..)| noise.to_string()),
            ("learner", &|(_, learner, _)| learner.to_string()),
            ("trials", &|(.., g)| g.count()),
            ("examples", &|(.., g)| g.median(0, examples)),
            ("examples to 0.01", &|(.., g)| g.median(0, settled)),
            ("last iterate", &|(.., g)| g.median(4, last)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A real search, judged by the bounds and by three times the bounds.
    #[test]
    fn a_planted_wrong_bound_is_caught() {
        let configuration = Configuration::Lemma { dim: 2, starts: 4, moves: 2000 };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let outcome = PushAwayExperiment.trial(&configuration, &mut rng).unwrap();
        let (of_w, of_v, tried) = outcome.lemma();
        let verdict = |w: f64, v: f64| {
            let outcomes = vec![Outcome::Lemma { of_w: of_w / w, of_v: of_v / v, tried }];
            let configuration = configuration.clone();
            let group = Group { configuration, planned: 1, outcomes };
            verdicts(&PushAwayExperiment, vec![group])[0]
        };
        assert_eq!(verdict(1.0, 1.0), Verdict::Holds);
        assert_eq!(verdict(3.0, 1.0), Verdict::Violated);
        assert_eq!(verdict(1.0, 3.0), Verdict::Violated);
    }

    /// No random v is worse than the v in closed form.
    #[test]
    fn the_worst_v_is_the_worst() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let margin = 0.3;
        let (w, x) = ([1.0, 0.5, -0.2], [0.05, 0.1, 0.8]);
        let (_, least) = ratios(&w, &x, margin).unwrap();
        let push = PushAway::new(&Halfspace::new(w.to_vec()).unwrap(), margin).unwrap();
        let pushed = push.apply(DenseRow::new(&x).unwrap()).unwrap();
        let mut met = f64::INFINITY;
        for _ in 0..20_000 {
            let v = random_target_with_rng(3, &mut rng).unwrap().into_normal();
            let before = kernels::dot(&v, &x);
            if before.abs() >= margin {
                met = met.min(before.signum() * kernels::dot(&v, &pushed) / (margin / 3.0));
            }
        }
        assert!(least.unwrap() <= met && met < least.unwrap() + 0.1);
    }
}
