//! Learn halfspaces (linear threshold functions) with few mistakes, from few samples and under noise.
//!
//! This crate re-exports all libraries of the project under one name, with a [`prelude`] for most programs.
//!
//! | module | feature | contents |
//! |---|---|---|
//! | [`linalg`] | | points (dense, sparse), labels, halfspaces, margins, and the traits of all learners |
//! | [`data`] | `data` (default) | distributions, targets, noise, writers, built-in data sets |
//! | [`frame`] | `pipeline` (default) | readers of tables: delimited text, LIBSVM, Parquet, Arrow, NPY |
//! | [`pipeline`] | `pipeline` (default) | from a table to predictions, and the model file of the command |
//! | [`features`] | `features` (default) | standardised and ranked columns, kernel features, polynomials |
//! | [`forster`] | `forster` (default) | radially isotropic position, heavy subspaces, certificates |
//! | [`labelling`] | `labelling` (default) | the state of a labelling session and its file |
//! | [`online`] | `online` (default) | online and self-directed learners, sessions, transcripts |
//! | [`pac`] | `pac` (default) | learning under noise: the Perspectron family and its baselines |
//! | [`tables`] | `tables` (default) | the default classifier for tables with noisy labels |
#![cfg_attr(
    feature = "eval",
    doc = "| [`eval`] | `eval` | trials, exact statistics, claims, figures, reports |"
)]
#![cfg_attr(
    not(feature = "eval"),
    doc = "| `eval` | `eval` | trials, exact statistics, claims, figures, reports |"
)]
//!
//! The feature `serde` makes parameters, models, transcripts and certificates serialisable.
//!
//! # One contract
//!
//! [`check`](linalg::Params::check) validates parameters and returns a learner. [`fit`](linalg::FitSample::fit) fits a
//! model to a sample, and [`fit_stream`](linalg::FitStream::fit_stream) fits one to a stream. Every model is a
//! [`Classifier`](linalg::Classifier). The outcome of a run is a [`Termination`](linalg::Termination), never an error.
#![cfg_attr(all(feature = "data", feature = "pac"), doc = "```")]
#![cfg_attr(not(all(feature = "data", feature = "pac")), doc = "```ignore")]
//! use halfspaces::prelude::*;
//!
//! let data = Builtin::Wdbc.load()?;
//! let model = SamplePerspectron::params().passes(5).check()?.fit(data.points(), data.labels())?;
//! let labels = model.label_all(data.points())?;
//! let wrong = labels.iter().zip(data.labels()).filter(|(found, given)| found != given).count();
//! assert!(wrong < data.labels().len() / 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "data")]
pub use halfspaces_data as data;
#[cfg(feature = "eval")]
pub use halfspaces_eval as eval;
#[cfg(feature = "features")]
pub use halfspaces_features as features;
#[cfg(feature = "forster")]
pub use halfspaces_forster as forster;
#[cfg(feature = "pipeline")]
pub use halfspaces_frame as frame;
#[cfg(feature = "labelling")]
pub use halfspaces_labelling as labelling;
pub use halfspaces_linalg as linalg;
#[cfg(feature = "online")]
pub use halfspaces_online as online;
#[cfg(feature = "pac")]
pub use halfspaces_pac as pac;
#[cfg(feature = "pipeline")]
pub use halfspaces_pipeline as pipeline;
#[cfg(feature = "tables")]
pub use halfspaces_tables as tables;

/// The items that most programs need: the traits of learners, points and labels, and the learners to try first.
///
/// ```
/// use halfspaces::prelude::*;
/// let points = Points::from_rows(&[[1.0, 0.2], [-0.3, 1.0]])?;
/// let halfspace = Halfspace::new(vec![1.0, 0.0])?;
/// assert_eq!(halfspace.label_all(&points)?, [Label::Positive, Label::Negative]);
/// # Ok::<(), InputError>(())
/// ```
pub mod prelude {
    #[cfg(feature = "data")]
    pub use halfspaces_data::{Builtin, Instance, Marginal, NoiseModel, Population, random_target};
    #[cfg(feature = "features")]
    pub use halfspaces_features::{FeatureMap, Nystroem, Transformed, ZScore};
    #[cfg(feature = "forster")]
    pub use halfspaces_forster::ForsterTransform;
    #[cfg(feature = "pipeline")]
    pub use halfspaces_frame::{Column, Frame, Hints, ReadOptions, Values, read};
    pub use halfspaces_linalg::{
        AffineHalfspace, Classifier, ExampleStream, FitError, FitSample, FitStream, Halfspace,
        InputError, Label, Params, PointSet, Points, RowView, SparsePoints, Termination, Threads,
    };
    #[cfg(feature = "online")]
    pub use halfspaces_online::{
        Labelling, LabellingSession, OnlineError, OnlineLearner, Perceptron, SelfDirectedLearner,
        SelfDirectedSession, Session, StrongLearner,
    };
    #[cfg(feature = "pac")]
    pub use halfspaces_pac::{ErrorCount, Perspectron, PositionedMassart, SamplePerspectron};
    #[cfg(feature = "pipeline")]
    pub use halfspaces_pipeline::{
        FitOptions, LabelledTable, Method, Pipeline, Plan, RecipeOptions, Unseen,
    };
    #[cfg(feature = "tables")]
    pub use halfspaces_tables::TableClassifier;
}
