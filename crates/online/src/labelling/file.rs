//! What is written down of a labelling session. Claims: none.

use super::params::Labelling;

/// Where an answer comes from.
///
/// ```
/// use halfspaces_online::Source;
/// assert_ne!(Source::Known, Source::Asked { predicted: 1 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Source {
    /// A label known beforehand; it was not predicted.
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
    /// The point.
    pub index: usize,
    /// Its class.
    pub class: usize,
    /// Where the answer comes from.
    pub source: Source,
}

impl Answer {
    /// Whether another class was predicted.
    #[must_use]
    pub fn is_correction(&self) -> bool {
        matches!(self.source, Source::Asked { predicted } if predicted != self.class)
    }
}

/// A labelling session as it is saved: the parameters and the list of answers, whose classes may be edited.
///
/// Every answer stands for itself. Where one is changed or taken out, the others stay as useful as they are:
/// [`LabellingSession::resume`](crate::LabellingSession::resume) learns from all of the list, whatever would have been asked.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::{LabellingParams, LabellingSession};
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1]])?;
/// let mut session = LabellingParams::new(2).check()?.session(&points)?;
/// session.next();
/// session.answer(1)?;
/// let mut file = session.file();
/// // The first answer was wrong after all.
/// file.answers[0].class = 0;
/// let session = LabellingSession::resume(&file, &points)?;
/// assert_eq!(session.class(file.answers[0].index), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LabellingFile {
    /// Version of the format: [`LabellingFile::VERSION`].
    pub version: u32,
    /// How the pool is labelled.
    pub labelling: Labelling,
    /// Number of points that the session began with; those behind them were added.
    pub first_points: usize,
    /// Number of points.
    pub points: usize,
    /// The answers in their order.
    pub answers: Vec<Answer>,
    /// Points left to the end, in the order in which they were skipped.
    pub skipped: Vec<usize>,
}

impl LabellingFile {
    /// The version that is written, and the only one read.
    pub const VERSION: u32 = 1;
}
