//! Runs so small that pen and paper give every number; the comments show the working. What a
//! learner's own file works by hand is not repeated here.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::float_cmp, reason = "these values are exact")]

use halfspaces_forster::{Accuracy, ForsterTransform, Isotropy, Normalisation, Outcome};
use halfspaces_linalg::{DenseRow, Halfspace, Label, PointSet, Points};
use halfspaces_online::{
    Alma, AveragedPerceptron, Centre, ChainLength, Ellipsoid, Greedy, HardMargin, Horizon, Kernel,
    KernelPerceptron, ModifiedPerceptron, OnlineLearner, OnlineMassart, SecondOrderPerceptron,
    StrongLearner, TwoChains, VersionSpace, VersionSpaceGreedy, VolumetricCentre, VotedPerceptron,
    Winnow, label_pool,
};
use halfspaces_pac::{
    DecisionListOfHalfspaces, ErrorCount, PushAway, ThresholdRule, projected_dimension,
    projected_margin,
};

const PLUS: Label = Label::Positive;
const MINUS: Label = Label::Negative;

fn row(values: &[f64]) -> DenseRow<'_> {
    DenseRow::new(values).unwrap()
}

/// One round; whether it was a mistake.
fn errs<L: OnlineLearner>(learner: &mut L, x: &[f64], truth: Label) -> bool {
    learner.observe(row(x), truth).unwrap().is_wrong(truth)
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(near, "{found:?}, not {expected:?}");
}

#[test]
fn averaged_and_voted_perceptron() {
    // w predicts in rounds 1, 2, 3, 4 as 0, (-1, 0), (-1, 0), (-1, 2):
    // round 1: w·x = 0, predicted +, wrong: w = -(1, 0)
    // round 2: w·x = -1, right.  Round 3: (0, 2)·w = 0, predicted +, right.
    // round 4: w·(1, 1) = -1, wrong: w = (-1, 0) + (1, 1) = (0, 1)
    let rounds = [
        ([1.0, 0.0], MINUS, true),
        ([1.0, 0.0], MINUS, false),
        ([0.0, 2.0], PLUS, false),
        ([1.0, 1.0], PLUS, true),
    ];
    let mut averaged = AveragedPerceptron::new(2).unwrap();
    let mut voted = VotedPerceptron::new(2).unwrap();
    for (x, truth, wrong) in rounds {
        assert_eq!(errs(&mut averaged, &x, truth), wrong);
        assert_eq!(errs(&mut voted, &x, truth), wrong);
    }
    assert_eq!((averaged.weights(), voted.weights()), (&[0.0, 1.0][..], &[0.0, 1.0][..]));
    // Mean of the weights that predicted: (0 + 3 (-1, 0))/4.
    close(averaged.average().unwrap().normal(), &[-0.75, 0.0]);
    // On (1, 1): w = 0 votes + once, (-1, 0) votes - three times, (0, 1) has not predicted: (1-3)/4.
    assert_eq!(voted.vote(row(&[1.0, 1.0])).unwrap().value, -0.5);
    // A fifth round lets (0, 1) vote: (1 - 3 + 1)/5.
    assert!(!errs(&mut voted, &[0.0, 1.0], PLUS));
    assert_eq!(voted.vote(row(&[1.0, 1.0])).unwrap().value, -0.2);
}

#[test]
fn modified_perceptron() {
    let mut learner = ModifiedPerceptron::from_start(vec![3.0, 4.0], 0.1).unwrap();
    close(learner.weights(), &[0.6, 0.8]);
    // w·x = 0.6 > 0.1, predicted +, wrong: w -= 0.6 (1, 0), to norm 1. The length of x does not matter.
    assert!(errs(&mut learner, &[5.0, 0.0], MINUS));
    close(learner.weights(), &[0.0, 1.0]);
    // |w·x| = 0.06 <= 0.1: an abstention, no mistake, whatever the label.
    let x = [(1.0f64 - 0.06 * 0.06).sqrt(), 0.06];
    for truth in [PLUS, MINUS] {
        let prediction = learner.observe(row(&x), truth).unwrap();
        assert!(prediction.abstains && !prediction.is_wrong(truth));
    }
    // w·x = 0.6, wrong: w -= 0.6 (0.8, 0.6) = (-0.48, 0.64), of norm 0.8.
    assert!(errs(&mut learner, &[0.8, 0.6], MINUS));
    close(learner.weights(), &[-0.6, 0.8]);
    assert_eq!(learner.updates(), 2);
}

#[test]
fn kernel_perceptron_on_exclusive_or() {
    // K(x, z) = (x·z)². (1, 1) and (1, -1) are orthogonal: K = 0. K of opposite points: (-2)² = 4.
    let mut learner = KernelPerceptron::new(2, Kernel::Polynomial { degree: 2 }).unwrap();
    assert!(!errs(&mut learner, &[1.0, 1.0], PLUS)); // nothing learned: 0, predicted +
    assert!(errs(&mut learner, &[1.0, -1.0], MINUS)); // 0, predicted +: the support, of sign -
    assert!(!errs(&mut learner, &[-1.0, -1.0], PLUS)); // -0²
    assert_eq!(learner.predict(row(&[-1.0, 1.0])).unwrap().value, -4.0);
    assert!(!errs(&mut learner, &[-1.0, 1.0], MINUS));
    assert_eq!(learner.supports(), 1);
    // Kernels of (1, 2) and (3, -1): x·z = 1, ‖x - z‖²/2 = (4 + 9)/2.
    let value = |kernel: Kernel| kernel.value(row(&[1.0, 2.0]), &[3.0, -1.0]).unwrap();
    assert_eq!(value(Kernel::Linear), 1.0);
    assert_eq!(value(Kernel::Polynomial { degree: 3 }), 1.0);
    assert_eq!(value(Kernel::Inhomogeneous { degree: 3 }), 8.0);
    close(&[value(Kernel::Gaussian { scale: 2.0 })], &[(-6.5f64).exp()]);
}

#[test]
fn alma() {
    // α = 1: a correction whenever y (w·x) <= 0.
    let mut learner = Alma::new(2, 1.0).unwrap();
    // k = 1: w = √2 (0.6, 0.8), beyond the ball, scaled back.
    learner.observe(row(&[3.0, 4.0]), PLUS).unwrap();
    close(learner.weights(), &[0.6, 0.8]);
    // k = 2: y (w·x) = -0.6: w += (√2/√2) (-1, 0), of norm √0.8.
    learner.observe(row(&[-7.0, 0.0]), PLUS).unwrap();
    close(learner.weights(), &[-0.4, 0.8]);
    // y (w·x) = 0.8 > 0: none.
    learner.observe(row(&[0.0, -1.0]), MINUS).unwrap();
    assert_eq!(learner.updates(), 2);
    // α = 1/2 also wants margin: (1 - 1/2) √8/(1/2)/√2 = 2 in the second correction, more than any.
    let mut wide = Alma::new(2, 0.5).unwrap();
    wide.observe(row(&[3.0, 4.0]), PLUS).unwrap();
    wide.observe(row(&[3.0, 4.0]), PLUS).unwrap();
    assert_eq!(wide.updates(), 2);
}

#[test]
fn winnow() {
    let mut learner = Winnow::new(4).unwrap();
    // 1 < 4, then 2 < 4: doubled twice; 4 >= 4.
    assert!(errs(&mut learner, &[1.0, 0.0, 0.0, 0.0], PLUS));
    assert!(errs(&mut learner, &[1.0, 0.0, 0.0, 0.0], PLUS));
    assert!(!errs(&mut learner, &[1.0, 0.0, 0.0, 0.0], PLUS));
    // 4 + 1 >= 4, wrong: both halved.
    assert!(errs(&mut learner, &[1.0, 1.0, 0.0, 0.0], MINUS));
    assert_eq!(learner.weights(), [2.0, 0.5, 1.0, 1.0]);
}

#[test]
fn second_order_perceptron() {
    let mut learner = SecondOrderPerceptron::new(2, 1.0).unwrap();
    // S = I + (1, 0)(1, 0)' = diag(2, 1), v = (-1, 0).
    assert!(errs(&mut learner, &[1.0, 0.0], MINUS));
    close(learner.weights(), &[-0.5, 0.0]);
    close(&[learner.log_det()], &[2f64.ln()]);
    // S = [3 1; 1 2], of determinant 5, S⁻¹ = [2 -1; -1 3]/5, v = (-1, 0) + (1, 1) = (0, 1).
    assert!(errs(&mut learner, &[1.0, 1.0], PLUS));
    close(learner.weights(), &[-0.2, 0.6]);
    close(&[learner.log_det()], &[5f64.ln()]);
}

#[test]
fn online_massart() {
    // η = 1/4, γ = 1/2, T = 4: β = 1/2, λ = (1/2)/(2 · 3/4 · 2) = 1/6.
    let mut learner = OnlineMassart::new(1, 0.25, 0.5, Horizon::Known(4)).unwrap();
    // w = 0 predicts +: w -= λ (1/2 + 1)/(1/2) = 1/2.
    assert!(errs(&mut learner, &[1.0], MINUS));
    close(learner.weights(), &[-0.5]);
    // Right, and moves all the same: w -= λ (-1/2 + 1)/(1/2 + 1/2) = 1/12.
    assert!(!errs(&mut learner, &[1.0], MINUS));
    close(learner.weights(), &[-7.0 / 12.0]);
    // Wrong: w -= λ (-1/2 - 1)/(7/12 + 1/2) = -3/13.
    assert!(errs(&mut learner, &[1.0], PLUS));
    close(learner.weights(), &[-7.0 / 12.0 + 3.0 / 13.0]);
}

#[test]
fn centres_after_one_and_two_cuts() {
    // d = 2: the centre moves by 1/(d+1) = 1/3 of the axis cut across, which shrinks to 2/3; the
    // other grows to 2/√3. After both cuts the axes are (2/√3)(2/3) each.
    let mut ellipsoid = Ellipsoid::new(2).unwrap();
    ellipsoid.cut(&[1.0, 0.0]).unwrap();
    close(ellipsoid.centre(), &[1.0 / 3.0, 0.0]);
    let across = 2.0 / 3f64.sqrt();
    close(&[ellipsoid.log_volume()], &[(across * 2.0 / 3.0).ln()]);
    ellipsoid.cut(&[0.0, 1.0]).unwrap();
    close(ellipsoid.centre(), &[1.0 / 3.0, across / 3.0]);
    close(&[ellipsoid.log_volume()], &[2.0 * (across * 2.0 / 3.0).ln()]);

    // The learner cuts at its mistakes: y = - at w = 0 cuts by -(1, 0), whatever ‖x‖.
    let mut learner = VersionSpace::new(Ellipsoid::new(2).unwrap());
    assert!(errs(&mut learner, &[9.0, 0.0], MINUS));
    close(learner.centre().centre(), &[-1.0 / 3.0, 0.0]);

    // The unit w of largest least margin to (1, 0) and (0, 1) is the diagonal.
    let mut hard = HardMargin::new(2).unwrap();
    hard.cut(&[1.0, 0.0]).unwrap();
    hard.cut(&[0.0, 1.0]).unwrap();
    let half = 0.5f64.sqrt();
    assert!(hard.centre().iter().all(|v| (v - half).abs() < 1e-7));
    assert!((hard.margin() - half).abs() < 1e-7);

    // d = 1: V = ½ ln H over [-1, 1] with H = 1/(1+w)² + 1/(1-w)²; at 0 it is ½ ln 2. With w >= 0
    // too, H' = 0 reads 1/(1-w)³ = 1/(1+w)³ + 1/w³.
    let mut volumetric = VolumetricCentre::new(1).unwrap();
    close(&[volumetric.potential()], &[0.5 * 2f64.ln()]);
    volumetric.cut(&[1.0]).unwrap();
    let w = volumetric.centre()[0];
    let slope = (1.0 - w).powi(-3) - (1.0 + w).powi(-3) - w.powi(-3);
    assert!(w > 0.5 && w < 0.6 && slope.abs() < 1e-6, "{w}: {slope}");
    let h = (1.0 - w).powi(-2) + (1.0 + w).powi(-2) + w.powi(-2);
    assert!((volumetric.potential() - 0.5 * h.ln()).abs() < 1e-9);
}

#[test]
fn greedy() {
    let points = Points::from_rows(&[[1.0, 0.0], [0.8, 0.6], [0.0, 2.0]]).unwrap();
    // All values are 0 at first: point 0, predicted +, right; w = (1, 0).
    // |w·x|/‖x‖ of the rest: 0.8 and 0. Point 1, predicted +, wrong: w -= 0.8 (0.8, 0.6).
    // w = (0.36, -0.48), to norm 1 (0.6, -0.8), predicts point 2 at -0.8, wrong: w += 0.8 (0, 1), to
    // norm 1.
    let (learner, transcript) =
        label_pool(Greedy::new(2).unwrap(), &points, &[PLUS, MINUS, PLUS]).unwrap();
    let played: Vec<_> = transcript.rounds().iter().map(|r| (r.index, r.is_mistake())).collect();
    assert_eq!(played, [(0, false), (1, true), (2, true)]);
    close(learner.weights(), &[1.0, 0.0]);
    let values: Vec<f64> = transcript.rounds().iter().map(|r| r.prediction.value).collect();
    close(&values, &[0.0, 0.8, -0.8]);
}

#[test]
fn greedy_in_the_version_space() {
    // Point 0, predicted + at w = 0, is right and the first cut: w = (1, 0). Point 1, predicted +, is
    // wrong: cut by -(0.8, 0.6) too.
    let points = Points::from_rows(&[[1.0, 0.0], [0.8, 0.6]]).unwrap();
    let learner = VersionSpaceGreedy::new(HardMargin::new(2).unwrap());
    let (learner, transcript) = label_pool(learner, &points, &[PLUS, MINUS]).unwrap();
    assert_eq!(transcript.mistakes(), 1);
    assert_eq!(learner.cuts(), 2);
    // The unit w with (1, 0)·w = -(0.8, 0.6)·w: along (1, 0) - (0.8, 0.6) = (0.2, -0.6).
    let length = 0.4f64.sqrt();
    assert!((learner.centre().centre()[0] - 0.2 / length).abs() < 1e-6);
    assert!((learner.centre().centre()[1] + 0.6 / length).abs() < 1e-6);
}

#[test]
fn algorithm_1() {
    // d = 1, one bucket a chain, every label -: of the 4 points of the start the first is predicted +
    // (the sum is 0) and wrong, the others and the two in the buckets are then right.
    let points = Points::new(vec![0.1, 2.0, 3.0, 0.4, 5.0, 6.0], 1).unwrap();
    let learner = TwoChains::new(1, ChainLength::Fixed(1), 7).unwrap();
    let (learner, transcript) = label_pool(learner, &points, &[MINUS; 6]).unwrap();
    let mistakes: Vec<bool> = transcript.rounds().iter().map(|r| r.is_mistake()).collect();
    assert_eq!(mistakes, [true, false, false, false, false, false]);
    assert_eq!((learner.chain_length(), learner.chain_mistakes()), (1, 0));
    assert_eq!(learner.weights(), [&[-1.0][..], &[-1.0]]);
}

#[test]
fn strong_learner_on_a_line() {
    // d = 1: any start is + or -; the first mistake turns it for good, if there is one at all.
    let points = Points::new(vec![1.0, -2.0, 3.0, -4.0, 5.0], 1).unwrap();
    let labels: Vec<Label> = points.as_slice().iter().map(|v| Label::of_sign(-v)).collect();
    let learner = StrongLearner::practical(1, 3).unwrap();
    let (_, transcript) = label_pool(learner, &points, &labels).unwrap();
    assert_eq!(transcript.len(), 5);
    assert!(transcript.mistakes() <= 1);
}

#[test]
fn positions_known_beforehand() {
    // The cross-polytope: M = (d/2d) Σ uu' = I.
    let cross = Points::from_rows(&[[2.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -0.5]]).unwrap();
    let unit = cross.normalised().unwrap();
    let certificate = Isotropy::of(&unit).unwrap();
    close(&[certificate.least(), certificate.largest()], &[1.0, 1.0]);
    // Three points to one: M = (2/4) diag(3, 1).
    let three = Points::from_rows(&[[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).unwrap();
    let certificate = Isotropy::of(&three).unwrap();
    close(&[certificate.least(), certificate.largest()], &[0.5, 1.5]);

    // Three directions at 120° are in position; seen through B = [1 2; 0 1] the scatter is BB' =
    // [5 2; 2 1], whatever their lengths; its trace is 6, scaled to 2. The determinant is 1.
    let h = 0.75f64.sqrt();
    let star = [[1.0, 0.0], [-0.5, h], [-0.5, -h]];
    let seen = star.map(|[a, b]| [a + 2.0 * b, b]);
    let points = Points::from_rows(&seen).unwrap();
    let solver = ForsterTransform::params().accuracy(Accuracy::TwoSided(1e-10)).check().unwrap();
    let fit = solver.fit(&points).unwrap();
    let Outcome::RadiallyIsotropic(position) = fit.outcome() else { panic!("{fit:?}") };
    let expected = [[5.0, 2.0], [2.0, 1.0]];
    let by_trace = position.transform.scatter(Normalisation::Trace);
    let by_determinant = position.transform.scatter(Normalisation::Determinant);
    for i in 0..2 {
        for j in 0..2 {
            assert!((by_trace[(i, j)] - expected[i][j] / 3.0).abs() < 1e-9);
            assert!((by_determinant[(i, j)] - expected[i][j]).abs() < 1e-9);
        }
    }

    // Three of four points on a line: 3 · 2 > 1 · 4, by 3/4 - 1/2.
    let line = Points::from_rows(&[[1.0, 1.0], [2.0, 2.0], [-3.0, -3.0], [1.0, 0.0]]).unwrap();
    let fit = solver.fit(&line).unwrap();
    let Outcome::HeavySubspace(position) = fit.outcome() else { panic!("{fit:?}") };
    assert_eq!(position.subspace.members(), [0, 1, 2]);
    close(&[position.subspace.excess()], &[0.25]);
    let half = 0.5f64.sqrt();
    assert!(position.subspace.basis().as_slice().iter().all(|v| (v.abs() - half).abs() < 1e-12));
}

#[test]
fn pushing_away() {
    // γ = 0.6, ŵ = (1, 0): 0.1 < γ/3 = 0.2, so (0.1, 0.9) moves to (0.3, 0.9), then to norm 1;
    // (0.2, 0) is far enough.
    let map = PushAway::new(&Halfspace::new(vec![7.0, 0.0]).unwrap(), 0.6).unwrap();
    let length = 0.9f64.sqrt();
    close(&map.apply(row(&[0.1, 0.9])).unwrap(), &[0.3 / length, 0.9 / length]);
    let length = 0.9f64.hypot(0.3);
    close(&map.apply(row(&[-0.1, 0.9])).unwrap(), &[-0.3 / length, 0.9 / length]);
}

#[test]
fn dimensions_of_random_projections() {
    // γ = 1/2: ⌈16 ln(4N/δ)/(¼ · ¾)⌉; ln 40 000 = 10.596635: 904.246.
    // The margin kept is γ/(2+γ).
    assert_eq!(projected_dimension(1000, 0.5, 0.1), 905);
    assert_eq!(projected_margin(0.5), 0.2);
    // One point, γ = 1, δ = 1/2: 16 ln 8/½ = 66.54.
    assert_eq!(projected_dimension(1, 1.0, 0.5), 67);
}

#[test]
fn a_list_of_two_rules() {
    // |x₁| >= 2 decides by x₁, else |x₂| >= 1 by -x₂, else -.
    let rule = |w: [f64; 2], t| ThresholdRule::new(Halfspace::new(w.to_vec()).unwrap(), t).unwrap();
    let rules = vec![rule([1.0, 0.0], 2.0), rule([0.0, -1.0], 1.0)];
    let list = DecisionListOfHalfspaces::new(2, rules, MINUS).unwrap();
    let points =
        Points::from_rows(&[[2.0, -5.0], [-3.0, -5.0], [1.9, -5.0], [1.9, 5.0], [1.0, 0.5]])
            .unwrap();
    let decided: Vec<_> = points.rows().map(|x| list.rule_for(x).unwrap()).collect();
    assert_eq!(decided, [Some(0), Some(0), Some(1), Some(1), None]);
    let truth = [PLUS, MINUS, PLUS, MINUS, MINUS];
    assert_eq!(ErrorCount::of(&list, &points, &truth).unwrap().errors(), 0);
    let others = [PLUS, PLUS, PLUS, MINUS, PLUS];
    assert_eq!(ErrorCount::of(&list, &points, &others).unwrap().rate(), 0.4);
}
