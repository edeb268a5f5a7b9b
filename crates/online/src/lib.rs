//! Online learners of halfspaces, and the protocol in which their mistakes are counted.
//!
//! A learner ([`OnlineLearner`]) predicts the label of a point and is then told the truth. It holds no
//! label before that: in a [`Session`] a point is asked, predicted, and only then revealed, by a person
//! or by a program; [`run`] is the loop over known labels. Who chooses the points is an [`Order`]:
//! [`AsGiven`], [`RandomOrder`], or the adaptive adversary [`SmallestMarginMistake`].
//!
//! | learner | guarantee | source |
//! |---|---|---|
//! | [`Perceptron`] | mistakes <= (R‖w*‖/γ)², every order | Kakade Thm 4.1; Harvey18; Notes21 |
//! | [`BatchPerceptron`] | updates <= (R/γ)², then consistent | Harvey18 Thm 1.1 |
//! | [`MarginPerceptron`] | updates <= 3(R/γ)², then margin >= γ/3 | Harvey18 Thm 2.1 |
//! | [`ModifiedPerceptron`] | <= ⌊2 ln(1/α)/σ²⌋ mistakes outside the band, any margin | Notes21 |
//! | [`KernelPerceptron`] | <= max K(x,x)/γ² in feature space | Notes21 |
//! | [`Halving`] | <= lg of the size of the class | Kakade Thm 2.2 |
//! | [`VersionSpace`] of [`Ellipsoid`] | <= 2d(d+1) ln((1+γ)/γ) | Kakade §3 |
//! | [`VersionSpace`] of [`CentreOfGravity`] | d ln((1+γ)/γ)/ln(e/(e-1)) for the exact centre | Kakade §3 |
//! | [`BayesPoint`] | the same; cuts at every revealed point | Herbrich et al. 2001 |
//! | [`VersionSpace`] of [`VolumetricCentre`] | O(d ln(d/γ)), constants in [`bounds::volumetric_mistakes`] | Kakade §3; Vaidya 1996 |
//! | [`VersionSpace`] of [`HardMargin`] | consistent, of largest margin; no mistake bound | Notes21 |
//! | [`OnlineMassart`] | E\[mistakes\] <= ηT + (1-η)√T/γ under Massart noise | ours, from CKST24 Lemma 2 |
//! | [`OnlineLeakyRelu`] | E\[mistakes\] <= ηT + 2(1-η) T^¾/√γ there, T large | ours, after DKTZ24 |
//! | [`PassiveAggressive`] | <= (R/γ)² (PA) | Crammer et al. 2006 |
//! | [`SecondOrderPerceptron`] | (1/γ)√((a + u'Mu) ln det(I + M/a)) | Cesa-Bianchi et al. 2005 |
//! | [`Alma`] | (2/γ²)(2/α-1)² + 8/α - 4 corrections, then margin (1-α)γ | Gentile 2001 |
//! | [`Winnow`] | 2 + 3k(1 + lg n) on disjunctions of k of n variables | Littlestone 1988 |
//! | [`AveragedPerceptron`], [`AveragedKernelPerceptron`], [`VotedPerceptron`] | as the perceptron while learning | Freund and Schapire 1999 |
//!
//! The bounds are functions in [`bounds`]. Sources are named by author keys; docs/sources.md has the titles.
//!
//! ```
//! use halfspaces_linalg::Classifier;
//! use halfspaces_data::{MarginBall, Marginal, random_target};
//! use halfspaces_online::{Perceptron, RandomOrder, bounds, run};
//!
//! let target = random_target(10, 1)?;
//! let points = MarginBall::new(&target, 0.1)?.sample(2000, 2)?;
//! let labels = target.label_all(&points)?;
//!
//! let (_, transcript) = run(Perceptron::new(10)?, &points, &labels, RandomOrder::new(3))?;
//! assert!(transcript.mistakes() as f64 <= bounds::perceptron_mistakes(1.0, 1.0, 0.1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

pub mod bounds;
mod direction;
mod error;
mod halving;
mod labelling;
mod optimum;
mod perceptrons;
mod protocol;
#[cfg(feature = "serde")]
mod saved;
mod scale;
mod self_directed;
mod version_space;

pub use error::OnlineError;
pub use halfspaces_linalg::Ellipsoid;
pub use halving::{
    BooleanClass, ClassError, FiniteClass, GridClass, HalfspaceClass, Halving, MAX_CLASS,
};
pub use labelling::{
    Answer, Labelling, LabellingError, LabellingFile, LabellingParams, LabellingProgress,
    LabellingQuestion, LabellingSession, Outlook, Source, SurestFirst,
};
pub use optimum::{Dichotomies, DichotomyError, LabellingGame, MAX_DICHOTOMIES, MAX_POOL};
pub use perceptrons::{
    Aggressiveness, Alma, AveragedKernelPerceptron, AveragedPerceptron, BatchFit, BatchModifiedFit,
    BatchModifiedPerceptron, BatchParams, BatchPerceptron, DEFAULT_MAX_UPDATES, Horizon, Kernel,
    KernelPerceptron, MarginPerceptron, ModifiedPerceptron, OnlineLeakyRelu, OnlineMassart,
    PassiveAggressive, Perceptron, Pick, SecondOrderPerceptron, VotedPerceptron, Winnow,
};
pub use protocol::{
    AsGiven, OnlineLearner, Order, PartialFitError, Prediction, Question, RandomOrder, ReplayError,
    Round, Session, SmallestMarginMistake, Tally, Transcript, run,
};
pub use self_directed::{
    AnswerStatus, Cap, ChainLength, ChainsRun, Goal, Greedy, GreedyRun, Pool, Progress,
    ResumeError, RoundTally, SampledGreedy, SelfDirectedLearner, SelfDirectedSession, Start,
    StrongLearner, TwoChains, VersionSpaceGreedy, WeakRun, label_pool,
};
pub use version_space::{
    BayesPoint, Centre, CentreOfGravity, HardMargin, MixingDiagnostics, VersionSpace,
    VolumetricCentre,
};
