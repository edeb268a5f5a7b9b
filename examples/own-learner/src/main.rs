//! Two custom learners: a batch learner, from parameters to a model, and an online learner in a session. Both are used
//! like the learners of the project.

use halfspaces::data::{MarginBall, Massart, Region};
use halfspaces::online::{Prediction, RandomOrder, run};
use halfspaces::prelude::*;

/// Parameters of [`Centroid`], unchecked.
#[derive(Debug, Clone, Copy)]
struct CentroidParams {
    trimmed: f64,
}

/// Learns the halfspace whose normal is the trimmed mean of y x: the examples that agree with the mean most and least
/// are left out.
#[derive(Debug, Clone, Copy)]
struct Centroid {
    trimmed: f64,
}

impl Centroid {
    /// The default parameters: nothing is left out.
    fn params() -> CentroidParams {
        CentroidParams { trimmed: 0.0 }
    }
}

impl CentroidParams {
    /// Sets the fraction of the examples that are left out. Default: 0.
    fn trimmed(self, trimmed: f64) -> Self {
        CentroidParams { trimmed }
    }
}

impl Params for CentroidParams {
    type Learner = Centroid;
    type Error = InputError;

    fn check(self) -> Result<Centroid, InputError> {
        let in_range = (0.0..1.0).contains(&self.trimmed);
        InputError::check_parameter("trimmed", self.trimmed, in_range, "at least 0 and below 1")?;
        Ok(Centroid { trimmed: self.trimmed })
    }
}

impl FitSample for Centroid {
    type Model = Halfspace;
    type Error = InputError;

    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Halfspace, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        if labels.is_empty() {
            return Err(InputError::Empty);
        }
        let sum = |taken: &[usize]| {
            let mut w = vec![0.0; points.dim()];
            for (i, (x, y)) in points.rows().zip(labels).enumerate() {
                if taken.binary_search(&i).is_ok() {
                    x.add_scaled_to(y.as_f64(), &mut w);
                }
            }
            w
        };
        let all: Vec<usize> = (0..labels.len()).collect();
        let w = sum(&all);
        let agreement: Vec<f64> =
            points.rows().zip(labels).map(|(x, y)| y.as_f64() * x.dot(&w)).collect();
        let mut order = all;
        order.sort_by(|&a, &b| agreement[a].total_cmp(&agreement[b]));
        let cut = (self.trimmed / 2.0 * order.len() as f64).floor() as usize;
        let mut kept = order[cut..order.len() - cut].to_vec();
        kept.sort_unstable();
        Halfspace::new(sum(&kept))
    }
}

/// The perceptron with every point scaled to norm 1 before it is added.
#[derive(Debug, Clone)]
struct UnitPerceptron {
    w: Vec<f64>,
    updates: u64,
}

impl Classifier for UnitPerceptron {
    fn dim(&self) -> usize {
        self.w.len()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        InputError::check_dim(self.w.len(), x.dim())?;
        Ok(x.dot(&self.w))
    }
}

impl OnlineLearner for UnitPerceptron {
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        let norm = x.norm_sq().sqrt();
        let wrong = prediction.is_wrong(truth) && norm > 0.0;
        if wrong {
            x.add_scaled_to(truth.as_f64() / norm, &mut self.w);
            self.updates += 1;
        }
        Ok(wrong)
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = random_target(10, 1)?;
    let marginal = MarginBall::new(&target, 0.2)?;

    // 20 % of the labels far from the boundary are wrong.
    let noise = Massart::new(0.2, Region::Far(0.4))?;
    let instance = Instance::new(marginal, target, noise)?;
    let (points, labels) = instance.sample(4000, 2)?;
    for trimmed in [0.0, 0.2] {
        let model = Centroid::params().trimmed(trimmed).check()?.fit(&points, &labels)?;
        let wrong = ErrorCount::count(&model, &points, &labels)?;
        println!("centroid, trimmed {trimmed}: error rate {:.3} of the examples", wrong.rate());
    }
    if let Err(error) = Centroid::params().trimmed(1.5).check() {
        println!("refused: {error}");
    }

    // A pool without noise, in random order: each point is predicted before its label is revealed.
    let pool = instance.marginal().sample(1000, 3)?;
    let truth = instance.target().label_all(&pool)?;
    let learner = UnitPerceptron { w: vec![0.0; 10], updates: 0 };
    let (learner, transcript) = run(learner, &pool, &truth, RandomOrder::new(4))?;
    println!("unit perceptron: {} mistakes, {} updates", transcript.mistakes(), learner.updates());
    Ok(())
}
