//! Models, schedules, settings and outcomes.

use crate::experiments::common::*;
use crate::experiments::noise::planar::{Planar, descend, genes};
use halfspaces_data::{
    GlmNoise, Instance, Link, MarginBall, Population, Region, StandardLink, random_target_with_rng,
};
use halfspaces_linalg::{FitStream, Halfspace, Params};
use halfspaces_pac::{Denominator, Elimination, GlmParams, GlmPerspectron, GlmSchedule, Selection};

/// δ, the failure probability of every fit.
pub(super) const FAILURE: f64 = 0.1;

const DIM: usize = 5;

/// Number of points of a random model on which fits are evaluated; the average over their labels is exact.
const JUDGED: usize = 3000;

/// Number of moves of the search for a hard model.
const MOVES: usize = 300;

/// Number of steps of the noiseless run by which the search rates a model.
const FLOW: u64 = 1000;

/// The constants of the schedule, and the iterates that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(super) enum Rule {
    /// The constants of CKST24 as printed; all iterates are compared.
    #[strum(to_string = "CKST24 as printed")]
    Paper,
    /// The constants of CKST24 with α = ε/(4-ε) and T = 1024/(ε⁴γ²); all iterates are compared, without early
    /// elimination.
    #[strum(to_string = "CKST24 corrected")]
    Corrected,
    /// D = max(|w·x|, γ/2) and T = 64/(εγ)²; all iterates are compared.
    #[strum(to_string = "ours, all iterates")]
    Ours,
    /// D = max(|w·x|, γ/2), with one run and thinned selection.
    #[strum(to_string = "ours, thinned")]
    Thinned,
}

pub(super) const RULES: [(Rule, Colour); 4] = [
    (Rule::Paper, Colour::Vermilion),
    (Rule::Corrected, Colour::Orange),
    (Rule::Ours, Colour::Blue),
    (Rule::Thinned, Colour::Green),
];

/// The source of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(super) enum Source {
    /// Uniform points in R^5, outside the margin, with a random link and with noise in a random region.
    #[strum(to_string = "random")]
    Random,
    /// Three points in the plane, found by a search for the largest error of the noiseless run with D = max(|w·x|,
    /// γ/2).
    #[strum(to_string = "searched")]
    Searched,
}

/// A denominator with its padding as a multiple of γ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(super) enum Padding {
    /// max(|w·x|, cγ).
    #[strum(to_string = "max(a, {0} γ)")]
    Floor(f64),
    /// |w·x| + cγ.
    #[strum(to_string = "a + {0} γ")]
    Sum(f64),
}

pub(super) const PADDINGS: [(Padding, Colour); 5] = [
    (Padding::Floor(0.5), Colour::Blue),
    (Padding::Sum(0.5), Colour::Purple),
    (Padding::Floor(1.0), Colour::Green),
    (Padding::Sum(1.0), Colour::Orange),
    (Padding::Floor(2.0), Colour::Vermilion),
];

impl Padding {
    pub(super) fn denominator(self, margin: f64) -> Denominator {
        match self {
            Padding::Floor(share) => Denominator::AtLeast(share * margin),
            Padding::Sum(share) => Denominator::Plus(share * margin),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Task {
    /// A complete fit and its excess error.
    Fit { rule: Rule, source: Source },
    /// The iterates of one run on a model found by the search.
    Curve { rule: Rule },
    /// Runs of increasing length on the points of `Planar::trap`.
    Trap { padding: Padding, longest: u64 },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(super) task: Task,
    /// ε.
    pub(super) excess: f64,
    /// γ.
    pub(super) margin: f64,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Configuration { task, excess, margin } = self;
        match task {
            Task::Fit { rule, source } => write!(f, "{rule}, {source}")?,
            Task::Curve { rule } => write!(f, "{rule}, curve")?,
            Task::Trap { padding, .. } => write!(f, "{padding}, trap")?,
        }
        write!(f, ", ε={excess} γ={margin}")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// ℓ01 - (opt_RCN + τ/2) of the learned halfspace.
    pub(super) excess: f64,
    /// Number of examples used.
    pub(super) examples: u64,
    /// (examples, average excess of the iterates so far, or of a run of that length).
    pub(super) curve: Vec<(u64, f64)>,
    /// opt_RCN + τ/2.
    pub(super) level: f64,
    /// For a fit, the excess of the null w = 0, which predicts +1.
    pub(super) zero: Option<f64>,
}

pub(super) fn params<L: Link + Clone>(
    setting: &Configuration,
    rule: Rule,
    link: L,
) -> GlmParams<L> {
    let Configuration { excess, margin, .. } = *setting;
    // Inner products are rounded, so the margin is reduced slightly. All points have at least this margin.
    let params = GlmPerspectron::params(link, margin * (1.0 - 1e-9));
    let params = params.excess(excess).failure(FAILURE);
    match rule {
        Rule::Paper => params.schedule(GlmSchedule::Paper),
        Rule::Corrected => params.schedule(GlmSchedule::Corrected).elimination(Elimination::Never),
        Rule::Ours => params.selection(Selection::AllIterates),
        Rule::Thinned => params,
    }
}

/// The coordinates of a w that was learned from points in the plane.
pub(super) fn in_plane(w: &[f64]) -> [f64; 2] {
    match w {
        [along, across] => [*along, *across],
        _ => unreachable!("a stream of points of the plane gives a w of two coordinates"),
    }
}

type RandomInstance = Instance<MarginBall, GlmNoise<StandardLink>>;

pub(super) enum Model {
    Random(RandomInstance, Population),
    Plane(Planar),
}

impl Model {
    pub(super) fn draw(
        source: Source,
        margin: f64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Model, Failure> {
        match source {
            Source::Random => {
                let link = match rng.random_range(0..4) {
                    0 => StandardLink::logistic(2.0 + 8.0 * rng.random::<f64>())?,
                    1 => StandardLink::staircase(rng.random_range(2..10), 0.9)?,
                    2 => StandardLink::two_rates(0.1, 0.3)?,
                    _ => StandardLink::skewed_logistic(5.0, 0.2)?,
                };
                let other = random_target_with_rng(DIM, rng)?;
                let region = match rng.random_range(0..4) {
                    0 => Region::Everywhere,
                    1 => Region::Far((1.0 + margin) / 2.0),
                    2 => Region::Side(other),
                    _ => Region::Disagreement(other),
                };
                Model::random(link, region, DIM, margin, rng)
            }
            Source::Searched => {
                let denominator = Denominator::AtLeast(margin / 2.0);
                let (_, best) = descend(genes(3), MOVES, rng, |numbers| {
                    -Planar::decode(margin, numbers).mean_run(denominator, FLOW)
                });
                Ok(Model::Plane(Planar::decode(margin, &best)))
            }
        }
    }

    pub(super) fn random(
        link: StandardLink,
        region: Region,
        dim: usize,
        margin: f64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Model, Failure> {
        let target = random_target_with_rng(dim, rng)?;
        let noise = GlmNoise::new(link)?.within(region)?;
        let instance = Instance::new(MarginBall::new(&target, margin)?, target, noise)?;
        let population = instance.population(JUDGED, rng.random())?;
        Ok(Model::Random(instance, population))
    }

    /// opt_RCN + τ/2.
    pub(super) fn level(&self) -> f64 {
        match self {
            Model::Random(instance, population) => {
                let link = instance.noise().link();
                population.opt_rcn(link).mean() + link.asymmetry() / 2.0
            }
            Model::Plane(planar) => planar.level(),
        }
    }

    /// ℓ01(w) - (opt_RCN + τ/2), averaged exactly over the labels.
    pub(super) fn excess(&self, w: &[f64]) -> Result<f64, Failure> {
        match self {
            Model::Random(_, population) => {
                Ok(population.error(&Halfspace::new(w.to_vec())?)?.mean() - self.level())
            }
            Model::Plane(planar) => Ok(planar.excess(in_plane(w))),
        }
    }

    /// The excess of w = 0.
    pub(super) fn zero(&self) -> Result<f64, Failure> {
        let dim = if matches!(self, Model::Random(..)) { DIM } else { 2 };
        self.excess(&vec![0.0; dim])
    }

    /// Fits a learner to examples of the model. Returns w and the number of examples used.
    pub(super) fn fit(
        &self,
        setting: &Configuration,
        rule: Rule,
        rng: &mut ChaCha8Rng,
    ) -> Result<(Vec<f64>, u64), Failure> {
        let seed = rng.random();
        let fit = match self {
            Model::Random(instance, _) => {
                let learner = params(setting, rule, *instance.noise().link()).seed(seed).check()?;
                learner.fit_stream(&mut instance.stream_with_rng(rng))?
            }
            Model::Plane(planar) => {
                let learner = params(setting, rule, planar.link).seed(seed).check()?;
                learner.fit_stream(&mut planar.stream(rng))?
            }
        };
        Ok((fit.halfspace().normal().to_vec(), fit.training() + fit.validation()))
    }
}
