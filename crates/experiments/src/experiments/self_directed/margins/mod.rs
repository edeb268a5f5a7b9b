//! S3, S4: the largest margin among the points on which two halfspaces disagree, and how a mistake on that point
//! changes the angle between them.

mod law;
mod workload;

use crate::experiments::common::*;
use std::f64::consts::{E, PI};
use workload::{Configuration, FAILURE, Outcome, PRINTED, draw};

pub(crate) struct MarginsExperiment;

impl Experiment for MarginsExperiment {
    about! {
        "S3", "The misclassified point with the largest margin, and how the update on it changes the angle";
        "S3": "Among n uniform points on the sphere with nθ > 12π, the update on the misclassified point with the largest |w · x| reduces tan θ to at most √(1 - b²) tan θ with probability at least 2/3, where b is the bound of S4. This implies the decay stated in DKTZ23 Lemma 2.3."
            ["DKTZ23 equation (2) with the bound of S4; it implies the decay of Lemma 2.3"]
            Proved, null "the update on the first misclassified point of the same draw";
        "S4": "Let θ be the angle between unit vectors w and w*. With probability at least 2/3, some misclassified point among n uniform points on the sphere has |w · x| >= b sin θ, where b = √(ln(nθ/12π)/(4d)) for 12π < nθ <= 12π e^(d/2), and b = 1 - (12π/(nθ))^(2/d) for larger nθ."
            ["DKTZ23 §2, maximum margin in the disagreement region"]
            Proved, null "the first misclassified point of the same draw";
        "S4u": "The margin of the point in S3, and its place between the two boundaries given the margin, follow their exact distributions: over all draws with a misclassified point, the distribution functions differ by at most 0.03."
            ["ours, docs/theory/largest-margin.md"]
            Proved, null "the distribution for three quarters as many points";
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        for dim in [3, 10, 30] {
            for points in [1_000, 100_000, 10_000_000, 1_000_000_000] {
                for angle in [1.2, 0.3, 1e-2, 1e-4, 1e-6] {
                    let configuration = Configuration { dim, points, angle };
                    // If nθ is below 12π, S3 and S4 are vacuous. More than a million misclassified points add no
                    // information. If nθ is small in every setting, the null of S3 passes.
                    let mass = configuration.mass();
                    if mass > PRINTED && mass < scale.pick(5e4, 2e6, 2e6) {
                        // All settings together have enough trials for the tolerance of S4u.
                        plan.push(Planned { configuration, trials: scale.pick(600, 400, 1000) });
                    }
                }
            }
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        draw(setting, rng)
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let (mut decays, mut margins) = (Vec::new(), Vec::new());
        for group in &results.groups {
            let setting = &group.configuration;
            let name = format!("d={}, n={}, θ={}", setting.dim, setting.points, setting.angle);
            let decay = setting.decay();
            let ratio = |o: &Outcome| (o.decay - decay).exp();
            decays.push((name.clone(), within_bound(group, FAILURE, ratio)));
            let bound = setting.bound(PRINTED);
            margins.push((name, within_bound(group, FAILURE, |o| bound / o.margin)));
        }
        let first_decays = null_of(&results.groups, |c, o| o.first_decay > c.decay());
        let first_margins = null_of(&results.groups, |c, o| o.first_margin < c.bound(PRINTED));
        let [margin, place] = exact_law(results, 1.0);
        let [fewer, _] = exact_law(results, 0.75);
        let law = [("margin".to_owned(), margin), ("place".to_owned(), place)];
        let fewer = Null::of_cases([fewer.verdict != Verdict::Holds]);
        let evidence = [
            (Evidence::worst_of(&decays), first_decays),
            (Evidence::worst_of(&margins), first_margins),
            (Evidence::worst_of(&law), fewer),
        ];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("These claims are about one step, which is sampled from its exact distribution; no learner of the library is run. Only projections onto the plane of w and w* matter. So a draw of n = 10^9 points is exact if it draws the projections of the few points on which the halfspaces disagree. The table gives the smallest constant that could replace 12π such that the bound on the margin still holds with probability 2/3. The constant 12π is larger than needed. In DKTZ23, the decay has the exponent ρ = 1/(8d); S3 is stronger, since tan²θ after the update is at most (1 - r²) tan²θ with r = |w · x|/sin θ, and r >= b.".into());
        section.figures.push(figure(results));
        section.tables.push(by_setting(results));
    }
}

/// Largest allowed difference between distribution functions, over all settings together.
const TOLERANCE: f64 = 0.03;

/// Tests the margins and the positions against the exact distributions that hold for `share` · n points, where n is the
/// number of points. The distribution functions, applied to the measured values, must give uniform values.
fn exact_law(results: &Results<Configuration, Outcome>, share: f64) -> [Evidence; 2] {
    let (mut margins, mut places) = (Vec::new(), Vec::new());
    for (setting, outcome) in results.outcomes().filter(|(_, o)| o.margin > 0.0) {
        let points = (share * setting.points as f64) as u64;
        let setting = Configuration { points, ..setting.clone() };
        margins.push(law::largest(&setting, outcome.margin));
        places.push(law::place(&setting, outcome.margin, outcome.turn));
    }
    let without = results.outcomes().count() - margins.len();
    let judge = |name, values: &[f64]| {
        Evidence::uniform(name, results.planned() - without, values, TOLERANCE)
    };
    [judge("the margin", &margins), judge("the place", &places)]
}

fn figure(results: &Results<Configuration, Outcome>) -> Figure {
    let mut layers = Vec::new();
    let colours = [(3, Colour::Blue), (10, Colour::Orange), (30, Colour::Green)];
    for (dim, colour) in colours {
        let (mut measured, mut bound) = (Vec::new(), Vec::new());
        for group in groups_of(results, |c| c.dim == dim) {
            let setting = &group.configuration;
            // The margin that is reached with probability 2/3.
            if let Some(third) = stats::quantile(&group.values(|o| o.margin), FAILURE) {
                measured.push((setting.mass(), third));
                bound.push((setting.mass(), setting.bound(PRINTED)));
            }
        }
        let name = format!("d = {dim}");
        let measured = medians(measured);
        layers.push(points(&name, colour, measured.clone()));
        layers.push(line(&name, colour, measured));
        layers.push(dashed(&format!("bound, d = {dim}"), colour, medians(bound)));
    }
    Figure {
        name: "s4-largest-margin".into(),
        title: "With probability 2/3, some misclassified point is far from the boundary".into(),
        caption: "The largest margin among the points on which two halfspaces at angle θ disagree, divided by sin θ, against nθ. Solid: the value reached with probability 2/3. Dashed: the bound of DKTZ23. A solid line below the dashed line of the same colour would refute S4.".into(),
        x: Axis::log("nθ"),
        y: Axis::linear("margin / sin θ"),
        layers,
    }
}

/// The smallest constant for which the measured margins satisfy the bound with probability 2/3.
fn smallest_constant(group: &Group<Configuration, Outcome>) -> Option<f64> {
    let third = stats::quantile(&group.values(|o| o.margin), FAILURE)?;
    Some(constant_for(&group.configuration, third))
}

/// The smallest constant according to the exact law. It is computed from the margin that the largest margin fails to
/// reach with probability 1/3.
fn exact_constant(setting: &Configuration) -> f64 {
    constant_for(setting, law::quantile(setting, FAILURE))
}

/// The smallest constant with which the bound on the margin is at most `third`.
fn constant_for(setting: &Configuration, third: f64) -> f64 {
    // The bound decreases as the constant increases.
    let (mut low, mut high) = (1e-6 * PRINTED, PRINTED * E);
    for _ in 0..80 {
        let middle = (low * high).sqrt();
        if setting.bound(middle) > third { low = middle } else { high = middle }
    }
    high
}

fn by_setting(results: &Results<Configuration, Outcome>) -> Table {
    let caption = "Largest margin (median), the bound of DKTZ23, and the smallest constant with which it holds";
    table(
        "s4-margins",
        caption,
        &results.groups,
        &[
            ("d", &|g| g.configuration.dim.to_string()),
            ("n", &|g| g.configuration.points.to_string()),
            ("θ", &|g| g.configuration.angle.to_string()),
            ("regime", &|g| g.configuration.regime().into()),
            ("draws", &|g| g.count()),
            ("margin / sin θ", &|g| g.median(4, |o| o.margin)),
            ("bound", &|g| format!("{:.4}", g.configuration.bound(PRINTED))),
            ("smallest constant / π", &|g| {
                smallest_constant(g).map_or_else(String::new, |c| format!("{:.2}", c / PI))
            }),
            ("by the exact law", &|g| format!("{:.2}", exact_constant(&g.configuration) / PI)),
            ("median tan θ'/tan θ", &|g| g.median(4, |o| o.decay.exp())),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::workload::tan_after;
    use super::*;
    use halfspaces_data::{Marginal, UnitSphere};
    use halfspaces_linalg::{PointSet, angle, kernels, normalise};

    #[test]
    fn bounds_by_hand() {
        use std::f64::consts::{E, PI};
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        // For nθ = 12π e, the bound is √(1/16). For nθ = 12π 100 in d = 2, it is 1 - 1/100.
        let angle = 12.0 * PI * E / 1000.0;
        near(Configuration { dim: 4, points: 1000, angle }.bound(12.0 * PI), 0.25);
        // The ratio of the tangents is √(1 - 1/16).
        near(Configuration { dim: 4, points: 1000, angle }.decay(), 0.5 * (15.0f64 / 16.0).ln());
        let angle = 12.0 * PI * 100.0 / 1e6;
        near(Configuration { dim: 2, points: 1_000_000, angle }.bound(12.0 * PI), 0.99);
    }

    /// The decay as printed in DKTZ23, (tan θ)^(-ρ) (ζ/N)^ρ with ρ = 1/(8d) and ζ = 12π/cos θ, follows from the decay
    /// of S3 in every setting.
    #[test]
    fn the_printed_decay_is_implied() {
        for Planned { configuration, .. } in MarginsExperiment.plan(Scale::Full).unwrap() {
            let zeta = PRINTED / configuration.angle.cos();
            let share = zeta / configuration.points as f64 / configuration.angle.tan();
            let printed = share.ln() / (8.0 * configuration.dim as f64);
            assert!(configuration.decay() <= printed, "{configuration:?}");
        }
    }

    /// The plain version: draws all n points in d dimensions and makes the update.
    fn literal(setting: &Configuration, seed: u64) -> Outcome {
        let points = UnitSphere::new(setting.dim).unwrap().sample(setting.points as usize, seed);
        let points = points.unwrap();
        let theta = setting.angle;
        let mut w = vec![0.0; setting.dim];
        let mut target = w.clone();
        (w[0], target[0], target[1]) = (1.0, theta.cos(), theta.sin());
        let wrong = points
            .rows()
            .map(|x| x.as_slice())
            .filter(|x| (kernels::dot(x, &w) >= 0.0) != (kernels::dot(x, &target) >= 0.0));
        let Some(x) = wrong.max_by(|a, b| a[0].abs().total_cmp(&b[0].abs())) else {
            let (margin, decay, first_margin, first_decay, turn) = (0.0, 0.0, 0.0, 0.0, 0.0);
            return Outcome { margin, decay, first_margin, first_decay, turn };
        };
        let margin = x[0].abs();
        // The angle between the projection of x and the boundary of w, as a fraction of the angle between the two
        // boundaries.
        let turn = (margin / x[0].hypot(x[1])).asin() / theta;
        kernels::axpy(-x[0], x, &mut w);
        assert!(normalise(&mut w));
        let decay = (angle(&w, &target).unwrap().tan() / theta.tan()).ln();
        let (margin, first_margin, first_decay) = (margin / theta.sin(), 0.0, 0.0);
        Outcome { margin, decay, first_margin, first_decay, turn }
    }

    #[test]
    fn the_plane_stands_for_the_sphere() {
        let setting = Configuration { dim: 6, points: 400, angle: 0.5 };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mean = |outcomes: &[Outcome], f: fn(&Outcome) -> f64| {
            stats::mean_interval(&outcomes.iter().map(f).collect::<Vec<_>>(), 0.9999).unwrap()
        };
        let planar: Vec<Outcome> = (0..600).map(|_| draw(&setting, &mut rng).unwrap()).collect();
        let full: Vec<Outcome> = (0..600).map(|seed| literal(&setting, seed)).collect();
        for f in [(|o| o.margin) as fn(&Outcome) -> f64, |o| o.decay, |o| o.turn] {
            let (a, b) = (mean(&planar, f), mean(&full, f));
            assert!(a.low < b.high && b.low < a.high, "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_angle_after_is_that_of_the_updated_vector() {
        let (theta, radius, rest): (f64, f64, f64) = (0.7, 0.8, 0.3);
        let target = [theta.cos(), theta.sin(), 0.0];
        // The point lies on the positive side of w by the angle t θ = θ - rest, and on the negative side of w* by the
        // angle `rest`.
        let turn = theta - std::f64::consts::FRAC_PI_2 - rest;
        let off = (1.0 - radius * radius).sqrt();
        let x = [radius * turn.cos(), radius * turn.sin(), off];
        let margin = x[0];
        assert!((margin - radius * (theta - rest).sin()).abs() < 1e-15);
        assert!((kernels::dot(&x, &target) + radius * rest.sin()).abs() < 1e-15);
        let mut w = vec![1.0, 0.0, 0.0];
        kernels::axpy(-margin, &x, &mut w);
        let expected = angle(&w, &target).unwrap().tan();
        assert!((tan_after(theta, margin, radius, rest) - expected).abs() < 1e-14);
        // The misclassified point lies almost in the plane, so the angle after it is far below the rounding error of 1.
        let (theta, radius) = (1e-6, 1.0 - 1e-14);
        let after = tan_after(theta, radius * theta.sin(), radius, 0.0);
        assert!(after > 0.0 && after < 1e-12, "{after}");
    }

    #[test]
    fn planted_wrong_outcomes_are_caught() {
        let configuration = Configuration { dim: 10, points: 100_000, angle: 0.3 };
        let verdicts = |margin: f64, decay: f64| {
            let (first_margin, first_decay, turn) = (0.1, -0.01, 0.95);
            let outcomes = vec![Outcome { margin, decay, first_margin, first_decay, turn }; 60];
            let group = Group { configuration: configuration.clone(), planned: 60, outcomes };
            super::verdicts(&MarginsExperiment, vec![group])
        };
        // A constant margin does not follow the exact distribution.
        let [holds, violated] = [Verdict::Holds, Verdict::Violated];
        assert_eq!(verdicts(0.9, -0.5), [holds, holds, violated]);
        assert_eq!(verdicts(0.1, -0.01), [violated; 3]);
    }

    /// Real draws of 4000 points are judged by their own distribution and by those for fewer points, another angle and
    /// another dimension.
    #[test]
    fn a_law_that_is_off_by_a_little_is_refuted() {
        let setting = Configuration { dim: 10, points: 4000, angle: 0.3 };
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let outcomes: Vec<Outcome> =
            (0..12_000).map(|_| draw(&setting, &mut rng).unwrap()).collect();
        let judge = |configuration: Configuration, turn: f64| {
            let outcomes = outcomes.iter().map(|o| Outcome { turn: o.turn.powf(turn), ..*o });
            let outcomes = outcomes.collect();
            let group = Group { configuration, planned: 12_000, outcomes };
            exact_law(&Results { groups: vec![group] }, 1.0).map(|evidence| evidence.verdict)
        };
        let [holds, violated] = [Verdict::Holds, Verdict::Violated];
        assert_eq!(judge(setting.clone(), 1.0), [holds; 2]);
        assert_eq!(
            judge(Configuration { points: 3000, ..setting.clone() }, 1.0),
            [violated, holds]
        );
        assert_eq!(judge(Configuration { angle: 0.4, ..setting.clone() }, 1.0)[0], violated);
        assert_eq!(judge(Configuration { dim: 9, ..setting.clone() }, 1.0)[0], violated);
        assert_eq!(judge(setting, 1.5), [holds, violated]);
    }

    /// A planted wrong claim: real draws must reach three times the margin.
    #[test]
    fn three_times_the_margin_is_refuted() {
        let configuration = Configuration { dim: 10, points: 10_000_000, angle: 0.01 };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let outcomes: Vec<Outcome> =
            (0..60).map(|_| draw(&configuration, &mut rng).unwrap()).collect();
        let verdict = |times: f64| {
            let third = |o: &Outcome| Outcome { margin: o.margin / times, ..*o };
            let outcomes = outcomes.iter().map(third).collect();
            let group = Group { configuration: configuration.clone(), planned: 60, outcomes };
            verdicts(&MarginsExperiment, vec![group])[1]
        };
        assert_eq!(verdict(1.0), Verdict::Holds);
        assert_eq!(verdict(3.0), Verdict::Violated);
    }
}
