//! Runs the learners and computes the bounds of the claims on small data. Prints the data and the results as one JSON
//! object per line: `cargo run -p halfspaces --example export_runs -- [seed=20261201]`
//!
//! `benches/peers/recompute.py` recomputes the results from the data with a second implementation and compares them.
//! Each line contains the claim, the given numbers and the computed numbers; all numbers are in arrays. Points are
//! listed row by row.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the program prints its results")]

use halfspaces::data::{
    GlmNoise, Instance, MarginBall, Marginal, Massart, Misspecified, Region, StandardLink,
    StudentT, UnitSphere, random_target,
};
use halfspaces::forster::{ForsterTransform, Isotropy};
use halfspaces::linalg::rand::{RngExt, rngs::ChaCha8Rng};
use halfspaces::linalg::{
    Classifier, Ellipsoid, ExampleStream, FitSample, Halfspace, Label, Params, PointSet, Points,
    RngStream, RowView, rng_for,
};
use halfspaces::online::{
    Aggressiveness, Alma, BatchPerceptron, ChainLength, Dichotomies, Greedy, HalfspaceClass,
    Halving, Horizon, Kernel, KernelPerceptron, LabellingGame, MarginPerceptron, MassartSetting,
    ModifiedPerceptron, OnlineLearner, OnlineMassart, PassiveAggressive, Perceptron, Pick,
    SecondOrderPerceptron, VersionSpace, Winnow, bounds,
};
use halfspaces::pac::{
    Denominator, Direction, ErrorCount, GlmPerspectron, Perspectron, PushAway, SignLink,
    projected_dimension, schedule, wrong_labels_bound,
};
use std::error::Error;
use std::process::ExitCode;

type Failure = Box<dyn Error>;
type Numbers<'a> = [(&'a str, &'a [f64])];

fn main() -> ExitCode {
    let seed = match std::env::args().nth(1).as_deref().map(|a| (a, a.strip_prefix("seed="))) {
        None => Ok(20_261_201),
        Some((text, number)) => number
            .and_then(|n| n.parse().ok())
            .ok_or_else(|| format!("{text}: expected seed=NUMBER")),
    };
    match seed.map_err(Failure::from).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints one line. The debug format of a finite `f64` is a JSON number.
fn print(claim: &str, given: &Numbers<'_>, found: &Numbers<'_>) -> Result<(), Failure> {
    let object = |numbers: &Numbers<'_>| -> Result<String, Failure> {
        let mut fields = Vec::new();
        for (name, values) in numbers {
            if let Some(bad) = values.iter().find(|v| !v.is_finite()) {
                return Err(format!("{claim}, {name}: {bad} is not finite").into());
            }
            fields.push(format!("\"{name}\":{values:?}"));
        }
        Ok(format!("{{{}}}", fields.join(",")))
    };
    println!("{{\"claim\":\"{claim}\",\"given\":{},\"found\":{}}}", object(given)?, object(found)?);
    Ok(())
}

fn signs(labels: &[Label]) -> Vec<f64> {
    labels.iter().map(|y| y.as_f64()).collect()
}

/// Makes `count` passes over a pool. Returns the learner and the number of its mistakes.
fn passes<L: OnlineLearner>(
    mut learner: L,
    points: &Points,
    labels: &[Label],
    count: usize,
) -> Result<(L, f64), Failure> {
    let mut mistakes = 0;
    for _ in 0..count {
        for (x, y) in points.rows().zip(labels) {
            mistakes += usize::from(learner.observe(x, *y)?.is_wrong(*y));
        }
    }
    Ok((learner, mistakes as f64))
}

fn run(seed: u64) -> Result<(), Failure> {
    online(seed)?;
    chosen_order(seed)?;
    noise(seed)?;
    numbers()
}

/// Learners that take the points in a given order.
fn online(seed: u64) -> Result<(), Failure> {
    let mut rng = rng_for(RngStream::CALLER, seed);
    let target = random_target(4, seed)?;
    let points = MarginBall::new(&target, 0.1)?.sample(400, seed + 1)?;
    let labels = target.label_all(&points)?;
    let (flat, y) = (points.as_slice(), signs(&labels));
    let data = [("dim", &[4.0][..]), ("points", flat), ("labels", &y)];
    let given = |more: &[(&'static str, &'static [f64])]| [&data[..], more].concat();

    let class: Vec<Halfspace> =
        (0..60).map(|i| random_target(4, seed + 100 + i)).collect::<Result<_, _>>()?;
    let flat_class: Vec<f64> = class.iter().flat_map(|h| h.normal().to_vec()).collect();
    let truth = class[17].label_all(&points)?;
    let (_, mistakes) = passes(Halving::new(HalfspaceClass::new(class)?)?, &points, &truth, 1)?;
    let of_class =
        [("dim", &[4.0][..]), ("points", flat), ("labels", &signs(&truth)), ("class", &flat_class)];
    print(
        "K1",
        &of_class,
        &[("mistakes", &[mistakes]), ("bound", &[bounds::halving_mistakes(60.0)])],
    )?;
    print(
        "K2",
        &[("dim", &[3.0]), ("radius", &[1.3]), ("norm", &[0.7]), ("margin", &[0.2])],
        &[("bound", &[bounds::grid_halving_mistakes(3, 1.3, 0.7, 0.2)])],
    )?;

    let (learner, mistakes) = passes(Perceptron::new(4)?, &points, &labels, 3)?;
    print("K3", &data, &[("mistakes", &[mistakes]), ("weights", learner.weights())])?;
    for (pick, code) in [(Pick::Cyclic, 0.0), (Pick::First, 1.0), (Pick::Worst, 2.0)] {
        let batch = BatchPerceptron::params().pick(pick).check()?.fit(&points, &labels)?;
        let margin = MarginPerceptron::params().pick(pick).check()?.fit(&points, &labels)?;
        let code = [code];
        let given = [&data[..], &[("pick", &code)]].concat();
        let found = |fit: &halfspaces::online::BatchFit| fit.updates() as f64;
        print(
            "K4",
            &given,
            &[("updates", &[found(&batch)]), ("weights", batch.halfspace().normal())],
        )?;
        print(
            "K5",
            &given,
            &[("updates", &[found(&margin)]), ("weights", margin.halfspace().normal())],
        )?;
    }
    for (kernel, code) in [
        (Kernel::Polynomial { degree: 2 }, [1.0, 2.0]),
        (Kernel::Inhomogeneous { degree: 3 }, [2.0, 3.0]),
        (Kernel::Gaussian { scale: 0.5 }, [3.0, 0.5]),
    ] {
        let (_, mistakes) = passes(KernelPerceptron::new(4, kernel)?, &points, &labels, 2)?;
        print("K6", &[&data[..], &[("kernel", &code)]].concat(), &[("mistakes", &[mistakes])])?;
    }
    let start: Vec<f64> = (0..4).map(|_| rng.random::<f64>() - 0.5).collect();
    let (learner, mistakes) =
        passes(ModifiedPerceptron::from_start(start.clone(), 0.1)?, &points, &labels, 2)?;
    let unit = Halfspace::new(start.clone())?.normalised()?;
    let alpha = unit.normal().iter().zip(target.normal()).map(|(a, b)| a * b).sum::<f64>().abs();
    print(
        "K7",
        &[&data[..], &[("start", &start), ("sigma", &[0.1]), ("alpha", &[alpha])]].concat(),
        &[
            ("mistakes", &[mistakes]),
            ("weights", learner.weights()),
            ("bound", &[bounds::modified_perceptron_mistakes(alpha, 0.1)]),
        ],
    )?;
    let (learner, mistakes) = passes(VersionSpace::new(Ellipsoid::new(4)?), &points, &labels, 3)?;
    let bound = bounds::ellipsoid_mistakes(4, 0.1);
    let centre = halfspaces::online::Centre::centre(learner.centre());
    print(
        "K8",
        &given(&[("margin", &[0.1])]),
        &[("mistakes", &[mistakes]), ("centre", centre), ("bound", &[bound])],
    )?;
    let (learner, mistakes) =
        passes(PassiveAggressive::new(4, Aggressiveness::Unbounded)?, &points, &labels, 3)?;
    print("K10", &data, &[("mistakes", &[mistakes]), ("weights", learner.weights())])?;
    let (learner, mistakes) = passes(Alma::new(4, 0.3)?, &points, &labels, 3)?;
    let found = [mistakes, learner.updates() as f64, bounds::alma_corrections(0.3, 0.1)];
    let given_alma = given(&[("alpha", &[0.3]), ("margin", &[0.1])]);
    print("K12", &given_alma, &[("counts", &found), ("weights", learner.weights())])?;
    let (learner, mistakes) = passes(SecondOrderPerceptron::new(4, 0.5)?, &points, &labels, 2)?;
    let found = [("mistakes", &[mistakes][..]), ("log_det", &[learner.log_det()])];
    print("K13", &given(&[("a", &[0.5])]), &found)?;

    // The target is the disjunction of variables 2 and 9 of 20.
    let mut boolean = || f64::from(rng.random::<f64>() < 0.15);
    let rows: Vec<f64> = (0..300 * 20).map(|_| boolean()).collect();
    let either = |row: &[f64]| Label::from_sign(row[2] + row[9] - 0.5);
    let truth: Vec<Label> = rows.chunks(20).map(either).collect();
    let booleans = Points::new(rows.clone(), 20)?;
    let (learner, mistakes) = passes(Winnow::new(20)?, &booleans, &truth, 2)?;
    print(
        "K11",
        &[("dim", &[20.0]), ("points", &rows), ("labels", &signs(&truth)), ("relevant", &[2.0])],
        &[
            ("mistakes", &[mistakes]),
            ("weights", learner.weights()),
            ("bound", &[bounds::winnow_mistakes(2, 20)]),
        ],
    )
}

/// Learners that choose the order of the points, labelling games, and radially isotropic position.
fn chosen_order(seed: u64) -> Result<(), Failure> {
    let sphere = UnitSphere::new(5)?.sample(1500, seed + 2)?;
    let target = random_target(5, seed + 3)?;
    let labels = target.label_all(&sphere)?;
    let run = Greedy::simulate(&sphere, &labels)?;
    let order: Vec<f64> = run.mistakes().iter().map(|round| round.index as f64).collect();
    let given = [
        ("dim", &[5.0][..]),
        ("points", sphere.as_slice()),
        ("labels", &signs(&labels)),
        ("target", target.normal()),
    ];
    let found = [("mistaken rows", &order[..]), ("weights", run.halfspace().normal())];
    print("S1", &given, &found)?;
    for (dim, n) in [(2, 8), (2, 13), (3, 6), (3, 7)] {
        let pool = UnitSphere::new(dim)?.sample(n, seed + 4)?;
        let dichotomies = Dichotomies::new(&pool)?;
        let game = LabellingGame::new(&dichotomies);
        let given = [("dim", &[dim as f64][..]), ("points", pool.as_slice())];
        print(
            "S12",
            &given,
            &[
                ("dichotomies", &[dichotomies.len() as f64]),
                ("chosen", &[game.self_directed() as f64]),
                ("worst", &[game.worst_order() as f64]),
                ("random, on average", &[game.random_order_on_average()]),
            ],
        )?;
    }
    let heavy = StudentT::new(4, 1.5, 1e3)?.sample(300, seed + 5)?;
    let fit = ForsterTransform::params().check()?.fit(&heavy)?;
    let moved = fit.transform().apply(&heavy)?;
    let certificate = Isotropy::measure(&moved)?;
    let given = [("dim", &[4.0][..]), ("points", heavy.as_slice()), ("moved", moved.as_slice())];
    print("F1", &given, &[("eigenvalues", &[certificate.least(), certificate.largest()])])?;
    for (log_excess, rho, failure) in [(30.0, 0.025, 0.1), (200.0, 0.01, 0.02), (5.0, 0.1, 0.5)] {
        let decays = bounds::super_linear_decays(log_excess, rho);
        let steps = bounds::super_linear_steps(decays, failure);
        print(
            "S5x",
            &[("log_excess", &[log_excess]), ("rho", &[rho]), ("failure", &[failure])],
            &[("decays", &[decays as f64]), ("steps", &[steps as f64])],
        )?;
    }
    for (dim, points, failure) in [(5, 1e3, 0.1), (20, 1e6, 0.05), (30, 1e80, 0.01)] {
        let buckets = ChainLength::Theory { failure }.buckets(dim, points) as f64;
        let given = [("setting", &[dim as f64, points, failure][..])];
        print("S5", &given, &[("buckets", &[buckets])])?;
    }
    for dim in [2, 3, 7] {
        let found = [bounds::random_order_mistakes(1e6, dim)];
        let rate = bounds::random_order_rate(dim);
        let given = [("dim", &[dim as f64][..]), ("n", &[1e6])];
        print("S14", &given, &[("bound", &found), ("rate", &rate)])?;
    }
    Ok(())
}

/// Draws examples from a stream: points and labels.
fn take<S: ExampleStream>(stream: &mut S, count: usize) -> Result<(Vec<f64>, Vec<Label>), Failure> {
    let (mut points, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let next = stream.next_row().map_err(|_| "the stream failed")?;
        let (x, y) = next.ok_or("the stream ended")?;
        let mut row = vec![0.0; x.dim()];
        x.add_scaled_to(1.0, &mut row);
        points.append(&mut row);
        labels.push(y);
    }
    Ok((points, labels))
}

/// Learners for noisy labels.
fn noise(seed: u64) -> Result<(), Failure> {
    let target = random_target(3, seed + 6)?;
    let marginal = MarginBall::new(&target, 0.4)?;
    let massart = Massart::new(0.2, Region::Everywhere)?;
    let instance = Instance::new(marginal, target.clone(), massart)?;
    let (excess, failure, margin) = (0.5, 0.3, 0.4);
    let learner = Perspectron::params(0.2, margin).excess(excess).failure(failure);
    let learner = learner.elimination(halfspaces::pac::Elimination::Never).seed(seed).check()?;
    let plan = learner.plan();
    let (points, labels) = take(&mut instance.stream(seed + 7), plan.examples() as usize)?;
    let sample = Points::new(points.clone(), 3)?;
    let fit = learner.fit(&sample, &labels)?;
    let setting = [0.2, margin, excess, failure];
    let of_plan = |plan: halfspaces::pac::Plan| {
        [plan.run_length as f64, plan.step, plan.candidates as f64, plan.validation as f64]
    };
    let origin = [fit.origin().step as f64];
    let y = signs(&labels);
    let data = [("dim", &[3.0][..]), ("points", &points), ("labels", &y)];
    let found = [
        ("plan", &of_plan(plan)[..]),
        ("weights", fit.halfspace().normal()),
        ("errors", &[fit.validation_errors() as f64]),
    ];
    let kind = [f64::from(u8::from(matches!(plan.denominator, Denominator::AtLeast(_))))];
    let more: &Numbers<'_> = &[("setting", &setting), ("step", &origin), ("denominator", &kind)];
    print("P8", &[&data[..], more].concat(), &found)?;
    let lengths = [
        schedule::paper_run_length(0.1, 0.2) as f64,
        schedule::paper_step(0.2, 40_000),
        schedule::runs(0.1) as f64,
        schedule::validation(10_000, 0.2, 0.1) as f64,
    ];
    print("P3", &[], &[("constants", &lengths)])?;

    let link = StandardLink::logistic(6.0)?;
    let noise = GlmNoise::new(link)?;
    let instance = Instance::new(MarginBall::new(&target, 0.4)?, target.clone(), noise)?;
    for (claim, extra) in [("P7", 0.0), ("P15", 0.15)] {
        let told = Misspecified::new(link, extra)?;
        let learner = GlmPerspectron::params(told, margin).excess(excess).failure(failure);
        let learner =
            learner.elimination(halfspaces::pac::Elimination::Never).seed(seed).check()?;
        let plan = learner.plan();
        let (points, labels) = take(&mut instance.stream(seed + 8), plan.examples() as usize)?;
        let fit = learner.fit(&Points::new(points.clone(), 3)?, &labels)?;
        let setting = [6.0, margin, excess, failure, extra];
        let y = signs(&labels);
        let given = [
            ("dim", &[3.0][..]),
            ("points", &points),
            ("labels", &y),
            ("setting", &setting),
            ("step", &[fit.origin().step as f64]),
        ];
        let found = [
            ("plan", &of_plan(plan)[..]),
            ("weights", fit.halfspace().normal()),
            ("errors", &[fit.validation_errors() as f64]),
        ];
        print(claim, &given, &found)?;
    }

    // Compute the certificate of P1 at random vectors, for known flip probabilities.
    let mut rng: ChaCha8Rng = rng_for(RngStream::CALLER, seed + 9);
    let pool = MarginBall::new(&target, 0.2)?.sample(200, seed + 10)?;
    let flips: Vec<f64> = (0..200).map(|_| 0.3 * rng.random::<f64>()).collect();
    for (code, denominator) in [(0.0, Denominator::Plus(0.2)), (1.0, Denominator::AtLeast(0.2))] {
        let direction = Direction { link: SignLink { level: 0.4 }, denominator };
        let w: Vec<f64> = (0..3).map(|_| 3.0 * rng.random::<f64>() - 1.5).collect();
        let mut value = 0.0;
        for (x, flip) in pool.rows().zip(&flips) {
            let truth = Label::from_sign(x.dot(target.normal()));
            let inner = x.dot(&w);
            let mean = (1.0 - flip) * direction.coefficient(inner, truth)
                + flip * direction.coefficient(inner, -truth);
            value += mean * (inner - x.dot(target.normal())) / 200.0;
        }
        let given = [
            ("dim", &[3.0][..]),
            ("points", pool.as_slice()),
            ("flips", &flips),
            ("target", target.normal()),
            ("w", &w),
            ("denominator", &[code]),
        ];
        print("P1", &given, &[("certificate", &[value])])?;
    }

    let setting = MassartSetting { noise: 0.2, margin: 0.4 };
    let online = OnlineMassart::new(3, setting, Horizon::Known(1000))?;
    let (first, first_labels) = (&points[..3000], &labels[..1000]);
    let (learner, mistakes) = passes(online, &Points::new(first.to_vec(), 3)?, first_labels, 1)?;
    print(
        "P9",
        &[("dim", &[3.0]), ("points", first), ("labels", &y[..1000]), ("setting", &[0.2, 0.4])],
        &[
            ("mistakes", &[mistakes]),
            ("weights", learner.weights()),
            ("excess", &[bounds::massart_excess(1000.0, 0.2, 0.4)]),
            ("deviation", &[bounds::massart_deviation(1000.0, 0.4, 0.05)]),
        ],
    )?;
    let pushed = PushAway::new(&Halfspace::new(vec![0.3, -2.0, 1.0])?, 0.3)?;
    let mut moved = Vec::new();
    for x in pool.rows() {
        moved.append(&mut pushed.apply(x)?);
    }
    let given = [
        ("dim", &[3.0][..]),
        ("points", pool.as_slice()),
        ("w", &[0.3, -2.0, 1.0]),
        ("margin", &[0.3]),
    ];
    print("P11", &given, &[("moved", &moved)])
}

/// Bounds that are computed from numbers alone, without data.
fn numbers() -> Result<(), Failure> {
    let dimension = projected_dimension(1000, 0.1, 0.05) as f64;
    print("P12", &[("setting", &[1000.0, 0.1, 0.05])], &[("dimension", &[dimension])])?;
    for (errors, points) in [(0, 50), (7, 200), (131, 1000)] {
        let bound = ErrorCount::new(errors, points)?.error_bound(0.05)?.value();
        let given = [("setting", &[errors as f64, points as f64, 0.05][..])];
        print("PT", &given, &[("bound", &[bound])])?;
    }
    for (disagreements, points) in [(0, 100), (30, 1000), (400, 5000)] {
        let bound = wrong_labels_bound(disagreements, points, 0.05) as f64;
        let given = [("setting", &[disagreements as f64, points as f64, 0.05][..])];
        print("PW", &given, &[("bound", &[bound])])?;
    }
    Ok(())
}
