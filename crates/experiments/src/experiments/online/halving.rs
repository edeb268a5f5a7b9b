//! K1 and K2: the mistakes of halving, compared with lg |C|, for boolean classes, finite sets of halfspaces and the
//! grid. The points come in random order, or from an adversary that splits the class evenly, or from an adversary that
//! also chooses the labels.

use crate::experiments::common::*;
use halfspaces_data::{MarginBall, Marginal, random_target_with_rng};
use halfspaces_linalg::{
    BooleanConcept, BooleanPoint, Classifier, Halfspace, Label, PointSet, Points,
};
use halfspaces_online::{
    BooleanClass, FiniteClass, GridClass, HalfspaceClass, Halving, OnlineLearner, RandomOrder,
    SmallestMarginMistake, bounds, run,
};

pub(crate) struct HalvingExperiment;

/// The class and the distribution of the points.
#[derive(Debug, Clone, PartialEq, Serialize, Display)]
#[serde(tag = "class", rename_all = "lowercase")]
enum Class {
    /// All conjunctions over n variables; the points are the whole cube.
    #[strum(to_string = "conjunctions n={variables}")]
    Conjunctions { variables: usize },
    /// All disjunctions over n variables; the points are the whole cube.
    #[strum(to_string = "disjunctions n={variables}")]
    Disjunctions { variables: usize },
    /// All decision lists of at most `rules` rules; the points are the whole cube.
    #[strum(to_string = "decision lists n={variables} r<={rules}")]
    Lists { variables: usize, rules: usize },
    /// Random halfspaces, one of which is the target; the points lie in the ball.
    #[strum(to_string = "{size} halfspaces d={dim}")]
    Halfspaces { dim: usize, size: usize },
    /// The grid for a margin; the points lie in the ball and have that margin.
    #[strum(to_string = "grid d={dim} γ={margin}")]
    Grid { dim: usize, margin: f64 },
}

impl Class {
    fn is_grid(&self) -> bool {
        matches!(self, Class::Grid { .. })
    }
}

/// How points and labels are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
enum Nature {
    /// The points come in random order, with the labels of a target.
    #[strum(to_string = "random order")]
    Random,
    /// The next point is the misclassified point that splits the class most evenly, with the label of a target.
    #[strum(to_string = "even splits")]
    Split,
    /// The next point is the one that splits the class most evenly. Its label is the opposite of the prediction,
    /// provided that some hypothesis remains. At the end, any surviving hypothesis counts as the target.
    #[strum(to_string = "even splits, contrary labels")]
    Contrary,
}

const NATURES: [(Nature, Colour); 3] = [
    (Nature::Random, Colour::Green),
    (Nature::Split, Colour::Vermilion),
    (Nature::Contrary, Colour::Purple),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    #[serde(flatten)]
    class: Class,
    nature: Nature,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    size: usize,
    bound: f64,
    mistakes: usize,
    /// Number of hypotheses that remain at the end; the target is one of them.
    left: u64,
}

impl Outcome {
    /// A ratio that is above 1 if there are too many mistakes or the target was eliminated.
    fn ratio(&self) -> f64 {
        if self.left == 0 { f64::INFINITY } else { self.mistakes as f64 / self.bound }
    }
}

/// All points of {0,1}^n.
fn cube(n: usize) -> Result<Points, Failure> {
    let bits = (0..1u64 << n).flat_map(|mask| (0..n).map(move |i| (mask >> i & 1) as f64));
    Ok(Points::new(bits.collect(), n)?)
}

fn play<C: FiniteClass>(
    class: C,
    bound: f64,
    points: &Points,
    labels: &[Label],
    nature: Nature,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let size = class.len();
    let mut learner = Halving::new(class)?;
    let mistakes = match nature {
        Nature::Contrary => contrary(&mut learner, points)?,
        Nature::Random | Nature::Split => {
            let (played, transcript) = if nature == Nature::Random {
                run(learner, points, labels, RandomOrder::with_rng(rng))?
            } else {
                run(learner, points, labels, SmallestMarginMistake::new(labels.to_vec()))?
            };
            learner = played;
            transcript.mistakes()
        }
    };
    Ok(Outcome { size, bound, mistakes, left: learner.consistent() })
}

/// Repeatedly presents a point with the label opposite to the prediction, until the hypotheses agree on all points. The
/// point is the one with the most even split among those on which hypotheses still disagree. Returns the number of
/// mistakes.
fn contrary<C: FiniteClass>(learner: &mut Halving<C>, points: &Points) -> Result<usize, Failure> {
    let mut mistakes = 0;
    loop {
        let mut evenest: Option<(f64, usize)> = None;
        for (index, x) in points.rows().enumerate() {
            let size = learner.guess(x)?.value.abs();
            if size < 1.0 && evenest.is_none_or(|(least, _)| size < least) {
                evenest = Some((size, index));
            }
        }
        let Some(x) = evenest.and_then(|(_, index)| points.row(index)) else {
            return Ok(mistakes);
        };
        let prediction = learner.guess(x)?;
        learner.update(x, prediction, -prediction.label)?;
        mistakes += 1;
    }
}

fn play_boolean<B: BooleanConcept>(
    class: BooleanClass<B>,
    nature: Nature,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let points = cube(class.dim())?;
    let target = rng.random_range(0..class.len());
    let target = class.concepts().get(target).ok_or("an empty class")?;
    let label = |x| Ok::<_, Failure>(target.label(BooleanPoint::from_row(x)?));
    let labels = points.rows().map(label).collect::<Result<Vec<_>, _>>()?;
    let bound = bounds::halving_mistakes(class.len() as f64);
    play(class, bound, &points, &labels, nature, rng)
}

impl Experiment for HalvingExperiment {
    about! {
        "K1", "Halving: mistakes against the logarithm of the class size";
        "K1": "Halving over a finite class C that contains the target makes at most lg |C| mistakes and never eliminates the target: in random order, against an adversary that picks the misclassified point splitting C most evenly, and against one that contradicts every prediction."
            ["Kakade Theorem 2.2"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{Halving, BooleanClass, HalfspaceClass, SmallestMarginMistake, bounds::halving_mistakes};
        "K2": "Halving over the grid class for margin γ makes at most d lg(2⌈2R‖w*‖d/γ⌉ + 1) mistakes on points of norm at most R that w* separates with margin γ, and some hypothesis remains, in the settings of K1; in the last, any grid hypothesis may be the target (R = ‖w*‖ = 1, d = 2 and 3)."
            ["Kakade Corollary 3.1, corrected"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{Halving, GridClass, SmallestMarginMistake, bounds::grid_halving_mistakes};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut classes = Vec::new();
        for variables in scale.pick(vec![4, 6], vec![4, 6, 8], vec![4, 6, 8, 10]) {
            classes.push(Class::Conjunctions { variables });
            classes.push(Class::Disjunctions { variables });
        }
        classes.push(Class::Lists { variables: 4, rules: 3 });
        for size in scale.pick(vec![100], vec![100, 10_000], vec![100, 10_000, 100_000]) {
            classes.push(Class::Halfspaces { dim: 5, size });
        }
        for margin in scale.pick(vec![0.4, 0.2], vec![0.4, 0.2, 0.1], vec![0.4, 0.2, 0.1, 0.05]) {
            classes.push(Class::Grid { dim: 2, margin });
        }
        for margin in scale.pick(vec![0.5], vec![0.5, 0.3], vec![0.5, 0.3, 0.15]) {
            classes.push(Class::Grid { dim: 3, margin });
        }
        let trials = scale.pick(3, 12, 50);
        let all = classes.into_iter().flat_map(|class| {
            NATURES.map(|(nature, _)| {
                let configuration = Configuration { class: class.clone(), nature };
                Planned { configuration, trials }
            })
        });
        Ok(all.collect())
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let nature = setting.nature;
        match setting.class {
            Class::Conjunctions { variables } => {
                play_boolean(BooleanClass::conjunctions(variables)?, nature, rng)
            }
            Class::Disjunctions { variables } => {
                play_boolean(BooleanClass::disjunctions(variables)?, nature, rng)
            }
            Class::Lists { variables, rules } => {
                play_boolean(BooleanClass::decision_lists(variables, rules)?, nature, rng)
            }
            Class::Halfspaces { dim, size } => {
                let hypotheses: Vec<Halfspace> = (0..size)
                    .map(|_| random_target_with_rng(dim, rng))
                    .collect::<Result<_, _>>()?;
                let target = hypotheses.first().ok_or("an empty class")?.clone();
                let points = MarginBall::new(&target, 0.0)?.sample_with_rng(300, rng)?;
                let labels = target.label_all(&points)?;
                let bound = bounds::halving_mistakes(size as f64);
                play(HalfspaceClass::new(hypotheses)?, bound, &points, &labels, nature, rng)
            }
            Class::Grid { dim, margin } => {
                let target = random_target_with_rng(dim, rng)?;
                let points = MarginBall::new(&target, margin)?.sample_with_rng(200, rng)?;
                let labels = target.label_all(&points)?;
                let class = GridClass::new(dim, margin)?;
                let bound = bounds::grid_halving_mistakes(dim, 1.0, 1.0, margin);
                play(class, bound, &points, &labels, nature, rng)
            }
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let evidence = [false, true].map(|grid| {
            let mine = groups_of(results, |c| c.class.is_grid() == grid);
            let ratios: Vec<f64> = mine.iter().flat_map(|g| g.values(Outcome::ratio)).collect();
            Evidence::deterministic("mistakes / bound", Side::AtMost, planned(&mine), &ratios)
                .with_note("a trial that eliminated its target would count as an exception")
        });
        let evidence = evidence.map(|evidence| (evidence, Null::SmallerBound));
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("Boolean classes are tested on the whole cube {0,1}^n, and classes of halfspaces on points of the ball. The target is a random member of the class. For the grid, it is a random halfspace, which the grid need not contain. The last opponent chooses the labels during the game: always the opposite of the prediction, as long as some hypothesis agrees with all labels. No opponent is worse for halving.".into());
        section.figures.push(mistakes_against_bound(results));
        section.tables.push(by_configuration(results));
    }
}

fn mistakes_against_bound(results: &Results<Configuration, Outcome>) -> Figure {
    let series = NATURES.map(|(nature, colour)| {
        (nature.to_string(), colour, move |c: &Configuration| c.nature == nature)
    });
    Figure {
        name: "k1-mistakes-against-bound".into(),
        title: bound_title(results, "Mistakes of halving", |o| Some((o.bound, o.mistakes as f64))),
        caption: "Mistakes of halving against lg |C|. There is one marker per class and opponent; it shows the trial closest to its bound. A marker above the dashed line would refute K1 or K2.".into(),
        x: Axis::linear("lg |C|"),
        y: Axis::linear("mistakes"),
        layers: against_bound(results, "bound lg |C|", series, |o| {
            Some((o.bound, o.mistakes as f64))
        }),
    }
}

fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    let caption = "Medians and worst ratio over trials";
    table(
        "k1-halving",
        caption,
        &results.groups,
        &[
            ("class", &|g| g.configuration.class.to_string()),
            ("opponent", &|g| g.configuration.nature.to_string()),
            ("trials", &|g| g.count()),
            ("|C|", &|g| g.median(0, |o| o.size as f64)),
            ("mistakes", &|g| g.median(1, |o| o.mistakes as f64)),
            ("most", &|g| g.most(0, |o| o.mistakes as f64)),
            ("bound", &|g| g.median(2, |o| o.bound)),
            ("worst ratio", &|g| g.most(4, Outcome::ratio)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_the_bound_is_refuted_and_so_is_a_lost_target() {
        let groups: Vec<_> =
            [Class::Conjunctions { variables: 6 }, Class::Grid { dim: 2, margin: 0.2 }]
                .map(|class| {
                    let configuration = Configuration { class, nature: Nature::Contrary };
                    let mut rng = ChaCha8Rng::seed_from_u64(1);
                    let outcome = HalvingExperiment.trial(&configuration, &mut rng).unwrap();
                    Group { configuration, planned: 1, outcomes: vec![outcome] }
                })
                .into();
        let verdicts = |change: fn(&mut Outcome)| {
            let mut groups = groups.clone();
            groups.iter_mut().flat_map(|g| &mut g.outcomes).for_each(change);
            super::verdicts(&HalvingExperiment, groups)
        };
        assert_eq!(verdicts(|_| ()), [Verdict::Holds; 2]);
        assert_eq!(verdicts(|o| o.bound /= 3.0), [Verdict::Violated; 2]);
        assert_eq!(verdicts(|o| o.left = 0), [Verdict::Violated; 2]);
    }
}
