//! The model of a pool: several Gaussian posteriors, each weighted by how well it predicts every answer from all the
//! others. Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use super::change::Change;
use super::component::{ANSWER, CLASS_NOISE, Component, sign};
use super::doubt::Doubt;
use super::features::{Features, PoolMaps};
use super::gaussian::{Blend, Gaussian};
use super::normal::{cumulative, upper_tail};
use super::params::Labelling;
use super::scan::products;
use super::soft_halfspace::{STEP, SoftHalfspace, cavity};
use halfspaces_linalg::{InputError, PointSet, zeros};

/// The weight of the constant in a kernel.
const CONSTANT: f64 = 0.1;
/// The smallest probability of a wrong prediction that the weighting of the models assumes.
pub(super) const SLIP: f64 = 0.01;
/// The log prior weights of the columns without a kernel, and of the soft halfspace.
const COLUMNS_PRIOR: f64 = 0.0;
const SOFT_PRIOR: f64 = -2.0;
/// Models with less weight than this are ignored.
const MIN_WEIGHT: f64 = 1e-9;
/// Scores are log odds whose absolute value is limited to this number.
pub(super) const MAX_SCORE: f64 = 600.0;

/// The prediction for a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Verdict {
    pub(super) class: usize,
    /// The log odds of the predicted class, which are at least 0.
    pub(super) score: f64,
}

impl Verdict {
    /// The probability of the class, at most 1 - [`SLIP`].
    pub(super) fn probability(self) -> f64 {
        let odds = halfspaces_linalg::exp_neg(self.score);
        SLIP + (1.0 - 2.0 * SLIP) / (1.0 + odds)
    }
}

/// The estimated errors of a model: for the points without an answer, the number of points and the expected number of
/// errors; for the answered points, the actual and the expected number of leave-one-out errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Errors {
    pub(super) open: usize,
    pub(super) stated: f64,
    pub(super) wrong_left_out: usize,
    pub(super) stated_left_out: f64,
    /// The factor by which the estimate of the remaining corrections is multiplied.
    pub(super) factor: f64,
}

/// The state of the model on a pool.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    labelling: Labelling,
    maps: PoolMaps,
    features: Features,
    components: Vec<Component>,
    soft: Option<SoftHalfspace>,
    /// The number of targets: 1 for two classes, and otherwise the number of classes.
    targets: usize,
    /// The answered points and their classes, in the order of the answers.
    answers: Vec<(usize, usize)>,
    /// The class of each answered point.
    classes: Vec<Option<usize>>,
    weights: Vec<f64>,
    /// For each answer, the probability that it is right according to all other answers.
    right_left_out: Vec<f64>,
    verdicts: Vec<Verdict>,
}

impl Model {
    pub(crate) fn new<P: PointSet>(labelling: Labelling, points: &P) -> Result<Model, InputError> {
        if points.is_empty() {
            return Err(InputError::Empty);
        }
        let maps = PoolMaps::fit(points, labelling.landmarks_for(points.len()), labelling.seed())?;
        let mut features = Features::default();
        maps.append(points, &mut features, labelling.threads())?;
        let targets = if labelling.classes() == 2 { 1 } else { labelling.classes() };
        let constant = CONSTANT;
        let columns = (Blend { constant, columns: 1.0, kernel: None }, COLUMNS_PRIOR);
        let blends = maps
            .log_priors()
            .into_iter()
            .enumerate()
            .map(|(k, prior)| (Blend { constant, columns: 0.5, kernel: Some((k, 0.5)) }, prior))
            .chain([columns]);
        let components = blends
            .map(|(blend, log_prior)| {
                Ok(Component {
                    posterior: Gaussian::new(blend, &features, targets)?,
                    log_prior,
                    means: Vec::new(),
                    variances: Vec::new(),
                    unseen: Vec::new(),
                    precisions: Vec::new(),
                    aims: Vec::new(),
                })
            })
            .collect::<Result<Vec<_>, InputError>>()?;
        let soft = if targets == 1 { Some(SoftHalfspace::new(&features)?) } else { None };
        let mut model = Model {
            labelling,
            maps,
            features,
            components,
            soft,
            targets,
            answers: Vec::new(),
            classes: Vec::new(),
            weights: Vec::new(),
            right_left_out: Vec::new(),
            verdicts: Vec::new(),
        };
        model.extend()?;
        model.judge();
        Ok(model)
    }

    /// Extends the model to points whose features have been added.
    ///
    /// # Errors
    /// [`InputError::TooLarge`] if the means of all classes for all points do not fit in memory. The model is then
    /// unchanged.
    fn extend(&mut self) -> Result<(), InputError> {
        let n = self.features.len();
        drop(zeros(n.saturating_mul(2 * self.components.len()), self.targets)?);
        for component in &mut self.components {
            let mut means = vec![0.0; self.targets];
            for index in component.variances.len()..n {
                let variance = component.posterior.value(&self.features, index, &mut means);
                component.means.extend_from_slice(&means);
                component.variances.push(variance);
                component.unseen.push(component.posterior.unseen(&self.features, index) as f32);
            }
            component.precisions.resize(n, 0.0);
            component.aims.resize(n * self.targets, 0.0);
        }
        self.classes.resize(n, None);
        Ok(())
    }

    /// Adds points, which are mapped in the same way as the first points.
    pub(crate) fn add_points<P: PointSet>(&mut self, points: &P) -> Result<(), InputError> {
        let before = self.features.len();
        let added = self.maps.append(points, &mut self.features, self.labelling.threads());
        if let Err(error) = added.and_then(|()| self.extend()) {
            self.features.truncate(before);
            return Err(error);
        }
        if let Some(soft) = &mut self.soft {
            soft.extend(&self.features);
        }
        self.judge();
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.features.len()
    }

    pub(crate) fn class(&self, index: usize) -> Option<usize> {
        self.classes[index]
    }

    pub(super) fn verdict(&self, index: usize) -> Verdict {
        self.verdicts[index]
    }

    /// Learns the answer for a point that has no answer yet.
    pub(crate) fn learn(&mut self, index: usize, class: usize) {
        self.take_in(index, class);
        self.judge();
    }

    /// Learns several answers.
    pub(crate) fn learn_all(&mut self, answers: &[(usize, usize)]) {
        for &(index, class) in answers {
            self.take_in(index, class);
            // In large pools, the verdicts determine the points whose variances the soft halfspace computes.
            self.judge();
        }
    }

    fn take_in(&mut self, index: usize, class: usize) {
        assert!(self.classes[index].is_none(), "a point is answered only once");
        self.answers.push((index, class));
        self.classes[index] = Some(class);
        self.add_factors(index, class);
        let threads = self.labelling.threads();
        self.with_soft(|soft, features, answers, surest| {
            soft.learn(features, index, sign(class == 1), answers, surest, threads);
        });
    }

    fn add_factors(&mut self, index: usize, class: usize) {
        let targets = self.targets;
        let changes: Vec<Change> = self
            .components
            .iter_mut()
            .map(|component| {
                let (precision, aims) = component.factor(index, class, targets);
                component.precisions[index] = precision;
                component.aims[index * targets..][..targets].copy_from_slice(&aims);
                component.posterior.update(&self.features, index, precision, &aims)
            })
            .collect();
        self.spread(&changes);
    }

    /// Changes the class of an answer, which keeps its position in the list. The factors of later answers were computed
    /// with the old class. Therefore the most recent factors, up to a limit on the work, are removed first and added
    /// again afterwards.
    pub(crate) fn change(&mut self, index: usize, class: usize) {
        /// Maximum number of feature products.
        const WORK: usize = 100_000_000;
        let place = self.answers.iter().position(|(i, _)| *i == index);
        let Some(place) = place else { unreachable!("the point has an answer") };
        let most = WORK / (self.features.len() * self.features.width());
        // With least squares, the factor of an answer does not depend on the other answers.
        let most = if self.targets == 1 { most } else { 0 };
        let later = self.answers.len().saturating_sub(most).max(place + 1);
        let later = self.answers[later..].to_vec();
        for (other, _) in &later {
            self.remove_factors(*other);
        }
        self.forget(index);
        self.take_in(index, class);
        for &(other, class) in &later {
            self.add_factors(other, class);
        }
        self.answers[place..].rotate_right(1);
        self.judge();
    }

    /// Removes an answer. Afterwards the model depends only on the remaining answers.
    pub(crate) fn forget(&mut self, index: usize) {
        let place = self.answers.iter().position(|(i, _)| *i == index);
        let Some(place) = place else { unreachable!("the point has an answer") };
        self.answers.remove(place);
        self.classes[index] = None;
        self.remove_factors(index);
        let threads = self.labelling.threads();
        self.with_soft(|soft, features, answers, surest| {
            soft.forget(features, index, answers, surest, threads);
        });
        self.judge();
    }

    fn remove_factors(&mut self, index: usize) {
        let targets = self.targets;
        let changes: Vec<Change> = self
            .components
            .iter_mut()
            .map(|component| {
                let precision = std::mem::replace(&mut component.precisions[index], 0.0);
                let aims = component.aims[index * targets..][..targets].to_vec();
                component.posterior.update(&self.features, index, -precision, &aims)
            })
            .collect();
        self.spread(&changes);
    }

    /// Applies the changes of all components in one scan of the pool.
    fn spread(&mut self, changes: &[Change]) {
        let all = products(&self.features, changes, self.labelling.threads());
        let count = changes.len();
        for (k, (component, change)) in self.components.iter_mut().zip(changes).enumerate() {
            let products = all.iter().skip(k).step_by(count);
            let means = component.means.chunks_exact_mut(self.targets);
            for ((c, variance), means) in products.zip(&mut component.variances).zip(means) {
                // Rounding must not make the variance of an answered point negative.
                *variance = (*variance - change.shrink * c * c).max(0.0);
                for (mean, gain) in means.iter_mut().zip(&change.gains) {
                    *mean += gain * c;
                }
            }
        }
    }

    /// Updates the soft halfspace. In large pools, only the variances of the surest points are computed.
    fn with_soft(
        &mut self,
        work: impl FnOnce(&mut SoftHalfspace, &Features, &[(usize, f64)], &[usize]),
    ) {
        let Some(soft) = &mut self.soft else { return };
        let answers: Vec<(usize, f64)> =
            self.answers.iter().map(|(i, class)| (*i, sign(*class == 1))).collect();
        let mut surest: Vec<usize> = Vec::new();
        let most = soft.measured();
        if most < self.features.len() {
            surest = (0..self.features.len()).filter(|i| self.classes[*i].is_none()).collect();
            if surest.len() > most {
                let score = |i: &usize| self.verdicts[*i].score;
                surest.select_nth_unstable_by(most, |a, b| {
                    score(b).total_cmp(&score(a)).then(a.cmp(b))
                });
                surest.truncate(most);
            }
        }
        work(soft, &self.features, &answers, &surest);
    }

    /// Weights the components and combines their predictions for every point without an answer.
    fn judge(&mut self) {
        self.weigh();
        let verdicts = (0..self.features.len()).map(|i| match (self.classes[i], self.targets) {
            (Some(class), _) => Verdict { class, score: MAX_SCORE },
            (None, 1) => self.of_two(i),
            (None, _) => self.of_several(i),
        });
        self.verdicts = verdicts.collect();
    }

    /// The verdict between two classes, computed from the weighted mean of the probabilities of the components.
    fn of_two(&self, index: usize) -> Verdict {
        let (mut positive, mut negative) = (0.0, 0.0);
        let mut vote = |weight: f64, z: f64| {
            let tail = upper_tail(z.abs());
            let (p, q) = if z >= 0.0 { (1.0 - tail, tail) } else { (tail, 1.0 - tail) };
            positive += weight * p;
            negative += weight * q;
        };
        for (component, weight) in self.components.iter().zip(&self.weights) {
            if *weight >= MIN_WEIGHT {
                vote(*weight, component.score(index));
            }
        }
        if let (Some(soft), [.., weight]) = (&self.soft, &self.weights[..])
            && *weight >= MIN_WEIGHT
        {
            vote(*weight, soft.score(index));
        }
        let odds = (positive / negative.max(f64::MIN_POSITIVE)).max(f64::MIN_POSITIVE).ln();
        Verdict { class: usize::from(odds >= 0.0), score: odds.abs().min(MAX_SCORE) }
    }

    /// The verdict between several classes, computed from the gap between the two largest means, divided by the
    /// standard deviation of the gap.
    fn of_several(&self, index: usize) -> Verdict {
        let (means, variance) = self.means(index);
        let best = largest(&means);
        let z = gap(&means, best) / (2.0 * variance).sqrt();
        let tail = upper_tail(z.max(0.0));
        Verdict {
            class: best,
            score: ((1.0 - tail) / tail.max(f64::MIN_POSITIVE)).ln().clamp(0.0, MAX_SCORE),
        }
    }

    /// The means of several classes, and their variance.
    fn means(&self, index: usize) -> (Vec<f64>, f64) {
        let mut means = vec![0.0; self.targets];
        let mut variance = 0.0;
        for (component, weight) in self.components.iter().zip(&self.weights) {
            variance += weight * component.total_variance(index, CLASS_NOISE);
            let of_point = &component.means[index * self.targets..][..self.targets];
            means.iter_mut().zip(of_point).for_each(|(m, v)| *m += weight * v);
        }
        (means, variance)
    }

    /// A score that increases with the probability that a point belongs to a class. It ranks the points without an
    /// answer.
    pub(super) fn score_of(&self, index: usize, class: usize) -> f64 {
        if self.targets == 1 {
            let verdict = self.verdicts[index];
            return if verdict.class == class { verdict.score } else { -verdict.score };
        }
        let (means, variance) = self.means(index);
        gap(&means, class) / (2.0 * variance).sqrt()
    }

    /// Weights each component by the product of the probabilities that it assigns to the answers, each given all the
    /// others, as if these probabilities were independent. Then combines these probabilities for each answer.
    fn weigh(&mut self) {
        let scores = self.left_out();
        let mut logs: Vec<f64> = scores.iter().map(|scores| log_likelihood(scores)).collect();
        let priors = self.components.iter().map(|component| component.log_prior);
        logs.iter_mut().zip(priors.chain([SOFT_PRIOR])).for_each(|(log, prior)| *log += prior);
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.weights = logs.iter().map(|log| halfspaces_linalg::exp_neg(most - log)).collect();
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
        self.right_left_out = vec![0.0; self.answers.len()];
        for (scores, weight) in scores.iter().zip(&self.weights) {
            for (p, z) in self.right_left_out.iter_mut().zip(scores) {
                *p += weight * (SLIP + (1.0 - 2.0 * SLIP) * cumulative(*z));
            }
        }
    }

    /// For each component and each answer, the z-score of the component's prediction of this answer from all other
    /// answers. A z-score is positive if the prediction is right.
    fn left_out(&self) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> =
            self.components.iter().map(|component| self.left_out_of(component)).collect();
        if let Some(soft) = &self.soft {
            let scores = self.answers.iter().map(|&(index, class)| {
                let (mean, variance) =
                    cavity(soft.means[index], soft.variances[index], soft.site(index));
                sign(class == 1) * mean / (variance + STEP.noise).sqrt()
            });
            all.push(scores.collect());
        }
        all
    }

    fn left_out_of(&self, component: &Component) -> Vec<f64> {
        let targets = self.targets;
        let score = |&(index, class): &(usize, usize)| {
            let unseen = f64::from(component.unseen[index]);
            let (mean, rest) = component.without(index, 0, targets);
            if targets == 1 {
                return sign(class == 1) * mean / (rest + unseen + ANSWER.noise).sqrt();
            }
            let means: Vec<f64> =
                (0..targets).map(|k| component.without(index, k, targets).0).collect();
            gap(&means, class) / (2.0 * (rest + unseen + CLASS_NOISE)).sqrt()
        };
        self.answers.iter().map(score).collect()
    }

    /// Compares each answer with the prediction from all other answers.
    pub(super) fn doubts(&self) -> Vec<Doubt> {
        let doubt = |(&(index, class), probability): (&(usize, usize), f64)| {
            let predicted = match self.targets {
                1 if probability < 0.5 => 1 - class,
                1 => class,
                targets => {
                    let mut means = vec![0.0; targets];
                    for (component, weight) in self.components.iter().zip(&self.weights) {
                        let without = |k| component.without(index, k, targets).0;
                        means.iter_mut().enumerate().for_each(|(k, m)| *m += weight * without(k));
                    }
                    largest(&means)
                }
            };
            Doubt { index, class, predicted, probability }
        };
        self.answers.iter().zip(self.right_left_out.iter().copied()).map(doubt).collect()
    }

    /// The model's estimate of its own errors.
    pub(super) fn errors(&self) -> Errors {
        let (mut open, mut stated) = (0, 0.0);
        for index in (0..self.len()).filter(|i| self.classes[*i].is_none()) {
            stated += 1.0 - self.verdicts[index].probability();
            open += 1;
        }
        let right = &self.right_left_out;
        let wrong_left_out = right.iter().filter(|p| **p < 0.5).count();
        let stated_left_out = right.iter().map(|p| p.min(1.0 - p)).sum();
        Errors { open, stated, wrong_left_out, stated_left_out, factor: 1.0 }
    }

    /// The surest point without an answer for which `allowed` is true. Ties go to the first point.
    pub(super) fn surest(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        let open = (0..self.len()).filter(|i| self.classes[*i].is_none() && allowed(*i));
        let mut best = None;
        for index in open {
            let score = self.verdicts[index].score;
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((index, score));
            }
        }
        best.map(|(index, _)| index)
    }
}

/// The class with the largest mean. Ties go to the first class.
pub(super) fn largest(means: &[f64]) -> usize {
    (0..means.len()).fold(0, |best, k| if means[k] > means[best] { k } else { best })
}

/// The difference between the mean of a class and the largest other mean.
pub(super) fn gap(means: &[f64], class: usize) -> f64 {
    let others = means.iter().enumerate().filter(|(k, _)| *k != class).map(|(_, v)| *v);
    means[class] - others.fold(f64::NEG_INFINITY, f64::max)
}

/// Σ ln(slip + (1 - 2 slip) Φ(z)).
fn log_likelihood(scores: &[f64]) -> f64 {
    /// Number of factors multiplied before each logarithm. Each factor is at least [`SLIP`].
    const TOGETHER: usize = 64;
    let (mut sum, mut product, mut count) = (0.0, 1.0f64, 0);
    for z in scores {
        product *= SLIP + (1.0 - 2.0 * SLIP) * cumulative(*z);
        count += 1;
        if count == TOGETHER {
            sum += product.ln();
            (product, count) = (1.0, 0);
        }
    }
    sum + product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Params;

    #[test]
    fn a_slip_is_never_ruled_out() {
        let p = |score: f64| Verdict { class: 0, score }.probability();
        assert!((p(MAX_SCORE) - 0.99).abs() < 1e-12 && (p(0.0) - 0.5).abs() < 1e-12);
        assert!((p(3f64.ln()) - 0.745).abs() < 1e-12);
    }

    fn model(classes: usize, rows: &[[f64; 2]]) -> Model {
        let labelling = crate::Labelling::params(classes).landmarks(4).seed(1).check().unwrap();
        Model::new(labelling, &halfspaces_linalg::Points::from_rows(rows).unwrap()).unwrap()
    }

    const ROWS: [[f64; 2]; 5] = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];

    /// The model expects a left-out answer to be wrong with probability at most one half, whatever its label.
    #[test]
    fn what_is_stated_of_answers_left_out_does_not_depend_on_their_labels() {
        let mut model = model(2, &ROWS);
        model.learn_all(&[(0, 1), (1, 0)]);
        let errors = model.errors();
        assert_eq!(errors.wrong_left_out, 2);
        assert!(errors.stated_left_out < 1.0, "{}", errors.stated_left_out);
    }

    #[test]
    fn a_changed_answer_keeps_its_place() {
        let mut model = model(2, &ROWS);
        model.learn_all(&[(0, 1), (2, 0), (3, 0)]);
        model.change(0, 0);
        assert_eq!(model.answers, [(0, 0), (2, 0), (3, 0)]);
    }

    /// With several classes, the variance of an answer is that of the noise, 0.2, plus the variance of the part that
    /// the features do not represent.
    #[test]
    fn answers_the_features_see_less_of_count_less() {
        let mut model = model(3, &ROWS);
        let component = &mut model.components[0];
        component.unseen[2] = 0.3;
        let (precision, aims) = component.factor(2, 1, 3);
        assert!((precision - 2.0).abs() < 1e-6, "{precision}");
        assert_eq!(aims, [-1.0, 1.0, -1.0]);
    }
}
