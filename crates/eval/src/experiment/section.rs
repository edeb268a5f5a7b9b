//! The contribution of an experiment to the report.

use super::finding::Finding;
use crate::claim::{Claim, ClaimStatement, Evidence, Null};
use crate::figure::Figure;
use crate::table::Table;

/// The results of an experiment: the verdicts on its claims, its tables and figures, and its findings for the top of
/// the page.
///
/// ```
/// use halfspaces_eval::{ClaimKind, ClaimStatement, Evidence, Null, Section, Side};
/// let mut section = Section { id: "D".into(), title: "Dice".into(), ..Section::default() };
/// let claim = ClaimStatement {
///     id: "D1".into(),
///     statement: "no die shows more than its faces".into(),
///     source: "common sense".into(),
///     kind: ClaimKind::Proved,
///     null: "a third of the faces".into(),
///     checks: &[],
/// };
/// let evidence = Evidence::deterministic("shown / faces", Side::AtMost, 1, &[0.5]);
/// section.judge(claim, evidence, Null::SmallerBound);
/// assert_eq!(section.claims[0].experiment, "D");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Identifier of the experiment.
    pub id: String,
    /// Title of the experiment.
    pub title: String,
    /// Paragraphs that describe the experiment and its result.
    pub summary: Vec<String>,
    /// Findings for the top of the page; most experiments have none.
    pub findings: Vec<Finding>,
    /// The claims of the experiment, with their verdicts.
    pub claims: Vec<Claim>,
    /// The tables of the experiment.
    pub tables: Vec<Table>,
    /// The figures of the experiment.
    pub figures: Vec<Figure>,
    /// The configurations of the experiment as JSON text, with the numbers of completed and planned trials.
    pub configurations: Vec<(String, usize, usize)>,
}

impl Section {
    /// Adds the verdict on a claim of this experiment, given the evidence and the measured null.
    pub fn judge(&mut self, claim: ClaimStatement, evidence: Evidence, null: Null) {
        let claim = Claim::new(claim, &self.id, evidence, null);
        self.claims.push(claim);
    }
}
