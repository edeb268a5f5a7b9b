//! Imports and helpers that all experiments share: the types of the evaluation, table cells, figure layers and
//! judgements. The experiments import them with `use crate::experiments::common::*`.

mod figures;
mod judgements;
mod tables;

pub(crate) use crate::Failure;
pub(crate) use figures::*;
pub(crate) use halfspaces_eval::{
    Axis, ClaimKind, ClaimStatement, Colour, Evidence, Experiment, Figure, Finding, Group, Layer,
    Null, Planned, Results, Scale, Section, Side, Table, Verdict, stats,
};
pub(crate) use judgements::*;
pub(crate) use rand::rngs::ChaCha8Rng;
pub(crate) use rand::{RngExt, SeedableRng};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use std::fmt;
pub(crate) use std::sync::Arc;
pub(crate) use strum::Display;
pub(crate) use tables::*;

use halfspaces_linalg::{Classifier, Halfspace, Label, PointSet, Points};
use halfspaces_online::OnlineLearner;

/// For each n in `sizes`, the first n points of a pool (or all points, if there are fewer) with the labels that
/// `target` gives them.
pub(crate) fn nested(
    all: &Points,
    target: &Halfspace,
    sizes: &[usize],
) -> Result<Vec<(Points, Vec<Label>)>, Failure> {
    let first = |n: &usize| {
        let points = all.select(&(0..all.len().min(*n)).collect::<Vec<_>>())?;
        let labels = target.label_all(&points)?;
        Ok((points, labels))
    };
    sizes.iter().map(first).collect()
}

/// The largest of `sizes`.
pub(crate) fn largest(sizes: &[usize]) -> Result<usize, Failure> {
    Ok(*sizes.iter().max().ok_or("a configuration without sizes")?)
}

/// The number of mistakes in one pass over a pool.
pub(crate) fn mistakes<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
) -> Result<usize, Failure> {
    let mut mistakes = 0;
    for (x, y) in points.rows().zip(labels) {
        mistakes += usize::from(learner.observe(x, *y)?.is_wrong(*y));
    }
    Ok(mistakes)
}
