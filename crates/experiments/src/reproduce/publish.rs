//! Evaluation of trials, and output of ledger, tables, figures and page.

use super::folder::RUN;
use crate::console::say;
use crate::failure::Failure;
use crate::workload::Inputs;
use crate::{suite, theory};
use halfspaces_eval::{
    Report, RunInfo, Scale, TrialStore, Verdict, output_names, remove_output, write_atomically,
    write_outputs,
};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard};

const TITLE: &str = "Learning halfspaces: every claim, measured";
/// The introduction of the page, for readers outside the field.
const LEAD: &str = "A halfspace is the simplest rule that answers yes or no: it compares a weighted sum with a threshold. This page reports how few mistakes a program makes while it learns such a rule, and how well it learns if some of the labels are wrong. A mistake is a prediction that differs from the correct answer. The program sees this answer after its prediction.";

/// Evaluates the experiments of the run and those with stored trials, writes the results and prints the ledger.
pub(super) fn publish(
    folder: &Path,
    mut run: RunInfo,
    inputs: &Arc<Inputs>,
    store: &Mutex<TrialStore>,
) -> Result<ExitCode, Failure> {
    let mut sections = Vec::new();
    for experiment in suite::all(inputs) {
        let (id, keys) = (experiment.describe().id, experiment.keys(run.scale, run.seed)?);
        // The lock is released between experiments, so that a signal can end the program.
        let store = locked(store);
        let known = keys.iter().filter(|key| store.get(key).is_some()).count();
        let time = run.experiments.iter_mut().find(|time| time.id == id);
        let chosen = time.map(|time| time.trials = known).is_some();
        if known > 0 || chosen {
            sections.push(experiment.section(run.scale, run.seed, &store)?);
        }
    }
    let claims = sections.iter().flat_map(|s| s.claims.iter().map(|c| c.id.clone())).collect();
    let rerun = |only: Option<&str>| rerun(&run, only);
    let report = Report::new([TITLE, LEAD], &run, &rerun, sections, &theory::appendices(&claims))?;

    // The lock makes a signal wait until all files belong to one report.
    let _held = locked(store);
    // The names are recorded before the files are written, so that no file of this run is ever unrecorded.
    let before = run.outputs.clone();
    let now = output_names(&report);
    run.outputs.extend(now.iter().filter(|name| !before.contains(name)).cloned());
    write_atomically(&folder.join(RUN), &run.to_json())?;
    write_outputs(folder, &report)?;
    for name in before.iter().filter(|name| !now.contains(name)) {
        remove_output(folder, name)?;
    }
    run.outputs = now;
    write_atomically(&folder.join(RUN), &run.to_json())?;

    say(&format!("{}{}\n", report.ledger_text(), folder.join("index.html").display()))?;
    // At smoke scale there are too few instances for every null to fail.
    let weak = run.scale != Scale::Smoke && report.any(Verdict::Weak);
    Ok(if weak || report.any(Verdict::Violated) { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Locks the store of a run's trials.
pub(super) fn locked(store: &Mutex<TrialStore>) -> MutexGuard<'_, TrialStore> {
    store.lock().unwrap_or_else(|_| {
        unreachable!("another thread panicked while holding the lock on the store")
    })
}

fn rerun(run: &RunInfo, only: Option<&str>) -> String {
    let data = if run.data_sets.is_empty() { "" } else { " --data DIR" };
    let only = only.map(|id| format!(" --only {id}")).unwrap_or_default();
    format!("cargo xtask reproduce --scale {} --seed {}{data}{only}", run.scale, run.seed)
}
