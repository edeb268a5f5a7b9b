//! P9, P9h: the expected number of mistakes of the online Massart learner, compared with ηT + (1-η)√T/γ. Points and
//! flip probabilities are chosen at random or by an adversary that sees the learner.

use crate::experiments::common::*;
use halfspaces_data::{MarginBall, Marginal, random_target_with_rng};
use halfspaces_linalg::{Classifier, Label, PointSet, Points};
use halfspaces_online::{Horizon, MassartSetting, OnlineLearner, OnlineMassart, bounds};

pub(crate) struct MassartExperiment;

/// Number of points from which nature chooses.
pub(super) const CANDIDATES: usize = 120;
pub(super) const DIM: usize = 10;
/// Smallest number of rounds at which the bound is judged. Over fewer rounds, even a constant answer satisfies the
/// bound.
const LEAST_ROUNDS: u64 = 30_000;
/// The noise rate of the figure.
const SHOWN_NOISE: f64 = 0.3;

/// The rule that chooses the point and its flip probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum Nature {
    /// A random candidate, whose label is flipped with probability η.
    Random,
    /// The misclassified candidate with the smallest |w·x| or, if none is misclassified, the candidate closest to the
    /// boundary. Its label is flipped with probability η if the learner is right, and never if it is wrong.
    Adaptive,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    noise: f64,
    margin: f64,
    rounds: u64,
    doubling: bool,
    /// Whether the step size decreases from round to round.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    anytime: bool,
    nature: Nature,
}

/// δ of the bound that holds with high probability.
const FAILURE: f64 = 0.05;

/// The pairs (`doubling`, `anytime`) that are run.
const HORIZONS: [(bool, bool); 3] = [(false, false), (true, false), (false, true)];

impl Configuration {
    fn horizon(&self) -> &'static str {
        match (self.doubling, self.anytime) {
            (true, _) => "doubling",
            (_, true) => "falling steps",
            _ => "known",
        }
    }

    fn learner(&self) -> Horizon {
        match (self.doubling, self.anytime) {
            (true, _) => Horizon::Doubling,
            (_, true) => Horizon::Anytime,
            _ => Horizon::Known(self.rounds),
        }
    }

    /// The bound that holds with probability 1 - δ if T is known.
    fn high(&self) -> f64 {
        self.bound() + bounds::massart_deviation(self.rounds as f64, self.margin, FAILURE)
    }

    /// The excess of guessing, which is wrong in half of the rounds.
    fn guessing(&self) -> f64 {
        (0.5 - self.noise) * self.rounds as f64
    }

    fn is_judged(&self) -> bool {
        self.rounds >= LEAST_ROUNDS
    }

    fn bound(&self) -> f64 {
        let rounds = self.rounds as f64;
        if self.doubling {
            bounds::massart_excess_any_horizon(rounds, self.noise, self.margin)
        } else if self.anytime {
            bounds::massart_excess_anytime(rounds, self.noise, self.margin)
        } else {
            bounds::massart_excess(rounds, self.noise, self.margin)
        }
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Configuration { noise, margin, rounds, nature, .. } = self;
        write!(f, "η={noise} γ={margin} T={rounds} {} {nature}", self.horizon())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Σ (P[mistake | past] - η), exact given the points and labels.
    pub(super) excess: f64,
    pub(super) mistakes: u64,
    /// The excess of answering +1 in every round.
    pub(super) constant: f64,
}

/// Plays `rounds` rounds. Nature chooses from the given points and clean labels.
pub(super) fn play<L: OnlineLearner>(
    mut learner: L,
    (points, clean): (&Points, &[Label]),
    nature: Nature,
    (noise, rounds): (f64, u64),
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let (mut excess, mut mistakes) = (0.0, 0);
    for _ in 0..rounds {
        let index = match nature {
            Nature::Random => rng.random_range(0..clean.len()),
            Nature::Adaptive => {
                let mut worst: Option<((bool, f64), usize)> = None;
                for (index, x) in points.rows().enumerate() {
                    let prediction = learner.guess(x)?;
                    let rank = (!prediction.is_wrong(clean[index]), prediction.value.abs());
                    if worst.is_none_or(|(least, _)| rank < least) {
                        worst = Some((rank, index));
                    }
                }
                worst.ok_or("no candidates")?.1
            }
        };
        let x = points.row(index).ok_or("no such point")?;
        let prediction = learner.guess(x)?;
        let right = prediction.label == clean[index];
        let flip = if right || nature == Nature::Random { noise } else { 0.0 };
        excess += if right { flip } else { 1.0 - flip } - noise;
        let label: Label = if rng.random_bool(flip) { -clean[index] } else { clean[index] };
        mistakes += u64::from(prediction.is_wrong(label));
        learner.update(x, prediction, label)?;
    }
    // Against the constant +1, the adversary always presents a misclassified point and does not flip its label.
    let wrong = clean.iter().filter(|y| **y == Label::Negative).count() as f64;
    let constant = match nature {
        Nature::Random => wrong / clean.len() as f64 * (1.0 - 2.0 * noise),
        Nature::Adaptive => {
            if wrong > 0.0 {
                1.0 - noise
            } else {
                0.0
            }
        }
    };
    Ok(Outcome { excess, mistakes, constant: constant * rounds as f64 })
}

/// The reason why the bound of P9h is far from the measured values.
const DEVIATION: &str = "as its deviation term alone exceeds the bound of P9 on the mean, while the runs of a setting differ from their mean by far less";

impl Experiment for MassartExperiment {
    about! {
        "P9", "Online learning under Massart noise, against an adaptive adversary";
        "P9": "With margin γ and Massart noise of rate at most η, the online learner makes at most ηT + c(1-η)√T/γ mistakes in expectation; c = 1 if T is known, √2/(√2-1) with doubling, √2 with falling steps. Tested on random points and against an adaptive adversary; T = 30 000 (full scale: also 100 000)."
            ["ours, from CKST24 Lemma 2 applied round by round"]
            Proved, null "the answer +1 in every round"
            halfspaces_online::{OnlineMassart, Horizon, bounds::massart_excess,
                bounds::massart_excess_any_horizon, bounds::massart_excess_anytime};
        "P9h": "In the settings of P9 with T known, Σ P[mistake | past] is at most ηT + (1-η)√T/γ + √(T ln(1/δ)/2)/γ with probability at least 1 - δ, δ = 0.05, judged over all settings together."
            ["ours, docs/theory/online-massart.md"]
            Proved, null "the answer +1 in every round"
            halfspaces_online::{OnlineMassart, bounds::massart_excess, bounds::massart_deviation};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        for rounds in scale.pick(
            vec![3000, 30_000],
            vec![300, 3000, 30_000],
            vec![300, 3000, 30_000, 100_000],
        ) {
            for (noise, margin) in [(0.1, 0.1), (0.3, 0.1), (0.4, 0.2)] {
                for (doubling, anytime) in HORIZONS {
                    for nature in [Nature::Random, Nature::Adaptive] {
                        let configuration =
                            Configuration { noise, margin, rounds, doubling, anytime, nature };
                        plan.push(Planned { configuration, trials: scale.pick(6, 20, 50) });
                    }
                }
            }
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let Configuration { noise, margin, rounds, nature, .. } = *setting;
        let target = random_target_with_rng(DIM, rng)?;
        let points = MarginBall::new(&target, margin)?.sample_with_rng(CANDIDATES, rng)?;
        let clean = target.label_all(&points)?;
        let given = MassartSetting { noise, margin: margin * (1.0 - 1e-9) };
        let learner = OnlineMassart::new(DIM, given, setting.learner())?;
        play(learner, (&points, &clean), nature, (noise, rounds), rng)
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let judged = groups_of(results, Configuration::is_judged);
        let evidence = worst_setting(judged.iter().copied(), |g| {
            assert!(g.configuration.guessing() > g.configuration.bound(), "guessing must fail");
            let shares = g.values(|o| o.excess / g.configuration.bound());
            Evidence::mean("mean of Σ (P[mistake | past] - η) / bound", g.planned, &shares, 1.0)
        });
        // All settings are judged together, since each of them has too few trials for a verdict of its own.
        let known: Vec<_> = judged
            .iter()
            .copied()
            .filter(|g| !g.configuration.doubling && !g.configuration.anytime)
            .collect();
        let ratios = |g: &&Group<Configuration, Outcome>| {
            let high = g.configuration.high();
            g.outcomes.iter().map(|o| o.excess / high).collect::<Vec<_>>()
        };
        let ratios: Vec<f64> = known.iter().flat_map(ratios).collect();
        let probable = Evidence::quantile(planned(&known), &ratios, FAILURE).far_because(DEVIATION);
        let constant = null_of(judged, |c, o| o.constant > c.bound());
        let constant_known = null_of(known, |c, o| o.constant > c.high());
        let evidence = [(evidence, constant), (probable, constant_known)];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("In a simulation, the probability of a mistake given the past is known exactly. Its excess over η is summed over the rounds, without the noise of the flips. The adaptive adversary sees the learner. It presents the misclassified point closest to the learner's boundary, and flips labels at the full rate where the learner is right and never where it is wrong. In the settings of the claims, guessing exceeds every bound.".into());
        section.figures.push(growth(results));
        section.tables.push(by_configuration(results));
    }
}

fn growth(results: &Results<Configuration, Outcome>) -> Figure {
    let shown = |horizon: &str| {
        groups_of(results, |c| (c.noise - SHOWN_NOISE).abs() < 1e-9 && c.horizon() == horizon)
    };
    let rounds = |g: &Group<Configuration, Outcome>| g.configuration.rounds as f64;
    let mut layers = Vec::new();
    for (horizon, nature, colour) in [
        ("known", Nature::Random, Colour::Green),
        ("known", Nature::Adaptive, Colour::Vermilion),
        ("doubling", Nature::Random, Colour::Blue),
        ("doubling", Nature::Adaptive, Colour::Purple),
        ("falling steps", Nature::Adaptive, Colour::Orange),
    ] {
        let mine = shown(horizon).into_iter().filter(|g| g.configuration.nature == nature);
        let pairs = mine.flat_map(|g| g.outcomes.iter().map(move |o| (rounds(g), o.excess)));
        let name = format!("{nature}, {}", if horizon == "known" { "T known" } else { horizon });
        layers.extend(median_curve(&name, colour, pairs.collect()));
    }
    for (horizon, name, colour) in [
        ("known", "bound, T known", Colour::Ink),
        ("doubling", "bound, doubling", Colour::Purple),
        ("falling steps", "bound, falling steps", Colour::Orange),
    ] {
        let mut data: Vec<(f64, f64)> =
            shown(horizon).into_iter().map(|g| (rounds(g), g.configuration.bound())).collect();
        data.sort_by(|a, b| a.0.total_cmp(&b.0));
        layers.push(dashed(name, colour, data));
    }
    Figure {
        name: "p9-excess".into(),
        title: "Without knowing the number of rounds, the online learner makes few additional mistakes".into(),
        caption: "Expected number of mistakes minus ηT, against the number of rounds T, for η = 0.3 and γ = 0.1: medians over trials with 10 % and 90 % quantiles, and the bounds. An excess at or below 0 is drawn at the lower edge: the learner's mistake rate is at most η.".into(),
        x: Axis::log("rounds T"),
        y: Axis::log("Σ (P[mistake | past] - η)"),
        layers,
    }
}

fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    table(
        "p9-massart",
        "Medians over trials",
        &results.groups,
        &[
            ("η", &|g| g.configuration.noise.to_string()),
            ("γ", &|g| g.configuration.margin.to_string()),
            ("T", &|g| g.configuration.rounds.to_string()),
            ("horizon", &|g| g.configuration.horizon().into()),
            ("points", &|g| g.configuration.nature.to_string()),
            ("trials", &|g| g.count()),
            ("excess", &|g| g.median(1, |o| o.excess)),
            ("bound", &|g| format!("{:.1}", g.configuration.bound())),
            ("guessing", &|g| format!("{:.1}", g.configuration.guessing())),
            ("mistakes", &|g| g.median(0, |o| o.mistakes as f64)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Real trials against the adaptive adversary, judged by the bound and by a twentieth of it.
    #[test]
    fn a_planted_wrong_bound_is_caught() {
        let configuration = Configuration {
            noise: 0.1,
            margin: 0.1,
            rounds: 30_000,
            doubling: false,
            anytime: false,
            nature: Nature::Adaptive,
        };
        let trial = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            MassartExperiment.trial(&configuration, &mut rng).unwrap()
        };
        let outcomes: Vec<Outcome> = (0..5).map(trial).collect();
        let verdict = |of: &dyn Fn(&Outcome) -> f64| {
            let outcomes = outcomes.iter().map(|o| Outcome { excess: of(o), ..o.clone() });
            let outcomes = outcomes.collect();
            let group = Group { configuration: configuration.clone(), planned: 5, outcomes };
            verdicts(&MassartExperiment, vec![group])
        };
        // Five trials are too few to judge a probability of 0.05 unless all of them fail.
        let [holds, open, violated] = [Verdict::Holds, Verdict::Inconclusive, Verdict::Violated];
        assert_eq!(verdict(&|o| o.excess), [holds, open]);
        let share =
            outcomes.iter().map(|o| o.excess).fold(f64::INFINITY, f64::min) / configuration.bound();
        assert!(share > 0.02, "{share}");
        assert_eq!(verdict(&|o| 50.0 * o.excess)[0], violated);
        // Guessing replaces the learner; the number of mistakes varies a little.
        let guessing = |o: &Outcome| configuration.guessing() + 1e-3 * o.excess;
        assert_eq!(verdict(&guessing), [violated; 2]);
        assert!(configuration.guessing() > configuration.high());
    }
}
