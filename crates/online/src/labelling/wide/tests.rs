//! Compares sessions on wide pools with computations from the definitions.

use super::kernel::Kernel;
use super::posterior::Posterior;
use crate::{Labelling, LabellingSession};
use halfspaces_linalg::{
    Params, PointSet, Points, RngStream, SparsePoints, Threads, kernels, rng_for,
};
use rand::RngExt;

const CLASSES: usize = 3;

/// Rows over 500 columns, of which 40 are words. Each row has about ten words, most of them from the ten words of its
/// class.
pub(crate) fn texts(n: usize, seed: u64) -> (Points, Vec<usize>) {
    let mut rng = rng_for(RngStream::CALLER, seed);
    let mut values = vec![0.0; n * 500];
    let mut classes = Vec::new();
    for row in values.chunks_exact_mut(500) {
        let class = rng.random_range(0..CLASSES);
        for _ in 0..10 {
            let own = rng.random::<f64>() < 0.6;
            let word =
                if own { class * 10 + rng.random_range(0..10) } else { rng.random_range(0..40) };
            row[word * 12] = 0.5 + rng.random::<f64>();
        }
        classes.push(class);
    }
    (Points::new(values, 500).unwrap(), classes)
}

/// Unit vectors in `dim` dimensions around one centre for each class.
pub(super) fn embeddings(n: usize, dim: usize, seed: u64) -> (Points, Vec<usize>) {
    let mut rng = rng_for(RngStream::CALLER, seed);
    let mut values = Vec::new();
    let mut classes = Vec::new();
    for _ in 0..n {
        let class = rng.random_range(0..CLASSES);
        for j in 0..dim {
            let centre = if j % (2 * CLASSES) == class { 1.5 } else { 0.2 };
            values.push(centre + 2.0 * rng.random::<f64>() - 1.0);
        }
        classes.push(class);
    }
    (Points::new(values, dim).unwrap().normalised().unwrap(), classes)
}

fn labelling(threads: usize) -> Labelling {
    Labelling::params(CLASSES).threads(Threads::new(threads).unwrap()).check().unwrap()
}

fn answer_some(session: &mut LabellingSession, truth: &[usize], count: usize) {
    for _ in 0..count {
        let question = session.next().unwrap();
        session.answer(truth[question.index]).unwrap();
    }
}

/// The predicted classes of all points and their probabilities.
fn predictions(session: &LabellingSession) -> Vec<(usize, f64)> {
    let count = session.progress().points;
    let question = |i| session.predict(i).unwrap();
    (0..count).map(|i| (question(i).class, question(i).probability)).collect()
}

fn assert_close(a: &LabellingSession, b: &LabellingSession) {
    for ((class, p), (other, q)) in predictions(a).into_iter().zip(predictions(b)) {
        // The classes may differ only if the probability is close to one half.
        assert!((p - q).abs() < 1e-4 && (class == other || p < 0.5 + 1e-4), "{p} {q}");
    }
}

fn pools() -> Vec<(Points, Vec<usize>)> {
    let (mut amounts, truth) = embeddings(90, 300, 5);
    let mut values = amounts.into_vec();
    values.iter_mut().enumerate().for_each(|(i, v)| *v = *v * (1 + i % 300) as f64 + 7.0);
    amounts = Points::new(values, 300).unwrap();
    vec![texts(100, 1), embeddings(80, 120, 2), (amounts, truth)]
}

/// Solves a positive definite system by elimination.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for i in 0..n {
        for r in i + 1..n {
            let factor = matrix[r][i] / matrix[i][i];
            let (upper, lower) = matrix.split_at_mut(r);
            kernels::axpy(-factor, &upper[i], &mut lower[0]);
            right[r] -= factor * right[i];
        }
    }
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - rest) / matrix[i][i];
    }
    right
}

/// Checks the means and variances of every point against the textbook formulas for the whole system.
fn assert_exact(posterior: &Posterior, answers: &[(usize, usize)]) {
    let kernel = posterior.kernel();
    let answered: Vec<usize> = answers.iter().map(|(index, _)| *index).collect();
    let mut system: Vec<Vec<f64>> =
        answered.iter().map(|a| kernel.between(*a, &answered)).collect();
    system.iter_mut().enumerate().for_each(|(i, row)| row[i] += 0.2);
    let target = |k: usize| {
        answers.iter().map(|(_, class)| if *class == k { 1.0 } else { -1.0 }).collect::<Vec<_>>()
    };
    let weights: Vec<Vec<f64>> = (0..CLASSES).map(|k| solve(system.clone(), target(k))).collect();
    for x in 0..posterior.len() {
        let to_x = kernel.between(x, &answered);
        for (mean, weights) in posterior.means(x).iter().zip(&weights) {
            assert!((mean - kernels::dot(&to_x, weights)).abs() < 1e-5);
        }
        let less = kernels::dot(&to_x, &solve(system.clone(), to_x.clone()));
        let variance = kernel.between(x, &[x])[0] - less;
        assert!((posterior.variance(x) - variance).abs() < 1e-5);
    }
}

/// After every answer, change and withdrawal, the posterior equals the one from the definition.
#[test]
fn the_posterior_is_exact_after_every_step() {
    for (points, truth) in pools() {
        let kernel = Kernel::fit(&points, Threads::ONE).unwrap().unwrap();
        let mut posterior = Posterior::new(kernel, CLASSES, Threads::ONE).unwrap();
        let mut answers: Vec<(usize, usize)> = Vec::new();
        for step in 0..12 {
            let index = (step * 37) % points.len();
            posterior.learn(index, truth[index]);
            answers.push((index, truth[index]));
            assert_exact(&posterior, &answers);
        }
        for place in [0, 5, 11] {
            let (index, class) = answers[place];
            posterior.change(index, class, (class + 1) % CLASSES);
            answers[place].1 = (class + 1) % CLASSES;
            assert_exact(&posterior, &answers);
        }
        for place in [11, 0, 4, 0] {
            let (index, _) = answers.remove(place);
            posterior.forget(index);
            assert_exact(&posterior, &answers);
        }
        let index = (3 * 37) % points.len();
        posterior.forget(index);
        answers.retain(|(i, _)| *i != index);
        posterior.append(&points.select(&[3, 8, 9, index]).unwrap()).unwrap();
        assert_exact(&posterior, &answers);
        posterior.learn(index, truth[index]);
        answers.push((index, truth[index]));
        assert_exact(&posterior, &answers);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (points, truth) in [texts(3000, 3), embeddings(3000, 120, 4)] {
        let play = |threads| {
            let mut session = labelling(threads).session(&points).unwrap();
            answer_some(&mut session, &truth, 40);
            let last = session.answers()[30].index;
            session.withdraw(last).unwrap();
            (session.answers().to_vec(), predictions(&session))
        };
        let one = play(1);
        assert!(play(2) == one && play(5) == one);
    }
}

#[test]
fn dense_and_sparse_points_give_the_same_session() {
    for (points, truth) in pools() {
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let mut a = labelling(1).session(&points).unwrap();
        let mut b = labelling(1).session(&sparse).unwrap();
        answer_some(&mut a, &truth, 60);
        answer_some(&mut b, &truth, 60);
        assert_eq!(a.answers(), b.answers());
        assert_eq!(predictions(&a), predictions(&b));
    }
}

/// After an undo, a change or a withdrawal, the session equals one that was trained on the current answers.
#[test]
fn a_session_is_that_of_its_answers() {
    for (points, truth) in pools() {
        let mut session = labelling(1).session(&points).unwrap();
        answer_some(&mut session, &truth, 30);
        let before = session.clone();
        answer_some(&mut session, &truth, 10);
        for _ in 0..10 {
            let last = session.answers().last().unwrap().index;
            assert_eq!(session.undo().unwrap().index, last);
        }
        assert_close(&session, &before);
        let index = session.answers()[7].index;
        session.change(index, (truth[index] + 1) % CLASSES).unwrap();
        let index = session.answers()[20].index;
        session.withdraw(index).unwrap();
        let resumed = LabellingSession::resume(&session.file(), &points).unwrap();
        assert_eq!(resumed.answers(), session.answers());
        assert_close(&session, &resumed);
        answer_some(&mut session, &truth, 5);
        let again = LabellingSession::resume(&session.file(), &points).unwrap();
        assert_close(&session, &again);
    }
}

/// Without withdrawals, a resumed session equals the saved one, bit for bit, even if points were added.
#[test]
fn a_resumed_session_is_the_saved_one() {
    for (points, truth) in pools() {
        let first: Vec<usize> = (0..60).collect();
        let rest: Vec<usize> = (60..points.len()).collect();
        let mut session = labelling(1).session(&points.select(&first).unwrap()).unwrap();
        session.add_points(&points.select(&rest).unwrap()).unwrap();
        session.tell(&[(70, truth[70]), (2, truth[2])]).unwrap();
        answer_some(&mut session, &truth, 20);
        let mut resumed = LabellingSession::resume(&session.file(), &points).unwrap();
        assert_eq!(predictions(&resumed), predictions(&session));
        answer_some(&mut session, &truth, 20);
        answer_some(&mut resumed, &truth, 20);
        assert_eq!(resumed.answers(), session.answers());
    }
}

/// Points that are added after answers are predicted like points of the original pool, with the map of the first
/// points.
#[test]
fn added_points_are_predicted_from_earlier_answers() {
    for (points, truth) in pools() {
        let first: Vec<usize> = (0..60).collect();
        let mut session = labelling(1).session(&points.select(&first).unwrap()).unwrap();
        answer_some(&mut session, &truth, 40);
        session.add_points(&points.select(&first).unwrap()).unwrap();
        for i in (0..60).filter(|i| session.class(*i).is_none()) {
            let [old, new] = [i, i + 60].map(|i| session.predict(i).unwrap());
            assert!(old.class == new.class && (old.probability - new.probability).abs() < 1e-5);
        }
        let wrong = Points::new(vec![1.0; 101], 101).unwrap();
        assert!(session.add_points(&wrong).is_err());
        assert_eq!(session.progress().points, 120);
    }
}

#[test]
fn few_corrections_are_needed() {
    for ((points, truth), most) in [(texts(300, 6), 60), (embeddings(300, 120, 7), 12)] {
        let mut session = labelling(2).session(&points).unwrap();
        answer_some(&mut session, &truth, 300);
        assert_eq!(session.next(), None);
        let corrections = session.progress().corrections;
        assert!(corrections <= most, "{corrections}");
    }
}

/// Empty rows, equal rows, and answers that contradict each other are accepted.
#[test]
fn odd_rows_are_accepted() {
    let (mut sparse, mut dense) = (vec![0.0; 50 * 300], vec![1.0; 50 * 300]);
    for i in 0..20 {
        (sparse[i * 300 + i % 4], dense[i * 300 + i % 4]) = (1.0, 2.0);
    }
    for values in [sparse, dense, vec![0.0; 50 * 300], vec![3.0; 50 * 300]] {
        let points = Points::new(values, 300).unwrap();
        let mut session = labelling(1).session(&points).unwrap();
        let mut step = 0;
        while let Some(question) = session.next() {
            assert!(question.probability >= 0.5 && question.probability <= 1.0, "{question:?}");
            session.answer(step % CLASSES).unwrap();
            step += 1;
            assert!(session.outlook().high.is_finite());
        }
        assert_eq!(step, 50);
    }
}

/// A near-duplicate of an answered row gets the class of that row, even if the answer differed from the prediction.
#[test]
fn near_duplicates_share_their_answer() {
    let (points, truth) = texts(120, 9);
    // Each row occurs again, with slightly different weights of the words.
    let mut values = points.as_slice().to_vec();
    let again = values.iter().enumerate().map(|(i, v)| v * [0.93, 1.0, 1.06][i % 3]);
    let again: Vec<f64> = again.collect();
    values.extend(again);
    let mut session = labelling(1).session(&Points::new(values, 500).unwrap()).unwrap();
    let mut surprises = 0;
    for step in 0..60 {
        let question = session.next().unwrap();
        let own = truth[question.index % 120];
        let class = if step % 4 == 3 { (own + 1) % CLASSES } else { own };
        session.answer(class).unwrap();
        let twin = (question.index + 120) % 240;
        let is_answered = session.answers().iter().any(|answer| answer.index == twin);
        if !is_answered && class != question.class {
            assert_eq!(session.predict(twin).unwrap().class, class, "{step}");
            surprises += 1;
        }
    }
    assert!(surprises > 5, "{surprises}");
}
