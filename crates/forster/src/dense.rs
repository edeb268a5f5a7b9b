//! Small dense factorisations and products, single-threaded and with typed errors: thin wrappers around the functions
//! of faer.
//!
//! faer's operators and its `self_adjoint_eigen` and `svd` take their number of threads from a global variable, whose
//! default is all cores. In this crate the caller specifies the threads ([`halfspaces_linalg::Threads`]), and no result
//! may depend on their number. The wrappers therefore call the lower-level functions of faer, with one thread.
//! Operators that involve no matrix product are used directly.

use crate::error::ForsterError;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as reflect_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as reflect,
};
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::{
    qr_in_place, qr_in_place_scratch, recommended_block_size,
};
use faer::linalg::svd::{ComputeSvdVectors, svd as faer_svd, svd_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Col, Conj, Mat, MatRef, Par, unzip, zip};
use halfspaces_linalg::{InputError, Points};

/// The eigenvalues of a symmetric matrix, in ascending order, and its eigenvectors, as columns.
pub(crate) fn eigen(m: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), ForsterError> {
    eigen_once(m).or_else(|_| eigen_turned(m))
}

fn eigen_turned(m: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), ForsterError> {
    let h = reflection(m.nrows());
    let turned = product(product(h.as_ref(), m).as_ref(), h.as_ref());
    let (values, vectors) = eigen_once(turned.as_ref())?;
    Ok((values, product(h.as_ref(), vectors.as_ref())))
}

fn eigen_once(m: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), ForsterError> {
    let dim = m.nrows();
    let failure = ForsterError::NoConvergence { dim };
    if !m.is_all_finite() {
        return Err(failure);
    }
    let (with, params) = (ComputeEigenvectors::Yes, Default::default());
    let mut memory = MemBuffer::new(self_adjoint_evd_scratch::<f64>(dim, with, Par::Seq, params));
    let (mut values, mut vectors) = (Diag::zeros(dim), Mat::zeros(dim, dim));
    let stack = MemStack::new(&mut memory);
    self_adjoint_evd(m, values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, params)
        .map_err(|_| failure)?;
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// The eigenvalues of a symmetric matrix, in ascending order.
pub(crate) fn eigenvalues(m: MatRef<'_, f64>) -> Result<Vec<f64>, ForsterError> {
    let dim = m.nrows();
    if !m.is_all_finite() {
        return Err(ForsterError::NoConvergence { dim });
    }
    let (without, params) = (ComputeEigenvectors::No, Default::default());
    let mut memory =
        MemBuffer::new(self_adjoint_evd_scratch::<f64>(dim, without, Par::Seq, params));
    let mut values = Diag::zeros(dim);
    let stack = MemStack::new(&mut memory);
    match self_adjoint_evd(m, values.as_mut(), None, Par::Seq, stack, params) {
        Ok(()) => Ok(values.column_vector().iter().copied().collect()),
        Err(_) => eigen(m).map(|(values, _)| values),
    }
}

/// The singular values of a matrix, in descending order, and its right singular vectors, as columns.
pub(crate) fn svd(m: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), ForsterError> {
    svd_once(m).or_else(|_| svd_turned(m))
}

fn svd_turned(m: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), ForsterError> {
    let h = reflection(m.ncols());
    let (values, right) = svd_once(product(m, h.as_ref()).as_ref())?;
    Ok((values, product(h.as_ref(), right.as_ref())))
}

fn svd_once(m: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), ForsterError> {
    let (rows, columns) = m.shape();
    let failure = ForsterError::NoConvergence { dim: columns };
    if !m.is_all_finite() {
        return Err(failure);
    }
    let (left, right) = (ComputeSvdVectors::No, ComputeSvdVectors::Thin);
    let params = Default::default();
    let scratch = svd_scratch::<f64>(rows, columns, left, right, Par::Seq, params);
    let mut memory = MemBuffer::new(scratch);
    let size = rows.min(columns);
    let (mut values, mut vectors) = (Diag::zeros(size), Mat::zeros(columns, size));
    let stack = MemStack::new(&mut memory);
    faer_svd(m, values.as_mut(), None, Some(vectors.as_mut()), Par::Seq, stack, params)
        .map_err(|_| failure)?;
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// The reflection I - 2 v vᵀ/‖v‖² for v = (1, 2, ..., d). On a few matrices that have many zeros and pairs of equal
/// singular values (triangles of one-hot rows), faer's iteration converges only after this reflection.
fn reflection(dim: usize) -> Mat<f64> {
    let norm_sq: f64 = (1..=dim).map(|i| (i * i) as f64).sum();
    Mat::from_fn(dim, dim, |i, j| {
        f64::from(u8::from(i == j)) - 2.0 * ((i + 1) * (j + 1)) as f64 / norm_sq
    })
}

/// The rows of a matrix as points.
pub(crate) fn rows_of(m: MatRef<'_, f64>) -> Result<Points, InputError> {
    Points::new(m.row_iter().flat_map(|row| row.iter().copied()).collect(), m.ncols())
}

/// The product a b.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// The matrix Q f(λ) Qᵀ for eigenvalues λ and eigenvectors Q.
pub(crate) fn spectral(
    values: &[f64],
    vectors: MatRef<'_, f64>,
    f: impl Fn(f64) -> f64,
) -> Mat<f64> {
    let scaled = vectors * Col::from_fn(values.len(), |j| f(values[j])).as_diagonal();
    product(scaled.as_ref(), vectors.transpose())
}

/// Replaces m = QR by R and, below its diagonal, the vectors of the reflections whose product is Q. Returns their
/// coefficients.
fn reflections(m: &mut Mat<f64>) -> Mat<f64> {
    let (rows, columns) = m.shape();
    let block = recommended_block_size::<f64>(rows, columns);
    let mut coefficients = Mat::zeros(block, rows.min(columns));
    let scratch = qr_in_place_scratch::<f64>(rows, columns, block, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    qr_in_place(m.as_mut(), coefficients.as_mut(), Par::Seq, stack, Default::default());
    coefficients
}

/// The upper triangle R of m = QR. The triangle is square even if m has fewer rows than columns.
pub(crate) fn qr_triangle(mut m: Mat<f64>) -> Mat<f64> {
    let (rows, columns) = m.shape();
    reflections(&mut m);
    Mat::from_fn(columns, columns, |i, j| if i <= j && i < rows { m[(i, j)] } else { 0.0 })
}

/// The singular values of a matrix with n rows and more columns, in descending order, and its first n right singular
/// vectors, as columns. The vectors are Q times the right singular vectors of Rᵀ, where mᵀ = QR, so the memory is
/// proportional to the size of m.
pub(crate) fn svd_of_wide(m: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), ForsterError> {
    let (rows, columns) = m.shape();
    let mut factors = m.transpose().to_owned();
    let coefficients = reflections(&mut factors);
    let lower = Mat::from_fn(rows, rows, |i, j| if i >= j { factors[(j, i)] } else { 0.0 });
    let (values, right) = svd(lower.as_ref())?;
    let mut vectors = Mat::zeros(columns, rows);
    vectors.subrows_mut(0, rows).copy_from(&right);
    let mut memory =
        MemBuffer::new(reflect_scratch::<f64>(columns, coefficients.nrows(), vectors.ncols()));
    let stack = MemStack::new(&mut memory);
    let (factors, coefficients) = (factors.as_ref(), coefficients.as_ref());
    reflect(factors, coefficients, Conj::No, vectors.as_mut(), Par::Seq, stack);
    fix_signs(&mut vectors);
    Ok((values, vectors))
}

/// Makes the largest entry of each column positive, so that the signs do not depend on the order of the rows that were
/// factorised. Among entries that are equal up to rounding, the first one counts.
fn fix_signs(m: &mut Mat<f64>) {
    const NEARLY: f64 = 1.0 - 1e-8;
    for j in 0..m.ncols() {
        let largest = m.col(j).iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let first = m.col(j).iter().find(|v| v.abs() >= NEARLY * largest).copied();
        if first.is_some_and(|v| v < 0.0) {
            m.col_mut(j).iter_mut().for_each(|v| *v = -*v);
        }
    }
}

/// The lower triangle L with L Lᵀ = m mᵀ. L is m times a rotation, which does not change the norm of any row of X m.
/// Each row is accurate relative to its own length, so the condition number is not squared.
pub(crate) fn lower_factor(m: MatRef<'_, f64>) -> Mat<f64> {
    qr_triangle(m.transpose().to_owned()).transpose().to_owned()
}

/// The inverse of a lower triangle with a non-zero diagonal.
pub(crate) fn inverse_lower(lower: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(lower.nrows(), lower.ncols());
    invert_lower_triangular(out.as_mut(), lower, Par::Seq);
    out
}

/// An upper triangle V with V Vᵀ = m, and the lower triangle C = V⁻ᵀ, so that C Cᵀ = m⁻¹; `None` if m is not positive
/// definite.
pub(crate) fn inverse_lower_factor(m: MatRef<'_, f64>) -> Option<(Mat<f64>, Mat<f64>)> {
    let dim = m.nrows();
    // The Cholesky factor of m with its rows and columns in reverse order.
    let end = |i: usize| dim - 1 - i;
    let mut l = Mat::from_fn(dim, dim, |i, j| m[(end(i), end(j))]);
    let scratch = cholesky_in_place_scratch::<f64>(dim, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(l.as_mut(), Default::default(), Par::Seq, stack, Default::default()).ok()?;
    let lower = Mat::from_fn(dim, dim, |i, j| if i >= j { l[(i, j)] } else { 0.0 });
    let inverse = inverse_lower(lower.as_ref());
    let upper = Mat::from_fn(dim, dim, |i, j| lower[(end(i), end(j))]);
    let factor =
        Mat::from_fn(dim, dim, |i, j| if i >= j { inverse[(end(j), end(i))] } else { 0.0 });
    factor.is_all_finite().then_some((upper, factor))
}

/// The inner product Σ a_ij b_ij.
pub(crate) fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    let columns = a.col_iter().zip(b.col_iter());
    columns.map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>()).sum()
}

/// Computes target += factor * m.
pub(crate) fn add(target: &mut Mat<f64>, factor: f64, m: &Mat<f64>) {
    zip!(target, m).for_each(|unzip!(target, m)| *target += factor * m);
}

/// The first and the last of sorted values; for eigenvalues, the smallest and the largest.
#[expect(clippy::expect_used, reason = "a matrix of a level has at least one row and column")]
pub(crate) fn extremes(values: &[f64]) -> (f64, f64) {
    let ends = values.first().copied().zip(values.last().copied());
    ends.expect("a spectrum has at least one value")
}

/// Divides the matrix by its largest absolute value, so that no square of an entry overflows.
pub(crate) fn scale_to_unit(m: &mut Mat<f64>) {
    let largest = m.norm_max();
    if largest > 0.0 && largest.is_finite() {
        for j in 0..m.ncols() {
            m.col_mut(j).iter_mut().for_each(|v| *v /= largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(rows: usize, columns: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| ((3 * i + 7 * j + i * j) % 11) as f64 - 4.5)
    }

    fn distance(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
        (a - b).norm_max()
    }

    #[test]
    fn factors_reconstruct_their_matrix() {
        let m = example(9, 5);
        let gram = product(m.transpose(), m.as_ref());
        let (values, vectors) = eigen(gram.as_ref()).unwrap();
        assert!(values.is_sorted());
        let alone = eigenvalues(gram.as_ref()).unwrap();
        assert!(values.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-11));
        assert!(
            distance(spectral(&values, vectors.as_ref(), |v| v).as_ref(), gram.as_ref()) < 1e-11
        );
        let (singular, right) = svd(m.as_ref()).unwrap();
        assert!(singular.iter().zip(values.iter().rev()).all(|(s, v)| (s * s - v).abs() < 1e-11));
        assert!(
            distance(
                product(right.transpose(), right.as_ref()).as_ref(),
                Mat::identity(5, 5).as_ref()
            ) < 1e-13
        );
        let r = qr_triangle(m);
        assert!(distance(product(r.transpose(), r.as_ref()).as_ref(), gram.as_ref()) < 1e-11);
        // If there are fewer rows than columns, the triangle is still square.
        let wide = example(3, 5);
        let r = qr_triangle(wide.clone());
        assert_eq!(r.shape(), (5, 5));
        let gram = product(wide.transpose(), wide.as_ref());
        assert!(distance(product(r.transpose(), r.as_ref()).as_ref(), gram.as_ref()) < 1e-11);
    }

    #[test]
    fn wide_matrices_have_the_singular_vectors_of_all_columns() {
        for (rows, columns) in [(1, 4), (4, 9), (40, 41), (30, 200)] {
            let m =
                Mat::from_fn(rows, columns, |i, j| ((3 * i + 7 * j + i * j * j) % 11) as f64 - 4.5);
            let (values, right) = svd_of_wide(m.as_ref()).unwrap();
            assert_eq!((values.len(), right.shape()), (rows, (columns, rows)));
            let one = product(right.transpose(), right.as_ref());
            assert!(distance(one.as_ref(), Mat::identity(rows, rows).as_ref()) < 1e-13);
            // The rows lie in the span, and the Gram matrix of their coordinates is diagonal.
            let along = product(m.as_ref(), right.as_ref());
            let again = product(along.as_ref(), right.transpose());
            assert!(distance(again.as_ref(), m.as_ref()) < 1e-12 * values[0]);
            let squares = product(along.transpose(), along.as_ref());
            let expected = Mat::from_fn(rows, rows, |i, j| f64::from(i == j) * values[i].powi(2));
            assert!(distance(squares.as_ref(), expected.as_ref()) < 1e-11 * values[0].powi(2));
        }
    }

    #[test]
    fn the_order_of_rows_does_not_change_the_singular_vectors() {
        let m = example(4, 9);
        let (_, vectors) = svd_of_wide(m.as_ref()).unwrap();
        for order in [[1, 0, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]] {
            let turned = Mat::from_fn(4, 9, |i, j| m[(order[i], j)]);
            let (_, again) = svd_of_wide(turned.as_ref()).unwrap();
            assert!(distance(vectors.as_ref(), again.as_ref()) < 1e-10, "{order:?}");
        }
    }

    #[test]
    fn lower_factors_and_their_inverses() {
        let m = example(5, 5);
        let lower = lower_factor(m.as_ref());
        let squares = product(lower.as_ref(), lower.transpose());
        assert!(distance(squares.as_ref(), product(m.as_ref(), m.transpose()).as_ref()) < 1e-11);
        let inverse = inverse_lower(lower.as_ref());
        let one = product(lower.as_ref(), inverse.as_ref());
        let m = example(9, 5);
        let squares = product(m.transpose(), m.as_ref());
        let (upper, factor) = inverse_lower_factor(squares.as_ref()).unwrap();
        for i in 0..5 {
            assert!((i + 1..5).all(|j| upper[(j, i)] == 0.0 && factor[(i, j)] == 0.0));
        }
        let again = product(upper.as_ref(), upper.transpose());
        assert!(distance(again.as_ref(), squares.as_ref()) < 1e-11);
        let transposed = product(upper.transpose(), factor.as_ref());
        assert!(distance(transposed.as_ref(), Mat::identity(5, 5).as_ref()) < 1e-10);
        let indefinite = Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 });
        assert!(inverse_lower_factor(indefinite.as_ref()).is_none());
        assert!(distance(one.as_ref(), Mat::identity(5, 5).as_ref()) < 1e-10);
    }

    #[test]
    fn matrices_that_do_not_converge_are_turned_and_give_the_same() {
        let m = example(9, 5);
        let gram = product(m.transpose(), m.as_ref());
        let (values, vectors) = eigen_turned(gram.as_ref()).unwrap();
        let rebuilt = spectral(&values, vectors.as_ref(), |v| v);
        assert!(distance(rebuilt.as_ref(), gram.as_ref()) < 1e-11);
        let (singular, right) = svd_turned(m.as_ref()).unwrap();
        let squares: Vec<f64> = singular.iter().map(|s| s * s).collect();
        let rebuilt = spectral(&squares, right.as_ref(), |v| v);
        assert!(distance(rebuilt.as_ref(), gram.as_ref()) < 1e-11);
    }

    #[test]
    fn values_that_are_not_finite_are_refused() {
        let nan = Mat::from_fn(2, 2, |_, _| f64::NAN);
        assert_eq!(eigen(nan.as_ref()), Err(ForsterError::NoConvergence { dim: 2 }));
        assert_eq!(svd(nan.as_ref()), Err(ForsterError::NoConvergence { dim: 2 }));
    }
}
