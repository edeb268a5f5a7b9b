//! Settings and outcomes.

use crate::experiments::common::*;
use halfspaces_data::{Excess, HeavyKind};

/// The largest δ at which a heavy subspace has to be found.
pub(super) const STRICT: f64 = 1e-3;

/// Dimension of the scatter experiment.
pub(super) const SCATTER_DIM: usize = 20;

/// The source of the points.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "data", rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// A planted heavy subspace.
    Planted { kind: String, dim: usize, heavy: usize, excess: String, delta: f64 },
    /// Real points, raw or standardised.
    Real { name: String, standardised: bool, delta: f64 },
    /// Points in radially isotropic position within 1/2. The number of points that reach the threshold of the soft
    /// margin is as small as possible.
    Soft { dim: usize },
    /// Error of the scatter matrix as n grows.
    Scatter { dim: usize },
}

impl Configuration {
    /// The kind of data and δ, which the settings of one row of the table share.
    pub(super) fn family(&self) -> (String, f64) {
        let name = match self {
            Configuration::Planted { kind, .. } => kind.clone(),
            Configuration::Real { name, standardised, .. } => {
                format!("{name} {}", if *standardised { "standardised" } else { "raw" })
            }
            Configuration::Soft { dim } => format!("least soft margin d={dim}"),
            Configuration::Scatter { dim } => format!("elliptical d={dim}"),
        };
        (name, self.delta())
    }

    pub(super) fn delta(&self) -> f64 {
        match self {
            Configuration::Planted { delta, .. } | Configuration::Real { delta, .. } => *delta,
            Configuration::Soft { .. } => 0.5,
            Configuration::Scatter { .. } => 1e-6,
        }
    }

    /// Whether the dimension and the members found are compared with the planted subspaces.
    pub(super) fn is_compared(&self) -> bool {
        match self {
            Configuration::Planted { kind, delta, .. } => {
                *delta <= STRICT && *kind != kind_name(HeavyKind::Noisy)
            }
            _ => false,
        }
    }
}

pub(super) const EXCESSES: [Excess; 6] = [
    Excess::Boundary,
    Excess::OnePoint,
    Excess::Share(0.01),
    Excess::Share(0.05),
    Excess::Share(0.1),
    Excess::Share(0.6),
];

pub(super) fn kind_name(kind: HeavyKind) -> String {
    format!("{kind:?}").to_lowercase()
}

pub(super) fn excess_name(excess: Excess) -> String {
    match excess {
        Excess::Boundary => "none".into(),
        Excess::OnePoint => "one point".into(),
        Excess::Share(share) => format!("{} %", 100.0 * share),
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Isotropic,
    Heavy,
    Unresolved,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(super) kind: Kind,
    /// Whether `Unresolved` is an admissible answer: either the case is exactly on the boundary, or δ is too small for
    /// the noise of the points.
    pub(super) excusable: bool,
    /// The residual, recomputed from the transformed unit vectors, divided by δ.
    pub(super) residual_share: f64,
    /// Whether every recomputed certificate agrees with the fit.
    pub(super) certified: bool,
    /// Whether some planted subspace makes radially isotropic position within δ impossible.
    pub(super) must_be_found: bool,
    /// Whether a heavy answer has exactly the points of one of the planted subspaces.
    pub(super) exact: bool,
    pub(super) iterations: usize,
    pub(super) condition: f64,
    /// (fraction of points with |u·x| >= 1/(2√k)) · 4k for the worst u found.
    pub(super) soft_margin: Option<f64>,
    /// Slope of ln(scatter error) against ln n.
    pub(super) slope: Option<f64>,
    /// The slope for the covariance matrix.
    pub(super) covariance_slope: Option<f64>,
}

impl Outcome {
    /// A ratio that is at most 1 if and only if the answer is certified or is an admissible `Unresolved`.
    pub(super) fn certificate_ratio(&self) -> f64 {
        match self.kind {
            Kind::Unresolved if self.excusable => 0.0,
            Kind::Unresolved => f64::INFINITY,
            _ if !self.certified => f64::INFINITY,
            _ => self.residual_share,
        }
    }

    /// 1 if the answer agrees with the planted subspaces, otherwise 0.
    pub(super) fn agreement(&self) -> f64 {
        let agrees = match self.kind {
            Kind::Isotropic => !self.must_be_found,
            Kind::Heavy => self.exact,
            Kind::Unresolved => self.excusable,
        };
        f64::from(u8::from(agrees))
    }
}
