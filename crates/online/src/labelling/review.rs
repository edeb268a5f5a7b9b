//! A session that shows suggestions, for a review. Part of `LabellingSession`. Claims: none.

use super::file::LabellingFile;
use super::pool_model::PoolModel;
use super::session::LabellingSession;
use super::suggested::Suggested;
use crate::error::OnlineError;
use halfspaces_linalg::InputError;

impl LabellingSession {
    /// Resumes a saved session that predicts the given class of each point and learns nothing. Use it for a review, in
    /// which each question shows the suggestion of another program. The session neither asks about a point without a
    /// class nor predicts it. Starting and answering take time proportional to the number of points. Questions come in
    /// the order of the points unless [`ask`](LabellingSession::ask) chooses another one. The suggestions have no
    /// probabilities: a question says 0.5, and [`outlook`](LabellingSession::outlook) and
    /// [`doubts`](LabellingSession::doubts) estimate nothing. Points cannot be added.
    ///
    /// ```
    /// use halfspaces_linalg::Params;
    /// use halfspaces_online::{Labelling, LabellingFile, LabellingSession};
    /// let file = LabellingFile {
    ///     version: LabellingFile::VERSION,
    ///     labelling: Labelling::params(2).check()?,
    ///     first_points: 3,
    ///     points: 3,
    ///     answers: Vec::new(),
    ///     skipped: Vec::new(),
    /// };
    /// let mut session = LabellingSession::resume_suggested(&file, &[Some(1), None, Some(1)])?;
    /// assert_eq!(session.next().map(|question| (question.index, question.class)), Some((0, 1)));
    /// session.answer(0)?;
    /// assert_eq!(session.next().map(|question| question.index), Some(2));
    /// assert_eq!(session.progress().corrections, 1);
    /// assert!(!session.has_probabilities());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`OnlineError::UnknownClass`]; [`InputError::LengthMismatch`];
    /// [`InputError::InconsistentState`] if a skipped point has no class; the errors of
    /// [`resume`](LabellingSession::resume).
    pub fn resume_suggested(
        file: &LabellingFile,
        classes: &[Option<usize>],
    ) -> Result<Self, OnlineError> {
        LabellingSession::check_file(file, classes.len())?;
        if classes.is_empty() {
            return Err(InputError::Empty.into());
        }
        let model = PoolModel::Suggested(Suggested::new(classes));
        let session = LabellingSession::of_model(file.labelling, classes.len(), model);
        classes.iter().flatten().try_for_each(|class| session.check_class(*class))?;
        session.restore(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Labelling, Source};
    use halfspaces_linalg::{Params, Points};

    fn file(points: usize) -> LabellingFile {
        LabellingFile {
            version: LabellingFile::VERSION,
            labelling: Labelling::params(3).check().unwrap(),
            first_points: points,
            points,
            answers: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Answers, skips, undoing and changes work as with a learning model, and every question shows its suggestion.
    #[test]
    fn a_session_keeps_the_suggestions_whatever_is_answered() {
        let suggested = [2, 0, 1, 2];
        let given = suggested.map(Some);
        let mut session = LabellingSession::resume_suggested(&file(4), &given).unwrap();
        session.tell(&[(1, 1)]).unwrap();
        assert_eq!((session.class(1), session.predict(1).unwrap().class), (Some(1), 1));
        for (index, class) in [(0, 2), (2, 0)] {
            let question = session.next().unwrap();
            assert_eq!((question.index, question.class), (index, suggested[index]));
            assert_eq!(question.probability, 0.5);
            session.answer(class).unwrap();
        }
        let progress = session.progress();
        assert_eq!((progress.answered, progress.known, progress.corrections), (3, 1, 1));
        let again = session.undo().unwrap();
        assert_eq!((again.index, again.class, session.class(2)), (2, 1, None));
        session.skip().unwrap();
        assert_eq!(session.next().unwrap().index, 3);
        session.confirm().unwrap();
        assert_eq!(session.next().unwrap().index, 2, "a skipped point comes last");
        session.change(3, 0).unwrap();
        assert_eq!(session.withdraw(0).unwrap().source, Source::Asked { predicted: 2 });
        assert_eq!(session.predict(0).unwrap().class, 2);
        let likeliest: Vec<usize> =
            session.likeliest(2, 1).unwrap().iter().map(|question| question.index).collect();
        assert_eq!(likeliest, [0]);
        // Nothing is estimated.
        let outlook = session.outlook();
        assert_eq!((outlook.open, outlook.expected), (2, 0.0));
        assert!(session.doubts(5).is_empty() && !session.has_probabilities());
        assert!(session.add_points(&Points::new(vec![1.0], 1).unwrap()).is_err());
        // The saved form brings the same answers back.
        let resumed = LabellingSession::resume_suggested(&session.file(), &given).unwrap();
        assert_eq!((resumed.answers(), resumed.skipped()), (session.answers(), session.skipped()));
    }

    /// A point without a suggestion is not asked about, but it can get a label.
    #[test]
    fn points_without_a_suggestion_are_not_asked_about() {
        let given = [None, Some(1), None];
        let mut session = LabellingSession::resume_suggested(&file(3), &given).unwrap();
        assert_eq!(session.next().map(|question| question.index), Some(1));
        session.confirm().unwrap();
        assert_eq!(session.next(), None);
        assert!(session.likeliest(0, 3).unwrap().is_empty());
        session.tell(&[(2, 2)]).unwrap();
        assert_eq!((session.class(2), session.progress().answered), (Some(2), 2));
        // A withdrawn label is the suggestion, and a point that never had a class cannot be asked about.
        assert_eq!(session.undo().map(|question| (question.index, question.class)), Some((2, 2)));
        assert!(session.predict(0).is_err());
        let question = crate::LabellingQuestion { index: 0, class: 1, probability: 0.5 };
        assert!(session.ask(question).is_err());
        let skipped = |index| LabellingFile { skipped: vec![index], ..file(3) };
        assert!(LabellingSession::resume_suggested(&skipped(1), &given).is_ok());
        assert!(LabellingSession::resume_suggested(&skipped(0), &given).is_err());
    }

    #[test]
    fn invalid_suggestions_are_refused() {
        assert!(LabellingSession::resume_suggested(&file(2), &[Some(0), Some(3)]).is_err());
        assert!(LabellingSession::resume_suggested(&file(2), &[Some(0); 3]).is_err());
        assert!(LabellingSession::resume_suggested(&file(0), &[]).is_err());
    }
}
