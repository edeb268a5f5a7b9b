//! The halving algorithm.

use super::finite::FiniteClass;
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{Classifier, InputError, Label, RowView, getters};

/// The halving algorithm keeps the hypotheses that agree with every label seen, and predicts by majority vote. It
/// predicts +1 if the vote is tied.
///
/// *Guarantee.* If some hypothesis of the class C explains all labels, the learner makes at most lg |C| mistakes for
/// every order of the points ([`crate::bounds::halving_mistakes`]): each mistake removes at least half of the
/// hypotheses. If no hypothesis explains the labels, [`Halving::is_exhausted`] returns `true` and the learner predicts
/// +1.
///
/// *Cost.* The learner needs one bit of memory per hypothesis. Each round evaluates every block of 64 that contains a
/// consistent hypothesis.
///
/// *When to use it.* For classes of up to about 10⁹ hypotheses, if no other learner has a better bound. For halfspaces
/// in more than a few dimensions, use a [`crate::VersionSpace`] learner, which measures volume instead of counting
/// hypotheses.
///
/// *Source.* Kakade Algorithm 1 and Theorem 2.2. Claims: K1, K2, K9.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Halfspace, Label};
/// use halfspaces_online::{Halving, HalfspaceClass, OnlineLearner};
/// let directions = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
/// let class = directions.map(|w| Halfspace::new(w.to_vec())).into_iter().collect::<Result<_, _>>()?;
/// let mut learner = Halving::new(HalfspaceClass::new(class)?)?;
/// let x = DenseRow::new(&[2.0, 1.0])?;
/// learner.observe(x, Label::Negative)?; // leaves (-1, 0) and (0, -1)
/// assert_eq!(learner.consistent(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Halving<C> {
    class: C,
    /// The blocks that contain a consistent hypothesis. Each block has one bit per hypothesis, set if the hypothesis is
    /// consistent.
    alive: Vec<(usize, u64)>,
    consistent: u64,
    updates: u64,
}

impl<C: FiniteClass> Halving<C> {
    /// A learner that has seen no label, so that all hypotheses are consistent.
    ///
    /// # Errors
    /// [`InputError::Empty`] for an empty class, [`InputError::ZeroDimension`].
    pub fn new(class: C) -> Result<Self, InputError> {
        let size = class.len();
        if size == 0 {
            return Err(InputError::Empty);
        }
        if class.dim() == 0 {
            return Err(InputError::ZeroDimension);
        }
        let bits = |block: usize| match size - 64 * block {
            left @ 0..64 => (1 << left) - 1,
            _ => u64::MAX,
        };
        let alive = (0..size.div_ceil(64)).map(|block| (block, bits(block))).collect();
        Ok(Halving { class, alive, consistent: size as u64, updates: 0 })
    }

    getters! {
        /// The class.
        class: &C,

        /// Number of hypotheses that agree with every label seen.
        consistent: u64,
    }

    /// Whether no hypothesis explains the labels seen. If so, the mistake bound does not hold.
    pub fn is_exhausted(&self) -> bool {
        self.consistent == 0
    }

    /// The indices of the consistent hypotheses.
    pub fn survivors(&self) -> impl Iterator<Item = usize> {
        self.alive.iter().flat_map(|&(block, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * block + bit)
        })
    }

    fn prepared<R: RowView>(&self, x: R) -> Result<C::Prepared, InputError> {
        InputError::check_dim(self.class.dim(), x.dim())?;
        self.class.prepare(x)
    }
}

/// The decision value is (votes for +1 minus votes for -1) / votes, in [-1, 1]; it is 0 if there are no votes.
impl<C: FiniteClass> Classifier for Halving<C> {
    fn dim(&self) -> usize {
        self.class.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let x = self.prepared(x)?;
        let votes = |&(block, bits): &(usize, u64)| {
            u64::from((self.class.positive(block, bits, &x) & bits).count_ones())
        };
        let positive: u64 = self.alive.iter().map(votes).sum();
        let total = self.consistent.max(1) as f64;
        Ok((2.0 * positive as f64 - self.consistent as f64) / total)
    }
}

impl<C: FiniteClass> OnlineLearner for Halving<C> {
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        // A unanimous correct vote removes no hypothesis.
        if prediction.value.abs() >= 1.0 && prediction.label == truth {
            return Ok(false);
        }
        let x = self.prepared(x)?;
        let class = &self.class;
        let before = self.consistent;
        self.consistent = 0;
        self.alive.retain_mut(|(block, bits)| {
            let positive = class.positive(*block, *bits, &x);
            *bits &= if truth == Label::Positive { positive } else { !positive };
            self.consistent += u64::from(bits.count_ones());
            *bits != 0
        });
        let changed = self.consistent != before;
        self.updates += u64::from(changed);
        Ok(changed)
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BooleanClass, GridClass, HalfspaceClass, OnlineError};
    use crate::{RandomOrder, SmallestMarginMistake, bounds, run};
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{BooleanConcept, BooleanPoint, Halfspace, PointSet, Points};

    fn cube(n: usize) -> Points {
        let bit = |mask: u64, i: usize| (mask >> i & 1) as f64;
        let rows: Vec<Vec<f64>> =
            (0..1u64 << n).map(|mask| (0..n).map(|i| bit(mask, i)).collect()).collect();
        Points::from_rows(&rows).unwrap()
    }

    fn labels(concept: &impl BooleanConcept, points: &Points) -> Vec<Label> {
        points.rows().map(|x| concept.label(BooleanPoint::from_row(x).unwrap())).collect()
    }

    #[test]
    fn classes_have_their_sizes_and_no_member_twice() {
        let conjunctions = BooleanClass::conjunctions(4).unwrap();
        assert_eq!(conjunctions.len(), 82);
        let disjunctions = BooleanClass::disjunctions(4).unwrap();
        let points = cube(4);
        let behaviours = |class: &[Vec<Label>]| {
            class.iter().cloned().collect::<std::collections::HashSet<_>>().len()
        };
        let all: Vec<_> = conjunctions.concepts().iter().map(|c| labels(c, &points)).collect();
        assert_eq!(behaviours(&all), 82);
        let all: Vec<_> = disjunctions.concepts().iter().map(|c| labels(c, &points)).collect();
        assert_eq!(behaviours(&all), 82);
        // There are 2 (1 + 4·2 + 4·2·4·1) = 82 lists over two variables.
        assert_eq!(BooleanClass::decision_lists(2, 5).unwrap().len(), 82);
        assert!(matches!(
            BooleanClass::conjunctions(40),
            Err(OnlineError::ClassTooLarge { size }) if size > 1e19
        ));
        assert!(BooleanClass::decision_lists(20, 20).is_err());
    }

    #[test]
    fn no_conjunction_costs_more_than_the_logarithm() {
        let class = BooleanClass::conjunctions(4).unwrap();
        let points = cube(4);
        let bound = bounds::halving_mistakes(class.len() as f64);
        let mut most = 0;
        for target in class.concepts() {
            let labels = labels(target, &points);
            for seed in 0..3 {
                let learner = Halving::new(class.clone()).unwrap();
                let order = RandomOrder::new(seed);
                let (learner, transcript) = run(learner, &points, &labels, order).unwrap();
                assert!(transcript.mistakes() as f64 <= bound);
                // After the labels of the whole cube, only the target is left.
                assert_eq!(learner.consistent(), 1);
                most = most.max(transcript.mistakes());
            }
        }
        assert!(most >= 3);
    }

    #[test]
    fn worked_by_hand() {
        // Three halfspaces on the line with the signs +, + and -. At x = 1 the vote is 2 : 1.
        let class =
            HalfspaceClass::new([1.0, 2.0, -1.0].map(|w| Halfspace::new(vec![w]).unwrap()).into());
        let mut learner = Halving::new(class.unwrap()).unwrap();
        let one = Points::from_rows(&[[1.0]]).unwrap();
        let x = one.row(0).unwrap();
        let prediction = learner.observe(x, Label::Negative).unwrap();
        assert_eq!(prediction.value, 1.0 / 3.0);
        assert_eq!(learner.survivors().collect::<Vec<_>>(), [2]);
        // A label that no hypothesis explains exhausts the class; from then on the learner predicts +1.
        learner.observe(x, Label::Positive).unwrap();
        assert!(learner.is_exhausted());
        assert_eq!(learner.label(x).unwrap(), Label::Positive);
    }

    #[test]
    fn blocks_of_any_size_are_whole() {
        for size in [1, 63, 64, 65, 130] {
            let class = (0..size).map(|_| Halfspace::new(vec![1.0]).unwrap()).collect();
            let learner = Halving::new(HalfspaceClass::new(class).unwrap()).unwrap();
            assert_eq!(learner.survivors().count(), size);
        }
    }

    #[test]
    fn the_grid_separates_what_a_halfspace_separates() {
        for seed in 0..8 {
            let target = random_target(2, seed).unwrap();
            let points = MarginBall::new(&target, 0.3).unwrap().sample(200, seed + 50).unwrap();
            let labels = target.label_all(&points).unwrap();
            let class = GridClass::new(2, 0.3).unwrap();
            let bound = bounds::grid_halving_mistakes(2, 1.0, 1.0, 0.3);
            assert!((2f64.powf(bound) - class.len() as f64).abs() < 1e-6 * class.len() as f64);
            let adversary = SmallestMarginMistake::new(labels.clone());
            let (learner, transcript) =
                run(Halving::new(class).unwrap(), &points, &labels, adversary).unwrap();
            assert!(!learner.is_exhausted());
            assert!(transcript.mistakes() as f64 <= bound);
            // The survivors are exactly the members consistent with all labels.
            for index in 0..learner.class().len() {
                let h = Halfspace::new(learner.class().multiples(index)).unwrap();
                let consistent = h.label_all(&points).unwrap() == labels;
                assert_eq!(consistent, learner.survivors().any(|i| i == index));
            }
        }
    }

    #[test]
    fn a_class_too_large_is_refused_by_its_size() {
        // For γ = 0.1, the class has fewer than 2^30 members in d = 4, namely 161^4 = 6.7e8, but not in d = 5.
        assert!(GridClass::new(4, 0.1).is_ok());
        let error = GridClass::new(5, 0.1).unwrap_err();
        assert!(
            matches!(error, OnlineError::ClassTooLarge { size } if (3e11..4e11).contains(&size))
        );
        assert!(error.to_string().contains("3.281e11"), "{error}");
        assert!(GridClass::new(0, 0.1).is_err());
        assert!(GridClass::new(2, 0.0).is_err());
        assert!(GridClass::new(2, f64::NAN).is_err());
    }

    #[test]
    fn points_off_the_cube_are_refused_and_change_nothing() {
        let class = BooleanClass::conjunctions(2).unwrap();
        let mut learner = Halving::new(class).unwrap();
        let half = Points::from_rows(&[[0.5, 1.0]]).unwrap();
        let error = learner.observe(half.row(0).unwrap(), Label::Positive).unwrap_err();
        assert_eq!(error, InputError::NotBoolean { column: 0, value: 0.5 });
        assert_eq!(learner.consistent(), 10);
    }
}
