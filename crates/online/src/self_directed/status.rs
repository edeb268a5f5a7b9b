//! The status of a session's answers, as far as the learner knows.

/// Whether some halfspace fits the answers of a session, as far as its learner knows.
///
/// The status costs one scan of the revealed points. Certainty costs a few cone programs:
/// [`SelfDirectedSession::contradiction`](crate::SelfDirectedSession::contradiction) returns a few points whose labels
/// contradict each other, if there are any.
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
///     session.answer(label)?;
/// }
/// assert_eq!(session.status(), AnswerStatus::NoHalfspaceFound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerStatus {
    /// The learner has a halfspace for which every revealed point except x = 0 lies strictly on the side that its label
    /// requires.
    Consistent,
    /// The learner has no such halfspace, and has not searched for one: it learns only from its latest mistakes and may
    /// still find one.
    Undecided,
    /// The learner has searched for a halfspace up to its limit and has found none. Either the answers contradict each
    /// other, or they leave too little room (a margin of about 1e-12), or the learner has failed. The probability of
    /// the last case is at most the stated failure probability. Its guarantees no longer hold.
    NoHalfspaceFound,
}

impl std::fmt::Display for AnswerStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            AnswerStatus::Consistent => "a halfspace fits all answers",
            AnswerStatus::Undecided => "it is not known whether a halfspace fits all answers",
            AnswerStatus::NoHalfspaceFound => "no halfspace that fits all answers was found",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerStatus::{Consistent, NoHalfspaceFound, Undecided};

    #[test]
    fn each_status_says_what_it_means() {
        assert_eq!(Consistent.to_string(), "a halfspace fits all answers");
        assert_eq!(Undecided.to_string(), "it is not known whether a halfspace fits all answers");
        assert_eq!(NoHalfspaceFound.to_string(), "no halfspace that fits all answers was found");
    }
}
