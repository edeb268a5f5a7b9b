//! A custom claim and its measurement: two halfspaces at angle θ disagree on a fraction θ/π of the sphere.
//!
//! `cargo run -- FOLDER` writes the trials, tables, figures and a report to FOLDER. If it is interrupted and started
//! again, it resumes where it stopped.

use halfspaces_data::{Marginal, UnitSphere, random_target};
use halfspaces_eval::rand::{RngExt, rngs::ChaCha8Rng};
use halfspaces_eval::{
    AnyExperiment, Axis, ClaimKind, ClaimStatement, Colour, Evidence, Experiment, Figure,
    FolderLock, Host, Layer, Null, Planned, Report, Results, RunInfo, SCHEMA, Scale, Section,
    Table, TrialStore, Verdict, stats, write_outputs,
};
use halfspaces_linalg::{Classifier, angle};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::f64::consts::PI;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

type Failure = Box<dyn Error + Send + Sync>;

/// Number of points of the sphere in a trial.
const POINTS: usize = 1000;
/// Largest mean deviation for which the claim counts as true.
const TOLERANCE: f64 = 0.02;

/// The reason why the deviation is far below the tolerance.
const EQUALITY: &str =
    "as the claim is an equality, and the tolerance is the precision of the test";

/// A configuration; its JSON form is part of the key of each trial.
#[derive(Debug, Clone, Serialize)]
struct Setting {
    dim: usize,
}

/// The result of a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Outcome {
    /// θ/π.
    share_of_angle: f64,
    /// The fraction of the points on which the two halfspaces disagree.
    disagreement: f64,
}

impl Outcome {
    fn deviation(&self) -> f64 {
        self.disagreement - self.share_of_angle
    }
}

struct Disagreement;

impl Experiment for Disagreement {
    type Configuration = Setting;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        "A"
    }

    fn title(&self) -> &'static str {
        "Angles and disagreement"
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        vec![ClaimStatement {
            id: "A1".into(),
            statement: "Two halfspaces at angle θ disagree on a fraction θ/π of the sphere.".into(),
            source: "by symmetry".into(),
            kind: ClaimKind::Proved,
            null: "half of the sphere at every angle".into(),
            checks: &["halfspaces_linalg::angle", "halfspaces_data::UnitSphere"],
        }]
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Setting>>, Failure> {
        let trials = scale.pick(20, 50, 500);
        let planned = |dim| Planned { configuration: Setting { dim }, trials };
        Ok([2, 5, 20].map(planned).to_vec())
    }

    /// All random numbers come from `rng`, the generator of the trial.
    fn trial(&self, setting: &Setting, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let [one, two] =
            [random_target(setting.dim, rng.random())?, random_target(setting.dim, rng.random())?];
        let points = UnitSphere::new(setting.dim)?.sample(POINTS, rng.random())?;
        let (a, b) = (one.label_all(&points)?, two.label_all(&points)?);
        let different = a.iter().zip(&b).filter(|(a, b)| a != b).count();
        Ok(Outcome {
            share_of_angle: angle(one.normal(), two.normal())? / PI,
            disagreement: different as f64 / POINTS as f64,
        })
    }

    fn evaluate(&self, results: &Results<Setting, Outcome>, section: &mut Section) {
        let mut judged = Vec::new();
        let mut table = Table::new("deviations", "Disagreement minus θ/π", &["dimension", "mean"]);
        for group in &results.groups {
            let name = format!("dimension {}", group.configuration.dim);
            let deviations: Vec<f64> = group.outcomes.iter().map(Outcome::deviation).collect();
            let opposite: Vec<f64> = deviations.iter().map(|v| -v).collect();
            for values in [&deviations, &opposite] {
                let evidence = Evidence::mean("deviation", group.planned, values, TOLERANCE);
                judged.push((name.clone(), evidence));
            }
            let mean = stats::mean(&deviations).map_or("no trials".into(), |m| format!("{m:.4}"));
            table.push(vec![group.configuration.dim.to_string(), mean]);
        }
        // The null hypothesis, half of the sphere, deviates from θ/π by more than the tolerance for these pairs.
        let half = results.outcomes().map(|(_, o)| (0.5 - o.share_of_angle).abs() > TOLERANCE);
        let null = Null::of_cases(half);
        for claim in self.claims() {
            section.judge(claim, Evidence::worst_of(&judged).far_because(EQUALITY), null);
        }
        section.tables.push(table);
        let pair = |o: &Outcome| (o.share_of_angle, o.disagreement);
        section.figures.push(Figure {
            name: "disagreement".into(),
            title: "Two halfspaces disagree in proportion to their angle".into(),
            caption:
                "One dot per pair of random halfspaces: the fraction of uniform points of the \
                      sphere on which they disagree, against θ/π."
                    .into(),
            x: Axis::linear("θ/π"),
            y: Axis::linear("disagreement"),
            layers: vec![Layer::Points {
                name: "trials".into(),
                colour: Colour::Blue,
                data: results.outcomes().map(|(_, outcome)| pair(outcome)).collect(),
            }],
        });
    }
}

fn main() -> Result<ExitCode, Failure> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("usage: own-claim FOLDER")?.into();
    std::fs::create_dir_all(&folder)?;
    let _lock = FolderLock::take(&folder)?;
    let (scale, seed) = (Scale::Smoke, 1);
    let store = Mutex::new(TrialStore::open(&folder.join("trials.jsonl"))?);
    Disagreement.run(scale, seed, &|_| true, &store, &|_| eprint!("."))?;
    let section = Disagreement.section(scale, seed, &store.into_inner()?)?;

    let run = RunInfo {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        scale,
        seed,
        data_sets: vec![],
        options: vec![],
        host: Host::detect(),
        shares: vec![],
        experiments: vec![],
        outputs: vec![],
    };
    let rerun = |_: Option<&str>| "cargo run -- FOLDER".to_owned();
    let front = ["Angles and disagreement", "The disagreement of two halfspaces at angle θ."];
    let report = Report::new(front, &run, &rerun, vec![section], &[])?;
    write_outputs(&folder, &report)?;
    print!("{}", report.ledger_text());
    let holds = report.claims().all(|claim| claim.verdict == Verdict::Holds);
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
