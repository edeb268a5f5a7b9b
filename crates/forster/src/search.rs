//! The passes of the search for a heavy subspace ([`crate::heavy`]). Every result is small, and the results of blocks of
//! rows are joined as described in [`halfspaces_linalg::Partial`].
//!
//! 1. A histogram of the energy ratios of the rows: how clearly a row points away from a candidate subspace.
//! 2. For chosen rows, their weight and the triangle R of a QR factorisation of these rows, from which the coordinator
//!    computes their span; and the number of rows by which the choice differs from an earlier one.
//!
//! The triangles are joined by factorising one on top of the other, so no product XᵀX is computed, and the condition
//! number is not squared.

use crate::dense::qr_triangle;
use crate::pass::Buffers;
use crate::prepare::largest_size;
use crate::tile::Factor;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_linalg::{InputError, Points, Sum, kernels, zeros};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Number of rows in a block of a long product or factorisation.
const BLOCK: usize = 512;
/// Number of low bits of a ratio that do not affect its bin: bins have a relative width of at most 1/64.
const BIN_SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - 6;

/// A choice among the rows of a level.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Chosen {
    All,
    /// The rows whose energy ratio for the `top` leading directions is at most `most`.
    Along {
        top: usize,
        most: f64,
    },
    /// The rows at a relative distance of at most `tolerance` from the span of the orthonormal columns of `basis`.
    Within {
        basis: Points,
        tolerance: f64,
    },
}

/// The leading singular directions of a transform, for the energy ratios of rows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Directions {
    /// The rows of AV, whose columns are in the order of descending singular values.
    columns: Points,
    /// The size of a rounding error across the subspace, squared.
    floor: f64,
}

impl Directions {
    /// The directions for the rows of AV, where A has this condition number.
    pub(crate) fn new(columns: Points, condition: f64) -> Directions {
        let across = f64::EPSILON * condition;
        Directions { columns, floor: across * across }
    }

    /// The rows of AV.
    pub(crate) fn columns(&self) -> &Points {
        &self.columns
    }

    /// The ratio of the energy of a transformed row along the `top` leading directions, which are orthogonal to the
    /// candidate subspace, to its energy along the others. Each energy is raised to at least the size of its possible
    /// rounding error.
    fn ratio(&self, u: &[f64], top: usize) -> f64 {
        let (across, along) = u.split_at(top);
        let along = kernels::norm_sq(along).max(f64::EPSILON * f64::EPSILON);
        kernels::norm_sq(across).max(self.floor) / along
    }
}

/// A choice, and an earlier choice with which it is compared.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Choice {
    pub(crate) chosen: Chosen,
    pub(crate) before: Chosen,
}

/// A pass of the search.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SearchPass {
    pub(crate) directions: Option<Directions>,
    /// The numbers of leading directions for which histograms are computed.
    pub(crate) tops: Vec<usize>,
    pub(crate) choices: Vec<Choice>,
}

/// The rows of a bin of a [`Histogram`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Bin {
    pub(crate) weight: f64,
    /// The smallest and the largest ratio.
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// A histogram of energy ratios, keyed by the leading bits of the ratios, so that the bins are in ascending order.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Histogram(BTreeMap<u64, Bin>);

impl Histogram {
    /// The bins, in ascending order.
    pub(crate) fn bins(&self) -> Vec<Bin> {
        self.0.values().copied().collect()
    }

    fn add(&mut self, key: u64, other: Bin) {
        match self.0.entry(key) {
            Entry::Vacant(place) => {
                place.insert(other);
            }
            Entry::Occupied(mut place) => {
                let bin = place.get_mut();
                bin.weight += other.weight;
                bin.least = bin.least.min(other.least);
                bin.most = bin.most.max(other.most);
            }
        }
    }
}

/// The result for chosen rows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ChosenSum {
    /// The weight of the chosen rows.
    pub(crate) weight: f64,
    /// Number of rows in exactly one of the two choices.
    pub(crate) changed: u64,
    /// The upper triangle R of the chosen rows, row by row; empty if no row is chosen.
    triangle: Vec<f64>,
}

impl ChosenSum {
    /// The triangle R of a QR factorisation of the chosen rows X, where each row is first divided by its largest entry;
    /// `None` if no row is chosen. RᵀR = XᵀX, so R has the singular values of X.
    pub(crate) fn triangle(&self, dim: usize) -> Option<Mat<f64>> {
        (!self.triangle.is_empty()).then(|| unpacked(&self.triangle, dim))
    }
}

/// The result of a [`SearchPass`] for some blocks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SearchSum {
    pub(crate) rows: u64,
    dim: usize,
    pub(crate) histograms: Vec<Histogram>,
    pub(crate) chosen: Vec<ChosenSum>,
}

impl SearchSum {
    /// Whether this is the result of `pass` on rows of dimension `dim`.
    pub(crate) fn is_of(&self, pass: &SearchPass, dim: usize) -> bool {
        self.dim == dim
            && self.histograms.len() == pass.tops.len()
            && self.chosen.len() == pass.choices.len()
            && self.has_triangles()
    }

    fn has_triangles(&self) -> bool {
        let size = self.dim * (self.dim + 1) / 2;
        self.chosen.iter().all(|sum| sum.triangle.is_empty() || sum.triangle.len() == size)
    }
}

impl Sum for SearchSum {
    fn fits(&self, other: &SearchSum) -> bool {
        let sizes = |sum: &SearchSum| (sum.dim, sum.histograms.len(), sum.chosen.len());
        sizes(self) == sizes(other) && self.has_triangles() && other.has_triangles()
    }

    fn add(&mut self, later: SearchSum) {
        self.rows += later.rows;
        for (histogram, later) in self.histograms.iter_mut().zip(later.histograms) {
            later.0.into_iter().for_each(|(key, bin)| histogram.add(key, bin));
        }
        for (sum, later) in self.chosen.iter_mut().zip(later.chosen) {
            sum.weight += later.weight;
            sum.changed += later.changed;
            sum.triangle = match (sum.triangle.is_empty(), later.triangle.is_empty()) {
                (true, _) => later.triangle,
                (_, true) => std::mem::take(&mut sum.triangle),
                _ => {
                    let dim = self.dim;
                    let both = [unpacked(&sum.triangle, dim), unpacked(&later.triangle, dim)];
                    packed(&qr_triangle(Mat::from_fn(2 * dim, dim, |i, j| {
                        both[i / dim][(i % dim, j)]
                    })))
                }
            };
        }
    }
}

fn packed(triangle: &Mat<f64>) -> Vec<f64> {
    let dim = triangle.ncols();
    (0..dim).flat_map(|i| (i..dim).map(move |j| triangle[(i, j)])).collect()
}

fn unpacked(packed: &[f64], dim: usize) -> Mat<f64> {
    // Row i begins after the rows before it, which have dim, dim - 1, ... numbers.
    Mat::from_fn(dim, dim, |i, j| if i <= j { packed[i * dim - i * (i + 1) / 2 + j] } else { 0.0 })
}

/// A pass that is ready to run on blocks.
pub(crate) struct Search<'a> {
    pass: &'a SearchPass,
    factor: Option<Factor>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(pass: &'a SearchPass) -> Search<'a> {
        let along = |chosen: &Chosen| matches!(chosen, Chosen::Along { .. });
        let of = |choice: &Choice| along(&choice.chosen) || along(&choice.before);
        let needed = !pass.tops.is_empty() || pass.choices.iter().any(of);
        let directions = pass.directions.as_ref().filter(|_| needed);
        Search { pass, factor: directions.map(|d| Factor::new(d.columns.as_mat())) }
    }

    /// The result for a block of rows of dimension `dim`.
    pub(crate) fn of_block(
        &self,
        buffers: &mut Buffers,
        values: &[f64],
        weights: &[f64],
        dim: usize,
    ) -> Result<SearchSum, InputError> {
        let n = weights.len();
        let mut unit = Vec::new();
        if let Some(factor) = &self.factor {
            unit = zeros(n, dim)?;
            buffers.unit_rows(values, factor, &mut unit);
        }
        let histograms = self.pass.tops.iter().map(|top| self.histogram(&unit, weights, dim, *top));
        let histograms = histograms.collect();
        let of_choice = |choice: &Choice| {
            let chosen = self.rows_of(&choice.chosen, &unit, values, dim)?;
            let before = self.rows_of(&choice.before, &unit, values, dim)?;
            let changed = chosen.iter().zip(&before).filter(|(a, b)| a != b).count() as u64;
            let rows: Vec<usize> = (0..n).filter(|i| chosen[*i]).collect();
            let weight = rows.iter().fold(0.0, |sum, i| sum + weights[*i]);
            let triangle = triangle_of(values, dim, &rows);
            Ok(ChosenSum { weight, changed, triangle: triangle.as_ref().map_or(vec![], packed) })
        };
        let chosen = self.pass.choices.iter().map(of_choice).collect::<Result<_, InputError>>()?;
        Ok(SearchSum { rows: n as u64, dim, histograms, chosen })
    }

    /// The ratios of rows that were transformed by AV.
    fn ratios(&self, unit: &[f64], dim: usize, top: usize) -> impl Iterator<Item = f64> {
        let directions = self.pass.directions.iter();
        directions.flat_map(move |d| unit.chunks_exact(dim).map(move |u| d.ratio(u, top)))
    }

    fn histogram(&self, unit: &[f64], weights: &[f64], dim: usize, top: usize) -> Histogram {
        let mut histogram = Histogram::default();
        for (ratio, weight) in self.ratios(unit, dim, top).zip(weights) {
            let bin = Bin { weight: *weight, least: ratio, most: ratio };
            histogram.add(ratio.to_bits() >> BIN_SHIFT, bin);
        }
        histogram
    }

    /// For every row, whether it is chosen.
    fn rows_of(
        &self,
        chosen: &Chosen,
        unit: &[f64],
        values: &[f64],
        dim: usize,
    ) -> Result<Vec<bool>, InputError> {
        Ok(match chosen {
            Chosen::All => vec![true; values.len() / dim],
            Chosen::Along { top, most } => {
                self.ratios(unit, dim, *top).map(|ratio| ratio <= *most).collect()
            }
            Chosen::Within { basis, tolerance } => {
                let residuals = residuals(values, dim, basis.as_mat())?;
                residuals.into_iter().map(|residual| residual <= *tolerance).collect()
            }
        })
    }
}

/// The triangle R of the chosen rows, computed block by block; `None` if no row is chosen.
pub(crate) fn triangle_of(values: &[f64], dim: usize, chosen: &[usize]) -> Option<Mat<f64>> {
    let mut triangle = Mat::<f64>::zeros(0, dim);
    for block in chosen.chunks(BLOCK.max(2 * dim)) {
        let top = triangle.nrows();
        let rows: Vec<&[f64]> = block.iter().map(|i| &values[i * dim..(i + 1) * dim]).collect();
        let sizes: Vec<f64> = rows.iter().map(|row| largest_size(row)).collect();
        let stacked = Mat::from_fn(top + block.len(), dim, |i, j| match i.checked_sub(top) {
            None => triangle[(i, j)],
            Some(i) => rows[i][j] / sizes[i],
        });
        triangle = qr_triangle(stacked);
    }
    (!chosen.is_empty()).then_some(triangle)
}

/// The relative residual ‖x - VVᵀx‖/‖x‖ of every row, for the orthonormal columns of V.
fn residuals(values: &[f64], dim: usize, basis: MatRef<'_, f64>) -> Result<Vec<f64>, InputError> {
    let k = basis.ncols();
    let mut residuals = Vec::with_capacity(values.len() / dim);
    let mut along = zeros(BLOCK, k)?;
    let mut outside = zeros(BLOCK, dim)?;
    for x in values.chunks(BLOCK * dim) {
        let n = x.len() / dim;
        let (along, outside) = (&mut along[..n * k], &mut outside[..n * dim]);
        outside.copy_from_slice(x);
        let x_mat = MatRef::from_row_major_slice(x, n, dim);
        let out = MatMut::from_row_major_slice_mut(along, n, k);
        matmul(out, Accum::Replace, x_mat, basis, 1.0, Par::Seq);
        let along = MatRef::from_row_major_slice(along, n, k);
        let out = MatMut::from_row_major_slice_mut(outside, n, dim);
        matmul(out, Accum::Add, along, basis.transpose(), -1.0, Par::Seq);
        let pairs = outside.chunks_exact(dim).zip(x.chunks_exact(dim));
        residuals.extend(pairs.map(|(r, x)| (kernels::norm_sq(r) / kernels::norm_sq(x)).sqrt()));
    }
    Ok(residuals)
}

/// A step from the rows of one level to those of the next: the rows near the span of the orthonormal columns of `basis`,
/// in the coordinates of this basis.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Narrowing {
    pub(crate) basis: Points,
    /// The largest relative residual of a row that is kept; without it, all rows are kept.
    pub(crate) tolerance: Option<f64>,
}

impl Narrowing {
    /// The indices of the rows that are kept, and these rows in the coordinates of the basis.
    pub(crate) fn apply(&self, values: &[f64]) -> Result<(Vec<usize>, Vec<f64>), InputError> {
        let (dim, k) = self.basis.as_mat().shape();
        let mut kept: Vec<usize> = (0..values.len() / dim).collect();
        let mut inside = Vec::new();
        if let Some(tolerance) = self.tolerance {
            let residuals = residuals(values, dim, self.basis.as_mat())?;
            kept.retain(|i| residuals[*i] <= tolerance);
            kept.iter().for_each(|i| inside.extend_from_slice(&values[i * dim..(i + 1) * dim]));
        }
        let from = if self.tolerance.is_some() { &inside } else { values };
        let mut projected = zeros(kept.len(), k)?;
        let out = MatMut::from_row_major_slice_mut(&mut projected, kept.len(), k);
        let x = MatRef::from_row_major_slice(from, kept.len(), dim);
        matmul(out, Accum::Replace, x, self.basis.as_mat(), 1.0, Par::Seq);
        Ok((kept, projected))
    }
}

/// The rows of a block that remain after some steps: their indices, and the rows in the coordinates of the last step.
pub(crate) fn narrowed<'a>(
    steps: &[Narrowing],
    values: &'a [f64],
    dim: usize,
) -> Result<(Vec<usize>, Cow<'a, [f64]>), InputError> {
    let mut held: Vec<usize> = (0..values.len() / dim).collect();
    let mut values = Cow::Borrowed(values);
    for step in steps {
        let (kept, projected) = step.apply(&values)?;
        held = kept.into_iter().map(|i| held[i]).collect();
        values = Cow::Owned(projected);
    }
    Ok((held, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::svd;
    use halfspaces_data::{Excess, HeavyCase, HeavyKind};

    fn sum_of(values: &[f64], dim: usize, pass: &SearchPass) -> SearchSum {
        let mut buffers = Buffers::new(dim).unwrap();
        let weights = vec![1.0; values.len() / dim];
        Search::new(pass).of_block(&mut buffers, values, &weights, dim).unwrap()
    }

    #[test]
    fn triangles_hold_the_singular_values() {
        let case = HeavyCase::new(HeavyKind::Elliptical, 5, 2, 1500, Excess::OnePoint, 4).unwrap();
        let values = case.points().as_slice();
        let row = |i: usize| &values[i * 5..(i + 1) * 5];
        let choice = Choice { chosen: Chosen::All, before: Chosen::All };
        let pass = SearchPass { directions: None, tops: vec![], choices: vec![choice] };
        let whole = sum_of(values, 5, &pass);
        // Two parts that are joined have the same singular values.
        let mut joined = sum_of(&values[..5 * 700], 5, &pass);
        joined.add(sum_of(&values[5 * 700..], 5, &pass));
        assert_eq!(
            (joined.rows, joined.chosen[0].weight, joined.chosen[0].changed),
            (1500, 1500.0, 0)
        );
        let long = Mat::from_fn(1500, 5, |i, j| row(i)[j] / largest_size(row(i)));
        let (long, _) = svd(long.as_ref()).unwrap();
        for sum in [whole, joined] {
            let (short, _) = svd(sum.chosen[0].triangle(5).unwrap().as_ref()).unwrap();
            assert!(short.iter().zip(&long).all(|(a, b)| (a - b).abs() < 1e-11 * long[0]));
        }
    }

    #[test]
    fn choices_are_counted_and_compared() {
        let basis = Points::from_rows(&[[1.0], [0.0]]).unwrap();
        let within = |tolerance| Chosen::Within { basis: basis.clone(), tolerance };
        let choice = Choice { chosen: within(1e-3), before: within(1e-6) };
        let none = Choice { chosen: within(-1.0), before: Chosen::All };
        let pass = SearchPass { directions: None, tops: vec![], choices: vec![choice, none] };
        let values = [1.0, 0.0, 2.0, 2e-4, 0.0, 1.0];
        let sum = sum_of(&values, 2, &pass);
        assert_eq!((sum.chosen[0].weight, sum.chosen[0].changed), (2.0, 1));
        assert_eq!((sum.chosen[1].weight, sum.chosen[1].changed), (0.0, 3));
        assert!(sum.chosen[1].triangle(2).is_none() && sum.is_of(&pass, 2) && !sum.is_of(&pass, 3));
        let narrowing = Narrowing { basis, tolerance: Some(1e-3) };
        assert_eq!(narrowing.apply(&values).unwrap(), (vec![0, 1], vec![1.0, 2.0]));
        let all = Narrowing { tolerance: None, ..narrowing };
        assert_eq!(all.apply(&values).unwrap(), (vec![0, 1, 2], vec![1.0, 2.0, 0.0]));
    }

    #[test]
    fn histograms_are_those_of_all_rows() {
        let columns = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let directions = Some(Directions::new(columns, 1e3));
        let pass = SearchPass { directions, tops: vec![1], choices: vec![] };
        // The ratios are 1/4, 1/4 and, because a rounding error may be as large, the square of 1000 times 2^-52.
        let values = [1.0, 2.0, 2.0, 4.0, 0.0, 1.0];
        let sum = sum_of(&values, 2, &pass);
        let floor = (1e3 * f64::EPSILON).powi(2);
        let bins = sum.histograms[0].bins();
        assert_eq!(bins[0], Bin { weight: 1.0, least: floor, most: floor });
        assert_eq!(bins[1].weight, 2.0);
        assert!(bins[1].least <= 0.25 && 0.25 <= bins[1].most && bins[1].most < 0.2501);
        let mut joined = sum_of(&values[..2], 2, &pass);
        joined.add(sum_of(&values[2..], 2, &pass));
        assert_eq!(joined, sum);
    }
}
