//! Points with a margin, and what a trial gives.

use crate::experiments::common::*;
use halfspaces_data::{MarginBall, Marginal, random_target_with_rng};
use halfspaces_linalg::{Halfspace, Points, SparsePoints};
use halfspaces_pac::projected_dimension;
use rand::seq::index;

/// δ of both claims.
pub(super) const DELTA: f64 = 0.1;

/// Of the failure probability of the learner its projection may use 3δ/2 for this δ, half of it.
pub(super) const DELTA_PROJECTION: f64 = DELTA / 3.0;

/// Entries of a sparse point besides that of the target.
const NONZEROS: usize = 10;

/// Points with a margin, by how they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Kind {
    /// In the unit ball, |w*·x| >= γ, w* random.
    Dense,
    /// |w*·x| = γ for w* = (1, ..., 1)/2 on four coordinates, and ten others at random.
    Sparse,
}

/// What is run behind the projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Run {
    /// The theorem's schedule, on as many examples as it asks for.
    Theorem,
    /// One pass over a sample, fewer examples.
    Sample,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// One projection of some points, to the stated dimension over `divisor`.
    Margins { kind: Kind, dim: usize, points: usize, margin: f64, divisor: usize },
    /// A learner with and without projection.
    Learn { kind: Kind, run: Run, dim: usize, points: usize, margin: f64, noise: f64, excess: f64 },
}

impl Configuration {
    /// m.
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
    /// Least margin of the image of w* on the projected points, over γ.
    Margins { share: f64 },
    /// Errors with and without projection, exact over the labels.
    Learn {
        projected: f64,
        plain: f64,
        /// Of the commoner label.
        constant: f64,
    },
}

/// Points of one of the kinds, all with one target.
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

    /// Unit vectors ±γ w* + √(1-γ²) u, u of ten entries ±1/√10 elsewhere.
    pub(super) fn sparse(&self, n: usize, rng: &mut ChaCha8Rng) -> Result<SparsePoints, Failure> {
        let dim = self.target.dim();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let across = ((1.0 - self.margin * self.margin) / NONZEROS as f64).sqrt();
        // Kept inside the ball and off the margin by more than rounding.
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
    /// Of the margin, after projection.
    pub(super) fn share(&self) -> f64 {
        of_part!(self, Outcome::Margins { share } => *share)
    }

    /// With and without projection.
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
