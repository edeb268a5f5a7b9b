//! Generalised linear models on a few points in the plane, and a search over such models. Both are used for the
//! adversaries of the GLM certificates and learners. The target is the first axis.

use crate::experiments::common::*;
use halfspaces_data::Link;
use halfspaces_linalg::{DenseRow, ExampleStream, InputError, Label};
use halfspaces_pac::{Denominator, Direction};

/// A link with two steps on each side: |σ(t)| is `near` for |t| < `jump` and `far` beyond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StepLink {
    /// |σ| below the jump, for t >= 0 and for t < 0.
    pub near: [f64; 2],
    /// |σ| beyond the jump, at least `near`.
    pub far: [f64; 2],
    pub jump: f64,
}

impl Link for StepLink {
    fn value(&self, t: f64) -> f64 {
        let size = if t.abs() < self.jump { self.near } else { self.far };
        if t >= 0.0 { size[0] } else { -size[1] }
    }

    fn asymmetry(&self) -> f64 {
        (self.near[0] - self.near[1]).abs().max((self.far[0] - self.far[1]).abs())
    }
}

/// A point, the probability that its label is flipped, and its mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Atom {
    /// (w* · x, the coordinate orthogonal to w*).
    pub x: [f64; 2],
    pub flip: f64,
    pub mass: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planar {
    pub margin: f64,
    pub link: StepLink,
    pub atoms: Vec<Atom>,
}

/// Number of genes of the link. Four genes per atom follow.
const LINK_GENES: usize = 5;

/// Number of genes of a model with `atoms` atoms.
pub(super) const fn genes(atoms: usize) -> usize {
    LINK_GENES + 4 * atoms
}

/// A gene in \[0, 1\], stretched so that both ends have positive probability.
fn stretched(gene: f64) -> f64 {
    (1.4 * gene - 0.2).clamp(0.0, 1.0)
}

impl Planar {
    /// The two points on which a padding above γ/2 reverses the certificate at w = e2
    /// (docs/theory/glm-without-padding-loss.md, with γ = 1/100). `along` is r, the coordinate of the second point
    /// along w.
    pub(super) fn two_points(margin: f64, along: f64) -> Planar {
        let link = StepLink { near: [0.0; 2], far: [0.1; 2], jump: 1.1 * margin };
        let atoms = vec![
            Atom { x: [margin, 0.9], flip: 0.0, mass: 1.0 / 7.0 },
            Atom { x: [-1.1 * margin, along], flip: 0.45, mass: 6.0 / 7.0 },
        ];
        Planar { margin, link, atoms }
    }

    /// Three points on which the error of the learner with denominator max(|w·x|, 2γ) stays above opt_RCN. They were
    /// found by a search and then rounded. The noise rate is at most 0.3, and γ = 1/10.
    pub(super) fn trap() -> Planar {
        let link = StepLink { near: [0.4; 2], far: [0.4; 2], jump: 0.5 };
        let atoms = vec![
            Atom { x: [0.1, -0.24], flip: 0.3, mass: 0.46 },
            Atom { x: [-0.1, -0.99], flip: 0.1, mass: 0.14 },
            Atom { x: [0.1, 0.99], flip: 0.0, mass: 0.4 },
        ];
        Planar { margin: 0.1, link, atoms }
    }

    /// Decodes numbers in \[0, 1\] into a model, which is always valid.
    pub(super) fn decode(margin: f64, genes: &[f64]) -> Planar {
        let (link, atoms) = genes.split_at(LINK_GENES);
        let gene = |i: usize| link[i];
        // Half of all jumps lie within a factor of 2 of the margin, where they matter most.
        let jump = margin * (2.0 * margin).recip().powf(1.5 * gene(0) - 0.5);
        let near = stretched(gene(1));
        let far = near + (1.0 - near) * stretched(gene(2));
        let (near_loss, far_loss) = (stretched(gene(3)), stretched(gene(4)));
        // The levels of the negative side may be lower than those of the positive side.
        let (near_short, far_short) = (near * (1.0 - near_loss), far * (1.0 - far_loss));
        let link =
            StepLink { near: [near, near_short], far: [far, far_short.max(near_short)], jump };
        let mut atoms: Vec<Atom> = atoms
            .chunks_exact(4)
            .map(|gene| {
                let side = 2.0 * gene[0] - 1.0;
                let size = margin.powf(1.0 - stretched(side.abs()));
                let along = if side >= 0.0 { size } else { -size };
                let across = (1.0 - along * along).max(0.0).sqrt() * (2.4 * gene[1] - 1.2);
                let most = (1.0 - link.value(along).abs()) / 2.0;
                let across = across.clamp(-1.0, 1.0);
                let x = if along.hypot(across) > 1.0 {
                    [along, across.signum() * (1.0 - along * along).max(0.0).sqrt()]
                } else {
                    [along, across]
                };
                Atom { x, flip: most * stretched(gene[2]), mass: gene[3].powi(2) + 1e-6 }
            })
            .collect();
        let total: f64 = atoms.iter().map(|a| a.mass).sum();
        atoms.iter_mut().for_each(|a| a.mass /= total);
        Planar { margin, link, atoms }
    }

    /// opt_RCN + τ/2.
    pub(super) fn level(&self) -> f64 {
        let full = |a: &Atom| a.mass * (1.0 - self.link.clamped(a.x[0]).abs()) / 2.0;
        self.atoms.iter().map(full).sum::<f64>() + self.link.asymmetry() / 2.0
    }

    /// The exact ℓ01(w).
    pub(super) fn error(&self, w: [f64; 2]) -> f64 {
        let error = |a: &Atom| {
            let right = Label::from_sign(dot(w, a.x)) == Label::from_sign(a.x[0]);
            a.mass * if right { a.flip } else { 1.0 - a.flip }
        };
        self.atoms.iter().map(error).sum()
    }

    /// ℓ01(w) - (opt_RCN + τ/2).
    pub(super) fn excess(&self, w: [f64; 2]) -> f64 {
        self.error(w) - self.level()
    }

    /// The exact E\[g(w; x, y)\].
    pub(super) fn mean_direction(&self, denominator: Denominator, w: [f64; 2]) -> [f64; 2] {
        let direction = Direction { link: self.link, denominator };
        let mut mean = [0.0; 2];
        for atom in &self.atoms {
            let factor = atom.mass * atom.mean_coefficient(&direction, dot(w, atom.x));
            mean = [mean[0] + factor * atom.x[0], mean[1] + factor * atom.x[1]];
        }
        mean
    }

    /// The average excess of the iterates in the second half of the noiseless run, w <- Π(w - λ E\[g(w)\]) from w = 0,
    /// where λ = 1/(B√T) and B = 2/(smallest D).
    pub(super) fn mean_run(&self, denominator: Denominator, steps: u64) -> f64 {
        let step = denominator.least() / (2.0 * (steps as f64).sqrt());
        self.mean_and_least(denominator, step, steps).0
    }

    /// The result of [`Planar::mean_run`] for a given step size, and the smallest excess of the same iterates.
    pub(super) fn mean_and_least(
        &self,
        denominator: Denominator,
        step: f64,
        steps: u64,
    ) -> (f64, f64) {
        let (mut w, mut sum, mut least) = ([0.0; 2], 0.0, f64::INFINITY);
        for t in 0..steps {
            if 2 * t >= steps {
                let excess = self.excess(w);
                sum += excess;
                least = least.min(excess);
            }
            let mean = self.mean_direction(denominator, w);
            w = projected([w[0] - step * mean[0], w[1] - step * mean[1]]);
        }
        (sum / steps.div_ceil(2) as f64, least)
    }

    /// Draws one example.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> ([f64; 2], Label) {
        let mut left: f64 = rng.random();
        let chosen = self.atoms.iter().find(|a| {
            left -= a.mass;
            left < 0.0
        });
        // The masses sum to 1 up to rounding, so the loop may choose no atom.
        let Some(atom) = chosen.or(self.atoms.last()) else { unreachable!("a model has points") };
        let truth = Label::from_sign(atom.x[0]);
        (atom.x, if rng.random::<f64>() < atom.flip { -truth } else { truth })
    }

    /// An endless stream of examples.
    pub(super) fn stream<'a>(&'a self, rng: &'a mut ChaCha8Rng) -> PlanarStream<'a> {
        PlanarStream { planar: self, rng, point: [0.0; 2] }
    }
}

impl Atom {
    /// E\[(σ(w·x) - y)/D | x\] at the decision value w·x.
    pub(super) fn mean_coefficient<L: Link>(&self, direction: &Direction<L>, value: f64) -> f64 {
        let truth = Label::from_sign(self.x[0]);
        (1.0 - self.flip) * direction.coefficient(value, truth)
            + self.flip * direction.coefficient(value, -truth)
    }
}

pub(super) fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn projected(w: [f64; 2]) -> [f64; 2] {
    let norm = w[0].hypot(w[1]);
    if norm > 1.0 { [w[0] / norm, w[1] / norm] } else { w }
}

pub(super) struct PlanarStream<'a> {
    planar: &'a Planar,
    rng: &'a mut ChaCha8Rng,
    /// The point of the most recent example.
    point: [f64; 2],
}

impl ExampleStream for PlanarStream<'_> {
    type Row<'a>
        = DenseRow<'a>
    where
        Self: 'a;
    type Error = InputError;

    fn dim(&self) -> usize {
        2
    }

    fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, InputError> {
        let (x, label) = self.planar.draw(self.rng);
        self.point = x;
        Ok(Some((DenseRow::new(&self.point)?, label)))
    }
}

/// Number of random starts; [`descend`] continues from the best.
const STARTS: usize = 20;

/// Minimises an objective over numbers in \[0, 1\] by local search. The search starts from the best of a few random
/// points. Each step changes one to three numbers, mostly by small amounts, and is kept if the objective does not
/// increase. Returns the smallest objective and its numbers.
pub(super) fn descend(
    count: usize,
    steps: usize,
    rng: &mut ChaCha8Rng,
    mut objective: impl FnMut(&[f64]) -> f64,
) -> (f64, Vec<f64>) {
    let (mut least, mut best) = (f64::INFINITY, vec![0.5; count]);
    for _ in 0..STARTS {
        let start: Vec<f64> = (0..count).map(|_| rng.random()).collect();
        let found = objective(&start);
        if found < least {
            (least, best) = (found, start);
        }
    }
    let mut trial = best.clone();
    for _ in 0..steps {
        trial.copy_from_slice(&best);
        let few = rng.random_range(1..=3);
        let size = 10f64.powf(-4.0 * rng.random::<f64>());
        for _ in 0..few {
            let gene = &mut trial[rng.random_range(0..count)];
            *gene = (*gene + size * (2.0 * rng.random::<f64>() - 1.0)).clamp(0.0, 1.0);
        }
        let found = objective(&trial);
        if found <= least {
            least = found;
            best.copy_from_slice(&trial);
        }
    }
    (least, best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::check_link;

    /// With too much padding, even the excess of the noiseless learner stays positive; with a padding of γ/2, it does
    /// not.
    #[test]
    fn the_trap_works_for_large_paddings_only() {
        let trap = Planar::trap();
        let run = |share: f64| trap.mean_run(Denominator::AtLeast(share * trap.margin), 20_000);
        assert!(run(2.0) > 0.02, "{}", run(2.0));
        assert!(run(0.5) < -0.05, "{}", run(0.5));
    }

    #[test]
    fn decoded_models_are_valid() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..500 {
            let numbers: Vec<f64> = (0..genes(3)).map(|_| rng.random()).collect();
            let planar = Planar::decode(0.1, &numbers);
            assert_eq!(check_link(&planar.link), Ok(()));
            assert!((planar.atoms.iter().map(|a| a.mass).sum::<f64>() - 1.0).abs() < 1e-12);
            for Atom { x, flip, .. } in &planar.atoms {
                assert!(x[0].abs() >= 0.1 * (1.0 - 1e-12) && x[0].hypot(x[1]) <= 1.0 + 1e-12);
                assert!((0.0..=(1.0 - planar.link.value(x[0]).abs()) / 2.0).contains(flip));
            }
        }
    }
}
