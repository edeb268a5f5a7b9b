//! The candidate models that are compared. Part of `TableClassifier`. Claims: PT, PTn.

use halfspaces_features::{Distance, FeatureMap, Ranks, ZScore};
use halfspaces_linalg::{InputError, PointSet, RowView, getters};
use std::fmt;

/// The scale of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ColumnScale {
    /// Mean 0 and standard deviation 1 ([`ZScore`]).
    Standardised,
    /// Ranks ([`Ranks`]).
    Ranked,
}

/// The feature space in which a halfspace is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Space {
    /// The columns.
    Columns,
    /// Nyström features of a radial kernel.
    Kernel {
        /// The distance of the kernel.
        distance: Distance,
        /// The scale of the kernel, as a multiple of the median distance.
        width: f64,
    },
}

/// The method that fits a halfspace.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Method {
    /// Minimises ½‖w‖² + C times the hinge loss: a support vector machine.
    Hinge {
        /// C.
        c: f64,
    },
    /// Logistic regression ([`halfspaces_pac::LogisticRegression`]).
    Logistic {
        /// C.
        c: f64,
    },
    /// The [`halfspaces_pac::SamplePerspectron`] with ten passes.
    Perspectron,
}

/// A combination of column scale, space and method, which a [`TableClassifier`](crate::TableClassifier) compares with
/// others.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_tables::{ColumnScale, Method, TableClassifier};
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// let best = model.report().compared()[0].candidate();
/// // For example "hinge C=3, Laplacian kernel 0.5, ranked columns".
/// let text = best.to_string();
/// assert_eq!(text.ends_with("ranked columns"), best.columns() == ColumnScale::Ranked);
/// assert_eq!(text.starts_with("hinge"), matches!(best.method(), Method::Hinge { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Candidate {
    pub(crate) columns: ColumnScale,
    pub(crate) space: Space,
    pub(crate) method: Method,
}

impl Candidate {
    getters! {
        /// The scale of the columns.
        columns: ColumnScale,

        /// The space.
        space: Space,

        /// The method.
        method: Method,
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.method {
            Method::Hinge { c } => write!(f, "hinge C={c}, ")?,
            Method::Logistic { c } => write!(f, "logistic C={c}, ")?,
            Method::Perspectron => f.write_str("Perspectron, ")?,
        }
        match self.space {
            Space::Columns => {}
            Space::Kernel { distance, width } => {
                let name = match distance {
                    Distance::SquaredEuclidean => "Gaussian",
                    Distance::Manhattan => "Laplacian",
                };
                write!(f, "{name} kernel {width}, ")?;
            }
        }
        f.write_str(match self.columns {
            ColumnScale::Standardised => "standardised columns",
            ColumnScale::Ranked => "ranked columns",
        })
    }
}

/// Values of C for the hinge loss on kernel features, in increasing order.
const KERNEL_C: [f64; 3] = [0.3, 1.0, 3.0];
/// The same for more than two classes, each of which is separated from many more rows of other classes.
const MULTICLASS_C: [f64; 2] = [1.0, 3.0];
/// C of the hinge loss on columns, and of logistic regression.
const COLUMN_C: f64 = 0.1;
const LOGISTIC_C: f64 = 1.0;
/// Distances of the kernels and their scales, as multiples of the median distance.
const KERNELS: [(Distance, f64); 4] = [
    (Distance::SquaredEuclidean, 0.5),
    (Distance::SquaredEuclidean, 3.0),
    (Distance::Manhattan, 0.5),
    (Distance::Manhattan, 2.0),
];

/// Candidates that share their features and differ in their methods.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Family {
    pub(crate) columns: ColumnScale,
    pub(crate) space: Space,
    pub(crate) methods: Vec<Method>,
}

impl Family {
    pub(crate) fn candidate(&self, method: Method) -> Candidate {
        Candidate { columns: self.columns, space: self.space, method }
    }
}

/// The candidates for a table. With weights, only methods that use weights are included. The Perspectron is included
/// only for two classes, because the magnitudes of its decision values carry no information.
pub(crate) fn families(weighted: bool, outputs: usize) -> Vec<Family> {
    let kernel_c = if outputs == 1 { &KERNEL_C[..] } else { &MULTICLASS_C };
    let mut families = Vec::new();
    for columns in [ColumnScale::Standardised, ColumnScale::Ranked] {
        for (distance, width) in KERNELS {
            let space = Space::Kernel { distance, width };
            let methods = kernel_c.iter().map(|&c| Method::Hinge { c }).collect();
            families.push(Family { columns, space, methods });
        }
        let mut methods = vec![Method::Hinge { c: COLUMN_C }];
        if !weighted {
            methods.push(Method::Logistic { c: LOGISTIC_C });
            if columns == ColumnScale::Standardised && outputs == 1 {
                methods.push(Method::Perspectron);
            }
        }
        families.push(Family { columns, space: Space::Columns, methods });
    }
    families
}

/// A fitted [`ColumnScale`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Scale {
    Standardised(ZScore),
    Ranked(Ranks),
}

impl Scale {
    pub(crate) fn fit<P: PointSet>(columns: ColumnScale, points: &P) -> Result<Scale, InputError> {
        Ok(match columns {
            ColumnScale::Standardised => Scale::Standardised(ZScore::fit(points)?),
            ColumnScale::Ranked => Scale::Ranked(Ranks::fit(points)?),
        })
    }
}

impl FeatureMap for Scale {
    fn input_dim(&self) -> usize {
        match self {
            Scale::Standardised(map) => map.input_dim(),
            Scale::Ranked(map) => map.input_dim(),
        }
    }

    fn output_dim(&self) -> usize {
        self.input_dim()
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        match self {
            Scale::Standardised(map) => map.map_row(x, out),
            Scale::Ranked(map) => map.map_row(x, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn with_weights_no_candidate_ignores_them() {
        for outputs in [1, 3] {
            let all: Vec<Method> =
                families(true, outputs).into_iter().flat_map(|f| f.methods).collect();
            assert!(all.iter().all(|m| matches!(m, Method::Hinge { .. })), "{all:?}");
        }
    }
}
