//! The features of a pool. Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use super::change::Change;
use halfspaces_features::{
    Distance, FeatureMap, Nystroem, RadialKernel, Ranks, ZScore, choose_landmarks,
};
use halfspaces_linalg::{InputError, PointSet, Points, Threads, reserve};

/// The widths of the Gaussian kernels of standardised columns and the log prior weight of each kernel. The kernels are
/// K(x, z) = exp(-‖x - z‖²/(width² M)), where M is the median squared distance.
const GAUSSIAN: [(f64, f64); 4] = [(0.25, -6.0), (0.5, -3.0), (1.0, -1.0), (2.0, 0.0)];
/// The widths and log prior weights of the Laplacian kernels of ranks, K(x, z) = exp(-‖x - z‖₁/(width M)). Like
/// decision trees, these kernels can represent step functions, and they do not depend on the scale of a column.
const LAPLACIAN: [(f64, f64); 2] = [(1.0, -1.0), (2.0, 0.0)];
/// Number of kernels.
pub(super) const KERNELS: usize = GAUSSIAN.len() + LAPLACIAN.len();
/// The width of the kernel that replaces the columns if there are more than [`MAX_COLUMNS`] columns.
const WIDE: f64 = 4.0;
pub(super) const MAX_COLUMNS: usize = 256;
/// Number of points mapped at a time.
const BLOCK: usize = 1024;

/// The columns, or the kernel features that replace the columns.
#[derive(Debug, Clone)]
enum Columns {
    /// The number of columns, and its square root, by which the standardised columns are divided.
    All(usize, f64),
    Wide(Box<Nystroem>),
}

/// The feature maps of a pool, which are fitted to its first points. Points that are added later are mapped in the same
/// way.
#[derive(Debug, Clone)]
pub(super) struct PoolMaps {
    scale: ZScore,
    ranks: Ranks,
    columns: Columns,
    /// First the kernels of standardised columns, then the kernels of ranks.
    kernels: Vec<Nystroem>,
    /// `None` if there are too many columns.
    squares: Option<Squares>,
}

/// The squares of the standardised columns. The squares are standardised in turn. They separate classes that differ in
/// spread but not in location.
#[derive(Debug, Clone)]
struct Squares {
    means: Vec<f64>,
    /// One over the standard deviations; 0 for a column whose square is constant.
    scales: Vec<f64>,
    /// Square root of the number of columns whose squares are not constant.
    root: f64,
}

impl Squares {
    fn fit(sample: &Points) -> Squares {
        /// A squared column whose standard deviation is below this value is constant up to rounding.
        const MIN_DEVIATION: f64 = 1e-6;
        let (n, dim) = (sample.len() as f64, sample.dim());
        let (mut means, mut seconds) = (vec![0.0; dim], vec![0.0; dim]);
        for row in sample.as_slice().chunks_exact(dim) {
            for ((mean, second), v) in means.iter_mut().zip(&mut seconds).zip(row) {
                *mean += v * v / n;
                *second += v * v * v * v / n;
            }
        }
        let scales: Vec<f64> = means
            .iter()
            .zip(seconds)
            .map(|(mean, second)| {
                let deviation = (second - mean * mean).max(0.0).sqrt();
                if deviation > MIN_DEVIATION { 1.0 / deviation } else { 0.0 }
            })
            .collect();
        let count = scales.iter().filter(|scale| **scale > 0.0).count();
        Squares { means, scales, root: (count.max(1) as f64).sqrt() }
    }

    fn map(&self, row: &[f64]) -> Vec<f64> {
        /// The standardised squares are capped at this many standard deviations.
        const MAX_SQUARE: f64 = 3.0;
        let pairs = self.means.iter().zip(&self.scales);
        row.iter()
            .zip(pairs)
            .map(|(v, (mean, scale))| ((v * v - mean) * scale).min(MAX_SQUARE) / self.root)
            .collect()
    }
}

/// The feature rows of a pool. A row contains the constant 1, the columns, the features of each kernel and the squares.
/// The rows are stored as `f32`, and all computations use the stored values.
#[derive(Debug, Clone, Default)]
pub(super) struct Features {
    rows: Vec<f32>,
    /// Number of features.
    width: usize,
    /// Number of features in the head: the constant and the columns.
    head: usize,
    /// The index range of the features of each kernel, and the index range of the squared columns.
    blocks: Vec<(usize, usize)>,
    /// ‖z‖ of each point, where z is the vector of its stored columns multiplied by `lift`.
    norms: Vec<f64>,
    /// For each point, 1 - ‖φ‖² for each kernel and 0 for the squares. This is the prior variance of the part of the
    /// point that the landmarks do not represent.
    unseen: Vec<f32>,
    lift: f64,
}

impl PoolMaps {
    pub(super) fn fit<P: PointSet>(
        points: &P,
        landmarks: usize,
        seed: u64,
    ) -> Result<PoolMaps, InputError> {
        let scale = ZScore::fit(points)?;
        let ranks = Ranks::fit(points)?;
        let landmarks = choose_landmarks(points, landmarks, seed)?;
        let (scaled, ranked) = (scale.apply(&landmarks)?, ranks.apply(&landmarks)?);
        // The size of the sample from which the median is computed.
        const MEDIAN_OF: usize = 1000;
        let some: Vec<usize> =
            (0..points.len()).step_by(points.len().div_ceil(MEDIAN_OF).max(1)).collect();
        let sample = points.select(&some)?;
        let some = scale.apply(&sample)?;
        let median = Distance::SquaredEuclidean.median(&some, seed)?;
        let median_of_ranks = Distance::Manhattan.median(&ranks.apply(&sample)?, seed)?;
        let gaussian = |width: f64| {
            Nystroem::new(scaled.clone(), RadialKernel::gaussian(width * width * median)?)
        };
        let laplacian = |width: f64| {
            Nystroem::new(ranked.clone(), RadialKernel::laplacian(width * median_of_ranks)?)
        };
        let dim = points.dim();
        let (columns, squares) = if dim <= MAX_COLUMNS {
            let columns = Columns::All(dim, (dim as f64).sqrt());
            (columns, Some(Squares::fit(&some)))
        } else {
            (Columns::Wide(Box::new(gaussian(WIDE)?)), None)
        };
        let kernels = GAUSSIAN
            .into_iter()
            .map(|(width, _)| gaussian(width))
            .chain(LAPLACIAN.into_iter().map(|(width, _)| laplacian(width)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(PoolMaps { scale, ranks, columns, kernels, squares })
    }

    /// The log prior weight of each block of features other than the columns.
    pub(super) fn log_priors(&self) -> Vec<f64> {
        let kernels = GAUSSIAN.into_iter().chain(LAPLACIAN).map(|(_, prior)| prior);
        kernels.chain(self.squares.iter().map(|_| 0.0)).collect()
    }

    /// Appends the features of `points`.
    pub(super) fn append<P: PointSet>(
        &self,
        points: &P,
        features: &mut Features,
        threads: Threads,
    ) -> Result<(), InputError> {
        let (head, lift) = match &self.columns {
            Columns::All(dim, root) => (1 + dim, *root),
            Columns::Wide(map) => (1 + map.output_dim(), 1.0),
        };
        (features.head, features.lift) = (head, lift);
        let mut end = head;
        features.blocks.clear();
        for map in &self.kernels {
            features.blocks.push((end, end + map.output_dim()));
            end += map.output_dim();
        }
        if let Some(squares) = &self.squares {
            features.blocks.push((end, end + squares.scales.len()));
            end += squares.scales.len();
        }
        features.width = end;
        reserve(&mut features.rows, points.len().saturating_mul(end))?;
        let indices: Vec<usize> = (0..points.len()).collect();
        for block in indices.chunks(BLOCK) {
            let block = points.select(block)?;
            let scaled = self.scale.apply_on(&block, threads)?;
            let ranked = self.ranks.apply_on(&block, threads)?;
            let mapped;
            let columns = match &self.columns {
                Columns::All(..) => &scaled,
                Columns::Wide(map) => {
                    mapped = map.apply_on(&scaled, threads)?;
                    &mapped
                }
            };
            let kernels = self
                .kernels
                .iter()
                .enumerate()
                .map(|(k, map)| {
                    map.apply_on(if k < GAUSSIAN.len() { &scaled } else { &ranked }, threads)
                })
                .collect::<Result<Vec<Points>, _>>()?;
            for i in 0..scaled.len() {
                features.push(row(columns, i), kernels.iter().map(|points| row(points, i)));
                if let Some(squares) = &self.squares {
                    let squares = squares.map(row(&scaled, i));
                    features.rows.extend(squares.into_iter().map(|v| v as f32));
                    features.unseen.push(0.0);
                }
            }
        }
        Ok(())
    }
}

fn row(points: &Points, index: usize) -> &[f64] {
    &points.as_slice()[index * points.dim()..][..points.dim()]
}

impl Features {
    fn push<'a>(&mut self, columns: &'a [f64], kernels: impl Iterator<Item = &'a [f64]>) {
        self.rows.push(1.0);
        // The norm is computed from the stored values, so that all computations use the same numbers.
        let stored = columns.iter().map(|v| (v / self.lift) as f32);
        self.rows.extend(stored);
        let square: f64 = columns.iter().map(|v| v * v).sum();
        self.norms.push(square.sqrt());
        for kernel in kernels {
            self.rows.extend(kernel.iter().map(|v| *v as f32));
            let seen: f64 = kernel.iter().map(|v| v * v).sum();
            self.unseen.push((1.0 - seen).max(0.0) as f32);
        }
    }

    /// Drops all points except the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.rows.truncate(len * self.width);
        self.unseen.truncate(len * self.blocks.len());
        self.norms.truncate(len);
    }

    pub(super) fn len(&self) -> usize {
        self.norms.len()
    }

    /// Number of features of a point.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The row of a point.
    #[inline]
    pub(super) fn row(&self, index: usize) -> &[f32] {
        &self.rows[index * self.width..][..self.width]
    }

    pub(super) fn rows(&self) -> &[f32] {
        &self.rows
    }

    /// Number of features in the head.
    pub(super) fn head(&self) -> usize {
        self.head
    }

    pub(super) fn block(&self, kernel: usize) -> (usize, usize) {
        self.blocks[kernel]
    }

    /// The prior variance of the part of a point that the landmarks of a kernel do not represent.
    pub(super) fn unseen(&self, index: usize, kernel: usize) -> f64 {
        f64::from(self.unseen[index * self.blocks.len() + kernel])
    }

    /// The vector (z, 1) of a point, scaled to norm 1 and with the constant first, where z is the vector of its
    /// standardised columns.
    pub(super) fn unit(&self, index: usize, out: &mut [f64]) {
        let scale = self.unit_scale(index);
        for (v, x) in out.iter_mut().zip(self.row(index)) {
            *v = f64::from(*x) * scale * self.lift;
        }
        out[0] = scale;
    }

    /// 1/‖(z, 1)‖.
    pub(super) fn unit_scale(&self, index: usize) -> f64 {
        1.0 / self.norms[index].hypot(1.0)
    }

    /// Converts weights for unit vectors to the layout of the stored rows. Their product with a stored row equals the
    /// product of `weights` with the unit vector, up to the factor [`Features::unit_scale`].
    pub(super) fn direction_of_units(&self, weights: &[f64]) -> Change {
        let mut head: Vec<f64> = weights.iter().map(|w| w * self.lift).collect();
        head[0] = weights[0];
        Change { head, kernel: None, shrink: 0.0, gains: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Gaussian, Marginal};
    use halfspaces_linalg::kernels;

    #[test]
    fn squares_are_standardised() {
        let mut points = Gaussian::new(3, 1.0).unwrap().sample(200, 2).unwrap().into_vec();
        // The square of the last column is constant.
        points.iter_mut().skip(2).step_by(3).for_each(|v| *v = v.signum() * 2.0);
        let points = Points::new(points, 3).unwrap();
        let squares = Squares::fit(&points);
        assert_eq!((squares.scales[2], squares.root), (0.0, 2f64.sqrt()));
        let rows: Vec<Vec<f64>> = (0..200).map(|i| squares.map(row(&points, i))).collect();
        for j in 0..2 {
            let column = || points.as_slice().iter().skip(j).step_by(3).map(|v| v * v);
            let mean = column().sum::<f64>() / 200.0;
            let deviation = (column().map(|v| (v - mean).powi(2)).sum::<f64>() / 200.0).sqrt();
            for (value, square) in rows.iter().map(|row| row[j]).zip(column()) {
                let expected = ((square - mean) / deviation).min(3.0) / 2f64.sqrt();
                assert!((value - expected).abs() < 1e-12);
            }
            assert!(rows.iter().any(|row| row[j] == 3.0 / 2f64.sqrt()), "some are capped");
        }
        assert!(rows.iter().all(|row| row[2] == 0.0));
    }

    /// The first kernels use the standardised columns, and the others use the ranks of the columns.
    #[test]
    fn kernels_are_of_the_columns_and_of_their_ranks() {
        let points = Gaussian::new(3, 1.0).unwrap().sample(60, 4).unwrap();
        let maps = PoolMaps::fit(&points, 10, 1).unwrap();
        let mut features = Features::default();
        maps.append(&points, &mut features, Threads::ONE).unwrap();
        let columns = [maps.scale.apply(&points).unwrap(), maps.ranks.apply(&points).unwrap()];
        assert!(maps.kernels.len() > GAUSSIAN.len());
        for (k, (map, &(from, to))) in maps.kernels.iter().zip(&features.blocks).enumerate() {
            let of = columns.each_ref().map(|columns| map.apply(columns).unwrap());
            let stored = |points: &Points| {
                (0..60).all(|i| {
                    let expected = row(points, i).iter().map(|v| *v as f32);
                    expected.eq(features.row(i)[from..to].iter().copied())
                })
            };
            let is_gaussian = k < GAUSSIAN.len();
            assert_eq!(of.each_ref().map(stored), [is_gaussian, !is_gaussian], "{k}");
        }
    }

    /// Checks (z, 1)/‖(z, 1)‖, and the weights for this vector in the layout of the stored rows.
    #[test]
    fn units_are_points_with_a_one_scaled_to_norm_1() {
        let points = Gaussian::new(4, 1.0).unwrap().sample(30, 3).unwrap();
        let maps = PoolMaps::fit(&points, 10, 1).unwrap();
        let mut features = Features::default();
        maps.append(&points, &mut features, Threads::ONE).unwrap();
        let scaled = maps.scale.apply(&points).unwrap();
        let weights = [0.3, -1.0, 0.5, 2.0, -0.7];
        let direction = features.direction_of_units(&weights);
        for i in 0..30 {
            let z = row(&scaled, i);
            let norm = (1.0 + z.iter().map(|v| v * v).sum::<f64>()).sqrt();
            let mut unit = [0.0; 5];
            features.unit(i, &mut unit);
            assert!((unit[0] - 1.0 / norm).abs() < 1e-12);
            assert!(unit[1..].iter().zip(z).all(|(u, v)| (u - v / norm).abs() < 1e-6));
            let stored: Vec<f64> = features.row(i)[..5].iter().map(|v| f64::from(*v)).collect();
            let product = kernels::dot(&direction.head, &stored) * features.unit_scale(i);
            assert!((product - kernels::dot(&weights, &unit)).abs() < 1e-12);
        }
    }
}
