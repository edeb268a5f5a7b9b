//! The comparison of an answer with its prediction. Part of `LabellingSession`. Claims: none.

/// An answer, compared with the prediction that the model makes from all other answers.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::Labelling;
/// let rows: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i) + if i < 10 { 0.0 } else { 20.0 }]).collect();
/// let mut session = Labelling::params(2).check()?.session(&Points::from_rows(&rows)?)?;
/// // The answer about point 4 is wrong.
/// let answers: Vec<(usize, usize)> = (0..20).map(|i| (i, usize::from(i >= 10 || i == 4))).collect();
/// session.tell(&answers)?;
/// let doubts = session.doubts(5);
/// assert_eq!((doubts[0].index, doubts[0].class, doubts[0].predicted), (4, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubt {
    /// The index of the point.
    pub index: usize,
    /// The class that the answer gives.
    pub class: usize,
    /// The class that the model predicts from all other answers.
    pub predicted: usize,
    /// The probability of that class according to the model, given all other answers.
    pub probability: f64,
}
