//! The claims and their evidence.

use super::learners::{curve, trap};
use super::plots::{by_configuration, curves, finding, traps};
use super::workload::{
    Configuration, FAILURE, Model, Outcome, PADDINGS, RULES, Rule, Source, Task,
};
use crate::experiments::common::*;

pub(crate) struct GlmExperiment;

impl Experiment for GlmExperiment {
    about! {
        "P7", "Generalised linear models: CKST24 with corrected constants, and a denominator without the padding loss";
        "P5": "With α = ε/(4-ε), T = 1024/(ε⁴γ²) steps per run and all iterates compared, the GLM Perspectron has error at most opt_RCN + τ/2 + ε with probability at least 0.9. Tested on three points of the plane and, at full scale, also on random models."
            ["CKST24 Theorem 4 with corrected constants; an observation, because errors this small are reached long before step T, and P7 is sharper"]
            Observation, null "w = 0, which predicts +1"
            halfspaces_pac::{GlmPerspectron, GlmSchedule, schedule::glm_corrected_run_length};
        "P7": "With D = max(|w·x|, γ/2), which avoids the padding loss (an open question of CKST24), the GLM Perspectron has error at most opt_RCN + τ/2 + ε with probability at least 0.9, both with T = 64/(εγ)² steps per run and all iterates compared, and with thinned selection."
            ["ours, docs/theory/glm-without-padding-loss.md, which answers CKST24's open question on the padding loss, and thinned-selection.md"]
            Proved, null "w = 0, which predicts +1"
            halfspaces_pac::{GlmPerspectron, Selection, schedule::glm_run_length};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        use Source::{Random, Searched};
        let mut plan = Vec::new();
        let mut add = |task, excess, margin, trials| {
            plan.push(Planned { configuration: Configuration { task, excess, margin }, trials });
        };
        // With δ = 0.1, a verdict needs at least 29 trials without a failure.
        let trials = scale.pick(30, 30, 60);
        let corrected = scale.pick(
            vec![(Searched, 0.45, 0.7)],
            vec![(Searched, 0.45, 0.7)],
            vec![(Searched, 0.4, 0.5), (Random, 0.4, 0.5)],
        );
        for (source, excess, margin) in corrected {
            add(Task::Fit { rule: Rule::Corrected, source }, excess, margin, trials);
        }
        let ours = scale.pick(
            vec![(Random, 0.2, 0.5), (Searched, 0.2, 0.5)],
            vec![(Random, 0.2, 0.3), (Searched, 0.2, 0.3)],
            vec![
                (Random, 0.2, 0.3),
                (Random, 0.2, 0.2),
                (Searched, 0.2, 0.3),
                (Searched, 0.2, 0.1),
            ],
        );
        for (source, excess, margin) in ours {
            for rule in [Rule::Ours, Rule::Thinned] {
                add(Task::Fit { rule, source }, excess, margin, trials);
            }
        }
        let (excess, margin) = scale.pick((0.7, 0.3), (0.5, 0.1), (0.5, 0.1));
        for (rule, _) in RULES {
            add(Task::Curve { rule }, excess, margin, scale.pick(3, 7, 11));
        }
        let longest = scale.pick(10_000, 1_000_000, 10_000_000);
        for (padding, _) in PADDINGS {
            add(Task::Trap { padding, longest }, 0.1, 0.1, scale.pick(2, 3, 7));
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match setting.task {
            Task::Fit { rule, source } => {
                let model = Model::draw(source, setting.margin, rng)?;
                let (w, examples) = model.fit(setting, rule, rng)?;
                let zero = Some(model.zero()?);
                let (excess, level) = (model.excess(&w)?, model.level());
                Ok(Outcome { excess, examples, curve: Vec::new(), level, zero })
            }
            Task::Curve { rule } => curve(setting, rule, rng),
            Task::Trap { padding, longest } => trap(padding, longest, rng),
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let judged = |mine: fn(Rule) -> bool| {
            let groups =
                groups_of(results, |c| matches!(c.task, Task::Fit { rule, .. } if mine(rule)));
            worst_setting(groups, |g| {
                let allowed = g.configuration.excess;
                within_bound(g, FAILURE, |o| (o.level + o.excess) / (o.level + allowed))
            })
        };
        let corrected = judged(|rule| rule == Rule::Corrected);
        let ours = judged(|rule| matches!(rule, Rule::Ours | Rule::Thinned));
        let zero = |mine: fn(Rule) -> bool| {
            let groups =
                groups_of(results, |c| matches!(c.task, Task::Fit { rule, .. } if mine(rule)));
            null_of(groups, |c, o| o.zero.is_some_and(|excess| excess > c.excess))
        };
        let evidence = [
            (corrected, zero(|rule| rule == Rule::Corrected)),
            (ours.with_note(DROPPED), zero(|rule| matches!(rule, Rule::Ours | Rule::Thinned))),
        ];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("Errors are averaged exactly over the labels, and for models in the plane also over the points. δ is 0.1; ε is 0.4 for P5 (0.45 below full scale) and 0.2 for P7, where the single run of thinned selection has 16(2+(2+γ)√(2 ln(3/δ)))²/(εγ)² steps. The hard models have three points in the plane. A search chooses the points, their masses and noise, and the link, to maximise the error of the noiseless learner with our denominator.".into());
        section.summary.push("CKST24 leave open whether generalised linear models need 1/ε² times as many examples as halfspaces with Massart noise. They do not: with D = max(|w·x|, γ/2), a run may be 16/ε² times shorter (docs/theory/glm-without-padding-loss.md). All schedules end with errors far below their targets, and their curves fall at nearly the same rate even on the hard models; each curve is a median over its own models. So the gain is in the guarantee, not in the measured errors.".into());
        section.summary.push(TRAP_SUMMARY.into());
        section.findings.push(finding(results));
        section.figures.push(curves(results));
        section.figures.push(traps(results));
        section.tables.push(by_configuration(results));
    }
}

/// A setting of P7 that was removed.
const DROPPED: &str = "earlier versions also tested a model on two points; it was removed because the error of w = 0 is within the target there, so the null passed";

const TRAP_SUMMARY: &str = "Does the padding matter to the learner, and not only to its proof? A short search over models with a few points in the plane, made once outside this suite, found the trap: three points with noise of rate at most 0.3. With D = max(a, 2γ), the error on the trap stays above opt_RCN for every length of the run, whereas with D = max(a, γ/2) it falls below. For max(a, γ), a + γ/2 and a + γ, whose certificates also fail, the search found no such model. This does not show that none exists. For these denominators, it is only known that the proof needs the smaller padding.";

#[cfg(test)]
mod tests {
    use super::super::learners::walk;
    use super::super::workload::params;
    use super::*;
    use crate::experiments::noise::planar::Planar;
    use halfspaces_data::Region;
    use halfspaces_data::StandardLink;
    use halfspaces_linalg::{ExampleStream, FitStream, Params};
    use halfspaces_pac::Direction;

    /// The halfspaces that both learners find satisfy the claims. The same halfspaces with the opposite sign violate
    /// them.
    #[test]
    fn planted_wrong_halfspaces_are_caught() {
        for (rule, excess, margin, claim) in [
            (Rule::Corrected, 0.4, 0.9, 0),
            (Rule::Ours, 0.4, 0.4, 1),
            (Rule::Thinned, 0.4, 0.4, 1),
        ] {
            let task = Task::Fit { rule, source: Source::Random };
            let configuration = Configuration { task, excess, margin };
            // The corrected schedule is expensive; fewer steps suffice for this test.
            let learnt_by = if rule == Rule::Corrected { Rule::Paper } else { rule };
            let (mut good, mut bad) = (Vec::new(), Vec::new());
            for seed in 0..30 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let link = StandardLink::logistic(8.0).unwrap();
                let model = Model::random(link, Region::Everywhere, 3, margin, &mut rng).unwrap();
                let (w, examples) = model.fit(&configuration, learnt_by, &mut rng).unwrap();
                let turned: Vec<f64> = w.iter().map(|v| -v).collect();
                for (outcomes, w) in [(&mut good, w), (&mut bad, turned)] {
                    let excess = model.excess(&w).unwrap();
                    let (curve, level) = (Vec::new(), model.level());
                    outcomes.push(Outcome { excess, examples, curve, level, zero: None });
                }
            }
            let verdict = |outcomes| {
                let group = Group { configuration: configuration.clone(), planned: 30, outcomes };
                verdicts(&GlmExperiment, vec![group])[claim]
            };
            assert_eq!(verdict(good), Verdict::Holds, "{rule}");
            assert_eq!(verdict(bad), Verdict::Violated, "{rule}");
        }
    }

    /// The learner's loop and the loop of the curves take the same steps.
    #[test]
    fn the_walk_is_the_learner() {
        let setting =
            Configuration { task: Task::Curve { rule: Rule::Ours }, excess: 0.5, margin: 0.5 };
        let planar = Planar::two_points(0.3, 0.0);
        let learner = params(&setting, Rule::Ours, planar.link).check().unwrap();
        let plan = learner.plan();
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let fit = learner.fit_stream(&mut planar.stream(&mut rng)).unwrap();
        let chosen = fit.origin().step;
        // Skips the examples of the runs before the chosen one.
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut stream = planar.stream(&mut rng);
        for _ in 0..chosen / plan.run_length * plan.run_length {
            stream.next_row().unwrap();
        }
        let direction = Direction { link: planar.link, denominator: plan.denominator };
        let mut found = Vec::new();
        walk(&direction, plan.step, plan.run_length, &mut stream, |t, w| {
            if t == chosen % plan.run_length {
                found = w.to_vec();
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(found, fit.halfspace().normal());
    }
}
