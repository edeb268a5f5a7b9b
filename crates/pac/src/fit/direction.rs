//! The direction of the update w -= λ (σ(w·x) - y)/D(w·x) x, which all Perspectrons share. The update is applied in
//! `descend.rs`.
//!
//! With σ(t) = β sign(t), this is CKST24 Algorithm 1, the Perspectron. With another link function σ, it is CKST24
//! Algorithm 2, the GLM Perspectron. The guarantee depends on the denominator D:
//!
//! | D | proved for |
//! |---|---|
//! | abs(w·x), if it is never 0 | Massart noise (CKST24 Lemma 1); links, with τ/2 more error (Lemma 5); not used here |
//! | abs(w·x) + γ | Massart noise (CKST24 Lemma 2) |
//! | max(abs(w·x), γ) | Massart noise (ours) |
//! | abs(w·x) + αγ | links, with additional error τ/2 + ε (CKST24 Lemma 6) |
//! | max(abs(w·x), γ/2) | links, with additional error τ/2 (ours); fails if γ/2 is replaced by a larger number |
//!
//! Claims: P1, P1f, P2, P4, P4s, P13, P13s.

use halfspaces_data::Link;
use halfspaces_linalg::Label;

/// The denominator of the update.
///
/// ```
/// use halfspaces_pac::Denominator;
/// assert_eq!(Denominator::Plus(0.5).at(-2.0), 2.5);
/// assert_eq!(Denominator::AtLeast(0.5).at(-2.0), 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Denominator {
    /// The denominator |w·x| + padding.
    Plus(f64),
    /// The denominator max(|w·x|, floor).
    AtLeast(f64),
}

impl Denominator {
    /// Returns D at the decision value w·x.
    #[inline]
    #[must_use]
    pub fn at(self, value: f64) -> f64 {
        match self {
            Denominator::Plus(padding) => value.abs() + padding,
            // A branch would be mispredicted half of the time.
            Denominator::AtLeast(floor) => value.abs().max(floor),
        }
    }

    /// The smallest value of D.
    #[must_use]
    pub fn least(self) -> f64 {
        match self {
            Denominator::Plus(least) | Denominator::AtLeast(least) => least,
        }
    }
}

/// The link function of random classification noise and Massart noise: σ(t) = β sign(t) with sign(0) = +1.
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
    /// The level β = 1 - 2η.
    pub level: f64,
}

impl Link for SignLink {
    #[inline]
    fn value(&self, t: f64) -> f64 {
        if t >= 0.0 { self.level } else { -self.level }
    }

    // Clamping t does not change its sign.
    #[inline]
    fn clamped(&self, t: f64) -> f64 {
        self.value(t)
    }

    fn asymmetry(&self) -> f64 {
        0.0
    }
}

/// The direction g(w; x, y) = (σ(w·x) - y)/D(w·x) x of an update.
///
/// Under Massart noise of rate η, E\[g\]·(w - w*) >= 2(ℓ01(w) - η) for every w and every [`Denominator`] whose padding
/// or floor is at most the margin. CKST24 Lemma 2 proves this for a padding equal to the margin; the other cases are
/// ours. For link functions (GLMs), let D be max(|w·x|, floor) with a floor of at most half the margin. Then the
/// inequality holds with the target's own error plus τ/2 in place of η (ours). For link functions with a positive
/// padding, the inequality does not hold.
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
    /// The link function σ.
    pub link: L,
    /// The denominator D.
    pub denominator: Denominator,
}

impl<L: Link> Direction<L> {
    /// The factor of x in the direction, (σ(w·x) - y)/D(w·x), at the decision value w·x.
    #[inline]
    pub fn coefficient(&self, value: f64, label: Label) -> f64 {
        (self.link.clamped(value) - label.as_f64()) / self.denominator.at(value)
    }
}
