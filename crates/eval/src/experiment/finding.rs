//! What was found, for a reader outside the field.

/// What an experiment found, in two sentences and a figure, for the head of the page.
///
/// An experiment states it in its `evaluate`, with numbers of the run it evaluates, and names the claims that it
/// rests on. The page shows it only if each of them holds or was observed, and says why where it does not.
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
    /// What was found, in a few words without terms of the field.
    pub title: String,
    /// Two sentences with numbers of this run; `None` where its numbers are missing or say otherwise.
    pub text: Option<String>,
    /// Name of the figure of the same experiment that shows it.
    pub figure: String,
    /// The claims of the same experiment that it rests on.
    pub claims: Vec<String>,
}
