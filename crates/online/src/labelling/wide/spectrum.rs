//! The main directions of sparse rows. Part of `LabellingSession`. Claims: none.
//!
//! Let X be the matrix of the centred rows of a sample, and U a basis of the span of the main left singular vectors of
//! X. A row x is mapped to φ(x) = UᵀX(x - mean), scaled to norm 1. Apart from directions outside the basis, φ(x) · φ(z)
//! is the cosine of the rows x and z with respect to XᵀX. Two texts are therefore similar if they are similar to the
//! same texts, even if they share no word. This is latent semantic analysis (Deerwester, Dumais, Furnas, Landauer and
//! Harshman 1990) with each direction weighted by its singular value. U comes from a few steps of subspace iteration;
//! only its span matters.

use super::rows::Rows;
use halfspaces_linalg::{InputError, Threads, kernels, reserve};

/// Number of directions.
const DIRECTIONS: usize = 256;
/// The number of steps of subspace iteration.
const STEPS: usize = 3;
/// The maximum numbers of rows and of stored values in the sample, and the minimum number of rows.
const MAX_SAMPLE: usize = 8000;
const MAX_STORED: usize = 3_000_000;
const MIN_SAMPLE: usize = 500;
/// Number of directions that are computed together.
const TOGETHER: usize = 16;
/// Number of rows that a thread maps at a time.
const BLOCK: usize = 1024;

/// The basis, and the rows of the pool from which it was computed.
#[derive(Debug, Clone)]
pub(super) struct Spectrum {
    sample: Vec<usize>,
    /// The vectors of the basis.
    basis: Vec<Vec<f64>>,
}

impl Spectrum {
    /// Computes the basis from a sample of evenly spaced rows.
    pub(super) fn fit(rows: &Rows, threads: Threads) -> Spectrum {
        let mean = (rows.stored() / rows.len().max(1)).max(1);
        let most = (MAX_STORED / mean).clamp(MIN_SAMPLE, MAX_SAMPLE);
        let sample: Vec<usize> =
            (0..rows.len()).step_by(rows.len().div_ceil(most).max(1)).collect();
        let n = sample.len();
        // With more directions than half the number of rows, the basis would fit individual rows instead of what the
        // rows have in common.
        let count = DIRECTIONS.min(n / 2);
        let mut basis: Vec<Vec<f64>> = (0..count)
            .map(|k| {
                let mut unit = vec![0.0; n];
                unit[k * n / count] = 1.0;
                unit
            })
            .collect();
        for _ in 0..STEPS {
            basis = products_with_gram(rows, &sample, &basis, threads);
            orthonormalise(&mut basis);
        }
        Spectrum { sample, basis }
    }

    /// Number of directions.
    pub(super) fn len(&self) -> usize {
        self.basis.len()
    }

    /// Appends √weight φ(x) to `mapped`, row by row, for the rows x beginning with row `first`. Returns the factor that
    /// scaled each row.
    ///
    /// # Errors
    /// [`InputError::TooLarge`]; in this case `mapped` is unchanged.
    pub(super) fn map(
        &self,
        rows: &Rows,
        first: usize,
        weight: f64,
        mapped: &mut Vec<f32>,
        threads: Threads,
    ) -> Result<Vec<f32>, InputError> {
        let width = self.len();
        if width == 0 {
            return Ok(vec![0.0; rows.len() - first]);
        }
        let before = mapped.len();
        reserve(mapped, (rows.len() - first).saturating_mul(width))?;
        mapped.resize(before + (rows.len() - first) * width, 0.0);
        let mapped = &mut mapped[before..];
        for (chunk, basis) in self.basis.chunks(TOGETHER).enumerate() {
            let of_columns = transposed_product(rows, &self.sample, basis);
            let offset = mean_product(rows, &self.sample, &of_columns, basis.len());
            let tasks = mapped.chunks_mut(BLOCK * width).enumerate();
            threads.map_with(
                tasks,
                || (),
                |(), (block, mapped)| {
                    for (i, out) in mapped.chunks_exact_mut(width).enumerate() {
                        let out = &mut out[chunk * TOGETHER..][..basis.len()];
                        out.iter_mut().zip(&offset).for_each(|(o, v)| *o = -v);
                        add_product(rows, first + block * BLOCK + i, &of_columns, out);
                    }
                },
            );
        }
        let scaled = mapped.chunks_exact_mut(width).map(|row| {
            /// A row whose norm is below this value has no direction.
            const MIN_NORM: f64 = 1e-6;
            let norm = row.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            let factor = if norm > MIN_NORM { weight.sqrt() / norm } else { 0.0 };
            row.iter_mut().for_each(|v| *v = (f64::from(*v) * factor) as f32);
            factor as f32
        });
        Ok(scaled.collect())
    }

    /// The weights of the columns of x in w · UᵀX(x - mean), for a vector w.
    pub(super) fn weights(&self, rows: &Rows, vector: &[f32]) -> Vec<f32> {
        let mut of_sample = vec![0.0; self.sample.len()];
        for (v, basis) in vector.iter().zip(&self.basis) {
            kernels::axpy(f64::from(*v), basis, &mut of_sample);
        }
        transposed_product(rows, &self.sample, &[of_sample])
    }

    /// The value, at the mean row, of the linear function with these column weights.
    #[cfg(test)]
    pub(super) fn at_mean(&self, rows: &Rows, weights: &[f32]) -> f64 {
        f64::from(mean_product(rows, &self.sample, weights, 1)[0])
    }
}

/// XᵀU for the uncentred rows of the sample: for each column, one value for each vector of U.
fn transposed_product(rows: &Rows, sample: &[usize], basis: &[Vec<f64>]) -> Vec<f32> {
    let width = basis.len();
    let mut of_columns = vec![0.0f32; rows.dim() * width];
    let mut weights = vec![0.0f32; width];
    for (place, index) in sample.iter().enumerate() {
        weights.iter_mut().zip(basis).for_each(|(w, vector)| *w = vector[place] as f32);
        let (columns, values) = rows.row(*index);
        for (column, value) in columns.iter().zip(values) {
            let sums = &mut of_columns[*column as usize * width..][..width];
            sums.iter_mut().zip(&weights).for_each(|(s, w)| *s += value * w);
        }
    }
    of_columns
}

/// The mean, over the rows of the sample, of the product of the row with a matrix that has one row for each column.
fn mean_product(rows: &Rows, sample: &[usize], of_columns: &[f32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0f64; width];
    let mut product = vec![0.0f32; width];
    for index in sample {
        product.fill(0.0);
        add_product(rows, *index, of_columns, &mut product);
        sums.iter_mut().zip(&product).for_each(|(s, v)| *s += f64::from(*v));
    }
    sums.iter().map(|s| (s / sample.len() as f64) as f32).collect()
}

/// Adds the product of a row with a matrix that has one row for each column.
fn add_product(rows: &Rows, index: usize, of_columns: &[f32], to: &mut [f32]) {
    let width = to.len();
    let (columns, values) = rows.row(index);
    for (column, value) in columns.iter().zip(values) {
        let row = &of_columns[*column as usize * width..][..width];
        to.iter_mut().zip(row).for_each(|(t, v)| *t += value * v);
    }
}

/// XXᵀ times each vector, for the centred rows X of the sample.
fn products_with_gram(
    rows: &Rows,
    sample: &[usize],
    basis: &[Vec<f64>],
    threads: Threads,
) -> Vec<Vec<f64>> {
    let centred: Vec<Vec<f64>> = basis.iter().map(|vector| centre(vector.clone())).collect();
    let chunks = threads.map_with(
        centred.chunks(TOGETHER),
        || (),
        |(), basis| {
            let width = basis.len();
            let of_columns = transposed_product(rows, sample, basis);
            let mut products = vec![vec![0.0; sample.len()]; width];
            let mut of_row = vec![0.0f32; width];
            for (place, index) in sample.iter().enumerate() {
                of_row.fill(0.0);
                add_product(rows, *index, &of_columns, &mut of_row);
                products.iter_mut().zip(&of_row).for_each(|(p, v)| p[place] = f64::from(*v));
            }
            products.into_iter().map(centre).collect::<Vec<_>>()
        },
    );
    chunks.into_iter().flatten().collect()
}

fn centre(mut vector: Vec<f64>) -> Vec<f64> {
    let mean = vector.iter().sum::<f64>() / vector.len() as f64;
    vector.iter_mut().for_each(|v| *v -= mean);
    vector
}

/// Orthonormalises the vectors by Gram-Schmidt, applied twice, and drops those that depend on the preceding ones.
fn orthonormalise(basis: &mut Vec<Vec<f64>>) {
    /// A vector counts as dependent on the preceding vectors if at most this fraction of its norm is left.
    const MIN_REST: f64 = 1e-5;
    let mut done: Vec<Vec<f64>> = Vec::with_capacity(basis.len());
    for mut vector in basis.drain(..) {
        let before = kernels::norm_sq(&vector).sqrt();
        for _ in 0..2 {
            for other in &done {
                let product = kernels::dot(&vector, other);
                kernels::axpy(-product, other, &mut vector);
            }
        }
        let norm = kernels::norm_sq(&vector).sqrt();
        if norm > MIN_REST * before {
            vector.iter_mut().for_each(|v| *v /= norm);
            done.push(vector);
        }
    }
    *basis = done;
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use halfspaces_linalg::{PointSet, Points};

    fn rows(points: &Points) -> Rows {
        let mut rows = Rows::for_points(points);
        points.rows().for_each(|row| rows.push(row, 1.0).unwrap());
        rows
    }

    /// The basis is orthonormal and spans the main directions: the part of the squared norm that the basis keeps is
    /// nearly the largest possible.
    #[test]
    fn the_basis_spans_the_main_directions() {
        let (points, _) = texts(60, 1);
        let rows = rows(&points);
        let spectrum = Spectrum::fit(&rows, Threads::ONE);
        assert_eq!((spectrum.len(), spectrum.sample.len()), (30, 60));
        for (i, a) in spectrum.basis.iter().enumerate() {
            assert!(a.iter().sum::<f64>().abs() < 1e-6);
            for (j, b) in spectrum.basis.iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((kernels::dot(a, b) - expected).abs() < 1e-9);
            }
        }
        let kept = |basis: &[Vec<f64>]| -> f64 {
            let products = products_with_gram(&rows, &spectrum.sample, basis, Threads::ONE);
            basis.iter().zip(products).map(|(a, b)| kernels::dot(a, &b)).sum()
        };
        let mut better = spectrum.basis.clone();
        for _ in 0..100 {
            better = products_with_gram(&rows, &spectrum.sample, &better, Threads::ONE);
            orthonormalise(&mut better);
        }
        assert!(kept(&spectrum.basis) > 0.98 * kept(&better));
    }

    #[test]
    fn equal_rows_have_few_directions() {
        let values = (0..40).flat_map(|i| [f64::from(i % 3), 1.0, 0.0]).collect();
        let spectrum = Spectrum::fit(&rows(&Points::new(values, 3).unwrap()), Threads::ONE);
        assert_eq!(spectrum.len(), 1);
        let same = rows(&Points::new(vec![2.0; 40], 2).unwrap());
        let spectrum = Spectrum::fit(&same, Threads::ONE);
        let mut mapped = Vec::new();
        spectrum.map(&same, 0, 0.5, &mut mapped, Threads::ONE).unwrap();
        assert!(mapped.iter().all(|v| *v == 0.0));
    }

    /// Each row of a table of several blocks has the image of the same row in a small table.
    #[test]
    fn rows_of_every_block_are_mapped() {
        let (points, _) = texts(60, 1);
        let few = rows(&points);
        let mut many = Rows::for_points(&points);
        (0..BLOCK + 70).for_each(|i| many.push(points.row(i % 60).unwrap(), 1.0).unwrap());
        let spectrum = Spectrum::fit(&few, Threads::ONE);
        let map = |rows: &Rows, first| {
            let mut mapped = Vec::new();
            let factors = spectrum.map(rows, first, 1.0, &mut mapped, Threads::ONE).unwrap();
            (mapped, factors)
        };
        let (expected, expected_factors) = map(&few, 0);
        let (found, factors) = map(&many, 10);
        let width = spectrum.len();
        assert_eq!(factors.len(), BLOCK + 60);
        for (i, (row, factor)) in found.chunks_exact(width).zip(&factors).enumerate() {
            let same = (i + 10) % 60;
            assert_eq!(row, &expected[same * width..][..width], "row {i}");
            assert_eq!(*factor, expected_factors[same], "row {i}");
        }
    }
}
