//! Link functions of generalized linear models.

/// A link σ: \[-1, 1\] -> \[-1, 1\]: the model's mean label E\[y | x\] is at least |σ(w* · x)| in size, with
/// the sign of w* · x (003, Definition 2).
///
/// σ is non-decreasing with sign(t) σ(t) >= 0. As sign(0) = +1 here, σ(0) >= 0 is part of this; 003
/// assumes it silently.
pub trait Link {
    /// σ(t). Callers clamp t to \[-1, 1\] first, see [`Link::clamped`].
    fn value(&self, t: f64) -> f64;

    /// τ: the least number with ||σ(t)| - |σ(-t)|| <= τ for every t; 0 for an odd link.
    fn asymmetry(&self) -> f64;

    /// σ at t clamped to \[-1, 1\]: iterates may leave the unit ball.
    fn clamped(&self, t: f64) -> f64 {
        self.value(t.clamp(-1.0, 1.0))
    }
}

impl<L: Link + ?Sized> Link for &L {
    fn value(&self, t: f64) -> f64 {
        (**self).value(t)
    }

    fn asymmetry(&self) -> f64 {
        (**self).asymmetry()
    }
}
