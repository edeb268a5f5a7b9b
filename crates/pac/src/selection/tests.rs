//! Compares the selector with the plain loop, and with rules that are applied to all errors in advance.

use super::*;
use crate::selection::screen::single_precision_error;
use crate::selection::{Candidates, Choice};

use halfspaces_data::{MarginBall, Marginal, random_target};
use halfspaces_linalg::{Classifier, DenseRow, Halfspace, PointSet, Points, kernels};
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The plain loop over candidates and examples.
fn plain(candidates: &[Vec<f64>], points: &Points, labels: &[Label]) -> Vec<u64> {
    let count = |w: &Vec<f64>| {
        let halfspace = Halfspace::new(w.clone()).unwrap();
        let wrong = points.rows().zip(labels).filter(|(x, y)| halfspace.label(*x) != Ok(**y));
        wrong.count() as u64
    };
    candidates.iter().map(count).collect()
}

fn selector(candidates: &[Vec<f64>], planned: u64, elimination: Elimination) -> Selector<'static> {
    let mut selector = Selector::new(candidates[0].len(), planned, elimination, 0.05);
    candidates.iter().for_each(|w| selector.offer(w));
    selector
}

fn case(seed: u64, dim: usize, count: usize, n: usize) -> (Vec<Vec<f64>>, Points, Vec<Label>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let target = random_target(dim, seed).unwrap();
    let points = MarginBall::new(&target, 1e-3).unwrap().sample_with_rng(n, &mut rng).unwrap();
    let mut labels = target.label_all(&points).unwrap();
    labels.iter_mut().for_each(|y| *y = if rng.random_bool(0.2) { -*y } else { *y });
    let mut candidates: Vec<Vec<f64>> = (0..count)
        .map(|i| random_target(dim, seed + 1 + i as u64).unwrap().into_normal())
        .collect();
    // These candidates are the zero vector, a huge vector, a tiny vector, and a vector that is orthogonal to a point up
    // to rounding.
    candidates.push(vec![0.0; dim]);
    candidates.push(candidates[0].iter().map(|v| v * 1e200).collect());
    candidates.push(candidates[0].iter().map(|v| v * 1e-200).collect());
    let x = points.row(0).unwrap();
    let mut orthogonal = candidates[1].clone();
    x.add_scaled_to(-x.dot(&orthogonal) / x.norm_sq(), &mut orthogonal);
    candidates.push(orthogonal);
    (candidates, points, labels)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn counts_equal_the_plain_loop(seed in 0u64..1000, dim in 1usize..40, n in 1usize..1300) {
        let (candidates, points, labels) = case(seed, dim, 7, n);
        let mut selector = selector(&candidates, u64::MAX, Elimination::Never);
        for (x, y) in points.rows().zip(&labels) {
            selector.observe(x, *y);
        }
        let best = selector.best();
        let plain = plain(&candidates, &points, &labels);
        prop_assert_eq!(&selector.errors, &plain);
        let least = *plain.iter().min().unwrap();
        prop_assert_eq!(best, (plain.iter().position(|e| *e == least).unwrap(), least));
    }

    /// Dropping candidates that cannot win never changes the choice. Dropping clearly worse candidates rarely changes
    /// it.
    #[test]
    fn the_dropped_do_not_win(seed in 0u64..1000, n in 600usize..3000) {
        let (candidates, points, labels) = case(seed, 3, 300, n);
        let choice = |elimination| {
            let mut selector = selector(&candidates, n as u64, elimination);
            for (x, y) in points.rows().zip(&labels) {
                selector.observe(x, *y);
            }
            (selector.best(), selector.alive())
        };
        let (all, alive) = choice(Elimination::Never);
        prop_assert_eq!(alive, candidates.len());
        let (left, alive) = choice(Elimination::Lossless);
        prop_assert_eq!(all, left);
        prop_assert!(alive < candidates.len());
        let (clear, fewer) = choice(Elimination::Statistical);
        prop_assert!(fewer <= alive);
        prop_assert!(clear.1 as f64 <= all.1 as f64 + 0.05 * n as f64);
    }

    /// Within the memory limit, the disagreements of two candidates are counted as in a plain loop. Beyond the limit,
    /// the count is never too small. Dropping other candidates does not change the count.
    #[test]
    fn disagreements_are_the_plain_ones(seed in 0u64..1000, dim in 1usize..20, n in 1usize..4000) {
        let (candidates, points, labels) = case(seed, dim, 12, n);
        let mut selector = selector(&candidates, 1 << 20, Elimination::Statistical);
        for (x, y) in points.rows().zip(&labels) {
            selector.observe(x, *y);
        }
        selector.count_block();
        let wrong = |c: usize| -> Vec<bool> {
            let w = &candidates[c];
            let wrong = |(x, y): (DenseRow<'_>, &Label)| Label::from_sign(x.dot(w)) != *y;
            points.rows().zip(&labels).map(wrong).collect()
        };
        let alive = selector.alive.clone();
        let leader = alive.len() / 2;
        let of_leader = wrong(alive[leader]);
        let kept: u64 = selector.layers.iter().map(|layer| layer.examples).sum();
        prop_assert!(kept >= 2048.min(n as u64) && kept <= n as u64);
        for (c, n) in alive.iter().zip(selector.disagreements(leader)) {
            let plain = wrong(*c).iter().zip(&of_leader).filter(|(a, b)| a != b).count() as u64;
            let exact = kept == points.len() as u64;
            prop_assert!(n == plain || (n > plain && !exact));
        }
    }

    /// Candidates are deferred, reactivated, dropped and chosen according to the rules, even if the count is
    /// interrupted, saved and continued.
    #[test]
    fn deferring_is_by_the_rules(seed in 0u64..10_000, n in 1500u64..4000, dim in 2usize..6) {
        let (candidates, points, labels) = case(seed, dim, 60, n as usize);
        let Some((choice, _)) = plain_early_stop(&candidates, &points, &labels) else {
            return Ok(()); // beyond the memory limit
        };
        let mut selector = selector(&candidates, n, Elimination::EarlyStop);
        for (i, (x, y)) in points.rows().zip(&labels).enumerate() {
            selector.observe(x, *y);
            if (i as u64).is_multiple_of(197) {
                selector = saved(selector);
            }
        }
        let (index, errors) = selector.best();
        let examples = selector.seen();
        let found = Choice { index, errors, examples, remaining: selector.alive() };
        prop_assert_eq!(found, choice);
    }

    /// A count that ends early chooses a candidate that is about as good as the best.
    #[test]
    fn enough_is_good_enough(seed in 0u64..1000) {
        let n = 6000;
        let (candidates, points, labels) = case(seed, 3, 300, n);
        let mut selector = selector(&candidates, n as u64, Elimination::EarlyStop);
        for (x, y) in points.rows().zip(&labels) {
            selector.observe(x, *y);
        }
        let (chosen, errors) = selector.best();
        prop_assert!(selector.seen() < n as u64 && selector.is_over());
        let plain = plain(&candidates, &points, &labels);
        let seen = selector.seen() as usize;
        let front = points.select(&(0..seen).collect::<Vec<_>>()).unwrap();
        let count = super::tests::plain(&candidates[chosen..=chosen], &front, &labels[..seen]);
        prop_assert_eq!(errors, count[0]);
        let accuracy = schedule::choice_accuracy(candidates.len() as u64, n as u64, 0.05);
        let least = *plain.iter().min().unwrap() as f64;
        prop_assert!((plain[chosen] as f64) < least + accuracy * n as f64);
    }
}

/// There are several tiles of candidates, and the last tile is not full.
#[test]
fn threads_change_nothing() {
    let (candidates, points, labels) = case(9, 5, 700, 1500);
    for elimination in [
        Elimination::Never,
        Elimination::Lossless,
        Elimination::Statistical,
        Elimination::EarlyStop,
    ] {
        let counted = |threads: usize| {
            let threads = Threads::new(threads).unwrap();
            let mut selector = selector(&candidates, 1500, elimination).with_threads(threads);
            for (x, y) in points.rows().zip(&labels) {
                selector.observe(x, *y);
            }
            (selector.best(), selector)
        };
        let one = counted(1);
        assert!(one.1.errors.len() > 2 * 256);
        for threads in [2, 3, 8] {
            assert_eq!(counted(threads), one, "{elimination:?}, {threads} threads");
        }
    }
}

/// A single candidate cannot be compared with another, so the count ends.
#[test]
fn a_candidate_alone_ends_the_count() {
    let (candidates, points, labels) = case(5, 4, 3, BLOCK);
    let mut selector = selector(&candidates[..1], 1 << 40, Elimination::EarlyStop);
    for (x, y) in points.rows().zip(&labels) {
        selector.observe(x, *y);
    }
    assert!(selector.is_over());
}

#[test]
fn some_deferred_are_reactivated() {
    let reactivated = (0..20).filter_map(|seed| {
        let (candidates, points, labels) = case(seed, 4, 60, 3000);
        plain_early_stop(&candidates, &points, &labels).map(|(_, reactivated)| reactivated)
    });
    assert!(reactivated.sum::<u64>() > 100);
}

#[cfg(feature = "serde")]
fn saved(selector: Selector<'static>) -> Selector<'static> {
    let text = serde_json::to_string(&selector).unwrap();
    let read: Selector<'static> = serde_json::from_str(&text).unwrap();
    read.check_saved(selector.dim).unwrap();
    read
}

#[cfg(not(feature = "serde"))]
fn saved(selector: Selector<'static>) -> Selector<'static> {
    selector
}

/// Beyond the memory limit for examples, all deferred candidates are reactivated and have masks like the others.
#[test]
fn none_is_deferred_without_the_history() {
    let dim = 1700; // the limit allows 616 examples: the first layer of masks, and no further block
    let wide = |row: &[f64]| [row, &vec![0.0; dim - row.len()]].concat();
    let mut reactivated = 0;
    for seed in 0..6 {
        let (narrow, points, labels) = case(seed, 4, 60, 800);
        let candidates: Vec<Vec<f64>> = narrow.iter().map(|w| wide(w)).collect();
        let mut selector = selector(&candidates, 8000, Elimination::EarlyStop);
        for (i, (x, y)) in points.rows().zip(&labels).enumerate() {
            if i == 767 {
                reactivated += usize::from(!selector.deferred.is_empty() && !selector.is_over());
            }
            selector.observe(DenseRow::new(&wide(x.as_slice())).unwrap(), *y);
            let full = |layer: &MaskLayer| layer.masks.len() == selector.alive.len();
            assert!(selector.layers.iter().all(full));
        }
        selector.count_block();
        assert!(selector.seen() < 768 || selector.deferred.is_empty());
        let seen = selector.seen() as usize;
        let front = points.select(&(0..seen).collect::<Vec<_>>()).unwrap();
        let counts = plain(&narrow, &front, &labels[..seen]);
        assert!(selector.alive.iter().all(|c| selector.errors[*c] == counts[*c]));
    }
    assert!(reactivated > 0);
}

#[cfg(feature = "serde")]
#[test]
fn a_saved_count_that_cannot_be_is_refused() {
    let (candidates, points, labels) = case(3, 4, 60, 3000);
    let mut selector = selector(&candidates, 3000, Elimination::EarlyStop);
    for (x, y) in points.rows().zip(&labels) {
        selector.observe(x, *y);
        if selector.deferred.len() == 2 {
            break;
        }
    }
    assert!(!selector.is_over() && selector.check_saved(4).is_ok());
    type Tamper = fn(&mut Selector<'static>);
    let tampers: [Tamper; 15] = [
        |s| s.deferred.clear(),
        |s| (s.deferred, s.history) = Default::default(),
        |s| s.history.sizes.extend([usize::MAX, usize::MAX]),
        |s| s.leader = None,
        |s| s.leader = Some(s.deferred[0].ids[0]),
        |s| s.deferred[0].blocks = s.history.len() + 1,
        |s| s.deferred[1].blocks = 0,
        |s| s.deferred[0].ids[0] = s.alive[0],
        |s| s.deferred[0].ids[0] = 1000,
        |s| s.deferred[0].masks.clear(),
        |s| s.deferred[0].masks[0][0] = [u32::MAX; LANES],
        |s| s.deferred[1].ids.clear(),
        |s| s.history.folded[0] = f64::NAN,
        |s| s.history.labels.clear(),
        |s| s.history.sizes[0] += 1,
    ];
    for (i, tamper) in tampers.into_iter().enumerate() {
        let mut tampered = selector.clone();
        tamper(&mut tampered);
        assert!(tampered.check_saved(4).is_err(), "{i}");
    }
}

/// A saved candidate with one more error than its masks show is rejected. The masks cover every example, and there is
/// no stored history to compare with.
#[cfg(feature = "serde")]
#[test]
fn errors_outside_the_masks_need_examples() {
    let (candidates, points, labels) = case(3, 4, 60, 2 * BLOCK);
    let mut selector = selector(&candidates, 1 << 40, Elimination::Statistical);
    for (x, y) in points.rows().zip(&labels) {
        selector.observe(x, *y);
    }
    assert!(selector.alive.len() > 1 && selector.check_saved(4).is_ok());
    let last = *selector.alive.last().unwrap();
    selector.errors[last] += 1;
    assert!(selector.check_saved(4).is_err());
}

/// Applies the rules of docs/theory/thinned-selection.md for a count that may end early. All errors are known in
/// advance. Also returns the number of reactivated candidates. Returns `None` if the count exceeds the memory limit.
fn plain_early_stop(
    candidates: &[Vec<f64>],
    points: &Points,
    labels: &[Label],
) -> Option<(Choice, u64)> {
    let (k, planned) = (candidates.len() as u64, labels.len() as u64);
    let failure = 0.05;
    let wrong_of = |w: &Vec<f64>| -> Vec<bool> {
        points.rows().zip(labels).map(|(x, y)| Label::from_sign(x.dot(w)) != *y).collect()
    };
    let wrong: Vec<Vec<bool>> = candidates.iter().map(wrong_of).collect();
    let count = |wrong: &mut dyn Iterator<Item = bool>| wrong.filter(|w| *w).count() as u64;
    let errors = |c: usize, m: u64| count(&mut wrong[c].iter().copied().take(m as usize));
    let apart = |a: usize, b: usize, m: u64| {
        count(&mut wrong[a].iter().zip(&wrong[b]).map(|(a, b)| a != b).take(m as usize))
    };
    let ahead = |c, of, m| errors(c, m).cast_signed() - errors(of, m).cast_signed();
    let checks = schedule::elimination_checks(planned);
    let gap = |n| schedule::elimination_gap(n, k, checks, failure / 4.0);
    let accuracy = schedule::choice_accuracy(k, planned, failure);
    let test = schedule::CloseEnough::new(accuracy, k, failure / 4.0);
    let close = |c, of, m| test.is_passed(ahead(c, of, m), apart(c, of, m), m);
    let mut active: Vec<usize> = (0..candidates.len()).collect();
    let mut deferred: Vec<(usize, u64)> = Vec::new();
    let (mut leader, mut ends, mut reactivated) = (None, vec![0], 0);
    for m in 1..planned {
        let third = m / 3;
        let power = m.is_power_of_two() || (3 * third == m && third.is_power_of_two());
        let check = power && m as f64 > 2.0 * gap(m);
        if check || m - ends.last().unwrap() == BLOCK as u64 {
            ends.push(m);
        }
        if m > 2048 {
            return None;
        }
        if !check {
            continue;
        }
        let of = loop {
            let best = active.iter().copied().min_by_key(|c| (errors(*c, m), *c)).unwrap();
            let near = |of: &usize| ahead(*of, best, m) as f64 <= accuracy * m as f64 / 8.0;
            if let Some(of) = leader.filter(near) {
                break of;
            }
            leader = Some(best);
            for (c, then) in std::mem::take(&mut deferred) {
                let since = ends.iter().copied().filter(|end| *end >= then);
                match since.into_iter().find(|end| close(c, best, *end)) {
                    Some(end) => deferred.push((c, end)),
                    None => active.push(c),
                }
                reactivated += u64::from(!close(c, best, then));
            }
        };
        active.retain(|c| ahead(*c, of, m) as f64 <= gap(1) * (apart(*c, of, m) as f64).sqrt());
        let (rest, stay) = active.iter().partition(|c| **c != of && close(**c, of, m));
        active = stay;
        deferred.extend(Vec::into_iter(rest).map(|c: usize| (c, m)));
        if active.len() == 1 {
            let remaining = 1 + deferred.len();
            return Some((
                Choice { index: of, errors: errors(of, m), examples: m, remaining },
                reactivated,
            ));
        }
    }
    active.extend(deferred.iter().map(|(c, _)| c));
    let index = active.iter().copied().min_by_key(|c| (errors(*c, planned), *c)).unwrap();
    let errors = errors(index, planned);
    Some((Choice { index, errors, examples: planned, remaining: active.len() }, reactivated))
}

#[test]
fn bad_input_is_typed() {
    let (candidates, points, labels) = case(1, 3, 2, 10);
    let normals = Points::from_rows(&candidates).unwrap();
    let none = Points::new(vec![], 3).unwrap();
    assert_eq!(Candidates::new(&none, Elimination::Never, 0.1), Err(InputError::Empty));
    assert!(Candidates::new(&normals, Elimination::Never, 0.0).is_err());
    let candidates = Candidates::new(&normals, Elimination::Statistical, 0.1).unwrap();
    assert!(candidates.choose(&points, &labels).is_ok());
    assert!(candidates.choose(&points, &labels[1..]).is_err());
    assert_eq!(candidates.choose(&none, &[]), Err(InputError::Empty));
    let far = Points::from_rows(&[[1.0, 1.0, 0.0]]).unwrap();
    assert!(candidates.choose(&far, &labels[..1]).is_err());
    let wide = Points::from_rows(&[[0.1, 0.1]]).unwrap();
    assert!(candidates.choose(&wide, &labels[..1]).is_err());
}

#[test]
fn wide_rows_count_alike() {
    let dim = MAX_BLOCK_DIM + 1;
    let mut x = vec![0.0; dim];
    x[7] = 0.5;
    let mut w = vec![0.0; dim];
    w[7] = -1.0;
    let candidates = [w, vec![0.0; dim]];
    let mut selector = selector(&candidates, 9, Elimination::Lossless);
    for y in [Label::Positive, Label::Negative, Label::Positive] {
        selector.observe(DenseRow::new(&x).unwrap(), y);
    }
    assert_eq!(selector.errors, [2, 1]);
    assert_eq!(selector.best(), (1, 1));
}

/// On examples without masks, a candidate with two errors and a candidate with one error may disagree on three
/// examples. Here they do.
#[test]
fn what_no_mask_tells_apart_counts_as_apart() {
    let dim = MAX_BLOCK_DIM + 1;
    let mut x = vec![0.0; dim];
    x[7] = 0.5;
    let mut w = vec![0.0; dim];
    w[7] = -1.0;
    let mut selector = selector(&[w, vec![0.0; dim]], 9, Elimination::Never);
    for y in [Label::Positive, Label::Negative, Label::Positive] {
        selector.observe(DenseRow::new(&x).unwrap(), y);
    }
    assert_eq!(selector.disagreements(1)[0], 3);
    assert_eq!(selector.disagreements(0)[1], 3);
}

/// The stated error bound of single precision exceeds the measured error, and is not too loose.
#[test]
fn single_precision_errs_within_its_bound() {
    let mut worst: f64 = 0.0;
    for seed in 0..200 {
        let w = random_target(50, seed).unwrap().into_normal();
        let z = random_target(50, seed + 500).unwrap().into_normal();
        let single: f32 = w.iter().zip(&z).map(|(a, b)| *a as f32 * *b as f32).sum();
        let error = (f64::from(single) - kernels::dot(&w, &z)).abs();
        worst = worst.max(error / f64::from(single_precision_error(50)));
    }
    assert!(worst < 1.0 && worst > 0.005, "{worst}");
}
