//! Samples uniform points on the sphere of R^d, d >= 3, from the region in which two unit vectors w and w* at an angle
//! θ < π/2 disagree. The number of points may be as large as 10^80.
//!
//! Only the projection of a point onto the plane of w and w* matters. Its length r has P[r >= ρ] = (1 - ρ²)^(d/2-1),
//! and its direction is uniform. The two vectors disagree in a double wedge of probability θ/π. In the wedge,
//! |w · x| = r sin(tθ) and |w* · x| = r sin((1-t)θ), with t uniform on \[0, 1\].
//!
//! For 10^80 points, r and t of the surest misclassified point round to 1. The code therefore stores 1 - r² and 1 - t,
//! and never subtracts nearly equal numbers. Proofs: docs/theory/algorithm-1-in-law.md.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Binomial, Distribution, Poisson};
use std::f64::consts::PI;

/// The largest number of trials for which the number of successes is drawn from a binomial distribution. For more
/// trials, it is drawn from the Poisson distribution; the difference is smaller than rounding errors.
const MOST_BINOMIAL: f64 = 1e15;

/// The angle between two unit vectors, above 0 and below π/2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Angle {
    pub(super) sin: f64,
    pub(super) cos: f64,
}

/// A point on which the two vectors disagree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WrongPoint {
    /// 1 - r².
    pub(super) off_plane: f64,
    /// 1 - t: the angle to the boundary of w*, as a fraction of the angle of the wedge.
    pub(super) turn: f64,
}

impl Angle {
    pub(super) fn new(sin: f64, cos: f64) -> Angle {
        assert!(sin > 0.0 && cos > 0.0, "an update keeps the angle above 0 and below π/2");
        Angle { sin, cos }
    }

    /// θ.
    pub(super) fn radians(self) -> f64 {
        self.sin.atan2(self.cos)
    }

    /// The probability that a point is misclassified: θ/π.
    pub(super) fn error(self) -> f64 {
        self.radians() / PI
    }

    /// The deficit 1 - (|w · x|/sin θ)². It is 0 for the surest possible misclassified point and 1 for a point on the
    /// boundary of w.
    pub(super) fn deficit(self, x: WrongPoint) -> f64 {
        let theta = self.radians();
        // sin²θ - sin²(tθ) = sin((1+t)θ) sin((1-t)θ).
        let turned = ((2.0 - x.turn) * theta).sin() * (x.turn * theta).sin();
        x.off_plane + (1.0 - x.off_plane) * turned / (self.sin * self.sin)
    }

    /// The value of 1 - t for the point in the plane (r = 1) with this deficit.
    fn turn_of(self, deficit: f64) -> f64 {
        // sin φ = sin θ √(1 - deficit), and sin(θ - φ) is computed from the difference of squares.
        let rest = 1.0 - deficit;
        let cos_phi = (self.cos * self.cos + deficit * self.sin * self.sin).sqrt();
        let sin_of_turn = deficit * self.sin / (cos_phi + self.cos * rest.sqrt());
        (sin_of_turn.min(1.0).asin() / self.radians()).min(1.0)
    }

    /// The fraction of misclassified points in the box {1 - r² <= a, 1 - t <= `turn_of(a)`}, where a is `deficit`. The
    /// box contains every point with deficit at most a.
    fn share(self, deficit: f64, dim: usize) -> f64 {
        deficit.powf(0.5 * dim as f64 - 1.0) * self.turn_of(deficit)
    }

    /// Draws a misclassified point at random.
    pub(super) fn any(dim: usize, rng: &mut ChaCha8Rng) -> WrongPoint {
        Angle::within(1.0, 1.0, dim, rng)
    }

    /// Draws a misclassified point from a box.
    fn within(off_plane: f64, turn: f64, dim: usize, rng: &mut ChaCha8Rng) -> WrongPoint {
        let shrunk = rng.random::<f64>().powf(2.0 / (dim as f64 - 2.0));
        WrongPoint { off_plane: off_plane * shrunk, turn: turn * rng.random::<f64>() }
    }

    /// The misclassified point with the largest |w · x| among `count` random points; `None` if no point is
    /// misclassified.
    ///
    /// The result has the exact distribution. The misclassified points are drawn box by box, and each box is about e
    /// times as probable as the previous one. The search stops at the first box with a point whose deficit is at most
    /// that of the box: all surer points lie in the same box.
    pub(super) fn surest(self, count: f64, dim: usize, rng: &mut ChaCha8Rng) -> Option<WrongPoint> {
        let (error, mut drawn) = (self.error(), 0.0);
        let new = |[inner, share]: [f64; 2], rng: &mut ChaCha8Rng| {
            // The probability of this box given that a point is outside the previous one.
            let probability = error * (share - inner) / (1.0 - error * inner);
            let new = occurrences(count - drawn, probability, rng);
            drawn += new;
            new
        };
        self.search(count * error, dim, rng, new, |_, _| Some(())).map(|(x, ())| x)
    }

    /// Performs the search of [`Angle::surest`] among the points that `place` accepts. `expected` is the mean number of
    /// misclassified points. `new` draws the number of points that lie in a box but outside the previous box. Its
    /// argument contains the fractions of the misclassified points that lie in the previous box and in this box.
    /// Returns the point of the largest margin and the value that `place` returned for it.
    pub(super) fn search<T>(
        self,
        expected: f64,
        dim: usize,
        rng: &mut ChaCha8Rng,
        mut new: impl FnMut([f64; 2], &mut ChaCha8Rng) -> f64,
        mut place: impl FnMut(WrongPoint, &mut ChaCha8Rng) -> Option<T>,
    ) -> Option<(WrongPoint, T)> {
        let growth = 1.0 + 2.0 / dim as f64;
        // The first box contains about one point.
        let mut deficit = 1.0;
        while deficit > f64::MIN_POSITIVE && expected * self.share(deficit, dim) > 1.0 {
            deficit /= growth;
        }
        let mut best: Option<(f64, WrongPoint, T)> = None;
        let (mut inner, mut inner_turn, mut inner_share) = (0.0, 0.0, 0.0);
        loop {
            let (turn, share) = (self.turn_of(deficit), self.share(deficit, dim));
            let mut left = new([inner_share, share], rng);
            while left > 0.0 {
                let x = Angle::within(deficit, turn, dim, rng);
                if x.off_plane <= inner && x.turn <= inner_turn {
                    continue;
                }
                left -= 1.0;
                let its = self.deficit(x);
                if best.as_ref().is_none_or(|(least, ..)| its < *least)
                    && let Some(placed) = place(x, rng)
                {
                    best = Some((its, x, placed));
                }
            }
            if deficit >= 1.0 || best.as_ref().is_some_and(|(least, ..)| *least <= deficit) {
                return best.map(|(_, x, placed)| (x, placed));
            }
            (inner, inner_turn, inner_share) = (deficit, turn, share);
            deficit = (deficit * growth).min(1.0);
        }
    }

    /// The angle after the update w -= (w · x) x on a misclassified point.
    pub(super) fn after(self, x: WrongPoint) -> Angle {
        let theta = self.radians();
        let r = (1.0 - x.off_plane).sqrt();
        let of_w = r * ((1.0 - x.turn) * theta).sin();
        let of_target = r * (x.turn * theta).sin();
        // ‖w‖² after the update: 1 - |w · x|².
        let kept = {
            let (sin, cos) = ((1.0 - x.turn) * theta).sin_cos();
            cos * cos + x.off_plane * sin * sin
        };
        let cos = (self.cos + of_w * of_target) / kept.sqrt();
        let sin = (of_target * of_target + x.off_plane * self.sin * self.sin / kept).sqrt();
        Angle::new(sin, cos)
    }
}

/// Draws the number of successes in `count` independent trials.
pub(super) fn occurrences(count: f64, probability: f64, rng: &mut ChaCha8Rng) -> f64 {
    let mean = count * probability;
    if mean <= 0.0 {
        return 0.0;
    }
    if count <= MOST_BINOMIAL {
        let Ok(binomial) = Binomial::new(count as u64, probability.min(1.0)) else {
            unreachable!("{probability} is a probability")
        };
        return binomial.sample(rng) as f64;
    }
    let Ok(poisson) = Poisson::new(mean) else { unreachable!("{mean} is positive and finite") };
    poisson.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{RngStream, kernels, norm, normalise, rng_for};

    fn angle(theta: f64) -> Angle {
        Angle::new(theta.sin(), theta.cos())
    }

    /// Computes |w · x| and |w* · x| by the plain formulas.
    fn plainly(theta: f64, x: WrongPoint) -> [f64; 2] {
        let r = (1.0 - x.off_plane).sqrt();
        [r * ((1.0 - x.turn) * theta).sin(), r * (x.turn * theta).sin()]
    }

    /// Random angles with random misclassified points.
    fn cases() -> impl Iterator<Item = (f64, WrongPoint)> {
        let mut rng = rng_for(RngStream::CALLER, 3);
        (0..2000).map(move |_| {
            let (off_plane, turn) = (rng.random(), rng.random());
            (rng.random_range(0.01..1.5), WrongPoint { off_plane, turn })
        })
    }

    #[test]
    fn deficits_are_those_of_the_values() {
        for (theta, x) in cases() {
            let [of_w, _] = plainly(theta, x);
            let plain = 1.0 - (of_w / theta.sin()).powi(2);
            assert!((angle(theta).deficit(x) - plain).abs() < 1e-12);
            // In the plane, `turn_of` is the inverse.
            let in_plane = WrongPoint { off_plane: 0.0, ..x };
            let found = angle(theta).turn_of(angle(theta).deficit(in_plane));
            assert!((found - x.turn).abs() < 1e-6 + 1e-9 / theta, "{found} {}", x.turn);
        }
    }

    /// The box of a deficit contains every point with at most that deficit.
    #[test]
    fn no_surer_point_lies_outside_a_box() {
        for (theta, x) in cases() {
            let deficit = angle(theta).deficit(x);
            assert!(x.off_plane <= deficit + 1e-15);
            assert!(x.turn <= angle(theta).turn_of(deficit.min(1.0)) + 1e-6);
        }
    }

    /// The update on explicit vectors: x = (r cos φ, r sin φ, √(1-r²)), w* is along the first axis, and w is at the
    /// angle θ from w*.
    #[test]
    fn an_update_is_that_of_vectors() {
        for (theta, x) in cases() {
            let (w, target) = ([theta.cos(), theta.sin(), 0.0], [1.0, 0.0, 0.0]);
            // w · x = r cos(φ - θ) = r sin(tθ) > 0 and w* · x = r cos φ = -r sin((1-t)θ) < 0,
            // with φ = π/2 + (1-t)θ.
            let phi = std::f64::consts::FRAC_PI_2 + x.turn * theta;
            let r = (1.0 - x.off_plane).sqrt();
            let vector = [r * phi.cos(), r * phi.sin(), x.off_plane.sqrt()];
            let value = kernels::dot(&w, &vector);
            assert!((value - plainly(theta, x)[0]).abs() < 1e-12);
            let mut after = w.to_vec();
            kernels::axpy(-value, &vector, &mut after);
            // A short remaining vector is mostly rounding error.
            if norm(&after) > 1e-3 {
                assert!(normalise(&mut after));
                let found = angle(theta).after(x);
                assert!((found.cos - kernels::dot(&after, &target)).abs() < 1e-9);
                assert!((found.sin - after[1].hypot(after[2])).abs() < 1e-9);
                assert!((found.sin.hypot(found.cos) - 1.0).abs() < 1e-12);
            }
        }
    }

    /// Equation (2) of DKTZ23: tan²θ' <= (1 - r²) tan²θ with r = |w · x|/sin θ, with equality where w* · x = 0.
    #[test]
    fn an_update_lowers_the_tangent_by_the_margin() {
        let squared_tangent = |angle: Angle| (angle.sin / angle.cos).powi(2);
        for (theta, x) in cases() {
            let before = angle(theta);
            let [of_w, of_target] = plainly(theta, x);
            let r = of_w / theta.sin();
            let bound = (1.0 - r * r) * squared_tangent(before);
            assert!(squared_tangent(before.after(x)) <= bound * (1.0 + 1e-9) + 1e-12);
            // The exact value: (1 - |w · x|²)/(w · w* + |w · x| |w* · x|)² - 1.
            let along = theta.cos() + of_w * of_target;
            let exact = (1.0 - of_w * of_w) / (along * along) - 1.0;
            let found = squared_tangent(before.after(x));
            assert!((found - exact).abs() < 1e-9 * (1.0 + 1.0 / along.powi(2)), "{found} {exact}");
            let edge = WrongPoint { turn: 0.0, ..x };
            let equal = before.deficit(edge) * squared_tangent(before);
            let found = squared_tangent(before.after(edge));
            assert!((found / equal - 1.0).abs() < 1e-9, "{found} {equal}");
        }
    }

    /// The largest distance between two empirical distribution functions, in units of √((m + n)/(mn)).
    fn smirnov(a: &mut [f64], b: &mut [f64]) -> f64 {
        a.sort_by(f64::total_cmp);
        b.sort_by(f64::total_cmp);
        let (m, n) = (a.len() as f64, b.len() as f64);
        let distance = |v: &f64| {
            let below = |of: &[f64]| of.partition_point(|w| w <= v) as f64;
            (below(a) / m - below(b) / n).abs()
        };
        let largest = a.iter().chain(b.iter()).map(distance).fold(0.0, f64::max);
        largest * (m * n / (m + n)).sqrt()
    }

    /// The statistic exceeds 1.95 with probability 0.001, for every distribution.
    const RARE: f64 = 1.95;

    /// Sampling box by box and drawing every misclassified point give the same distribution of the deficit and of the
    /// turn, and the same probability that no point is misclassified.
    #[test]
    fn the_surest_is_that_of_all_points() {
        let mut rng = rng_for(RngStream::CALLER, 1);
        for (dim, theta, count) in
            [(3, 1.2, 50.0), (4, 0.3, 2000.0), (10, 0.8, 3000.0), (30, 0.02, 900.0)]
        {
            let angle = angle(theta);
            let mut drawn = [Vec::new(), Vec::new()];
            let mut plain = [Vec::new(), Vec::new()];
            for _ in 0..4000 {
                let fast = angle.surest(count, dim, &mut rng);
                drawn[0].push(fast.map_or(2.0, |x| angle.deficit(x)));
                drawn[1].push(fast.map_or(2.0, |x| x.turn));
                let wrong = occurrences(count, angle.error(), &mut rng) as usize;
                let all = (0..wrong).map(|_| Angle::any(dim, &mut rng));
                let best = all.min_by(|a, b| angle.deficit(*a).total_cmp(&angle.deficit(*b)));
                plain[0].push(best.map_or(2.0, |x| angle.deficit(x)));
                plain[1].push(best.map_or(2.0, |x| x.turn));
            }
            for (drawn, plain) in drawn.iter_mut().zip(&mut plain) {
                let distance = smirnov(drawn, plain);
                assert!(distance < RARE, "d = {dim}, θ = {theta}: {distance}");
                // A deficit scaled by 1.2 is rejected.
                let mut off: Vec<f64> = plain.iter().map(|v| 1.2 * v).collect();
                assert!(smirnov(drawn, &mut off) > RARE, "d = {dim}, θ = {theta}");
            }
        }
    }

    /// With the survival function p(m) = (θ/π) E_t[(1 - (m/sin(tθ))²)₊^(d/2-1)], computed by quadrature, (1 - p(m))^n is
    /// uniform if m is the largest of n margins. This tests numbers of points that no other sampler can reach.
    #[test]
    fn the_surest_of_many_has_the_survival_function() {
        let mut rng = rng_for(RngStream::CALLER, 2);
        for (dim, theta, count) in
            [(3, 0.9, 1e20), (10, 0.4, 1e40), (30, 1e-3, 1e80), (30, 1.0, 1e9)]
        {
            let angle = angle(theta);
            let exponent = 0.5 * dim as f64 - 1.0;
            let survival = |deficit: f64| {
                // Substituting turn = (1 - z²) × the largest turn makes the integrand smooth at its root.
                let (most, steps) = (angle.turn_of(deficit), 4000);
                let value = |z: f64| {
                    let turn = most * (1.0 - z * z);
                    let (t_theta, theta) = ((1.0 - turn) * theta, theta);
                    let sides = ((2.0 - turn) * theta).sin() * (turn * theta).sin();
                    let rest = deficit * angle.sin * angle.sin - sides;
                    (rest / t_theta.sin().powi(2)).max(0.0).powf(exponent) * 2.0 * z * most
                };
                let h = 1.0 / f64::from(steps);
                let sum: f64 = (0..steps).map(|i| value((f64::from(i) + 0.5) * h)).sum();
                angle.error() * sum * h
            };
            let mut uniform: Vec<f64> = (0..2000)
                .map(|_| match angle.surest(count, dim, &mut rng) {
                    Some(x) => (count * (-survival(angle.deficit(x))).ln_1p()).exp(),
                    None => 0.0,
                })
                .collect();
            let mut even: Vec<f64> = (0..200_000).map(|i| f64::from(i) / 200_000.0).collect();
            let distance = smirnov(&mut uniform, &mut even);
            assert!(distance < RARE, "d = {dim}, n = {count:e}: {distance}");
        }
    }
}
