//! The page: findings, the ledger, then one section per experiment.

use super::appendix::Appendix;
use super::bar::{Bar, bounded};
use super::tally::{by_slack, counts};
use crate::claim::{Claim, ClaimKind, REFUTATION_LEVEL, Verdict};
use crate::experiment::{Finding, Section};
use crate::run_info::RunInfo;
use crate::table::Table;
use crate::text::{short, typeset};
use askama::Template;

/// Maximum number of rows of a table that is shown immediately; longer tables are folded.
const SHORT_TABLE: usize = 8;

#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct Page<'a> {
    title: &'a str,
    lead: &'a str,
    run: &'a RunInfo,
    rerun: String,
    counts: Vec<(Verdict, String)>,
    by_slack: String,
    found: Vec<Found<'a>>,
    missed: Vec<Missed<'a>>,
    rows: Vec<Row<'a>>,
    kinds: Vec<LedgerFilter>,
    verdicts: Vec<LedgerFilter>,
    /// A link to the ledger as CSV.
    ledger: String,
    pages: Vec<PageSection<'a>>,
    level: f64,
    mark: f64,
    appendices: &'a [Appendix],
}

/// A finding that the run confirms.
struct Found<'a> {
    finding: &'a Finding,
    text: &'a str,
    experiment: &'a str,
    drawn: &'a Drawn,
}

/// A finding that the run does not confirm.
struct Missed<'a> {
    title: &'a str,
    experiment: &'a str,
    reason: String,
}

/// A row of the ledger.
struct Row<'a> {
    claim: &'a Claim,
    bar: Option<Bar>,
    bounded: String,
    /// The result of the null, in a word or two.
    null: String,
}

/// A filter of the ledger: a kind or a verdict, and its number of claims.
struct LedgerFilter {
    name: String,
    count: usize,
}

struct PageSection<'a> {
    section: &'a Section,
    rerun: String,
    drawn: &'a [Drawn],
    tables: Vec<PageTable<'a>>,
}

struct PageTable<'a> {
    table: &'a Table,
    data: String,
    folded: bool,
}

/// A drawn figure.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) name: String,
    pub(super) caption: String,
    pub(super) svg: String,
    /// The figure as a part of the page.
    pub(super) html: String,
    /// A link to its data as CSV.
    pub(super) data: String,
}

/// A link that contains a CSV file, so that the page needs no other file.
pub(super) fn data_link(csv: &str) -> String {
    let mut link = String::from("data:text/csv;charset=utf-8,");
    for byte in csv.bytes() {
        match byte {
            b'0'..=b'9'
            | b'A'..=b'Z'
            | b'a'..=b'z'
            | b','
            | b'.'
            | b'-'
            | b'_'
            | b'/'
            | b':'
            | b'+' => {
                link.push(char::from(byte));
            }
            _ => link.push_str(&format!("%{byte:02X}")),
        }
    }
    link
}

/// The reason why a finding is not shown; `None` if it is shown.
pub(super) fn missed(finding: &Finding, section: &Section) -> Option<String> {
    for id in &finding.claims {
        let Some(claim) = section.claims.iter().find(|claim| claim.id == *id) else {
            unreachable!(
                "experiment {}: a finding rests on {id}, which the experiment does not judge",
                section.id
            )
        };
        if !matches!(claim.verdict, Verdict::Holds | Verdict::Observed) {
            return Some(format!("claim {id} is {}", claim.verdict));
        }
    }
    if finding.text.is_none() {
        return Some("its numbers are missing or contradict it".to_owned());
    }
    let drawn = section.figures.iter().any(|figure| figure.name == finding.figure);
    (!drawn).then(|| "its figure is not drawn".to_owned())
}

/// The text "fails in 3 of 8 (38 %)".
fn null_rate(claim: &Claim) -> String {
    match (claim.null_failure_rate(), claim.null_cases) {
        (None, _) => "not measured".into(),
        (Some(rate), 1) => if rate > 0.0 { "fails" } else { "passes" }.into(),
        (Some(rate), cases) => {
            format!("fails in {} of {cases} ({:.0}\u{a0}%)", claim.null_failures, 100.0 * rate)
        }
    }
}

impl<'a> Page<'a> {
    pub(super) fn new(
        [title, lead]: [&'a str; 2],
        run: &'a RunInfo,
        rerun: &dyn Fn(Option<&str>) -> String,
        sections: &'a [Section],
        drawn: &'a [Vec<Drawn>],
        ledger: &str,
        appendices: &'a [Appendix],
    ) -> Page<'a> {
        let claims: Vec<&Claim> = sections.iter().flat_map(|s| &s.claims).collect();
        let (mut found, mut not_found) = (Vec::new(), Vec::new());
        for (section, drawn) in sections.iter().zip(drawn) {
            for finding in &section.findings {
                let experiment = section.id.as_str();
                if let Some(reason) = missed(finding, section) {
                    not_found.push(Missed { title: &finding.title, experiment, reason });
                    continue;
                }
                let figure = drawn.iter().find(|drawn| drawn.name == finding.figure);
                let Some((text, drawn)) = finding.text.as_deref().zip(figure) else {
                    unreachable!("a shown finding has its sentences and its figure")
                };
                found.push(Found { finding, text, experiment, drawn });
            }
        }
        let choice = |name: String, of: &dyn Fn(&Claim) -> bool| LedgerFilter {
            name,
            count: claims.iter().filter(|claim| of(claim)).count(),
        };
        let kinds = ClaimKind::ALL.map(|kind| choice(kind.to_string(), &|c| c.kind == kind));
        let verdicts = Verdict::ALL.map(|v| choice(v.to_string(), &|c| c.verdict == v));
        let row = |claim: &&'a Claim| Row {
            claim,
            bar: Bar::of(claim),
            bounded: bounded(claim),
            null: null_rate(claim),
        };
        let table = |table: &'a Table| PageTable {
            table,
            data: data_link(&table.to_csv()),
            folded: table.rows().len() > SHORT_TABLE,
        };
        let page = |(section, drawn): (&'a Section, &'a Vec<Drawn>)| PageSection {
            section,
            rerun: rerun(Some(&section.id)),
            drawn,
            tables: section.tables.iter().map(table).collect(),
        };
        Page {
            title,
            lead,
            run,
            rerun: rerun(None),
            counts: counts(&claims),
            by_slack: by_slack(&claims),
            found,
            missed: not_found,
            rows: claims.iter().map(row).collect(),
            kinds: kinds.into(),
            verdicts: verdicts.into(),
            ledger: data_link(ledger),
            pages: sections.iter().zip(drawn).map(page).collect(),
            level: REFUTATION_LEVEL,
            mark: super::bar::MARK,
            appendices,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{ClaimStatement, Evidence, Null};

    #[test]
    fn the_null_has_its_failures() {
        let statement = ClaimStatement {
            id: "A1".into(),
            statement: "holds".into(),
            source: "A".into(),
            kind: ClaimKind::Measured,
            null: "a coin".into(),
            checks: &[],
        };
        let rate = |null: &[bool]| {
            let evidence = Evidence::quantile(20, &[0.5; 20], 0.5);
            null_rate(&Claim::new(statement.clone(), "A", evidence, Null::of_cases(null.to_vec())))
        };
        assert_eq!((rate(&[true]), rate(&[false])), ("fails".into(), "passes".into()));
        assert_eq!(rate(&[true, false, false]), "fails in 1 of 3 (33\u{a0}%)");
        assert_eq!(rate(&[]), "not measured");
    }

    #[test]
    fn a_link_holds_its_file() {
        assert_eq!(
            data_link("a,γ\n\"x & <b>\",1%#\n"),
            "data:text/csv;charset=utf-8,a,%CE%B3%0A%22x%20%26%20%3Cb%3E%22,1%25%23%0A"
        );
    }
}
