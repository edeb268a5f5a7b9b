//! Learn halfspaces (linear threshold functions) with few mistakes, few samples and under noise.
//!
//! This crate holds no code of its own: it is every library of the project behind one name, and a
//! [`prelude`] with what most programs need.
//!
//! | module | feature | what it holds |
//! |---|---|---|
//! | [`linalg`] | | points (dense, sparse), labels, halfspaces, margins, and the contract of all learners |
//! | [`data`] | `data` (default) | distributions, targets, noise, readers and writers, real data sets |
//! | [`frame`] | `pipeline` (default) | tables from files: delimited text, LIBSVM, Parquet, Arrow, NPY |
//! | [`pipeline`] | `pipeline` (default) | from a table to predictions, and the model file of the command |
//! | [`features`] | `features` (default) | standardised and ranked columns, features of kernels, polynomials |
//! | [`forster`] | `forster` (default) | radially isotropic position, heavy subspaces, certificates |
//! | [`labelling`] | `labelling` (default) | the state of a labelling session and its file |
//! | [`online`] | `online` (default) | online and self-directed learners, sessions, transcripts |
//! | [`pac`] | `pac` (default) | learning under noise: the Perspectron family and its rivals |
//! | [`tables`] | `tables` (default) | the default classifier for people's tables, labels noisy |
#![cfg_attr(
    feature = "eval",
    doc = "| [`eval`] | `eval` | trials, exact statistics, claims, figures, the report |"
)]
#![cfg_attr(
    not(feature = "eval"),
    doc = "| `eval` | `eval` | trials, exact statistics, claims, figures, the report |"
)]
//!
//! The feature `serde` makes every parameter set, model, transcript and certificate serialisable.
//!
//! # One contract
//!
//! Parameters become a learner by [`check`](linalg::Params::check), the learner becomes a model by
//! [`fit`](linalg::FitSample::fit) on a sample or [`fit_stream`](linalg::FitStream::fit_stream) on a stream, and every
//! model is a [`Classifier`](linalg::Classifier). How a run ended is a [`Termination`](linalg::Termination),
//! never an error.
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

/// What most programs need: the contract's traits, points and labels, and the learners to try first.
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
        LabellingParams, LabellingSession, OnlineError, OnlineLearner, Perceptron,
        SelfDirectedLearner, SelfDirectedSession, Session, StrongLearner,
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
