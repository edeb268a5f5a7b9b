//! What a learner knows about the answers so far.

/// Whether some halfspace fits the answers of a session, as far as its learner knows.
///
/// The status costs one look at what is revealed. Certainty either way costs a few cone programs:
/// [`SelfDirectedSession::contradiction`](crate::SelfDirectedSession::contradiction) then names few points
/// whose labels contradict each other.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{AnswerStatus, HardMargin, SelfDirectedSession, VersionSpaceGreedy};
/// let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])?;
/// let learner = VersionSpaceGreedy::new(HardMargin::new(2)?);
/// let mut session = SelfDirectedSession::new(learner, &points)?;
/// while let Some(question) = session.next()? {
///     assert_eq!(session.status(), AnswerStatus::Consistent);
///     // Positive on both axes, negative between them.
///     let label = if question.index == 2 { Label::Negative } else { Label::Positive };
///     session.reveal(label)?;
/// }
/// assert_eq!(session.status(), AnswerStatus::NoHalfspaceFound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AnswerStatus {
    /// The learner holds a halfspace that has every revealed point, x = 0 apart, strictly on its side.
    Consistent,
    /// The learner holds none and has not looked for one: it learns from its latest mistakes only, and may
    /// yet find one.
    Undecided,
    /// The learner has looked for a halfspace for as long as it may, and holds none. Either the answers
    /// contradict each other, or they leave too little room (a margin of about 1e-12), or the learner has
    /// failed with the probability that it states. Its guarantees are void from here on.
    NoHalfspaceFound,
}

impl std::fmt::Display for AnswerStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            AnswerStatus::Consistent => "a halfspace fits all answers",
            AnswerStatus::Undecided => "not known whether a halfspace fits all answers",
            AnswerStatus::NoHalfspaceFound => "no halfspace found that fits all answers",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerStatus::{Consistent, NoHalfspaceFound, Undecided};

    #[test]
    fn each_status_says_what_it_means() {
        assert_eq!(Consistent.to_string(), "a halfspace fits all answers");
        assert_eq!(Undecided.to_string(), "not known whether a halfspace fits all answers");
        assert_eq!(NoHalfspaceFound.to_string(), "no halfspace found that fits all answers");
    }
}
