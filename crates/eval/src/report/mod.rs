//! The report: findings at the top, then the ledger of claims, then one section per experiment. It is one HTML file
//! without scripts or external references.

mod appendix;
mod bar;
#[cfg(test)]
mod contrast;
mod page;
mod tally;

#[cfg(test)]
pub(crate) use contrast::contrast;

use crate::claim::{Claim, Verdict};
use crate::experiment::Section;
use crate::figure::Figure;
use crate::run_info::RunInfo;
use crate::table::Table;
use crate::text::{json_text, short};
pub use appendix::Appendix;
use askama::Template;
use page::{Drawn, Page, data_link, missed};
use tally::{by_slack, counts};
use thiserror::Error;

/// The page could not be generated.
///
/// ```
/// use halfspaces_eval::ReportError;
/// let error = ReportError::from(askama::Error::Fmt);
/// assert!(error.to_string().starts_with("index.html: "));
/// ```
#[derive(Debug, Error)]
#[error("index.html: {0}")]
pub struct ReportError(#[from] askama::Error);

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
/// // The page shows the command that repeats the run or a single experiment.
/// let rerun = |experiment: Option<&str>| format!("measure {}", experiment.unwrap_or("all"));
/// let front = ["Results", "What dice show."];
/// let report = Report::new(front, &run, &rerun, vec![section], &[])?;
/// assert!(report.html().contains("measure all") && report.html().contains("measure D"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Report {
    /// The sections, in the order of the suite.
    pub sections: Vec<Section>,
    /// All figures, by section.
    drawn: Vec<Vec<Drawn>>,
    html: String,
}

const CSV_COLUMNS: [&str; 17] = [
    "id",
    "experiment",
    "kind",
    "verdict",
    "statement",
    "source",
    "trials",
    "fewest trials of a setting",
    "quantity",
    "measured",
    "bound",
    "null",
    "null failure rate",
    "null cases",
    "slack",
    "why far",
    "detail",
];

impl Report {
    /// Draws the figures and generates the page, in time proportional to its content. `front` contains the title of the
    /// page and one or two sentences about its topic. `rerun` returns the command that repeats the whole run, or only
    /// the experiment with the given identifier. The `appendices` are placed at the end.
    ///
    /// # Errors
    /// [`ReportError`].
    ///
    /// # Panics
    /// Panics if a finding of a section is based on a claim that the section does not judge.
    pub fn new(
        front: [&str; 2],
        run: &RunInfo,
        rerun: &dyn Fn(Option<&str>) -> String,
        sections: Vec<Section>,
        appendices: &[Appendix],
    ) -> Result<Report, ReportError> {
        let draw = |figure: &Figure| Drawn {
            name: figure.name.clone(),
            caption: figure.caption.clone(),
            svg: figure.to_svg(),
            html: figure.to_html(),
            data: data_link(&figure.to_csv()),
        };
        let drawn = sections.iter().map(|s| s.figures.iter().map(draw).collect()).collect();
        let mut report = Report { sections, drawn, html: String::new() };
        let ledger = report.claims_csv();
        let page =
            Page::new(front, run, rerun, &report.sections, &report.drawn, &ledger, appendices);
        report.html = page.render()?;
        Ok(report)
    }

    /// All claims in the order of the ledger.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.sections.iter().flat_map(|s| &s.claims)
    }

    /// The names and SVG files of all figures.
    pub fn figures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.drawn.iter().flatten().map(|drawn| (drawn.name.as_str(), drawn.svg.as_str()))
    }

    /// The findings at the top of the page as Markdown, with the figures that they name. This text is intended for a
    /// README.
    #[must_use]
    pub fn findings_markdown(&self) -> String {
        let mut text = String::new();
        for section in &self.sections {
            for finding in &section.findings {
                let (title, figure) = (&finding.title, &finding.figure);
                text.push_str(&match (missed(finding, section), &finding.text) {
                    (None, Some(found)) => {
                        let of = if finding.claims.is_empty() {
                            format!("experiment {}", section.id)
                        } else {
                            format!("claims {}", finding.claims.join(", "))
                        };
                        format!(
                            "## {title}\n\n![{title}](figures/{figure}.svg)\n\n{found} ({of})\n\n"
                        )
                    }
                    (Some(reason), _) => {
                        format!(
                            "## Not shown by this run: {title}\n\n{}: {reason}.\n\n",
                            section.id
                        )
                    }
                    (None, None) => unreachable!("a shown finding has its sentences"),
                });
            }
        }
        text
    }

    /// The page as HTML.
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

    /// The ledger as CSV, one claim per line.
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
                claim.fewest.to_string(),
                claim.quantity.clone(),
                number(claim.measured),
                claim.bound.to_string(),
                claim.null.clone(),
                number(claim.null_failure_rate()),
                claim.null_cases.to_string(),
                number(claim.slack),
                claim.far.clone().unwrap_or_else(String::new),
                claim.detail.clone(),
            ]);
        }
        table.to_csv()
    }

    /// The totals of the ledger, by kind of claim: "31 proved hold, 12 measured hold, 6 observations".
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
                "{:<5} {:<12} {:<11} {}\n      {} = {measured}, bound {}; {} [{}]\n      {}; rests on {}\n      null: {}\n",
                claim.id,
                claim.verdict,
                claim.kind,
                claim.statement,
                claim.quantity,
                short(&claim.bound),
                claim.detail,
                claim.source,
                claim.slack_text(),
                claim.trials_text(),
                claim.null_text(),
            ));
        }
        let claims: Vec<&Claim> = self.claims().collect();
        text.push_str(&format!("{}\n{}\n", self.headline(), by_slack(&claims)));
        text
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
    use crate::{Axis, ClaimKind, ClaimStatement, Evidence, Finding, Null, Side};

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
            title: "it grows".into(),
            caption: "c".into(),
            x: Axis::linear("x"),
            y: Axis::linear("y"),
            layers: vec![],
        });
        let finding = |text: Option<&str>, figure: &str| Finding {
            title: "It grows & grows".into(),
            text: text.map(str::to_owned),
            figure: figure.into(),
            claims: vec!["E1".into()],
        };
        section.findings.push(finding(Some("From 1 to 2."), "f"));
        section.findings.push(finding(None, "f"));
        section.findings.push(finding(Some("From 3 to 4."), "another"));
        let appendix = |id: &str, folded| Appendix {
            id: id.into(),
            title: "Proof".into(),
            html: "<p>because</p>".into(),
            folded,
        };
        let appendices = [appendix("errata", false), appendix("proof", true)];
        let rerun = |only: Option<&str>| format!("cmd {}", only.unwrap_or("all"));
        Report::new(["Title", "lead"], &run, &rerun, vec![section], &appendices).unwrap()
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
        assert!(html.contains("id=\"claim-E1\"") && html.contains("data:text/csv"));
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
        assert!(page.ledger_text().contains("largest a / b = 0.5, bound 1; 0 exceptions"));
        assert!(page.ledger_text().contains("\n      slack 2; rests on 2 trials\n"));
        assert!(
            page.ledger_text()
                .contains("null: b/3: fails\n1 proved holds, 0 measured hold\nSlack: ")
        );
        assert!(!page.any(Verdict::Violated) && !page.any(Verdict::Weak));
        assert!(report(&[1.5, 0.1]).any(Verdict::Violated));
        let claims: Vec<Claim> = serde_json::from_str(&page.claims_json()).unwrap();
        assert_eq!(claims.len(), 1);
    }

    /// A finding is shown only if its claims hold, its text could be written, and its figure is drawn.
    #[test]
    fn findings_stand_or_say_why_not() {
        let shown = |ratios: &[f64]| {
            let page = report(ratios);
            let html = page.html();
            (html.matches("class=\"finding\"").count(), html.to_owned(), page.findings_markdown())
        };
        let (found, html, markdown) = shown(&[0.5, 0.25]);
        assert_eq!((found, html.matches("From 1 to 2.").count()), (1, 1));
        assert!(html.contains("its numbers are missing or contradict it"));
        assert!(html.contains("its figure is not drawn") && !html.contains("From 3 to 4."));
        assert!(
            markdown.contains("![It grows & grows](figures/f.svg)\n\nFrom 1 to 2. (claims E1)")
        );
        // The cases are a violated claim, a weak claim, and a claim with missing trials.
        for (ratios, verdict) in
            [(&[1.5, 0.1][..], "violated"), (&[0.2, 0.1], "weak"), (&[0.5], "inconclusive")]
        {
            let (found, html, markdown) = shown(ratios);
            assert_eq!((found, html.matches("From 1 to 2.").count()), (0, 0));
            assert!(html.contains(&format!("claim E1 is {verdict}")));
            assert!(markdown.contains(&format!("claim E1 is {verdict}")));
        }
    }

    #[test]
    #[should_panic(expected = "experiment E: a finding rests on E9")]
    fn a_finding_rests_on_claims_of_its_experiment() {
        let finding = Finding {
            title: String::new(),
            text: None,
            figure: String::new(),
            claims: vec!["E9".into()],
        };
        let section = Section { id: "E".into(), findings: vec![finding], ..Section::default() };
        let run = example();
        let _ = Report::new(["", ""], &run, &|_| String::new(), vec![section], &[]);
    }

    /// Tables of more than eight rows are shown only on demand.
    #[test]
    fn long_tables_are_folded() {
        let folded = |rows: usize| {
            let mut table = Table::new("t", "cap", &["x"]);
            (0..rows).for_each(|row| table.push(vec![row.to_string()]));
            let section = Section { id: "E".into(), tables: vec![table], ..Section::default() };
            let run = example();
            let page = Report::new(["", ""], &run, &|_| String::new(), vec![section], &[]).unwrap();
            page.html().contains(&format!("<summary>{rows} rows"))
        };
        assert!(!folded(8) && folded(9));
    }

    /// The ledger has bars, nulls with their results, and filters with their counts.
    #[test]
    fn the_ledger_can_be_filtered() {
        let page = report(&[0.5, 0.25]);
        let html = page.html();
        assert!(html.contains("<tr data-kind=\"proved\" data-verdict=\"holds\">"));
        assert!(html.contains("aria-label=\"0.5, at most 1\""));
        assert!(html.contains("style=\"left:0.0%;width:35.0%\""));
        for (filter, count) in [("kind-proved", 1), ("kind-measured", 0), ("verdict-holds", 1)] {
            let name = filter.split_once('-').unwrap().1;
            let told = format!("id=\"{filter}\">{name} <span class=\"count\">{count}</span>");
            assert!(html.contains(&told), "{told}");
            assert!(html.contains(&format!(":has(#{filter}:checked)")));
        }
    }

    /// A null that passes is a fault, both on the page and for the exit status.
    #[test]
    fn a_weak_claim_is_a_fault() {
        let page = report(&[0.2, 0.1]);
        assert!(page.any(Verdict::Weak));
        assert_eq!(page.headline(), "0 proved hold, 0 measured hold, 1 weak");
        assert!(page.html().contains("1 weak") && page.html().contains("slack 5<br>2 trials"));
        let csv = page.claims_csv();
        assert!(csv.starts_with("id,experiment,kind,verdict,"));
        assert!(
            csv.contains("\nE1,E,proved,weak,a <= b,s,2,2,largest a / b,0.2,1,b/3,0,1,5,,"),
            "{csv}"
        );
    }
}
