//! Online learners on features.

use super::{OnlineLearner, Prediction};
use halfspaces_features::{FeatureMap, Transformed};
use halfspaces_linalg::{DenseRow, InputError, Label, RowView, zeros};

/// A learner on features learns from the points as given: with the averaged perceptron and a Nyström map a kernel
/// perceptron whose memory does not grow, and that survives wrong labels.
///
/// Each round maps its point twice, to guess and to learn.
impl<T: FeatureMap, L: OnlineLearner> OnlineLearner for Transformed<T, L> {
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        let features = mapped(self.map(), x)?;
        self.model().guess(checked(&features)?)
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        let (map, learner) = self.parts_mut();
        let features = mapped(map, x)?;
        learner.update(checked(&features)?, prediction, truth)
    }

    fn updates(&self) -> u64 {
        self.model().updates()
    }
}

fn mapped<T: FeatureMap, R: RowView>(map: &T, x: R) -> Result<Vec<f64>, InputError> {
    InputError::check_dim(map.input_dim(), x.dim())?;
    let mut features = zeros(1, map.output_dim())?;
    map.map_row(x, &mut features)?;
    Ok(features)
}

fn checked(features: &[f64]) -> Result<DenseRow<'_>, InputError> {
    DenseRow::new(features).map_err(|_| InputError::Overflow { row: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsGiven, Perceptron, run};
    use halfspaces_data::{Gaussian, Marginal};
    use halfspaces_features::Polynomial;
    use halfspaces_linalg::{Classifier, PointSet, Points};

    #[test]
    fn it_plays_as_the_learner_does_on_points_mapped_before() {
        let points = Gaussian::new(3, 1.0).unwrap().sample(200, 1).unwrap();
        let labels: Vec<Label> =
            points.rows().map(|x| Label::from_sign(x.norm_sq() - 2.4)).collect();
        let map = Polynomial::new(3).unwrap();
        let plain = Perceptron::new(map.output_dim()).unwrap();
        let on_features = Transformed::new(map, plain.clone()).unwrap();
        let (on_features, transcript) = run(on_features, &points, &labels, AsGiven::new()).unwrap();
        let features = map.apply(&points).unwrap();
        let (plain, expected) = run(plain, &features, &labels, AsGiven::new()).unwrap();
        assert_eq!((on_features.model(), transcript), (&plain, expected));
        assert_eq!(on_features.updates(), plain.updates());
        assert_eq!(on_features.label_all(&points).unwrap(), plain.label_all(&features).unwrap());
    }

    #[test]
    fn bad_points_are_typed() {
        let map = Polynomial::new(1).unwrap();
        let plain = Perceptron::new(map.output_dim()).unwrap();
        let mut learner = Transformed::new(map, plain).unwrap();
        let far = Points::new(vec![1e200], 1).unwrap();
        let far = far.row(0).unwrap();
        assert_eq!(learner.guess(far), Err(InputError::Overflow { row: 0 }));
        assert!(learner.observe(far, Label::Positive).is_err());
        let wide = Points::new(vec![1.0, 2.0], 2).unwrap();
        assert!(learner.guess(wide.row(0).unwrap()).is_err());
        assert!(learner.label(wide.row(0).unwrap()).is_err());
    }
}
