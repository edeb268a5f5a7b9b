//! The tables and figures of each claim.

use std::collections::BTreeSet;

/// Claims whose tables or figures carry the name of another claim. [`unknown_outputs`] reports those that are missing.
const SHOWN_IN: [(&str, &[&str]); 3] = [
    ("P3", &["tables/p8-selection.csv"]),
    ("S3", &["tables/s4-margins.csv"]),
    ("S7", &["tables/f1-forster.csv", "figures/s7-soft-margin.svg"]),
];

/// Claims without a table or figure: their evidence is a row of the ledger. [`outputs_of`] reports claims that are listed
/// here but have an output, and claims that have none but are not listed.
const IN_THE_LEDGER_ONLY: [&str; 1] = ["P2"];

/// The tables and figures of a claim among `outputs`: those declared in [`SHOWN_IN`], otherwise those with a matching name.
pub(crate) fn outputs_of<'a>(
    [claim, experiment]: [&str; 2],
    outputs: &'a BTreeSet<String>,
    findings: &mut Vec<String>,
) -> Vec<&'a str> {
    let declared = SHOWN_IN.iter().find(|(id, _)| *id == claim);
    let found = match declared {
        Some((_, names)) => {
            outputs.iter().map(String::as_str).filter(|o| names.contains(o)).collect()
        }
        None => own_outputs([claim, experiment], outputs),
    };
    if found.is_empty() != IN_THE_LEDGER_ONLY.contains(&claim) {
        let list = if found.is_empty() {
            "no table or figure shows this claim; declare one in SHOWN_IN or list the claim in IN_THE_LEDGER_ONLY"
        } else {
            "IN_THE_LEDGER_ONLY lists this claim, but it has tables or figures"
        };
        findings.push(format!("xtask/src/outputs.rs: {claim}: {list}"));
    }
    found
}

/// Declared tables and figures that no experiment writes.
pub(crate) fn unknown_outputs(outputs: &BTreeSet<String>) -> Vec<String> {
    let declared = SHOWN_IN.iter().flat_map(|(id, names)| names.iter().map(move |name| (id, name)));
    let unknown = declared.filter(|(_, name)| !outputs.contains(**name));
    let finding = |(id, name)| format!("xtask/src/outputs.rs: {id}: no experiment writes {name}");
    unknown.map(finding).collect()
}

/// The tables and figures whose names begin with the claim; if there are none, those that begin with the claim without
/// its last letters; if there are none either, those that begin with the experiment.
fn own_outputs<'a>(ids: [&str; 2], outputs: &'a BTreeSet<String>) -> Vec<&'a str> {
    let [claim, experiment] = ids.map(str::to_lowercase);
    let stem = claim.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let of = |prefix: &str| -> Vec<&'a str> {
        let name = |output: &'a str| output.split_once('/').map_or(output, |(_, name)| name);
        let named = outputs.iter().map(String::as_str);
        named.filter(|o| name(o).split('-').next() == Some(prefix)).collect()
    };
    let choices = [of(&claim), of(stem), of(&experiment)];
    choices.into_iter().find(|choice| !choice.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_belong_to_the_claim_of_their_name() {
        let outputs = ["tables/p6-unknown.csv", "figures/p4-rcn.svg", "tables/p3-all.csv"];
        let outputs: BTreeSet<String> = outputs.map(str::to_owned).into();
        assert_eq!(own_outputs(["P6", "P3"], &outputs), ["tables/p6-unknown.csv"]);
        assert_eq!(own_outputs(["P4s", "P3"], &outputs), ["figures/p4-rcn.svg"]);
        assert_eq!(own_outputs(["P2", "P3"], &outputs), ["tables/p3-all.csv"]);
        assert!(own_outputs(["P2", "P1"], &outputs).is_empty());
    }

    /// One claim of each kind, and every kind of wrong declaration.
    #[test]
    fn declared_outputs_are_checked() {
        let names = ["tables/p8-selection.csv", "tables/p3-other.csv", "figures/p7-curves.svg"];
        let outputs: BTreeSet<String> = names.map(str::to_owned).into();
        let of = |ids| {
            let mut findings = Vec::new();
            let found = outputs_of(ids, &outputs, &mut findings);
            (found, findings.len())
        };
        assert_eq!(of(["P3", "P3"]), (vec!["tables/p8-selection.csv"], 0));
        assert_eq!(of(["P7", "P7"]), (vec!["figures/p7-curves.svg"], 0));
        assert_eq!(of(["P2", "P2"]), (vec![], 0));
        assert_eq!(of(["P2", "P7"]), (vec!["figures/p7-curves.svg"], 1));
        assert_eq!(of(["P1", "P1"]), (vec![], 1));
        // One of the four declared outputs exists.
        assert_eq!(unknown_outputs(&outputs).len(), 3);
    }
}
