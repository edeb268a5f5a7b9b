//! Version-space greedy: predicts the surest point according to a centre of the version space.
//!
//! The learner works like [`Greedy`](super::Greedy), but after a mistake its hypothesis is a [`Centre`] of all w that
//! label every revealed point correctly, not only the mistakes. The mistake cuts the version space. Then, while the new
//! centre misclassifies revealed points, the point that it gets most wrong also cuts the version space.

use super::walk::Walk;
use super::{AnswerStatus, Pool, SelfDirectedLearner, decision_value};
use crate::error::OnlineError;
use crate::protocol::{Question, Round};
use crate::version_space::Centre;
use halfspaces_linalg::{Classifier, InputError, PointSet, RowView, getters};

/// Maximum number of cuts per answer, divided by d(d+1). After 2 ln(1e13) = 59.9 times d(d+1) cuts, an ellipsoid has a
/// mean radius of 1e-13.
const MAX_CUTS_PER_SQUARE: usize = 60;

/// Version-space greedy: predicts the point with the largest |w · x|/‖x‖ next, where w is the chosen centre of all
/// halfspaces that fit the revealed labels.
///
/// *Guarantee.* The mistake bound of the centre holds for the cuts made at mistakes. Asking about the surest point
/// first leads to far fewer mistakes; this is measured, not proved. On the sphere the learner makes about 1.6 d
/// mistakes with [`HardMargin`](crate::HardMargin) or [`VolumetricCentre`](crate::VolumetricCentre), two thirds as many
/// as [`Greedy`](super::Greedy) (claim S1).
///
/// *Cost.* Each mistake takes a few cuts and a ranking of the remaining points. Each cut scans the revealed points, and
/// the ranking takes O(nd) time. An answer makes at most 60d(d+1) cuts plus one per revealed point, whatever the labels
/// are. Once these cuts are used up, or the centre is exhausted, the status is [`AnswerStatus::NoHalfspaceFound`] and
/// the centre no longer changes.
///
/// *When to use it.* If mistakes are expensive and the data are well-conditioned; [`Greedy`](super::Greedy) is much
/// faster.
///
/// *Source.* Ours; Kakade §3 and Notes21 for the centres. Claims: none of its own; compared in S1.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{HardMargin, VersionSpaceGreedy, label_pool};
/// let points = UnitSphere::new(5)?.sample(2000, 1)?;
/// let labels = random_target(5, 2)?.label_all(&points)?;
/// let learner = VersionSpaceGreedy::new(HardMargin::new(5)?);
/// let (_, transcript) = label_pool(learner, &points, &labels)?;
/// assert!(transcript.mistakes() <= 15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct VersionSpaceGreedy<C> {
    centre: C,
    walk: Option<Walk>,
    open: Option<usize>,
    cuts: u64,
    /// Whether an answer has used up its cuts.
    gave_up: bool,
}

impl<C: Centre> VersionSpaceGreedy<C> {
    /// Starts from a centre without cuts.
    pub fn new(centre: C) -> Self {
        VersionSpaceGreedy { centre, walk: None, open: None, cuts: 0, gave_up: false }
    }

    getters! {
        /// The centre in its current state.
        centre: &C,

        /// Number of cuts, both at mistakes and at revealed points that a new centre got wrong.
        cuts: u64,
    }

    /// Whether the learner has given up the search for a consistent halfspace.
    fn is_over(&self) -> bool {
        self.gave_up || self.centre.is_exhausted()
    }

    fn cut<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
        index: usize,
        sign: f64,
    ) -> Result<(), OnlineError> {
        let mut a = vec![0.0; self.centre.dim()];
        pool.add_unit(index, sign, &mut a);
        // A point x = 0 makes no cut.
        if a.iter().any(|v| *v != 0.0) {
            self.centre.cut(&a)?;
            self.cuts += 1;
        }
        Ok(())
    }
}

impl<C: Centre> SelfDirectedLearner for VersionSpaceGreedy<C> {
    fn propose<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<Question>, OnlineError> {
        InputError::check_dim(self.centre.dim(), pool.points().dim())?;
        let centre = &self.centre;
        if self.open.is_none() {
            let walk = self.walk.get_or_insert_with(|| {
                Walk::new(pool, centre.centre(), pool.unrevealed().collect())
            });
            self.open = walk.next();
        }
        self.open.map(|index| pool.question(index, centre.centre())).transpose()
    }

    fn learn<P: PointSet>(&mut self, pool: &Pool<'_, P>, round: Round) -> Result<(), OnlineError> {
        self.open = None;
        let first = self.cuts == 0;
        if (!first && !round.is_mistake()) || self.is_over() {
            return Ok(());
        }
        self.cut(pool, round.index, round.truth.as_f64())?;
        let mut cut = vec![round.index];
        let revealed: Vec<_> = pool.revealed().collect();
        // The centre has moved. Check whether it still agrees with all revealed labels.
        let dim = self.centre.dim();
        let most = MAX_CUTS_PER_SQUARE * dim * (dim + 1) + revealed.len();
        while !self.is_over() {
            let w = self.centre.centre();
            let worst = revealed
                .iter()
                .map(|(i, y)| (y.as_f64() * pool.margin(*i, w), *i, *y))
                .filter(|(_, i, _)| !pool.is_zero(*i))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((margin, i, y)) = worst else { break };
            // If a point that has already cut the set still seems too close, the reason is rounding.
            if margin > 0.0 && (!self.centre.is_moved_by(margin) || cut.contains(&i)) {
                break;
            }
            if cut.len() >= most {
                self.gave_up = true;
                break;
            }
            cut.push(i);
            self.cut(pool, i, y.as_f64())?;
        }
        let left = self.walk.take().map(Walk::into_unvisited);
        self.walk = left.map(|left| Walk::new(pool, self.centre.centre(), left));
        Ok(())
    }

    fn status<P: PointSet>(&self, pool: &Pool<'_, P>) -> AnswerStatus {
        pool.status([self.centre.centre()], self.is_over())
    }
}

impl<C: Centre> Classifier for VersionSpaceGreedy<C> {
    fn dim(&self) -> usize {
        self.centre.dim()
    }

    /// w · x for the current centre w.
    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        decision_value(self.centre.centre(), x)
    }
}
