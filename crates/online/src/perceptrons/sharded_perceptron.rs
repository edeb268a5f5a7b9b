//! The averaged perceptron on shards of points: iterative parameter mixing.
//!
//! The points are split into shards, here the blocks of [`BLOCK_ROWS`](halfspaces_linalg::BLOCK_ROWS) rows. In each
//! epoch, each shard has a perceptron of its own, which passes over it once. All perceptrons start from the same
//! weights, and the next epoch starts from the mean of their final weights. An [`EpochPass`] describes a pass over all
//! shards and is sent to the processes that hold the shards. The results can be joined in any order
//! ([`halfspaces_linalg::Partial`]).
//!
//! *Source.* McDonald, Hall and Mann 2010, Theorem 3. Claims: none of its own.

use super::averaged_perceptron::AveragedPerceptron;
use crate::protocol::OnlineLearner;
use halfspaces_linalg::{
    AffineHalfspace, DensePoints, InputError, Label, LiftedRow, Partial, PointSet, Sum, Threads,
    getters, kernels, zeros,
};

/// One epoch, in which a perceptron passes over each shard. All perceptrons start from the same weights.
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_online::EpochPass;
/// let points = Points::from_rows(&[[2.0], [-1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let epoch = EpochPass::from_weights(vec![0.0], false)?;
/// let sum = epoch.partial(0, &points, &labels, Threads::ONE)?.finish(1)?.unwrap();
/// assert_eq!((sum.rows(), sum.mistakes()), (2, 1)); // w = 0, then -2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EpochPass {
    weights: Vec<f64>,
    /// Whether the perceptron learns from (x, 1)/√2 instead of x.
    lift: bool,
}

/// The sums of an [`EpochPass`] over some shards.
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_online::EpochPass;
/// let points = Points::from_rows(&[[2.0]])?;
/// let epoch = EpochPass::from_weights(vec![-1.0], false)?;
/// let sum = epoch.partial(0, &points, &[Label::Negative], Threads::ONE)?.finish(1)?.unwrap();
/// assert_eq!(sum.mistakes(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EpochSum {
    rows: u64,
    shards: u64,
    mistakes: u64,
    /// The sum, over the shards, of the weights of each shard's perceptron after the last row of the shard.
    weights: Vec<f64>,
    /// The sum, over all rows, of the weights that predicted the row.
    predicting: Vec<f64>,
}

impl EpochSum {
    getters! {
        /// The number of rows.
        rows: u64,

        /// The number of wrong predictions.
        mistakes: u64,
    }
}

impl Sum for EpochSum {
    fn fits(&self, other: &EpochSum) -> bool {
        self.weights.len() == other.weights.len()
    }

    fn add(&mut self, later: EpochSum) {
        self.rows += later.rows;
        self.shards += later.shards;
        self.mistakes += later.mistakes;
        kernels::axpy(1.0, &later.weights, &mut self.weights);
        kernels::axpy(1.0, &later.predicting, &mut self.predicting);
    }
}

impl EpochPass {
    /// An epoch that starts from `weights`. There is one weight for each column and, with `lift`, one more for the
    /// intercept.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::NonFinite`].
    pub fn from_weights(weights: Vec<f64>, lift: bool) -> Result<EpochPass, InputError> {
        AveragedPerceptron::starting_at(weights.clone())?;
        Ok(EpochPass { weights, lift })
    }

    /// The sums over the shards of some labelled points. The first of these points is the first row of block `first`.
    /// All shards must be complete, except for the last shard of the whole data set.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`]; [`InputError::Overflow`],
    /// [`InputError::Underflow`] for points whose squared norms are outside the range of `f64`.
    pub fn partial(
        &self,
        first: u64,
        points: &DensePoints<'_>,
        labels: &[Label],
        threads: Threads,
    ) -> Result<Partial<EpochSum>, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        InputError::check_dim(self.weights.len() - usize::from(self.lift), points.dim())?;
        let mut buffers = vec![(); Partial::<EpochSum>::groups(first, labels.len()).len()];
        threads.sum_blocks(first, labels.len(), &mut buffers, |(), shard| {
            let mut learner = AveragedPerceptron::starting_at(self.weights.clone())?;
            let mut mistakes = 0;
            for (row, truth) in shard.clone().zip(&labels[shard.clone()]) {
                let Some(x) = points.row(row) else { unreachable!("shards consist of the points") };
                let guess = match self.lift {
                    true => learner.learn(LiftedRow::new(x), *truth),
                    false => learner.learn(x, *truth),
                };
                let guess = guess.map_err(|error| error.at_row(row))?;
                mistakes += u64::from(guess.is_wrong(*truth));
            }
            Ok(EpochSum {
                rows: shard.len() as u64,
                shards: 1,
                mistakes,
                weights: learner.weights().to_vec(),
                predicting: learner.weight_sum(),
            })
        })
    }
}

/// The averaged perceptron on shards.
///
/// *What it computes.* In each epoch, one perceptron passes over each block of 4608 rows. It starts from the mean of
/// the final weights of all perceptrons of the previous epoch. The model is the mean, over all rows and epochs, of the
/// weights that predicted the row.
///
/// *Guarantee.* If some w* has y (w* · x) >= γ > 0 on every point and ‖x‖ <= R, the perceptrons of all epochs together
/// make at most (R‖w*‖/γ)² mistakes per shard (McDonald, Hall and Mann 2010, Theorem 3, with equal mixing weights). The
/// total is the bound of one perceptron times the number of shards. As for the averaged perceptron, no such bound is
/// proved for the sign of the mean. *Cost:* each epoch reads the points once and computes sums of 2d numbers. *When to
/// use it:* for points that do not fit on one machine; if they fit in memory, [`AveragedPerceptron`] learns more from
/// each epoch. *Source:* McDonald, Hall and Mann 2010.
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_online::ShardedPerceptron;
/// let points = Points::from_rows(&[[2.0], [-1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let fit = ShardedPerceptron { epochs: 2, intercept: false }.fit_blocks(1, |epoch| {
///     let partial = epoch.partial(0, &points, &labels, Threads::ONE)?;
///     Ok::<_, halfspaces_linalg::InputError>(partial.finish(1).unwrap().unwrap())
/// })?;
/// assert_eq!(fit.mistakes(), [1, 0]);
/// assert_eq!(fit.halfspace().weights(), [-1.5]); // the mean of 0, -2, -2 and -2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardedPerceptron {
    /// The number of epochs, at least 1.
    pub epochs: usize,
    /// Whether there is an intercept. If there is, the perceptrons learn from (x, 1)/√2.
    pub intercept: bool,
}

/// The result of [`ShardedPerceptron::fit_blocks`].
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_online::ShardedPerceptron;
/// let points = Points::from_rows(&[[1.0]])?;
/// let fit = ShardedPerceptron { epochs: 1, intercept: true }.fit_blocks(1, |epoch| {
///     let partial = epoch.partial(0, &points, &[Label::Positive], Threads::ONE)?;
///     Ok::<_, halfspaces_linalg::InputError>(partial.finish(1).unwrap().unwrap())
/// })?;
/// assert_eq!((fit.shards(), fit.mistakes()), (1, &[0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ShardedFit {
    halfspace: AffineHalfspace,
    mistakes: Vec<u64>,
    shards: u64,
}

impl ShardedFit {
    getters! {
        /// The mean, over all rows and epochs, of the weights that predicted the row.
        halfspace: &AffineHalfspace,

        /// The number of wrong predictions in each epoch.
        mistakes: &[u64],

        /// The number of shards.
        shards: u64,
    }
}

impl ShardedPerceptron {
    /// Fits a halfspace to labelled points of R^`dim` that other processes hold in blocks. `run` runs one epoch: it
    /// lets every worker pass over its shards ([`EpochPass::partial`]), joins the partial results and returns the
    /// total.
    ///
    /// # Errors
    /// The errors of `run`; [`InputError::ParameterOutOfRange`] for 0 epochs; [`InputError::ZeroDimension`],
    /// [`InputError::Empty`], [`InputError::NonFinite`]; [`InputError::InconsistentState`] if two epochs count
    /// different numbers of rows.
    pub fn fit_blocks<E: From<InputError>>(
        self,
        dim: usize,
        mut run: impl FnMut(&EpochPass) -> Result<EpochSum, E>,
    ) -> Result<ShardedFit, E> {
        InputError::check_parameter("epochs", self.epochs as f64, self.epochs > 0, "at least 1")?;
        if dim == 0 {
            return Err(InputError::ZeroDimension.into());
        }
        let unknowns = dim + usize::from(self.intercept);
        let (mut weights, mut sum) = (zeros(1, unknowns)?, zeros(1, unknowns)?);
        let (mut rows, mut shards, mut mistakes) = (0, 0, Vec::new());
        for epoch in 0..self.epochs {
            let total = run(&EpochPass::from_weights(weights, self.intercept)?)?;
            InputError::check_dim(unknowns, total.weights.len())?;
            if total.rows == 0 {
                return Err(InputError::Empty.into());
            }
            let same = epoch == 0 || rows == total.rows;
            InputError::check_state(same, "two epochs counted different numbers of rows")?;
            (rows, shards) = (total.rows, total.shards);
            mistakes.push(total.mistakes);
            weights = total.weights.iter().map(|w| w / shards as f64).collect();
            kernels::axpy(1.0, &total.predicting, &mut sum);
        }
        let rounds = rows as f64 * self.epochs as f64;
        let mut mean: Vec<f64> = sum.iter().map(|w| w / rounds).collect();
        let bias = mean.get(dim).copied().unwrap_or(0.0);
        mean.truncate(dim);
        // The scale 1/√2 of the lifted rows changes no label.
        Ok(ShardedFit { halfspace: AffineHalfspace::new(mean, bias)?, mistakes, shards })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Perceptron, bounds};
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::Points;
    use halfspaces_linalg::{BLOCK_ROWS, Classifier};

    fn shared(points: &Points, labels: &[Label], workers: usize, epoch: &EpochPass) -> EpochSum {
        let (n, dim) = (points.len(), points.dim());
        let blocks = n.div_ceil(BLOCK_ROWS);
        let mut all = Partial::default();
        for worker in (0..workers).rev() {
            for block in (worker..blocks).step_by(workers) {
                let rows = block * BLOCK_ROWS..n.min((block + 1) * BLOCK_ROWS);
                let values = points.as_slice()[rows.start * dim..rows.end * dim].to_vec();
                let values = Points::new(values, dim).unwrap();
                let part = epoch.partial(block as u64, &values, &labels[rows], Threads::ONE);
                all.merge(part.unwrap()).unwrap();
            }
        }
        all.finish(blocks as u64).unwrap().unwrap()
    }

    #[test]
    fn the_mistakes_per_shard_are_those_of_a_perceptron_and_workers_change_no_bit() {
        let (target, margin) = (random_target(5, 1).unwrap(), 0.05);
        let points =
            MarginBall::new(&target, margin).unwrap().sample(3 * BLOCK_ROWS + 5, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let learner = ShardedPerceptron { epochs: 5, intercept: false };
        let fit = |workers| {
            let run =
                |epoch: &EpochPass| Ok::<_, InputError>(shared(&points, &labels, workers, epoch));
            learner.fit_blocks(5, run).unwrap()
        };
        let one = fit(1);
        assert_eq!(one.shards(), 4);
        let bound = bounds::perceptron_mistakes(1.0, 1.0, margin);
        let all: u64 = one.mistakes().iter().sum();
        assert!(all as f64 <= 4.0 * bound && one.mistakes()[0] > one.mistakes()[4], "{one:?}");
        assert!([2, 3, 8].into_iter().all(|workers| fit(workers) == one));
        let predicted = one.halfspace().label_all(&points).unwrap();
        let wrong = predicted.iter().zip(&labels).filter(|(a, b)| a != b).count();
        assert!(wrong < points.len() / 100, "{wrong}");
    }

    /// With one shard, the learner is one perceptron that runs epoch after epoch.
    #[test]
    fn one_shard_is_the_perceptron() {
        let target = random_target(3, 1).unwrap();
        let points = MarginBall::new(&target, 0.02).unwrap().sample(400, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let mut plain = Perceptron::new(3).unwrap();
        let learner = ShardedPerceptron { epochs: 3, intercept: false };
        let run = |epoch: &EpochPass| {
            assert_eq!(epoch.weights, plain.weights());
            let tally = plain.learn_pool(&points, &labels).unwrap();
            let sum = shared(&points, &labels, 1, epoch);
            assert_eq!(tally.mistakes, sum.mistakes());
            Ok::<_, InputError>(sum)
        };
        let fit = learner.fit_blocks(3, run).unwrap();
        assert_eq!(plain.updates(), fit.mistakes().iter().sum::<u64>());
    }

    #[test]
    fn faults_are_told() {
        let run = |_: &EpochPass| Err(InputError::Empty);
        let none = ShardedPerceptron { epochs: 0, intercept: true };
        assert!(matches!(none.fit_blocks(2, run), Err(InputError::ParameterOutOfRange { .. })));
        let one = ShardedPerceptron { epochs: 1, intercept: true };
        assert_eq!(one.fit_blocks(0, run), Err(InputError::ZeroDimension));
        assert_eq!(one.fit_blocks(2, run), Err(InputError::Empty));
        let points = Points::from_rows(&[[1.0, 2.0]]).unwrap();
        let epoch = EpochPass::from_weights(vec![0.0; 2], true).unwrap();
        assert!(epoch.partial(0, &points, &[Label::Positive], Threads::ONE).is_err());
        assert!(EpochPass::from_weights(vec![f64::NAN], false).is_err());
    }
}
