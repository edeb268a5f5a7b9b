//! A primal-dual interior-point method for the support vector machine.
//!
//! [`LinearSvm`](crate::LinearSvm) switches to this method if coordinate ascent is slow. A step takes O(nd²) time, but
//! 15 to 60 steps suffice for any C and any scales of the columns.
//!
//! Let z_i = y_i (x_i, 1). At the optimum, v = Σ α_i z_i and z_i · v - 1 = s_i - t_i with s, t >= 0, and the products
//! α_i s_i and (C - α_i) t_i are 0. The central path consists of the points at which all these products equal the same
//! μ > 0. Newton's method follows the path to μ = 0. Its equations reduce to (I + Σ z_i z_i' / q_i) Δv = r with
//! q_i = s_i/α_i + t_i/(C - α_i).
//!
//! *Source.* Mehrotra 1992 (predictor and corrector); Ferris and Munson 2003 (a linear system of the dimension of w).
//! Claims: none of its own. The duality gap certifies the result, as it does for any α.

use super::hinge_loss::HingeLoss;
use super::regularised_loss::{Cholesky, Problem};
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{InputError, Label, PointSet, kernels, zeros};
use std::ops::Range;

/// The maximum number of steps. About 15 steps are usual.
pub(super) const MAX_STEPS: u64 = 60;
/// The method ends if the length of a step is below this number.
const SHORTEST_STEP: f64 = 1e-4;
/// The largest fraction of the distance to the boundary that a step may cover.
const MOST_OF_THE_WAY: f64 = 0.995;
/// Variables that belong at a bound are set to this bound once the gap has shrunk to this fraction of the requested
/// gap. If the resulting gap is still too large, the fraction is multiplied by `GAP_SHARE` again.
const GAP_SHARE: f64 = 0.1;
/// The initial μ, in units of C times the mean |z · v - 1|.
const FIRST_MU: f64 = 0.5;
/// The largest correction of a product, in units of μ.
const LARGEST_BEND: f64 = 10.0;
/// The number of points whose terms a loop computes before it sums them.
const BLOCK: usize = 64;

/// The variables of one point, or their changes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Dual {
    alpha: f64,
    /// The room C - α: the amount by which α can still rise.
    room: f64,
    /// The multipliers of α >= 0 and α <= C.
    s: f64,
    t: f64,
    /// The slope z · v - 1.
    slope: f64,
}

/// The values that the products α s and (C - α) t should take.
type Products = (f64, f64);

impl Dual {
    /// Creates the variables with α s = (C - α) t = μ.
    fn central(slope: f64, c: f64, mu: f64) -> Dual {
        // The slope equals s - t, and μ/s + μ/t = C.
        let root = (c * slope).hypot(2.0 * mu);
        let [s, t] = [slope, -slope].map(|slope| (2.0 * mu + c * slope + root) / (2.0 * c));
        Dual { alpha: mu / s, room: mu / t, s, t, slope }
    }

    /// The weight 1/q.
    #[inline(always)]
    fn weight(&self) -> f64 {
        (self.s / self.alpha + self.t / self.room).recip()
    }

    /// The value that z · Δv + q Δα must have.
    #[inline(always)]
    fn residual(&self, (low, high): Products) -> f64 {
        low / self.alpha - high / self.room - self.slope
    }

    /// The change of the variables that results from a change z · Δv of the slope.
    #[inline(always)]
    fn change(&self, weight: f64, (low, high): Products, slope: f64) -> Dual {
        let alpha = weight * (self.residual((low, high)) - slope);
        let s = (low - self.s * alpha) / self.alpha - self.s;
        let t = (high + self.t * alpha) / self.room - self.t;
        Dual { alpha, room: -alpha, s, t, slope }
    }

    /// The values that the products should take for this μ, corrected for the curvature of the predictor step. The
    /// predictor step changes the slope by `slope`.
    #[inline(always)]
    fn bent(&self, weight: f64, slope: f64, mu: f64) -> Products {
        let straight = self.change(weight, (0.0, 0.0), slope);
        // With a larger correction, a few points would shorten the step for all points.
        let most = LARGEST_BEND * mu;
        let bend = |product: f64| product.min(most).max(-most);
        (mu - bend(straight.alpha * straight.s), mu - bend(straight.room * straight.t))
    }

    /// The largest relative decrease of a positive variable.
    #[inline(always)]
    fn fall(&self, change: &Dual) -> f64 {
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        larger(
            larger(-change.alpha / self.alpha, -change.room / self.room),
            larger(-change.s / self.s, -change.t / self.t),
        )
    }

    /// Returns α, moved to a bound if the bound minimises ½ `square` α² + slope α. `square` is ‖z‖².
    fn settled(&self, c: f64, square: f64) -> f64 {
        match () {
            () if self.slope >= square * self.alpha => 0.0,
            () if -self.slope >= square * self.room => c,
            () => self.alpha.clamp(0.0, c),
        }
    }
}

/// A range of points, with their variables.
struct Part {
    range: Range<usize>,
    alphas: Vec<f64>,
    rooms: Vec<f64>,
    s: Vec<f64>,
    t: Vec<f64>,
    slopes: Vec<f64>,
    weights: Vec<f64>,
    factors: Vec<f64>,
    /// The values of z · Δv for the predictor step to μ = 0, and for the step taken.
    straight: Vec<f64>,
    taken: Vec<f64>,
}

/// The task of a loop over the points of a part.
#[derive(Clone, Copy)]
enum Work {
    /// Compute the weights and the factors of the right-hand side for μ = 0.
    Begin,
    /// Compute the factors of the right-hand side for this μ.
    Bend { mu: f64 },
    /// Find the feasible length of the predictor step.
    Straight,
    /// Find the feasible length of the corrected step for this μ.
    Taken { mu: f64 },
    /// Take the step for this μ, scaled by `length`.
    Go { mu: f64, length: f64 },
}

/// The effect of a step on all points.
#[derive(Debug, Clone, Copy)]
struct Extent {
    /// The largest relative decrease of a positive variable, over all points.
    fall: f64,
    /// A step scaled by λ changes the sum of the products by `first` λ + `second` λ².
    first: f64,
    second: f64,
}

impl Extent {
    fn with(self, other: Extent) -> Extent {
        Extent {
            fall: self.fall.max(other.fall),
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }

    fn of_all(parts: Vec<Extent>) -> Extent {
        let Some(all) = parts.into_iter().reduce(Extent::with) else {
            unreachable!("a sample has points")
        };
        all
    }

    /// The largest multiple of the step, up to `most`, that keeps all variables nonnegative.
    fn longest(&self, most: f64) -> f64 {
        most.min(self.fall.recip())
    }
}

struct PartLoop<'a> {
    part: &'a mut Part,
    labels: &'a [Label],
    work: Work,
}

impl Wide for PartLoop<'_> {
    type Output = Extent;

    #[inline(always)]
    fn run(self) -> Extent {
        let PartLoop { part, labels, work } = self;
        let n = labels.len();
        let mut extent = Extent { fall: MOST_OF_THE_WAY, first: 0.0, second: 0.0 };
        for begin in (0..n).step_by(BLOCK) {
            let block = begin..n.min(begin + BLOCK);
            let n = block.len();
            let straight = &part.straight[block.clone()][..n];
            let taken = &part.taken[block.clone()][..n];
            let alphas = &mut part.alphas[block.clone()][..n];
            let rooms = &mut part.rooms[block.clone()][..n];
            let s = &mut part.s[block.clone()][..n];
            let t = &mut part.t[block.clone()][..n];
            let slopes = &mut part.slopes[block.clone()][..n];
            let weights = &mut part.weights[block.clone()][..n];
            let factors = &mut part.factors[block.clone()][..n];
            let labels = &labels[block][..n];
            macro_rules! dual {
                ($i:ident) => {
                    Dual {
                        alpha: alphas[$i],
                        room: rooms[$i],
                        s: s[$i],
                        t: t[$i],
                        slope: slopes[$i],
                    }
                };
            }
            match work {
                Work::Begin => {
                    for i in 0..n {
                        let dual = dual!(i);
                        weights[i] = dual.weight();
                        factors[i] = labels[i].as_f64() * weights[i] * dual.residual((0.0, 0.0));
                    }
                }
                Work::Bend { mu } => {
                    for i in 0..n {
                        let dual = dual!(i);
                        let products = dual.bent(weights[i], straight[i], mu);
                        factors[i] = labels[i].as_f64() * weights[i] * dual.residual(products);
                    }
                }
                Work::Straight | Work::Taken { .. } => {
                    let [mut fall, mut first, mut second] = [[0.0; BLOCK]; 3];
                    for i in 0..n {
                        let dual = dual!(i);
                        let change = match work {
                            Work::Taken { mu } => {
                                let products = dual.bent(weights[i], straight[i], mu);
                                dual.change(weights[i], products, taken[i])
                            }
                            _ => dual.change(weights[i], (0.0, 0.0), straight[i]),
                        };
                        fall[i] = dual.fall(&change);
                        let low = dual.alpha * change.s + change.alpha * dual.s;
                        first[i] = low + dual.room * change.t + change.room * dual.t;
                        second[i] = change.alpha * change.s + change.room * change.t;
                    }
                    let of_block = Extent {
                        fall: fall.into_iter().fold(0.0, f64::max),
                        first: first.into_iter().sum(),
                        second: second.into_iter().sum(),
                    };
                    extent = extent.with(of_block);
                }
                Work::Go { mu, length } => {
                    for i in 0..n {
                        let dual = dual!(i);
                        let products = dual.bent(weights[i], straight[i], mu);
                        let change = dual.change(weights[i], products, taken[i]);
                        alphas[i] += length * change.alpha;
                        rooms[i] += length * change.room;
                        s[i] += length * change.s;
                        t[i] += length * change.t;
                        slopes[i] += length * change.slope;
                    }
                }
            }
        }
        extent
    }
}

impl Part {
    fn new(range: Range<usize>, duals: impl Iterator<Item = Dual>) -> Part {
        let zeros = || vec![0.0; range.len()];
        let mut part = Part {
            alphas: zeros(),
            rooms: zeros(),
            s: zeros(),
            t: zeros(),
            slopes: zeros(),
            weights: zeros(),
            factors: zeros(),
            straight: zeros(),
            taken: zeros(),
            range: range.clone(),
        };
        for (i, dual) in duals.enumerate() {
            part.alphas[i] = dual.alpha;
            part.rooms[i] = dual.room;
            part.s[i] = dual.s;
            part.t[i] = dual.t;
            part.slopes[i] = dual.slope;
        }
        part
    }

    fn dual(&self, i: usize) -> Dual {
        let Part { alphas, rooms, s, t, slopes, .. } = self;
        Dual { alpha: alphas[i], room: rooms[i], s: s[i], t: t[i], slope: slopes[i] }
    }

    fn run<P>(&mut self, problem: &Problem<'_, P>, work: Work) -> Extent {
        let labels = &problem.labels[self.range.clone()];
        run_wide(PartLoop { part: self, labels, work })
    }

    /// Returns Σ α s + (C - α) t, and Σ max(0, 1 - z · v).
    fn sums(&self) -> [f64; 2] {
        let products = kernels::dot(&self.alphas, &self.s) + kernels::dot(&self.rooms, &self.t);
        [products, self.slopes.iter().map(|slope| (-slope).max(0.0)).sum()]
    }
}

/// The result of the interior-point method.
#[derive(Debug, PartialEq)]
pub(super) struct Inner {
    pub(super) alphas: Vec<f64>,
    pub(super) steps: u64,
}

/// Improves dual variables until the duality gap, relative to P, is below `tolerance`, or until rounding prevents
/// further progress. If the equations can no longer be solved, returns the best variables so far.
///
/// # Errors
/// [`InputError::TooLarge`].
pub(super) fn interior_point<P: PointSet>(
    problem: &Problem<'_, P>,
    alphas: &[f64],
    tolerance: f64,
) -> Result<Inner, InputError> {
    let (c, unknowns, threads) = (problem.c, problem.unknowns(), problem.threads);
    let Objectives { mut v, slopes, .. } = Objectives::at(problem, alphas)?;
    let typical = slopes.iter().map(|slope| slope.abs()).sum::<f64>() / slopes.len() as f64;
    let central = |i: usize| Dual::central(slopes[i], c, FIRST_MU * c * typical);
    let part = |range: Range<usize>| Part::new(range.clone(), range.map(central));
    let mut parts: Vec<Part> = problem.parts().map(part).collect();
    // The difference Σ α z - v. A step reduces the difference by the same factor as all linear residuals.
    let missing_of = |parts: &[Part], v: &[f64]| -> Result<Vec<f64>, InputError> {
        let alphas: Vec<f64> = parts.iter().flat_map(|part| &part.alphas).copied().collect();
        let sum = problem.signed_sum(&alphas)?;
        Ok(sum.iter().zip(v).map(|(sum, v)| sum - v).collect())
    };
    let mut missing = missing_of(&parts, &v)?;

    let settled = |part: &Part| -> Vec<f64> {
        let points = part.range.clone().enumerate();
        points.map(|(i, index)| part.dual(i).settled(c, problem.square(index))).collect()
    };
    let (mut steps, mut enough) = (0, GAP_SHARE * tolerance);
    while steps < MAX_STEPS {
        let sums = threads.map_with(parts.iter(), || (), |(), part| part.sums());
        let [products, loss] =
            sums.iter().fold([0.0; 2], |[p, l], sums| [p + sums[0], l + sums[1]]);
        let primal = 0.5 * kernels::norm_sq(&v) + c * loss;
        if products <= enough * primal {
            let alphas = parts.iter().map(settled).collect::<Vec<_>>().concat();
            if Objectives::at(problem, &alphas)?.relative_gap() <= tolerance {
                return Ok(Inner { alphas, steps });
            }
            enough *= GAP_SHARE;
            // Rounding errors accumulate in this difference over the steps, so it is computed again.
            missing = missing_of(&parts, &v)?;
        }
        // The matrix of the equations, followed by the right-hand side.
        let mut equations = zeros(unknowns + 1, unknowns)?;
        equations[unknowns * unknowns..].copy_from_slice(&missing);
        let (equations, _) = problem.over(parts.iter_mut(), equations, |part, equations| {
            let (matrix, right) = equations.split_at_mut(unknowns * unknowns);
            part.run(problem, Work::Begin);
            problem.add_outer_products_of(part.range.clone(), &part.weights, matrix);
            problem.add_scaled_of(part.range.clone(), &part.factors, right);
        });
        let (matrix, right) = equations.split_at(unknowns * unknowns);
        let mut step = right.to_vec();
        let Some(mut matrix) = Cholesky::new(matrix, unknowns, unknowns) else { break };
        // The predictor step to μ = 0 determines the feasible length and the curvature.
        matrix.solve(&mut step);
        let extents = threads.map_with(
            parts.iter_mut(),
            || (),
            |(), part| {
                problem.margins_of(part.range.clone(), &step, &mut part.straight);
                part.run(problem, Work::Straight)
            },
        );
        let straight = Extent::of_all(extents);
        let length = straight.longest(1.0);
        let left = (products + length * (straight.first + length * straight.second)) / products;
        let mu = products / (2 * alphas.len()) as f64 * left.max(0.0).powi(3);
        let (mut step, _) = problem.over(parts.iter_mut(), missing.clone(), |part, right| {
            part.run(problem, Work::Bend { mu });
            problem.add_scaled_of(part.range.clone(), &part.factors, right);
        });
        matrix.solve(&mut step);
        let extents = threads.map_with(
            parts.iter_mut(),
            || (),
            |(), part| {
                problem.margins_of(part.range.clone(), &step, &mut part.taken);
                part.run(problem, Work::Taken { mu })
            },
        );
        let taken = Extent::of_all(extents);
        let length = MOST_OF_THE_WAY * taken.longest(1.0 / MOST_OF_THE_WAY);
        if !(length >= SHORTEST_STEP && kernels::norm_sq(&step).is_finite()) {
            break;
        }
        steps += 1;
        kernels::axpy(length, &step, &mut v);
        missing.iter_mut().for_each(|missing| *missing *= 1.0 - length);
        threads.map_with(
            parts.iter_mut(),
            || (),
            |(), part| part.run(problem, Work::Go { mu, length }),
        );
    }
    // The last α, moved to the bounds, is not always the best. It is compared with the α before the move and with the
    // initial α.
    let settled = parts.iter().map(settled).collect::<Vec<_>>().concat();
    let inside = |alpha: &f64| alpha.clamp(0.0, c);
    let unsettled: Vec<f64> = parts.iter().flat_map(|part| &part.alphas).map(inside).collect();
    let nearest = nearer(problem, nearer(problem, settled, unsettled)?, alphas.to_vec())?;
    Ok(Inner { alphas: nearest, steps })
}

/// The objectives P and D at some α.
pub(super) struct Objectives {
    /// The vector (w, b) = Σ α z, recomputed from α.
    pub(super) v: Vec<f64>,
    /// For every point, the derivative of -D with respect to the α of the point. For the hinge loss, this is z · v - 1.
    pub(super) slopes: Vec<f64>,
    pub(super) primal: f64,
    pub(super) dual: f64,
}

impl Objectives {
    /// # Errors
    /// [`InputError::TooLarge`].
    pub(super) fn at<P: PointSet>(
        problem: &Problem<'_, P>,
        alphas: &[f64],
    ) -> Result<Objectives, InputError> {
        let v = problem.signed_sum(alphas)?;
        let slopes: Vec<f64> = problem.margins(&v).iter().map(|margin| margin - 1.0).collect();
        let penalty = 0.5 * kernels::norm_sq(&v);
        let loss: f64 = slopes.iter().map(|slope| (-slope).max(0.0)).sum();
        let (primal, dual) = (penalty + problem.c * loss, alphas.iter().sum::<f64>() - penalty);
        Ok(Objectives { v, slopes, primal, dual })
    }

    /// Computes the objectives for the hinge loss or its square, with or without weights.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub(super) fn of<P: PointSet>(
        problem: &Problem<'_, P>,
        loss: HingeLoss<'_>,
        alphas: &[f64],
    ) -> Result<Objectives, InputError> {
        let mut found = Objectives::at(problem, alphas)?;
        if !loss.squared && loss.weights.is_none() {
            return Ok(found);
        }
        found.primal = 0.5 * kernels::norm_sq(&found.v);
        for (i, (slope, alpha)) in found.slopes.iter_mut().zip(alphas).enumerate() {
            let bend = loss.curvature(i) * alpha;
            found.primal += loss.value(i, -*slope);
            found.dual -= 0.5 * bend * alpha;
            *slope += bend;
        }
        Ok(found)
    }

    /// The relative gap (P - D)/P.
    fn relative_gap(&self) -> f64 {
        (self.primal - self.dual) / self.primal
    }
}

/// Of the two given α, returns the one with the smaller gap.
///
/// # Errors
/// [`InputError::TooLarge`].
fn nearer<P: PointSet>(
    problem: &Problem<'_, P>,
    one: Vec<f64>,
    other: Vec<f64>,
) -> Result<Vec<f64>, InputError> {
    let gap = |alphas: &[f64]| Ok(Objectives::at(problem, alphas)?.relative_gap());
    let first = gap(&one)? <= gap(&other)?;
    Ok(if first { one } else { other })
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Gaussian, Marginal, random_target};
    use halfspaces_linalg::{Classifier, Points, SparsePoints, Threads};
    use proptest::prelude::*;

    /// Points with every tenth label wrong, and with columns of scales 1 to `largest`.
    fn noisy(n: usize, dim: usize, largest: f64) -> (Points, Vec<Label>) {
        noisy_of(Gaussian::new(dim, 1.0).unwrap().sample(n, 3).unwrap(), 4, largest)
    }

    fn noisy_of(points: Points, target: u64, largest: f64) -> (Points, Vec<Label>) {
        let dim = points.dim();
        let mut labels = random_target(dim, target).unwrap().label_all(&points).unwrap();
        labels.iter_mut().step_by(10).for_each(|y| *y = -*y);
        let scale = |j: usize| largest.powf(j as f64 / (dim - 1) as f64);
        let scaled = points.as_slice().iter().enumerate().map(|(i, v)| v * scale(i % dim));
        (Points::new(scaled.collect(), dim).unwrap(), labels)
    }

    /// The gap P - D, relative to P.
    fn gap(problem: &Problem<'_, Points>, alphas: &[f64]) -> f64 {
        assert!(alphas.iter().all(|alpha| (0.0..=problem.c).contains(alpha)));
        let v = problem.signed_sum(alphas).unwrap();
        let penalty = 0.5 * kernels::norm_sq(&v);
        let loss: f64 = problem.margins(&v).iter().map(|m| (1.0 - m).max(0.0)).sum();
        let (primal, dual) = (penalty + problem.c * loss, alphas.iter().sum::<f64>() - penalty);
        (primal - dual) / primal
    }

    #[test]
    fn some_tens_of_steps_reach_the_gap_whatever_c_and_the_scales() {
        for largest in [1.0, 1000.0] {
            let (points, labels) = noisy(500, 6, largest);
            for c in [0.001, 1.0, 1000.0] {
                for intercept in [false, true] {
                    let problem =
                        Problem::new(&points, &labels, None, c, intercept, Threads::ONE).unwrap();
                    // With α = 1000 and coordinates of 1000, the rounding error is 1e-8.
                    let finest = if largest * c < 1e6 { 1e-8 } else { 1e-6 };
                    for tolerance in [1e-2, 1e-4, finest] {
                        assert_reached(&problem, tolerance);
                    }
                }
            }
        }
    }

    #[test]
    fn large_c_and_scales_leave_a_gap_of_a_millionth() {
        for seed in 0..20 {
            let points = Gaussian::new(6, 1.0).unwrap().sample(500, 100 + seed).unwrap();
            let (points, labels) = noisy_of(points, 400 + seed, 1000.0);
            for intercept in [false, true] {
                let problem =
                    Problem::new(&points, &labels, None, 1e3, intercept, Threads::ONE).unwrap();
                assert_reached(&problem, 1e-6);
            }
        }
    }

    fn assert_reached(problem: &Problem<'_, Points>, tolerance: f64) {
        let inner = interior_point(problem, &[0.0; 500], tolerance).unwrap();
        let gap = gap(problem, &inner.alphas);
        let most = if tolerance < 1e-4 { 40 } else { 25 };
        assert!(gap <= tolerance && inner.steps <= most, "{gap:e} {}", inner.steps);
        // Points whose variable is not at a bound lie on the margin. There are few such points.
        let inside = inner.alphas.iter().filter(|a| **a > 0.0 && **a < problem.c).count();
        assert!(tolerance > 1e-6 || inside <= 20, "{inside}");
    }

    /// The columns are multiples of each other with very different scales, so the equations are singular up to
    /// rounding.
    #[test]
    fn what_was_found_is_kept_where_equations_cannot_be_solved() {
        let (points, labels) = noisy(300, 3, 1.0);
        let mut stopped = 0;
        for far in 0..16 {
            let times = 10f64.powi(far);
            let row = |x: &[f64]| [x[0], x[1], x[2], times * x[0], times * x[1]];
            let rows: Vec<[f64; 5]> = points.as_slice().chunks(3).map(row).collect();
            let points = Points::from_rows(&rows).unwrap();
            let problem = Problem::new(&points, &labels, None, 1.0, true, Threads::ONE).unwrap();
            let begun = vec![1e-3; 300];
            let inner = interior_point(&problem, &begun, 1e-10).unwrap();
            let (found, before) = (gap(&problem, &inner.alphas), gap(&problem, &begun));
            assert!(found <= before, "{far}: {found} {before}");
            assert!(far > 6 || found < 1e-3, "{far}: {found}");
            stopped += u32::from(found > 1e-10);
        }
        assert!(stopped > 0);
    }

    #[test]
    fn sparse_points_and_threads_take_the_same_steps() {
        let (points, labels) = noisy(20_000, 5, 10.0);
        let run = |threads: usize| {
            let threads = Threads::new(threads).unwrap();
            let problem = Problem::new(&points, &labels, None, 1.0, true, threads).unwrap();
            interior_point(&problem, &vec![0.0; 20_000], 1e-4).unwrap()
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(5));
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let problem = Problem::new(&sparse, &labels, None, 1.0, true, Threads::ONE).unwrap();
        assert_eq!(one, interior_point(&problem, &vec![0.0; 20_000], 1e-4).unwrap());
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![-9.0..9.0f64, Just(0.0)]
    }

    proptest! {
        #[test]
        fn central_points_have_equal_products(slope in number(), c in 0.01..9.0f64, mu in 1e-3..9.0f64) {
            let Dual { alpha, room, s, t, .. } = Dual::central(slope, c, mu);
            prop_assert!((alpha + room - c).abs() < 1e-9 * c);
            prop_assert!((s - t - slope).abs() < 1e-9 * s.max(t));
            prop_assert!((alpha * s - mu).abs() < 1e-12 && (room * t - mu).abs() < 1e-12);
        }

        /// Checks the four equations of Newton's method, one by one.
        #[test]
        fn changes_solve_the_equations(
            (alpha, room, s, t) in (0.1..2.0f64, 0.1..2.0f64, 0.1..2.0f64, 0.1..2.0f64),
            (slope, change_of_slope) in (number(), number()),
            (low, high, mu) in (0.0..2.0f64, 0.0..2.0f64, 0.0..2.0f64),
        ) {
            let dual = Dual { alpha, room, s, t, slope };
            let weight = dual.weight();
            let change = dual.change(weight, (low, high), change_of_slope);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + a.abs() + b.abs());
            prop_assert!(near(change.room, -change.alpha) && change.slope == change_of_slope);
            prop_assert!(near(alpha * s + s * change.alpha + alpha * change.s, low));
            prop_assert!(near(room * t + t * change.room + room * change.t, high));
            // The slope stays equal to s - t.
            prop_assert!(near(slope + change.slope, s + change.s - t - change.t));
            prop_assert!(near(change.slope + change.alpha / weight, dual.residual((low, high))));
            // The products of the predictor changes are subtracted from μ, so the new products equal μ to second order.
            let straight = dual.change(weight, (0.0, 0.0), change_of_slope);
            let (low, high) = dual.bent(weight, change_of_slope, mu);
            let bend = |product: f64| product.clamp(-10.0 * mu, 10.0 * mu);
            prop_assert!(near(low + bend(straight.alpha * straight.s), mu));
            prop_assert!(near(high + bend(-straight.alpha * straight.t), mu));

            // The step reaches the nearest bound exactly.
            let fall = dual.fall(&change);
            let all = [(alpha, change.alpha), (room, change.room), (s, change.s), (t, change.t)];
            let least = |length: f64| all.iter().map(|(v, c)| v + length * c).fold(f64::MAX, f64::min);
            if fall > 1e-6 {
                prop_assert!(least(fall.recip()).abs() < 1e-6 && least(0.99 / fall) > 0.0);
            } else {
                prop_assert!(least(1.0) > 0.0);
            }
        }
    }

    /// A loop over points gives the same results as the formulas for single points, and returns the feasible length of
    /// the step.
    #[test]
    fn loops_are_the_plain_formulas() {
        let n = 2 * BLOCK + 7;
        let mut part =
            Part::new(0..n, (0..n).map(|i| Dual::central(i as f64 / 40.0 - 2.0, 2.0, 0.3)));
        let labels: Vec<Label> = (0..n).map(|i| Label::from_sign(i as f64 - 9.0)).collect();
        let at = |part: &Part| (0..n).map(|i| part.dual(i)).collect::<Vec<Dual>>();
        let (before, mu, length) = (at(&part), 0.1, 0.7);
        for (i, (straight, taken)) in part.straight.iter_mut().zip(&mut part.taken).enumerate() {
            (*straight, *taken) = ((i % 5) as f64 - 2.0, (i % 7) as f64 - 3.0);
        }
        fn run(part: &mut Part, labels: &[Label], work: Work) -> Extent {
            PartLoop { part, labels, work }.run()
        }
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + b.abs());
        run(&mut part, &labels, Work::Begin);
        let factor =
            |i: usize, target| labels[i].as_f64() * before[i].weight() * before[i].residual(target);
        assert!((0..n).all(|i| part.weights[i] == before[i].weight()));
        assert!((0..n).all(|i| part.factors[i] == factor(i, (0.0, 0.0))));
        let bent = |i: usize| before[i].bent(before[i].weight(), ((i % 5) as f64) - 2.0, mu);
        run(&mut part, &labels, Work::Bend { mu });
        assert!((0..n).all(|i| close(part.factors[i], factor(i, bent(i)))));

        let straight =
            |i: usize| before[i].change(before[i].weight(), (0.0, 0.0), ((i % 5) as f64) - 2.0);
        let taken =
            |i: usize| before[i].change(before[i].weight(), bent(i), ((i % 7) as f64) - 3.0);
        let products = |change: &dyn Fn(usize) -> Dual| -> f64 {
            let after = |i: usize| {
                let (d, c) = (before[i], change(i));
                (d.alpha + length * c.alpha) * (d.s + length * c.s)
                    + (d.room + length * c.room) * (d.t + length * c.t)
            };
            (0..n).map(after).sum()
        };
        let start = part.sums();
        let loss: f64 = before.iter().map(|d| (-d.slope).max(0.0)).sum();
        assert!(close(start[0], n as f64 * 0.6) && close(start[1], loss));
        let cases: [(Work, &dyn Fn(usize) -> Dual); 2] =
            [(Work::Straight, &straight), (Work::Taken { mu }, &taken)];
        for (work, change) in cases {
            let extent = run(&mut part, &labels, work);
            let fall = (0..n).map(|i| before[i].fall(&change(i))).fold(0.0, f64::max);
            assert!(close(extent.fall, fall) && close(extent.longest(1e9), fall.recip()));
            assert_eq!(extent.longest(1e-9), 1e-9);
            let left = start[0] + length * (extent.first + length * extent.second);
            assert!(close(left, products(change)));
        }
        run(&mut part, &labels, Work::Go { mu, length });
        for (i, dual) in at(&part).iter().enumerate() {
            let (d, c) = (before[i], taken(i));
            assert!(
                close(dual.alpha, d.alpha + length * c.alpha)
                    && close(dual.room, d.room + length * c.room)
            );
            assert!(close(dual.s, d.s + length * c.s) && close(dual.t, d.t + length * c.t));
            assert!(close(dual.slope, d.slope + length * c.slope));
        }
    }

    #[test]
    fn the_smaller_gap_is_kept() {
        let points = Points::new(vec![1.0], 1).unwrap();
        let problem =
            Problem::new(&points, &[Label::Positive], None, 1.0, false, Threads::ONE).unwrap();
        // The gap is (1 - α)².
        assert_eq!(nearer(&problem, vec![0.5], vec![0.25]).unwrap(), [0.5]);
        assert_eq!(nearer(&problem, vec![0.5], vec![0.75]).unwrap(), [0.75]);
    }

    #[test]
    fn what_its_bound_holds_is_put_there() {
        let settled = |alpha: f64, slope: f64| {
            Dual { alpha, room: 2.0 - alpha, s: 1.0, t: 1.0, slope }.settled(2.0, 10.0)
        };
        assert_eq!((settled(0.125, 1.25), settled(0.125, 1.24)), (0.0, 0.125));
        assert_eq!((settled(1.875, -1.25), settled(1.875, -1.24)), (2.0, 1.875));
        let zero = Dual { alpha: 1.0, room: 1.0, s: 1.0, t: 2.0, slope: -1.0 };
        assert_eq!(zero.settled(2.0, 0.0), 2.0);
    }
}
