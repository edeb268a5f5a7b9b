//! The definition of an experiment.

use super::results::{Planned, Results};
use super::section::Section;
use crate::claim::ClaimStatement;
use crate::scale::Scale;
use rand::rngs::ChaCha8Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;

/// An experiment with its own types of configuration and outcome.
///
/// Writing an outcome to JSON and reading it back must not change it: all numbers must be finite, and floats are read
/// back bit for bit.
///
/// ```
/// use halfspaces_eval::{
///     AnyExperiment, ClaimKind, ClaimStatement, Evidence, Experiment, Null, Planned, Results, Scale,
///     Section, Side, TrialStore, Verdict,
/// };
/// use halfspaces_eval::rand::{RngExt, rngs::ChaCha8Rng};
/// use std::{error::Error, sync::Mutex};
/// /// No die shows more than its number of faces.
/// struct Dice;
/// impl Experiment for Dice {
///     type Configuration = u32;
///     type Outcome = u32;
///     fn id(&self) -> &'static str {
///         "D"
///     }
///     fn title(&self) -> &'static str {
///         "Dice"
///     }
///     fn claims(&self) -> Vec<ClaimStatement> {
///         vec![ClaimStatement {
///             id: "D1".into(),
///             statement: "no die shows more than its faces".into(),
///             source: "common sense".into(),
///             kind: ClaimKind::Proved,
///             null: "a third of the faces".into(),
///             checks: &[],
///         }]
///     }
///     fn plan(&self, scale: Scale) -> Result<Vec<Planned<u32>>, Box<dyn Error + Send + Sync>> {
///         let trials = scale.pick(3, 30, 300);
///         Ok([6, 20].map(|faces| Planned { configuration: faces, trials }).to_vec())
///     }
///     fn trial(&self, faces: &u32, rng: &mut ChaCha8Rng) -> Result<u32, Box<dyn Error + Send + Sync>> {
///         Ok(rng.random_range(1..=*faces))
///     }
///     fn evaluate(&self, results: &Results<u32, u32>, section: &mut Section) {
///         let shares: Vec<f64> =
///             results.outcomes().map(|(faces, shown)| f64::from(*shown) / f64::from(*faces)).collect();
///         let evidence =
///             Evidence::deterministic("shown / faces", Side::AtMost, results.planned(), &shares);
///         for claim in self.claims() {
///             section.judge(claim, evidence.clone(), Null::SmallerBound);
///         }
///     }
/// }
/// let folder = tempfile::tempdir()?;
/// let store = Mutex::new(TrialStore::open(&folder.path().join("trials.jsonl"))?);
/// Dice.run(Scale::Smoke, 1, &|_| true, &store, &|_| ())?;
/// let section = Dice.section(Scale::Smoke, 1, &store.into_inner()?)?;
/// assert_eq!(section.claims[0].verdict, Verdict::Holds);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Experiment: Sync {
    /// A configuration. Its JSON form is part of every trial's key.
    type Configuration: Serialize + Clone + Send + Sync;
    /// The measurements of a trial.
    type Outcome: Serialize + DeserializeOwned + Send;

    /// Short identifier, such as `K3`.
    fn id(&self) -> &'static str;

    /// Title of the experiment's section in the report.
    fn title(&self) -> &'static str;

    /// The claims that the experiment judges.
    fn claims(&self) -> Vec<ClaimStatement>;

    /// The configurations at a scale, in a fixed order.
    ///
    /// # Errors
    /// Returns an error if planning is impossible, for example because data cannot be read.
    fn plan(
        &self,
        scale: Scale,
    ) -> Result<Vec<Planned<Self::Configuration>>, Box<dyn Error + Send + Sync>>;

    /// Runs one trial. All randomness must come from `rng`.
    ///
    /// # Errors
    /// Returns an error if the measurement is impossible.
    fn trial(
        &self,
        configuration: &Self::Configuration,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self::Outcome, Box<dyn Error + Send + Sync>>;

    /// Judges the claims and fills the summary, tables and figures of `section`.
    fn evaluate(
        &self,
        results: &Results<Self::Configuration, Self::Outcome>,
        section: &mut Section,
    );
}
