//! Models that consist of one binary model for two classes, or of one-vs-rest models for more classes.

use super::binary::{BinaryLearner, BinaryModel, Weighted};
use crate::plan::Findings;
use halfspaces_frame::DataError;
use halfspaces_linalg::{ClassModel, FitSample, InputError, Label, PointSet, Threads};
use halfspaces_pac::{OneVsRest, OneVsRestModel};
use serde::{Deserialize, Serialize};

/// A fitted model: one binary model for two classes, or one-vs-rest models for more classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Fitted {
    Two(BinaryModel),
    Several(OneVsRestModel<BinaryModel>),
}

impl Fitted {
    /// Combines binary models. There is one model for two classes, and one model per class otherwise. One-vs-rest
    /// models are combined using the given points with their classes and weights.
    pub(super) fn joined<P: PointSet>(
        mut models: Vec<BinaryModel>,
        points: &P,
        classes: &[usize],
        weights: Option<&[f64]>,
    ) -> Result<Fitted, InputError> {
        Ok(match models.len() {
            1 => Fitted::Two(models.remove(0)),
            _ => Fitted::Several(OneVsRestModel::new(models, points, classes, weights)?),
        })
    }

    pub(super) fn values<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<Vec<f64>>, InputError> {
        match self {
            Fitted::Two(model) => model.class_values_all(points, threads),
            Fitted::Several(model) => model.class_values_all(points, threads),
        }
    }
}

/// Fits one binary model for two classes, or one-vs-rest models for more classes.
pub(super) fn fitted<P: PointSet>(
    learner: BinaryLearner,
    points: &P,
    classes: &[usize],
    weights: Option<&[f64]>,
    threads: Threads,
) -> Result<(Fitted, Findings), DataError> {
    let count = classes.iter().max().map_or(0, |last| last + 1);
    let is_log_odds = learner.gives_log_odds();
    let learner = Weighted { learner, weights };
    if count == 2 {
        let model = learner.fit(points, &labels_of(classes, 1))?;
        let findings = model.findings();
        return Ok((Fitted::Two(model), findings));
    }
    let learner = match is_log_odds {
        true => OneVsRest::of_log_odds(learner),
        false => OneVsRest::new(learner),
    };
    let model = learner.fit_weighted(points, classes, weights, threads);
    let model = model.map_err(|e| DataError::user(e.to_string()))?;
    Ok((Fitted::Several(model), Findings::default()))
}

/// The labels of points, which are positive for the class `positive` and negative for all others.
pub(crate) fn labels_of(classes: &[usize], positive: usize) -> Vec<Label> {
    let sign = |c: &usize| if *c == positive { Label::Positive } else { Label::Negative };
    classes.iter().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Method, Plan};
    use halfspaces_linalg::Points;

    /// A row of weight 2 counts as two rows, and a row of weight 0 does not count.
    #[test]
    fn weights_count_as_copies() {
        let x = |i: usize| [(i * 37 % 101) as f64 / 50.0 - 1.0, (i * 53 % 97) as f64 / 48.0 - 1.0];
        let points = |rows: &[usize]| {
            Points::from_rows(&rows.iter().map(|i| x(*i)).collect::<Vec<_>>()).unwrap()
        };
        let once: Vec<usize> = (0..300).collect();
        let copies: Vec<usize> = (0..300).flat_map(|i| vec![i; i % 3]).collect();
        let weights: Vec<f64> = (0..300).map(|i| (i % 3) as f64).collect();
        for (method, count) in
            [Method::Logistic, Method::Svm].into_iter().flat_map(|m| [(m, 2), (m, 3)])
        {
            let learner = BinaryLearner::with_tolerance(&Plan::new(method), 1e-7).unwrap();
            let class = |i: &usize| match i % 7 {
                0 => i % count,
                _ => ((x(*i)[0] + 1.0) / 2.02 * count as f64) as usize,
            };
            let values = |rows: &[usize], weights: Option<&[f64]>| {
                let classes: Vec<usize> = rows.iter().map(class).collect();
                let (model, _) =
                    fitted(learner, &points(rows), &classes, weights, Threads::ONE).unwrap();
                model.values(&points(&once[..50]), Threads::ONE).unwrap().concat()
            };
            let farthest = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let (weighted, repeated) = (values(&once, Some(&weights)), values(&copies, None));
            assert!(farthest(&weighted, &repeated) < 1e-2, "{method:?}, {count} classes");
            assert!(
                farthest(&weighted, &values(&once, None)) > 3e-2,
                "{method:?}, {count} classes"
            );
        }
    }
}
