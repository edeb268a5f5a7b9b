//! The saved form of a labelling session. Claims: none.

use super::params::Labelling;

/// The source of an answer.
///
/// ```
/// use halfspaces_online::Source;
/// assert_ne!(Source::Known, Source::Asked { predicted: 1 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Source {
    /// The label was known in advance and was not predicted.
    Known,
    /// The answer to a question.
    Asked {
        /// The class that was predicted.
        predicted: usize,
    },
}

/// An answer in a session.
///
/// ```
/// use halfspaces_online::{Answer, Source};
/// let answer = Answer { index: 3, class: 0, source: Source::Asked { predicted: 1 } };
/// assert!(answer.is_correction());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Answer {
    /// The index of the point.
    pub index: usize,
    /// The class of the point.
    pub class: usize,
    /// The source of the answer.
    pub source: Source,
}

impl Answer {
    /// Whether the answer corrects a prediction, that is, whether a different class was predicted.
    #[must_use]
    pub fn is_correction(&self) -> bool {
        matches!(self.source, Source::Asked { predicted } if predicted != self.class)
    }
}

/// A saved labelling session: the parameters and the list of answers, whose classes may be edited.
///
/// Answers are independent of each other. If one is changed or removed, the others remain useful:
/// [`LabellingSession::resume`](crate::LabellingSession::resume) learns from the whole list, even if the session would
/// have asked other questions.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::{Labelling, LabellingSession};
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1]])?;
/// let mut session = Labelling::params(2).check()?.session(&points)?;
/// session.next();
/// session.answer(1)?;
/// let mut file = session.file();
/// // The first answer turns out to be wrong.
/// file.answers[0].class = 0;
/// let session = LabellingSession::resume(&file, &points)?;
/// assert_eq!(session.class(file.answers[0].index), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LabellingFile {
    /// Format version: [`LabellingFile::VERSION`].
    pub version: u32,
    /// The parameters of the session.
    pub labelling: Labelling,
    /// Number of points at the start of the session. All other points were added during the session.
    pub first_points: usize,
    /// Number of points.
    pub points: usize,
    /// The answers in order.
    pub answers: Vec<Answer>,
    /// The points that were skipped or uncertain, in the order in which the session asks about them. The session asks
    /// about them last.
    pub skipped: Vec<usize>,
}

impl LabellingFile {
    /// The format version that is written, and the only version that can be read.
    pub const VERSION: u32 = 1;
}
