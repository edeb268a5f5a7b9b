//! The pools that jobs share.

use super::shape::Shape;
use crate::Failure;
use halfspaces_data::{MarginBall, Marginal, UnitSphere, random_target};
use halfspaces_linalg::{Classifier, Label, Points, SparsePoints};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use std::rc::Rc;

/// Labelled points.
pub(super) struct Pool<P> {
    pub(super) points: P,
    pub(super) labels: Vec<Label>,
}

/// A cache of the most recently drawn pool. Jobs on the same pool are adjacent.
#[derive(Default)]
pub(super) struct Pools {
    last: Option<(Shape, Rc<Pool<Points>>)>,
}

/// In a noisy pool, one of every `NOISY` labels is wrong.
pub(super) const NOISY: usize = 7;
/// Margin of the dense pools.
pub(super) const MARGIN: f64 = 0.05;

impl Pools {
    /// Points in the unit ball, outside the margin of a halfspace and labelled by that halfspace.
    pub(super) fn ball(&mut self, n: usize, d: usize) -> Result<Rc<Pool<Points>>, Failure> {
        let key = Shape { n, d, more: 0 };
        if let Some((_, pool)) = self.last.as_ref().filter(|(last, _)| *last == key) {
            return Ok(Rc::clone(pool));
        }
        // The old pool is freed before the next is drawn.
        self.last = None;
        let target = random_target(d, 1)?;
        let points = MarginBall::new(&target, MARGIN)?.sample(n, 2)?;
        let labels = target.label_all(&points)?;
        let pool = Rc::new(Pool { points, labels });
        self.last = Some((key, Rc::clone(&pool)));
        Ok(pool)
    }

    /// Points on the unit sphere, labelled by a halfspace.
    pub(super) fn sphere(&mut self, n: usize, d: usize) -> Result<Rc<Pool<Points>>, Failure> {
        self.last = None;
        let target = random_target(d, 1)?;
        let points = UnitSphere::new(d)?.sample(n, 2)?;
        let labels = target.label_all(&points)?;
        Ok(Rc::new(Pool { points, labels }))
    }
}

/// Rows with `stored` normally distributed values in random columns, scaled to norm 1 and labelled by a random
/// halfspace.
pub(super) fn sparse(n: usize, d: usize, stored: usize) -> Result<Pool<SparsePoints>, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let normal: Vec<f64> = (0..d).map(|_| StandardNormal.sample(&mut rng)).collect();
    let mut points = SparsePoints::empty(d)?;
    let mut labels = Vec::with_capacity(n);
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for _ in 0..n {
        columns.clear();
        while columns.len() < stored.min(d) {
            columns.extend((columns.len()..stored).map(|_| rng.random_range(0..d as u32)));
            columns.sort_unstable();
            columns.dedup();
        }
        values.clear();
        values.extend(columns.iter().map(|_| -> f64 { StandardNormal.sample(&mut rng) }));
        let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        values.iter_mut().for_each(|v| *v /= norm);
        points.push(&columns, &values)?;
        let value: f64 = columns.iter().zip(&values).map(|(j, v)| v * normal[*j as usize]).sum();
        labels.push(Label::from_sign(value));
    }
    Ok(Pool { points, labels })
}

/// A copy of the labels in which every [`NOISY`]th label is flipped.
pub(super) fn noisy(labels: &[Label]) -> Vec<Label> {
    labels.iter().enumerate().map(|(i, y)| if i % NOISY == 0 { -*y } else { *y }).collect()
}
