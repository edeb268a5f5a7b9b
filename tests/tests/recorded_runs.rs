//! Runs whose results were recorded. A recorded number does not say that the result is right; other tests do. It fails
//! when a change alters a run that it should not alter. After an intended change, take the new numbers from the message
//! of the failed test.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{
    Builtin, Clusters, Excess, Gaussian, GlmNoise, HeavyCase, HeavyKind, IllConditionedBall,
    Instance, MarginBall, MarginShell, Marginal, Massart, Rcn, Region, Rotation, SpikedBall,
    StandardLink, StudentT, UnitSphere, random_target,
};
use halfspaces_eval::{Axis, Colour, Figure, Layer};
use halfspaces_linalg::{
    Classifier, FitSample, FitStream, Halfspace, Label, Params, PointSet, Points, SparsePoints,
    Threads,
};
use halfspaces_online::{
    Aggressiveness, Alma, Arow, AsGiven, AveragedPerceptron, BayesPoint, CentreOfGravity,
    ChainLength, Ellipsoid, Greedy, HardMargin, Horizon, Kernel, KernelPerceptron, Labelling,
    MassartSetting, ModifiedPerceptron, OnlineLeakyRelu, OnlineLearner, OnlineMassart,
    PassiveAggressive, Perceptron, SecondOrderPerceptron, SelfDirectedLearner, StrongLearner,
    Transcript, TwoChains, VersionSpace, VersionSpaceGreedy, VolumetricCentre, label_pool, run,
};
use halfspaces_pac::{
    Calibration, Ckmy, CuttingPlane, Ddk, Dgt, GlmHeuristic, GlmPerspectron, GlmSchedule,
    GridPerspectron, GridSchedule, Heuristic, LabelAudit, LinearSvm, LogisticRegression, Margin,
    MarginSearch, MisspecifiedGlm, Perspectron, PositionedMassart, SamplePerspectron, Schedule,
};
use serde::Serialize;

/// One number that depends on every value and on the order of the values.
fn fold(values: impl IntoIterator<Item = f64>) -> f64 {
    let weighted = values.into_iter().enumerate();
    weighted.map(|(i, x)| x * (1.0 + (i as f64 * 0.618_033_988_7).fract())).sum()
}

/// The numbers of a value that can be saved, in the order of its fields.
fn numbers(value: &impl Serialize) -> Vec<f64> {
    fn collect(value: &serde_json::Value, into: &mut Vec<f64>) {
        match value {
            serde_json::Value::Number(number) => into.extend(number.as_f64()),
            serde_json::Value::Bool(yes) => into.push(f64::from(*yes)),
            serde_json::Value::Array(all) => all.iter().for_each(|v| collect(v, into)),
            serde_json::Value::Object(all) => all.values().for_each(|v| collect(v, into)),
            serde_json::Value::Null | serde_json::Value::String(_) => {}
        }
    }
    let mut all = Vec::new();
    collect(&serde_json::to_value(value).unwrap(), &mut all);
    all
}

/// Results with their names.
#[derive(Default)]
struct Found(Vec<(&'static str, f64)>);

impl Found {
    fn add(&mut self, name: &'static str, values: impl IntoIterator<Item = f64>) {
        self.0.push((name, fold(values)));
    }

    fn saved(&mut self, name: &'static str, value: &impl Serialize) {
        self.add(name, numbers(value));
    }

    fn transcript(&mut self, name: &'static str, transcript: &Transcript) {
        let rounds = transcript.rounds().iter();
        self.add(
            name,
            rounds.flat_map(|round| {
                let mistake = f64::from(round.is_mistake());
                [round.index as f64, round.prediction.value, mistake]
            }),
        );
    }

    /// Compares with the recorded numbers, up to rounding.
    fn check(self, recorded: &[(&str, f64)]) {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1e-3);
        let same = self.0.len() == recorded.len()
            && self.0.iter().zip(recorded).all(|(a, b)| a.0 == b.0 && near(a.1, b.1));
        let lines: String =
            self.0.iter().map(|(n, v)| format!("        ({n:?}, {v:?}),\n")).collect();
        let differ = self.0.iter().zip(recorded).filter(|(a, b)| !near(a.1, b.1));
        let names: Vec<_> = differ.map(|(a, _)| a.0).collect();
        assert!(same, "{names:?} differ; the new numbers are\n{lines}");
    }
}

/// 150 points in six dimensions with a margin, a tenth of the labels wrong.
fn noisy() -> (Points, Vec<Label>) {
    let target = random_target(6, 1).unwrap();
    let ball = MarginBall::new(&target, 0.2).unwrap();
    Instance::new(ball, target, Rcn::new(0.1).unwrap()).unwrap().sample(150, 2).unwrap()
}

/// 150 points in six dimensions with a margin and right labels.
fn clean() -> (Points, Vec<Label>, Halfspace) {
    let target = random_target(6, 1).unwrap();
    let points = MarginBall::new(&target, 0.1).unwrap().sample(150, 3).unwrap();
    let labels = target.label_all(&points).unwrap();
    (points, labels, target)
}

#[test]
fn distributions() {
    fn draw<M: Marginal>(found: &mut Found, name: &'static str, marginal: &M) {
        found.add(name, marginal.sample(60, 11).unwrap().as_slice().iter().copied());
    }
    let mut found = Found::default();
    let target = random_target(5, 1).unwrap();
    let towards = random_target(5, 2).unwrap();
    let ball = MarginBall::new(&target, 0.2).unwrap();
    draw(&mut found, "sphere", &UnitSphere::new(5).unwrap());
    draw(&mut found, "gaussian", &Gaussian::new(5, 30.0).unwrap());
    draw(&mut found, "student", &StudentT::new(5, 2.0, 30.0).unwrap());
    draw(&mut found, "ball", &ball);
    draw(
        &mut found,
        "ball in the plane",
        &MarginBall::new(&random_target(2, 1).unwrap(), 0.3).unwrap(),
    );
    draw(&mut found, "narrow", &MarginBall::new(&random_target(2, 1).unwrap(), 0.98).unwrap());
    draw(&mut found, "shell", &MarginShell::new(&target, 0.2, 0.4).unwrap());
    draw(&mut found, "ill-conditioned", &IllConditionedBall::new(&target, 0.2, 50.0).unwrap());
    draw(&mut found, "spiked", &SpikedBall::new(&target, 0.2, &towards, 0.4).unwrap());
    draw(&mut found, "clusters", &Clusters::random(5, 4, 0.2, 3).unwrap());
    for kind in HeavyKind::ALL {
        let values = [Excess::Boundary, Excess::OnePoint, Excess::Share(0.6)].into_iter().flat_map(
            |excess| {
                let case = HeavyCase::new(kind, 5, 2, 40, excess, 12).unwrap();
                let rows = case.points().as_slice().to_vec();
                rows.into_iter().map(|x| x.signum() * x.abs().ln_1p()).chain([case.obstruction()])
            },
        );
        found.add("heavy", values);
    }
    let rotation = Rotation::random(5, 13).unwrap();
    found.add(
        "rotation",
        rotation.apply(&ball.sample(5, 1).unwrap()).unwrap().as_slice().iter().copied(),
    );
    let guesses = UnitSphere::new(5).unwrap().sample(3, 2).unwrap();
    let noise =
        Massart::against_least_squares(0.3, &ball.sample(200, 3).unwrap(), &target, &guesses)
            .unwrap();
    let instance = Instance::new(ball, target, noise).unwrap();
    let population = instance.population(300, 4).unwrap();
    let error = population.error(&towards).unwrap();
    let opt = population.opt();
    found.add(
        "adversary",
        [
            opt.mean(),
            opt.standard_error(),
            error.mean(),
            error.standard_error(),
            population.excess(&towards).unwrap().mean(),
        ],
    );
    found.check(&DISTRIBUTIONS);
}

const DISTRIBUTIONS: [(&str, f64); 24] = [
    ("sphere", -4.688_106_237_51),
    ("gaussian", -17.628_832_459_2),
    ("student", -1.302_605_090_01),
    ("ball", -3.976_501_331_29),
    ("ball in the plane", 3.534_491_583_36),
    ("narrow", 17.011_842_473_9),
    ("shell", -12.456_533_214),
    ("ill-conditioned", -2.929_630_634_22),
    ("spiked", 16.417_120_188_6),
    ("clusters", -57.363_780_944_2),
    ("heavy", 21.218_161_299_8),
    ("heavy", -3.108_474_984_99),
    ("heavy", 85.996_459_017_9),
    ("heavy", 2_696.194_900_9),
    ("heavy", 30.956_854_692_4),
    ("heavy", -11.034_102_814_8),
    ("heavy", -37.276_869_681_6),
    ("heavy", -23.152_174_457),
    ("heavy", 212.864_044_471),
    ("heavy", -62.241_735_833_6),
    ("heavy", 54.484_214_673_9),
    ("heavy", 9.376_592_765_98),
    ("rotation", 3.610_760_850_99),
    ("adversary", 1.169_694_328_4),
];

#[test]
fn online_learners() {
    fn play<L: OnlineLearner>(found: &mut Found, name: &'static str, learner: L, noise: bool) {
        let (points, labels) = if noise {
            noisy()
        } else {
            let (p, l, _) = clean();
            (p, l)
        };
        let (_, transcript) = run(learner, &points, &labels, AsGiven::new()).unwrap();
        found.transcript(name, &transcript);
    }
    let mut found = Found::default();
    let f = &mut found;
    let setting = MassartSetting { noise: 0.1, margin: 0.2 };
    play(f, "perceptron", Perceptron::new(6).unwrap(), true);
    play(f, "averaged", AveragedPerceptron::new(6).unwrap(), true);
    play(f, "modified", ModifiedPerceptron::new(6, 0.05, 9).unwrap(), true);
    for (name, kind) in [
        ("passive", Aggressiveness::Unbounded),
        ("passive, capped", Aggressiveness::Capped(0.3)),
        ("passive, damped", Aggressiveness::Damped(0.3)),
    ] {
        play(f, name, PassiveAggressive::new(6, kind).unwrap(), true);
    }
    play(f, "arow", Arow::new(6, 0.3).unwrap(), true);
    play(f, "second order", SecondOrderPerceptron::new(6, 0.7).unwrap(), true);
    play(f, "alma", Alma::new(6, 0.3).unwrap(), true);
    play(f, "massart", OnlineMassart::new(6, setting, Horizon::Known(150)).unwrap(), true);
    play(f, "massart, doubling", OnlineMassart::new(6, setting, Horizon::Doubling).unwrap(), true);
    play(f, "leaky", OnlineLeakyRelu::new(6, setting, 150).unwrap(), true);
    for (name, kernel) in [
        ("linear", Kernel::Linear),
        ("polynomial", Kernel::Polynomial { degree: 3 }),
        ("inhomogeneous", Kernel::Inhomogeneous { degree: 2 }),
        ("gaussian", Kernel::Gaussian { scale: 0.7 }),
    ] {
        play(f, name, KernelPerceptron::new(6, kernel).unwrap(), true);
    }
    let kernel = Kernel::Gaussian { scale: 0.7 };
    let budgeted = KernelPerceptron::new(6, kernel).unwrap().with_budget(12).unwrap();
    play(f, "budget", budgeted, true);
    play(f, "ellipsoid", VersionSpace::new(Ellipsoid::new(6).unwrap()), false);
    play(f, "volumetric", VersionSpace::new(VolumetricCentre::new(6).unwrap()), false);
    play(f, "gravity", VersionSpace::new(CentreOfGravity::new(6, 5).unwrap()), false);
    play(f, "hard margin", VersionSpace::new(HardMargin::new(6).unwrap()), false);
    play(f, "bayes point", BayesPoint::new(6, 5).unwrap(), false);
    found.check(&ONLINE);
}

const ONLINE: [(&str, f64); 22] = [
    ("perceptron", 16_831.886_471_4),
    ("averaged", 16_831.886_471_4),
    ("modified", 16_835.667_879_1),
    ("passive", 16_820.640_370_5),
    ("passive, capped", 16_806.754_743_9),
    ("passive, damped", 16_816.606_276_4),
    ("arow", 16_824.853_353_5),
    ("second order", 16_832.535_891_2),
    ("alma", 16_812.788_962_6),
    ("massart", 16_826.168_248_7),
    ("massart, doubling", 16_840.741_437_5),
    ("leaky", 16_814.873_946_1),
    ("linear", 16_831.886_471_4),
    ("polynomial", 16_827.620_506_1),
    ("inhomogeneous", 16_780.016_091),
    ("gaussian", 16_821.032_593_7),
    ("budget", 16_842.197_345_5),
    ("ellipsoid", 16_789.503_062_5),
    ("volumetric", 16_783.348_819_5),
    ("gravity", 16_789.325_396_3),
    ("hard margin", 16_785.889_279_3),
    ("bayes point", 16_783.139_791_2),
];

#[test]
fn self_directed_learners() {
    fn play<L: SelfDirectedLearner>(found: &mut Found, name: &'static str, learner: L) {
        let points = UnitSphere::new(6).unwrap().sample(400, 7).unwrap();
        let labels = random_target(6, 8).unwrap().label_all(&points).unwrap();
        let (_, transcript) = label_pool(learner, &points, &labels).unwrap();
        found.transcript(name, &transcript);
    }
    // The run of `SampledGreedy` depends on the vector instructions of the processor, so it is not recorded.
    let mut found = Found::default();
    let f = &mut found;
    play(f, "greedy", Greedy::new(6).unwrap());
    for (name, length) in [
        ("chains of six", ChainLength::Fixed(6)),
        ("chains, exact", ChainLength::Exact { failure: 0.1 }),
        ("chains, theory", ChainLength::Theory { failure: 0.1 }),
    ] {
        play(f, name, TwoChains::new(6, length, 4).unwrap());
    }
    play(f, "strong", StrongLearner::recommended(6, 4).unwrap());
    play(f, "hard margin", VersionSpaceGreedy::new(HardMargin::new(6).unwrap()));
    play(f, "ellipsoid", VersionSpaceGreedy::new(Ellipsoid::new(6).unwrap()));
    play(f, "volumetric", VersionSpaceGreedy::new(VolumetricCentre::new(6).unwrap()));
    play(f, "gravity", VersionSpaceGreedy::new(CentreOfGravity::new(6, 5).unwrap()));
    found.check(&SELF_DIRECTED);
}

const SELF_DIRECTED: [(&str, f64); 9] = [
    ("greedy", 120_604.440_384),
    ("chains of six", 119_379.613_943),
    ("chains, exact", 118_089.079_098),
    ("chains, theory", 120_078.841_034),
    ("strong", 120_866.352_011),
    ("hard margin", 120_661.987_459),
    ("ellipsoid", 120_201.424_268),
    ("volumetric", 120_053.981_702),
    ("gravity", 120_149.556_36),
];

/// Counts of words in 240 short texts of three classes, as rows of norm 1.
fn texts() -> (SparsePoints, Vec<usize>) {
    let mut state = 17u64;
    let mut draw = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let classes: Vec<usize> = (0..240).map(|_| draw(3) as usize).collect();
    let rows = classes.iter().map(|class| {
        let mut counts = [0.0f64; 300];
        for _ in 0..12 {
            let word = if draw(4) == 0 { 100 * *class as u64 + draw(25) } else { draw(300) };
            counts[word as usize] += 1.0;
        }
        let norm = counts.iter().map(|c| c * c).sum::<f64>().sqrt();
        counts.map(|c| c / norm)
    });
    let rows: Vec<f64> = rows.flatten().collect();
    (SparsePoints::from_dense(&Points::new(rows, 300).unwrap()).unwrap(), classes)
}

#[test]
fn labelling_sessions() {
    fn play<P: PointSet>(
        found: &mut Found,
        name: &'static str,
        labelling: Labelling,
        points: &P,
        truth: &[usize],
    ) {
        let mut session = labelling.session(points).unwrap();
        let mut values = Vec::new();
        while let Some(question) = session.next() {
            values.extend([question.index as f64, question.class as f64, question.probability]);
            let class = truth[question.index];
            session.answer(class).unwrap();
            let answered = session.progress().answered;
            if answered.is_multiple_of(50) {
                let outlook = session.outlook();
                values.extend([outlook.expected, outlook.low, outlook.high]);
            }
        }
        values.push(session.progress().corrections as f64);
        found.add(name, values);
    }
    let mut found = Found::default();
    let f = &mut found;
    let (points, labels, _) = Builtin::Wdbc.load().unwrap().into_parts();
    let keep: Vec<usize> = (0..280).map(|i| 2 * i).collect();
    let pool = points.select(&keep).unwrap();
    let classes: Vec<usize> =
        keep.iter().map(|i| usize::from(labels[*i] == Label::Positive)).collect();
    let labelling = |classes| Labelling::params(classes).seed(7).check().unwrap();
    play(f, "tumours", labelling(2), &pool, &classes);
    let few = Labelling::params(2).seed(7).landmarks(40).check().unwrap();
    play(f, "tumours, few landmarks", few, &pool, &classes);
    let three: Vec<usize> =
        keep.iter().zip(&classes).map(|(i, c)| if i % 6 == 0 { 2 } else { *c }).collect();
    play(f, "three classes", labelling(3), &pool, &three);
    let (texts, classes) = texts();
    play(f, "texts", labelling(3), &texts, &classes);
    found.check(&LABELLING);
}

const LABELLING: [(&str, f64); 4] = [
    ("tumours", 59_172.760_417_6),
    ("tumours, few landmarks", 59_137.092_107_4),
    ("three classes", 60_350.060_780_7),
    ("texts", 44_353.514_000_7),
];

#[test]
fn learners_from_samples() {
    let mut found = Found::default();
    let (points, labels) = noisy();
    let (points, labels) = (&points, &labels[..]);
    for (name, c, intercept, squared) in [
        ("svm", 0.7, true, false),
        ("svm, no intercept", 3.0, false, false),
        ("svm, squared", 0.4, true, true),
    ] {
        let learner = LinearSvm::params().c(c).intercept(intercept).squared(squared).seed(3);
        found.saved(name, &learner.check().unwrap().fit(points, labels).unwrap());
    }
    let weights: Vec<f64> = (0..150).map(|i| f64::from(i % 4) * 0.5).collect();
    let learner = LinearSvm::params().c(0.7).seed(3).check().unwrap();
    found.saved("svm, weighted", &learner.fit_with(points, labels, Some(&weights), None).unwrap());
    for (name, c, intercept) in [("logistic", 0.7, true), ("logistic, no intercept", 30.0, false)] {
        let learner = LogisticRegression::params().c(c).intercept(intercept).check().unwrap();
        found.saved(name, &learner.fit(points, labels).unwrap());
    }
    let learner = LogisticRegression::params().c(0.7).check().unwrap();
    found.saved(
        "logistic, weighted",
        &learner.fit_weighted(points, labels, Some(&weights)).unwrap(),
    );
    let audit = LabelAudit::run(&learner, points, labels, 5, 1, Threads::ONE).unwrap();
    let suspects = |ranking: &[halfspaces_pac::Suspect]| -> Vec<f64> {
        ranking.iter().flat_map(|s| [s.row as f64, s.agreement, s.sort_key]).collect()
    };
    found.add("audit", suspects(audit.ranking()));
    found.add("audit by class", suspects(audit.ranking_by_class()));
    let bound = [0.05, 0.3].map(|failure| audit.wrong_at_most(failure).unwrap() as f64);
    found.add("wrong labels", [audit.likely_wrong() as f64, bound[0], bound[1]]);
    let sample = SamplePerspectron::params().check().unwrap();
    found.saved("sample perspectron", &sample.fit(points, labels).unwrap());

    // Values of three classes from two halfspaces.
    let first = Halfspace::new(vec![1.0, 2.0, 0.0, 1.0, 0.0, -1.0]).unwrap();
    let classes: Vec<usize> = labels
        .iter()
        .enumerate()
        .map(|(i, y)| if i % 5 == 0 { 2 } else { usize::from(*y == Label::Positive) })
        .collect();
    let values = points.rows().flat_map(|x| {
        let x = x.as_slice();
        let value: f64 = first.normal().iter().zip(x).map(|(w, x)| w * x).sum();
        [-value, value, x[2] - 0.4]
    });
    let values = Points::new(values.collect(), 3).unwrap();
    let ones = [1.0; 150];
    let calibration = Calibration::fit(&values, &classes, &ones, 1e3).unwrap();
    found.add("calibration", calibration.probabilities(&[0.3, -0.2, 0.5]));
    let calibration = Calibration::fit(&values, &classes, &weights, 1e3).unwrap();
    found.add("calibration, weighted", calibration.probabilities(&[0.3, -0.2, 0.5]));
    found.check(&SAMPLES);
}

const SAMPLES: [(&str, f64); 13] = [
    ("svm", 249.203_637_326),
    ("svm, no intercept", 909.342_794_648),
    ("svm, squared", 227.892_128_288),
    ("svm, weighted", 296.789_894_503),
    ("logistic", 111.645_771_138),
    ("logistic, no intercept", 3_908.680_597_41),
    ("logistic, weighted", 81.815_375_294_3),
    ("audit", 17_048.962_321_2),
    ("audit by class", 17_117.470_818_7),
    ("wrong labels", 273.598_667_119),
    ("sample perspectron", 1_803.976_023_91),
    ("calibration", 1.281_826_853_66),
    ("calibration, weighted", 1.277_425_941_83),
];

#[test]
fn baselines_and_decision_lists() {
    let mut found = Found::default();
    let target = random_target(4, 1).unwrap();
    let ball = MarginBall::new(&target, 0.3).unwrap();
    let noise = Massart::new(0.2, Region::Far(0.4)).unwrap();
    let instance = Instance::new(ball, target, noise).unwrap();
    let (points, labels) = instance.sample(1500, 4).unwrap();
    let (points, labels) = (&points, &labels[..]);
    let plane = CuttingPlane::params(0.2, 0.3).excess(0.1).batch(300).check().unwrap();
    let fit = plane.fit(points, labels).unwrap();
    found.add(
        "cutting plane",
        [fit.rounds() as f64, fit.estimated_error()]
            .into_iter()
            .chain(fit.halfspace().normal().iter().copied()),
    );
    let fit = Dgt::params(0.2, 0.3).excess(0.1).check().unwrap().fit(points, labels).unwrap();
    found.add("dgt", fit.rounds().iter().flat_map(|r| [r.points as f64, r.errors as f64, r.loss]));
    let fit = Ckmy::params(0.2, 0.3).excess(0.2).check().unwrap().fit(points, labels).unwrap();
    found.add("ckmy", fit.halfspace().normal().iter().copied().chain([fit.validation().rate()]));
    let fit = Ddk::params(0.2, 0.3).excess(0.5).check().unwrap().fit(points, labels).unwrap();
    found.add("ddk", fit.halfspace().normal().iter().copied().chain([fit.validation().rate()]));
    let link = StandardLink::massart(0.2).unwrap();
    for (name, heuristic) in [
        ("tangential", Heuristic::Tangential { cosine: 0.9 }),
        ("norm-dependent", Heuristic::NormDependent),
    ] {
        let learner = GlmHeuristic::params(heuristic, link, 0.3).excess(0.3).check().unwrap();
        let fit = learner.fit(points, labels).unwrap();
        found.add(name, fit.last().normal().iter().copied().chain([fit.mistakes() as f64]));
    }
    let noise = Massart::new(0.2, Region::Far(1e3)).unwrap();
    let instance =
        Instance::new(StudentT::new(4, 1.0, 1e4).unwrap(), random_target(4, 1).unwrap(), noise)
            .unwrap();
    let (points, labels) = instance.sample(1200, 2).unwrap();
    let learner = PositionedMassart::params(0.2).check().unwrap();
    let fit = learner.fit(&points, &labels).unwrap();
    found.add(
        "positioned",
        fit.certificates().iter().flat_map(|c| {
            [
                c.points as f64,
                c.members as f64,
                c.least,
                c.dim as f64,
                c.count.left as f64,
                c.count.inside as f64,
                c.count.errors as f64,
            ]
        }),
    );
    let right = fit.label_all(&points).unwrap().into_iter().zip(&labels).filter(|(a, b)| a == *b);
    found.add("positioned, right", [right.count() as f64]);
    found.check(&BASELINES);
}

const BASELINES: [(&str, f64); 8] = [
    ("cutting plane", 2.276_638_366_04),
    ("dgt", 1_896.339_232_63),
    ("ckmy", 0.699_443_297_919),
    ("ddk", 0.284_585_227_544),
    ("tangential", 852.368_286_826),
    ("norm-dependent", 852.368_417_568),
    ("positioned", 2_664.617_303_26),
    ("positioned, right", 1_198.0),
];

#[test]
fn perspectrons_on_streams() {
    let mut found = Found::default();
    let target = random_target(4, 1).unwrap();
    let ball = MarginBall::new(&target, 0.5).unwrap();
    let instance = Instance::new(ball, target.clone(), Rcn::new(0.1).unwrap()).unwrap();
    for (name, schedule) in
        [("paper", Schedule::Paper), ("corrected", Schedule::Corrected), ("ours", Schedule::Ours)]
    {
        let params =
            Perspectron::params(0.1, 0.5).excess(0.7).failure(0.3).schedule(schedule).seed(5);
        found.saved(name, &params.check().unwrap().fit_stream(&mut instance.stream(6)).unwrap());
    }
    let link = StandardLink::massart(0.1).unwrap();
    let noise = GlmNoise::new(link).unwrap();
    let glm = Instance::new(MarginBall::new(&target, 0.5).unwrap(), target, noise).unwrap();
    for (name, schedule) in [
        ("GLM, paper", GlmSchedule::Paper),
        ("GLM, corrected", GlmSchedule::Corrected),
        ("GLM, ours", GlmSchedule::Ours),
    ] {
        let params = GlmPerspectron::params(link, 0.5).excess(0.9).failure(0.3).schedule(schedule);
        found.saved(name, &params.check().unwrap().fit_stream(&mut glm.stream(6)).unwrap());
    }
    for (name, schedule) in
        [("grid, paper", GridSchedule::Paper), ("grid, corrected", GridSchedule::Corrected)]
    {
        let params = GridPerspectron::params(Margin::Known(0.5)).excess(0.8).failure(0.3);
        let params = params.schedule(schedule);
        found.saved(name, &params.check().unwrap().fit_stream(&mut instance.stream(6)).unwrap());
    }
    let told = StandardLink::massart(0.0).unwrap();
    let learner = MisspecifiedGlm::params(told, 0.5).excess(0.5).failure(0.3).check().unwrap();
    found.saved("misspecified", &learner.fit_stream(&mut glm.stream(6)).unwrap());
    let params = Perspectron::params(0.1, 1.0).excess(0.7).failure(0.3);
    let fit = MarginSearch::new(params).unwrap().fit_stream(&mut instance.stream(6)).unwrap();
    found.add("margin search", [fit.margin(), f64::from(fit.guesses())]);
    found.check(&PERSPECTRONS);
}

const PERSPECTRONS: [(&str, f64); 10] = [
    ("paper", 1_452.263_478_57),
    ("corrected", 1_515.709_701_12),
    ("ours", 2_603.970_476_72),
    ("GLM, paper", 2_068.245_109_84),
    ("GLM, corrected", 48_975.734_144_2),
    ("GLM, ours", 6_213.949_809_46),
    ("grid, paper", 2_025.467_694_43),
    ("grid, corrected", 6_836.519_010_18),
    ("misspecified", 65_064.625_873_7),
    ("margin search", 2.618_033_988_7),
];

#[test]
fn figures() {
    /// The numbers in a text, such as the coordinates in a drawing.
    fn written(text: &str) -> impl Iterator<Item = f64> {
        text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
            .filter_map(|word| word.parse().ok())
    }
    let colours = [Colour::Ink, Colour::Blue, Colour::Sky, Colour::Purple];
    let layer = |i: usize, name: &str| {
        let curve = |x: f64| (1.0 + i as f64 * 0.3) * x.sqrt() + 0.5;
        let data: Vec<(f64, f64)> =
            (1..6).map(|x| 3.0 * f64::from(x)).map(|x| (x, curve(x))).collect();
        let (name, colour) = (name.to_owned(), colours[i % 4]);
        match i % 3 {
            0 => Layer::Line { name, colour, dashed: i == 0, data },
            1 => Layer::Points { name, colour, data },
            _ => Layer::Band {
                name,
                colour,
                data: data.iter().map(|(x, y)| (*x, *y, 1.2 * y)).collect(),
            },
        }
    };
    let long = "a rather long name of a learner and its order in 10^6 points of the sphere";
    let names = ["one", "two", long, "four", "five", "six", "seven", "eight"];
    let figure = |layers: &[usize], x: Axis, y: Axis| Figure {
        name: "f".into(),
        title: "Mistakes grow with the square root".into(),
        caption: "Means over ten runs.".into(),
        x,
        y,
        layers: layers.iter().map(|i| layer(*i, names[*i])).collect(),
    };
    let mut found = Found::default();
    let lines = figure(&[0, 3], Axis::log("points"), Axis::linear("mistakes"));
    found.add("lines", written(&lines.to_svg()));
    found.add("lines, narrow", written(&lines.to_html()));
    found.add("lines, square", written(&lines.to_square_svg()));
    let many = figure(&[0, 1, 2, 3, 4, 5, 6, 7], Axis::linear("points"), Axis::log("mistakes"));
    found.add("many", written(&many.to_svg()));
    found.add("many, narrow", written(&many.to_html()));
    found.check(&FIGURES);
}

const FIGURES: [(&str, f64); 5] = [
    ("lines", 249_784.218_696),
    ("lines, narrow", 510_735.646_342),
    ("lines, square", 232_979.918_843),
    ("many", 313_417.205_643),
    ("many, narrow", 581_295.378_348),
];
