//! The update all Perspectrons share: w -= λ (σ(w·x) - y)/D(w·x) x.
//!
//! With σ(t) = β sign(t) it is the Perspectron's (CKST24 Algorithm 1), with another link the GLM
//! Perspectron's (CKST24 Algorithm 2). The denominator D decides the guarantee:
//!
//! | D | proved for |
//! |---|---|
//! | abs(w·x) + γ | Massart noise (CKST24 Lemma 2) |
//! | max(abs(w·x), γ) | Massart noise (ours) |
//! | abs(w·x) + αγ | links, up to a loss of ε (CKST24 Lemma 6) |
//! | max(abs(w·x), γ/2) | links, without loss (ours); no larger floor will do |

use halfspaces_data::Link;
use halfspaces_linalg::{InputError, Label, RowView, kernels, zeros};

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
            // As `max`, in one instruction.
            Denominator::AtLeast(floor) if value.abs() > floor => value.abs(),
            Denominator::AtLeast(floor) => floor,
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

    // Clamping keeps the sign.
    #[inline]
    fn clamped(&self, t: f64) -> f64 {
        self.value(t)
    }

    fn asymmetry(&self) -> f64 {
        0.0
    }
}

/// A direction g(w; x, y) = (σ(w·x) - y)/D(w·x) x: CKST24 shows E\[g\]·(w - w*) >= 2(ℓ01(w) - η) for every w.
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

/// An iterate w with what is known of its norm.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Iterate {
    w: Vec<f64>,
    /// ‖w‖² as updates have it, and how many since it was computed from w.
    norm_sq: f64,
    age: u32,
}

/// Updates after which the norm is computed anew: they lose some 1e-12 at most.
const OLD: u32 = 1024;

/// How far below 1 the norm as updates have it must be to be below 1 for sure.
const NEAR: f64 = 1e-9;

impl Iterate {
    pub(crate) fn zero(dim: usize) -> Result<Iterate, InputError> {
        Ok(Iterate { w: zeros(1, dim)?, norm_sq: 0.0, age: 0 })
    }

    /// Whether what is known of the norm fits w, of an iterate that is projected.
    #[cfg(feature = "serde")]
    pub(crate) fn is_saved(&self) -> bool {
        self.age < OLD && (self.norm_sq - kernels::norm_sq(&self.w)).abs() <= NEAR
    }

    pub(crate) fn restart(&mut self) {
        self.w.fill(0.0);
        self.norm_sq = 0.0;
        self.age = 0;
    }

    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.w
    }

    /// One step, w -= λ g(w; x, y), then, if asked, onto the unit ball, for x with the given w·x and ‖x‖².
    ///
    /// ‖w‖² is followed, ‖w - cx‖² = ‖w‖² - 2c w·x + c²‖x‖², and computed from w only where it may have
    /// passed 1: the steps are those of the plain rule, to the bit.
    #[inline(always)]
    pub(crate) fn descend<L: Link, R: RowView>(
        &mut self,
        direction: &Direction<L>,
        step: f64,
        project: bool,
        (x, value, norm_sq): (R, f64, f64),
        y: Label,
    ) {
        let c = step * direction.coefficient(value, y);
        x.add_scaled_to(-c, &mut self.w);
        if !project {
            return;
        }
        self.norm_sq += c * (c * norm_sq - 2.0 * value);
        self.age += 1;
        // Also where it is NaN.
        if self.age >= OLD || self.norm_sq.is_nan() || self.norm_sq > 1.0 - NEAR {
            self.project();
        }
    }

    #[cold]
    fn project(&mut self) {
        self.norm_sq = kernels::norm_sq(&self.w);
        self.age = 0;
        if self.norm_sq > 1.0 {
            let factor = self.norm_sq.sqrt().recip();
            self.w.iter_mut().for_each(|w| *w *= factor);
            self.norm_sq = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::DenseRow;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    fn observe<L: Link>(w: &mut Iterate, g: &Direction<L>, step: f64, x: &[f64], y: Label) {
        let x = DenseRow::new(x).unwrap();
        let (value, norm_sq) = (x.dot(w.as_slice()), x.norm_sq());
        w.descend(g, step, true, (x, value, norm_sq), y);
    }

    #[test]
    fn a_step_worked_by_hand() {
        let direction =
            Direction { link: SignLink { level: 0.5 }, denominator: Denominator::AtLeast(0.25) };
        let x = [0.6, 0.8];
        let mut w = Iterate::zero(2).unwrap();
        // sign(0) = +1: (0.5 - 1)/0.25 = -2.
        observe(&mut w, &direction, 0.25, &x, Label::Positive);
        assert_eq!(w.as_slice(), [0.3, 0.4]);
        // w·x = 0.5: (0.5 + 1)/0.5 = 3.
        observe(&mut w, &direction, 0.25, &x, Label::Negative);
        assert!((w.w[0] + 0.15).abs() < 1e-15 && (w.w[1] + 0.2).abs() < 1e-15);
        // A long step ends on the sphere.
        observe(&mut w, &direction, 10.0, &x, Label::Positive);
        assert!((kernels::norm_sq(&w.w) - 1.0).abs() < 1e-15 && w.w[0] > 0.0);
    }

    /// The norm followed decides as the norm computed at every step.
    #[test]
    fn projection_is_that_of_the_plain_rule() {
        let direction =
            Direction { link: SignLink { level: 0.4 }, denominator: Denominator::AtLeast(0.1) };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for step in [0.003, 0.03, 0.3] {
            let (mut fast, mut plain) = (Iterate::zero(5).unwrap(), vec![0.0; 5]);
            let mut projections = 0;
            for _ in 0..20_000 {
                let mut x: Vec<f64> = (0..5).map(|_| rng.random_range(-0.44..0.44)).collect();
                x[0] = if x[0] > 0.0 { 0.5 } else { -0.5 };
                let noisy = rng.random_bool(0.3);
                let y = Label::from_sign(if noisy { -x[0] } else { x[0] });
                let row = DenseRow::new(&x).unwrap();
                let c = step * direction.coefficient(row.dot(&plain), y);
                row.add_scaled_to(-c, &mut plain);
                let norm_sq = kernels::norm_sq(&plain);
                if norm_sq > 1.0 {
                    let factor = norm_sq.sqrt().recip();
                    plain.iter_mut().for_each(|w| *w *= factor);
                    projections += 1;
                }
                observe(&mut fast, &direction, step, &x, y);
                assert_eq!(fast.as_slice(), plain);
            }
            assert!(projections > 100, "{step}: {projections}");
        }
    }
}
