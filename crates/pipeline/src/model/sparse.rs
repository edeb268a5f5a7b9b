//! The default learner of sparse points: linear candidates, compared on rows to which they were not fitted.

use super::binary::BinaryLearner;
use super::linear::{Fitted, fitted};
use crate::plan::{Findings, Method, Plan};
use crate::streams;
use halfspaces_frame::DataError;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{ClassModel, PointSet, SparsePoints, rng_for};

/// The candidate learners, each with the weight C of its loss for points of mean square norm 1.
const CANDIDATES: [(Method, f64); 5] = [
    (Method::Svm, 0.1),
    (Method::Svm, 1.0),
    (Method::Svm, 10.0),
    (Method::Logistic, 10.0),
    (Method::Perceptron, 1.0),
];
/// The candidates are compared on one in this many rows.
const COMPARED_SHARE: usize = 4;
/// The maximum number of rows on which the candidates are fitted and compared.
const MAX_ROWS: usize = 20_000;

/// Relative accuracy of the optimum on sparse points. A closer approximation does not reduce the error.
const SPARSE_TOLERANCE: f64 = 1e-3;

/// Fits the candidate with the least error to all rows.
pub(super) fn choose(
    plan: &Plan,
    points: &SparsePoints,
    classes: &[usize],
) -> Result<(Fitted, Findings), DataError> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.shuffle(&mut rng_for(streams::SPARSE_ROWS, plan.seed));
    // Place one row of each class first, because every class must be learned.
    let count = classes.iter().max().map_or(0, |last| last + 1);
    let mut seen = vec![false; count];
    order.sort_by_key(|row| std::mem::replace(&mut seen[classes[*row]], true));
    order.truncate(MAX_ROWS.max(count));
    let compared = (order.len() / COMPARED_SHARE).min(order.len() - count);
    let (fit_rows, test_rows) = order.split_at(order.len() - compared);
    let of = |rows: &[usize]| rows.iter().map(|row| classes[*row]).collect::<Vec<usize>>();
    let (fit_classes, test_classes) = (of(fit_rows), of(test_rows));
    let mut errors = Vec::with_capacity(CANDIDATES.len());
    if !test_rows.is_empty() {
        let (fit_points, test_points) = (points.select(fit_rows)?, points.select(test_rows)?);
        for (method, c) in CANDIDATES {
            let learner = candidate(plan, method, c, &fit_points)?;
            let (model, _) = fitted(learner, &fit_points, &fit_classes, plan.threads)?;
            let found = match &model {
                Fitted::Two(model) => model.class_all(&test_points, plan.threads)?,
                Fitted::Several(model) => ClassModel::class_all(model, &test_points, plan.threads)?,
            };
            let wrong = found.iter().zip(&test_classes).filter(|(a, b)| a != b).count();
            errors.push((wrong as f64 / test_rows.len() as f64, method, c));
        }
        // The sort is stable: with equal errors the earlier candidate wins.
        errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let (_, method, c) = errors.first().copied().unwrap_or((f64::NAN, Method::Svm, 1.0));
    let learner = candidate(plan, method, c, points)?;
    let (fitted, _) = fitted(learner, points, classes, plan.threads)?;
    let name = |(error, method, c): &(f64, Method, f64)| {
        let name = match method {
            Method::Perceptron => "averaged perceptron".to_owned(),
            method => format!("{} with C {c}", method.name()),
        };
        (*error, format!("{name}, sparse columns as they are"))
    };
    let findings = Findings {
        compared: errors.iter().map(name).collect(),
        chosen: 1,
        compared_on: test_rows.len(),
        learned_from: classes.len() as u64,
        ..Findings::default()
    };
    Ok((fitted, findings))
}

fn candidate(
    plan: &Plan,
    method: Method,
    c: f64,
    points: &SparsePoints,
) -> Result<BinaryLearner, DataError> {
    let plan = Plan { method, c: (method != Method::Perceptron).then_some(c), ..*plan };
    BinaryLearner::for_sparse(&plan, points)
}

impl BinaryLearner {
    /// A learner of sparse points, which are not standardised. C is given for points of mean square norm 1; multiplying
    /// all points by s is equivalent to dividing C by s².
    pub(super) fn for_sparse(
        plan: &Plan,
        points: &SparsePoints,
    ) -> Result<BinaryLearner, DataError> {
        let squares: f64 = points.norms().iter().map(|norm| norm * norm).sum();
        let mean = squares / points.len() as f64;
        let unit = if mean > 0.0 && mean.is_finite() { mean } else { 1.0 };
        let c = (plan.c.unwrap_or(1.0) / unit).clamp(1e-12, 1e12);
        BinaryLearner::with_tolerance(&Plan { c: Some(c), ..*plan }, SPARSE_TOLERANCE)
    }
}
