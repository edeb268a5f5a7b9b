//! The update all Perspectrons share: w -= λ (σ(w·x) - y)/D(w·x) x.
//!
//! With σ(t) = β sign(t) it is the Perspectron's (CKST24 Algorithm 1), with another link the GLM
//! Perspectron's (CKST24 Algorithm 2). The denominator D decides the guarantee:
//!
//! | D | proved for |
//! |---|---|
//! | abs(w·x), if it is never 0 | Massart noise (CKST24 Lemma 1); links (Lemma 5), with τ/2 added: no learner here |
//! | abs(w·x) + γ | Massart noise (CKST24 Lemma 2) |
//! | max(abs(w·x), γ) | Massart noise (ours) |
//! | abs(w·x) + αγ | links, with τ/2 added, up to a loss of ε (CKST24 Lemma 6) |
//! | max(abs(w·x), γ/2) | links, with τ/2 added, without loss (ours); no larger floor will do |
//!
//! Claims: P1, P1f, P2, P4, P4s, P13, P13s.

use halfspaces_data::Link;
use halfspaces_linalg::Label;

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
            // Without a branch, which would be wrong every other time.
            Denominator::AtLeast(floor) => value.abs().max(floor),
        }
    }

    /// The least value that D can take.
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

/// A direction g(w; x, y) = (σ(w·x) - y)/D(w·x) x: E\[g\]·(w - w*) >= 2(ℓ01(w) - η) for every w under Massart noise of rate η, with any
/// [`Denominator`] whose number is at most the margin (plus the margin itself: CKST24 Lemma 2; the rest ours). For links the same holds
/// with the target's own error plus τ/2 in place of η, with a floor of at most half the margin (ours), and with no padding.
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
