//! Choosing among candidates by their errors on fresh examples.
//!
//! For every candidate w the errors of sign(w·x) on the same fresh examples are counted; the one with
//! fewest wins, the earlier among equals (CKST24 Lemma 4). The count is a product of all candidates with
//! blocks of examples, labels folded into the points (z = y x): done in single precision, with every
//! value too near 0 for it done again in double, so the counts are those of the plain loop, wherever its
//! products neither overflow nor underflow.
//!
//! [`Elimination`] drops candidates that cannot win, or are clearly worse, while the examples come, and ends
//! the count once the best is good enough (ours, docs/theory/thinned-selection.md). Two candidates are
//! told apart by the examples on which exactly one of them errs, so errors are kept bit by bit.

use crate::schedule;
use faer::linalg::matmul::matmul;
use faer::traits::pulp::{Arch, Simd, WithSimd};
use faer::{Accum, MatMut, MatRef, Par};
use halfspaces_linalg::{InputError, Label, PointSet, Points, RowView, kernels, tolerance};
use std::borrow::Cow;

/// Examples counted at once.
const BLOCK: usize = 512;

/// Examples side by side in a [`Mark`], 32 deep.
const LANES: usize = 16;

/// Which of up to 512 examples a candidate errs on.
type Mark = [u32; LANES];

/// Candidates multiplied at once: with a block of examples their product stays in cache.
const TILE: usize = 256;

/// How far a leader may be behind the best of those alive before another takes its place, in units of how much
/// worse than the best candidate the chosen one may be: a new leader wakes some of those who rest.
const NEAR: f64 = 0.125;

/// So many numbers of past examples are kept at least.
const MIN_PAST: usize = 1 << 20;

/// From here to its reciprocal ‖w‖² loses nothing.
const SMALL: f64 = 1e-200;

/// Beyond this dimension rows are taken one by one as they come: they are sparse or a block of them
/// is no longer small.
const WIDE: usize = 4096;

/// Which candidates are dropped before all examples have come.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_pac::{Candidates, Elimination};
/// let points = UnitSphere::new(3)?.sample(2000, 1)?;
/// let labels = random_target(3, 2)?.label_all(&points)?;
/// let pool = UnitSphere::new(3)?.sample(50, 3)?;
/// let chosen = |elimination| Candidates::new(&pool, elimination, 0.1)?.choose(&points, &labels);
/// // Dropping those that cannot win any more does not change who wins.
/// assert_eq!(chosen(Elimination::Never)?.index, chosen(Elimination::Lossless)?.index);
/// assert!(chosen(Elimination::Statistical)?.remaining <= chosen(Elimination::Lossless)?.remaining);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Elimination {
    /// None.
    Never,
    /// Those that can no longer win: more errors than the best has so far plus the examples to come.
    /// The choice is unchanged.
    Lossless,
    /// Also, after 1, 2, 3, 4, 6, 8, 12, ... examples, those clearly worse than the best: by more than
    /// [`schedule::elimination_gap`]. The choice may differ, its guarantee does not: the test of the
    /// best candidate against each other one needs half of the failure probability that the uniform
    /// accuracy of all of them does, and this takes the other half.
    #[default]
    Statistical,
    /// One about as good as the best so far leads. Those clearly worse are dropped, and those of which the
    /// leader's true error is surely within what the whole sample promises, ε/2, are not counted on
    /// ([`schedule::CloseEnough`]); when no other is left the count ends with the leader: the same
    /// guarantee again, from fewer examples. A new leader has those counted on what they have missed to which it
    /// is not known to be as close. The errors told are those on the examples counted by then.
    EarlyStop,
}

impl Elimination {
    /// Whether candidates are compared on the examples on which exactly one of them errs.
    fn compares(self) -> bool {
        matches!(self, Elimination::Statistical | Elimination::EarlyStop)
    }
}

/// Halfspaces to choose among on a sample: the choice that ends every fit, on its own.
///
/// *Guarantee.* On |T₂| = ⌈(8/ε²) ln(2K/δ)⌉ independent examples the error of the chosen one is within ε/2 of
/// the least, with probability at least 1 - δ, whatever the [`Elimination`].
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{Candidates, Elimination};
/// let points = Points::from_rows(&[[0.5, 0.1], [-0.3, 0.2], [0.1, -0.9]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Positive];
/// let halfspaces = Points::from_rows(&[[0.0, 1.0], [2.0, 0.0]])?;
/// let choice = Candidates::new(&halfspaces, Elimination::Lossless, 0.05)?.choose(&points, &labels)?;
/// assert_eq!((choice.index, choice.errors), (1, 0));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates<'c> {
    normals: &'c Points,
    elimination: Elimination,
    failure: f64,
}

/// What was chosen among [`Candidates`].
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{Candidates, Choice, Elimination};
/// let candidates = Points::from_rows(&[[1.0], [-1.0]])?;
/// let points = Points::from_rows(&[[0.5], [1.0], [-0.5]])?;
/// let labels = [Label::Negative, Label::Negative, Label::Negative];
/// let choice = Candidates::new(&candidates, Elimination::Never, 0.1)?.choose(&points, &labels)?;
/// // The second is wrong about the last point only.
/// assert_eq!(choice, Choice { index: 1, errors: 1, examples: 3, remaining: 2 });
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Choice {
    /// Which candidate, the first among equals.
    pub index: usize,
    /// Its errors.
    pub errors: u64,
    /// The examples it was counted on: all, but with [`Elimination::EarlyStop`].
    pub examples: u64,
    /// Candidates that were never dropped.
    pub remaining: usize,
}

impl<'c> Candidates<'c> {
    /// Normals of halfspaces, one a row, of any norm; δ matters to [`Elimination::Statistical`] and
    /// [`Elimination::EarlyStop`] only.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::ParameterOutOfRange`] for δ outside (0, 1).
    pub fn new(
        normals: &'c Points,
        elimination: Elimination,
        failure: f64,
    ) -> Result<Self, InputError> {
        if normals.is_empty() {
            return Err(InputError::Empty);
        }
        let in_range = failure > 0.0 && failure < 1.0;
        InputError::check_parameter("failure", failure, in_range, "above 0 and below 1")?;
        Ok(Candidates { normals, elimination, failure })
    }

    /// The candidate with fewest errors on the sample, whose points lie in the unit ball.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`], [`InputError::Empty`];
    /// [`InputError::ParameterOutOfRange`] for a point outside the unit ball.
    pub fn choose<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Choice, InputError> {
        InputError::check_dim(self.normals.dim(), points.dim())?;
        InputError::check_len(points.len(), labels.len())?;
        let planned = labels.len() as u64;
        let mut selector =
            Selector::new(self.normals.dim(), planned, self.elimination, self.failure)
                .with_candidates(self.normals.as_slice());
        for (x, label) in points.rows().zip(labels) {
            check_in_ball(x.norm_sq())?;
            selector.observe(x, *label);
            if selector.is_over() {
                break;
            }
        }
        let (index, errors) = selector.best().filter(|_| planned > 0).ok_or(InputError::Empty)?;
        Ok(Choice { index, errors, examples: selector.seen(), remaining: selector.alive() })
    }
}

/// Refuses a point of this ‖x‖² outside the unit ball, where nothing is guaranteed.
#[inline]
pub(crate) fn check_in_ball(norm_sq: f64) -> Result<(), InputError> {
    if norm_sq.is_nan() || norm_sq > 1.0 + 2.0 * tolerance::UNIT_NORM {
        let requirement = "at most 1 after division by the radius; state a larger radius";
        InputError::check_parameter("norm of the point", norm_sq.sqrt(), false, requirement)?;
    }
    Ok(())
}

/// The candidates and their errors so far.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Selector<'c> {
    dim: usize,
    /// Rows w, in the order they were offered.
    candidates: Cow<'c, [f64]>,
    /// Errors of each; of a dropped one, those counted until then.
    errors: Vec<u64>,
    /// Indices of the candidates that are counted.
    alive: Vec<usize>,
    /// Unit rows of all candidates, in single precision.
    #[cfg_attr(feature = "serde", serde(skip))]
    screen: Vec<f32>,
    elimination: Elimination,
    /// The failure probability of the choice.
    failure: f64,
    planned: u64,
    seen: u64,
    /// Whether the best is good enough before all examples have come.
    settled: bool,
    /// The errors of each candidate alive, in the order of `alive`, as far as they are kept.
    marks: Vec<Marks>,
    /// About the best of those alive, with [`Elimination::EarlyStop`].
    leader: Option<usize>,
    /// Candidates that are not counted while there is this leader, which is close enough to them.
    resting: Vec<Resting>,
    past: Past,
    /// Folded rows y x waiting for the block to fill.
    block: Vec<f64>,
    labels: Vec<Label>,
    #[cfg_attr(feature = "serde", serde(skip))]
    product: Vec<f32>,
}

impl<'c> Selector<'c> {
    pub(crate) fn new(dim: usize, planned: u64, elimination: Elimination, failure: f64) -> Self {
        Selector {
            dim,
            candidates: Cow::Owned(Vec::new()),
            errors: Vec::new(),
            alive: Vec::new(),
            screen: Vec::new(),
            elimination,
            failure,
            planned,
            seen: 0,
            settled: false,
            marks: Vec::new(),
            leader: None,
            resting: Vec::new(),
            past: Past::default(),
            block: Vec::new(),
            labels: Vec::new(),
            product: Vec::new(),
        }
    }

    /// With the rows of `candidates`, instead of any offered before.
    fn with_candidates(mut self, candidates: &'c [f64]) -> Self {
        let count = candidates.len() / self.dim;
        self.candidates = Cow::Borrowed(candidates);
        self.errors = vec![0; count];
        self.alive = (0..count).collect();
        self
    }

    /// Refuses saved values that do not fit each other.
    #[cfg(feature = "serde")]
    pub(crate) fn check_saved(&self, dim: usize) -> Result<(), InputError> {
        let count = self.errors.len();
        let shapes = self.dim == dim
            && self.candidates.len() == count.saturating_mul(dim)
            && self.block.len() == self.labels.len().saturating_mul(dim)
            && self.labels.len() < BLOCK;
        let numbers = self.candidates.iter().chain(&self.block).all(|v| v.is_finite())
            && self.failure > 0.0
            && self.failure <= 1.0;
        let fewest = if self.seen == 0 { count } else { count.min(1) };
        let resting = self.resting.iter().flat_map(|group| &group.ids);
        let mut once = vec![false; count];
        let first = |&c: &usize| once.get_mut(c).is_some_and(|seen| !std::mem::replace(seen, true));
        let alive = self.alive.iter().chain(resting).all(first)
            && self.alive.len() >= fewest
            && self.leader.is_none_or(|leader| self.alive.contains(&leader))
            && (self.resting.is_empty() || self.leader.is_some());
        let counted = self.seen.checked_sub(self.labels.len() as u64);
        let counts = self.seen <= self.planned
            && counted.is_some_and(|counted| self.errors.iter().all(|&e| e <= counted))
            && (!self.settled || (self.elimination == Elimination::EarlyStop && self.seen > 0));
        let kept = |marks: &Marks| {
            marks.of.len() == self.alive.len()
                && (1..=u32::BITS).contains(&marks.depth)
                && (u64::from(marks.depth)..=u64::from(marks.depth) * LANES as u64)
                    .contains(&marks.examples)
                && marks.of.iter().flatten().all(|lane| lane.unbounded_shr(marks.depth) == 0)
        };
        let marked =
            self.marks.iter().fold(0, |sum: u64, marks| sum.saturating_add(marks.examples));
        let marks = self.marks.iter().all(kept) && counted.is_some_and(|counted| marked <= counted);
        let whole = counted == Some(self.past.len_examples());
        let layered = || {
            let depths = self.past.depths(self.past.len());
            depths.iter().eq(self.marks.iter().map(|marks| &marks.depth))
        };
        // The past first: the others add up its sizes.
        let rests = self.past.is_sound(self.dim)
            && (!whole || layered())
            && (whole || self.resting.is_empty())
            && self.resting.is_sorted_by_key(|group| group.blocks)
            && self.resting.iter().all(|group| self.is_sound(group));
        let requirement = "what a fit in progress can hold";
        let fits = shapes && numbers && alive && counts && marks && rests;
        InputError::check_parameter("candidates", count as f64, fits, requirement)
    }

    /// Whether a group of resting candidates fits the marks and the past.
    #[cfg(feature = "serde")]
    fn is_sound(&self, group: &Resting) -> bool {
        let depths = self.past.depths(group.blocks);
        let examples = self.past.examples(group.blocks);
        let few = |&c: &usize| self.errors.get(c).is_some_and(|&e| e <= examples);
        let fits = |(of, depth): (&Vec<Mark>, &u32)| {
            of.len() == group.ids.len()
                && of.iter().flatten().all(|lane| lane.unbounded_shr(*depth) == 0)
        };
        group.blocks <= self.past.len()
            && group.marks.len() == depths.len()
            && group.marks.iter().zip(&depths).all(fits)
            && group.ids.iter().all(few)
    }

    /// Makes room for `count` more candidates.
    pub(crate) fn reserve(&mut self, count: u64) -> Result<(), InputError> {
        let values = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(self.dim))
            .unwrap_or(usize::MAX);
        self.candidates.to_mut().try_reserve(values).map_err(|_| InputError::TooLarge { values })
    }

    /// Adds a candidate. Only before the first example.
    pub(crate) fn offer(&mut self, w: &[f64]) {
        self.alive.push(self.errors.len());
        self.errors.push(0);
        self.candidates.to_mut().extend_from_slice(w);
    }

    pub(crate) fn len(&self) -> usize {
        self.errors.len()
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    pub(crate) fn planned(&self) -> u64 {
        self.planned
    }

    /// Whether no further example counts.
    pub(crate) fn is_over(&self) -> bool {
        self.settled || self.seen >= self.planned
    }

    /// How many candidates are still in the race.
    pub(crate) fn alive(&self) -> usize {
        self.alive.len() + self.resting.iter().map(|group| group.ids.len()).sum::<usize>()
    }

    pub(crate) fn candidate(&self, index: usize) -> Option<&[f64]> {
        self.candidates.chunks_exact(self.dim).nth(index)
    }

    /// The candidates, in the order they were offered.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &[f64]> {
        self.candidates.chunks_exact(self.dim)
    }

    /// Counts one example, in the unit ball; none after the last that counts.
    pub(crate) fn observe<R: RowView>(&mut self, x: R, y: Label) {
        if self.is_over() {
            return;
        }
        self.seen += 1;
        if self.dim > WIDE {
            // No errors are kept of the few candidates that such dimensions have room for.
            for &c in &self.alive {
                let row = self.candidates.chunks_exact(self.dim).nth(c).unwrap_or_default();
                let wrong = Label::from_sign(x.dot(row)) != y;
                if let Some(errors) = self.errors.get_mut(c) {
                    *errors += u64::from(wrong);
                }
            }
            if self.seen.is_multiple_of(BLOCK as u64) || self.is_check() {
                self.eliminate();
            }
            return;
        }
        let start = self.block.len();
        self.block.resize(start + self.dim, 0.0);
        if let Some(row) = self.block.get_mut(start..) {
            x.add_scaled_to(y.as_f64(), row);
        }
        self.labels.push(y);
        let full = self.labels.len() == BLOCK || self.seen == self.planned;
        if full || self.is_check() {
            self.count_block();
            self.eliminate();
        }
    }

    /// The index and errors of the best candidate so far, the earlier among equals, with whatever
    /// still waits counted.
    pub(crate) fn best(&mut self) -> Option<(usize, u64)> {
        self.count_block();
        if let Some(leader) = self.leader.filter(|_| self.settled) {
            return self.errors.get(leader).map(|errors| (leader, *errors));
        }
        self.wake(None, |_, _| false);
        let errors = |c: usize| self.errors.get(c).copied().unwrap_or(u64::MAX);
        self.alive.iter().map(|&c| (c, errors(c))).min_by_key(|&(c, errors)| (errors, c))
    }

    fn count_block(&mut self) {
        if self.labels.is_empty() {
            return;
        }
        let rows = self.labels.len();
        // Nobody rests without all of the past.
        let remembers = self.elimination == Elimination::EarlyStop
            && self.past.len_examples() + rows as u64 == self.seen
            && self.past.has_room(rows * self.dim, self.candidates.len());
        // Before marks are opened: who wakes has them for the past only.
        if !remembers {
            self.wake(None, |_, _| false);
        }
        let keeps = self.open_marks(rows);
        if !keeps {
            self.wake(None, |_, _| false);
        }
        let (block, labels) = (std::mem::take(&mut self.block), std::mem::take(&mut self.labels));
        let (alive, mut marks) = (std::mem::take(&mut self.alive), std::mem::take(&mut self.marks));
        let of = marks.last_mut().filter(|_| keeps).map(|marks| marks.of.as_mut_slice());
        self.count(&alive, &block, &labels, of);
        (self.alive, self.marks) = (alive, marks);
        if keeps && remembers {
            self.past.push(&block, &labels);
        }
        (self.block, self.labels) = (block, labels);
        self.block.clear();
        self.labels.clear();
    }

    /// All unit rows, once there are any.
    fn unit_rows(&mut self) -> Vec<f32> {
        let mut screen = std::mem::take(&mut self.screen);
        if screen.len() == self.candidates.len() {
            return screen;
        }
        screen.clear();
        screen.reserve(self.candidates.len());
        let (candidates, dim) = (&*self.candidates, self.dim);
        Arch::new().dispatch(UnitRows { candidates, dim, screen: &mut screen });
        screen
    }

    /// Adds the errors of some candidates on a block of examples, and their marks.
    fn count(
        &mut self,
        ids: &[usize],
        folded: &[f64],
        labels: &[Label],
        marks: Option<&mut [Mark]>,
    ) {
        let (dim, rows) = (self.dim, labels.len());
        let block: Vec<f32> = folded.iter().map(|&v| v as f32).collect();
        let z = MatRef::from_row_major_slice(&block, rows, dim);
        let doubt = single_precision_error(dim);
        let arch = Arch::new();
        self.product.resize(rows * TILE.min(ids.len().max(1)), 0.0);
        let mut marks = marks.map(<[Mark]>::iter_mut);
        let screen = self.unit_rows();
        let row = |c: usize| screen.get(c * dim..(c + 1) * dim).unwrap_or_default();
        let mut tile = Vec::with_capacity(TILE.min(ids.len()) * dim);
        for ids in ids.chunks(TILE) {
            let together = ids.windows(2).all(|pair| pair[1] == pair[0] + 1);
            let rows_of = match ids.first().filter(|_| together) {
                Some(first) => &screen[first * dim..(first + ids.len()) * dim],
                None => {
                    tile.clear();
                    ids.iter().for_each(|&c| tile.extend_from_slice(row(c)));
                    &tile
                }
            };
            let w = MatRef::from_row_major_slice(rows_of, ids.len(), dim);
            let Some(product) = self.product.get_mut(..rows * ids.len()) else { continue };
            let into = MatMut::from_column_major_slice_mut(product, rows, ids.len());
            matmul(into, Accum::Replace, z, w.transpose(), 1.0, Par::Seq);
            for (values, &c) in product.chunks_exact(rows).zip(ids) {
                let mut unkept = Mark::default();
                let mark = marks.as_mut().and_then(Iterator::next).unwrap_or(&mut unkept);
                let (mut wrong, doubtful) = arch.dispatch(Screen { values, doubt, mark });
                if doubtful {
                    let w = self.candidates.chunks_exact(dim).nth(c).unwrap_or_default();
                    let exact = values.iter().zip(folded.chunks_exact(dim)).zip(labels);
                    for (place, ((v, z), y)) in exact.enumerate() {
                        if !is_clear(*v, doubt) && folded_is_wrong(kernels::dot(z, w), *y) {
                            wrong += 1;
                            set(mark, place, rows);
                        }
                    }
                }
                if let Some(errors) = self.errors.get_mut(c) {
                    *errors += wrong;
                }
            }
        }
        self.screen = screen;
    }

    /// Asks of the resting candidates whether each `stays`, by its errors ahead of the leader's and the examples
    /// on which they are apart, with how many examples that is. One that does not is counted on the next block
    /// it has missed and asked again; after the last it is awake.
    fn wake(&mut self, leader: Option<usize>, stays: impl Fn((i64, u64), u64) -> bool) {
        let mut groups = std::mem::take(&mut self.resting).into_iter().peekable();
        let Some(first) = groups.peek().map(|group| group.blocks) else { return };
        let past = std::mem::take(&mut self.past);
        let depths = past.depths(past.len());
        let mut awake = Resting { blocks: first, ids: Vec::new(), marks: Vec::new() };
        for (blocks, depths_then, examples) in past.prefixes().skip(first) {
            while let Some(group) = groups.next_if(|group| group.blocks == blocks) {
                awake.join(group);
            }
            let mut kept = vec![Kept::default(); awake.ids.len()];
            let mut of_leader = 0;
            let layers = awake.marks.iter().zip(&self.marks).zip(depths_then.iter().zip(&depths));
            for ((of, marks), (then, now)) in layers {
                // The leader's errors on the first blocks.
                let mut front = leader.and_then(|l| marks.of.get(l)).copied().unwrap_or_default();
                front.iter_mut().for_each(|lane| *lane = lane.unbounded_shr(now - then));
                of_leader += front.iter().map(|lane| i64::from(lane.count_ones())).sum::<i64>();
                Arch::new().dispatch(Compare { of, of_leader: &front, kept: &mut kept });
            }
            let ahead = |kept: &Kept| i64::from(kept.errors) - of_leader;
            let stays = |kept: &Kept| stays((ahead(kept), kept.apart.into()), examples);
            let staying = awake.split_off(blocks, &kept.iter().map(stays).collect::<Vec<bool>>());
            if !staying.ids.is_empty() {
                self.resting.push(staying);
            }
            if let Some((folded, labels, layer)) = past.block(self.dim, blocks) {
                if awake.marks.len() <= layer {
                    awake.marks.push(vec![Mark::default(); awake.ids.len()]);
                }
                let of = awake.marks.get_mut(layer).map(Vec::as_mut_slice);
                self.count(&awake.ids, folded, labels, of);
            }
        }
        self.past = past;
        self.alive.extend(awake.ids);
        self.marks.iter_mut().zip(awake.marks).for_each(|(marks, of)| marks.of.extend(of));
    }

    /// Makes the last of the marks the place for the errors on the next so many examples, if there is
    /// room: all that are kept take about as much as the candidates, or 256 bytes a candidate.
    fn open_marks(&mut self, rows: usize) -> bool {
        if !self.elimination.compares() {
            return false;
        }
        let depth = depth_of(rows);
        if self.marks.last().is_none_or(|last| last.depth + depth > u32::BITS) {
            let room = self.errors.len() * self.dim.div_ceil(LANES / 2).max(4);
            if (self.marks.len() + 1) * self.alive() > room {
                return false;
            }
            let of = vec![Mark::default(); self.alive.len()];
            self.marks.push(Marks { depth: 0, examples: 0, of });
        }
        if let Some(last) = self.marks.last_mut() {
            last.depth += depth;
            last.examples += rows as u64;
        }
        true
    }

    /// For every candidate alive the examples on which exactly one of it and the one at `leader` errs;
    /// where errors were not kept, a bound: no more than both make, nor than examples.
    fn disagreements(&self, leader: usize) -> Vec<u64> {
        let mut kept = vec![Kept::default(); self.alive.len()];
        for marks in &self.marks {
            let Some(of_leader) = marks.of.get(leader) else { continue };
            Arch::new().dispatch(Compare { of: &marks.of, of_leader, kept: &mut kept });
        }
        let unkept = self.seen - self.marks.iter().map(|marks| marks.examples).sum::<u64>();
        let errors = |place: usize| {
            let all = self.alive.get(place).and_then(|&c| self.errors.get(c)).copied();
            let kept = kept.get(place).map_or(0, |kept| u64::from(kept.errors));
            all.unwrap_or(0).saturating_sub(kept)
        };
        let most = |(place, kept): (usize, &Kept)| {
            u64::from(kept.apart) + unkept.min(errors(place) + errors(leader))
        };
        kept.iter().enumerate().map(most).collect()
    }

    fn eliminate(&mut self) {
        if self.elimination == Elimination::EarlyStop {
            self.end_if_enough();
            return;
        }
        if self.elimination == Elimination::Never || self.alive.len() < 2 {
            return;
        }
        let errors = self.errors_alive();
        let Some((leader, best)) = (0..).zip(&errors).min_by_key(|(_, e)| **e) else { return };
        let best = *best;
        let certain = best.saturating_add(self.planned.saturating_sub(self.seen));
        let mut keep: Vec<bool> = errors.iter().map(|e| *e <= certain).collect();
        if self.is_check() {
            let apart = self.disagreements(leader);
            // Grows as the root of the disagreements.
            let gap = self.gap(1);
            for ((keep, e), n) in keep.iter_mut().zip(&errors).zip(&apart) {
                *keep &= (e - best) as f64 <= gap * (*n as f64).sqrt();
            }
        }
        self.keep_alive(&keep);
    }

    fn errors_alive(&self) -> Vec<u64> {
        self.alive.iter().filter_map(|&c| self.errors.get(c)).copied().collect()
    }

    /// Drops the candidates alive that are not to be kept.
    fn keep_alive(&mut self, keep: &[bool]) {
        if keep.contains(&false) {
            retain(&mut self.alive, keep);
            self.marks.iter_mut().for_each(|marks| retain(&mut marks.of, keep));
        }
    }

    /// Drops what is clearly worse than the leader, puts to rest what the leader is close enough to, and ends
    /// the count when none is left beside it.
    fn end_if_enough(&mut self) {
        if self.alive.len() < 2 && self.resting.is_empty() {
            self.settled = true;
        }
        if self.alive.len() < 2 || !self.is_check() {
            return;
        }
        let pairs = self.errors.len() as u64;
        let accuracy = schedule::choice_accuracy(pairs, self.planned, self.failure);
        let test = schedule::CloseEnough::new(accuracy, pairs, self.test_failure());
        let (leader, mut errors);
        loop {
            errors = self.errors_alive();
            let best = (0..)
                .zip(&errors)
                .min_by_key(|&(place, e): &(usize, &u64)| (*e, self.alive.get(place).copied()));
            let Some((best, least)) = best else { return };
            let place = self.leader.and_then(|l| self.alive.iter().position(|c| *c == l));
            let behind = |place: usize| errors.get(place).map_or(0, |e| e - least) as f64;
            let near = |place: &usize| behind(*place) <= NEAR * accuracy * self.seen as f64;
            if let Some(place) = place.filter(near) {
                leader = place;
                break;
            }
            // Some who rest may have to be asked more of.
            self.leader = self.alive.get(best).copied();
            self.wake(Some(best), |(ahead, apart), m| test.is_passed(ahead, apart, m));
        }
        let apart = self.disagreements(leader);
        let gap = self.gap(1);
        let of_leader = errors.get(leader).copied().unwrap_or(0);
        let ahead = |e: &u64| e.cast_signed() - of_leader.cast_signed();
        let kept = |(e, n): (&u64, &u64)| ahead(e) as f64 <= gap * (*n as f64).sqrt();
        let keep: Vec<bool> = errors.iter().zip(&apart).map(kept).collect();
        let passed = |(place, (e, n)): (usize, (&u64, &u64))| {
            place != leader && test.is_passed(ahead(e), *n, self.seen)
        };
        let passes: Vec<bool> = errors.iter().zip(&apart).enumerate().map(passed).collect();
        let others = keep.iter().zip(&passes).filter(|(keep, passes)| **keep && !**passes).count();
        self.settled = others <= 1;
        if !self.settled && self.past.len_examples() == self.seen {
            let rest: Vec<bool> = keep.iter().zip(&passes).map(|(k, p)| *k && *p).collect();
            let of = |marks: &Marks| retained(&marks.of, &rest);
            let ids = retained(&self.alive, &rest);
            if !ids.is_empty() {
                let marks = self.marks.iter().map(of).collect();
                self.resting.push(Resting { blocks: self.past.len(), ids, marks });
            }
            let keep: Vec<bool> = keep.iter().zip(&passes).map(|(k, p)| *k && !*p).collect();
            self.keep_alive(&keep);
        } else {
            self.keep_alive(&keep);
        }
    }

    /// The failure probability of all tests of one kind together.
    fn test_failure(&self) -> f64 {
        self.failure / if self.elimination == Elimination::EarlyStop { 4.0 } else { 2.0 }
    }

    /// Whether now is one of the planned checks, after enough examples for a candidate to be dropped
    /// that errs on half of those on which the leader is right.
    fn is_check(&self) -> bool {
        if !self.elimination.compares() || self.seen >= self.planned {
            return false;
        }
        let power = |m: u64| m.is_power_of_two();
        let planned = power(self.seen) || (self.seen.is_multiple_of(3) && power(self.seen / 3));
        planned && self.seen as f64 > 2.0 * self.gap(self.seen)
    }

    /// How many more errors than the leader a candidate makes at most, if it is no worse and exactly one
    /// of the two errs on this many examples.
    fn gap(&self, disagreements: u64) -> f64 {
        let checks = schedule::elimination_checks(self.planned);
        let pairs = self.errors.len() as u64;
        schedule::elimination_gap(disagreements, pairs, checks, self.test_failure())
    }
}

/// What is marked to be kept.
fn retained<T: Copy>(of: &[T], keep: &[bool]) -> Vec<T> {
    let mut kept = Vec::with_capacity(keep.iter().filter(|keep| **keep).count());
    kept.extend(of.iter().zip(keep).filter(|(_, keep)| **keep).map(|(value, _)| *value));
    kept
}

/// Keeps what is marked to be kept.
fn retain<T>(of: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    of.retain(|_| keep.next().copied().unwrap_or(true));
}

/// The errors of all candidates alive on some examples.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Marks {
    /// Bits in use.
    depth: u32,
    examples: u64,
    of: Vec<Mark>,
}

/// How many blocks deep the errors of a block of examples are marked.
fn depth_of(rows: usize) -> u32 {
    rows.div_ceil(LANES) as u32
}

/// Candidates that rest, counted on as many blocks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Resting {
    /// How many of the past blocks they were counted on.
    blocks: usize,
    ids: Vec<usize>,
    /// As [`Marks::from_labels`] was then.
    marks: Vec<Vec<Mark>>,
}

impl Resting {
    fn join(&mut self, other: Resting) {
        self.ids.extend(other.ids);
        self.marks.resize_with(other.marks.len(), Vec::new);
        self.marks.iter_mut().zip(other.marks).for_each(|(marks, more)| marks.extend(more));
    }

    /// Takes out those that stay.
    fn split_off(&mut self, blocks: usize, stay: &[bool]) -> Resting {
        let marks = self.marks.iter().map(|marks| retained(marks, stay)).collect();
        let staying = Resting { blocks, ids: retained(&self.ids, stay), marks };
        let go: Vec<bool> = stay.iter().map(|stays| !stays).collect();
        retain(&mut self.ids, &go);
        self.marks.iter_mut().for_each(|marks| retain(marks, &go));
        staying
    }
}

/// The examples counted so far, for those who rest.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Past {
    /// Rows of each block.
    sizes: Vec<usize>,
    /// Folded rows, as in a block.
    folded: Vec<f64>,
    labels: Vec<Label>,
}

impl Past {
    fn len(&self) -> usize {
        self.sizes.len()
    }

    #[cfg(feature = "serde")]
    fn is_sound(&self, dim: usize) -> bool {
        self.sizes.iter().all(|rows| (1..=BLOCK).contains(rows))
            && self.sizes.iter().sum::<usize>() == self.labels.len()
            && self.folded.len() == self.labels.len().saturating_mul(dim)
            && self.folded.iter().all(|v| v.is_finite())
    }

    /// Whether so many numbers more take no more room than those of the candidates, or 8 MB.
    fn has_room(&self, numbers: usize, of_candidates: usize) -> bool {
        self.folded.len() + numbers <= of_candidates.max(MIN_PAST)
    }

    fn push(&mut self, folded: &[f64], labels: &[Label]) {
        self.sizes.push(labels.len());
        self.folded.extend_from_slice(folded);
        self.labels.extend_from_slice(labels);
    }

    fn len_examples(&self) -> u64 {
        self.labels.len() as u64
    }

    /// How many examples the first blocks have.
    fn examples(&self, blocks: usize) -> u64 {
        self.sizes.iter().take(blocks).map(|rows| *rows as u64).sum()
    }

    /// How deep each layer of marks is after the first blocks: as [`Selector::open_marks`] does.
    fn depths(&self, blocks: usize) -> Vec<u32> {
        let mut depths: Vec<u32> = Vec::new();
        for rows in self.sizes.iter().take(blocks) {
            let depth = depth_of(*rows);
            match depths.last_mut().filter(|last| **last + depth <= u32::BITS) {
                Some(last) => *last += depth,
                None => depths.push(depth),
            }
        }
        depths
    }

    /// From none on: a number of blocks, how deep each layer of marks is after them, and their examples.
    fn prefixes(&self) -> impl Iterator<Item = (usize, Vec<u32>, u64)> {
        (0..=self.len()).map(|blocks| (blocks, self.depths(blocks), self.examples(blocks)))
    }

    /// A block: folded rows, labels, and the layer of its marks.
    fn block(&self, dim: usize, block: usize) -> Option<(&[f64], &[Label], usize)> {
        let start = self.examples(block) as usize;
        let rows = start..start + self.sizes.get(block)?;
        let folded = self.folded.get(rows.start * dim..rows.end * dim)?;
        Some((folded, self.labels.get(rows)?, self.depths(block + 1).len() - 1))
    }
}

/// Marks an error on the example at `place` among the `rows` screened last.
fn set(mark: &mut Mark, place: usize, rows: usize) {
    let above = rows.div_ceil(LANES) - 1 - place / LANES;
    if let Some(lane) = mark.get_mut(place % LANES) {
        *lane |= 1 << above;
    }
}

/// What the errors kept tell of a candidate.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    errors: u32,
    /// On how many examples exactly one of it and the leader errs.
    apart: u32,
}

/// Counts bits; compiled as [`Screen`] is.
struct Compare<'a> {
    of: &'a [Mark],
    of_leader: &'a Mark,
    kept: &'a mut [Kept],
}

impl WithSimd for Compare<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (kept, mark) in self.kept.iter_mut().zip(self.of) {
            for (a, b) in mark.iter().zip(self.of_leader) {
                kept.errors += a.count_ones();
                kept.apart += (a ^ b).count_ones();
            }
        }
    }
}

/// Whether a point with label y is predicted wrongly, from y (w·x): sign(0) = +1.
fn folded_is_wrong(value: f64, y: Label) -> bool {
    match y {
        // sign(NaN), of products that overflow, is -1.
        Label::Positive => value.is_nan() || value < 0.0,
        Label::Negative => value <= 0.0,
    }
}

/// Whether the sign of a value is beyond doubt; never for NaN.
#[inline(always)]
fn is_clear(value: f32, doubt: f32) -> bool {
    value.abs() > doubt
}

/// Scales rows to norm 1; compiled as [`Screen`] is.
struct UnitRows<'a> {
    candidates: &'a [f64],
    dim: usize,
    screen: &'a mut Vec<f32>,
}

impl WithSimd for UnitRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for w in self.candidates.chunks_exact(self.dim) {
            let norm_sq = kernels::dot(w, w);
            if (SMALL..1.0 / SMALL).contains(&norm_sq) {
                let scale = norm_sq.sqrt().recip();
                self.screen.extend(w.iter().map(|v| (v * scale) as f32));
            } else {
                let largest = w.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                let scaled_norm = w.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt();
                let unit = |v: &f64| (v / largest / scaled_norm) as f32;
                // The zero vector becomes NaN, which the screening always doubts.
                self.screen.extend(w.iter().map(unit));
            }
        }
    }
}

/// How many values are surely negative, and whether some are too near 0 to tell; the former are marked,
/// below what was marked before. Being a [`WithSimd`] lets it be compiled for the vector instructions that
/// the processor turns out to have.
struct Screen<'a> {
    values: &'a [f32],
    doubt: f32,
    mark: &'a mut Mark,
}

impl WithSimd for Screen<'_> {
    type Output = (u64, bool);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (u64, bool) {
        let Screen { values, doubt, mark } = self;
        let (mut bits, mut doubtful) = (Mark::default(), Mark::default());
        let (chunks, rest) = values.as_chunks::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                bits[lane] = (bits[lane] << 1) | u32::from(chunk[lane] < -doubt);
                doubtful[lane] |= u32::from(!is_clear(chunk[lane], doubt));
            }
        }
        if !rest.is_empty() {
            bits.iter_mut().for_each(|lane| *lane <<= 1);
        }
        for (lane, v) in rest.iter().enumerate() {
            bits[lane] |= u32::from(*v < -doubt);
            doubtful[lane] |= u32::from(!is_clear(*v, doubt));
        }
        let depth = chunks.len() as u32 + u32::from(!rest.is_empty());
        for (kept, new) in mark.iter_mut().zip(bits) {
            *kept = kept.unbounded_shl(depth) | new;
        }
        let wrong: u32 = bits.iter().map(|lane| lane.count_ones()).sum();
        (u64::from(wrong), doubtful.iter().any(|lane| *lane != 0))
    }
}

/// What a product of a unit vector and a vector of the unit ball, both rounded to single precision,
/// may be off by, in any order of summation, with room: (d + 8) 2⁻²⁴ for d products and the
/// roundings of both factors, and what underflow adds.
fn single_precision_error(dim: usize) -> f32 {
    (dim + 8) as f32 * f32::EPSILON * 0.5 * 1.05 + dim as f32 * 1e-37
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{Classifier, DenseRow, Halfspace};
    use proptest::prelude::*;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// The plain loop.
    fn plain(candidates: &[Vec<f64>], points: &Points, labels: &[Label]) -> Vec<u64> {
        let count = |w: &Vec<f64>| {
            let halfspace = Halfspace::new(w.clone()).unwrap();
            let wrong = points.rows().zip(labels).filter(|(x, y)| halfspace.label(*x) != Ok(**y));
            wrong.count() as u64
        };
        candidates.iter().map(count).collect()
    }

    fn selector(
        candidates: &[Vec<f64>],
        planned: u64,
        elimination: Elimination,
    ) -> Selector<'static> {
        let mut selector = Selector::new(candidates[0].len(), planned, elimination, 0.05);
        candidates.iter().for_each(|w| selector.offer(w));
        selector
    }

    fn case(seed: u64, dim: usize, count: usize, n: usize) -> (Vec<Vec<f64>>, Points, Vec<Label>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let target = random_target(dim, seed).unwrap();
        let points = MarginBall::new(&target, 1e-3).unwrap().sample_with_rng(n, &mut rng).unwrap();
        let mut labels = target.label_all(&points).unwrap();
        labels.iter_mut().for_each(|y| *y = if rng.random_bool(0.2) { -*y } else { *y });
        let mut candidates: Vec<Vec<f64>> = (0..count)
            .map(|i| random_target(dim, seed + 1 + i as u64).unwrap().into_normal())
            .collect();
        // Zero, huge and tiny candidates, and one orthogonal to a point up to rounding.
        candidates.push(vec![0.0; dim]);
        candidates.push(candidates[0].iter().map(|v| v * 1e200).collect());
        candidates.push(candidates[0].iter().map(|v| v * 1e-200).collect());
        let x = points.row(0).unwrap();
        let mut orthogonal = candidates[1].clone();
        x.add_scaled_to(-x.dot(&orthogonal) / x.norm_sq(), &mut orthogonal);
        candidates.push(orthogonal);
        (candidates, points, labels)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn counts_equal_the_plain_loop(seed in 0u64..1000, dim in 1usize..40, n in 1usize..1300) {
            let (candidates, points, labels) = case(seed, dim, 7, n);
            let mut selector = selector(&candidates, u64::MAX, Elimination::Never);
            for (x, y) in points.rows().zip(&labels) {
                selector.observe(x, *y);
            }
            let best = selector.best().unwrap();
            let plain = plain(&candidates, &points, &labels);
            prop_assert_eq!(&selector.errors, &plain);
            let least = *plain.iter().min().unwrap();
            prop_assert_eq!(best, (plain.iter().position(|e| *e == least).unwrap(), least));
        }

        /// Dropping candidates that cannot win never changes the choice; dropping clearly worse ones
        /// hardly.
        #[test]
        fn the_dropped_do_not_win(seed in 0u64..1000, n in 600usize..3000) {
            let (candidates, points, labels) = case(seed, 3, 300, n);
            let choice = |elimination| {
                let mut selector = selector(&candidates, n as u64, elimination);
                for (x, y) in points.rows().zip(&labels) {
                    selector.observe(x, *y);
                }
                (selector.best().unwrap(), selector.alive())
            };
            let (all, alive) = choice(Elimination::Never);
            prop_assert_eq!(alive, candidates.len());
            let (left, alive) = choice(Elimination::Lossless);
            prop_assert_eq!(all, left);
            prop_assert!(alive < candidates.len());
            let (clear, fewer) = choice(Elimination::Statistical);
            prop_assert!(fewer <= alive);
            prop_assert!(clear.1 as f64 <= all.1 as f64 + 0.05 * n as f64);
        }

        /// On how many examples two candidates are apart is counted as a plain loop counts it while there
        /// is room to keep errors, and never fewer after that; dropping others changes nothing.
        #[test]
        fn disagreements_are_the_plain_ones(seed in 0u64..1000, dim in 1usize..20, n in 1usize..4000) {
            let (candidates, points, labels) = case(seed, dim, 12, n);
            let mut selector = selector(&candidates, 1 << 20, Elimination::Statistical);
            for (x, y) in points.rows().zip(&labels) {
                selector.observe(x, *y);
            }
            selector.count_block();
            let wrong = |c: usize| -> Vec<bool> {
                let w = &candidates[c];
                let wrong = |(x, y): (DenseRow<'_>, &Label)| Label::from_sign(x.dot(w)) != *y;
                points.rows().zip(&labels).map(wrong).collect()
            };
            let alive = selector.alive.clone();
            let leader = alive.len() / 2;
            let of_leader = wrong(alive[leader]);
            let kept: u64 = selector.marks.iter().map(|marks| marks.examples).sum();
            prop_assert!(kept >= 2048.min(n as u64) && kept <= n as u64);
            for (c, n) in alive.iter().zip(selector.disagreements(leader)) {
                let plain = wrong(*c).iter().zip(&of_leader).filter(|(a, b)| a != b).count() as u64;
                let exact = kept == points.len() as u64;
                prop_assert!(n == plain || (n > plain && !exact));
            }
        }

        /// Who rests, wakes, is dropped and is chosen is as the rules say, also where the count is interrupted,
        /// saved and gone on with.
        #[test]
        fn resting_is_by_the_rules(seed in 0u64..10_000, n in 1500u64..4000, dim in 2usize..6) {
            let (candidates, points, labels) = case(seed, dim, 60, n as usize);
            let Some((choice, _)) = plain_enough(&candidates, &points, &labels) else {
                return Ok(()); // longer than errors are kept
            };
            let mut selector = selector(&candidates, n, Elimination::EarlyStop);
            for (i, (x, y)) in points.rows().zip(&labels).enumerate() {
                selector.observe(x, *y);
                if (i as u64).is_multiple_of(197) {
                    selector = saved(selector);
                }
            }
            let (index, errors) = selector.best().unwrap();
            let examples = selector.seen();
            let found = Choice { index, errors, examples, remaining: selector.alive() };
            prop_assert_eq!(found, choice);
        }

        /// A count that ends early ends with a candidate about as good as the best.
        #[test]
        fn enough_is_good_enough(seed in 0u64..1000) {
            let n = 6000;
            let (candidates, points, labels) = case(seed, 3, 300, n);
            let mut selector = selector(&candidates, n as u64, Elimination::EarlyStop);
            for (x, y) in points.rows().zip(&labels) {
                selector.observe(x, *y);
            }
            let (chosen, errors) = selector.best().unwrap();
            prop_assert!(selector.seen() < n as u64 && selector.is_over());
            let plain = plain(&candidates, &points, &labels);
            let seen = selector.seen() as usize;
            let front = points.select(&(0..seen).collect::<Vec<_>>()).unwrap();
            let count = super::tests::plain(&candidates[chosen..=chosen], &front, &labels[..seen]);
            prop_assert_eq!(errors, count[0]);
            let accuracy = schedule::choice_accuracy(candidates.len() as u64, n as u64, 0.05);
            let least = *plain.iter().min().unwrap() as f64;
            prop_assert!((plain[chosen] as f64) < least + accuracy * n as f64);
        }
    }

    #[test]
    fn some_who_rest_are_woken() {
        let woken = (0..20).filter_map(|seed| {
            let (candidates, points, labels) = case(seed, 4, 60, 3000);
            plain_enough(&candidates, &points, &labels).map(|(_, woken)| woken)
        });
        assert!(woken.sum::<u64>() > 100);
    }

    #[cfg(feature = "serde")]
    fn saved(selector: Selector<'static>) -> Selector<'static> {
        let text = serde_json::to_string(&selector).unwrap();
        let read: Selector<'static> = serde_json::from_str(&text).unwrap();
        read.check_saved(selector.dim).unwrap();
        read
    }

    #[cfg(not(feature = "serde"))]
    fn saved(selector: Selector<'static>) -> Selector<'static> {
        selector
    }

    /// Where there is no room for the examples all who rest wake, with marks as the others have.
    #[test]
    fn nobody_rests_without_the_past() {
        let dim = 1700; // room for 616 examples: the first layer of marks, and no block more
        let wide = |row: &[f64]| [row, &vec![0.0; dim - row.len()]].concat();
        let mut woken = 0;
        for seed in 0..6 {
            let (narrow, points, labels) = case(seed, 4, 60, 800);
            let candidates: Vec<Vec<f64>> = narrow.iter().map(|w| wide(w)).collect();
            let mut selector = selector(&candidates, 8000, Elimination::EarlyStop);
            for (i, (x, y)) in points.rows().zip(&labels).enumerate() {
                if i == 767 {
                    woken += usize::from(!selector.resting.is_empty() && !selector.is_over());
                }
                selector.observe(DenseRow::new(&wide(x.as_slice())).unwrap(), *y);
                let full = |marks: &Marks| marks.of.len() == selector.alive.len();
                assert!(selector.marks.iter().all(full));
            }
            selector.count_block();
            assert!(selector.seen() < 768 || selector.resting.is_empty());
            let seen = selector.seen() as usize;
            let front = points.select(&(0..seen).collect::<Vec<_>>()).unwrap();
            let counts = plain(&narrow, &front, &labels[..seen]);
            assert!(selector.alive.iter().all(|c| selector.errors[*c] == counts[*c]));
        }
        assert!(woken > 0);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_rest_that_cannot_be_is_refused() {
        let (candidates, points, labels) = case(3, 4, 60, 3000);
        let mut selector = selector(&candidates, 3000, Elimination::EarlyStop);
        for (x, y) in points.rows().zip(&labels) {
            selector.observe(x, *y);
            if selector.resting.len() == 2 {
                break;
            }
        }
        assert!(!selector.is_over() && selector.check_saved(4).is_ok());
        type Tamper = fn(&mut Selector<'static>);
        let tampers: [Tamper; 13] = [
            |s| s.past.sizes.extend([usize::MAX, usize::MAX]),
            |s| s.leader = None,
            |s| s.leader = Some(s.resting[0].ids[0]),
            |s| s.resting[0].blocks = s.past.len() + 1,
            |s| s.resting[1].blocks = 0,
            |s| s.resting[0].ids[0] = s.alive[0],
            |s| s.resting[0].ids[0] = 1000,
            |s| s.resting[0].marks.clear(),
            |s| s.resting[0].marks[0][0] = [u32::MAX; LANES],
            |s| s.resting[1].ids.clear(),
            |s| s.past.folded[0] = f64::NAN,
            |s| s.past.labels.clear(),
            |s| s.past.sizes[0] += 1,
        ];
        for (i, tamper) in tampers.into_iter().enumerate() {
            let mut tampered = selector.clone();
            tamper(&mut tampered);
            assert!(tampered.check_saved(4).is_err(), "{i}");
        }
    }

    /// The rules of docs/theory/thinned-selection.md for a count that ends, all errors known beforehand; with how
    /// many were woken. `None` if it takes longer than errors are kept.
    fn plain_enough(
        candidates: &[Vec<f64>],
        points: &Points,
        labels: &[Label],
    ) -> Option<(Choice, u64)> {
        let (k, planned) = (candidates.len() as u64, labels.len() as u64);
        let failure = 0.05;
        let wrong_of = |w: &Vec<f64>| -> Vec<bool> {
            points.rows().zip(labels).map(|(x, y)| Label::from_sign(x.dot(w)) != *y).collect()
        };
        let wrong: Vec<Vec<bool>> = candidates.iter().map(wrong_of).collect();
        let count = |wrong: &mut dyn Iterator<Item = bool>| wrong.filter(|w| *w).count() as u64;
        let errors = |c: usize, m: u64| count(&mut wrong[c].iter().copied().take(m as usize));
        let apart = |a: usize, b: usize, m: u64| {
            count(&mut wrong[a].iter().zip(&wrong[b]).map(|(a, b)| a != b).take(m as usize))
        };
        let ahead = |c, of, m| errors(c, m).cast_signed() - errors(of, m).cast_signed();
        let checks = schedule::elimination_checks(planned);
        let gap = |n| schedule::elimination_gap(n, k, checks, failure / 4.0);
        let accuracy = schedule::choice_accuracy(k, planned, failure);
        let test = schedule::CloseEnough::new(accuracy, k, failure / 4.0);
        let close = |c, of, m| test.is_passed(ahead(c, of, m), apart(c, of, m), m);
        let mut awake: Vec<usize> = (0..candidates.len()).collect();
        let mut resting: Vec<(usize, u64)> = Vec::new();
        let (mut leader, mut ends, mut woken) = (None, vec![0], 0);
        for m in 1..planned {
            let third = m / 3;
            let power = m.is_power_of_two() || (3 * third == m && third.is_power_of_two());
            let check = power && m as f64 > 2.0 * gap(m);
            if check || m - ends.last().unwrap() == BLOCK as u64 {
                ends.push(m);
            }
            if m > 2048 {
                return None;
            }
            if !check {
                continue;
            }
            let of = loop {
                let best = awake.iter().copied().min_by_key(|c| (errors(*c, m), *c)).unwrap();
                let near = |of: &usize| ahead(*of, best, m) as f64 <= accuracy * m as f64 / 8.0;
                if let Some(of) = leader.filter(near) {
                    break of;
                }
                leader = Some(best);
                for (c, then) in std::mem::take(&mut resting) {
                    let since = ends.iter().copied().filter(|end| *end >= then);
                    match since.into_iter().find(|end| close(c, best, *end)) {
                        Some(end) => resting.push((c, end)),
                        None => awake.push(c),
                    }
                    woken += u64::from(!close(c, best, then));
                }
            };
            awake.retain(|c| ahead(*c, of, m) as f64 <= gap(1) * (apart(*c, of, m) as f64).sqrt());
            let (rest, stay) = awake.iter().partition(|c| **c != of && close(**c, of, m));
            awake = stay;
            resting.extend(Vec::into_iter(rest).map(|c: usize| (c, m)));
            if awake.len() == 1 {
                let remaining = 1 + resting.len();
                return Some((
                    Choice { index: of, errors: errors(of, m), examples: m, remaining },
                    woken,
                ));
            }
        }
        awake.extend(resting.iter().map(|(c, _)| c));
        let index = awake.iter().copied().min_by_key(|c| (errors(*c, planned), *c)).unwrap();
        let errors = errors(index, planned);
        Some((Choice { index, errors, examples: planned, remaining: awake.len() }, woken))
    }

    #[test]
    fn bad_input_is_typed() {
        let (candidates, points, labels) = case(1, 3, 2, 10);
        let normals = Points::from_rows(&candidates).unwrap();
        let none = Points::new(vec![], 3).unwrap();
        assert_eq!(Candidates::new(&none, Elimination::Never, 0.1), Err(InputError::Empty));
        assert!(Candidates::new(&normals, Elimination::Never, 0.0).is_err());
        let candidates = Candidates::new(&normals, Elimination::Statistical, 0.1).unwrap();
        assert!(candidates.choose(&points, &labels).is_ok());
        assert!(candidates.choose(&points, &labels[1..]).is_err());
        assert_eq!(candidates.choose(&none, &[]), Err(InputError::Empty));
        let far = Points::from_rows(&[[1.0, 1.0, 0.0]]).unwrap();
        assert!(candidates.choose(&far, &labels[..1]).is_err());
        let wide = Points::from_rows(&[[0.1, 0.1]]).unwrap();
        assert!(candidates.choose(&wide, &labels[..1]).is_err());
    }

    #[test]
    fn wide_rows_count_alike() {
        let dim = WIDE + 1;
        let mut x = vec![0.0; dim];
        x[7] = 0.5;
        let mut w = vec![0.0; dim];
        w[7] = -1.0;
        let candidates = [w, vec![0.0; dim]];
        let mut selector = selector(&candidates, 9, Elimination::Lossless);
        for y in [Label::Positive, Label::Negative, Label::Positive] {
            selector.observe(DenseRow::new(&x).unwrap(), y);
        }
        assert_eq!(selector.errors, [2, 1]);
        assert_eq!(selector.best(), Some((1, 1)));
    }

    /// The stated error of single precision covers what is measured, and is not idle.
    #[test]
    fn single_precision_errs_within_its_bound() {
        let mut worst: f64 = 0.0;
        for seed in 0..200 {
            let w = random_target(50, seed).unwrap().into_normal();
            let z = random_target(50, seed + 500).unwrap().into_normal();
            let single: f32 = w.iter().zip(&z).map(|(a, b)| *a as f32 * *b as f32).sum();
            let error = (f64::from(single) - kernels::dot(&w, &z)).abs();
            worst = worst.max(error / f64::from(single_precision_error(50)));
        }
        assert!(worst < 1.0 && worst > 0.005, "{worst}");
    }
}
