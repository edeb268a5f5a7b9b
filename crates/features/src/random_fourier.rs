//! Random features of a kernel.

use crate::products::{Columns, Product};
use crate::{Distance, FeatureMap, RadialKernel};
use halfspaces_linalg::{
    InputError, PointSet, Points, RngStream, RowView, load_checked, rng_for, zeros,
};
use rand_distr::{Cauchy, Distribution, StandardNormal};
use std::ops::Range;

/// Random features whose inner product is a radial kernel, but for chance: cos(ω·x)/√D and sin(ω·x)/√D for D
/// frequencies ω.
///
/// Of the Gaussian kernel exp(-‖x-z‖²/s) frequencies are normal with variance 2/s a coordinate, of the Laplacian
/// exp(-‖x-z‖₁/s) Cauchy with scale 1/s. Each point has norm 1. A frequency is never a matter of the data: the map
/// needs no sample but to choose the scale ([`Distance::median`]).
///
/// *Guarantee.* φ(x) · φ(z) has mean K(x, z) and is the mean of D terms in [-1, 1]: it is off by more than t with
/// probability at most 2 e^(-D t²/2) (Hoeffding).
///
/// *Cost.* O(sD) time per point of s stored coordinates, and 2D sines; O(dD) memory.
///
/// *When to use it.* Many points, or features that may not depend on them; a
/// [`Nystroem`](crate::Nystroem) map needs fewer features for the same error on most data.
///
/// *Source.* Rahimi and Recht 2007. Claims: none of its own.
///
/// ```
/// use halfspaces_features::{FeatureMap, RadialKernel, RandomFourier};
/// use halfspaces_linalg::{Points, kernels};
/// let map = RandomFourier::new(2, 5000, RadialKernel::gaussian(4.0)?, 1)?;
/// let features = map.apply(&Points::from_rows(&[[0.0, 0.0], [1.0, -1.0]])?)?;
/// let (x, z) = features.as_slice().split_at(10_000);
/// assert!((kernels::dot(x, x) - 1.0).abs() < 1e-12);
/// assert!((kernels::dot(x, z) - (-0.5f64).exp()).abs() < 0.06);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RandomFourier {
    frequencies: Points,
    #[cfg_attr(feature = "serde", serde(skip))]
    columns: Columns,
}

load_checked!(RandomFourier { frequencies: Points } => RandomFourier::from_frequencies);

impl RandomFourier {
    /// Draws `frequencies` of them, for points of `dim` coordinates: twice as many features.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] for no frequencies;
    /// [`InputError::TooLarge`]; [`InputError::NonFinite`] for a scale so small that a frequency leaves `f64`.
    pub fn new(
        dim: usize,
        frequencies: usize,
        kernel: RadialKernel,
        seed: u64,
    ) -> Result<Self, InputError> {
        let count = frequencies as f64;
        InputError::check_parameter("frequencies", count, frequencies > 0, "at least 1")?;
        let mut rng = rng_for(RngStream::Frequencies, seed);
        let mut values = zeros(frequencies, dim)?;
        match kernel.distance() {
            Distance::SquaredEuclidean => {
                let deviation = (2.0 / kernel.scale()).sqrt();
                for v in &mut values {
                    let normal: f64 = StandardNormal.sample(&mut rng);
                    *v = deviation * normal;
                }
            }
            Distance::Manhattan => {
                #[expect(clippy::expect_used, reason = "the scale 1 is positive")]
                let cauchy = Cauchy::new(0.0, 1.0).expect("a scale of 1");
                values.iter_mut().for_each(|v| *v = cauchy.sample(&mut rng) / kernel.scale());
            }
        }
        RandomFourier::from_frequencies(Points::new(values, dim)?)
    }

    /// With these frequencies, one per row.
    ///
    /// # Errors
    /// [`InputError::Empty`].
    pub fn from_frequencies(frequencies: Points) -> Result<Self, InputError> {
        if frequencies.is_empty() {
            return Err(InputError::Empty);
        }
        let columns = Columns::from_rows(frequencies.as_slice(), frequencies.dim());
        Ok(RandomFourier { frequencies, columns })
    }

    /// The frequencies, one per row.
    #[must_use]
    pub fn frequencies(&self) -> &Points {
        &self.frequencies
    }

    /// Cosines and sines of angles, side by side.
    fn finish(&self, angles: &[f64], out: &mut [f64]) -> Result<(), InputError> {
        let count = self.frequencies.len();
        let scale = (count as f64).sqrt().recip();
        let (cosines, sines) = out.split_at_mut(count);
        for ((angle, cosine), sine) in angles.iter().zip(cosines).zip(sines) {
            if !angle.is_finite() {
                return Err(InputError::Overflow { row: 0 });
            }
            let (s, c) = angle.sin_cos();
            (*cosine, *sine) = (scale * c, scale * s);
        }
        Ok(())
    }
}

impl FeatureMap for RandomFourier {
    fn input_dim(&self) -> usize {
        self.frequencies.dim()
    }

    fn output_dim(&self) -> usize {
        2 * self.frequencies.len()
    }

    fn map_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        let count = self.frequencies.len();
        let mut angles = zeros(rows.len(), count)?;
        self.columns.sums_of_rows::<Product, _>(points, rows.clone(), &mut angles);
        let features = angles.chunks_exact(count).zip(out.chunks_exact_mut(2 * count));
        for (row, (angles, out)) in rows.zip(features) {
            self.finish(angles, out).map_err(|error| error.at_row(row))?;
        }
        Ok(())
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        let mut angles = zeros(1, self.frequencies.len())?;
        self.columns.sums::<Product, _>(x, &mut angles);
        self.finish(&angles, out)
    }
}
