//! Hit-and-run steps of eight chains at a time.
//!
//! Each chain draws its own direction, from the differences of a cloud of points to their mean, and goes
//! to a uniform point of its chord. What the chains of a panel share is reading: of the cloud for their
//! directions, of the cuts for their chords. Every sum is taken in the order of [`kernels::dot`] and
//! [`kernels::axpy`], and random numbers are drawn in the order of single steps, so a panel moves its
//! chains where steps one by one would, to the bit.
//!
//! *Source.* Bertsimas and Vempala 2004 for hit-and-run with cuts.

use faer::traits::pulp::{Arch, Simd, WithSimd};
use halfspaces_linalg::{kernels, norm};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Chains stepped together, and rows or columns taken side by side.
const PANEL: usize = kernels::LANES;

/// The points that directions are drawn from, and their mean, eight columns at a time.
pub(crate) struct Cloud {
    /// For every eight columns, their values in each point.
    tiles: Vec<Vec<[f64; PANEL]>>,
    means: Vec<[f64; PANEL]>,
    size: usize,
}

impl Cloud {
    pub(crate) fn new(points: &[Vec<f64>], mean: &[f64]) -> Cloud {
        let eight = |row: &[f64], first: usize| -> [f64; PANEL] {
            std::array::from_fn(|j| row.get(first + j).copied().unwrap_or(0.0))
        };
        let firsts = (0..mean.len()).step_by(PANEL);
        let tile = |first: usize| points.iter().map(|row| eight(row, first)).collect();
        Cloud {
            tiles: firsts.clone().map(tile).collect(),
            means: firsts.map(|first| eight(mean, first)).collect(),
            size: points.len(),
        }
    }
}

/// The cuts a · w >= 0, eight rows at a time, and one more, a · w >= `level`.
pub(crate) struct Cuts<'a> {
    /// For every eight cuts, their values in each column, in the order of [`places`]; cuts and columns
    /// that are missing are zero.
    groups: Vec<Vec<[f64; PANEL]>>,
    last: &'a [f64],
    level: f64,
}

impl<'a> Cuts<'a> {
    pub(crate) fn new(cuts: &[Vec<f64>], last: &'a [f64], level: f64) -> Cuts<'a> {
        let group = |rows: &[Vec<f64>]| -> Vec<[f64; PANEL]> {
            let value = |i: usize, j: usize| rows.get(i).and_then(|row| row.get(j)).copied();
            let column = |j| std::array::from_fn(|i| value(i, j).unwrap_or(0.0));
            places(last.len()).map(column).collect()
        };
        Cuts { groups: cuts.chunks(PANEL).map(group).collect(), last, level }
    }

    /// One step of every point, in directions drawn from `cloud`.
    pub(crate) fn round(&self, points: &mut [Vec<f64>], cloud: &Cloud, rng: &mut ChaCha8Rng) {
        let mut panel = Panel::new(cloud, self.last.len());
        let mut rest = points;
        while !rest.is_empty() {
            let done = panel.step(self, rest, cloud, rng);
            rest = rest.get_mut(done..).unwrap_or_default();
        }
    }
}

/// Chains under way, with room for what they need.
struct Panel {
    /// Points and directions, in the order of [`places`].
    placed: [[Vec<f64>; PANEL]; 2],
    /// Weights of the points of the cloud, one for each chain.
    weights: Vec<[f64; PANEL]>,
    directions: [Vec<f64>; PANEL],
    /// Where the generator stood before each chain's last draw.
    before: [u128; PANEL],
    uniform: [f64; PANEL],
}

impl Panel {
    fn new(cloud: &Cloud, dim: usize) -> Panel {
        Panel {
            placed: std::array::from_fn(|_| std::array::from_fn(|_| Vec::new())),
            weights: vec![[0.0; PANEL]; cloud.size],
            directions: std::array::from_fn(|_| vec![0.0; dim]),
            before: [0; PANEL],
            uniform: [0.0; PANEL],
        }
    }

    /// One step of the first chains; how many have made theirs, 1 at least.
    fn step(
        &mut self,
        cuts: &Cuts<'_>,
        points: &mut [Vec<f64>],
        cloud: &Cloud,
        rng: &mut ChaCha8Rng,
    ) -> usize {
        let count = points.len().min(PANEL);
        self.draw(count, rng);
        let arch = Arch::new();
        arch.dispatch(Directions { cloud, weights: &self.weights, out: &mut self.directions });
        let mut lengths = [0.0; PANEL];
        for (u, length) in self.directions.iter_mut().zip(&mut lengths) {
            *length = norm(u);
            if *length > 0.0 {
                u.iter_mut().for_each(|v| *v /= *length);
            }
        }
        let [placed_points, placed_directions] = &mut self.placed;
        for (w, placed) in points.iter().zip(placed_points.iter_mut()) {
            place(w, placed);
        }
        for (u, placed) in self.directions.iter().zip(placed_directions.iter_mut()) {
            place(u, placed);
        }
        // What is left of a fuller panel before only keeps its place.
        for placed in placed_points.iter_mut().filter(|placed| placed.is_empty()) {
            placed.resize(placed_directions[0].len(), 0.0);
        }
        let chords =
            arch.dispatch(Chords { cuts, points: placed_points, directions: placed_directions });
        let chains = points.iter_mut().zip(&self.directions).zip(lengths).zip(chords);
        let draws = self.uniform.iter().zip(&self.before);
        for (done, ((((w, u), length), (low, high)), (uniform, before))) in
            (1..=count).zip(chains.zip(draws))
        {
            // ‖w + tu‖ <= 1
            let along = kernels::dot(w, u);
            let root = (along * along + (1.0 - kernels::norm_sq(w)).max(0.0)).sqrt();
            let (mut low, mut high) = (low.max(-along - root), high.min(-along + root));
            // slack + t rate >= 0
            let slack = kernels::dot(w, cuts.last) - cuts.level;
            let rate = kernels::dot(u, cuts.last);
            if rate > 0.0 {
                low = low.max(-slack / rate);
            } else if rate < 0.0 {
                high = high.min(-slack / rate);
            }
            if length > 0.0 && low < high {
                kernels::axpy(low + (high - low) * uniform, u, w);
            } else {
                // A chain that stays draws no place on its chord, so the chains after it draw anew.
                rng.set_word_pos(*before);
                return done;
            }
        }
        count
    }

    /// Draws as single steps would if every chord is open.
    fn draw(&mut self, count: usize, rng: &mut ChaCha8Rng) {
        let kept = self.before.iter_mut().zip(&mut self.uniform);
        for (chain, (before, uniform)) in kept.enumerate().take(count) {
            for weights in &mut self.weights {
                if let Some(weight) = weights.get_mut(chain) {
                    *weight = StandardNormal.sample(rng);
                }
            }
            *before = rng.get_word_pos();
            *uniform = rng.random();
        }
    }
}

/// Σ over the cloud of weight (x - mean), for each chain: x and mean by turns, as `axpy` would add them.
/// Being a [`WithSimd`] lets it be compiled for the vector instructions that the processor turns out to
/// have; as it fuses no multiplication with an addition, they do not change the result.
struct Directions<'a> {
    cloud: &'a Cloud,
    weights: &'a [[f64; PANEL]],
    out: &'a mut [Vec<f64>; PANEL],
}

impl WithSimd for Directions<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let tiles = self.cloud.tiles.iter().zip(&self.cloud.means);
        for (first, (tile, mean)) in (0..).step_by(PANEL).zip(tiles) {
            for (pair, out) in self.out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                let mut sums = [[0.0; PANEL]; 2];
                for (x, weights) in tile.iter().zip(self.weights) {
                    for (c, sums) in sums.iter_mut().enumerate() {
                        let weight = weights[2 * pair + c];
                        add_multiple(sums, weight, x);
                        add_multiple(sums, -weight, mean);
                    }
                }
                for (out, sums) in out.iter_mut().zip(&sums) {
                    let columns = out.iter_mut().skip(first).zip(sums);
                    columns.for_each(|(out, sum)| *out = *sum);
                }
            }
        }
    }
}

/// Copies a vector in the order of [`places`].
fn place(v: &[f64], placed: &mut Vec<f64>) {
    placed.clear();
    placed.extend(places(v.len()).map(|j| v.get(j).copied().unwrap_or(0.0)));
}

/// The columns in the order in which [`products`] takes them: sums 0 and 1 of [`kernels::dot`], each
/// from its first column on, then sums 2 and 3, and so on. Where the second of two sums has a column
/// less, one beyond the dimension stands in; it is zero in both factors and changes no sum.
fn places(dim: usize) -> impl Iterator<Item = usize> {
    (0..PANEL).flat_map(move |sum| (0..terms(dim, sum)).map(move |k| sum + k * PANEL))
}

/// How many columns go into a sum and the other of its pair, at most.
#[inline(always)]
fn terms(dim: usize, sum: usize) -> usize {
    dim.saturating_sub(sum & !1).div_ceil(PANEL)
}

/// The least and greatest t with a · (w + tu) >= 0 for all cuts in groups, of each chain.
struct Chords<'a> {
    cuts: &'a Cuts<'a>,
    /// Points and directions, in the order of [`places`].
    points: &'a [Vec<f64>; PANEL],
    directions: &'a [Vec<f64>; PANEL],
}

impl WithSimd for Chords<'_> {
    type Output = [(f64, f64); PANEL];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let dim = self.cuts.last.len();
        let mut lows = [[f64::NEG_INFINITY; PANEL]; PANEL];
        let mut highs = [[f64::INFINITY; PANEL]; PANEL];
        for group in &self.cuts.groups {
            let chains = self.points.iter().zip(self.directions);
            for ((w, u), (lows, highs)) in chains.zip(lows.iter_mut().zip(&mut highs)) {
                let (slacks, rates) = products(dim, group, w, u);
                let (mut low, mut high) = (*lows, *highs);
                for c in 0..PANEL {
                    let t = -slacks[c] / rates[c];
                    low[c] = low[c].max(if rates[c] > 0.0 { t } else { f64::NEG_INFINITY });
                    high[c] = high[c].min(if rates[c] < 0.0 { t } else { f64::INFINITY });
                }
                // Whole, or the compiler stores element by element under masks, which is slow.
                (*lows, *highs) = (low, high);
            }
        }
        let low = |c: usize| lows[c].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let high = |c: usize| highs[c].iter().copied().fold(f64::INFINITY, f64::min);
        std::array::from_fn(|c| (low(c), high(c)))
    }
}

/// The products of eight rows, given column by column in the order of [`places`], with two vectors in
/// the same order: each rounded as [`kernels::dot`].
#[inline(always)]
fn products(
    dim: usize,
    columns: &[[f64; PANEL]],
    w: &[f64],
    u: &[f64],
) -> ([f64; PANEL], [f64; PANEL]) {
    let (mut w_sums, mut u_sums) = ([[0.0; PANEL]; PANEL], [[0.0; PANEL]; PANEL]);
    let (mut columns, mut w, mut u) = (columns, w, u);
    for pair in 0..PANEL / 2 {
        let count = terms(dim, 2 * pair);
        // Two sums of both vectors at once: as many as registers hold, and they do not wait for each
        // other.
        let (first, rest) = columns.split_at(count);
        let (second, rest) = rest.split_at(count);
        columns = rest;
        let (w_first, rest) = w.split_at(count);
        let (w_second, rest) = rest.split_at(count);
        w = rest;
        let (u_first, rest) = u.split_at(count);
        let (u_second, rest) = rest.split_at(count);
        u = rest;
        let mut sums = [[0.0; PANEL]; 4];
        let firsts = first.iter().zip(w_first).zip(u_first);
        let seconds = second.iter().zip(w_second).zip(u_second);
        for (((a, w_a), u_a), ((b, w_b), u_b)) in firsts.zip(seconds) {
            add_multiple(&mut sums[0], *w_a, a);
            add_multiple(&mut sums[1], *u_a, a);
            add_multiple(&mut sums[2], *w_b, b);
            add_multiple(&mut sums[3], *u_b, b);
        }
        [w_sums[2 * pair], u_sums[2 * pair], w_sums[2 * pair + 1], u_sums[2 * pair + 1]] = sums;
    }
    (add_lanes(&w_sums), add_lanes(&u_sums))
}

/// sums += v column.
#[inline(always)]
fn add_multiple(sums: &mut [f64; PANEL], v: f64, column: &[f64; PANEL]) {
    for (sum, a) in sums.iter_mut().zip(column) {
        *sum += a * v;
    }
}

/// The running sums of eight products added in the order of [`kernels::dot`].
#[inline(always)]
fn add_lanes(s: &[[f64; PANEL]; PANEL]) -> [f64; PANEL] {
    std::array::from_fn(|c| {
        ((s[0][c] + s[4][c]) + (s[2][c] + s[6][c])) + ((s[1][c] + s[5][c]) + (s[3][c] + s[7][c]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;

    /// One step of one chain: the plain version.
    fn step(
        w: &mut [f64],
        (cuts, last, level): (&[Vec<f64>], &[f64], f64),
        (cloud, mean): (&[Vec<f64>], &[f64]),
        rng: &mut ChaCha8Rng,
    ) -> bool {
        let mut u = vec![0.0; w.len()];
        for other in cloud {
            let weight: f64 = StandardNormal.sample(rng);
            kernels::axpy(weight, other, &mut u);
            kernels::axpy(-weight, mean, &mut u);
        }
        let length = norm(&u);
        if length == 0.0 {
            return false;
        }
        u.iter_mut().for_each(|v| *v /= length);
        let along = kernels::dot(w, &u);
        let root = (along * along + (1.0 - kernels::norm_sq(w)).max(0.0)).sqrt();
        let (mut low, mut high) = (-along - root, -along + root);
        let mut bound = |slack: f64, rate: f64| {
            if rate > 0.0 {
                low = low.max(-slack / rate);
            } else if rate < 0.0 {
                high = high.min(-slack / rate);
            }
        };
        bound(kernels::dot(w, last) - level, kernels::dot(&u, last));
        for cut in cuts {
            bound(kernels::dot(w, cut), kernels::dot(&u, cut));
        }
        if low < high {
            let t = low + (high - low) * rng.random::<f64>();
            kernels::axpy(t, &u, w);
        }
        low < high
    }

    fn rows(count: usize, dim: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        let value = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
        (0..count).map(|_| (0..dim).map(|_| 0.1 * value(rng)).collect()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn panels_step_as_single_chains(
            seed in 0u64..1000,
            dim in 1usize..30,
            chains in 1usize..30,
            count in 0usize..40,
            all_kept in any::<bool>(),
            cloud_is_one_point in any::<bool>(),
        ) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let start = rows(chains, dim, &mut rng);
            let mut cuts = rows(count, dim, &mut rng);
            let last = rows(1, dim, &mut rng).remove(0);
            if all_kept {
                // Through the first point, and turned towards it: other points may lie beyond, and then
                // have no chord.
                for cut in &mut cuts {
                    let sign = if kernels::dot(cut, &start[0]) < 0.0 { -1.0 } else { 1.0 };
                    cut.iter_mut().for_each(|v| *v *= sign);
                }
            }
            let size = if cloud_is_one_point && seed % 8 == 0 { 1 } else { 20 };
            let cloud = rows(size, dim, &mut rng);
            let mean = crate::hit_and_run::mean(&cloud);
            let (mut plain, mut panels) = (start.clone(), start);
            let mut plain_rng = ChaCha8Rng::seed_from_u64(seed);
            plain_rng.set_word_pos(rng.get_word_pos());
            let mut moved = 0;
            for _ in 0..3 {
                for w in &mut plain {
                    let set = (&cuts[..], &last[..], -0.1);
                    moved += usize::from(step(w, set, (&cloud, &mean), &mut plain_rng));
                }
            }
            let set = Cuts::new(&cuts, &last, -0.1);
            for _ in 0..3 {
                set.round(&mut panels, &Cloud::new(&cloud, &mean), &mut rng);
            }
            let bits = |points: &[Vec<f64>]| -> Vec<u64> {
                points.iter().flatten().map(|v| v.to_bits()).collect()
            };
            prop_assert_eq!(bits(&panels), bits(&plain), "{} moved", moved);
            prop_assert_eq!(rng.get_word_pos(), plain_rng.get_word_pos());
        }
    }
}
