//! Settings, pools and outcomes.

use crate::experiments::common::*;
use halfspaces_data::{Clusters, Gaussian, Marginal, StudentT, UnitSphere};
use halfspaces_linalg::Points;

/// The distribution of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    #[strum(to_string = "Gaussian")]
    Gaussian,
    #[strum(to_string = "sphere")]
    Sphere,
    /// Three clusters of spread 0.05.
    #[strum(to_string = "clusters")]
    Clusters,
    /// Points from a Student-t distribution with one degree of freedom.
    #[strum(to_string = "heavy tails")]
    Heavy,
    /// Points with coordinates drawn from -3, -2, ..., 3. Many of them lie on common planes, and some are parallel.
    #[strum(to_string = "small integers")]
    Integers,
}

pub(super) const KINDS: [Kind; 5] =
    [Kind::Gaussian, Kind::Sphere, Kind::Clusters, Kind::Heavy, Kind::Integers];

impl Kind {
    pub(super) fn draw(
        self,
        dim: usize,
        n: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Points, Failure> {
        Ok(match self {
            Kind::Gaussian => Gaussian::new(dim, 1.0)?.sample_with_rng(n, rng)?,
            Kind::Sphere => UnitSphere::new(dim)?.sample_with_rng(n, rng)?,
            Kind::Clusters => {
                let centres = Gaussian::new(dim, 1.0)?.sample_with_rng(3, rng)?;
                Clusters::new(centres, 0.05)?.sample_with_rng(n, rng)?
            }
            Kind::Heavy => StudentT::new(dim, 1.0, 1.0)?.sample_with_rng(n, rng)?,
            Kind::Integers => {
                let mut rows = Vec::with_capacity(n);
                while rows.len() < n {
                    let row: Vec<f64> =
                        (0..dim).map(|_| f64::from(rng.random_range(-3..=3))).collect();
                    if row.iter().any(|v| *v != 0.0) {
                        rows.push(row);
                    }
                }
                Points::from_rows(&rows)?
            }
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Configuration {
    pub(super) kind: Kind,
    pub(super) dim: usize,
    pub(super) points: usize,
    /// Whether the learners are run on every dichotomy and the averages are computed.
    pub(super) learners: bool,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, d={}, n={}", self.kind, self.dim, self.points)
    }
}

/// A learner that chooses the order, or the perceptron in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Learner {
    #[strum(to_string = "sampled greedy")]
    Sampled,
    #[strum(to_string = "greedy, centre of gravity")]
    Gravity,
    #[strum(to_string = "greedy, hard margin")]
    HardMargin,
    #[strum(to_string = "greedy, volumetric centre")]
    Volumetric,
    #[strum(to_string = "greedy")]
    Greedy,
    #[strum(to_string = "strong, warm starts")]
    Strong,
    #[strum(to_string = "strong, as printed")]
    StrongRandom,
    #[strum(to_string = "Algorithm 1, c = 1")]
    Chains,
    #[strum(to_string = "surest first")]
    SurestFirst,
    #[strum(to_string = "perceptron, random order")]
    Perceptron,
}

/// Mistakes over all dichotomies of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(super) learner: Learner,
    pub(super) worst: usize,
    pub(super) mean: f64,
}

/// The optimum averaged over orders or dichotomies, and the counts of the learners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Averages {
    /// The optimum in random order against an adversary.
    pub(super) random: f64,
    /// The optimum in random order with a dichotomy fixed in advance: a lower and an upper bound.
    pub(super) random_fixed: [f64; 2],
    /// The optimum in random order, averaged over dichotomies.
    pub(super) random_average: f64,
    /// The optimum if the learner chooses the order, averaged over dichotomies.
    pub(super) own_average: f64,
    pub(super) counts: Vec<Count>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(super) dichotomies: usize,
    /// The optimum if the learner chooses the order.
    pub(super) own: usize,
    /// The optimum in the worst order.
    pub(super) worst: usize,
    /// Mistakes of halving over the dichotomies against an adversary that chooses points and labels.
    pub(super) halving: usize,
    /// `None` for settings without learners.
    #[serde(rename = "beside")]
    pub(super) averages: Option<Averages>,
}

impl Outcome {
    /// lg of the number of dichotomies.
    pub(super) fn lg(&self) -> f64 {
        halfspaces_online::bounds::halving_mistakes(self.dichotomies as f64)
    }

    pub(super) fn count(&self, learner: Learner) -> Option<&Count> {
        self.averages.iter().flat_map(|b| &b.counts).find(|c| c.learner == learner)
    }

    /// The average number of mistakes of a learner over the dichotomies, relative to that of the best learner.
    pub(super) fn share(&self, learner: Learner) -> Option<f64> {
        let best = self.averages.as_ref()?.own_average;
        self.count(learner).map(|count| count.mean / best)
    }
}
