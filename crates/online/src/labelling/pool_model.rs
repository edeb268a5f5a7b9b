//! The model of a pool: narrow, wide, or classes given in advance. Part of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use super::doubt::Doubt;
use super::model::{Errors, Model, Verdict};
use super::params::Labelling;
use super::suggested::Suggested;
use super::wide::WideModel;
use halfspaces_linalg::{InputError, PointSet};

/// The model of a pool. A model that learns is chosen according to the columns.
#[derive(Debug, Clone)]
pub(super) enum PoolModel {
    Narrow(Box<Model>),
    Wide(Box<WideModel>),
    Suggested(Suggested),
}

impl PoolModel {
    pub(super) fn new<P: PointSet>(labelling: Labelling, points: &P) -> Result<Self, InputError> {
        Ok(match WideModel::new(labelling, points)? {
            Some(model) => PoolModel::Wide(Box::new(model)),
            None => PoolModel::Narrow(Box::new(Model::new(labelling, points)?)),
        })
    }

    pub(super) fn add_points<P: PointSet>(&mut self, points: &P) -> Result<(), InputError> {
        match self {
            PoolModel::Narrow(model) => model.add_points(points),
            PoolModel::Wide(model) => model.add_points(points),
            PoolModel::Suggested(_) => {
                InputError::check_state(false, "points cannot be added to a review")
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            PoolModel::Narrow(model) => model.len(),
            PoolModel::Wide(model) => model.len(),
            PoolModel::Suggested(model) => model.len(),
        }
    }

    pub(super) fn class(&self, index: usize) -> Option<usize> {
        match self {
            PoolModel::Narrow(model) => model.class(index),
            PoolModel::Wide(model) => model.class(index),
            PoolModel::Suggested(model) => model.class(index),
        }
    }

    /// Whether there is a class to predict for a point. A model that learns has one for every point.
    pub(super) fn has_prediction(&self, index: usize) -> bool {
        match self {
            PoolModel::Suggested(model) => model.has_prediction(index),
            PoolModel::Narrow(_) | PoolModel::Wide(_) => true,
        }
    }

    /// Whether the point has no answer yet and the session asks about it.
    pub(super) fn is_open(&self, index: usize) -> bool {
        match self {
            PoolModel::Suggested(model) => model.is_open(index),
            PoolModel::Narrow(_) | PoolModel::Wide(_) => self.class(index).is_none(),
        }
    }

    pub(super) fn verdict(&self, index: usize) -> Verdict {
        match self {
            PoolModel::Narrow(model) => model.verdict(index),
            PoolModel::Wide(model) => model.verdict(index),
            PoolModel::Suggested(model) => model.verdict(index),
        }
    }

    pub(super) fn learn(&mut self, index: usize, class: usize) {
        match self {
            PoolModel::Narrow(model) => model.learn(index, class),
            PoolModel::Wide(model) => model.learn(index, class),
            PoolModel::Suggested(model) => model.set(index, Some(class)),
        }
    }

    pub(super) fn learn_all(&mut self, answers: &[(usize, usize)]) {
        match self {
            PoolModel::Narrow(model) => model.learn_all(answers),
            PoolModel::Wide(model) => model.learn_all(answers),
            PoolModel::Suggested(model) => {
                answers.iter().for_each(|(index, class)| model.set(*index, Some(*class)));
            }
        }
    }

    pub(super) fn change(&mut self, index: usize, class: usize) {
        match self {
            PoolModel::Narrow(model) => model.change(index, class),
            PoolModel::Wide(model) => model.change(index, class),
            PoolModel::Suggested(model) => model.set(index, Some(class)),
        }
    }

    pub(super) fn forget(&mut self, index: usize) {
        match self {
            PoolModel::Narrow(model) => model.forget(index),
            PoolModel::Wide(model) => model.forget(index),
            PoolModel::Suggested(model) => model.set(index, None),
        }
    }

    /// The number of answers that determine the predictions, or `None` if there is no limit.
    pub(super) fn capacity(&self) -> Option<usize> {
        match self {
            PoolModel::Narrow(_) | PoolModel::Suggested(_) => None,
            PoolModel::Wide(model) => Some(model.capacity()).filter(|count| *count < usize::MAX),
        }
    }

    pub(super) fn doubts(&self) -> Vec<Doubt> {
        match self {
            PoolModel::Narrow(model) => model.doubts(),
            PoolModel::Wide(model) => model.doubts(),
            PoolModel::Suggested(_) => Vec::new(),
        }
    }

    pub(super) fn errors(&self) -> Errors {
        match self {
            PoolModel::Narrow(model) => model.errors(),
            PoolModel::Wide(model) => model.errors(),
            PoolModel::Suggested(model) => model.errors(),
        }
    }

    /// The point of the next question, among the points without an answer for which `allowed` is true.
    pub(super) fn next(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        match self {
            PoolModel::Narrow(model) => model.surest(allowed),
            PoolModel::Wide(model) => model.next(allowed),
            PoolModel::Suggested(model) => model.next(allowed),
        }
    }

    /// A score that increases with the probability that a point belongs to a class.
    pub(super) fn score_of(&self, index: usize, class: usize) -> f64 {
        match self {
            PoolModel::Narrow(model) => model.score_of(index, class),
            PoolModel::Wide(model) => model.score_of(index, class),
            PoolModel::Suggested(model) => model.score_of(index, class),
        }
    }

    /// The weights of a point's coordinates in the decision between a class and the most probable other class, if the
    /// model is linear in the coordinates.
    pub(super) fn weights(&self, index: usize, class: usize) -> Option<Vec<(usize, f64)>> {
        match self {
            PoolModel::Narrow(_) | PoolModel::Suggested(_) => None,
            PoolModel::Wide(model) => model.weights(index, class),
        }
    }
}
