//! Online and self-directed learners of halfspaces, their mistake bounds, and the protocols for using them.

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

pub mod bounds;
mod direction;
mod error;
mod halving;
mod labelling;
mod limits;
mod optimum;
mod perceptrons;
mod protocol;
#[cfg(feature = "serde")]
mod saved;
mod scale;
mod self_directed;
mod streams;
mod version_space;

pub use error::OnlineError;
pub use halfspaces_linalg::Ellipsoid;
pub use halving::{BooleanClass, FiniteClass, GridClass, HalfspaceClass, Halving};
pub use labelling::{
    Answer, Doubt, Labelling, LabellingFile, LabellingParams, LabellingProgress, LabellingQuestion,
    LabellingSession, Outlook, Source, SurestFirst,
};
pub use limits::{MAX_CLASS, MAX_DICHOTOMIES, MAX_POOL};
pub use optimum::{Dichotomies, LabellingGame};
pub use perceptrons::{
    Aggressiveness, Alma, Arow, AveragedPerceptron, BatchFit, BatchModifiedFit,
    BatchModifiedPerceptron, BatchParams, BatchPerceptron, DEFAULT_MAX_UPDATES, EpochPass,
    EpochSum, Horizon, Kernel, KernelPerceptron, MarginPerceptron, MassartSetting,
    ModifiedPerceptron, OnlineLeakyRelu, OnlineMassart, PassiveAggressive, Perceptron, Pick,
    SecondOrderPerceptron, ShardedFit, ShardedPerceptron, Winnow,
};
pub use protocol::{
    AsGiven, OnlineLearner, Order, PartialFitError, Prediction, Question, RandomOrder, Round,
    Session, SmallestMarginMistake, Tally, Transcript, run,
};
pub use self_directed::{
    AnswerStatus, BlocksGreedy, BlocksGreedyRun, Cap, ChainLength, ChainsRun, Goal, Greedy,
    GreedyRun, Pool, Progress, RoundTally, SampledGreedy, SelfDirectedLearner, SelfDirectedSession,
    Start, StrongLearner, SurestRows, SurestScan, TwoChains, VersionSpaceGreedy, WeakRun,
    label_pool,
};
pub use version_space::{
    BayesPoint, Centre, CentreOfGravity, HardMargin, VersionSpace, VolumetricCentre,
};
