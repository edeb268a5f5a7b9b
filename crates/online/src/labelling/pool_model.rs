//! The model of a pool, narrow or wide. Part of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use super::doubt::Doubt;
use super::model::{Errors, Model, Verdict};
use super::params::Labelling;
use super::wide::WideModel;
use halfspaces_linalg::{InputError, PointSet};

/// The model of a pool, chosen according to its columns.
#[derive(Debug, Clone)]
pub(super) enum PoolModel {
    Narrow(Box<Model>),
    Wide(Box<WideModel>),
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
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            PoolModel::Narrow(model) => model.len(),
            PoolModel::Wide(model) => model.len(),
        }
    }

    pub(super) fn class(&self, index: usize) -> Option<usize> {
        match self {
            PoolModel::Narrow(model) => model.class(index),
            PoolModel::Wide(model) => model.class(index),
        }
    }

    pub(super) fn verdict(&self, index: usize) -> Verdict {
        match self {
            PoolModel::Narrow(model) => model.verdict(index),
            PoolModel::Wide(model) => model.verdict(index),
        }
    }

    pub(super) fn learn(&mut self, index: usize, class: usize) {
        match self {
            PoolModel::Narrow(model) => model.learn(index, class),
            PoolModel::Wide(model) => model.learn(index, class),
        }
    }

    pub(super) fn learn_all(&mut self, answers: &[(usize, usize)]) {
        match self {
            PoolModel::Narrow(model) => model.learn_all(answers),
            PoolModel::Wide(model) => model.learn_all(answers),
        }
    }

    pub(super) fn change(&mut self, index: usize, class: usize) {
        match self {
            PoolModel::Narrow(model) => model.change(index, class),
            PoolModel::Wide(model) => model.change(index, class),
        }
    }

    pub(super) fn forget(&mut self, index: usize) {
        match self {
            PoolModel::Narrow(model) => model.forget(index),
            PoolModel::Wide(model) => model.forget(index),
        }
    }

    /// The number of answers that determine the predictions, or `None` if there is no limit.
    pub(super) fn capacity(&self) -> Option<usize> {
        match self {
            PoolModel::Narrow(_) => None,
            PoolModel::Wide(model) => Some(model.capacity()).filter(|count| *count < usize::MAX),
        }
    }

    pub(super) fn doubts(&self) -> Vec<Doubt> {
        match self {
            PoolModel::Narrow(model) => model.doubts(),
            PoolModel::Wide(model) => model.doubts(),
        }
    }

    pub(super) fn errors(&self) -> Errors {
        match self {
            PoolModel::Narrow(model) => model.errors(),
            PoolModel::Wide(model) => model.errors(),
        }
    }

    /// The point of the next question, among the points without an answer for which `allowed` is true.
    pub(super) fn next(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        match self {
            PoolModel::Narrow(model) => model.surest(allowed),
            PoolModel::Wide(model) => model.next(allowed),
        }
    }

    /// A score that increases with the probability that a point belongs to a class.
    pub(super) fn score_of(&self, index: usize, class: usize) -> f64 {
        match self {
            PoolModel::Narrow(model) => model.score_of(index, class),
            PoolModel::Wide(model) => model.score_of(index, class),
        }
    }

    /// The weights of a point's coordinates in the decision between a class and the most probable other class, if the
    /// model is linear in the coordinates.
    pub(super) fn weights(&self, index: usize, class: usize) -> Option<Vec<(usize, f64)>> {
        match self {
            PoolModel::Narrow(_) => None,
            PoolModel::Wide(model) => model.weights(index, class),
        }
    }
}
