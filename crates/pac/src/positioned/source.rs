//! Where the examples of a round come from: drawn afresh from a stream, or the parts of one sample again and
//! again.
//!
//! *Source.* docs/theory/massart-without-margin.md, "All rounds" and "The practical schedule". Claims: PM, PMn, PMt.

use super::rule::{PositionedRule, Scratch};
use halfspaces_linalg::{ExampleStream, FitError, InputError, Label, PointSet, RowView};

/// What examples are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// To find a position and a direction.
    Descent,
    /// To choose a region by.
    Choice,
}

/// How a request for examples ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supply {
    Complete,
    /// No further examples.
    Ended,
    /// So few of the examples drawn were left over that less than a share of ε/4 can be.
    Rare,
}

/// How much no rule covers.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_pac::PositionedMassart;
/// let points = Points::new((0..200).map(|i| f64::from(i) - 99.5).collect(), 1)?;
/// let labels: Vec<Label> = (0..200).map(|i| Label::from_sign(f64::from(i) - 99.5)).collect();
/// let fit = PositionedMassart::params(0.0).check()?.fit(&points, &labels)?;
/// // One rule takes the line; 200 points less 30 held out, a quarter of the rest to choose by.
/// assert_eq!((fit.remainder().left, fit.remainder().points), (0, 43));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Remainder {
    /// Points that no rule covers, of those tested; the origin is none of them.
    pub left: usize,
    /// Points tested.
    pub points: usize,
    /// How many of those left are labelled +1.
    pub positive: usize,
}

impl Remainder {
    /// The share that is left.
    #[must_use]
    pub fn share(self) -> f64 {
        self.left as f64 / self.points as f64
    }

    /// The commoner label of what is left; +1 if they are equally many.
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

    /// Whether the examples are those of a sample, each of which serves every round.
    fn is_sample(&self) -> bool;

    /// How many of some examples no rule covers, on `count` fresh ones; `None` if there are no more.
    fn remainder(
        &mut self,
        rules: &[PositionedRule],
        count: u64,
    ) -> Result<Option<Remainder>, Self::Error>;

    /// Shows examples that no rule covers, `count` of them, or what there is of a sample up to as many, where
    /// at most `draws` may be drawn.
    fn visit(
        &mut self,
        part: Part,
        rules: &[PositionedRule],
        count: u64,
        draws: &mut u64,
        see: impl FnMut(&mut Scratch, Label) -> Result<(), InputError>,
    ) -> Result<Supply, Self::Error>;

    /// A rule was added.
    fn emitted(&mut self, rule: &PositionedRule);

    /// Examples taken so far.
    fn taken(&self) -> u64;
}

/// Whether a rule covers the point in `scratch`.
fn covered(rules: &[PositionedRule], scratch: &mut Scratch) -> bool {
    rules.iter().any(|rule| rule.value(scratch).is_some())
}

/// Examples drawn afresh.
#[derive(Debug)]
pub(super) struct Fresh<'s, S> {
    pub(super) stream: &'s mut S,
    pub(super) taken: u64,
    pub(super) scratch: Scratch,
}

impl<S: ExampleStream> Fresh<'_, S> {
    /// The next example into `scratch`: whether it lies off the origin, and its label.
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

impl<S: ExampleStream> Source for Fresh<'_, S> {
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

    fn emitted(&mut self, _: &PositionedRule) {}

    fn taken(&self) -> u64 {
        self.taken
    }
}

/// The parts of a sample: what no rule covers of them.
#[derive(Debug)]
pub(super) struct Parts<'s, P> {
    pub(super) points: &'s P,
    pub(super) labels: &'s [Label],
    /// Indices of the points for the descent that are left.
    pub(super) descent: Vec<usize>,
    /// Indices of the points for the choice that are left, of `choice_points`.
    pub(super) choice: Vec<usize>,
    pub(super) choice_points: usize,
    pub(super) scratch: Scratch,
}

impl<'s, P: PointSet> Parts<'s, P> {
    /// The points off the origin.
    pub(super) fn new(
        points: &'s P,
        labels: &'s [Label],
        descent: Vec<usize>,
        choice: Vec<usize>,
    ) -> Self {
        let choice_points = choice.len();
        let scratch = Scratch::default();
        let mut parts = Parts { points, labels, descent, choice, choice_points, scratch };
        parts.retain(|_| true);
        parts
    }

    /// Point `i` into the scratch; `false` for the origin.
    fn load(points: &P, scratch: &mut Scratch, i: usize) -> bool {
        let Some(x) = points.row(i) else { unreachable!("the parts are made of indices below n") };
        scratch.load(x)
    }

    /// Retains of both parts the points off the origin that the condition holds for.
    fn retain(&mut self, mut left: impl FnMut(&mut Scratch) -> bool) {
        let (points, scratch) = (self.points, &mut self.scratch);
        for part in [&mut self.descent, &mut self.choice] {
            part.retain(|i| Self::load(points, scratch, *i) && left(scratch));
        }
    }
}

impl<P: PointSet> Source for Parts<'_, P> {
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
        for i in &indices[..count] {
            let off_origin = Self::load(self.points, &mut self.scratch, *i);
            assert!(off_origin, "the origin was left out");
            see(&mut self.scratch, self.labels[*i])?;
        }
        Ok(Supply::Complete)
    }

    fn emitted(&mut self, rule: &PositionedRule) {
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

    /// The origin counts as drawn, and is not shown.
    #[test]
    fn a_request_ends_with_what_it_may_draw() {
        let points = Points::new(vec![0.0, 1.0, 0.0, 0.0, 2.0, 3.0, 4.0], 1).unwrap();
        let labels = [Label::Positive; 7];
        let mut stream = LabelledPoints::new(&points, &labels).unwrap();
        let mut fresh = Fresh { stream: &mut stream, taken: 0, scratch: Scratch::default() };
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
