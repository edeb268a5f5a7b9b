//! The link to use if the noise may exceed that of a generalised linear model by a known amount.

use super::link::Link;
use halfspaces_linalg::InputError;

/// The link σ_ζ(t) = sign(t) max(|σ(t)| - 2ζ, 0), for a model that is misspecified by ζ: the label of x is wrong with
/// probability at most (1 - |σ(w* · x)|)/2 + ζ, and at most 1/2.
///
/// Such labels follow the generalised linear model of σ_ζ, because 1 minus twice this probability is at least
/// |σ_ζ(w* · x)|. The link σ_ζ does not decrease and has the sign of its argument, and its asymmetry is at most that of
/// σ. A learner that uses the link σ_ζ therefore keeps its guarantee, with E\[(1 - |σ_ζ(w* · x)|)/2\] <= opt_RCN + ζ in
/// place of opt_RCN. It is safe to choose ζ too large (docs/theory/misspecified-links.md). Claims: P15, P15u.
///
/// ```
/// use halfspaces_data::{Link, Misspecified, StandardLink};
/// let link = Misspecified::new(StandardLink::clipped(1.0)?, 0.1)?;
/// assert!((link.value(0.5) - 0.3).abs() < 1e-12 && (link.value(-0.5) + 0.3).abs() < 1e-12);
/// assert_eq!(link.value(-0.1), 0.0);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Unchecked<L>"))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "L: serde::Deserialize<'de>")))]
pub struct Misspecified<L> {
    link: L,
    extra: f64,
}

/// A [`Misspecified`] link before ζ is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Unchecked<L> {
    link: L,
    extra: f64,
}

#[cfg(feature = "serde")]
impl<L> TryFrom<Unchecked<L>> for Misspecified<L> {
    type Error = InputError;

    fn try_from(saved: Unchecked<L>) -> Result<Self, InputError> {
        Misspecified::new(saved.link, saved.extra)
    }
}

impl<L> Misspecified<L> {
    /// Creates σ_ζ for a link σ and ζ = `extra` in \[0, 1/2\].
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn new(link: L, extra: f64) -> Result<Self, InputError> {
        let inside = (0.0..=0.5).contains(&extra);
        InputError::check_parameter("misspecification", extra, inside, "between 0 and 1/2")?;
        Ok(Misspecified { link, extra })
    }

    /// The misspecification ζ.
    #[must_use]
    pub fn extra(&self) -> f64 {
        self.extra
    }
}

impl<L: Link> Link for Misspecified<L> {
    fn value(&self, t: f64) -> f64 {
        let size = (self.link.value(t).abs() - 2.0 * self.extra).max(0.0);
        if t >= 0.0 || size == 0.0 { size } else { -size }
    }

    /// The asymmetry of σ, which is an upper bound on the asymmetry of σ_ζ.
    fn asymmetry(&self) -> f64 {
        self.link.asymmetry()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::link::{StandardLink, check_link};

    #[test]
    fn every_standard_link_stays_a_link() {
        let links = [
            StandardLink::two_rates(0.1, 0.3),
            StandardLink::logistic(5.0),
            StandardLink::clipped(3.0),
            StandardLink::staircase(4, 0.9),
            StandardLink::skewed_logistic(4.0, 0.3),
        ];
        for link in links.map(Result::unwrap) {
            for extra in [0.0, 0.05, 0.2, 0.5] {
                let shrunk = Misspecified::new(link, extra).unwrap();
                assert_eq!(check_link(&shrunk), Ok(()));
                for i in -100..=100 {
                    let t = f64::from(i) / 100.0;
                    // The largest flip probability that the misspecified model allows, which is at most 1/2.
                    let rate = ((1.0 - link.value(t).abs()) / 2.0 + extra).min(0.5);
                    assert!((1.0 - 2.0 * rate - shrunk.value(t).abs()).abs() < 1e-12);
                }
            }
        }
        assert!(Misspecified::new(StandardLink::clipped(1.0).unwrap(), 0.51).is_err());
        assert!(Misspecified::new(StandardLink::clipped(1.0).unwrap(), f64::NAN).is_err());
    }
}
