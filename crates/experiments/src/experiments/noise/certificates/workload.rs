//! The distributions from which the adversary chooses; settings and outcomes.

use super::certificate::{Certificate, Row, Slack, slack};
use crate::experiments::common::*;
use halfspaces_data::{
    Clusters, GlmNoise, MarginBall, Marginal, Massart, NoiseModel, Population, Region,
    StandardLink, StudentT, UnitSphere, random_target_with_rng,
};
use halfspaces_linalg::{Halfspace, PointSet, Points, kernels, margins};

/// Number of points in a population.
pub(super) const POINTS: usize = 40;

/// The search space of the adversary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Arena {
    /// Uniform points in the ball of R^d, outside the margin; the search is over w.
    Ball { dim: usize },
    /// Points that all lie exactly at the margin and on the sphere; the search is over w.
    Shell { dim: usize },
    /// Gaussian clusters; the search is over w.
    Clusters { dim: usize },
    /// Heavy tails and badly scaled axes; the search is over w.
    HeavyTails { dim: usize },
    /// A few points in the plane; the search is over points, masses, noise, link, margin and w.
    Plane,
}

pub(super) const ARENAS: [Arena; 6] = [
    Arena::Ball { dim: 2 },
    Arena::Ball { dim: 10 },
    Arena::Shell { dim: 3 },
    Arena::Clusters { dim: 5 },
    Arena::HeavyTails { dim: 4 },
    Arena::Plane,
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(super) certificate: Certificate,
    pub(super) arena: Arena,
    /// Number of starts of the search, and number of moves from each start.
    pub(super) starts: usize,
    pub(super) moves: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The smallest slack found.
    pub(super) least: Slack,
    /// The slack of the expectation for the worked example in the plane; 1 if there is no example.
    pub(super) worked: f64,
    /// Number of pairs of w and distribution that were tried.
    pub(super) tried: u64,
}

/// A population in R^d with its link and margin. `worst_noise` says whether every flip probability takes its worst
/// value for w.
pub(super) struct Drawn {
    pub(super) population: Population,
    pub(super) link: StandardLink,
    pub(super) target: Halfspace,
    pub(super) margin: f64,
    pub(super) worst_noise: bool,
}

impl Drawn {
    pub(super) fn slack(
        &self,
        certificate: Certificate,
        w: &[f64],
    ) -> Result<Option<Slack>, Failure> {
        let Drawn { population, link, margin, worst_noise, .. } = self;
        let values = margins(population.points(), w)?;
        let rows = values
            .iter()
            .zip(population.margins())
            .zip(population.flip_probabilities())
            .enumerate()
            .map(|(i, ((value, margin), flip))| Row {
                value: *value,
                margin: *margin,
                flip: *flip,
                mass: population.weight(i),
            });
        Ok(slack(certificate, link, *margin, *worst_noise, rows))
    }
}

/// Draws points of norm at most 1. Returns them with their smallest |w*·x|.
pub(super) fn points(
    arena: Arena,
    target: &Halfspace,
    rng: &mut ChaCha8Rng,
) -> Result<(Points, f64), Failure> {
    let gamma = 10f64.powf(-2.0 * rng.random::<f64>()) * 0.9;
    let raw = match arena {
        Arena::Ball { .. } | Arena::Plane => {
            return Ok((MarginBall::new(target, gamma)?.sample_with_rng(POINTS, rng)?, gamma));
        }
        Arena::Shell { dim } => {
            let mut values = UnitSphere::new(dim)?.sample_with_rng(POINTS, rng)?.into_vec();
            for x in values.chunks_exact_mut(dim) {
                let along = kernels::dot(x, target.normal());
                kernels::axpy(-along, target.normal(), x);
                let side = if along >= 0.0 { gamma } else { -gamma };
                let norm = kernels::norm_sq(x).sqrt().max(f64::MIN_POSITIVE);
                let across = (1.0 - gamma * gamma).sqrt();
                x.iter_mut().for_each(|v| *v *= across / norm);
                kernels::axpy(side, target.normal(), x);
            }
            return Ok((Points::new(values, dim)?, gamma));
        }
        Arena::Clusters { dim } => {
            Clusters::random(dim, 4, 0.1, rng.random())?.sample_with_rng(2 * POINTS, rng)?
        }
        Arena::HeavyTails { dim } => {
            StudentT::new(dim, 2.0, 10.0)?.sample_with_rng(2 * POINTS, rng)?
        }
    };
    // The half of the points farthest from the boundary, scaled into the unit ball.
    let (largest, dim) = (raw.max_norm(), raw.dim());
    let scaled = Points::new(raw.as_slice().iter().map(|v| v / largest).collect(), dim)?;
    let along = margins(&scaled, target.normal())?;
    let mut order: Vec<usize> = (0..scaled.len()).collect();
    order.sort_by(|i, j| along[*j].abs().total_cmp(&along[*i].abs()));
    order.truncate(POINTS);
    let least = along[*order.last().ok_or("no points drawn")?].abs();
    Ok((scaled.select(&order)?, least))
}

pub(super) fn draw(
    certificate: Certificate,
    arena: Arena,
    rng: &mut ChaCha8Rng,
) -> Result<Drawn, Failure> {
    let dim = match arena {
        Arena::Ball { dim }
        | Arena::Shell { dim }
        | Arena::Clusters { dim }
        | Arena::HeavyTails { dim } => dim,
        Arena::Plane => 2,
    };
    let target = random_target_with_rng(dim, rng)?.normalised()?;
    let (points, margin) = points(arena, &target, rng)?;
    let rate = 0.5 * rng.random::<f64>().min(0.98);
    let link = if certificate.is_massart() {
        StandardLink::massart(rate)?
    } else {
        match rng.random_range(0..5) {
            0 => StandardLink::logistic(20.0 * rng.random::<f64>() + 0.1)?,
            1 => StandardLink::clipped(20.0 * rng.random::<f64>() + 0.1)?,
            2 => StandardLink::staircase(rng.random_range(1..30), rng.random())?,
            3 => StandardLink::two_rates(rate, 0.5 * rng.random::<f64>())?,
            _ => StandardLink::skewed_logistic(4.0, 0.9 * rng.random::<f64>())?,
        }
    };
    let other = random_target_with_rng(dim, rng)?;
    let threshold = margin + (1.0 - margin) * 0.5 * rng.random::<f64>();
    let region = match rng.random_range(0..5) {
        0 => Region::Everywhere,
        1 => Region::Far(threshold),
        2 => Region::Near(threshold),
        3 => Region::Side(other),
        _ => Region::Disagreement(other),
    };
    let noise: Box<dyn NoiseModel> = if certificate.is_massart() {
        Box::new(Massart::new(rate, region)?)
    } else {
        Box::new(GlmNoise::new(link)?.within(region)?)
    };
    let population = Population::new(points, &target, &noise)?;
    // Inner products are rounded, so the margin is reduced slightly. All points have at least this margin.
    let margin = margin * (1.0 - 1e-12);
    Ok(Drawn { population, link, target, margin, worst_noise: rng.random_bool(0.5) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An overstated margin makes the certificate fail, and the slack shows it.
    #[test]
    fn a_margin_stated_too_large_is_caught() {
        let setting = Configuration {
            certificate: Certificate::Lemma2,
            arena: Arena::Shell { dim: 3 },
            starts: 12,
            moves: 50,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut drawn = draw(setting.certificate, setting.arena, &mut rng).unwrap();
        drawn.worst_noise = true;
        let w: Vec<f64> = drawn.target.normal().iter().map(|v| -0.01 * v).collect();
        assert!(drawn.slack(setting.certificate, &w).unwrap().unwrap().mean >= 0.0);
        drawn.margin *= 3.0;
        assert!(drawn.slack(setting.certificate, &w).unwrap().unwrap().mean < -0.01);
    }
}
