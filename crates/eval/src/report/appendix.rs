//! Texts at the end of the page.

/// A text that is part of every report, such as errata or a proof.
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
/// let front = ["Results", "What dice show."];
/// let report = Report::new(front, &run, &|_| "measure".into(), vec![], &[errata])?;
/// assert!(report.html().contains("id=\"errata\"") && report.html().contains("<p>T >= 16</p>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appendix {
    /// The anchor of the text on the page.
    pub id: String,
    /// The title of the text.
    pub title: String,
    /// The body of the text, as HTML that is inserted unchanged.
    pub html: String,
    /// Whether the text is shown only on demand.
    pub folded: bool,
}
