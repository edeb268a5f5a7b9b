//! The model of a wide pool: one Gaussian process for each class against the others. Part of `LabellingSession`.
//! Claims: none.
//!
//! *Prediction.* The model predicts the class with the largest mean. The z-score of the prediction is the gap between
//! the largest and the second largest mean, divided by the standard deviation of the difference of two answers.
//!
//! *Order.* The first questions are about the points of `explore`. Each later question is about the point with the
//! largest z-score / √(1 + number of answers of the predicted class). Without the divisor, a session would ask only
//! about its most frequent class, because the gaps of a class grow with its number of answers.
//!
//! *Cost.* With n answers, another answer costs O(n²) plus one pass over the features of a sparse pool, or O(n) per
//! point of a dense pool.

use super::super::doubt::Doubt;
use super::super::model::{Errors, MAX_SCORE, SLIP, Verdict, gap, largest};
use super::super::normal::{Site, cumulative, upper_tail};
use super::super::params::Labelling;
use super::super::soft_halfspace::cavity;
use super::explore::{EXPLORED, first_questions};
use super::kernel::Kernel;
use super::posterior::{NOISE, Posterior, target};
use halfspaces_linalg::{InputError, PointSet, Threads};

/// Number of points that a thread predicts at a time.
const BLOCK: usize = 2048;
/// The factor by which the estimate of the remaining corrections is multiplied. It is e^0.8, the geometric mean of the
/// ratio of the true to the estimated number on seven pools of texts and one pool of embeddings, each at nine points in
/// time. The largest of several means exceeds its expectation, so the model is overconfident in its predictions.
const FACTOR: f64 = 2.2;

/// The state of the model on a pool.
#[derive(Debug, Clone)]
pub(crate) struct WideModel {
    threads: Threads,
    posterior: Posterior,
    /// The points of the first questions.
    first: Vec<usize>,
    /// Answered points and their classes, in the order of the answers.
    answers: Vec<(usize, usize)>,
    /// The class of each answered point (`classes`), and the number of answers of each class (`counts`).
    classes: Vec<Option<usize>>,
    counts: Vec<usize>,
    /// For each point, the predicted class and its z-score, which is at least 0.
    predictions: Vec<(usize, f64)>,
}

impl WideModel {
    /// The model of a pool, or `None` if the pool is narrow.
    pub(crate) fn new<P: PointSet>(
        labelling: Labelling,
        points: &P,
    ) -> Result<Option<WideModel>, InputError> {
        let (threads, classes) = (labelling.threads(), labelling.classes());
        let Some(kernel) = Kernel::fit(points, threads)? else { return Ok(None) };
        let first = first_questions(&kernel, threads);
        let mut model = WideModel {
            threads,
            posterior: Posterior::new(kernel, classes, threads)?,
            first,
            answers: Vec::new(),
            classes: vec![None; points.len()],
            counts: vec![0; classes],
            predictions: Vec::new(),
        };
        model.judge();
        Ok(Some(model))
    }

    /// Adds points, which are mapped in the same way as the first points.
    pub(crate) fn add_points<P: PointSet>(&mut self, points: &P) -> Result<(), InputError> {
        self.posterior.append(points)?;
        self.classes.resize(self.posterior.len(), None);
        self.settle();
        self.judge();
        Ok(())
    }

    /// The number of answers that determine the predictions: the first answers of the list. It is `usize::MAX` if there
    /// is no limit.
    pub(crate) fn capacity(&self) -> usize {
        self.posterior.capacity()
    }

    /// Updates the posterior so that it has learned exactly the first answers, up to the capacity.
    fn settle(&mut self) {
        let count = self.answers.len().min(self.capacity());
        for place in (count..self.posterior.learned()).rev() {
            self.posterior.forget(self.answers[place].0);
        }
        for place in self.posterior.learned()..count {
            let (index, class) = self.answers[place];
            self.posterior.learn(index, class);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.classes.len()
    }

    pub(crate) fn class(&self, index: usize) -> Option<usize> {
        self.classes[index]
    }

    pub(crate) fn verdict(&self, index: usize) -> Verdict {
        if let Some(class) = self.classes[index] {
            return Verdict { class, score: MAX_SCORE };
        }
        let (class, z) = self.predictions[index];
        let tail = upper_tail(z);
        let odds = ((1.0 - tail) / tail.max(f64::MIN_POSITIVE)).ln();
        Verdict { class, score: odds.clamp(0.0, MAX_SCORE) }
    }

    /// Learns the answer for a point that has no answer yet.
    pub(crate) fn learn(&mut self, index: usize, class: usize) {
        self.learn_all(&[(index, class)]);
    }

    /// Learns several answers.
    pub(crate) fn learn_all(&mut self, answers: &[(usize, usize)]) {
        for &(index, class) in answers {
            assert!(self.classes[index].is_none(), "a point is answered only once");
            self.answers.push((index, class));
            self.classes[index] = Some(class);
            self.counts[class] += 1;
        }
        self.settle();
        self.judge();
    }

    /// Changes the class of an answer, which keeps its position in the list.
    pub(crate) fn change(&mut self, index: usize, class: usize) {
        let place = self.place(index);
        let before = std::mem::replace(&mut self.answers[place].1, class);
        self.classes[index] = Some(class);
        self.counts[before] -= 1;
        self.counts[class] += 1;
        if before != class && place < self.posterior.learned() {
            self.posterior.change(index, before, class);
        }
        self.judge();
    }

    /// Removes an answer. Afterwards the model depends only on the remaining answers.
    pub(crate) fn forget(&mut self, index: usize) {
        let place = self.place(index);
        if place < self.posterior.learned() {
            self.posterior.forget(index);
        }
        let (_, class) = self.answers.remove(place);
        self.classes[index] = None;
        self.counts[class] -= 1;
        self.settle();
        self.judge();
    }

    fn place(&self, index: usize) -> usize {
        let place = self.answers.iter().position(|(i, _)| *i == index);
        let Some(place) = place else { unreachable!("the point has an answer") };
        place
    }

    /// Predicts every point.
    fn judge(&mut self) {
        let mut predictions = std::mem::take(&mut self.predictions);
        predictions.resize(self.len(), (0, 0.0));
        self.threads.map_with(
            predictions.chunks_mut(BLOCK).enumerate(),
            || (),
            |(), (block, predictions)| {
                for (index, prediction) in (block * BLOCK..).zip(predictions) {
                    *prediction = self.prediction(index);
                }
            },
        );
        self.predictions = predictions;
    }

    fn prediction(&self, index: usize) -> (usize, f64) {
        let means = self.posterior.means(index);
        let best = largest(means);
        (best, z_score(means, best, self.posterior.variance(index)).max(0.0))
    }

    /// The z-score of a class. It is negative if another class is predicted.
    pub(crate) fn score_of(&self, index: usize, class: usize) -> f64 {
        z_score(self.posterior.means(index), class, self.posterior.variance(index))
    }

    /// The weights of a point's coordinates in the decision between a class and the other class with the largest mean.
    pub(crate) fn weights(&self, index: usize, class: usize) -> Option<Vec<(usize, f64)>> {
        let means = self.posterior.means(index);
        let others = (0..means.len()).filter(|k| *k != class);
        let other = others.max_by(|a, b| means[*a].total_cmp(&means[*b]).then(b.cmp(a)))?;
        self.posterior.weights(index, class, other)
    }

    /// The point of the next question, among the points without an answer for which `allowed` is true.
    pub(crate) fn next(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        let open = |index: &usize| self.classes[*index].is_none() && allowed(*index);
        if self.answers.len() < EXPLORED
            && let Some(index) = self.first.iter().copied().find(open)
        {
            return Some(index);
        }
        let divisors: Vec<f64> = self.counts.iter().map(|n| (1.0 + *n as f64).sqrt()).collect();
        let mut best = None;
        for index in (0..self.len()).filter(open) {
            let (class, z) = self.predictions[index];
            let score = z / divisors[class];
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((index, score));
            }
        }
        best.map(|(index, _)| index)
    }

    /// For each learned answer, the prediction from all other answers: the predicted class, and the z-score of the
    /// answer, which is positive if the prediction is right.
    fn left_out(&self) -> Vec<(usize, f64)> {
        let score = |&(index, class): &(usize, usize)| {
            let variance = self.posterior.variance(index);
            let mut rest = variance;
            let without = |(k, mean): (usize, &f64)| {
                let shift = target(k == class) / NOISE;
                let (mean, variance) =
                    cavity(*mean, variance, Site { precision: 1.0 / NOISE, shift });
                rest = variance;
                mean
            };
            let means: Vec<f64> =
                self.posterior.means(index).iter().enumerate().map(without).collect();
            (largest(&means), z_score(&means, class, rest))
        };
        self.answers[..self.posterior.learned()].iter().map(score).collect()
    }

    /// Compares each learned answer with the prediction from all other answers.
    pub(crate) fn doubts(&self) -> Vec<Doubt> {
        let doubt = |(&(index, class), (predicted, z)): (&(usize, usize), (usize, f64))| Doubt {
            index,
            class,
            predicted,
            probability: slip(cumulative(z)),
        };
        self.answers.iter().zip(self.left_out()).map(doubt).collect()
    }

    /// Estimates the number of wrong predictions.
    pub(crate) fn errors(&self) -> Errors {
        let open = self.len() - self.answers.len();
        let blocks = self.threads.map_blocks(self.len(), BLOCK, |points| {
            let open = points.filter(|index| self.classes[*index].is_none());
            open.map(|index| slip(upper_tail(self.predictions[index].1))).sum::<f64>()
        });
        let stated = blocks.into_iter().sum();
        let (mut wrong_left_out, mut stated_left_out) = (0, 0.0);
        for (_, z) in self.left_out() {
            let p = slip(cumulative(z));
            wrong_left_out += usize::from(p < 0.5);
            stated_left_out += p.min(1.0 - p);
        }
        Errors { open, stated, wrong_left_out, stated_left_out, factor: FACTOR }
    }
}

/// A probability, corrected for the possibility that an answer is a slip.
fn slip(p: f64) -> f64 {
    SLIP + (1.0 - 2.0 * SLIP) * p
}

/// The gap between the mean of a class and the largest other mean, in standard deviations of the difference of two
/// answers.
fn z_score(means: &[f64], class: usize, variance: f64) -> f64 {
    gap(means, class) / (2.0 * (variance + NOISE)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{embeddings, texts};
    use super::*;
    use halfspaces_linalg::Params;

    fn model(n: usize) -> (WideModel, Vec<usize>) {
        let (points, truth) = texts(n, 8);
        let labelling = Labelling::params(3).check().unwrap();
        (WideModel::new(labelling, &points).unwrap().unwrap(), truth)
    }

    /// The first twenty questions are those of `explore`. Each later question has the largest z / √(1 + number of
    /// answers of the class), where z is the gap divided by the standard deviation of the difference of two answers.
    #[test]
    fn the_order_is_that_of_its_definition() {
        let (mut model, truth) = model(500);
        let first = model.first.clone();
        assert_eq!(first.len(), 20);
        for step in 0..60 {
            let index = model.next(|_| true).unwrap();
            if let Some(first) = first.get(step) {
                assert_eq!(index, *first);
            } else {
                let score = |i: usize| {
                    let mut means = model.posterior.means(i).to_vec();
                    let class = (0..3).fold(0, |b, k| if means[k] > means[b] { k } else { b });
                    means.sort_by(f64::total_cmp);
                    let deviation = (2.0 * (model.posterior.variance(i) + 0.2)).sqrt();
                    let of_class = model.answers.iter().filter(|(_, c)| *c == class).count();
                    (means[2] - means[1]) / deviation / (1.0 + of_class as f64).sqrt()
                };
                let open = (0..500).filter(|i| model.class(*i).is_none());
                assert!(open.into_iter().all(|i| score(i) <= score(index) + 1e-12));
            }
            model.learn(index, truth[index]);
        }
        let other = model.next(|i| i != 7).unwrap();
        assert_eq!(model.next(|i| i == other), Some(other));
        assert_eq!(model.next(|_| false), None);
    }

    /// The estimate is 2.2 times the estimate for a narrow pool with the same errors.
    #[test]
    fn the_estimate_of_corrections_has_a_factor() {
        use super::super::super::outlook::Outlook;
        let (mut model, truth) = model(200);
        truth.iter().take(15).enumerate().for_each(|(i, class)| model.learn(i, *class));
        let errors = model.errors();
        let [wide, narrow] = [errors, Errors { factor: 1.0, ..errors }]
            .map(|errors| Outlook::new(200, errors).expected + 1.0);
        assert!((wide / narrow - 2.2).abs() < 1e-9, "{wide} {narrow}");
    }

    /// With a capacity of ten answers, the predictions are those of the first ten answers of the list, regardless of
    /// what is learned, changed, withdrawn or added.
    #[test]
    fn the_first_answers_are_learned_if_not_all_can_be() {
        use halfspaces_linalg::PointSet;
        let (points, truth) = embeddings(120, 120, 9);
        let first = points.select(&(0..100).collect::<Vec<_>>()).unwrap();
        let labelling = Labelling::params(3).check().unwrap();
        let fresh = |points: &halfspaces_linalg::Points| {
            WideModel::new(labelling, points).unwrap().unwrap()
        };
        let mut model = fresh(&first);
        model.posterior.limit(1000);
        assert_eq!(model.capacity(), 10);
        let same = |model: &WideModel, points: &halfspaces_linalg::Points| {
            let mut other = fresh(points);
            other.learn_all(&model.answers[..model.answers.len().min(model.capacity())]);
            for i in 0..points.len() {
                for (a, b) in model.posterior.means(i).iter().zip(other.posterior.means(i)) {
                    assert!((a - b).abs() < 1e-5, "{a} {b}");
                }
            }
        };
        truth.iter().take(15).enumerate().for_each(|(i, class)| model.learn(i, *class));
        same(&model, &first);
        for step in [12, 3] {
            model.change(step, (truth[step] + 1) % 3);
            same(&model, &first);
        }
        for step in [14, 2, 5] {
            model.forget(step);
            same(&model, &first);
        }
        assert_eq!(
            (model.answers.len(), model.posterior.learned(), model.left_out().len()),
            (12, 10, 10)
        );
        model.add_points(&points.select(&(100..120).collect::<Vec<_>>()).unwrap()).unwrap();
        assert_eq!((model.capacity(), model.posterior.learned()), (8, 8));
    }

    /// The two classes with the largest means have opposite weights, and the weights support the first class.
    #[test]
    fn weights_are_those_of_the_two_most_probable_classes() {
        let (points, truth) = texts(200, 8);
        let (mut model, _) = model(200);
        truth.iter().take(40).enumerate().for_each(|(i, class)| model.learn(i, *class));
        let mut speak_for = 0;
        for i in 40..200 {
            let means = model.posterior.means(i);
            let mut order = [0, 1, 2];
            order.sort_by(|a, b| means[*b].total_cmp(&means[*a]));
            let [first, second] = [order[0], order[1]].map(|k| model.weights(i, k).unwrap());
            let sum: f64 = first.iter().map(|(j, w)| w * points.as_slice()[500 * i + j]).sum();
            speak_for += usize::from(sum > 0.0);
            let opposite = first.iter().zip(&second).all(|(a, b)| a.0 == b.0 && a.1 == -b.1);
            assert!(opposite && first.iter().any(|(_, w)| *w != 0.0), "{i}");
        }
        assert!(speak_for > 140, "{speak_for} of 160");
    }

    /// The z-score of an answer, computed from all other answers, equals the z-score of its point in a model without
    /// this answer.
    #[test]
    fn left_out_answers_are_predicted_from_the_others() {
        let (mut model, truth) = model(200);
        truth.iter().take(15).enumerate().for_each(|(i, class)| model.learn(i, *class));
        for (i, (predicted, z)) in model.left_out().into_iter().enumerate() {
            let mut without = model.clone();
            without.forget(i);
            let means = without.posterior.means(i);
            let expected = z_score(means, truth[i], without.posterior.variance(i));
            assert!((z - expected).abs() < 1e-4, "{z} {expected}");
            assert_eq!(predicted, largest(means));
            assert_eq!(model.doubts()[i].probability, slip(cumulative(z)));
        }
        let errors = model.errors();
        assert_eq!(errors.open, 185);
        let wrong = model.left_out().iter().filter(|(_, z)| *z < 0.0).count();
        assert_eq!(errors.wrong_left_out, wrong);
    }
}
