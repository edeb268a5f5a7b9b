//! Label noise: how likely the label of a point is flipped.

/// Flips the label sign(w* · x) of x with a probability η(x), freshly for every example.
pub trait NoiseModel {
    /// η(x), given x and its signed margin w* · x.
    fn flip_probability(&self, x: &[f64], margin: f64) -> f64;

    /// η: no flip probability exceeds it.
    fn rate(&self) -> f64;
}

impl<N: NoiseModel + ?Sized> NoiseModel for &N {
    fn flip_probability(&self, x: &[f64], margin: f64) -> f64 {
        (**self).flip_probability(x, margin)
    }

    fn rate(&self) -> f64 {
        (**self).rate()
    }
}
