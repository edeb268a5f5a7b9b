//! The kernel of sparse rows. Part of `LabellingSession`. Claims: none.
//!
//! K(x, z) = ½ x · z + ½ φ(x) · φ(z), where the mean squared norm of the rows is 1 and φ(x) are the coordinates of x in
//! the main directions (`spectrum`). The kernel is an inner product of explicit features. A combination Σ c_i K(·, a_i)
//! over the pool therefore costs one pass over the stored values, regardless of the number of terms.

use super::rows::{Rows, dense_dot};
use super::spectrum::Spectrum;
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{InputError, PointSet, Threads};

/// The weight of the main directions in the kernel. The rows have the remaining weight.
const SPECTRAL: f64 = 0.5;
/// Number of points that a thread processes at a time.
const BLOCK: usize = 2048;
/// The maximum norm of a row, relative to the norms of the first points. A row with a larger norm is rejected.
const MAX_NORM: f64 = 1e9;

/// The rows of a pool and their main directions.
#[derive(Debug, Clone)]
pub(super) struct TextKernel {
    rows: Rows,
    /// The factor that multiplies every row.
    factor: f64,
    spectrum: Spectrum,
    /// √½ φ(x), row by row (`mapped`), and the factor by which each row was scaled (`scales`).
    mapped: Vec<f32>,
    scales: Vec<f32>,
}

/// A function Σ c_i K(·, a_i), represented by the weights of the features.
struct Combination {
    of_columns: Vec<f32>,
    of_directions: Vec<f32>,
}

impl TextKernel {
    pub(super) fn fit<P: PointSet>(points: &P, threads: Threads) -> Result<Self, InputError> {
        let size = root_mean_square(&points.norms())?;
        let factor = (1.0 - SPECTRAL).sqrt() / size;
        let mut rows = Rows::for_points(points);
        points.rows().try_for_each(|row| rows.push(row, factor))?;
        let spectrum = Spectrum::fit(&rows, threads);
        let mut mapped = Vec::new();
        let scales = spectrum.map(&rows, 0, SPECTRAL, &mut mapped, threads)?;
        Ok(TextKernel { rows, factor, spectrum, mapped, scales })
    }

    /// Appends points. The scale and the directions remain those of the first points.
    pub(super) fn append<P: PointSet>(
        &mut self,
        points: &P,
        threads: Threads,
    ) -> Result<(), InputError> {
        InputError::check_dim(self.rows.dim(), points.dim())?;
        let limit = MAX_NORM / self.factor;
        if let Some(row) = points.norms().iter().position(|norm| *norm > limit) {
            return Err(InputError::Overflow { row });
        }
        let first = self.rows.len();
        let added = points.rows().try_for_each(|row| self.rows.push(row, self.factor));
        let added = added.and_then(|()| {
            self.spectrum.map(&self.rows, first, SPECTRAL, &mut self.mapped, threads)
        });
        match added {
            Ok(scales) => self.scales.extend(scales),
            Err(error) => {
                self.rows.truncate(first);
                return Err(error);
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Drops all points except the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.rows.truncate(len);
        self.mapped.truncate(len * self.spectrum.len());
        self.scales.truncate(len);
    }

    /// The mean number of multiplications per kernel value.
    pub(super) fn work(&self) -> usize {
        self.rows.stored() / self.len().max(1) + self.spectrum.len()
    }

    fn combine(&self, terms: impl Iterator<Item = (usize, f64)>) -> Combination {
        let mut of_columns = vec![0.0f32; self.rows.dim()];
        let mut of_directions = vec![0.0f32; self.spectrum.len()];
        for (index, factor) in terms {
            let factor = factor as f32;
            self.rows.add_to(index, factor, &mut of_columns);
            let mapped = self.mapped(index);
            of_directions.iter_mut().zip(mapped).for_each(|(sum, v)| *sum += factor * v);
        }
        Combination { of_columns, of_directions }
    }

    #[inline(always)]
    fn mapped(&self, index: usize) -> &[f32] {
        let width = self.spectrum.len();
        &self.mapped[index * width..][..width]
    }

    #[inline(always)]
    fn value(&self, index: usize, combination: &Combination) -> f32 {
        let of_directions = dense_dot(self.mapped(index), &combination.of_directions);
        self.rows.dot(index, &combination.of_columns) + of_directions
    }

    /// K(x, a) for the points x in `others`.
    pub(super) fn between(&self, a: usize, others: &[usize]) -> Vec<f64> {
        if others.is_empty() {
            return Vec::new();
        }
        let mut out = vec![0.0; others.len()];
        let combination = self.combine(std::iter::once((a, 1.0)));
        let points = others.iter().copied();
        run_wide(Values { kernel: self, combination: &combination, points, out: &mut out });
        out.into_iter().map(f64::from).collect()
    }

    /// K(x, x).
    pub(super) fn own(&self, index: usize) -> f64 {
        let (_, values) = self.rows.row(index);
        let squares = |values: &[f32]| values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
        squares(values) + squares(self.mapped(index))
    }

    /// The weights of the coordinates of a point x in Σ c_i K(x, a_i), in ascending order. The weighted sum equals the
    /// function up to a number that does not depend on the coordinates. The factor that scales φ(x) to norm 1 is
    /// treated as a constant.
    pub(super) fn weights(
        &self,
        index: usize,
        terms: impl Iterator<Item = (usize, f64)>,
    ) -> Vec<(usize, f64)> {
        let combination = self.combine(terms);
        let spectral = self.spectrum.weights(&self.rows, &combination.of_directions);
        let (columns, _) = self.rows.row(index);
        let weight = |column: &u32| {
            let column = *column as usize;
            let sum = combination.of_columns[column] + self.scales[index] * spectral[column];
            self.factor * f64::from(sum)
        };
        let mut weights: Vec<(usize, f64)> =
            self.rows.original(columns).into_iter().zip(columns.iter().map(weight)).collect();
        weights.sort_unstable_by_key(|(column, _)| *column);
        weights
    }

    /// Σ c_i K(x, a_i) for every point x of the pool.
    pub(super) fn combination(
        &self,
        terms: impl Iterator<Item = (usize, f64)>,
        threads: Threads,
    ) -> Vec<f32> {
        let combination = &self.combine(terms);
        let mut out = vec![0.0; self.len()];
        threads.map_with(
            out.chunks_mut(BLOCK).enumerate(),
            || (),
            |(), (block, out)| {
                run_wide(Values { kernel: self, combination, points: block * BLOCK.., out });
            },
        );
        out
    }
}

/// Computes the values of a combination at some points. The loop is written out because code that is not inlined is
/// compiled without the wide vector instructions.
struct Values<'a, I> {
    kernel: &'a TextKernel,
    combination: &'a Combination,
    points: I,
    out: &'a mut [f32],
}

impl<I: Iterator<Item = usize>> Wide for Values<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Values { kernel, combination, points, out } = self;
        for (out, index) in out.iter_mut().zip(points) {
            *out = kernel.value(index, combination);
        }
    }
}

/// The square root of the mean of the squares, or 1 if all squares are zero.
fn root_mean_square(norms: &[f64]) -> Result<f64, InputError> {
    if let Some(row) = norms.iter().position(|norm| !norm.is_finite()) {
        return Err(InputError::Overflow { row });
    }
    let most = norms.iter().copied().fold(0.0, f64::max);
    if most == 0.0 {
        return Ok(1.0);
    }
    let mean = norms.iter().map(|norm| (norm / most).powi(2)).sum::<f64>() / norms.len() as f64;
    Ok(most * mean.sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use halfspaces_linalg::{Points, kernels};

    /// Compares the kernel with ½ x · z / (mean ‖x‖²) + ½ c, computed in double precision, where c is the cosine of the
    /// centred rows with respect to XᵀX. The rows use 40 columns. The 45 directions, half the number of rows, therefore
    /// span all rows.
    #[test]
    fn the_kernel_is_that_of_its_definition() {
        let n = 90;
        let (points, _) = texts(n, 4);
        let kernel = TextKernel::fit(&points, Threads::ONE).unwrap();
        let row = |i: usize| &points.as_slice()[i * 500..][..500];
        let square = (0..n).map(|i| kernels::norm_sq(row(i))).sum::<f64>() / n as f64;
        let mut mean = vec![0.0; 500];
        (0..n).for_each(|i| kernels::axpy(1.0 / n as f64, row(i), &mut mean));
        let centred: Vec<Vec<f64>> =
            (0..n).map(|i| row(i).iter().zip(&mean).map(|(x, m)| x - m).collect()).collect();
        let second: Vec<Vec<f64>> =
            centred.iter().map(|x| centred.iter().map(|z| kernels::dot(x, z)).collect()).collect();
        let cosine = |i: usize, j: usize| {
            let size = |i: usize| kernels::norm_sq(&second[i]).sqrt();
            kernels::dot(&second[i], &second[j]) / (size(i) * size(j))
        };
        let all: Vec<usize> = (0..n).collect();
        for i in 0..n {
            for (j, value) in kernel.between(i, &all).into_iter().enumerate() {
                let expected = 0.5 * kernels::dot(row(i), row(j)) / square + 0.5 * cosine(i, j);
                assert!((value - expected).abs() < 1e-4, "{i} {j} {value} {expected}");
            }
            assert!((kernel.own(i) - kernel.between(i, &[i])[0]).abs() < 1e-6);
        }
        let sum = kernel.combination([(3, 0.5), (7, -2.0)].into_iter(), Threads::ONE);
        for (x, value) in sum.iter().enumerate() {
            let [a, b] = [3, 7].map(|i| kernel.between(i, &[x])[0]);
            assert!((f64::from(*value) - 0.5 * a + 2.0 * b).abs() < 1e-5);
        }
    }

    /// The work is the mean number of stored values and the number of directions, which is the number of columns in use.
    /// It does not grow with the number of points.
    #[test]
    fn the_work_is_that_of_one_value() {
        let (points, _) = texts(90, 4);
        let stored = points.as_slice().iter().filter(|v| **v != 0.0).count();
        let mut kernel = TextKernel::fit(&points, Threads::ONE).unwrap();
        assert_eq!(kernel.work(), stored / 90 + 40);
        kernel.append(&points, Threads::ONE).unwrap();
        assert_eq!(kernel.work(), stored / 90 + 40);
    }

    /// The sum of the weights times the coordinates, minus the value of the directions at the mean, equals the
    /// combination.
    #[test]
    fn weights_add_up_to_the_combination() {
        let (points, _) = texts(90, 4);
        let mut kernel = TextKernel::fit(&points, Threads::ONE).unwrap();
        kernel.append(&points, Threads::ONE).unwrap();
        let terms = || [(3, 0.5), (7, -2.0), (20, 0.25)].into_iter();
        let values = kernel.combination(terms(), Threads::ONE);
        let directions = kernel.combine(terms()).of_directions;
        let spectral = kernel.spectrum.weights(&kernel.rows, &directions);
        let at_mean = kernel.spectrum.at_mean(&kernel.rows, &spectral);
        for x in [0, 7, 50, 90, 140] {
            let weights = kernel.weights(x, terms());
            let row = &points.as_slice()[x % 90 * 500..][..500];
            let stored: Vec<usize> = (0..500).filter(|j| row[*j] != 0.0).collect();
            assert!(weights.iter().map(|(j, _)| *j).eq(stored));
            let sum: f64 = weights.iter().map(|(j, weight)| weight * row[*j]).sum();
            let sum = sum - f64::from(kernel.scales[x]) * at_mean;
            assert!((sum - f64::from(values[x])).abs() < 1e-4, "{x} {sum} {}", values[x]);
        }
        kernel.truncate(90);
        assert_eq!((kernel.len(), kernel.scales.len()), (90, 90));
    }

    #[test]
    fn rows_beyond_the_range_are_refused() {
        let (points, _) = texts(30, 4);
        let mut kernel = TextKernel::fit(&points, Threads::ONE).unwrap();
        let mut far = vec![0.0; 1000];
        far[501] = 1e12;
        let far = Points::new(far, 500).unwrap();
        let error = kernel.append(&far, Threads::ONE).unwrap_err();
        assert_eq!((error, kernel.len()), (InputError::Overflow { row: 1 }, 30));
        let huge = Points::new(vec![1e200; 600], 300).unwrap();
        assert!(TextKernel::fit(&huge, Threads::ONE).is_ok(), "the norms are finite");
        assert_eq!(root_mean_square(&[0.0, 0.0]), Ok(1.0));
        assert_eq!(root_mean_square(&[3e200, 4e200]), Ok(5e200 / 2f64.sqrt()));
    }
}
