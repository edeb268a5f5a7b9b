//! The update all Perspectrons share: w -= λ (σ(w·x) - y)/D(w·x) x.
//!
//! With σ(t) = β sign(t) it is the Perspectron's (003 Algorithm 1), with another link the GLM
//! Perspectron's (003 Algorithm 2). The denominator D decides the guarantee:
//!
//! | D | proved for |
//! |---|---|
//! | abs(w·x) + γ | Massart noise (003 Lemma 2) |
//! | max(abs(w·x), γ) | Massart noise (ours) |
//! | abs(w·x) + αγ | links, up to a loss of ε (003 Lemma 6) |
//! | max(abs(w·x), γ/2) | links, without loss (ours); no larger floor will do |

use halfspaces_data::Link;
use halfspaces_linalg::{Label, RowView, kernels};

/// What the update divides by.
///
/// ```
/// use halfspaces_pac::Denominator;
/// assert_eq!(Denominator::Plus(0.5).at(-2.0), 2.5);
/// assert_eq!(Denominator::AtLeast(0.5).at(-2.0), 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Denominator {
    /// |w·x| + padding.
    Plus(f64),
    /// max(|w·x|, floor).
    AtLeast(f64),
}

impl Denominator {
    /// D at the decision value w·x.
    #[inline]
    #[must_use]
    pub fn at(self, value: f64) -> f64 {
        match self {
            Denominator::Plus(padding) => value.abs() + padding,
            Denominator::AtLeast(floor) => value.abs().max(floor),
        }
    }

    /// The least value D can take.
    #[must_use]
    pub fn least(self) -> f64 {
        match self {
            Denominator::Plus(least) | Denominator::AtLeast(least) => least,
        }
    }
}

/// The link of random classification and Massart noise: σ(t) = β sign(t), sign(0) = +1.
///
/// ```
/// use halfspaces_data::Link;
/// use halfspaces_pac::SignLink;
/// assert_eq!(SignLink { level: 0.6 }.value(-0.0), 0.6);
/// assert_eq!(SignLink { level: 0.6 }.value(-0.1), -0.6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SignLink {
    /// β = 1 - 2η.
    pub level: f64,
}

impl Link for SignLink {
    #[inline]
    fn value(&self, t: f64) -> f64 {
        if t >= 0.0 { self.level } else { -self.level }
    }

    fn asymmetry(&self) -> f64 {
        0.0
    }
}

/// A direction g(w; x, y) = (σ(w·x) - y)/D(w·x) x: 003 shows E\[g\]·(w - w*) >= 2(ℓ01(w) - η) for every w.
///
/// ```
/// use halfspaces_linalg::Label;
/// use halfspaces_pac::{Denominator, Direction, SignLink};
/// let g = Direction { link: SignLink { level: 0.5 }, denominator: Denominator::Plus(0.5) };
/// assert_eq!(g.coefficient(1.5, Label::Negative), 0.75);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Direction<L> {
    /// σ.
    pub link: L,
    /// D.
    pub denominator: Denominator,
}

impl<L: Link> Direction<L> {
    /// (σ(w·x) - y)/D(w·x), the factor of x, at the decision value w·x.
    #[inline]
    pub fn coefficient(&self, value: f64, label: Label) -> f64 {
        (self.link.clamped(value) - label.as_f64()) / self.denominator.at(value)
    }
}

/// One step: w -= λ g(w; x, y), then, if asked, onto the unit ball.
#[inline]
pub(crate) fn descend<L: Link, R: RowView>(
    direction: &Direction<L>,
    step: f64,
    project: bool,
    w: &mut [f64],
    x: R,
    y: Label,
) {
    x.add_scaled_to(-step * direction.coefficient(x.dot(w), y), w);
    if project {
        let norm_sq = kernels::norm_sq(w);
        if norm_sq > 1.0 {
            let factor = norm_sq.sqrt().recip();
            w.iter_mut().for_each(|w| *w *= factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::DenseRow;

    #[test]
    fn a_step_worked_by_hand() {
        let direction =
            Direction { link: SignLink { level: 0.5 }, denominator: Denominator::AtLeast(0.25) };
        let x = DenseRow::new(&[0.6, 0.8]).unwrap();
        let mut w = [0.0, 0.0];
        // sign(0) = +1: (0.5 - 1)/0.25 = -2.
        descend(&direction, 0.25, true, &mut w, x, Label::Positive);
        assert_eq!(w, [0.3, 0.4]);
        // w·x = 0.5: (0.5 + 1)/0.5 = 3.
        descend(&direction, 0.25, true, &mut w, x, Label::Negative);
        assert!((w[0] + 0.15).abs() < 1e-15 && (w[1] + 0.2).abs() < 1e-15);
        // A long step ends on the sphere.
        descend(&direction, 10.0, true, &mut w, x, Label::Positive);
        assert!((kernels::norm_sq(&w) - 1.0).abs() < 1e-15 && w[0] > 0.0);
    }
}
