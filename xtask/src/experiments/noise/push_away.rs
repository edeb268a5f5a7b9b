//! P11: the push-away operator keeps signs and margins (CKST24 Lemma 8), for the worst w, x and v; and how
//! the two open heuristics built on it do.

use crate::Failure;
use crate::experiments::common::{claim, judge_all, median_text};
use crate::experiments::noise::planar::descend;
use halfspaces_data::{
    GlmNoise, Instance, Link, MarginBall, Massart, NoiseModel, Region, StandardLink,
    random_target_with_rng,
};
use halfspaces_eval::{
    ClaimStatement, Evidence, Experiment, Planned, Results, Scale, Section, Side, Table,
};
use halfspaces_linalg::{DenseRow, FitStream, Halfspace, Label, Params, kernels, norm, normalise};
use halfspaces_pac::{GlmHeuristic, GlmPerspectron, Heuristic, PushAway};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::fmt;

pub(crate) struct PushAwayExperiment;

const DIM: usize = 10;
const MARGIN: f64 = 0.2;
const EXCESS: f64 = 0.2;
const JUDGED: usize = 3000;

/// Learners without guarantee, and for comparison one with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Learner {
    Tangential { cosine: f64 },
    NormDependent,
    Perspectron,
}

const LEARNERS: [Learner; 4] = [
    Learner::Tangential { cosine: 1.0 },
    Learner::Tangential { cosine: 0.5 },
    Learner::NormDependent,
    Learner::Perspectron,
];

impl fmt::Display for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Learner::Tangential { cosine } => write!(f, "tangential, cos θ = {cosine}"),
            Learner::NormDependent => f.write_str("norm-dependent step"),
            Learner::Perspectron => f.write_str("GLM Perspectron, ours"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Noise {
    Rcn,
    Massart,
    Glm,
}

const NOISES: [Noise; 3] = [Noise::Rcn, Noise::Massart, Noise::Glm];

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Noise::Rcn => "RCN, η = 0.2",
            Noise::Massart => "Massart, η = 0.2, far points only",
            Noise::Glm => "logistic link",
        })
    }
}

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
    /// The least of the lemma's four quantities over their bounds, below 0 where a sign changed; and the
    /// triples tried.
    Lemma { of_w: f64, of_v: f64, tried: u64 },
    /// Error above the target level: of the last iterate, of the best one kept, and the examples.
    Run { last: f64, best: f64, examples: u64 },
}

/// sign(w·x) (w·T(x))/((γ/6)‖w‖), and the least sign(v·x) (v·T(x))/(γ/3) over v with |v·x| = γ,
/// ‖v‖ <= 1; `None` where x is too short for any such v.
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
    // v·x is given, so only the part of T(x) across x can be worked against.
    let mut across = pushed.clone();
    kernels::axpy(-kernels::dot(&pushed, x) / (size * size), x, &mut across);
    // A rounding error for a direction would not lie across x.
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
        // γ, ‖w‖ and ‖x‖, the way x is pulled to the boundary of w, then both directions.
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
            // Below the rounding of w·x its sign is no fact.
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
            return Ok(Outcome::Run { last: error, best: error, examples });
        }
    };
    let params = GlmHeuristic::params(heuristic, link, MARGIN).excess(EXCESS).seed(seed);
    let params = params.keep_every(10_000).check()?;
    let run = params.fit_stream(&mut instance.stream_with_rng(rng))?;
    let errors = run.iterates().iter().map(judge).collect::<Result<Vec<f64>, Failure>>()?;
    let last = errors.last().copied().ok_or("no iterate")?;
    let best = errors.into_iter().fold(last, f64::min);
    Ok(Outcome::Run { last, best, examples: run.steps() })
}

impl Experiment for PushAwayExperiment {
    type Configuration = Configuration;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        "P11"
    }

    fn title(&self) -> &'static str {
        "The push-away operator, and two heuristics built on it whose analysis is open"
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        vec![claim(
            "P11",
            "For every w != 0 and every x and v in the unit ball with |v·x| >= γ, the pushed point T(x) keeps the sign of w·x with |w·T(x)| >= (γ/6)‖w‖, and the sign of v·x with |v·T(x)| >= γ/3: no exception among the w and x that a search meets, each with the v that is worst for them.",
            "CKST24 Lemma 8, (13) read with w/‖w‖",
            &["halfspaces_pac::PushAway"],
        )]
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
        let lemma = |c: &Configuration| matches!(c, Configuration::Lemma { .. });
        let groups = results.groups.iter().filter(|g| lemma(&g.configuration));
        let planned = groups.map(|g| g.planned).sum();
        let (mut ratios, mut all) = (Vec::new(), 0);
        for (_, outcome) in results.outcomes() {
            if let Outcome::Lemma { of_w, of_v, tried } = outcome {
                // A NaN, or nothing tried, is an exception.
                let sound = *tried > 0 && !of_w.is_nan() && !of_v.is_nan();
                ratios.push(if sound { of_w.min(*of_v) } else { f64::NAN });
                all += tried;
            }
        }
        let quantity = "signed product / its bound, of w and of v";
        let evidence = Evidence::deterministic(quantity, Side::AtLeast, planned, &ratios)
            .with_note(&format!("{all} pairs of w and x"));
        judge_all(section, Experiment::claims(self), [evidence]);
        section.summary.push("Given w and x, the worst v has |v·x| = γ and leans against the part of T(x) across x, which gives it in closed form; w and x are searched, at norms of w from 1e-3 to 1e3. The constants of the lemma are not the best possible.".into());
        section.summary.push("The heuristics of CKST24's Appendix B come without a guarantee, and no claim rests on them. They take 576/(γε)² examples, the number that would suffice without the terms that break their proofs.".into());
        section.tables.push(by_dimension(results));
        section.tables.push(heuristics(results));
    }
}

fn by_dimension(results: &Results<Configuration, Outcome>) -> Table {
    let columns = ["d", "pairs tried", "least of w over γ/6", "least of v over γ/3"];
    let title = "Signed products with the pushed point over their bounds: 1 is what the lemma says";
    let mut table = Table::new("p11-lemma", title, &columns);
    for group in &results.groups {
        let Configuration::Lemma { dim, .. } = group.configuration else { continue };
        let (mut w, mut v, mut all) = (f64::INFINITY, f64::INFINITY, 0);
        for outcome in &group.outcomes {
            if let Outcome::Lemma { of_w, of_v, tried } = outcome {
                (w, v, all) = (w.min(*of_w), v.min(*of_v), all + tried);
            }
        }
        let text = |v: f64| if v.is_finite() { format!("{v:.3}") } else { String::new() };
        table.push(vec![dim.to_string(), all.to_string(), text(w), text(v)]);
    }
    table
}

fn heuristics(results: &Results<Configuration, Outcome>) -> Table {
    let columns = ["noise", "learner", "trials", "examples", "last iterate", "best iterate kept"];
    let title = "Median error above opt_RCN, γ = ε = 0.2, d = 10; the heuristics have no guarantee. Below 0 where the noise is less than its limit";
    let mut table = Table::new("p11-heuristics", title, &columns);
    for group in &results.groups {
        let Configuration::Run { learner, noise } = &group.configuration else { continue };
        let (mut lasts, mut bests, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for outcome in &group.outcomes {
            if let Outcome::Run { last, best, examples } = outcome {
                lasts.push(*last);
                bests.push(*best);
                counts.push(*examples as f64);
            }
        }
        table.push(vec![
            noise.to_string(),
            learner.to_string(),
            lasts.len().to_string(),
            median_text(&counts, 0),
            median_text(&lasts, 4),
            median_text(&bests, 4),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_eval::{Group, Verdict};
    use rand::SeedableRng;

    /// A real search, judged by the bounds and by twice them.
    #[test]
    fn a_planted_wrong_bound_is_caught() {
        let configuration = Configuration::Lemma { dim: 2, starts: 4, moves: 2000 };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let outcome = PushAwayExperiment.trial(&configuration, &mut rng).unwrap();
        let Outcome::Lemma { of_w, of_v, tried } = outcome else { panic!("no lemma") };
        let verdict = |w: f64, v: f64| {
            let outcomes = vec![Outcome::Lemma { of_w: of_w / w, of_v: of_v / v, tried }];
            let configuration = configuration.clone();
            let group = Group { configuration, planned: 1, outcomes };
            let mut section = Section::default();
            PushAwayExperiment.evaluate(&Results { groups: vec![group] }, &mut section);
            section.claims[0].verdict
        };
        assert_eq!(verdict(1.0, 1.0), Verdict::Holds);
        assert_eq!(verdict(3.0, 1.0), Verdict::Violated);
        assert_eq!(verdict(1.0, 3.0), Verdict::Violated);
    }

    /// The v in closed form is no better than any of many random ones.
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
