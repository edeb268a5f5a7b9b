//! Kernel values in single precision: of table rows, whose features are kept in less.

use halfspaces_features::{Distance, FeatureMap, KernelValues};
use halfspaces_kernels::{Wide, run_wide};
use halfspaces_linalg::{InputError, PointSet, exp_neg_single};
use std::array;

/// Rows and centres of a tile, whose sums stay in registers.
const ROWS: usize = 4;
const CENTRES: usize = 16;

/// Centres that are compared in both precisions, and how far apart these values may be.
const COMPARED: usize = 32;
const NEAR: f64 = 1e-6;

/// The values of a [`KernelValues`] map, each off by some 1e-7: distances are summed up from differences, not from products,
/// of which little is left where points are close.
pub(crate) struct SingleKernel {
    distance: Distance,
    inverse: f32,
    /// Per coordinate the median of the centres, which is taken off before rounding.
    origin: Vec<f64>,
    /// Tile by tile, in each by coordinate; filled up with zeros.
    tiles: Vec<[f32; CENTRES]>,
    count: usize,
}

impl SingleKernel {
    pub(crate) fn new(values: &KernelValues) -> SingleKernel {
        let centres = values.centres();
        let (count, dim) = (centres.len(), centres.dim());
        let mut origin = Vec::with_capacity(dim);
        for j in 0..dim {
            let mut column: Vec<f64> =
                centres.as_slice().iter().skip(j).step_by(dim).copied().collect();
            let (_, median, _) = column.select_nth_unstable_by(count / 2, f64::total_cmp);
            origin.push(*median);
        }
        let mut tiles = vec![[0.0; CENTRES]; count.div_ceil(CENTRES) * dim];
        for (k, centre) in centres.as_slice().chunks_exact(dim).enumerate() {
            let tile = &mut tiles[k / CENTRES * dim..][..dim];
            for ((lanes, z), origin) in tile.iter_mut().zip(centre).zip(&origin) {
                lanes[k % CENTRES] = rounded(z - origin);
            }
        }
        let kernel = values.kernel();
        // Finite, so that equal points have the value 1 at every scale.
        let inverse = (1.0 / kernel.scale()).min(f64::from(f32::MAX)) as f32;
        SingleKernel { distance: kernel.distance(), inverse, origin, tiles, count }
    }

    /// Whether the values of the first centres are those of `values`: in double precision products of points leave little of
    /// distances that are much smaller than the points.
    pub(crate) fn is_near(&self, values: &KernelValues) -> Result<bool, InputError> {
        let centres = values.centres();
        let rows = centres.len().min(COMPARED);
        let mut double = vec![0.0; rows * self.count];
        values.map_rows(centres, 0..rows, &mut double)?;
        let mut single = vec![0.0; rows * self.count];
        self.values(&centres.as_slice()[..rows * centres.dim()], &mut single, self.count);
        let is_near = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() <= NEAR;
        Ok(single.iter().zip(&double).all(is_near))
    }

    /// The values of rows with all centres, to rows of `width`.
    pub(crate) fn values(&self, rows: &[f64], out: &mut [f32], width: usize) {
        let dim = self.origin.len();
        let mut single = Vec::with_capacity(rows.len());
        for row in rows.chunks_exact(dim) {
            single.extend(row.iter().zip(&self.origin).map(|(x, origin)| rounded(x - origin)));
        }
        let rows = &single;
        match self.distance {
            Distance::SquaredEuclidean => {
                run_wide(Values {
                    of: self,
                    rows,
                    out,
                    width,
                    term: |difference| difference * difference,
                });
            }
            Distance::Manhattan => {
                run_wide(Values {
                    of: self,
                    rows,
                    out,
                    width,
                    term: |difference: f32| difference.abs(),
                });
            }
        }
    }
}

/// Columns of one scale are at most as large as the root of their number.
fn rounded(value: f64) -> f32 {
    let single = value as f32;
    assert!(single.is_finite(), "columns on one scale");
    single
}

/// Compiled for the vector instructions that the processor turns out to have.
struct Values<'a, F> {
    of: &'a SingleKernel,
    rows: &'a [f32],
    out: &'a mut [f32],
    width: usize,
    term: F,
}

impl<F: Fn(f32) -> f32> Wide for Values<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Values { of, rows, out, width, term } = self;
        let dim = of.origin.len();
        for (rows, out) in rows.chunks(ROWS * dim).zip(out.chunks_mut(ROWS * width)) {
            for (index, tile) in of.tiles.chunks_exact(dim).enumerate() {
                let first = index * CENTRES;
                let count = CENTRES.min(of.count - first);
                let mut store = |row: usize, sums: [f32; CENTRES]| {
                    out[row * width + first..][..count].copy_from_slice(&sums[..count]);
                };
                if rows.len() == ROWS * dim {
                    let sums = distances::<ROWS>(tile, rows, &term);
                    sums.into_iter().enumerate().for_each(|(row, sums)| store(row, sums));
                } else {
                    for (row, x) in rows.chunks_exact(dim).enumerate() {
                        let [sums] = distances::<1>(tile, x, &term);
                        store(row, sums);
                    }
                }
            }
            for out in out.chunks_exact_mut(width) {
                for value in &mut out[..of.count] {
                    *value = exp_neg_single(*value * of.inverse);
                }
            }
        }
    }
}

#[inline(always)]
fn distances<const R: usize>(
    tile: &[[f32; CENTRES]],
    rows: &[f32],
    term: &impl Fn(f32) -> f32,
) -> [[f32; CENTRES]; R] {
    let dim = tile.len();
    let rows: [&[f32]; R] = array::from_fn(|row| &rows[row * dim..][..dim]);
    let mut sums = [[0.0; CENTRES]; R];
    for i in 0..dim {
        let z = &tile[i];
        for (sums, x) in sums.iter_mut().zip(rows) {
            for (sum, z) in sums.iter_mut().zip(z) {
                *sum += term(x[i] - *z);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Gaussian, Marginal};
    use halfspaces_features::RadialKernel;
    use halfspaces_linalg::Points;

    /// The largest difference to the values in double precision, written to rows one longer than they need be.
    fn off(points: &Points, centres: Points, kernel: RadialKernel) -> f64 {
        let width = centres.len() + 1;
        let double = KernelValues::new(centres, kernel).unwrap();
        let mut found = vec![7.0; points.len() * width];
        SingleKernel::new(&double).values(points.as_slice(), &mut found, width);
        let expected = double.apply(points).unwrap();
        let mut most: f64 = 0.0;
        for (found, row) in found.chunks(width).zip(expected.as_slice().chunks(width - 1)) {
            assert_eq!(found[width - 1], 7.0);
            for (found, value) in found.iter().zip(row) {
                most = most.max((f64::from(*found) - value).abs());
            }
        }
        most
    }

    #[test]
    fn values_are_those_in_double_precision() {
        for (rows, count, dim) in
            [(1, 1, 1), (3, 15, 2), (4, 16, 3), (5, 17, 1), (9, 33, 8), (21, 40, 60)]
        {
            let points = Gaussian::new(dim, 3.0).unwrap().sample(rows, 1).unwrap();
            let centres = Gaussian::new(dim, 3.0).unwrap().sample(count, 2).unwrap();
            for distance in [Distance::SquaredEuclidean, Distance::Manhattan] {
                for width in [0.5, 3.0] {
                    let scale = width * distance.median(&centres, 1).unwrap();
                    let kernel = RadialKernel::new(distance, scale).unwrap();
                    let off = off(&points, centres.clone(), kernel);
                    assert!(off < 3e-7, "{rows} {count} {dim}: {off}");
                }
            }
        }
    }

    /// Products of points at 10^3 leave distances of 10^-3 to 10^-7 of themselves, at 10^4 to 10^-5.
    #[test]
    fn values_of_points_far_out_are_not_near() {
        for (far, near) in [(0.0, true), (1e3, true), (1e4, false), (1e6, false)] {
            let row = |i: i32| [far + 1e-3 * f64::from(i), 0.0];
            let points = Points::from_rows(&(0..40).map(row).collect::<Vec<_>>()).unwrap();
            let kernel = RadialKernel::gaussian(1e-3).unwrap();
            let values = KernelValues::new(points, kernel).unwrap();
            assert_eq!(SingleKernel::new(&values).is_near(&values).unwrap(), near, "{far}");
        }
    }

    /// Where almost all rows are close to each other and far from 0; of equal points the value is 1 at every scale.
    #[test]
    fn close_points_are_told_apart() {
        let row = |i: i32| [1000.0 + f64::from(i) * 1e-6, -3.0];
        let mut rows: Vec<[f64; 2]> = (0..40).map(row).collect();
        rows.push([0.0, 5.0]);
        let points = Points::from_rows(&rows).unwrap();
        let kernel = RadialKernel::laplacian(1e-5).unwrap();
        assert!(off(&points, points.clone(), kernel) < 1e-5);
        for kernel in [RadialKernel::laplacian(1e-300), RadialKernel::gaussian(1e-300)] {
            let values = KernelValues::new(points.clone(), kernel.unwrap()).unwrap();
            let mut found = vec![0.0; 41 * 41];
            SingleKernel::new(&values).values(points.as_slice(), &mut found, 41);
            for (i, row) in found.chunks(41).enumerate() {
                for (j, value) in row.iter().enumerate() {
                    assert_eq!(*value, if i == j { 1.0 } else { 0.0 }, "{i} {j}");
                }
            }
        }
    }
}
