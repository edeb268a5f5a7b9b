//! The features in which a pool is labelled. Part of `SurestFirst`. Claims: S10, S10n, S10s, S10c.

use super::change::Change;
use halfspaces_features::{
    Distance, FeatureMap, Landmarks, Linear, Nystroem, RadialKernel, ZScore,
};
use halfspaces_linalg::{InputError, PointSet, Points, Threads};

/// Widths of the Gaussian kernels: K(x, z) = exp(-‖x - z‖²/(width² M)), M the median squared distance.
pub(super) const WIDTHS: [f64; 4] = [0.25, 0.5, 1.0, 2.0];
/// Width of the kernel that stands for the columns where there are more of them than this.
const WIDE: f64 = 4.0;
pub(super) const MAX_COLUMNS: usize = 256;
/// Points mapped at a time.
const BLOCK: usize = 1024;

/// The columns, or features that stand for them.
#[derive(Debug, Clone)]
enum Columns {
    /// Standardised columns over the root of their number.
    All(Linear, f64),
    Wide(Nystroem),
}

/// The maps, fitted to the first points of a pool; points added later are mapped in the same way.
#[derive(Debug, Clone)]
pub(super) struct PoolMaps {
    scale: ZScore,
    columns: Columns,
    kernels: Vec<Nystroem>,
}

/// Feature rows: the constant 1, the columns, then the features of each kernel; f32, the numbers that the
/// models are of.
#[derive(Debug, Clone, Default)]
pub(super) struct Features {
    rows: Vec<f32>,
    /// Number of features.
    width: usize,
    /// Constant and columns.
    head: usize,
    /// Where each kernel's features begin and end.
    blocks: Vec<(usize, usize)>,
    /// ‖z‖, z the columns times `lift`.
    norms: Vec<f64>,
    /// 1 - ‖φ‖² for each kernel, point after point: what the landmarks do not see of a point.
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
        let sample = scale.apply(&Landmarks::Uniform.choose(points, landmarks, seed)?)?;
        // Of a sample as large as the median needs.
        const MEDIAN_OF: usize = 1000;
        let some: Vec<usize> =
            (0..points.len()).step_by(points.len().div_ceil(MEDIAN_OF).max(1)).collect();
        let some = scale.apply(&points.select(&some)?)?;
        let median = Distance::SquaredEuclidean.median(&some, seed)?;
        let nystroem = |width: f64| {
            Nystroem::new(sample.clone(), RadialKernel::gaussian(width * width * median)?)
        };
        let dim = points.dim();
        let columns = if dim <= MAX_COLUMNS {
            Columns::All(Linear::new(dim)?, (dim as f64).sqrt())
        } else {
            Columns::Wide(nystroem(WIDE)?)
        };
        let kernels = WIDTHS.into_iter().map(nystroem).collect::<Result<Vec<_>, _>>()?;
        Ok(PoolMaps { scale, columns, kernels })
    }

    /// Appends the features of `points`.
    pub(super) fn append<P: PointSet>(
        &self,
        points: &P,
        features: &mut Features,
        threads: Threads,
    ) -> Result<(), InputError> {
        let (head, lift) = match &self.columns {
            Columns::All(map, root) => (1 + map.output_dim(), *root),
            Columns::Wide(map) => (1 + map.output_dim(), 1.0),
        };
        (features.head, features.lift) = (head, lift);
        let mut end = head;
        features.blocks.clear();
        for map in &self.kernels {
            features.blocks.push((end, end + map.output_dim()));
            end += map.output_dim();
        }
        features.width = end;
        let wanted = points.len().saturating_mul(end);
        if features.rows.try_reserve(wanted).is_err() {
            return Err(InputError::TooLarge { values: wanted });
        }
        let indices: Vec<usize> = (0..points.len()).collect();
        for block in indices.chunks(BLOCK) {
            let scaled = self.scale.apply_on(&points.select(block)?, threads)?;
            let columns = match &self.columns {
                Columns::All(map, _) => map.apply(&scaled)?,
                Columns::Wide(map) => map.apply_on(&scaled, threads)?,
            };
            let kernels = self
                .kernels
                .iter()
                .map(|map| map.apply_on(&scaled, threads))
                .collect::<Result<Vec<Points>, _>>()?;
            for i in 0..scaled.len() {
                features.push(row(&columns, i), kernels.iter().map(|points| row(points, i)));
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
        // As stored, so that everything is computed from the same numbers.
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

    /// Drops all points but the first `len`.
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

    /// Length of constant and columns.
    pub(super) fn head(&self) -> usize {
        self.head
    }

    pub(super) fn block(&self, kernel: usize) -> (usize, usize) {
        self.blocks[kernel]
    }

    /// Variance under the prior of what a kernel's landmarks do not see.
    pub(super) fn unseen(&self, index: usize, kernel: usize) -> f64 {
        f64::from(self.unseen[index * self.blocks.len() + kernel])
    }

    /// (z, 1) of a point scaled to norm 1, z its standardised columns, the constant first.
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

    /// Weights of units as a direction of the stored rows: its product with a row is that with the unit but for
    /// [`Features::unit_scale`].
    pub(super) fn direction_of_units(&self, weights: &[f64]) -> Change {
        let mut head: Vec<f64> = weights.iter().map(|w| w * self.lift).collect();
        head[0] = weights[0];
        Change { head, kernel: None, shrink: 0.0, gains: Vec::new() }
    }
}
