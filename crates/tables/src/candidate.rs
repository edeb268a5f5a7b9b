//! The candidate models that are compared; part of `TableClassifier`. Claims: PT, PTn.

use halfspaces_features::{Distance, FeatureMap, Ranks, ZScore};
use halfspaces_linalg::{InputError, PointSet, RowView, getters};
use std::fmt;

/// The scale of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ColumnScale {
    /// Columns with mean 0 and standard deviation 1 ([`ZScore`]).
    Standardised,
    /// Columns replaced by their ranks ([`Ranks`]).
    Ranked,
    /// Columns with mean 0 and a common scale ([`ZScore::fit_common`]). Used only for wide tables.
    Centred,
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
    /// A support vector machine, which minimises ½‖w‖² + C times the hinge loss.
    Hinge {
        /// The factor C.
        c: f64,
    },
    /// Logistic regression ([`halfspaces_pac::LogisticRegression`]).
    Logistic {
        /// The factor C of the loss.
        c: f64,
    },
    /// Ridge regression, which minimises ½‖w‖² + ½C times the sum of squared differences between decision values and
    /// labels ±1. Used only for wide tables; there are then up to 2000 landmarks.
    Ridge {
        /// The factor C.
        c: f64,
    },
    /// The [`halfspaces_pac::SamplePerspectron`] with ten passes.
    Perspectron,
    /// Linear discriminants of classes that share a covariance. Used only with many classes
    /// ([`has_many_classes`](crate::has_many_classes)), where all classes are learned together.
    Discriminant {
        /// The number that is added to the diagonal of the covariance, as a multiple of the mean of the diagonal.
        shrinkage: f64,
    },
}

/// A combination of a column scale, a space and a method: one of the models that a
/// [`TableClassifier`](crate::TableClassifier) compares.
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
            Method::Ridge { c } => write!(f, "ridge C={c}, ")?,
            Method::Perspectron => f.write_str("Perspectron, ")?,
            Method::Discriminant { shrinkage } => write!(f, "discriminant λ={shrinkage}, ")?,
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
            ColumnScale::Centred => "centred columns",
        })
    }
}

/// Values of C for the hinge loss on kernel features, in increasing order.
const KERNEL_C: [f64; 3] = [0.3, 1.0, 3.0];
/// The values of C for more than two classes. Each class is then separated from all others, which together have many
/// more rows.
const MULTICLASS_C: [f64; 2] = [1.0, 3.0];
/// The value of C for the hinge loss on columns. The next constant is the value for logistic regression.
const COLUMN_C: f64 = 0.1;
const LOGISTIC_C: f64 = 1.0;
/// The kernels, each with its distance and its scale as a multiple of the median distance.
const KERNELS: [(Distance, f64); 4] = [
    (Distance::SquaredEuclidean, 0.5),
    (Distance::SquaredEuclidean, 3.0),
    (Distance::Manhattan, 0.5),
    (Distance::Manhattan, 2.0),
];
/// Minimum number of columns of a wide table, such as a table of embeddings.
const WIDE: usize = 100;
/// The kernel of ridge regression; the next constant contains its values of C. Ridge regression is used for wide
/// tables, where a larger number of landmarks gives smaller errors.
const RIDGE_KERNEL: Space = Space::Kernel { distance: Distance::SquaredEuclidean, width: 0.5 };
const RIDGE_C: [f64; 3] = [0.3, 1.0, 3.0];

pub(crate) fn is_wide(dim: usize) -> bool {
    dim >= WIDE
}

/// The column scales that are compared for a table with `dim` columns.
pub(crate) fn column_scales(dim: usize) -> &'static [ColumnScale] {
    use ColumnScale::{Centred, Ranked, Standardised};
    if is_wide(dim) { &[Standardised, Ranked, Centred] } else { &[Standardised, Ranked] }
}

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

    pub(crate) fn is_ridge(&self) -> bool {
        matches!(self.methods[..], [Method::Ridge { .. }, ..])
    }
}

/// The candidates for a table with `dim` columns. With weights, only methods that support weights are included. The
/// Perspectron is included only for two classes, because the magnitudes of its decision values carry no information.
pub(crate) fn families(weighted: bool, dim: usize, outputs: usize) -> Vec<Family> {
    let kernel_c = if outputs == 1 { &KERNEL_C[..] } else { &MULTICLASS_C };
    let mut families = Vec::new();
    for &columns in column_scales(dim) {
        if is_wide(dim) && columns != ColumnScale::Ranked {
            let methods = RIDGE_C.map(|c| Method::Ridge { c }).to_vec();
            families.push(Family { columns, space: RIDGE_KERNEL, methods });
        }
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

/// The shrinkages of discriminants.
const SHRINKAGES: [f64; 3] = [0.01, 0.1, 1.0];
/// The kernels of discriminants, and their scales. With many classes, the rows of a class are close to each other.
const MANY_CLASS_KERNELS: [(Distance, f64); 5] = [
    (Distance::SquaredEuclidean, 0.2),
    (Distance::SquaredEuclidean, 0.5),
    (Distance::SquaredEuclidean, 3.0),
    (Distance::Manhattan, 0.5),
    (Distance::Manhattan, 2.0),
];

/// The candidates for a table with many classes. All of them support weights.
pub(crate) fn many_class_families() -> Vec<Family> {
    let methods = SHRINKAGES.map(|shrinkage| Method::Discriminant { shrinkage }).to_vec();
    let family = |columns, space| Family { columns, space, methods: methods.clone() };
    let mut families: Vec<Family> = [ColumnScale::Standardised, ColumnScale::Ranked]
        .map(|columns| family(columns, Space::Columns))
        .to_vec();
    families.extend(MANY_CLASS_KERNELS.map(|(distance, width)| {
        family(ColumnScale::Standardised, Space::Kernel { distance, width })
    }));
    families
}

/// A fitted [`ColumnScale`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Scale {
    Standardised(ZScore),
    Ranked(Ranks),
    Centred(ZScore),
}

impl Scale {
    pub(crate) fn fit<P: PointSet>(columns: ColumnScale, points: &P) -> Result<Scale, InputError> {
        Ok(match columns {
            ColumnScale::Standardised => Scale::Standardised(ZScore::fit(points)?),
            ColumnScale::Ranked => Scale::Ranked(Ranks::fit(points)?),
            ColumnScale::Centred => Scale::Centred(ZScore::fit_common(points)?),
        })
    }
}

impl FeatureMap for Scale {
    fn input_dim(&self) -> usize {
        match self {
            Scale::Standardised(map) | Scale::Centred(map) => map.input_dim(),
            Scale::Ranked(map) => map.input_dim(),
        }
    }

    fn output_dim(&self) -> usize {
        self.input_dim()
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        match self {
            Scale::Standardised(map) | Scale::Centred(map) => map.map_row(x, out),
            Scale::Ranked(map) => map.map_row(x, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn with_weights_no_candidate_ignores_them() {
        for (dim, outputs) in [(99, 1), (99, 3), (100, 1), (100, 3)] {
            let all: Vec<Method> =
                families(true, dim, outputs).into_iter().flat_map(|f| f.methods).collect();
            let uses = |m: &Method| matches!(m, Method::Hinge { .. } | Method::Ridge { .. });
            assert!(all.iter().all(uses), "{all:?}");
        }
    }

    #[test]
    fn only_wide_tables_have_ridge_regression_and_centred_columns() {
        for dim in [99, 100] {
            let families = families(false, dim, 1);
            let ridge: Vec<ColumnScale> =
                families.iter().filter(|f| f.is_ridge()).map(|f| f.columns).collect();
            let centred = families.iter().any(|f| f.columns == ColumnScale::Centred);
            assert_eq!(centred, dim == 100);
            for family in families.iter().filter(|f| f.is_ridge()) {
                let names: Vec<String> =
                    family.methods.iter().map(|m| family.candidate(*m).to_string()).collect();
                for (name, c) in names.iter().zip(["0.3", "1", "3"]) {
                    assert!(name.starts_with(&format!("ridge C={c}, Gaussian kernel 0.5, ")));
                }
                assert_eq!(names.len(), 3);
            }
            let expected = [ColumnScale::Standardised, ColumnScale::Centred];
            assert_eq!(ridge, expected[..if dim == 100 { 2 } else { 0 }]);
        }
    }
}
