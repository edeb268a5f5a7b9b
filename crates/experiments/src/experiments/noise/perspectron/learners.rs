//! Complete fits, and runs in which each iterate is evaluated.

use super::workload::{
    CURVE, EXCESS, FAILURE, JUDGED_RATE, Judged, LEMMA_MARGIN, Outcome, RATE, SEARCH_EXCESS,
};
use crate::experiments::common::*;
use crate::experiments::noise::pairs::{clean_pairs, lever};
use crate::noisy::{Noise, NoisyInstance, Terrain, fork, instance};
use halfspaces_data::Population;
use halfspaces_linalg::{ExampleStream, FitStream, Halfspace, Params, RowView};
use halfspaces_pac::{
    Denominator, Direction, Fit, GridPerspectron, GridSchedule, Margin, MarginSearch, Perspectron,
    SignLink, schedule,
};

pub(super) const DIM: usize = 6;

/// Number of points on which a halfspace is evaluated; the average over the labels is exact.
pub(super) const POPULATION: usize = 4000;

/// Number of points on which a learning curve is evaluated; the same points are used along the whole curve.
const CURVE_POPULATION: usize = 2000;

/// Number of runs that are averaged at a point of a curve.
const CURVE_RUNS: u32 = 4;

/// Number of iterates that are averaged at a point of a curve.
const CURVE_ITERATES: u64 = 40;

pub(super) fn judge(fit: &Fit, population: &Population, rate: f64) -> Result<Judged, Failure> {
    Ok(Judged {
        excess: population.error(fit.halfspace())?.mean() - rate,
        candidates: fit.candidates(),
        remaining: fit.remaining(),
        training: fit.training(),
        validation: fit.validation(),
    })
}

/// Number of examples that the null uses.
const FEW: usize = 20;

/// Evaluates the null, whose w is the sum of [`FEW`] examples, each multiplied by its label. Returns its error minus η.
pub(super) fn few(
    instance: &NoisyInstance,
    population: &Population,
    rate: f64,
    rng: &mut ChaCha8Rng,
) -> Result<f64, Failure> {
    let mut stream = instance.stream_with_rng(fork(rng));
    let mut w = vec![0.0; DIM];
    for _ in 0..FEW {
        let Some((x, y)) = stream.next_row()? else {
            unreachable!("the stream of an instance is endless")
        };
        x.add_scaled_to(y.as_f64(), &mut w);
    }
    Ok(population.error(&Halfspace::new(w)?)?.mean() - rate)
}

/// γ and the noise rate of the four points of [`clean_pairs`]. A learner that is given this rate or a higher one has
/// error 0.25 (1 - 5γ) = 0.125 on these points (docs/theory/noise-rate-binds.md). This rate is the smallest one in the
/// printed grid, whose levels are at most 1/2.
const CLEAN: (f64, f64) = (0.1, 0.25);

/// Runs the Perspectron over both grids of noise rates on [`clean_pairs`].
pub(super) fn clean(rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let (margin, rate) = CLEAN;
    let planar = clean_pairs(rate, margin);
    let params = GridPerspectron::params(Margin::Known(margin * (1.0 - 1e-9))).excess(EXCESS);
    let params = params.failure(FAILURE);
    let mut error = |schedule| -> Result<f64, Failure> {
        let learner = params.schedule(schedule).seed(rng.random()).check()?;
        let fit = learner.fit_stream(&mut planar.stream(rng))?;
        let normal = fit.halfspace().normal();
        Ok(planar.error([normal[0], normal[1]]))
    };
    let corrected = error(GridSchedule::Corrected)?;
    Ok(Outcome::Clean { paper: error(GridSchedule::Paper)?, corrected })
}

/// Runs the search for the margin on [`lever`], and the Perspectron with the first guess.
pub(super) fn unknown_margin(rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let planar = lever();
    let excess = |w: &[f64]| planar.error([w[0], w[1]]) - JUDGED_RATE;
    let params = Perspectron::params(JUDGED_RATE, 1.0).excess(SEARCH_EXCESS).failure(FAILURE);
    let search = MarginSearch::new(params.seed(rng.random()))?;
    let found = search.fit_stream(&mut planar.stream(rng))?;
    let first = params.seed(rng.random()).check()?.fit_stream(&mut planar.stream(rng))?;
    Ok(Outcome::Margin {
        excess: excess(found.fit().halfspace().normal()),
        margin: found.margin(),
        found: found.termination().is_converged(),
        first: excess(first.halfspace().normal()),
    })
}

/// Makes one run of the printed length and computes the error of every iterate until one is good enough.
pub(super) fn lemma(
    terrain: Terrain,
    noise: Noise,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let instance = instance(terrain, noise, DIM, JUDGED_RATE, LEMMA_MARGIN, rng)?;
    let population = instance.population(1000, rng.random())?;
    let steps = schedule::paper_run_length(EXCESS, LEMMA_MARGIN);
    let step = schedule::paper_step(LEMMA_MARGIN, steps);
    let direction = Direction {
        link: SignLink { level: 1.0 - 2.0 * JUDGED_RATE },
        denominator: Denominator::Plus(LEMMA_MARGIN),
    };
    let mut stream = instance.stream_with_rng(fork(rng));
    let mut w = vec![0.0; DIM];
    let mut least = f64::INFINITY;
    for t in 1..=steps {
        let error = population.error(&Halfspace::new(w.clone())?)?.mean() - JUDGED_RATE;
        least = least.min(error);
        if least < EXCESS / 2.0 {
            return Ok(Outcome::Lemma { least, steps: t });
        }
        let Some((x, y)) = stream.next_row()? else {
            unreachable!("the stream of an instance is endless")
        };
        x.add_scaled_to(-step * direction.coefficient(x.dot(&w), y), &mut w);
    }
    Ok(Outcome::Lemma { least, steps })
}

/// The learning curve: for T = 2^k, the mean error of the iterates minus η, over runs of T steps with the step size for
/// T.
pub(super) fn curve(
    terrain: Terrain,
    noise: Noise,
    margin: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<(u64, f64)>, Failure> {
    let instance = instance(terrain, noise, DIM, RATE, margin, rng)?;
    let population = instance.population(CURVE_POPULATION, rng.random())?;
    let direction = Direction {
        link: SignLink { level: 1.0 - 2.0 * RATE },
        denominator: Denominator::AtLeast(margin),
    };
    let mut points = Vec::new();
    for exponent in CURVE.0..=CURVE.2 {
        let steps = 1u64 << exponent;
        let step = schedule::step(RATE, margin, steps);
        let every = (steps / CURVE_ITERATES).max(1);
        let (mut sum, mut count) = (0.0, 0u32);
        for _ in 0..CURVE_RUNS {
            let mut stream = instance.stream_with_rng(fork(rng));
            let mut w = vec![0.0; DIM];
            for t in 0..steps {
                if t % every == every / 2 {
                    sum += population.error(&Halfspace::new(w.clone())?)?.mean() - RATE;
                    count += 1;
                }
                let Some((x, y)) = stream.next_row()? else {
                    unreachable!("the stream of an instance is endless")
                };
                x.add_scaled_to(-step * direction.coefficient(x.dot(&w), y), &mut w);
            }
        }
        points.push((steps, sum / f64::from(count.max(1))));
    }
    Ok(points)
}
