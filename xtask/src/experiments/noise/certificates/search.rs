//! The searches for the w, the noise and the distribution that miss an inequality by most.

use super::certificate::{Certificate, Row, Slack, slack};
use super::workload::{Configuration, Outcome, POINTS, draw};
use crate::experiments::common::*;
use crate::experiments::noise::planar::{Atom, Planar, StepLink, descend, dot, genes};
use halfspaces_data::random_target_with_rng;
use halfspaces_linalg::{PointSet, kernels};
use rand_distr::StandardNormal;
use std::f64::consts::TAU;

/// Points of a model in the plane.
const ATOMS: usize = 3;

/// The least slack over w of a drawn population: from -w*, from random directions of several norms and
/// from beside the boundary of single points, by moves that are kept where they help.
pub(super) fn search_w(setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let certificate = setting.certificate;
    let drawn = draw(certificate, setting.arena, rng)?;
    let dim = drawn.target.dim();
    let mut outcome = Outcome { least: Slack { mean: 1.0, point: 1.0 }, worked: 1.0, tried: 0 };
    let mut look = |w: &[f64]| -> Result<f64, Failure> {
        let Some(found) = drawn.slack(certificate, w)? else { return Ok(f64::INFINITY) };
        outcome.tried += 1;
        let least = &mut outcome.least;
        // A NaN stays: no case passes for want of a number.
        let smaller = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) };
        (least.mean, least.point) =
            (smaller(least.mean, found.mean), smaller(least.point, found.point));
        Ok(found.mean)
    };
    look(&vec![0.0; dim])?;
    look(drawn.target.normal())?;
    for start in 0..setting.starts {
        let norm = [0.05, 0.5, 1.0, 5.0][rng.random_range(0..4)];
        let mut w = random_target_with_rng(dim, rng)?.into_normal();
        match start % 3 {
            0 => {
                w.iter_mut().for_each(|v| *v *= 0.3 * rng.random::<f64>());
                kernels::axpy(-1.0, drawn.target.normal(), &mut w);
            }
            1 => {
                let row = drawn.population.points().row(rng.random_range(0..POINTS));
                let x = row.ok_or("no such point")?.as_slice();
                let beside = 10f64.powf(-1.0 - 9.0 * rng.random::<f64>());
                let shift = kernels::dot(&w, x) - if rng.random() { beside } else { -beside };
                kernels::axpy(-shift / kernels::norm_sq(x), x, &mut w);
            }
            _ => {}
        }
        w.iter_mut().for_each(|v| *v *= norm);
        let mut least = look(&w)?;
        for _ in 0..setting.moves {
            let scale = kernels::norm_sq(&w).sqrt() * 10f64.powf(-4.0 * rng.random::<f64>());
            let mut moved = w.clone();
            moved.iter_mut().for_each(|v| *v += scale * rng.sample::<f64, _>(StandardNormal));
            let found = look(&moved)?;
            if found <= least {
                (least, w) = (found, moved);
            }
        }
    }
    if outcome.tried == 0 {
        outcome.least = Slack { mean: f64::NAN, point: f64::NAN };
    }
    Ok(outcome)
}

/// Genes of a model in the plane with its margin and w.
const PLANE_GENES: usize = genes(ATOMS) + 3;

fn decode(certificate: Certificate, numbers: &[f64]) -> (Planar, [f64; 2]) {
    let (model, rest) = numbers.split_at(genes(ATOMS));
    let mut model = model.to_vec();
    if certificate.is_massart() {
        // One level on both sides.
        model[2..5].fill(0.0);
    }
    let margin = 0.9 * 100f64.powf(-rest[0]);
    // Most directions near -w*, where errors are largest.
    let angle = TAU * (0.5 + 4.0 * (rest[2] - 0.5).powi(3));
    let norm = 0.05 * 400f64.powf(rest[1]);
    (Planar::decode(margin, &model), [norm * angle.cos(), norm * angle.sin()])
}

fn planar_slack(certificate: Certificate, planar: &Planar, w: [f64; 2]) -> Option<Slack> {
    let rows = planar.atoms.iter().map(|Atom { x, flip, mass }| Row {
        value: dot(w, *x),
        margin: x[0],
        flip: *flip,
        mass: *mass,
    });
    slack(certificate, &planar.link, planar.margin * (1.0 - 1e-12), false, rows)
}

/// The one-point example of docs/theory for a certificate: its slack is negative where that fails.
pub(super) fn worked(certificate: Certificate) -> Option<Slack> {
    let jump = StepLink { near: [0.0; 2], far: [1.0; 2], jump: 0.5 };
    let (margin, link, x, w) = match certificate {
        Certificate::Lemma5Printed => {
            (0.25, StepLink { near: [1.0, 0.0], far: [1.0, 0.0], jump: 0.5 }, 0.25, -4.0)
        }
        Certificate::Padding { share } if share < 1.0 => (0.5, jump, 0.5, share - 1.0),
        Certificate::Padding { .. } | Certificate::Floor { .. } => (0.5, jump, -0.5, 0.0),
        _ => return None,
    };
    let atoms = vec![Atom { x: [x, 0.0], flip: 0.0, mass: 1.0 }];
    planar_slack(certificate, &Planar { margin, link, atoms }, [w, 0.0])
}

pub(super) fn search_plane(setting: &Configuration, rng: &mut ChaCha8Rng) -> Outcome {
    let certificate = setting.certificate;
    let mut outcome = Outcome { least: Slack { mean: 1.0, point: 1.0 }, worked: 1.0, tried: 0 };
    outcome.worked = worked(certificate).map_or(1.0, |slack| slack.mean);
    for _ in 0..setting.starts {
        descend(PLANE_GENES, setting.moves, rng, |numbers| {
            let (planar, w) = decode(certificate, numbers);
            let Some(found) = planar_slack(certificate, &planar, w) else { return f64::INFINITY };
            outcome.tried += 1;
            let least = &mut outcome.least;
            (least.mean, least.point) = (least.mean.min(found.mean), least.point.min(found.point));
            // One point that falls short shows the way before their mean does.
            found.mean + found.point
        });
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one-point examples of docs/theory: G and what it owes, by hand.
    #[test]
    fn slacks_worked_by_hand() {
        let one = |link, x: f64, w: f64, certificate, margin| {
            let atoms = vec![Atom { x: [x, 0.0], flip: 0.0, mass: 1.0 }];
            planar_slack(certificate, &Planar { margin, link, atoms }, [w, 0.0]).unwrap().mean
        };
        // σ = 1 for t >= 0 and 0 below, x = 1/4, w = -4: G = 5/4, owed 2, terms 1·(1 + 1/4) + 2.
        let half = StepLink { near: [1.0, 0.0], far: [1.0, 0.0], jump: 0.5 };
        let found = one(half, 0.25, -4.0, Certificate::Lemma5Printed, 0.25);
        assert!((found + 0.75 / 3.25).abs() < 1e-12);
        assert!(one(half, 0.25, -4.0, Certificate::Lemma5, 0.25) > 0.0);
        // σ = 0 below 1/2 and ±1 from there: G = 3/2 with max(a, γ), 3 with max(a, γ/2).
        let jump = StepLink { near: [0.0; 2], far: [1.0; 2], jump: 0.5 };
        assert!(one(jump, 0.5, -0.5, Certificate::Floor { share: 1.0 }, 0.5) < -0.1);
        assert!(one(jump, 0.5, -0.5, Certificate::Floor { share: 0.5 }, 0.5) >= 0.0);
        assert!(one(jump, 0.5, -0.75, Certificate::Padding { share: 0.25 }, 0.5) < -0.01);
    }
}
