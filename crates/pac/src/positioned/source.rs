//! The examples of a round: fresh examples from a stream, or the parts of a sample. The parts are the same in every
//! round.
//!
//! *Source.* docs/theory/massart-without-margin.md, "All rounds" and "The practical schedule". Claims: PM, PMn, PMt.

use super::rule::{PositionedRule, Scratch};
use halfspaces_linalg::{
    ExampleStream, FitError, InputError, Label, PointSet, RowView, checkpoint_at,
};

/// The purpose of a request for examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Examples from which a position and a direction are computed.
    Descent,
    /// Examples on which a region is chosen.
    Choice,
}

/// The outcome of a request for examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supply {
    Complete,
    /// There are no further examples.
    Ended,
    /// Too few of the drawn examples were uncovered, so the remaining mass must be less than ε/4.
    Rare,
}

/// The result of a test: the number of points that no rule covers.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_pac::PositionedMassart;
/// let points = Points::new((0..200).map(|i| f64::from(i) - 99.5).collect(), 1)?;
/// let labels: Vec<Label> = (0..200).map(|i| Label::from_sign(f64::from(i) - 99.5)).collect();
/// let fit = PositionedMassart::params(0.0).check()?.fit(&points, &labels)?;
/// // One rule covers the line. 30 of 200 points are held out, and regions are chosen on a quarter of the rest.
/// assert_eq!((fit.remainder().left, fit.remainder().points), (0, 43));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Remainder {
    /// The number of tested points that no rule covers, not counting points at the origin.
    pub left: usize,
    /// The number of tested points.
    pub points: usize,
    /// The number of remaining points with the label +1.
    pub positive: usize,
}

impl Remainder {
    /// The fraction of tested points that no rule covers.
    #[must_use]
    pub fn share(self) -> f64 {
        self.left as f64 / self.points as f64
    }

    /// The majority label of the remaining points; +1 in case of a tie.
    pub(super) fn majority(self) -> Label {
        Label::from_sign(2.0 * self.positive as f64 - self.left as f64)
    }

    #[cfg(feature = "serde")]
    pub(super) fn is_possible(self) -> bool {
        self.points > 0 && self.left <= self.points && self.positive <= self.left
    }
}

pub(super) trait Source {
    type Error: From<InputError>;

    fn dim(&self) -> usize;

    /// Whether the examples come from a sample, which is used in every round.
    fn is_sample(&self) -> bool;

    /// Counts the examples that no rule covers. A stream takes `count` fresh examples for the test, and returns `None`
    /// if the stream ends.
    fn remainder(
        &mut self,
        rules: &[PositionedRule],
        count: u64,
    ) -> Result<Option<Remainder>, Self::Error>;

    /// Passes `count` examples that no rule covers to `see`. If a sample contains fewer examples, all of
    /// them are passed. A stream draws at most `draws` examples.
    fn visit(
        &mut self,
        part: Part,
        rules: &[PositionedRule],
        count: u64,
        draws: &mut u64,
        see: impl FnMut(&mut Scratch, Label) -> Result<(), InputError>,
    ) -> Result<Supply, Self::Error>;

    /// Removes the points that a new rule covers.
    fn rule_added(&mut self, rule: &PositionedRule);

    /// The number of examples used so far.
    fn taken(&self) -> u64;
}

/// Whether a rule covers the point in `scratch`.
fn covered(rules: &[PositionedRule], scratch: &mut Scratch) -> bool {
    rules.iter().any(|rule| rule.value(scratch).is_some())
}

/// Fresh examples from a stream.
#[derive(Debug)]
pub(super) struct StreamSource<'s, S> {
    pub(super) stream: &'s mut S,
    pub(super) taken: u64,
    pub(super) scratch: Scratch,
}

impl<S: ExampleStream> StreamSource<'_, S> {
    /// Loads the next example into `scratch`. Returns whether the point differs from the origin, and the label of the
    /// point. Returns `None` if the stream has ended.
    pub(super) fn next(&mut self) -> Result<Option<(bool, Label)>, FitError<S::Error>> {
        let (dim, taken) = (self.stream.dim(), self.taken);
        let next = self.stream.next_row().map_err(|source| FitError::Stream { taken, source })?;
        let Some((x, label)) = next else { return Ok(None) };
        InputError::check_dim(dim, x.dim())
            .map_err(|source| FitError::Example { taken, source })?;
        let off_origin = self.scratch.load(x);
        self.taken += 1;
        Ok(Some((off_origin, label)))
    }
}

impl<S: ExampleStream> Source for StreamSource<'_, S> {
    type Error = FitError<S::Error>;

    fn dim(&self) -> usize {
        self.stream.dim()
    }

    fn is_sample(&self) -> bool {
        false
    }

    fn remainder(
        &mut self,
        rules: &[PositionedRule],
        count: u64,
    ) -> Result<Option<Remainder>, Self::Error> {
        let mut remainder = Remainder { left: 0, points: 0, positive: 0 };
        for _ in 0..count {
            let Some((off_origin, label)) = self.next()? else { return Ok(None) };
            remainder.points += 1;
            if off_origin && !covered(rules, &mut self.scratch) {
                remainder.left += 1;
                remainder.positive += usize::from(label == Label::Positive);
            }
        }
        Ok(Some(remainder))
    }

    fn visit(
        &mut self,
        _: Part,
        rules: &[PositionedRule],
        count: u64,
        draws: &mut u64,
        mut see: impl FnMut(&mut Scratch, Label) -> Result<(), InputError>,
    ) -> Result<Supply, Self::Error> {
        let mut seen = 0;
        while seen < count {
            if *draws == 0 {
                return Ok(Supply::Rare);
            }
            *draws -= 1;
            let Some((off_origin, label)) = self.next()? else { return Ok(Supply::Ended) };
            if off_origin && !covered(rules, &mut self.scratch) {
                see(&mut self.scratch, label)?;
                seen += 1;
            }
        }
        Ok(Supply::Complete)
    }

    fn rule_added(&mut self, _: &PositionedRule) {}

    fn taken(&self) -> u64 {
        self.taken
    }
}

/// The points of a sample that no rule covers, separately for each part of the sample.
#[derive(Debug)]
pub(super) struct SampleSource<'s, P> {
    pub(super) points: &'s P,
    pub(super) labels: &'s [Label],
    /// The indices of the remaining points of the descent part.
    pub(super) descent: Vec<usize>,
    /// The indices of the remaining points of the choice part; `choice_points` is their number at the start.
    pub(super) choice: Vec<usize>,
    pub(super) choice_points: usize,
    pub(super) scratch: Scratch,
}

impl<'s, P: PointSet> SampleSource<'s, P> {
    /// Creates the source from the indices of the parts, without points at the origin.
    pub(super) fn new(
        points: &'s P,
        labels: &'s [Label],
        descent: Vec<usize>,
        choice: Vec<usize>,
    ) -> Self {
        let choice_points = choice.len();
        let scratch = Scratch::default();
        let mut parts = SampleSource { points, labels, descent, choice, choice_points, scratch };
        parts.retain(|_| true);
        parts
    }

    /// Loads point `i` into `scratch`. Returns `false` for the origin.
    fn load(points: &P, scratch: &mut Scratch, i: usize) -> bool {
        let Some(x) = points.row(i) else { unreachable!("indices of the parts are below n") };
        scratch.load(x)
    }

    /// Keeps the points of both parts that are not the origin and for which `left` returns `true`.
    fn retain(&mut self, mut left: impl FnMut(&mut Scratch) -> bool) {
        let (points, scratch) = (self.points, &mut self.scratch);
        let mut looked_at = 0;
        for part in [&mut self.descent, &mut self.choice] {
            part.retain(|i| {
                checkpoint_at(looked_at);
                looked_at += 1;
                Self::load(points, scratch, *i) && left(scratch)
            });
        }
    }
}

impl<P: PointSet> Source for SampleSource<'_, P> {
    type Error = InputError;

    fn dim(&self) -> usize {
        self.points.dim()
    }

    fn is_sample(&self) -> bool {
        true
    }

    fn remainder(&mut self, _: &[PositionedRule], _: u64) -> Result<Option<Remainder>, InputError> {
        let positive = |i: &&usize| self.labels[**i] == Label::Positive;
        Ok(Some(Remainder {
            left: self.choice.len(),
            points: self.choice_points,
            positive: self.choice.iter().filter(positive).count(),
        }))
    }

    fn visit(
        &mut self,
        part: Part,
        _: &[PositionedRule],
        count: u64,
        _: &mut u64,
        mut see: impl FnMut(&mut Scratch, Label) -> Result<(), InputError>,
    ) -> Result<Supply, InputError> {
        let indices = match part {
            Part::Descent => &self.descent,
            Part::Choice => &self.choice,
        };
        if indices.is_empty() {
            return Ok(Supply::Ended);
        }
        let count = count.min(indices.len() as u64) as usize;
        for (at, i) in indices[..count].iter().enumerate() {
            checkpoint_at(at);
            let off_origin = Self::load(self.points, &mut self.scratch, *i);
            assert!(off_origin, "the origin was left out");
            see(&mut self.scratch, self.labels[*i])?;
        }
        Ok(Supply::Complete)
    }

    fn rule_added(&mut self, rule: &PositionedRule) {
        self.retain(|scratch| rule.value(scratch).is_none());
    }

    fn taken(&self) -> u64 {
        self.labels.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::LabelledPoints;
    use halfspaces_linalg::Points;

    /// The origin is tested, but does not remain.
    #[test]
    fn the_remainder_of_a_stream_by_hand() {
        let [n, p] = [Label::Negative, Label::Positive];
        let points = Points::new(vec![0.0, 1.0, -2.0, 3.0, 4.0, 5.0], 1).unwrap();
        let labels = [p, p, n, p, n, p];
        let mut stream = LabelledPoints::new(&points, &labels).unwrap();
        let mut fresh = StreamSource { stream: &mut stream, taken: 0, scratch: Scratch::default() };
        let found = fresh.remainder(&[], 4).unwrap();
        assert_eq!(found, Some(Remainder { left: 3, points: 4, positive: 2 }));
        assert_eq!(fresh.remainder(&[], 3).unwrap(), None);
    }

    /// The origin counts as a draw, but is not passed on.
    #[test]
    fn a_request_ends_with_what_it_may_draw() {
        let points = Points::new(vec![0.0, 1.0, 0.0, 0.0, 2.0, 3.0, 4.0], 1).unwrap();
        let labels = [Label::Positive; 7];
        let mut stream = LabelledPoints::new(&points, &labels).unwrap();
        let mut fresh = StreamSource { stream: &mut stream, taken: 0, scratch: Scratch::default() };
        let mut ask = |count: u64, mut draws: u64| {
            let mut shown = 0;
            let see = |_: &mut Scratch, _| {
                shown += 1;
                Ok(())
            };
            let supply = fresh.visit(Part::Descent, &[], count, &mut draws, see).unwrap();
            (supply, shown, draws, fresh.taken())
        };
        assert_eq!(ask(2, 4), (Supply::Rare, 1, 0, 4));
        assert_eq!(ask(2, 9), (Supply::Complete, 2, 7, 6));
        assert_eq!(ask(2, 9), (Supply::Ended, 1, 7, 7));
    }
}
