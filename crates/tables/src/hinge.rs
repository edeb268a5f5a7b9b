//! Finds halfspaces with the smallest weighted hinge loss by dual coordinate descent in single precision.
//!
//! This solver is part of `TableClassifier`. [`halfspaces_pac::LinearSvm`] solves the same problem in double precision
//! with a certificate. This solver supports compact feature rows, example weights and warm starts, and stops at the low
//! accuracy that a comparison of candidates needs. Claims: PT, PTn.

use crate::feature_rows::{Entry, FeatureRows};
use halfspaces_kernels::{BlockLoop, BlockOps, SINGLE_LANES, prefetch, run_blocks};
use halfspaces_linalg::{AffineHalfspace, InputError, checkpoint, checkpoint_at, zeros};
use rand::Rng;
use rand::seq::SliceRandom;
use std::mem;

/// The maximum number of passes over the active examples.
const MAX_PASSES: usize = 100;
/// Distance from the current row to the prefetched row, in rows.
const AHEAD: usize = 2;

/// Training examples: rows of `features` with signs and weights.
pub(crate) struct Examples<'a, T> {
    pub(crate) features: &'a FeatureRows<T>,
    pub(crate) signs: &'a [f64],
    pub(crate) weights: &'a [f64],
    /// The rows to train on, whose weights must be positive.
    pub(crate) rows: &'a [usize],
}

/// Minimises ½‖(w, b)‖² + C Σ weight max(0, 1 - y (w · x + b)) by dual coordinate descent. The solver can start from
/// the solution for another C or for some of the examples (warm start).
///
/// An example whose dual variable stays at its bound is skipped for one pass, then for three, then for seven, and so
/// on, until the variable changes again. Once the problem is solved for the other examples, all examples are visited.
///
/// w is stored in single precision.
///
/// *Source.* Hsieh et al. 2008, Algorithm 1. Our rule, which skips examples for a growing number of passes, replaces
/// their shrinking.
#[derive(Debug)]
pub(crate) struct Hinge {
    alphas: Vec<f64>,
    dim: usize,
    /// The weights w, padded with zeros.
    w: Vec<[f32; SINGLE_LANES]>,
    b: f64,
}

impl Hinge {
    pub(crate) fn new<T: Entry>(examples: &Examples<'_, T>) -> Result<Hinge, InputError> {
        let dim = examples.features.dim();
        let w = vec![[0.0; SINGLE_LANES]; dim.div_ceil(SINGLE_LANES)];
        Ok(Hinge { alphas: zeros(1, examples.signs.len())?, dim, w, b: 0.0 })
    }

    /// Starts from these dual variables, which must be at least 0.
    pub(crate) fn from_duals<T: Entry>(
        examples: &Examples<'_, T>,
        alphas: &[f64],
    ) -> Result<Hinge, InputError> {
        let mut hinge = Hinge::new(examples)?;
        for &i in examples.rows {
            hinge.alphas[i] = alphas[i];
        }
        hinge.sum_up(examples);
        Ok(hinge)
    }

    /// The dual variables: one for each row of the features. They are 0 for rows that are not used for training.
    pub(crate) fn duals(&self) -> &[f64] {
        &self.alphas
    }

    /// Recomputes (w, b) = Σ α y (x, 1).
    fn sum_up<T: Entry>(&mut self, examples: &Examples<'_, T>) {
        let Hinge { alphas, w, b, .. } = self;
        w.as_flattened_mut().fill(0.0);
        *b = run_blocks(Sum { examples, alphas, w });
    }

    /// Scales all dual variables by the factor s that maximises the dual objective sΣα - ½s²‖(w, b)‖² among the factors
    /// that keep the variables within their bounds.
    fn rescale<T: Entry>(&mut self, examples: &Examples<'_, T>, c: f64) {
        let within = |&i: &usize| c * examples.weights[i] / self.alphas[i];
        let positive = examples.rows.iter().filter(|i| self.alphas[**i] > 0.0);
        let most = positive.map(within).fold(f64::INFINITY, f64::min);
        if most == f64::INFINITY {
            return;
        }
        let squares = self.w.as_flattened().iter().map(|w| f64::from(*w) * f64::from(*w));
        let norm_sq = squares.sum::<f64>() + self.b * self.b;
        // For w = 0 and b = 0, the quotient is infinite, and the bounds determine the scale.
        let scale = (self.alphas.iter().sum::<f64>() / norm_sq).min(most);
        self.b *= scale;
        self.w.as_flattened_mut().iter_mut().for_each(|w| *w *= scale as f32);
        for &i in examples.rows {
            // Rounding may push the product above its bound.
            self.alphas[i] = (self.alphas[i] * scale).min(c * examples.weights[i]);
        }
    }

    /// Runs passes until the largest and the smallest violation of the optimality conditions differ by at most
    /// `tolerance`, in units of the margin. There are at most 100 passes.
    pub(crate) fn solve<T: Entry, R: Rng>(
        &mut self,
        examples: &Examples<'_, T>,
        c: f64,
        tolerance: f64,
        rng: &mut R,
    ) {
        self.rescale(examples, c);
        let mut waits = vec![0; self.alphas.len()];
        // The examples to visit in each pass.
        let mut due = vec![Vec::new(); MAX_PASSES];
        due[0] = examples.rows.to_vec();
        for pass in 0..MAX_PASSES {
            checkpoint();
            let mut order = mem::take(&mut due[pass]);
            let all = order.len() == examples.rows.len();
            order.shuffle(rng);
            let visits = Visits { of: self, examples, order: &order, waits: &mut waits, c };
            let solved = run_blocks(visits) <= tolerance;
            if solved && all {
                break;
            }
            let later = &mut due[pass + 1..];
            if solved {
                later.iter_mut().for_each(Vec::clear);
                if let Some(next) = later.first_mut() {
                    next.extend(examples.rows);
                }
                continue;
            }
            for &i in &order {
                // Examples that are due after the last pass are not visited again.
                if let Some(due) = later.get_mut(waits[i]) {
                    due.push(i);
                }
            }
        }
    }

    pub(crate) fn halfspace(&self) -> Result<AffineHalfspace, InputError> {
        let w = self.w.as_flattened()[..self.dim].iter().map(|w| f64::from(*w));
        AffineHalfspace::new(w.collect(), self.b)
    }
}

/// Adds Σ α y x to w and returns Σ α y.
struct Sum<'a, 'e, T> {
    examples: &'a Examples<'e, T>,
    alphas: &'a [f64],
    w: &'a mut [[f32; SINGLE_LANES]],
}

impl<T: Entry> BlockLoop for Sum<'_, '_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<B: BlockOps>(self, ops: B) -> f64 {
        let mut b = 0.0;
        for (at, &i) in self.examples.rows.iter().enumerate() {
            checkpoint_at(at);
            if self.alphas[i] > 0.0 {
                let step = self.examples.signs[i] * self.alphas[i];
                b += step;
                T::axpy(ops, step as f32, self.examples.features.row(i), self.w);
            }
        }
        b
    }
}

/// Makes a pass over the examples in `order`. Returns the difference between the largest and the smallest violation.
struct Visits<'a, 'e, T> {
    of: &'a mut Hinge,
    examples: &'a Examples<'e, T>,
    order: &'a [usize],
    /// For each example, the number of passes that skip it after this pass.
    waits: &'a mut [usize],
    c: f64,
}

impl<T: Entry> BlockLoop for Visits<'_, '_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<B: BlockOps>(self, ops: B) -> f64 {
        let Visits { of: Hinge { alphas, w, b, .. }, examples, order, waits, c } = self;
        let (mut largest, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
        for (at, &i) in order.iter().enumerate() {
            checkpoint_at(at);
            // Prefetch a row, because the processor cannot predict the order of the rows.
            if let Some(next) = order.get(at + AHEAD) {
                prefetch(examples.features.row(*next));
            }
            let x = examples.features.row(i);
            let y = examples.signs[i];
            let bound = c * examples.weights[i];
            let slope = y * (f64::from(T::dot(ops, x, w)) + *b) - 1.0;
            let alpha = alphas[i];
            // At a bound, only a slope towards the interior is a violation.
            let violation = if alpha <= 0.0 {
                slope.min(0.0)
            } else if alpha >= bound {
                slope.max(0.0)
            } else {
                slope
            };
            largest = largest.max(violation);
            least = least.min(violation);
            if violation.abs() > 1e-12 {
                let new = (alpha - slope / (examples.features.norm_sq(i) + 1.0)).clamp(0.0, bound);
                let step = y * (new - alpha);
                T::axpy(ops, step as f32, x, w);
                *b += step;
                alphas[i] = new;
                waits[i] = 0;
            } else {
                waits[i] = (2 * waits[i] + 1).min(MAX_PASSES);
            }
        }
        // Without examples there is no violation.
        if largest < least { 0.0 } else { largest - least }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_rows::copy_rounded;
    use halfspaces_data::{Gaussian, Marginal, random_target};
    use halfspaces_linalg::{
        Classifier, FitSample, Label, Monitor, Params, PointSet, Points, RngStream, rng_for,
    };
    use halfspaces_pac::LinearSvm;
    use rand::RngExt;
    use std::collections::BTreeMap;

    fn noisy(n: usize, dim: usize, seed: u64) -> (Points, Vec<Label>) {
        let mut rng = rng_for(RngStream::CALLER, seed);
        let points = Gaussian::new(dim, 3.0).unwrap().sample(n, seed).unwrap();
        // These values are represented exactly in single precision.
        let values = points.as_slice().iter().map(|v| f64::from(*v as f32)).collect();
        let points = Points::new(values, dim).unwrap();
        let labels = random_target(dim, seed + 1).unwrap().label_all(&points).unwrap();
        let flip = |y: Label| if rng.random_bool(0.2) { -y } else { y };
        (points, labels.into_iter().map(flip).collect())
    }

    fn kept<T: Entry>(points: &Points) -> FeatureRows<T> {
        let dim = points.dim();
        FeatureRows::new(points.len(), dim, |rows, out| {
            copy_rounded(&points.as_slice()[rows.start * dim..rows.end * dim], dim, out);
            Ok(())
        })
        .unwrap()
        .unwrap()
    }

    fn single(points: &Points) -> FeatureRows<f32> {
        kept(points)
    }

    fn objective(
        points: &Points,
        labels: &[Label],
        weights: &[f64],
        c: f64,
        h: &AffineHalfspace,
    ) -> f64 {
        let penalty = h.weights().iter().map(|w| w * w).sum::<f64>() + h.bias() * h.bias();
        let mut loss = 0.0;
        for ((x, y), weight) in points.as_slice().chunks(h.dim()).zip(labels).zip(weights) {
            let value: f64 = x.iter().zip(h.weights()).map(|(a, b)| a * b).sum();
            loss += weight * (1.0 - y.as_f64() * (value + h.bias())).max(0.0);
        }
        0.5 * penalty + c * loss
    }

    /// Compares the solution with that of the certified solver of the same problem. The objective is at most 1 % above
    /// the minimum, both from a cold start and from the solution for a smaller C.
    #[test]
    fn the_minimum_is_that_of_the_certified_solver() {
        let (points, labels) = noisy(400, 11, 3);
        let signs: Vec<f64> = labels.iter().map(|y| y.as_f64()).collect();
        let rows: Vec<usize> = (0..400).collect();
        let ones = vec![1.0; 400];
        let examples =
            Examples { features: &single(&points), signs: &signs, weights: &ones, rows: &rows };
        let mut warm = Hinge::new(&examples).unwrap();
        for c in [0.3, 1.0, 3.0] {
            let least = LinearSvm::params().c(c).check().unwrap().fit(&points, &labels).unwrap();
            warm.solve(&examples, c, 0.05, &mut rng_for(RngStream::CALLER, 1));
            let mut cold = Hinge::new(&examples).unwrap();
            cold.solve(&examples, c, 0.05, &mut rng_for(RngStream::CALLER, 2));
            for hinge in [&warm, &cold] {
                let found = objective(&points, &labels, &ones, c, &hinge.halfspace().unwrap());
                assert!(found <= 1.01 * least.primal(), "{found} {}", least.primal());
            }
        }
    }

    /// An example of weight 2 counts as much as two copies of it. An omitted example does not count.
    #[test]
    fn weights_are_multiplicities() {
        let (points, labels) = noisy(200, 3, 5);
        let signs: Vec<f64> = labels.iter().map(|y| y.as_f64()).collect();
        let weights: Vec<f64> = (0..200).map(|i| if i < 50 { 2.0 } else { 1.0 }).collect();
        let solve = |rows: &[usize]| {
            let examples =
                Examples { features: &single(&points), signs: &signs, weights: &weights, rows };
            let mut hinge = Hinge::new(&examples).unwrap();
            hinge.solve(&examples, 1.0, 0.05, &mut rng_for(RngStream::CALLER, 1));
            hinge.halfspace().unwrap()
        };
        for (rows, copies) in [
            ((0..200).collect(), (0..200).chain(0..50).collect()),
            ((50..200).collect::<Vec<usize>>(), (50..200).collect::<Vec<usize>>()),
        ] {
            let found = solve(&rows);
            let points = points.select(&copies).unwrap();
            let labels: Vec<Label> = copies.iter().map(|&i| labels[i]).collect();
            let least = LinearSvm::params().check().unwrap().fit(&points, &labels).unwrap();
            let value = objective(&points, &labels, &vec![1.0; copies.len()], 1.0, &found);
            assert!(value <= 1.01 * least.primal(), "{value} {}", least.primal());
        }
    }

    /// The same descent in double precision with plain loops. Returns (w, b), the number of passes, the number of
    /// visits, and how often all examples were visited because the problem was solved for the active ones.
    fn plain<T: Entry>(
        examples: &Examples<'_, T>,
        c: f64,
        seed: u64,
    ) -> (Vec<f64>, usize, usize, usize) {
        let mut rng = rng_for(RngStream::CALLER, seed);
        let n = examples.rows.len();
        let row = |i: usize| -> Vec<f64> {
            let x = &examples.features.row(i).as_flattened()[..examples.features.dim()];
            x.iter().map(|v| (*v).into() * f64::from(T::UNIT)).chain([1.0]).collect()
        };
        let (mut alphas, mut w) = (vec![0.0f64; n], vec![0.0; examples.features.dim() + 1]);
        let (mut waits, mut due) =
            (vec![0; n], BTreeMap::from([(0, (0..n).collect::<Vec<usize>>())]));
        let (mut visits, mut looks) = (0, 0);
        for pass in 0..100 {
            let mut order = due.remove(&pass).unwrap_or_default();
            let all = order.len() == n;
            order.shuffle(&mut rng);
            let (mut largest, mut least) = (0.0f64, 0.0f64);
            for (at, &i) in order.iter().enumerate() {
                let (x, bound) = (row(i), c * examples.weights[i]);
                let value: f64 = w.iter().zip(&x).map(|(w, x)| w * x).sum();
                let slope = examples.signs[i] * value - 1.0;
                let held = (alphas[i] <= 0.0 && slope > 0.0) || (alphas[i] >= bound && slope < 0.0);
                let violation = if held { 0.0 } else { slope };
                (largest, least) = if at == 0 {
                    (violation, violation)
                } else {
                    (largest.max(violation), least.min(violation))
                };
                if held {
                    waits[i] = 2 * waits[i] + 1;
                } else {
                    waits[i] = 0;
                    let norm_sq: f64 = x.iter().map(|x| x * x).sum();
                    let new = (alphas[i] - slope / norm_sq).clamp(0.0, bound);
                    let step = examples.signs[i] * (new - alphas[i]);
                    alphas[i] = new;
                    w.iter_mut().zip(&x).for_each(|(w, x)| *w += step * x);
                }
                due.entry(pass + 1 + waits[i]).or_default().push(i);
            }
            visits += order.len();
            if largest - least <= 0.05 {
                if all {
                    return (w, pass + 1, visits, looks);
                }
                due = BTreeMap::from([(pass + 1, (0..n).collect())]);
                looks += 1;
            }
        }
        (w, 100, visits, looks)
    }

    /// Compares the descent with the plain one, in cases with few and with many variables at their bounds. The descent
    /// ends after the first pass over all examples in which the violations differ by at most 0.05, or after 100 passes.
    #[test]
    fn the_descent_is_the_plain_one() {
        descent_is_the_plain_one::<f32>(1.0, 1.0);
        // All values lie between -1 and 1.
        descent_is_the_plain_one::<i16>(1.0 / 16.0, 10.0);
    }

    /// Compares the two descents, with the points multiplied by `size` and C multiplied by `times`.
    fn descent_is_the_plain_one<T: Entry>(size: f64, times: f64) {
        let (mut early, mut capped, mut looks_at_all) = (0, 0, 0);
        for (n, dim, c) in [(4, 200, 1e6), (60, 9, 0.3), (60, 40, 1.0), (60, 40, 1e6)] {
            for seed in 0..20 {
                let (points, labels) = noisy(n, dim, seed);
                let values = points.as_slice().iter().map(|v| v * size).collect();
                let points = Points::new(values, dim).unwrap();
                let c = c * times;
                let signs: Vec<f64> = labels.iter().map(|y| y.as_f64()).collect();
                let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
                let rows: Vec<usize> = (0..n).collect();
                let features = kept::<T>(&points);
                let examples =
                    Examples { features: &features, signs: &signs, weights: &weights, rows: &rows };
                let mut hinge = Hinge::new(&examples).unwrap();
                hinge.solve(&examples, c, 0.05, &mut rng_for(RngStream::CALLER, seed));
                let (w, passes, visits, looks) = plain(&examples, c, seed);
                let scale = w.iter().map(|w| w.abs()).fold(0.0, f64::max);
                let halfspace = hinge.halfspace().unwrap();
                let b = halfspace.bias();
                for (found, w) in halfspace.weights().iter().chain([&b]).zip(&w) {
                    assert!(
                        (found - w).abs() < 1e-4 * scale,
                        "{n} x {dim}, seed {seed}: {found} {w}"
                    );
                }
                early += usize::from(visits < passes * n);
                capped += usize::from(passes == 100);
                looks_at_all += looks;
            }
        }
        assert!(early > 20 && capped > 5 && looks_at_all > 20, "{early} {capped} {looks_at_all}");
    }

    /// The dual objective Σα - ½‖(w, b)‖² for (w, b) = Σ α y (x, 1), in double precision.
    fn dual(examples: &Examples<'_, f32>, alphas: &[f64]) -> f64 {
        let mut sum = vec![0.0; examples.features.dim() + 1];
        for &i in examples.rows {
            let x = examples.features.row(i).as_flattened().iter();
            let x = x.take(examples.features.dim()).chain([&1.0]);
            sum.iter_mut().zip(x).for_each(|(sum, x)| {
                *sum += alphas[i] * examples.signs[i] * f64::from(*x);
            });
        }
        alphas.iter().sum::<f64>() - 0.5 * sum.iter().map(|w| w * w).sum::<f64>()
    }

    /// Checks that two solutions have the same w and b, up to rounding to single precision in every step.
    fn assert_near(a: &Hinge, b: &Hinge) {
        let scale = a.w.as_flattened().iter().fold(1.0, |most: f32, w| most.max(w.abs()));
        let pairs = a.w.as_flattened().iter().zip(b.w.as_flattened());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-6 * scale));
        assert!((a.b - b.b).abs() < 1e-9 * f64::from(scale));
    }

    /// A fit starts from the dual variables for another C. Then (w, b) is the sum over these variables. Either no
    /// multiple of the variables has a larger dual objective, or a variable is at its bound. Rows that are not used for
    /// training are ignored.
    #[test]
    fn a_fit_begins_at_the_best_multiple_of_dual_variables() {
        let (points, labels) = noisy(300, 9, 4);
        // There are more positive than negative rows, so that b matters.
        let sign = |(i, y): (usize, &Label)| if i % 3 == 0 { 1.0 } else { y.as_f64() };
        let signs: Vec<f64> = labels.iter().enumerate().map(sign).collect();
        let weights: Vec<f64> = (0..300).map(|i| 1.0 + f64::from(i % 3)).collect();
        let features = single(&points);
        let all: Vec<usize> = (0..300).collect();
        let rows = &all[..250];
        let examples = Examples { features: &features, signs: &signs, weights: &weights, rows };
        let mut first = Hinge::new(&examples).unwrap();
        first.solve(&examples, 0.01, 0.05, &mut rng_for(RngStream::CALLER, 1));
        let again = Hinge::from_duals(&Examples { rows: &all, ..examples }, first.duals()).unwrap();
        assert_eq!(again.alphas, first.alphas);
        assert!(first.alphas[250..].iter().all(|alpha| *alpha <= 0.0));
        assert_near(&again, &first);

        let (mut inside, mut bounded) = (0, 0);
        for c in [0.008, 0.01, 0.011, 0.02, 1.0, 100.0] {
            let mut hinge = Hinge::from_duals(&examples, first.duals()).unwrap();
            hinge.rescale(&examples, c);
            assert_near(&Hinge::from_duals(&examples, &hinge.alphas).unwrap(), &hinge);
            let within = |factor: f64| {
                let kept = |i: &usize| factor * hinge.alphas[*i] <= c * weights[*i];
                rows.iter().all(kept)
            };
            assert!(within(1.0));
            let times = |factor: f64| hinge.alphas.iter().map(|a| factor * a).collect::<Vec<f64>>();
            let here = dual(&examples, &hinge.alphas);
            if within(1.001) {
                inside += 1;
                assert!(here > dual(&examples, &times(1.001)));
                assert!(here > dual(&examples, &times(0.999)));
            } else {
                bounded += 1;
                assert!(here < dual(&examples, &times(1.000_001)) || c < 0.01);
            }
        }
        assert!(inside > 1 && bounded > 1, "{inside} {bounded}");
    }

    /// Dual variables that are all 0 stay 0. If the sum Σ α y (x, 1) is 0 for positive variables, the bounds determine
    /// the scale.
    #[test]
    fn no_dual_variables_and_rows_that_cancel_are_rescaled() {
        let points = Points::new(vec![1.0, 2.0, 1.0, 2.0], 2).unwrap();
        let features = single(&points);
        let weights = [1.0, 2.0];
        let examples =
            Examples { features: &features, signs: &[1.0, -1.0], weights: &weights, rows: &[0, 1] };
        let mut none = Hinge::new(&examples).unwrap();
        none.rescale(&examples, 3.0);
        assert_eq!((none.duals(), none.b), (&[0.0, 0.0][..], 0.0));
        let mut equal = Hinge::from_duals(&examples, &[0.5, 0.5]).unwrap();
        equal.rescale(&examples, 3.0);
        assert_eq!((equal.duals(), equal.b), (&[3.0, 3.0][..], 0.0));
        assert!(equal.w.as_flattened().iter().all(|w| *w == 0.0));
    }

    #[test]
    fn a_stop_ends_a_warm_start_before_its_sum() {
        let features = single(&Points::new(vec![1.0, 2.0], 1).unwrap());
        let (signs, weights) = ([1.0, -1.0], [1.0, 1.0]);
        let examples =
            Examples { features: &features, signs: &signs, weights: &weights, rows: &[0, 1] };
        let monitor = Monitor::default();
        let start = || Hinge::from_duals(&examples, &[1.0, 1.0]).is_ok();
        assert_eq!(monitor.run(start), Some(true));
        monitor.stop();
        assert_eq!(monitor.run(start), None);
    }
}
