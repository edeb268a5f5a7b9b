//! The report: a ledger of claims on top, then one section an experiment, in one HTML file without
//! scripts or outside references.

use crate::claim::{Claim, ClaimKind, REFUTATION_LEVEL, Verdict};
use crate::experiment::Section;
use crate::figure::FigureError;
use crate::run_info::RunInfo;
use crate::table::Table;
use crate::text::{json_text, short};
use askama::Template;
use thiserror::Error;

/// The report could not be made.
///
/// ```
/// use halfspaces_eval::{FigureError, ReportError};
/// let figure = FigureError { name: "growth".into(), reason: "no font".into() };
/// assert_eq!(ReportError::from(figure).to_string(), "figure growth: no font");
/// ```
#[derive(Debug, Error)]
pub enum ReportError {
    /// A figure failed.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// The page failed.
    #[error("index.html: {0}")]
    Page(#[from] askama::Error),
}

/// A finished report: sections, drawn figures and the page.
///
/// ```
/// use halfspaces_eval::{Report, RunInfo, Section};
/// let run: RunInfo = serde_json::from_str(
///     r#"{"schema": 1, "version": "0.1.0", "scale": "smoke", "seed": 1, "data_sets": [],
///         "options": [], "experiments": [],
///         "host": {"os": "linux", "arch": "x86_64", "processor": "a", "cores": 2}}"#,
/// )?;
/// let section = Section { id: "D".into(), title: "Dice".into(), ..Section::default() };
/// // The command that repeats the run, or one experiment alone, stands on the page.
/// let rerun = |experiment: Option<&str>| format!("measure {}", experiment.unwrap_or("all"));
/// let report = Report::new("Results", &run, &rerun, vec![section], &[])?;
/// assert!(report.html().contains("measure all") && report.html().contains("measure D"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Report {
    /// The sections, in the order of the suite.
    pub sections: Vec<Section>,
    /// (name, svg) of every figure, by section.
    drawn: Vec<Vec<(String, String)>>,
    html: String,
}

/// A text that goes with every report, such as errata or a proof.
///
/// ```
/// use halfspaces_eval::{Appendix, Report, RunInfo};
/// let run: RunInfo = serde_json::from_str(
///     r#"{"schema": 1, "version": "0.1.0", "scale": "smoke", "seed": 1, "data_sets": [],
///         "options": [], "experiments": [],
///         "host": {"os": "linux", "arch": "x86_64", "processor": "a", "cores": 2}}"#,
/// )?;
/// let (id, title, html) = ("errata".into(), "Errata".into(), "<p>T >= 16</p>".into());
/// let errata = Appendix { id, title, html, folded: false };
/// let report = Report::new("Results", &run, &|_| "measure".into(), vec![], &[errata])?;
/// assert!(report.html().contains("id=\"errata\"") && report.html().contains("<p>T >= 16</p>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appendix {
    /// Its anchor on the page.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its body, HTML that goes into the page as it is.
    pub html: String,
    /// Whether it is shown on demand only.
    pub folded: bool,
}

const CSV_COLUMNS: [&str; 16] = [
    "id",
    "experiment",
    "kind",
    "verdict",
    "statement",
    "source",
    "trials",
    "quantity",
    "measured",
    "bound",
    "null",
    "null failure rate",
    "null cases",
    "slack",
    "why loose",
    "detail",
];

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    run: &'a RunInfo,
    rerun: String,
    claims: Vec<&'a Claim>,
    counts: Vec<(Verdict, String)>,
    pages: Vec<PageSection<'a>>,
    level: f64,
    appendices: &'a [Appendix],
}

struct PageSection<'a> {
    section: &'a Section,
    rerun: String,
    figures: Vec<(&'a str, &'a str)>,
}

/// What the ledger comes to: what holds by kind, then the other verdicts that occur. What holds is shown
/// even where nothing does.
fn counts(claims: &[&Claim]) -> Vec<(Verdict, String)> {
    let mut counts = Vec::new();
    for verdict in Verdict::ALL {
        let of: Vec<&&Claim> = claims.iter().filter(|c| c.verdict == verdict).collect();
        match verdict {
            Verdict::Holds => {
                for kind in [ClaimKind::Proved, ClaimKind::Measured] {
                    let count = of.iter().filter(|c| c.kind == kind).count();
                    let hold = if count == 1 { "holds" } else { "hold" };
                    counts.push((verdict, format!("{count} {kind} {hold}")));
                }
            }
            _ if of.is_empty() => (),
            Verdict::Observed => {
                let plural = if of.len() == 1 { "" } else { "s" };
                counts.push((verdict, format!("{} observation{plural}", of.len())));
            }
            _ => counts.push((verdict, format!("{} {verdict}", of.len()))),
        }
    }
    counts
}

impl Report {
    /// Draws the figures and writes the page, in time proportional to what it shows. `rerun` gives the
    /// command that repeats the run, or only the experiment with the given identifier; `appendices`
    /// stand at the end.
    ///
    /// # Errors
    /// [`ReportError`].
    pub fn new(
        title: &str,
        run: &RunInfo,
        rerun: &dyn Fn(Option<&str>) -> String,
        sections: Vec<Section>,
        appendices: &[Appendix],
    ) -> Result<Report, ReportError> {
        let drawn = sections
            .iter()
            .map(|s| s.figures.iter().map(|f| Ok((f.name.clone(), f.to_svg()?))).collect())
            .collect::<Result<Vec<Vec<_>>, FigureError>>()?;
        let claims: Vec<&Claim> = sections.iter().flat_map(|s| &s.claims).collect();
        let counts = counts(&claims);
        let pages = sections.iter().zip(&drawn).map(|(section, drawn)| PageSection {
            section,
            rerun: rerun(Some(&section.id)),
            figures: (section.figures.iter().zip(drawn))
                .map(|(figure, (_, svg))| (figure.caption.as_str(), svg.as_str()))
                .collect(),
        });
        let pages = pages.collect();
        let (level, rerun) = (REFUTATION_LEVEL, rerun(None));
        let page = Page { title, run, rerun, claims, counts, pages, level, appendices };
        let html = page.render()?;
        Ok(Report { sections, drawn, html })
    }

    /// All claims in the order of the ledger.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.sections.iter().flat_map(|s| &s.claims)
    }

    /// Name and SVG of every figure.
    pub fn figures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.drawn.iter().flatten().map(|(name, svg)| (name.as_str(), svg.as_str()))
    }

    /// The page.
    #[must_use]
    pub fn html(&self) -> &str {
        &self.html
    }

    /// The ledger as JSON.
    #[must_use]
    pub fn claims_json(&self) -> String {
        let claims: Vec<&Claim> = self.claims().collect();
        json_text(&claims)
    }

    /// The ledger as CSV, one claim a line.
    #[must_use]
    pub fn claims_csv(&self) -> String {
        let mut table = Table::new("claims", "", &CSV_COLUMNS);
        let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
        for claim in self.claims() {
            table.push(vec![
                claim.id.clone(),
                claim.experiment.clone(),
                claim.kind.to_string(),
                claim.verdict.to_string(),
                claim.statement.clone(),
                claim.source.clone(),
                claim.trials.to_string(),
                claim.quantity.clone(),
                number(claim.measured),
                claim.bound.to_string(),
                claim.null.clone(),
                number(claim.null_failure_rate()),
                claim.null_cases.to_string(),
                number(claim.slack),
                claim.loose.clone().unwrap_or_else(String::new),
                claim.detail.clone(),
            ]);
        }
        table.to_csv()
    }

    /// What the ledger comes to, by kind: "31 proved hold, 12 measured hold, 6 observations".
    #[must_use]
    pub fn headline(&self) -> String {
        let claims: Vec<&Claim> = self.claims().collect();
        let counts: Vec<String> = counts(&claims).into_iter().map(|(_, text)| text).collect();
        counts.join(", ")
    }

    /// The ledger as plain text for a terminal.
    #[must_use]
    pub fn ledger_text(&self) -> String {
        let mut text = String::new();
        for claim in self.claims() {
            let measured = claim.measured.as_ref().map_or("-".into(), short);
            text.push_str(&format!(
                "{:<5} {:<12} {:<11} {}\n      {} = {measured}, bound {}; {} trials; {} [{}]\n      null: {}\n",
                claim.id,
                claim.verdict,
                claim.kind,
                claim.statement,
                claim.quantity,
                short(&claim.bound),
                claim.trials,
                claim.detail,
                claim.source,
                claim.null_text(),
            ));
        }
        text.push_str(&self.headline());
        text.push('\n');
        text
    }

    /// Whether some claim is violated, or weak.
    #[must_use]
    pub fn any_fault(&self) -> bool {
        self.any(Verdict::Violated) || self.any(Verdict::Weak)
    }

    /// Whether some claim has this verdict.
    #[must_use]
    pub fn any(&self, verdict: Verdict) -> bool {
        self.claims().any(|claim| claim.verdict == verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_info::tests::example;
    use crate::{Axis, ClaimStatement, Evidence, Figure, Null, Side};

    fn report(ratios: &[f64]) -> Report {
        let run = example();
        let mut section = Section { id: "E".into(), title: "T <b>".into(), ..Section::default() };
        let statement = ClaimStatement {
            id: "E1".into(),
            statement: "a <= b".into(),
            source: "s".into(),
            kind: ClaimKind::Proved,
            null: "b/3".into(),
            checks: &[],
        };
        let evidence = Evidence::deterministic("a / b", Side::AtMost, 2, ratios);
        section.judge(statement, evidence, Null::SmallerBound);
        let mut table = Table::new("t", "cap", &["x"]);
        table.push(vec!["<script>".into()]);
        section.tables.push(table);
        section.figures.push(Figure {
            name: "f".into(),
            caption: "c".into(),
            x: Axis::linear("x"),
            y: Axis::linear("y"),
            layers: vec![],
        });
        let appendix = |id: &str, folded| Appendix {
            id: id.into(),
            title: "Proof".into(),
            html: "<p>because</p>".into(),
            folded,
        };
        let appendices = [appendix("errata", false), appendix("proof", true)];
        let rerun = |only: Option<&str>| format!("cmd {}", only.unwrap_or("all"));
        Report::new("Title", &run, &rerun, vec![section], &appendices).unwrap()
    }

    #[test]
    fn the_page_is_self_contained_and_escaped() {
        let page = report(&[0.5, 0.25]);
        let html = page.html();
        assert!(html.contains("T &#60;b&#62;") || html.contains("T &lt;b&gt;"));
        assert!(html.contains("a &#60;= b") || html.contains("a &lt;= b"));
        assert!(!html.contains("<script") && !html.contains("http-equiv"));
        assert!(!html.contains("src=") && !html.contains("<link"));
        assert!(html.contains("<svg") && html.contains("cmd all") && html.contains("cmd E"));
        assert!(html.contains("id=\"E\"") && html.contains("href=\"#E\""));
        assert!(html.contains("id=\"claim-E1\""));
        for id in ["errata", "proof"] {
            assert!(html.contains(&format!("id=\"{id}\"")));
            assert!(html.contains(&format!("href=\"#{id}\"")));
        }
        assert_eq!(html.matches("<p>because</p>").count(), 2);
    }

    #[test]
    fn the_ledger_says_what_was_measured() {
        let page = report(&[0.5, 0.25]);
        assert!(page.ledger_text().contains("holds"));
        assert!(page.ledger_text().contains("largest a / b = 0.5, bound 1; 2 trials"));
        assert!(
            page.ledger_text().contains("null: b/3: fails; slack 2\n1 proved holds, 0 measured")
        );
        assert!(!page.any(Verdict::Violated) && !page.any(Verdict::Weak));
        assert!(report(&[1.5, 0.1]).any(Verdict::Violated));
        let claims: Vec<Claim> = serde_json::from_str(&page.claims_json()).unwrap();
        assert_eq!(claims.len(), 1);
    }

    /// A null that passes is a fault, on the page and for the exit status.
    #[test]
    fn a_weak_claim_is_a_fault() {
        let page = report(&[0.2, 0.1]);
        assert!(page.any(Verdict::Weak));
        assert_eq!(page.headline(), "0 proved hold, 0 measured hold, 1 weak");
        assert!(page.html().contains("1 weak") && page.html().contains("b/3: passes; slack 5"));
        let csv = page.claims_csv();
        assert!(csv.starts_with("id,experiment,kind,verdict,"));
        assert!(
            csv.contains("\nE1,E,proved,weak,a <= b,s,2,largest a / b,0.2,1,b/3,0,1,5,,"),
            "{csv}"
        );
    }
}
