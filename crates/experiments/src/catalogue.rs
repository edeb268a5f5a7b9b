//! The catalogue of the suite: every experiment and claim as data, obtained without running a trial.
//!
//! The catalogue is stored in `docs/suite.json`. A program without the experiments can therefore write and check the
//! index of the workspace.

use crate::console::say;
use crate::failure::Failure;
use crate::suite;
use crate::workload::Inputs;
use halfspaces_eval::{Scale, TrialStore};
use serde::Serialize;
use std::process::ExitCode;
use std::sync::Arc;

/// An experiment of the suite.
#[derive(Debug, Serialize)]
struct Entry {
    id: &'static str,
    title: &'static str,
    /// The path, from the root of this crate, of the type that implements the experiment.
    implemented_by: String,
    /// Paths, in the output folder, of the tables and figures that the experiment writes at full scale, even without
    /// additional data sets.
    outputs: Vec<String>,
    claims: Vec<ClaimEntry>,
}

/// A claim of an experiment.
#[derive(Debug, Serialize)]
struct ClaimEntry {
    id: String,
    statement: String,
    source: String,
    /// Paths of the public items that are run to test the claim; empty for a claim about a distribution or a published
    /// formula.
    checks: &'static [&'static str],
}

/// Prints the catalogue.
pub(crate) fn print() -> Result<ExitCode, Failure> {
    say(&catalogue()?)?;
    Ok(ExitCode::SUCCESS)
}

/// The catalogue as JSON, in the order of the ledger.
fn catalogue() -> Result<String, Failure> {
    let store = TrialStore::read(&[])?;
    let mut entries = Vec::new();
    for experiment in suite::all(&Arc::new(Inputs::builtin())) {
        let about = experiment.describe();
        let section = experiment.section(Scale::Full, 1, &store)?;
        let tables = section.tables.iter().map(|t| format!("tables/{}.csv", t.name));
        let figures = section.figures.iter().map(|f| format!("figures/{}.svg", f.name));
        let claims = about.claims.into_iter().map(|claim| ClaimEntry {
            id: claim.id,
            statement: claim.statement,
            source: claim.source,
            checks: claim.checks,
        });
        entries.push(Entry {
            id: about.id,
            title: about.title,
            implemented_by: about.type_name.split("::").skip(1).collect::<Vec<_>>().join("::"),
            outputs: tables.chain(figures).collect(),
            claims: claims.collect(),
        });
    }
    Ok(serde_json::to_string_pretty(&entries)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::workspace_root;

    #[test]
    fn the_catalogue_in_the_documents_is_up_to_date() {
        let kept = std::fs::read_to_string(workspace_root().join("docs/suite.json")).unwrap();
        assert!(
            kept == catalogue().unwrap(),
            "docs/suite.json is not up to date; run `cargo xtask index`"
        );
    }
}
