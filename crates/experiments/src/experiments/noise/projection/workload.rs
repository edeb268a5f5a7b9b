//! Points with a margin, settings and outcomes.

use crate::experiments::common::*;
use halfspaces_data::{MarginBall, Marginal, random_target_with_rng};
use halfspaces_linalg::{Halfspace, Points, SparsePoints};
use halfspaces_pac::projected_dimension;
use rand::seq::index;

/// δ of both claims.
pub(super) const DELTA: f64 = 0.1;

/// δ of the projection in P12p. The projection then fails with probability at most 3δ/2, which is half of [`DELTA`].
pub(super) const DELTA_PROJECTION: f64 = DELTA / 3.0;

/// Number of entries of a sparse point outside the target's coordinates.
const NONZEROS: usize = 10;

/// Kinds of points with a margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Kind {
    /// Points in the unit ball with |w*·x| >= γ, for a random w*.
    Dense,
    /// Points with |w*·x| = γ, where w* is 1/2 on four coordinates and 0 elsewhere. Each point has ten more random
    /// entries.
    Sparse,
}

/// The learner run on projected points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Run {
    /// The theorem's schedule, with all the examples that it needs.
    Theorem,
    /// One pass over a smaller sample.
    Sample,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// One projection of some points, to m/`divisor` dimensions.
    Margins { kind: Kind, dim: usize, points: usize, margin: f64, divisor: usize },
    /// A learner with and without projection.
    Learn { kind: Kind, run: Run, dim: usize, points: usize, margin: f64, noise: f64, excess: f64 },
}

impl Configuration {
    /// The dimension of the projected points.
    pub(super) fn projected(&self) -> usize {
        match self {
            Configuration::Margins { points, margin, divisor, .. } => {
                (projected_dimension(*points, *margin, DELTA) / divisor).max(1)
            }
            Configuration::Learn { points, margin, .. } => {
                projected_dimension(*points, *margin, DELTA_PROJECTION)
            }
        }
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let m = self.projected();
        match self {
            Configuration::Margins { kind, dim, points, margin, .. } => {
                write!(f, "{kind} d={dim} N={points} γ={margin} m={m}")
            }
            Configuration::Learn { kind, dim, points, margin, .. } => {
                write!(f, "{kind} d={dim} n={points} γ={margin} m={m}")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The smallest margin of the image of w* on the projected points, divided by γ.
    Margins { share: f64 },
    /// Errors with and without projection, averaged exactly over the labels.
    Learn {
        projected: f64,
        plain: f64,
        /// Error of the majority label.
        constant: f64,
    },
}

/// A source of points of one kind with one target.
pub(super) struct Source {
    pub(super) target: Halfspace,
    pub(super) ball: MarginBall,
    pub(super) margin: f64,
}

impl Source {
    pub(super) fn new(
        kind: Kind,
        dim: usize,
        margin: f64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Source, Failure> {
        let target = match kind {
            Kind::Dense => random_target_with_rng(dim, rng)?,
            Kind::Sparse => {
                let mut normal = vec![0.0; dim];
                normal.iter_mut().take(4).for_each(|w| *w = 0.5);
                Halfspace::new(normal)?
            }
        };
        let ball = MarginBall::new(&target, margin)?;
        Ok(Source { target, ball, margin })
    }

    pub(super) fn dense(&self, n: usize, rng: &mut ChaCha8Rng) -> Result<Points, Failure> {
        Ok(self.ball.sample_with_rng(n, rng)?)
    }

    /// Unit vectors ±γ w* + √(1-γ²) u, where u has ten entries ±1/√10 on other coordinates.
    pub(super) fn sparse(&self, n: usize, rng: &mut ChaCha8Rng) -> Result<SparsePoints, Failure> {
        let dim = self.target.dim();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let across = ((1.0 - self.margin * self.margin) / NONZEROS as f64).sqrt();
        // Keeps the points inside the ball, with a distance above the rounding error.
        let across = across * (1.0 - 1e-9);
        let sign = |rng: &mut ChaCha8Rng, v: f64| if rng.random() { v } else { -v };
        for _ in 0..n {
            let along = sign(rng, 0.5 * self.margin);
            let mut others: Vec<usize> =
                index::sample(rng, dim - 4, NONZEROS).into_iter().map(|j| j + 4).collect();
            others.sort_unstable();
            columns.extend(0..4);
            values.extend([along; 4]);
            for j in others {
                columns.push(u32::try_from(j)?);
                values.push(sign(rng, across));
            }
            starts.push(columns.len());
        }
        Ok(SparsePoints::new(starts, columns, values, dim)?)
    }
}

impl Outcome {
    /// The fraction of the margin that the projection keeps.
    pub(super) fn share(&self) -> f64 {
        of_part!(self, Outcome::Margins { share } => *share)
    }

    /// The errors with and without projection.
    pub(super) fn errors(&self) -> (f64, f64) {
        of_part!(self, Outcome::Learn { projected, plain, .. } => (*projected, *plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::PointSet;

    use halfspaces_linalg::margins;

    #[test]
    fn sparse_points_have_their_margin() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let source = Source::new(Kind::Sparse, 50, 0.8, &mut rng).unwrap();
        let points = source.sparse(30, &mut rng).unwrap();
        let margins = margins(&points, source.target.normal()).unwrap();
        assert!(margins.iter().all(|m| (m.abs() - 0.8).abs() < 1e-12));
        assert!(points.max_norm() <= 1.0 && points.max_norm() > 0.999);
        assert!(margins.iter().any(|m| *m > 0.0) && margins.iter().any(|m| *m < 0.0));
    }
}
