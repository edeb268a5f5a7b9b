//! The learners, each run on a family of data.

use super::workload::{Family, Outcome, Play, hard, list, rounds, split};
use crate::experiments::common::*;
use crate::workload::{Inputs, Workload, of_either};
use halfspaces_linalg::{InputError, PointSet};
use halfspaces_online::{
    Centre, CentreOfGravity, Ellipsoid, HardMargin, OnlineLearner, Perceptron, VersionSpace,
    VolumetricCentre, bounds,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(super) enum Learner {
    #[strum(to_string = "perceptron")]
    Perceptron,
    #[strum(to_string = "ellipsoid")]
    Ellipsoid,
    #[strum(to_string = "volumetric centre")]
    Volumetric,
    #[strum(to_string = "centre of gravity")]
    Gravity,
    #[serde(rename = "hard-margin")]
    #[strum(to_string = "hard margin")]
    Margin,
}

pub(super) const LEARNERS: [(Learner, Colour); 5] = [
    (Learner::Perceptron, Colour::Blue),
    (Learner::Ellipsoid, Colour::Orange),
    (Learner::Volumetric, Colour::Vermilion),
    (Learner::Gravity, Colour::Green),
    (Learner::Margin, Colour::Purple),
];

/// One trial runs the learner on the family at every exponent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(super) family: Family,
    pub(super) learner: Learner,
    pub(super) exponents: Vec<u32>,
}

pub(super) fn play<L: OnlineLearner>(
    inputs: &Inputs,
    family: &Family,
    exponent: u32,
    new: impl FnOnce(usize) -> Result<L, Failure>,
    bound: impl Fn(&L, f64) -> Option<f64>,
    rng: &mut ChaCha8Rng,
) -> Result<Play, Failure> {
    let (learner, (mistakes, ended), margin) = match family {
        Family::Hard => {
            let mut learner = new(2)?;
            let (mistakes, margin, ended) = hard(&mut learner, exponent, rng)?;
            (learner, (mistakes, ended), margin)
        }
        Family::Split => {
            let mut learner = new(2)?;
            let (mistakes, margin, ended) = split(&mut learner, exponent, rng)?;
            (learner, (mistakes, ended), margin)
        }
        Family::Lists => {
            let (points, labels, margin) = list(exponent, rng)?;
            let mut learner = new(points.dim())?;
            let played = rounds(&mut learner, &points, &labels)?;
            (learner, played, margin)
        }
        Family::Real(name) => {
            let margin = 0.5f64.powi(exponent as i32);
            let workload = Workload::Relabelled { name: name.clone(), margin };
            of_either!(&inputs.pool(&workload, rng)?, pool => {
                let mut learner = new(pool.points.dim())?;
                let played = rounds(&mut learner, &pool.points, &pool.labels)?;
                (learner, played, pool.margin.ok_or("relabelled data without a margin")?)
            })
        }
    };
    let (dim, bound) = (learner.dim(), bound(&learner, margin));
    Ok(Play { exponent, dim, margin, mistakes, ended, bound })
}

/// Calls [`play`] for a version space with a given centre, and with the mistake bound of that centre.
fn play_centre<C: Centre>(
    inputs: &Inputs,
    family: &Family,
    exponent: u32,
    centre: impl FnOnce(usize) -> Result<C, InputError>,
    rng: &mut ChaCha8Rng,
) -> Result<Play, Failure> {
    let stated = |learner: &VersionSpace<C>, margin| learner.centre().mistake_bound(margin);
    play(inputs, family, exponent, |d| Ok(VersionSpace::new(centre(d)?)), stated, rng)
}

/// Runs the learner on the family at every exponent.
pub(super) fn plays(
    inputs: &Inputs,
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let family = &setting.family;
    let seed = rng.random();
    let plays = setting.exponents.iter().map(|&exponent| match setting.learner {
        Learner::Perceptron => {
            let bound =
                |_: &Perceptron, margin| Some(bounds::perceptron_mistakes(1.0, 1.0, margin));
            play(inputs, family, exponent, |d| Ok(Perceptron::new(d)?), bound, rng)
        }
        Learner::Ellipsoid => play_centre(inputs, family, exponent, Ellipsoid::new, rng),
        Learner::Volumetric => play_centre(inputs, family, exponent, VolumetricCentre::new, rng),
        Learner::Gravity => {
            play_centre(inputs, family, exponent, |d| CentreOfGravity::new(d, seed), rng)
        }
        Learner::Margin => play_centre(inputs, family, exponent, HardMargin::new, rng),
    });
    plays.collect()
}
