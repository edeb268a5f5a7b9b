//! Settings, and the sampling of one step.

use crate::experiments::common::*;
use rand_distr::{Binomial, Distribution};
use std::f64::consts::PI;

/// The constant of DKTZ23 in both bounds.
pub(super) const PRINTED: f64 = 12.0 * PI;
/// Failure probability of both bounds.
pub(super) const FAILURE: f64 = 1.0 / 3.0;

/// One draw of n points at one angle is a trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(super) dim: usize,
    pub(super) points: u64,
    pub(super) angle: f64,
}

impl Configuration {
    /// n θ.
    pub(super) fn mass(&self) -> f64 {
        self.points as f64 * self.angle
    }

    /// DKTZ23's lower bound on the largest margin, divided by sin θ, with `constant` in place of 12π.
    pub(super) fn bound(&self, constant: f64) -> f64 {
        let (d, ratio) = (self.dim as f64, self.mass() / constant);
        if ratio <= (d / 2.0).exp() {
            (ratio.ln().max(0.0) / (4.0 * d)).sqrt()
        } else {
            1.0 - ratio.powf(-2.0 / d)
        }
    }

    /// ln of the bound on the ratio of tan θ after the mistake to tan θ before it, √(1 - b²).
    pub(super) fn decay(&self) -> f64 {
        0.5 * (-self.bound(PRINTED).powi(2)).ln_1p()
    }

    pub(super) fn regime(&self) -> &'static str {
        if self.mass() / PRINTED <= (self.dim as f64 / 2.0).exp() {
            "small nθ"
        } else {
            "large nθ"
        }
    }
}

/// One draw of n points.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The largest |w · x|, divided by sin θ, among the points on which w and the target disagree; 0 if there is no
    /// such point.
    pub(super) margin: f64,
    /// ln of the ratio of tan θ after the mistake on that point to tan θ before it.
    pub(super) decay: f64,
    /// The margin of the first misclassified point, divided by sin θ, and its decay.
    pub(super) first_margin: f64,
    pub(super) first_decay: f64,
    /// The position in the wedge of the point with the largest margin, from 0 at the boundary of w to 1 at the boundary
    /// of the target; 0 if there is no such point.
    pub(super) turn: f64,
}

/// Draws n points uniformly from the sphere and considers those on which two unit vectors at angle θ disagree. Only the
/// number of these points and their projections onto the plane of the two vectors matter. The number is binomial with
/// probability θ/π. A projection has radius r with r² ~ Beta(1, d/2 - 1), and its direction is uniform in the double
/// wedge.
pub(super) fn draw(setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let theta = setting.angle;
    let count = Binomial::new(setting.points, theta / PI)?.sample(rng);
    // The margin with respect to w is r sin(tθ) for a uniform t, and the margin with respect to the target is r
    // sin((1-t)θ).
    let (mut margin, mut radius, mut rest, mut turn) = (0.0, 0.0, 0.0, 0.0);
    let mut first = None;
    for _ in 0..count {
        let exponent = 2.0 / (setting.dim as f64 - 2.0);
        let r = (1.0 - rng.random::<f64>().powf(exponent)).sqrt();
        let t: f64 = rng.random();
        let of_w = r * (t * theta).sin();
        let _ = first.get_or_insert((of_w, r, (1.0 - t) * theta));
        if of_w > margin {
            (margin, radius, rest, turn) = (of_w, r, (1.0 - t) * theta, t);
        }
    }
    let decay =
        |(margin, radius, rest)| (tan_after(theta, margin, radius, rest) / theta.tan()).ln();
    // If no point is misclassified, the angle does not change.
    let first = first.unwrap_or((0.0, 0.0, 0.0));
    Ok(Outcome {
        margin: margin / theta.sin(),
        decay: decay((margin, radius, rest)),
        first_margin: first.0 / theta.sin(),
        first_decay: decay(first),
        turn,
    })
}

/// The tangent of the angle to w* after w -= (w · x) x, for w at angle θ to w* and a misclassified x with |w · x| =
/// `margin`. The projection of x onto the plane of w and w* has length `radius` and angle `rest` to the boundary of w*.
/// The terms of the component of the new w orthogonal to w* are of the same size as their sum, so there is no
/// cancellation.
pub(super) fn tan_after(theta: f64, margin: f64, radius: f64, rest: f64) -> f64 {
    let along = theta.cos() + margin * radius * rest.sin();
    let in_plane = theta.sin() - margin * radius * rest.cos();
    let out_of_plane = margin * (1.0 - radius * radius).max(0.0).sqrt();
    in_plane.hypot(out_of_plane) / along
}
