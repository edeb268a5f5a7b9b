//! Kernel values in single precision, for dense rows.
//!
//! Distances are computed as sums of differences. Sums of products, as in `products.rs`, would lose most digits of the
//! distance between two points that are close to each other.

use crate::{Distance, FeatureMap, KernelValues};
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{InputError, PointSet, exp_neg_single};
use std::array;

/// The number of rows and the number of centres in a tile. The sums of a tile fit into the registers.
const ROWS: usize = 4;
const CENTRES: usize = 16;

/// The number of centres whose kernel values are compared between the two precisions, and the largest difference
/// allowed.
const CHECKED_CENTRES: usize = 32;
const ACCURACY: f64 = 1e-6;

/// A single-precision version of the [`KernelValues`] map. The kernel values have errors of about 1e-7.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SingleKernel {
    distance: Distance,
    inverse_scale: f32,
    /// The median of the centres in each coordinate, which is subtracted from every point before rounding.
    origin: Vec<f64>,
    /// The centres, tile by tile. A tile stores its centres coordinate by coordinate. The last tile is padded with
    /// zeros.
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
        // The inverse must be finite, so that equal points have the value 1 at every scale.
        let inverse_scale = (1.0 / kernel.scale()).min(f64::from(f32::MAX)) as f32;
        SingleKernel { distance: kernel.distance(), inverse_scale, origin, tiles, count }
    }

    /// Whether the kernel values of the first [`CHECKED_CENTRES`] centres agree with those of `values`. The two differ
    /// if the centres lie much closer to each other than to 0. In that case, the double-precision values lose most
    /// digits of the distances, because they are computed from products of points.
    pub(crate) fn is_accurate(&self, values: &KernelValues) -> Result<bool, InputError> {
        let centres = values.centres();
        let rows = centres.len().min(CHECKED_CENTRES);
        let mut double = vec![0.0; rows * self.count];
        values.map_rows(centres, 0..rows, &mut double)?;
        let mut single = vec![0.0; rows * self.count];
        self.values(&centres.as_slice()[..rows * centres.dim()], &mut single, self.count);
        let agree = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() <= ACCURACY;
        Ok(single.iter().zip(&double).all(agree))
    }

    /// Writes the kernel values of each row with all centres to `out`, whose rows have length `width`.
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

/// Rounds a value of a scaled column to single precision. The values of scaled columns are at most the square root of
/// the number of rows, so the result is finite.
fn rounded(value: f64) -> f32 {
    let single = value as f32;
    assert!(single.is_finite(), "columns are scaled");
    single
}

/// Computes the kernel values of some rows, compiled for the vector instructions that the processor supports.
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
                    *value = exp_neg_single(*value * of.inverse_scale);
                }
            }
        }
    }
}

/// The distances between R rows and a tile of centres.
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
    use crate::RadialKernel;
    use halfspaces_linalg::{Points, RngStream, rng_for};
    use rand_distr::{Distribution, StandardNormal};

    fn gaussian(n: usize, dim: usize, seed: u64) -> Points {
        let mut rng = rng_for(RngStream::CALLER, seed);
        let value = |_| 3.0 * Distribution::<f64>::sample(&StandardNormal, &mut rng);
        Points::new((0..n * dim).map(value).collect(), dim).unwrap()
    }

    /// The largest difference from the values in double precision. The rows of the output are one number longer than
    /// needed, to check that the extra number is left unchanged.
    fn largest_error(points: &Points, centres: Points, kernel: RadialKernel) -> f64 {
        let width = centres.len() + 1;
        let double = KernelValues::new(centres, kernel).unwrap();
        let mut found = vec![7.0; points.len() * width];
        SingleKernel::new(&double).values(points.as_slice(), &mut found, width);
        let expected = double.apply(points).unwrap();
        let mut largest: f64 = 0.0;
        for (found, row) in found.chunks(width).zip(expected.as_slice().chunks(width - 1)) {
            assert_eq!(found[width - 1], 7.0);
            for (found, value) in found.iter().zip(row) {
                largest = largest.max((f64::from(*found) - value).abs());
            }
        }
        largest
    }

    #[test]
    fn values_agree_with_double_precision() {
        for (rows, count, dim) in
            [(1, 1, 1), (3, 15, 2), (4, 16, 3), (5, 17, 1), (9, 33, 8), (21, 40, 60)]
        {
            let points = gaussian(rows, dim, 1);
            let centres = gaussian(count, dim, 2);
            for distance in [Distance::SquaredEuclidean, Distance::Manhattan] {
                for width in [0.5, 3.0] {
                    let scale = width * distance.median(&centres, 1).unwrap();
                    let kernel = RadialKernel::new(distance, scale).unwrap();
                    let error = largest_error(&points, centres.clone(), kernel);
                    assert!(error < 3e-7, "{rows} {count} {dim}: {error}");
                }
            }
        }
    }

    /// If the points lie near 10³, distances of 10⁻³ that are computed from products have a relative error of 10⁻⁷. If
    /// the points lie near 10⁴, the relative error is 10⁻⁵.
    #[test]
    fn values_far_from_0_disagree() {
        for (far, accurate) in [(0.0, true), (1e3, true), (1e4, false), (1e6, false)] {
            let row = |i: i32| [far + 1e-3 * f64::from(i), 0.0];
            let points = Points::from_rows(&(0..40).map(row).collect::<Vec<_>>()).unwrap();
            let kernel = RadialKernel::gaussian(1e-3).unwrap();
            let values = KernelValues::new(points, kernel).unwrap();
            assert_eq!(SingleKernel::new(&values).is_accurate(&values).unwrap(), accurate, "{far}");
        }
    }

    /// Most rows are close to each other and far from 0. Equal points have the value 1 at every scale.
    #[test]
    fn close_points_are_distinguished() {
        let row = |i: i32| [1000.0 + f64::from(i) * 1e-6, -3.0];
        let mut rows: Vec<[f64; 2]> = (0..40).map(row).collect();
        rows.push([0.0, 5.0]);
        let points = Points::from_rows(&rows).unwrap();
        let kernel = RadialKernel::laplacian(1e-5).unwrap();
        assert!(largest_error(&points, points.clone(), kernel) < 1e-5);
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
