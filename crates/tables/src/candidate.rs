//! What is chosen among. Part of `TableClassifier`. Claims: PT, PTn.

use halfspaces_features::{Distance, FeatureMap, Ranks, ZScore};
use halfspaces_linalg::{InputError, PointSet, RowView};
use std::fmt;
use std::ops::Range;

/// How columns are brought to one scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ColumnScale {
    /// Mean 0 and deviation 1 ([`ZScore`]).
    Standardised,
    /// By rank ([`Ranks`]).
    Ranked,
}

/// What a halfspace is one of.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Space {
    /// The columns.
    Columns,
    /// Features of a radial kernel by landmarks (Nyström).
    Kernel {
        /// What the kernel falls with.
        distance: Distance,
        /// Its scale, as a multiple of the median distance.
        width: f64,
    },
}

/// How a halfspace is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Method {
    /// Least ½‖w‖² + C times the hinge loss: a support vector machine.
    Hinge {
        /// C.
        c: f64,
    },
    /// Logistic regression ([`halfspaces_pac::LogisticRegression`]).
    Logistic {
        /// C.
        c: f64,
    },
    /// [`halfspaces_pac::SamplePerspectron`], ten passes.
    Perspectron,
}

/// One way to fit a halfspace, which a [`TableClassifier`](crate::TableClassifier) compares with others.
///
/// ```
/// use halfspaces_features::Distance;
/// use halfspaces_tables::{Candidate, ColumnScale, Method, Space};
/// let candidate = Candidate {
///     columns: ColumnScale::Ranked,
///     space: Space::Kernel { distance: Distance::Manhattan, width: 0.5 },
///     method: Method::Hinge { c: 3.0 },
/// };
/// assert_eq!(candidate.to_string(), "hinge C=3, Laplacian kernel 0.5, ranked columns");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Candidate {
    /// The scale of the columns.
    pub columns: ColumnScale,
    /// The space.
    pub space: Space,
    /// The method.
    pub method: Method,
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

/// C of the hinge loss, in order.
const KERNEL_C: [f64; 3] = [0.3, 1.0, 3.0];
/// The same for several classes, each told apart from many more rows of others.
const CLASSES_C: [f64; 2] = [1.0, 3.0];
const COLUMN_C: f64 = 0.1;
const LOGISTIC_C: f64 = 1.0;
/// Scales of the kernels, as multiples of the median distance.
const KERNELS: [(Distance, f64); 4] = [
    (Distance::SquaredEuclidean, 0.5),
    (Distance::SquaredEuclidean, 3.0),
    (Distance::Manhattan, 0.5),
    (Distance::Manhattan, 2.0),
];

/// Candidates that share their features.
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

/// What a table's candidates are: with weights, only methods that heed them; the Perspectron only for two classes, as the
/// sizes of its values say nothing.
pub(crate) fn families(weighted: bool, sums: usize) -> Vec<Family> {
    let of_kernels = if sums == 1 { &KERNEL_C[..] } else { &CLASSES_C };
    let mut families = Vec::new();
    for columns in [ColumnScale::Standardised, ColumnScale::Ranked] {
        for (distance, width) in KERNELS {
            let space = Space::Kernel { distance, width };
            let methods = of_kernels.iter().map(|&c| Method::Hinge { c }).collect();
            families.push(Family { columns, space, methods });
        }
        let mut methods = vec![Method::Hinge { c: COLUMN_C }];
        if !weighted {
            methods.push(Method::Logistic { c: LOGISTIC_C });
            if columns == ColumnScale::Standardised && sums == 1 {
                methods.push(Method::Perspectron);
            }
        }
        families.push(Family { columns, space: Space::Columns, methods });
    }
    families
}

/// Fitted [`ColumnScale`].
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

    fn map_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        match self {
            Scale::Standardised(map) => map.map_rows(points, rows, out),
            Scale::Ranked(map) => map.map_rows(points, rows, out),
        }
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
        for sums in [1, 3] {
            let all: Vec<Method> =
                families(true, sums).into_iter().flat_map(|f| f.methods).collect();
            assert!(all.iter().all(|m| matches!(m, Method::Hinge { .. })), "{all:?}");
        }
    }
}
