//! Findings for readers outside the field.

/// A finding of an experiment, for the top of the page: two sentences and a figure.
///
/// An experiment states a finding in its `evaluate`, with numbers from the evaluated run, and names the claims on which
/// the finding is based. The page shows the finding only if each of these claims holds or was observed; otherwise the
/// page gives the reason.
///
/// ```
/// use halfspaces_eval::Finding;
/// let faces: &[f64] = &[4.0, 6.0];
/// let most = faces.iter().copied().reduce(f64::max);
/// let finding = Finding {
///     title: "Dice show no more than their faces".into(),
///     text: most.map(|most| format!("Of the dice thrown, none showed more than {most}.")),
///     figure: "dice".into(),
///     claims: vec!["D1".into()],
/// };
/// assert!(finding.text.is_some_and(|text| text.ends_with("more than 6.")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The finding in a few words, without technical terms.
    pub title: String,
    /// Two sentences with numbers from this run; `None` if the numbers are missing or contradict the sentences.
    pub text: Option<String>,
    /// Name of the figure that shows the finding. The figure belongs to the same experiment.
    pub figure: String,
    /// The claims of the same experiment on which the finding is based.
    pub claims: Vec<String>,
}
