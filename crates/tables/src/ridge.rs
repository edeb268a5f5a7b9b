//! Halfspaces with the smallest weighted squared loss; part of `TableClassifier`.

use crate::feature_rows::{Entry, FeatureRows};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::solve::{solve_in_place, solve_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par, dyn_stack::MemBuffer, dyn_stack::MemStack};
use halfspaces_linalg::{AffineHalfspace, InputError};

/// Number of rows whose products are added together.
const BLOCK: usize = 256;

/// Ridge regression with signs as targets: minimises ½‖(w, b)‖² + ½C Σ weight (y - w · x - b)² for several outputs and
/// any C.
///
/// *Cost.* For n rows of m features, the products take O(nm²) time, once for all values of C. Each C takes O(m³) time.
/// The memory is O(m²).
///
/// *Source.* Hoerl and Kennard 1970.
pub(crate) struct Ridge {
    /// The lower triangle of Σ weight (x, 1)(x, 1)ᵀ.
    gram: Mat<f64>,
    /// The sum Σ weight y (x, 1) for each output.
    products: Mat<f64>,
}

impl Ridge {
    /// Sums up the products of the `rows` of `features`. `signs` contains the signs for each output.
    pub(crate) fn new<T: Entry>(
        features: &FeatureRows<T>,
        signs: &[Vec<f64>],
        weights: &[f64],
        rows: &[usize],
    ) -> Ridge {
        let dim = features.dim() + 1;
        let mut gram = Mat::zeros(dim, dim);
        let mut products = Mat::zeros(dim, signs.len());
        for rows in rows.chunks(BLOCK) {
            // Each row becomes a column that contains its features and 1, multiplied by the root of its weight.
            let mut scaled = Mat::<f64>::zeros(dim, rows.len());
            for (&row, column) in rows.iter().zip(scaled.col_iter_mut()) {
                let root = weights[row].sqrt();
                let unit = root * f64::from(T::UNIT);
                let stored = &features.row(row).as_flattened()[..dim - 1];
                let stored = stored.iter().map(|x| unit * (*x).into());
                column.iter_mut().zip(stored.chain([root])).for_each(|(out, x)| *out = x);
            }
            let targets = Mat::from_fn(rows.len(), signs.len(), |i, output| {
                weights[rows[i]].sqrt() * signs[output][rows[i]]
            });
            let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            let (x, xt) = (scaled.as_ref(), scaled.transpose());
            triangular::matmul(gram.as_mut(), lower, Accum::Add, x, full, xt, full, 1.0, Par::Seq);
            matmul(products.as_mut(), Accum::Add, x, targets.as_ref(), 1.0, Par::Seq);
        }
        Ridge { gram, products }
    }

    /// The minimiser for C, one halfspace for each output.
    pub(crate) fn solve(&self, c: f64) -> Result<Vec<AffineHalfspace>, InputError> {
        let outputs = self.products.ncols();
        let solutions = solve_with_diagonal(&self.gram, 1.0 / c, &self.products);
        let halfspace = |output: usize| {
            let mut weights: Vec<f64> = solutions.col(output).iter().copied().collect();
            let Some(bias) = weights.pop() else {
                unreachable!("the last of the solutions is the bias")
            };
            AffineHalfspace::new(weights, bias)
        };
        (0..outputs).map(halfspace).collect()
    }
}

/// Solves (A + rI) X = B, given a positive r and the lower triangle of a positive semidefinite matrix A.
pub(crate) fn solve_with_diagonal(a: &Mat<f64>, r: f64, b: &Mat<f64>) -> Mat<f64> {
    let dim = a.nrows();
    let mut factor = a.clone();
    for j in 0..dim {
        factor[(j, j)] += r;
    }
    let scratch = cholesky_in_place_scratch::<f64>(dim, Par::Seq, Default::default())
        .or(solve_in_place_scratch::<f64>(dim, b.ncols(), Par::Seq));
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (settings, parameters) = (Default::default(), Default::default());
    let factored = cholesky_in_place(factor.as_mut(), settings, Par::Seq, stack, parameters);
    assert!(factored.is_ok(), "a sum of squares plus a positive diagonal is positive definite");
    let mut solutions = b.clone();
    solve_in_place(factor.as_ref(), solutions.as_mut(), Par::Seq, stack);
    solutions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient at the minimiser is 0, so the weight of each feature is C Σ weight (y - value) x.
    #[test]
    fn the_gradient_at_the_minimiser_is_zero() {
        let (n, dim, c) = (700, 5, 0.3);
        let x = |i: usize, j: usize| ((i * dim + j) as f32 * 12.9898).sin();
        let features = FeatureRows::<i16>::new(n, dim, |rows, out| {
            for (i, out) in rows.zip(out.chunks_exact_mut(16)) {
                (0..dim).for_each(|j| out[j] = x(i, j));
            }
            Ok(())
        });
        let features = features.unwrap().unwrap();
        let sign = |positive: bool| if positive { 1.0 } else { -1.0 };
        let signs: [Vec<f64>; 2] = [
            (0..n).map(|i| sign(x(i, 0) > x(i, 1))).collect(),
            (0..n).map(|i| sign(i % 3 == 0)).collect(),
        ];
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64).collect();
        let rows: Vec<usize> = (0..n).filter(|i| i % 5 != 2).collect();
        let ridge = Ridge::new(&features, &signs, &weights, &rows);
        for (h, signs) in ridge.solve(c).unwrap().iter().zip(&signs) {
            let mut gradient = h.weights().to_vec();
            gradient.push(h.bias());
            for &i in &rows {
                let stored = features.row(i).as_flattened()[..dim].iter();
                let mut x: Vec<f64> =
                    stored.map(|x| f64::from(*x) * f64::from(i16::UNIT)).collect();
                x.push(1.0);
                let value = x.iter().zip(h.weights()).map(|(x, w)| x * w).sum::<f64>() + h.bias();
                let loss = c * weights[i] * (signs[i] - value);
                gradient.iter_mut().zip(&x).for_each(|(g, x)| *g -= loss * x);
            }
            assert!(gradient.iter().all(|g| g.abs() < 1e-9), "{gradient:?}");
            assert!(h.weights().iter().any(|w| w.abs() > 1e-3));
        }
    }

    /// Without rows, 0 is the minimiser.
    #[test]
    fn nothing_is_learned_from_no_rows() {
        let features = FeatureRows::<f32>::new(0, 3, |_, _| Ok(())).unwrap().unwrap();
        let ridge = Ridge::new(&features, &[vec![]], &[], &[]);
        let solved = ridge.solve(1.0).unwrap();
        assert_eq!(solved, [AffineHalfspace::new(vec![0.0; 3], 0.0).unwrap()]);
    }
}
