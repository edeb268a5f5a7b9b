//! Kinds of data, settings and outcomes.

use crate::experiments::common::*;
use crate::workload::{Inputs, Pool, Workload};
use halfspaces_data::{
    Clusters, Excess, HeavyCase, HeavyKind, Marginal, StudentT, UnitSphere, random_target_with_rng,
};
use halfspaces_linalg::{
    BooleanConcept, DecisionList, Halfspace, Label, Literal, PointSet, Points,
};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// The distribution of a pool. Unless noted, its labels are those of a uniformly random halfspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Points from a Student-t distribution with one degree of freedom, with condition number 10^6.
    #[strum(to_string = "Student-t, condition 10^6")]
    StudentT,
    #[strum(to_string = "sphere")]
    Sphere,
    #[strum(to_string = "clusters")]
    Clusters,
    /// A subspace of half the dimensions contains 10 % more than its share of the points.
    #[strum(to_string = "heavy subspace")]
    Heavy,
    /// A heavy subspace with small integer coordinates.
    #[strum(to_string = "integers, heavy subspace")]
    Integer,
    /// Uniform points in the cube {0, 1}^(d-1), lifted.
    #[strum(to_string = "cube")]
    Cube,
    /// The cube, labelled by a random decision list over all variables.
    #[strum(to_string = "cube, decision lists")]
    Lists,
    /// A data set, or a random part of it.
    #[strum(to_string = "{0}")]
    Real(String),
}

impl Kind {
    /// The part of a figure's name that identifies this kind of data.
    pub(in super::super) fn slug(&self) -> &str {
        match self {
            Kind::StudentT => "student-t",
            Kind::Sphere => "sphere",
            Kind::Clusters => "clusters",
            Kind::Heavy => "heavy",
            Kind::Integer => "integer",
            Kind::Cube => "cube",
            Kind::Lists => "decision-lists",
            Kind::Real(name) => name,
        }
    }
}

pub(super) const SYNTHETIC: [Kind; 7] = [
    Kind::StudentT,
    Kind::Sphere,
    Kind::Clusters,
    Kind::Heavy,
    Kind::Integer,
    Kind::Cube,
    Kind::Lists,
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// The weak learner on points in radially isotropic position, from a random w₀ and from -w₀.
    Weak { kind: Kind, dim: usize, points: usize },
    /// The weak learner on hard points in radially isotropic position, found by a search with `moves` moves.
    Searched { goal: Goal, dim: usize, moves: usize },
    /// The strong learner on one pool.
    Reach { kind: Kind, dim: usize, points: usize, epsilon: f64 },
    /// The mean number of mistakes of the strong learner over `random` runs with random starts and over `warm` runs
    /// with warm starts, on the first n points of one pool, for each of the two sizes n.
    Flat { kind: Kind, dim: usize, sizes: [usize; 2], epsilon: f64, random: u64, warm: u64 },
    /// Learners on the first n points of one pool.
    Growth { kind: Kind, dim: usize, sizes: Vec<usize>, epsilon: f64 },
    /// The strong learner with random starts on pools with about `copies` copies of each corner of the cube.
    Copies { kind: Kind, dim: usize, copies: Vec<usize>, epsilon: f64 },
}

/// The quantity that the search maximises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Goal {
    /// Updates from one start with w₀ · w* = 1/(2√k).
    #[strum(to_string = "searched for long runs")]
    Updates,
    /// Number of pairs of opposite starts, out of a fixed number, for which both runs fail.
    #[strum(to_string = "searched for failures")]
    Failures,
}

/// A run of the weak learner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// w₀ · w*, where both are unit vectors.
    pub(super) cosine: f64,
    pub(super) succeeded: bool,
    pub(super) paper_succeeded: bool,
    /// 4k/|U| times the number of points passed in the last walk.
    pub(super) passed: f64,
    /// The number of updates divided by ⌊4k ln 4k⌋.
    pub(super) spent: f64,
}

impl Configuration {
    /// Whether the runs of this setting are pairs from opposite starts.
    pub(super) fn has_pairs(&self) -> bool {
        match self {
            Configuration::Weak { .. } => true,
            Configuration::Searched { goal, .. } => *goal == Goal::Failures,
            _ => false,
        }
    }

    /// Data and dimension of a run of the weak learner; `None` for other settings.
    pub(super) fn weak_data(&self) -> Option<(String, usize)> {
        match self {
            Configuration::Weak { kind, dim, .. } => Some((kind.to_string(), *dim)),
            Configuration::Searched { goal, dim, .. } => Some((goal.to_string(), *dim)),
            _ => None,
        }
    }
}

impl Run {
    /// The number of updates divided by the cap; above 1 if the run failed.
    pub(super) fn ratio(&self) -> f64 {
        if self.succeeded { self.spent } else { f64::MAX }
    }

    /// Whether w₀ · w* >= 1/(2√k), the premise of the theorem.
    pub(super) fn is_aligned(&self, k: usize) -> bool {
        self.cosine >= 0.5 / (k as f64).sqrt()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(super) points: usize,
    pub(super) strong: usize,
    pub(super) recommended: usize,
    pub(super) greedy: usize,
    pub(super) perceptron: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub(crate) enum Outcome {
    Weak {
        k: usize,
        runs: Vec<Run>,
    },
    Reach {
        /// Fraction of the points labelled.
        labelled: f64,
        /// Rounds in which every run failed, or in which the position was not certified.
        failed_rounds: usize,
        mistakes: usize,
        rounds: usize,
    },
    Flat {
        dim: usize,
        /// Mean numbers of mistakes at both sizes, with random starts and with warm starts; `None` if there are no such
        /// runs.
        random: Option<[f64; 2]>,
        warm: Option<[f64; 2]>,
        /// Mistakes of the perceptron on the same points in the order of the pool.
        perceptron: [usize; 2],
    },
    Growth {
        dim: usize,
        counts: Vec<Count>,
    },
    Copies {
        mistakes: Vec<usize>,
    },
}

/// Draws a pool and a random target.
pub(in super::super) fn draw(
    inputs: &Inputs,
    kind: &Kind,
    dim: usize,
    points: usize,
    rng: &mut ChaCha8Rng,
) -> Result<(Points, Halfspace), Failure> {
    let heavy = |kind, rng: &mut ChaCha8Rng| -> Result<Points, Failure> {
        let case = HeavyCase::with_rng(kind, dim, dim / 2, points, Excess::Share(0.1), rng)?;
        shuffled(case.points(), points, rng)
    };
    let points = match kind {
        Kind::StudentT => StudentT::new(dim, 1.0, 1e6)?.sample_with_rng(points, rng)?,
        Kind::Sphere => UnitSphere::new(dim)?.sample_with_rng(points, rng)?,
        Kind::Clusters => {
            Clusters::random(dim, 10, 0.05, rng.random())?.sample_with_rng(points, rng)?
        }
        Kind::Heavy => heavy(HeavyKind::Gaussian, rng)?,
        Kind::Integer => heavy(HeavyKind::Integer, rng)?,
        Kind::Cube | Kind::Lists => {
            let rows: Vec<Vec<f64>> = (0..points)
                .map(|_| (1..dim).map(|_| f64::from(u8::from(rng.random::<bool>()))).collect())
                .collect();
            Points::from_rows(&rows)?.lifted()
        }
        Kind::Real(name) => {
            let workload = Workload::Relabelled { name: name.clone(), margin: 0.0 };
            let all = match inputs.pool(&workload, rng)? {
                Pool::Dense(pool) => pool.points,
                Pool::Sparse(pool) => pool.points.to_dense()?,
            };
            shuffled(&all, points, rng)?
        }
    };
    let target = match kind {
        Kind::Lists => decision_list(dim - 1, rng)?,
        _ => random_target_with_rng(points.dim(), rng)?,
    };
    Ok((points, target))
}

/// A random decision list: every variable once, in random order, with random signs and labels.
fn decision_list<R: Rng>(variables: usize, rng: &mut R) -> Result<Halfspace, Failure> {
    let mut order: Vec<usize> = (0..variables).collect();
    order.shuffle(rng);
    let mut label = || if rng.random() { Label::Positive } else { Label::Negative };
    let labels: Vec<Label> = (0..=variables).map(|_| label()).collect();
    let rule =
        |(variable, label): (usize, &Label)| (Literal { variable, positive: rng.random() }, *label);
    let rules = order.into_iter().zip(&labels).map(rule).collect();
    let list = DecisionList::new(variables, rules, labels[variables])?;
    Ok(list.to_halfspace()?.normalised()?)
}

/// At most `most` rows, in random order.
fn shuffled<R: Rng>(points: &Points, most: usize, rng: &mut R) -> Result<Points, Failure> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.shuffle(rng);
    order.truncate(most);
    Ok(points.select(&order)?)
}

/// The dimension of the points of a group; `None` before a trial has run.
pub(super) fn dim(group: &Group<Configuration, Outcome>) -> Option<usize> {
    group.outcomes.iter().find_map(|o| match o {
        Outcome::Flat { dim, .. } | Outcome::Growth { dim, .. } => Some(*dim),
        _ => None,
    })
}

pub(super) fn in_dim(group: &Group<Configuration, Outcome>) -> String {
    dim(group).map(|dim| format!(", d={dim}")).unwrap_or_default()
}
