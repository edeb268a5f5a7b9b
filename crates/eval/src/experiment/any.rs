//! Type-erased experiments.

use super::definition::Experiment;
use super::results::{Group, Planned, Results};
use super::section::Section;
use crate::claim::ClaimStatement;
use crate::scale::Scale;
use crate::store::{StoreError, TrialStore};
use crate::trial::{TrialKey, trial_rng};
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::sync::{Mutex, MutexGuard};
use thiserror::Error;

/// The reason why an experiment stopped.
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
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The plan failed.
    #[error("{experiment}: {source}")]
    Plan {
        /// The experiment.
        experiment: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store rejected a trial.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An outcome in the store does not have this experiment's type.
    #[error("{key}: the stored outcome does not match this program ({reason})")]
    Outcome {
        /// The trial.
        key: Box<TrialKey>,
        /// The message of the parser.
        reason: String,
    },
}

/// The description of an experiment.
///
/// ```
/// use halfspaces_eval::{AnyExperiment, Description};
/// fn titles(suite: &[Box<dyn AnyExperiment>]) -> Vec<&'static str> {
///     suite.iter().map(|experiment| experiment.describe().title).collect()
/// }
/// assert!(titles(&[]).is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// See [`Experiment::id`].
    pub id: &'static str,
    /// See [`Experiment::title`].
    pub title: &'static str,
    /// See [`Experiment::claims`].
    pub claims: Vec<ClaimStatement>,
    /// The type that implements the experiment, with its path as written by the compiler.
    pub type_name: &'static str,
}

/// A type-erased [`Experiment`], as stored in a suite. The trait is implemented for every experiment. Its method names
/// differ from those of [`Experiment`], so both traits can be in scope at the same time.
///
/// The trials determine the time of a run; planning and evaluation take time proportional to the number of trials. A
/// [`TrialStore`] keeps the outcomes.
pub trait AnyExperiment: Sync {
    /// Identifier, title and claims.
    fn describe(&self) -> Description;

    /// The keys of all trials at a scale, in the order of the plan.
    ///
    /// # Errors
    /// [`ExperimentError::Plan`].
    fn keys(&self, scale: Scale, seed: u64) -> Result<Vec<TrialKey>, ExperimentError>;

    /// Runs the trials that are missing from the store and whose ordinal in the plan `owned` accepts, on the current
    /// rayon pool. Calls `done` after each trial, on the thread of the trial.
    ///
    /// # Errors
    /// The first [`ExperimentError`]; finished trials remain in the store.
    fn run(
        &self,
        scale: Scale,
        seed: u64,
        owned: &(dyn Fn(usize) -> bool + Sync),
        store: &Mutex<TrialStore>,
        done: &(dyn Fn(&TrialKey) + Sync),
    ) -> Result<(), ExperimentError>;

    /// Reads the trials from the store and evaluates them.
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

fn locked(store: &Mutex<TrialStore>) -> MutexGuard<'_, TrialStore> {
    store.lock().unwrap_or_else(|_| {
        unreachable!("another thread panicked while holding the lock on the store")
    })
}

/// A planned configuration with its JSON form.
struct Keyed<C> {
    configuration: C,
    json: serde_json::Value,
    trials: u64,
}

/// The plan with the JSON form of every configuration.
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

/// Returns the outcome in its JSON form, or an error if the JSON could not be read back. JSON has no infinity and no
/// NaN, and a later run could not use a file with replacements for them.
fn kept<O>(outcome: O) -> Result<serde_json::Value, Box<dyn Error + Send + Sync>>
where
    O: Serialize + DeserializeOwned,
{
    let json = serde_json::to_value(outcome)?;
    match O::deserialize(&json) {
        Ok(_) => Ok(json),
        Err(reason) => {
            Err(format!("the outcome cannot be stored: {reason}; is a number not finite? {json}")
                .into())
        }
    }
}

fn key(experiment: &'static str, json: &serde_json::Value, seed: u64, index: u64) -> TrialKey {
    TrialKey { experiment: experiment.into(), configuration: json.clone(), seed, index }
}

impl<E: Experiment> AnyExperiment for E {
    fn describe(&self) -> Description {
        let type_name = std::any::type_name::<E>();
        Description { id: self.id(), title: self.title(), claims: self.claims(), type_name }
    }

    fn keys(&self, scale: Scale, seed: u64) -> Result<Vec<TrialKey>, ExperimentError> {
        let plan = planned(self, scale)?;
        let keys = plan
            .iter()
            .flat_map(|p| (0..p.trials).map(move |index| key(self.id(), &p.json, seed, index)));
        Ok(keys.collect())
    }

    fn run(
        &self,
        scale: Scale,
        seed: u64,
        owned: &(dyn Fn(usize) -> bool + Sync),
        store: &Mutex<TrialStore>,
        done: &(dyn Fn(&TrialKey) + Sync),
    ) -> Result<(), ExperimentError> {
        let plan = planned(self, scale)?;
        let all = plan.iter().flat_map(|p| {
            (0..p.trials).map(move |index| (&p.configuration, key(self.id(), &p.json, seed, index)))
        });
        let missing: Vec<_> = {
            let store = locked(store);
            let mine = all.enumerate().filter(|(ordinal, _)| owned(*ordinal));
            mine.map(|(_, trial)| trial).filter(|(_, key)| store.get(key).is_none()).collect()
        };
        missing.into_par_iter().with_max_len(1).try_for_each(|(configuration, key)| {
            let failed = |source| ExperimentError::Trial { key: Box::new(key.clone()), source };
            let outcome = self.trial(configuration, &mut trial_rng(&key)).map_err(failed)?;
            let outcome = kept::<E::Outcome>(outcome).map_err(failed)?;
            locked(store).append(&key, outcome)?;
            done(&key);
            Ok(())
        })
    }

    fn section(
        &self,
        scale: Scale,
        seed: u64,
        store: &TrialStore,
    ) -> Result<Section, ExperimentError> {
        let mut section =
            Section { id: self.id().into(), title: self.title().into(), ..Section::default() };
        let mut groups = Vec::new();
        for p in planned(self, scale)? {
            let mut outcomes = Vec::new();
            for index in 0..p.trials {
                let key = key(self.id(), &p.json, seed, index);
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
    use crate::{ClaimKind, Evidence, Null, Side, Verdict};
    use rand::RngExt;
    use rand::rngs::ChaCha8Rng;

    /// An experiment that draws a number in [0, 1) and claims that the number is at most `bound`.
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
                kind: ClaimKind::Proved,
                null: "a third".into(),
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
            for claim in self.claims() {
                section.judge(claim, evidence.clone(), Null::SmallerBound);
            }
        }
    }

    /// Runs the given parts (I, N): part I consists of every Nth trial, starting with the Ith.
    fn lines_after(parts: &[(usize, usize)]) -> (String, Verdict) {
        let folder = tempfile::tempdir().unwrap();
        let store = Mutex::new(TrialStore::open(&folder.path().join("t")).unwrap());
        let experiment = Draws { bound: 1.0 };
        for (part, of) in parts {
            let owned = |ordinal: usize| ordinal % of == part - 1;
            experiment.run(Scale::Smoke, 1, &owned, &store, &|_| ()).unwrap();
        }
        let store = store.into_inner().unwrap();
        let section = experiment.section(Scale::Smoke, 1, &store).unwrap();
        (store.to_canonical_lines(), section.claims[0].verdict)
    }

    #[test]
    fn shards_and_reruns_give_the_same_trials() {
        let whole = lines_after(&[(1, 1)]);
        assert_eq!(whole.1, Verdict::Holds);
        assert_eq!(lines_after(&[(3, 3), (1, 3), (2, 3)]), whole);
        assert_eq!(lines_after(&[(1, 2), (1, 1), (1, 1)]), whole);
        assert_eq!(lines_after(&[(1, 3), (2, 3)]).1, Verdict::Inconclusive);
    }

    #[test]
    fn a_planted_wrong_bound_is_caught() {
        let store = Mutex::new(TrialStore::read(&[]).unwrap());
        let experiment = Draws { bound: 1.0 / 3.0 };
        experiment.run(Scale::Smoke, 1, &|_| true, &store, &|_| ()).unwrap();
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
