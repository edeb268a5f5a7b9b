//! A Cholesky factor that supports adding a row and removing any row. Part of `LabellingSession`. Claims: none.
//!
//! For a positive definite matrix K = L Lᵀ, [`Factor`] keeps the lower triangular L. Adding a row and a column to K
//! takes O(n²) time, and so does removing a row and its column (Golub and Van Loan 2013, Matrix Computations, section
//! 6.5.4).

use halfspaces_linalg::kernels;

/// The factor L, stored row by row. Row i has i + 1 entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Factor {
    rows: Vec<Vec<f64>>,
}

/// A plane rotation: (x, w) becomes (cx + sw, cw - sx).
#[derive(Debug, Clone, Copy)]
pub(super) struct Rotation {
    pub(super) c: f64,
    pub(super) s: f64,
}

impl Factor {
    /// L⁻¹k.
    pub(super) fn solve(&self, k: &[f64]) -> Vec<f64> {
        let mut x = k.to_vec();
        for (i, row) in self.rows.iter().enumerate() {
            x[i] = (x[i] - kernels::dot(&row[..i], &x[..i])) / row[i];
        }
        x
    }

    /// L⁻¹e, where e is the unit vector of the coordinate `place`.
    pub(super) fn solve_unit(&self, place: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.rows.len()];
        x[place] = 1.0 / self.rows[place][place];
        for (i, row) in self.rows.iter().enumerate().skip(place + 1) {
            x[i] = -kernels::dot(&row[place..i], &x[place..i]) / row[i];
        }
        x
    }

    /// L⁻ᵀh.
    pub(super) fn solve_transposed(&self, h: &[f64]) -> Vec<f64> {
        let mut x = h.to_vec();
        for (i, row) in self.rows.iter().enumerate().rev() {
            x[i] /= row[i];
            let v = x[i];
            kernels::axpy(-v, &row[..i], &mut x[..i]);
        }
        x
    }

    /// Appends a row; `diagonal` is its last entry.
    pub(super) fn push(&mut self, mut row: Vec<f64>, diagonal: f64) {
        row.push(diagonal);
        self.rows.push(row);
    }

    /// Removes a row and its column from K. Returns the rotations that the caller applies to a further row of the
    /// factor, which is stored elsewhere. Let w be the entry of that row at `place`. Rotation j applies to the entry at
    /// `place` + 1 + j and to w, in this order. Afterwards w is dropped.
    pub(super) fn remove(&mut self, place: usize) -> Vec<Rotation> {
        self.rows.remove(place);
        let later = &mut self.rows[place..];
        let mut spare: Vec<f64> = later.iter_mut().map(|row| row.remove(place)).collect();
        let mut rotations = Vec::with_capacity(spare.len());
        for j in 0..spare.len() {
            let at = place + j;
            let (a, b) = (later[j][at], spare[j]);
            let size = a.hypot(b);
            let rotation = Rotation { c: a / size, s: b / size };
            for (row, w) in later[j..].iter_mut().zip(&mut spare[j..]) {
                rotation.apply(&mut row[at], w);
            }
            rotations.push(rotation);
        }
        rotations
    }
}

impl Rotation {
    #[inline(always)]
    pub(super) fn apply(self, x: &mut f64, w: &mut f64) {
        (*x, *w) = (self.c * *x + self.s * *w, self.c * *w - self.s * *x);
    }

    #[inline(always)]
    pub(super) fn apply_single(self, x: &mut f32, w: &mut f32) {
        let (c, s) = (self.c as f32, self.s as f32);
        (*x, *w) = (c * *x + s * *w, c * *w - s * *x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize) -> Vec<Vec<f64>> {
        let entry = |i: usize, j: usize| {
            let distance = i.abs_diff(j) as f64;
            1.0 / (1.0 + distance) + if i == j { 0.2 } else { 0.0 }
        };
        (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
    }

    fn factor(matrix: &[Vec<f64>]) -> Factor {
        let mut factor = Factor::default();
        for (i, row) in matrix.iter().enumerate() {
            let x = factor.solve(&row[..i]);
            let rest = row[i] - x.iter().map(|v| v * v).sum::<f64>();
            factor.push(x, rest.sqrt());
        }
        factor
    }

    #[test]
    fn a_factor_without_a_row_is_that_of_the_smaller_matrix() {
        for place in [0, 3, 7] {
            let mut matrix = matrix(8);
            let mut smaller = factor(&matrix);
            let further = smaller.solve(&[1.0, 0.5, -0.2, 0.3, 0.7, 0.1, 0.0, 0.4]);
            let rotations = smaller.remove(place);
            matrix.remove(place);
            for row in &mut matrix {
                row.remove(place);
            }
            let expected = factor(&matrix);
            for (a, b) in smaller.rows.iter().flatten().zip(expected.rows.iter().flatten()) {
                assert!((a - b).abs() < 1e-12);
            }
            // The rotations turn one more row of the larger factor into a row of the smaller factor.
            let mut row = further;
            let mut w = row.remove(place);
            rotations.iter().zip(&mut row[place..]).for_each(|(r, x)| r.apply(x, &mut w));
            let mut k = vec![1.0, 0.5, -0.2, 0.3, 0.7, 0.1, 0.0, 0.4];
            k.remove(place);
            assert!(row.iter().zip(expected.solve(&k)).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn both_triangles_are_solved() {
        let matrix = matrix(6);
        let factor = factor(&matrix);
        for place in 0..6 {
            let mut unit = vec![0.0; 6];
            unit[place] = 1.0;
            let h = factor.solve(&unit);
            assert!(h.iter().zip(factor.solve_unit(place)).all(|(a, b)| (a - b).abs() < 1e-14));
            let column = factor.solve_transposed(&h);
            for (i, row) in matrix.iter().enumerate() {
                assert!((kernels::dot(row, &column) - unit[i]).abs() < 1e-12);
            }
        }
    }
}
