//! Whole-pool greedy: always predict the surest point of all that is left.
//!
//! One hypothesis w, at first y₁x₁ (points scaled to norm 1). Predict the unrevealed point of largest
//! |w · x|; on a mistake set w -= (w · x) x and go on over the rest of the pool.
//!
//! *Guarantee.* None is proved: the points met after a mistake depend on those before. Each mistake
//! brings w nearer (tan θ never rises for θ < π/2; 000 Lemma 2.3). Measured on the sphere: 2 to 2.5 d
//! mistakes, nearly flat in n (claim S1), fewer than Algorithm 1 of 000, which has the proof. On
//! ill-conditioned data it can fail like the perceptron does: use the Forster transform there.
//!
//! *Source.* The update is that of 000 §2; the single chain over the whole pool is ours.
//!
//! After a mistake of margin t every point left has |w · x| <= t for the old w: the pool shrinks with
//! the angle, and the work adds up to a few passes over the points.

use super::walk::Walk;
use super::{Pool, SelfDirectedLearner, project};
use crate::error::OnlineError;
use crate::session::Question;
use crate::transcript::Round;
use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, zeros};

/// Whole-pool greedy.
///
/// ```
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{Greedy, label_pool};
/// let points = UnitSphere::new(10)?.sample(10_000, 1)?;
/// let target = random_target(10, 2)?;
/// let labels = target.label_all(&points)?;
/// let (learner, transcript) = label_pool(Greedy::new(10)?, &points, &labels)?;
/// assert!(transcript.mistakes() <= 30);
/// assert!(halfspaces_linalg::angle(learner.weights(), target.normal())? < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Greedy {
    /// Unit, or zero before the first label.
    weights: Vec<f64>,
    walk: Option<Walk>,
    open: Option<usize>,
}

impl Greedy {
    /// A learner for points of R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<Greedy, InputError> {
        Ok(Greedy { weights: start(dim)?, walk: None, open: None })
    }

    /// The unit normal, zero before the first label.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Plays a whole session against known labels at once: the mistakes and the final weights are
    /// those of [`label_pool`](super::label_pool), found by scanning what is left of the pool once for
    /// each mistake, without ordering it.
    ///
    /// # Errors
    /// As [`label_pool`](super::label_pool).
    ///
    /// ```
    /// use halfspaces_data::{Marginal, UnitSphere, random_target};
    /// use halfspaces_online::{Greedy, label_pool};
    /// let points = UnitSphere::new(4)?.sample(500, 1)?;
    /// let labels = random_target(4, 2)?.label_all(&points)?;
    /// let run = Greedy::simulate(&points, &labels)?;
    /// let (learner, transcript) = label_pool(Greedy::new(4)?, &points, &labels)?;
    /// assert_eq!(run.halfspace.normal(), learner.weights());
    /// assert_eq!(run.mistakes.len(), transcript.mistakes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn simulate<P: PointSet>(points: &P, labels: &[Label]) -> Result<GreedyRun, OnlineError> {
        InputError::check_len(points.len(), labels.len())?;
        if points.is_empty() {
            return Err(InputError::Empty.into());
        }
        let pool = Pool::new(points)?;
        let mut w = start(points.dim())?;
        let mut left: Vec<usize> = (0..points.len()).collect();
        let mut margins = zeros(points.len(), 1)?;
        let (mut mistakes, mut scanned) = (Vec::new(), 0);
        // The first point is asked with w = 0; right or wrong, w is then y x of it.
        let ask = |index: usize, w: &[f64]| -> Result<Round, OnlineError> {
            let Question { index, prediction } = pool.question(index, w)?;
            Ok(Round { index, prediction, truth: labels[index] })
        };
        let first = (0..points.len()).find(|i| !pool.is_zero(*i)).unwrap_or(points.len() - 1);
        for index in left.drain(..=first) {
            let round = ask(index, &w)?;
            if round.is_mistake() {
                mistakes.push(round);
            }
            project(&pool, round, &mut w);
        }
        // Points with |w · x| below `most`, and of those at it the ones after `last`, are left.
        let (mut most, mut last) = (f64::INFINITY, 0);
        loop {
            // The surest of the wrong predictions, the smaller index among equals.
            let mut worst: Option<(f64, usize)> = None;
            let mut kept = 0;
            for at in 0..left.len() {
                // Surer points were predicted before the last mistake, rightly.
                let (i, before) = (left[at], margins[at]);
                if before > most || (before >= most && i <= last) {
                    continue;
                }
                let value = pool.margin(i, &w);
                (left[kept], margins[kept]) = (i, value.abs());
                kept += 1;
                let wrong = Label::of_sign(value) != labels[i];
                if wrong && worst.is_none_or(|(most, _)| value.abs() > most) {
                    worst = Some((value.abs(), i));
                }
            }
            left.truncate(kept);
            scanned += kept;
            let Some(found) = worst else { break };
            (most, last) = found;
            let round = ask(last, &w)?;
            mistakes.push(round);
            project(&pool, round, &mut w);
        }
        Ok(GreedyRun {
            halfspace: Halfspace::new(w)?,
            mistakes,
            passes: scanned as f64 / points.len() as f64,
        })
    }
}

/// What [`Greedy::simulate`] found.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GreedyRun {
    /// The final hypothesis, which labels every point right that was left when it was reached.
    pub halfspace: Halfspace,
    /// The mistakes in their order.
    pub mistakes: Vec<Round>,
    /// Points scanned, over the size of the pool.
    pub passes: f64,
}

fn start(dim: usize) -> Result<Vec<f64>, InputError> {
    if dim == 0 {
        return Err(InputError::ZeroDimension);
    }
    zeros(1, dim)
}

impl SelfDirectedLearner for Greedy {
    fn propose<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<Question>, OnlineError> {
        InputError::check_dim(self.weights.len(), pool.points().dim())?;
        if self.open.is_none() {
            let walk = self
                .walk
                .get_or_insert_with(|| Walk::new(pool, &self.weights, pool.unrevealed().collect()));
            self.open = walk.next();
        }
        self.open.map(|index| pool.question(index, &self.weights)).transpose()
    }

    fn learn<P: PointSet>(&mut self, pool: &Pool<'_, P>, round: Round) -> Result<(), OnlineError> {
        self.open = None;
        let first = self.weights.iter().all(|w| *w == 0.0);
        if first || round.is_mistake() {
            project(pool, round, &mut self.weights);
            let rest = self.walk.take().map(Walk::into_rest);
            self.walk = rest.map(|rest| Walk::new(pool, &self.weights, rest));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_directed::label_pool;
    use halfspaces_data::{Clusters, Marginal, StudentT, UnitSphere, random_target};
    use halfspaces_linalg::{Points, RowView, SparsePoints, angle};
    use proptest::prelude::*;

    /// The plain version: sort everything after every mistake.
    fn literal(points: &Points, labels: &[Label]) -> Vec<usize> {
        let unit: Vec<Vec<f64>> = points
            .rows()
            .map(|x| {
                let norm = x.norm_sq().sqrt();
                x.as_slice().iter().map(|v| v / norm).collect()
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut w: Vec<f64> = unit[0].iter().map(|v| labels[0].as_f64() * v).collect();
        let mut left: Vec<usize> = (1..points.len()).collect();
        let mut mistakes = if labels[0] == Label::Negative { vec![0] } else { vec![] };
        'walk: loop {
            left.sort_by(|i, j| dot(&unit[*j], &w).abs().total_cmp(&dot(&unit[*i], &w).abs()));
            for (place, &i) in left.iter().enumerate() {
                if Label::of_sign(dot(&unit[i], &w)) != labels[i] {
                    let value = dot(&unit[i], &w);
                    w.iter_mut().zip(&unit[i]).for_each(|(w, x)| *w -= value * x);
                    let norm = dot(&w, &w).sqrt();
                    w.iter_mut().for_each(|w| *w /= norm);
                    mistakes.push(i);
                    left.drain(..=place);
                    continue 'walk;
                }
            }
            return mistakes;
        }
    }

    #[test]
    fn it_makes_the_mistakes_of_the_plain_version() {
        for (dim, n, seed) in [(2, 200, 1), (5, 600, 2), (12, 800, 3)] {
            let points = StudentT::new(dim, 2.0, 5.0).unwrap().sample(n, seed).unwrap();
            let labels = random_target(dim, seed + 50).unwrap().label_all(&points).unwrap();
            let run = Greedy::simulate(&points, &labels).unwrap();
            let asked: Vec<usize> = run.mistakes.iter().map(|r| r.index).collect();
            assert_eq!(asked, literal(&points, &labels));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Integer points: duplicates, zero points, ties, points parallel to w; labels of all kinds.
        #[test]
        fn at_once_is_one_by_one(
            rows in prop::collection::vec([-2i8..=2, -2i8..=2, -2i8..=2], 1..60),
            separable in any::<bool>(),
            bits in any::<u64>(),
        ) {
            let rows: Vec<[f64; 3]> = rows.into_iter().map(|r| r.map(f64::from)).collect();
            let points = Points::from_rows(&rows).unwrap();
            let labels: Vec<Label> = if separable {
                random_target(3, bits).unwrap().label_all(&points).unwrap()
            } else {
                (0..points.len()).map(|i| Label::of_sign((bits >> (i % 64) & 1) as f64 - 0.5)).collect()
            };
            let (learner, transcript) = label_pool(Greedy::new(3).unwrap(), &points, &labels).unwrap();
            prop_assert_eq!(transcript.len(), points.len());
            let mut asked: Vec<usize> = transcript.rounds().iter().map(|r| r.index).collect();
            let mistakes: Vec<Round> =
                transcript.rounds().iter().filter(|r| r.is_mistake()).copied().collect();
            asked.sort_unstable();
            prop_assert!(asked.into_iter().eq(0..points.len()));
            let sparse = SparsePoints::from_dense(&points).unwrap();
            let (of_sparse, same) = label_pool(Greedy::new(3).unwrap(), &sparse, &labels).unwrap();
            prop_assert_eq!(&transcript, &same);
            prop_assert_eq!(learner.weights(), of_sparse.weights());
            if learner.weights().iter().any(|w| *w != 0.0) {
                let run = Greedy::simulate(&points, &labels).unwrap();
                prop_assert_eq!(run.mistakes, mistakes);
                prop_assert_eq!(run.halfspace.normal(), learner.weights());
            }
        }
    }

    /// S2: while the angle to the target is acute, no mistake raises it.
    #[test]
    fn the_angle_never_rises_once_it_is_acute() {
        for seed in 0..20 {
            let points = UnitSphere::new(6).unwrap().sample(800, seed).unwrap();
            let target = random_target(6, seed + 100).unwrap();
            let labels = target.label_all(&points).unwrap();
            let run = Greedy::simulate(&points, &labels).unwrap();
            let mut w = points.row(0).unwrap().as_slice().to_vec();
            w.iter_mut().for_each(|v| *v *= labels[0].as_f64());
            let mut last = angle(&w, target.normal()).unwrap();
            for round in run.mistakes.iter().filter(|r| r.index != 0) {
                let pool = Pool::new(&points).unwrap();
                project(&pool, *round, &mut w);
                let now = angle(&w, target.normal()).unwrap();
                assert!(now <= last + 1e-12 || last > std::f64::consts::FRAC_PI_2);
                last = now;
            }
            assert!(last < 0.3);
        }
    }

    #[test]
    fn clusters_are_labelled_as_well() {
        let points = Clusters::random(8, 10, 0.2, 1).unwrap().sample(2000, 2).unwrap();
        let labels = random_target(8, 3).unwrap().label_all(&points).unwrap();
        let run = Greedy::simulate(&points, &labels).unwrap();
        assert!(run.mistakes.len() < 60, "{}", run.mistakes.len());
    }

    #[test]
    fn bad_input_is_typed() {
        let points = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(Greedy::simulate(&none, &[]), Err(InputError::Empty.into()));
        assert!(Greedy::simulate(&points, &[]).is_err());
        assert_eq!(Greedy::new(0).unwrap_err(), InputError::ZeroDimension);
        let one = [Label::Negative];
        assert!(label_pool(Greedy::new(3).unwrap(), &points, &one).is_err());
        let huge = Points::from_rows(&[[1e200, 1.0]]).unwrap();
        assert_eq!(Greedy::simulate(&huge, &one), Err(OnlineError::Overflow));
        let tiny = Points::from_rows(&[[1e-200, 0.0]]).unwrap();
        assert_eq!(Greedy::simulate(&tiny, &one), Err(OnlineError::Underflow));
        // One dimension, one point, a point at 0.
        let run = Greedy::simulate(&Points::from_rows(&[[-3.0]]).unwrap(), &one).unwrap();
        assert_eq!((run.mistakes.len(), run.halfspace.normal()), (1, &[1.0][..]));
    }
}
