//! An experiment: configurations, trials, and what their outcomes say.

use crate::claim::{Claim, ClaimStatement, Evidence};
use crate::figure::{Figure, FigureError};
use crate::store::{StoreError, TrialStore};
use crate::table::Table;
use crate::trial::{Shard, TrialKey, trial_rng};
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// How much of an experiment is run.
///
/// ```
/// use halfspaces_eval::Scale;
/// assert_eq!(Scale::Standard.pick(1, 2, 3), 2);
/// assert_eq!("full".parse(), Ok(Scale::Full));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Everything once, small: under a minute for the whole suite.
    Smoke,
    /// What a reader runs: about ten minutes.
    Standard,
    /// What is published: about two hours.
    Full,
}

impl Scale {
    /// All scales, smallest first.
    pub const ALL: [Scale; 3] = [Scale::Smoke, Scale::Standard, Scale::Full];

    /// The value for this scale.
    #[must_use]
    pub fn pick<T>(self, smoke: T, standard: T, full: T) -> T {
        match self {
            Scale::Smoke => smoke,
            Scale::Standard => standard,
            Scale::Full => full,
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.pick("smoke", "standard", "full"))
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        Scale::ALL
            .into_iter()
            .find(|scale| scale.to_string() == text)
            .ok_or_else(|| format!("\"{text}\" is no scale; choose smoke, standard or full"))
    }
}

/// A configuration and how many trials it gets.
///
/// ```
/// use halfspaces_eval::{Planned, Scale};
/// let plan = |scale: Scale| {
///     [6, 20].map(|faces| Planned { configuration: faces, trials: scale.pick(3, 30, 300) })
/// };
/// assert_eq!(plan(Scale::Full).iter().map(|planned| planned.trials).sum::<u64>(), 600);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Planned<C> {
    /// The configuration.
    pub configuration: C,
    /// Number of trials.
    pub trials: u64,
}

/// The outcomes of one configuration, in the order of the trials' indices.
///
/// ```
/// use halfspaces_eval::{Group, Results};
/// // Two of three trials of a die with 6 faces are in.
/// let group = Group { configuration: 6, planned: 3, outcomes: vec![2, 5] };
/// let results = Results { groups: vec![group] };
/// assert_eq!(results.planned() - results.outcomes().count(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Group<C, O> {
    /// The configuration.
    pub configuration: C,
    /// Trials planned.
    pub planned: usize,
    /// Outcomes that are in.
    pub outcomes: Vec<O>,
}

/// The outcomes of an experiment, configuration by configuration in the order of the plan.
///
/// ```
/// use halfspaces_eval::{Group, Results};
/// let group = |d, outcomes: Vec<u32>| Group { configuration: d, planned: 3, outcomes };
/// let results = Results { groups: vec![group(2, vec![5, 6, 7]), group(4, vec![9])] };
/// assert_eq!((results.planned(), results.outcomes().count()), (6, 4));
/// assert_eq!(results.outcomes().last(), Some((&4, &9)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Results<C, O> {
    /// One group a configuration.
    pub groups: Vec<Group<C, O>>,
}

impl<C, O> Results<C, O> {
    /// Every outcome with its configuration.
    pub fn outcomes(&self) -> impl Iterator<Item = (&C, &O)> {
        self.groups.iter().flat_map(|g| g.outcomes.iter().map(|o| (&g.configuration, o)))
    }

    /// Trials planned in all.
    pub fn planned(&self) -> usize {
        self.groups.iter().map(|g| g.planned).sum()
    }
}

/// What an experiment found: evidence for each of its claims (by id), tables, figures.
///
/// ```
/// use halfspaces_eval::{ClaimStatement, Evidence, Section, Side};
/// let mut section = Section { id: "D".into(), title: "Dice".into(), ..Section::default() };
/// let statement = "no die shows more than its faces".into();
/// let claim = ClaimStatement { id: "D1".into(), statement, source: "common sense".into(), checks: &[] };
/// section.judge(claim, Evidence::deterministic("shown / faces", Side::AtMost, 1, &[0.5]));
/// assert_eq!(section.claims[0].experiment, "D");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The experiment.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it does and what to see, in paragraphs.
    pub summary: Vec<String>,
    /// Its claims with verdicts.
    pub claims: Vec<Claim>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Its configurations as JSON text with (done, planned) trials.
    pub configurations: Vec<(String, usize, usize)>,
}

impl Section {
    /// Adds the verdict on a claim of this experiment.
    pub fn judge(&mut self, claim: ClaimStatement, evidence: Evidence) {
        let claim = Claim::new(claim, &self.id, evidence);
        self.claims.push(claim);
    }
}

/// Why an experiment stopped.
///
/// ```
/// use halfspaces_eval::ExperimentError;
/// let error = ExperimentError::Plan { experiment: "D".into(), source: "no dice".into() };
/// assert_eq!(error.to_string(), "D: no dice");
/// ```
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// A trial failed.
    #[error("{key}: {source}")]
    Trial {
        /// The trial.
        key: Box<TrialKey>,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The plan failed.
    #[error("{experiment}: {source}")]
    Plan {
        /// The experiment.
        experiment: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store refused a trial.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An outcome in the store is not one of this experiment's.
    #[error("{key}: the stored outcome does not fit this program ({reason}); rerun with --fresh")]
    Outcome {
        /// The trial.
        key: Box<TrialKey>,
        /// What the parser says.
        reason: String,
    },
    /// A figure could not be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
}

/// An experiment with its own types of configuration and outcome.
///
/// Outcomes must survive JSON: numbers finite, floats read back to the bit.
///
/// ```
/// use halfspaces_eval::{
///     AnyExperiment, ClaimStatement, Evidence, Experiment, Planned, Results, Scale, Section, Shard, Side,
///     TrialStore, Verdict,
/// };
/// use rand::{RngExt, rngs::ChaCha8Rng};
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
///         let statement = "no die shows more than its faces".into();
///         vec![ClaimStatement { id: "D1".into(), statement, source: "common sense".into(), checks: &[] }]
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
///         for claim in Experiment::claims(self) {
///             section.judge(claim, evidence.clone());
///         }
///     }
/// }
/// let folder = tempfile::tempdir()?;
/// let store = Mutex::new(TrialStore::open(&folder.path().join("trials.jsonl"))?);
/// Dice.run(Scale::Smoke, 1, Shard::WHOLE, &store, &|| ())?;
/// let section = Dice.section(Scale::Smoke, 1, &store.into_inner()?)?;
/// assert_eq!(section.claims[0].verdict, Verdict::Holds);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Experiment: Sync {
    /// One configuration; its JSON form is part of every trial's key.
    type Configuration: Serialize + Clone + Send + Sync;
    /// What a trial measures.
    type Outcome: Serialize + DeserializeOwned + Send;

    /// Short identifier, such as `K3`.
    fn id(&self) -> &'static str;

    /// Title of its section.
    fn title(&self) -> &'static str;

    /// The claims it judges.
    fn claims(&self) -> Vec<ClaimStatement>;

    /// The configurations at a scale, in a fixed order.
    ///
    /// # Errors
    /// Whatever keeps the experiment from being planned, such as data that cannot be read.
    fn plan(
        &self,
        scale: Scale,
    ) -> Result<Vec<Planned<Self::Configuration>>, Box<dyn Error + Send + Sync>>;

    /// Runs one trial. Everything random comes from `rng`.
    ///
    /// # Errors
    /// Whatever keeps the trial from being measured.
    fn trial(
        &self,
        configuration: &Self::Configuration,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self::Outcome, Box<dyn Error + Send + Sync>>;

    /// Judges the claims and fills summary, tables and figures of `section`.
    fn evaluate(
        &self,
        results: &Results<Self::Configuration, Self::Outcome>,
        section: &mut Section,
    );
}

/// An [`Experiment`] behind one interface: implemented for all of them.
pub trait AnyExperiment: Sync {
    /// See [`Experiment::id`].
    fn id(&self) -> &'static str;

    /// See [`Experiment::title`].
    fn title(&self) -> &'static str;

    /// See [`Experiment::claims`].
    fn claims(&self) -> Vec<ClaimStatement>;

    /// The keys of all trials at a scale, in the order of the plan.
    ///
    /// # Errors
    /// [`ExperimentError::Plan`].
    fn keys(&self, scale: Scale, seed: u64) -> Result<Vec<TrialKey>, ExperimentError>;

    /// Runs the trials of `shard` that the store lacks, on the current rayon pool; `done` is called
    /// after each.
    ///
    /// # Errors
    /// The first [`ExperimentError`]; finished trials stay in the store.
    fn run(
        &self,
        scale: Scale,
        seed: u64,
        shard: Shard,
        store: &Mutex<TrialStore>,
        done: &(dyn Fn() + Sync),
    ) -> Result<(), ExperimentError>;

    /// Reads the trials back and evaluates them.
    ///
    /// # Errors
    /// [`ExperimentError::Plan`], [`ExperimentError::Outcome`].
    fn section(
        &self,
        scale: Scale,
        seed: u64,
        store: &TrialStore,
    ) -> Result<Section, ExperimentError>;
}

/// A planned configuration with its JSON form.
struct Keyed<C> {
    configuration: C,
    json: serde_json::Value,
    trials: u64,
}

/// The plan with every configuration in its JSON form.
fn planned<E: Experiment>(
    experiment: &E,
    scale: Scale,
) -> Result<Vec<Keyed<E::Configuration>>, ExperimentError> {
    let failed = |source| ExperimentError::Plan { experiment: experiment.id().into(), source };
    let keyed = |p: Planned<E::Configuration>| {
        let json = serde_json::to_value(&p.configuration).map_err(|e| failed(e.into()))?;
        Ok(Keyed { configuration: p.configuration, json, trials: p.trials })
    };
    experiment.plan(scale).map_err(failed)?.into_iter().map(keyed).collect()
}

/// The outcome in its JSON form, refused if it would not read back: JSON has no infinity and no NaN,
/// and a file that holds their stand-in is of no use to a later run.
fn kept<O>(outcome: O) -> Result<serde_json::Value, Box<dyn Error + Send + Sync>>
where
    O: Serialize + DeserializeOwned,
{
    let json = serde_json::to_value(outcome)?;
    match O::deserialize(&json) {
        Ok(_) => Ok(json),
        Err(reason) => {
            Err(format!("its outcome cannot be stored: {reason}; is a number not finite? {json}")
                .into())
        }
    }
}

fn key(experiment: &'static str, json: &serde_json::Value, seed: u64, index: u64) -> TrialKey {
    TrialKey { experiment: experiment.into(), configuration: json.clone(), seed, index }
}

impl<E: Experiment> AnyExperiment for E {
    fn id(&self) -> &'static str {
        Experiment::id(self)
    }

    fn title(&self) -> &'static str {
        Experiment::title(self)
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        Experiment::claims(self)
    }

    fn keys(&self, scale: Scale, seed: u64) -> Result<Vec<TrialKey>, ExperimentError> {
        let plan = planned(self, scale)?;
        let keys = plan.iter().flat_map(|p| {
            (0..p.trials).map(move |index| key(Experiment::id(self), &p.json, seed, index))
        });
        Ok(keys.collect())
    }

    fn run(
        &self,
        scale: Scale,
        seed: u64,
        shard: Shard,
        store: &Mutex<TrialStore>,
        done: &(dyn Fn() + Sync),
    ) -> Result<(), ExperimentError> {
        let plan = planned(self, scale)?;
        let all = plan.iter().flat_map(|p| {
            (0..p.trials).map(move |index| {
                (&p.configuration, key(Experiment::id(self), &p.json, seed, index))
            })
        });
        let missing: Vec<_> = {
            let store = store.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = all.enumerate().filter(|(ordinal, _)| shard.owns(*ordinal));
            mine.map(|(_, trial)| trial).filter(|(_, key)| store.get(key).is_none()).collect()
        };
        missing.into_par_iter().with_max_len(1).try_for_each(|(configuration, key)| {
            let failed = |source| ExperimentError::Trial { key: Box::new(key.clone()), source };
            let outcome = self.trial(configuration, &mut trial_rng(&key)).map_err(failed)?;
            let outcome = kept::<E::Outcome>(outcome).map_err(failed)?;
            store.lock().unwrap_or_else(PoisonError::into_inner).append(&key, outcome)?;
            done();
            Ok(())
        })
    }

    fn section(
        &self,
        scale: Scale,
        seed: u64,
        store: &TrialStore,
    ) -> Result<Section, ExperimentError> {
        let mut section = Section {
            id: Experiment::id(self).into(),
            title: Experiment::title(self).into(),
            ..Section::default()
        };
        let mut groups = Vec::new();
        for p in planned(self, scale)? {
            let mut outcomes = Vec::new();
            for index in 0..p.trials {
                let key = key(Experiment::id(self), &p.json, seed, index);
                let Some(value) = store.get(&key) else { continue };
                outcomes.push(E::Outcome::deserialize(value).map_err(|error| {
                    ExperimentError::Outcome { key: Box::new(key), reason: error.to_string() }
                })?);
            }
            let planned = p.trials as usize;
            section.configurations.push((p.json.to_string(), outcomes.len(), planned));
            groups.push(Group { configuration: p.configuration, planned, outcomes });
        }
        self.evaluate(&Results { groups }, &mut section);
        Ok(section)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Side, Verdict};
    use rand::RngExt;

    /// Draws a number in [0, 1) and claims that it is at most `bound`.
    struct Draws {
        bound: f64,
    }

    #[derive(Clone, Serialize)]
    struct Sides {
        sides: u32,
    }

    impl Experiment for Draws {
        type Configuration = Sides;
        type Outcome = f64;

        fn id(&self) -> &'static str {
            "D"
        }

        fn title(&self) -> &'static str {
            "Draws"
        }

        fn claims(&self) -> Vec<ClaimStatement> {
            vec![ClaimStatement {
                id: "D".into(),
                statement: "small".into(),
                source: "none".into(),
                checks: &[],
            }]
        }

        fn plan(&self, _: Scale) -> Result<Vec<Planned<Sides>>, Box<dyn Error + Send + Sync>> {
            Ok([2, 6].map(|sides| Planned { configuration: Sides { sides }, trials: 10 }).into())
        }

        fn trial(
            &self,
            _: &Sides,
            rng: &mut ChaCha8Rng,
        ) -> Result<f64, Box<dyn Error + Send + Sync>> {
            Ok(rng.random())
        }

        fn evaluate(&self, results: &Results<Sides, f64>, section: &mut Section) {
            let ratios: Vec<f64> = results.outcomes().map(|(_, v)| v / self.bound).collect();
            let evidence =
                Evidence::deterministic("draw / bound", Side::AtMost, results.planned(), &ratios);
            for claim in Experiment::claims(self) {
                section.judge(claim, evidence.clone());
            }
        }
    }

    fn lines_after(parts: &[&str]) -> (String, Verdict) {
        let folder = tempfile::tempdir().unwrap();
        let store = Mutex::new(TrialStore::open(&folder.path().join("t")).unwrap());
        let experiment = Draws { bound: 1.0 };
        for part in parts {
            experiment.run(Scale::Smoke, 1, part.parse().unwrap(), &store, &|| ()).unwrap();
        }
        let store = store.into_inner().unwrap();
        let section = experiment.section(Scale::Smoke, 1, &store).unwrap();
        (store.to_canonical_lines(), section.claims[0].verdict)
    }

    #[test]
    fn shards_and_reruns_give_the_same_trials() {
        let whole = lines_after(&["1/1"]);
        assert_eq!(whole.1, Verdict::Holds);
        assert_eq!(lines_after(&["3/3", "1/3", "2/3"]), whole);
        assert_eq!(lines_after(&["1/2", "1/1", "1/1"]), whole);
        assert_eq!(lines_after(&["1/3", "2/3"]).1, Verdict::Inconclusive);
    }

    #[test]
    fn a_planted_wrong_bound_is_caught() {
        let store = Mutex::new(TrialStore::read(&[]).unwrap());
        let experiment = Draws { bound: 1.0 / 3.0 };
        experiment.run(Scale::Smoke, 1, Shard::WHOLE, &store, &|| ()).unwrap();
        let section = experiment.section(Scale::Smoke, 1, &store.into_inner().unwrap()).unwrap();
        assert_eq!(section.claims[0].verdict, Verdict::Violated);
    }

    #[test]
    fn an_outcome_that_would_not_read_back_is_refused() {
        #[derive(Serialize, Deserialize)]
        struct Slope {
            slope: f64,
        }
        assert_eq!(kept(Slope { slope: 0.1 }).unwrap(), serde_json::json!({"slope": 0.1}));
        for slope in [f64::NEG_INFINITY, f64::NAN] {
            let error = kept(Slope { slope }).unwrap_err().to_string();
            assert!(error.contains("not finite") && error.contains(r#"{"slope":null}"#), "{error}");
        }
    }

    #[test]
    fn an_outcome_of_another_program_is_named() {
        let mut store = TrialStore::read(&[]).unwrap();
        let experiment = Draws { bound: 1.0 };
        let key = experiment.keys(Scale::Smoke, 1).unwrap().remove(3);
        store.append(&key, serde_json::json!("text")).unwrap();
        let error = experiment.section(Scale::Smoke, 1, &store).unwrap_err();
        assert!(error.to_string().starts_with("D {\"sides\":2} seed 1 trial 3: "));
    }
}
