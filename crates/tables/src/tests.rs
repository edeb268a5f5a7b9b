//! Tests of properties of the classifier, on data with known answers.

use crate::candidate::families;
use crate::scaled_rows::ScaledRows;
use crate::{
    BinaryTableModel, ColumnScale, Method, MulticlassTableModel, Space, TableClassifier,
    TableParams,
};
use halfspaces_data::{Builtin, Gaussian, Marginal};
use halfspaces_linalg::{
    ClassModel, Classifier, DenseRow, FitSample, InputError, Label, Params, PointSet, Points,
    RngStream, RowView, SparsePoints, Threads, rng_for,
};
use halfspaces_pac::ErrorBound;
use rand::RngExt;

/// Points in the plane, their labels (inside or outside a circle, which no halfspace explains), and the same labels,
/// each flipped with probability 0.2.
fn ring(n: usize, seed: u64) -> (Points, Vec<Label>, Vec<Label>) {
    let points = Gaussian::new(2, 1.0).unwrap().sample(n, seed).unwrap();
    let clean: Vec<Label> = points.rows().map(|x| Label::from_sign(x.norm_sq() - 1.4)).collect();
    let mut rng = rng_for(RngStream::CALLER, seed);
    let flip = |y: &Label| if rng.random_bool(0.2) { -*y } else { *y };
    let noisy = clean.iter().map(flip).collect();
    (points, clean, noisy)
}

fn fit(params: TableParams, points: &Points, labels: &[Label]) -> BinaryTableModel {
    params.check().unwrap().fit(points, labels).unwrap()
}

fn error(model: &BinaryTableModel, points: &Points, labels: &[Label]) -> f64 {
    let found = model.label_all(points).unwrap();
    found.iter().zip(labels).filter(|(a, b)| a != b).count() as f64 / labels.len() as f64
}

#[test]
fn a_curved_boundary_is_found_under_noise() {
    let (points, _, noisy) = ring(600, 1);
    let model = fit(TableClassifier::params(), &points, &noisy);
    let (fresh, clean, fresh_noisy) = ring(4000, 2);
    assert!(error(&model, &fresh, &clean) < 0.08);
    // No halfspace over the columns is chosen.
    let chosen: Vec<_> = model.report().chosen().map(|entry| entry.candidate()).collect();
    assert!(chosen.iter().all(|candidate| candidate.space != Space::Columns));
    // The error on the validation rows, the bound and the error on fresh rows agree. All three count errors on noisy
    // labels.
    let truth = error(&model, &fresh, &fresh_noisy);
    assert!((model.report().error() - truth).abs() < 0.06, "{} {truth}", model.report().error());
    assert!(model.error_bound(0.01).unwrap().value() > truth);
    assert_eq!(model.report().learned_from(), 570);
    assert_eq!(model.report().compared_on(), 570);
    assert_eq!(model.report().held_out().unwrap().points(), 30);
    // Probabilities refer to the given labels: they are correct on average, and near 0.2 at the centre.
    let probabilities: Vec<f64> = fresh.rows().map(|x| model.probability(x).unwrap()).collect();
    let mean = probabilities.iter().sum::<f64>() / 4000.0;
    let fraction = fresh_noisy.iter().filter(|y| **y == Label::Positive).count() as f64 / 4000.0;
    assert!((mean - fraction).abs() < 0.05, "{mean} {fraction}");
    let centre =
        model.probability(Points::new(vec![0.0, 0.0], 2).unwrap().row(0).unwrap()).unwrap();
    assert!((0.08..0.32).contains(&centre), "{centre}");
}

#[test]
fn threads_and_sparseness_change_nothing_and_seeds_do() {
    let (points, _, noisy) = ring(120, 3);
    let model = fit(TableClassifier::params(), &points, &noisy);
    for count in [2, 3] {
        let params = TableClassifier::params().threads(Threads::new(count).unwrap());
        assert_eq!(fit(params, &points, &noisy), model);
    }
    let sparse = SparsePoints::from_dense(&points).unwrap();
    let learner = TableClassifier::params().check().unwrap();
    assert_eq!(learner.fit(&sparse, &noisy).unwrap(), model);
    assert_ne!(fit(TableClassifier::params().seed(1), &points, &noisy), model);
    // The decision value of a row is the same whether it is computed alone or together with others.
    let labels = model.label_all(&points).unwrap();
    for ((x, y), z) in points.rows().zip(&labels).zip(sparse.rows()) {
        assert_eq!(model.label(x).unwrap(), *y);
        assert_eq!(model.decision_value(x).unwrap(), model.decision_value(z).unwrap());
    }
    assert_eq!(model.label_rows(&points, 5..9).unwrap(), labels[5..9]);
    assert!(model.label_rows(&points, 0..121).is_err());
}

/// A class whose errors cost more is predicted more often.
#[test]
fn weights_are_used() {
    let (points, _, noisy) = ring(300, 4);
    let weights: Vec<f64> = (0..300).map(|i| if i % 3 == 0 { 0.5 } else { 2.0 }).collect();
    let learner = TableClassifier::params().held_out(0.0).check().unwrap();
    let fitted =
        |labels: &[Label], weights: &[f64]| learner.fit_weighted(&points, labels, weights).unwrap();
    let a = fitted(&noisy, &weights);
    assert_eq!(a.error_bound(0.05).unwrap(), ErrorBound::NoInformation);
    // Equal weights have no effect.
    assert_eq!(fitted(&noisy, &[3.0; 300]), learner.fit(&points, &noisy).unwrap());
    let hinges = |model: &BinaryTableModel| {
        let methods = model.report().compared().iter().map(|entry| entry.candidate.method);
        methods.filter(|method| matches!(method, Method::Hinge { .. })).count()
    };
    assert_eq!(hinges(&a), a.report().compared().len());
    let positives = |negative: f64, positive: f64| {
        let params = TableClassifier::params().class_weights(negative, positive);
        let labels = fit(params, &points, &noisy).label_all(&points).unwrap();
        labels.iter().filter(|y| **y == Label::Positive).count()
    };
    assert!(positives(1.0, 4.0) > positives(1.0, 1.0) + 20);
    assert!(positives(4.0, 1.0) + 20 < positives(1.0, 1.0));
}

#[test]
fn numbers_of_held_out_and_training_rows() {
    let counts = |n: usize, params: TableParams| {
        let values = (0..n).map(|i| f64::from((i % 97) as u8) - 48.0).collect();
        let points = Points::new(values, 1).unwrap();
        let labels: Vec<Label> = points.as_slice().iter().map(|v| Label::from_sign(*v)).collect();
        let model = fit(params.max_rows(200), &points, &labels);
        assert!(error(&model, &points, &labels) < 0.1);
        (model.report().held_out().map_or(0, |count| count.points()), model.report().learned_from())
    };
    let params = TableClassifier::params;
    assert_eq!(counts(100, params()), (5, 95));
    assert_eq!(counts(4999, params()), (249, 200));
    assert_eq!(counts(5000, params()), (1500, 200));
    assert_eq!(counts(16_000, params()), (1600, 200));
    assert_eq!(counts(100, params().held_out(0.3)), (30, 70));
    assert_eq!(counts(100, params().held_out(0.0)), (0, 100));
    assert_eq!(counts(12, params().held_out(0.9)), (2, 10));
}

/// At least 1000 and at most 20 000 rows beyond the training rows calibrate the probabilities. Their weights count, and
/// the model is not fitted to these rows.
#[test]
fn spare_rows_calibrate_probabilities() {
    let all = |rows: usize| TableClassifier::params().held_out(0.0).max_rows(rows);
    let (points, _, noisy) = ring(21_000, 7);
    let calibrated_on = |rows: usize, params: TableParams| {
        let some: Vec<usize> = (0..rows).collect();
        let model = fit(params, &points.select(&some).unwrap(), &noisy[..rows]);
        model.report().calibrated_on()
    };
    assert_eq!(calibrated_on(1200, all(201)), 0);
    assert_eq!(calibrated_on(1200, all(200)), 1000);
    assert_eq!(calibrated_on(1200, all(200).held_out(0.1)), 0);
    assert_eq!(calibrated_on(21_000, all(200)), 20_000);
    let model = fit(all(2000), &points, &noisy);
    let (fresh, _, given) = ring(20_000, 8);
    let (mut sum, mut correct) = (0.0, 0.0);
    for (x, y) in fresh.rows().zip(&given) {
        let p = model.probability(x).unwrap();
        sum += p.max(1.0 - p);
        correct += f64::from((p >= 0.5) == (*y == Label::Positive));
    }
    assert!((sum - correct).abs() < 0.01 * 20_000.0, "{sum} {correct}");
    // Groups may have rows on both sides, so they keep the calibration on the validation rows.
    let groups: Vec<usize> = (0..21_000).map(|row| row / 3).collect();
    let learner = all(2000).check().unwrap();
    let grouped = learner.fit_classes_by_group(&points, &noisy, None, &groups).unwrap();
    assert_eq!(grouped.report().calibrated_on(), 0);
    // A row of weight 3 counts three times.
    let clean =
        |row: usize| noisy[row] == Label::from_sign(points.row(row).unwrap().norm_sq() - 1.4);
    let weights: Vec<f64> = (0..21_000).map(|row| if clean(row) { 3.0 } else { 1.0 }).collect();
    let weighted = learner.fit_weighted(&points, &noisy, &weights).unwrap();
    let centre = Points::new(vec![0.0, 0.0], 2).unwrap();
    let at_centre = |model: &BinaryTableModel| model.probability(centre.row(0).unwrap()).unwrap();
    // A fifth of the labels are flipped; with the weights, a thirteenth.
    assert!((at_centre(&model) - 0.2).abs() < 0.03, "{}", at_centre(&model));
    assert!((at_centre(&weighted) - 1.0 / 13.0).abs() < 0.03, "{}", at_centre(&weighted));
}

/// With at least 6000 rows, a quarter of the rows are validation rows.
#[test]
fn many_rows_are_split_once() {
    let (points, clean, noisy) = ring(6400, 5);
    let model = fit(TableClassifier::params().held_out(0.05), &points, &noisy);
    assert_eq!((model.report().learned_from(), model.report().compared_on()), (6080, 1520));
    assert!(error(&model, &points, &clean) < 0.05);
}

#[test]
fn unusual_tables() {
    let learner = TableClassifier::params().check().unwrap();
    // There is only one class, the columns are constant, and all rows are equal.
    let points = Points::new(vec![1.0; 40], 2).unwrap();
    for label in [Label::Positive, Label::Negative] {
        let model = learner.fit(&points, &[label; 20]).unwrap();
        assert!(model.label_all(&points).unwrap().iter().all(|y| *y == label));
    }
    let few = Points::new(vec![1.0; 9], 1).unwrap();
    assert!(matches!(
        learner.fit(&few, &[Label::Positive; 9]),
        Err(InputError::ParameterOutOfRange { name: "number of rows", .. })
    ));
    assert_eq!(learner.fit(&Points::new(vec![], 1).unwrap(), &[]), Err(InputError::Empty));
    assert!(learner.fit(&points, &[Label::Positive; 19]).is_err());
    let weighted = |w: f64| learner.fit_weighted(&points, &[Label::Positive; 20], &[w; 20]);
    assert!(weighted(0.0).is_err());
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let mut weights = [1.0; 20];
        weights[7] = bad;
        assert!(matches!(
            learner.fit_weighted(&points, &[Label::Positive; 20], &weights),
            Err(InputError::ParameterOutOfRange { name: "weight", .. })
        ));
    }
    assert!(learner.fit_weighted(&points, &[Label::Positive; 20], &[1.0; 19]).is_err());
    let params = TableClassifier::params;
    for bad in [params().held_out(1.0), params().held_out(-0.1), params().max_rows(9)] {
        assert!(bad.check().is_err());
    }
    assert!(params().class_weights(0.0, 1.0).check().is_err());
    assert!(params().class_weights(1.0, f64::INFINITY).check().is_err());
    // The unit of a column has no effect, unless the differences overflow.
    let [p, n] = [Label::Positive, Label::Negative];
    for size in [1e200, 1e-200] {
        let points = Points::new([size, -size].repeat(10), 1).unwrap();
        let model = learner.fit(&points, &[p, n].repeat(10)).unwrap();
        assert_eq!(model.label_all(&points).unwrap(), [p, n].repeat(10));
    }
    let huge = Points::new([1.5e308, -1.5e308].repeat(10), 1).unwrap();
    assert!(matches!(learner.fit(&huge, &[p; 20]), Err(InputError::Overflow { .. })));
}

/// If the bound holds, the probability of more than 22 violations in 60 fits is at most 3e-4 for δ = 0.2.
#[test]
fn the_bound_has_its_confidence() {
    let data = Builtin::Ionosphere.load().unwrap();
    let mut violated = 0;
    let learner = |seed| {
        let params = TableClassifier::params().held_out(0.3).max_rows(40).seed(seed);
        params.check().unwrap()
    };
    for seed in 0..60 {
        // Rows of the data are drawn independently of each other, so that their distribution is known.
        let mut rng = rng_for(RngStream::CALLER, seed);
        let rows: Vec<usize> = (0..200).map(|_| rng.random_range(0..data.len())).collect();
        let points = data.points().select(&rows).unwrap();
        let labels: Vec<Label> = rows.iter().map(|&i| data.labels()[i]).collect();
        let model = learner(seed).fit(&points, &labels).unwrap();
        let bound = model.error_bound(0.2).unwrap().value();
        violated += u32::from(error(&model, data.points(), data.labels()) > bound);
    }
    assert!((1..=22).contains(&violated), "{violated}");
}

#[cfg(feature = "serde")]
#[test]
fn saved_models_are_checked() {
    let (points, _, noisy) = ring(60, 7);
    let model = fit(TableClassifier::params(), &points, &noisy);
    let text = serde_json::to_string(&model).unwrap();
    let loaded: BinaryTableModel = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded, model);
    let saved: serde_json::Value = serde_json::from_str(&text).unwrap();
    let changes: [fn(&mut serde_json::Value); 10] = [
        |m| m["average"]["parts"] = serde_json::json!([]),
        |m| {
            let halfspace = &mut m["average"]["parts"][0]["halfspaces"][0];
            halfspace["linear"]["normal"] = serde_json::json!([1.0]);
        },
        |m| m["average"]["scaling"]["slope"] = (-1.0).into(),
        |m| m["report"]["chosen"] = 0.into(),
        |m| m["report"]["chosen"] = 1000.into(),
        |m| m["report"]["error"] = 1.5.into(),
        |m| m["report"]["compared"][0]["error"] = 1.0.into(),
        |m| m["average"]["ranked"] = m["average"]["standardised"].clone(),
        |m| m["average"]["parts"][0]["halfspaces"] = serde_json::json!([]),
        |m| {
            // The parts are consistent with each other, but a model of labels ±1 has only one decision value.
            for part in m["average"]["parts"].as_array_mut().unwrap() {
                let halfspace = part["halfspaces"][0].clone();
                part["halfspaces"] = serde_json::json!([halfspace, halfspace]);
            }
        },
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut changed = saved.clone();
        change(&mut changed);
        assert_ne!(changed, saved, "change {i}");
        assert!(serde_json::from_value::<BinaryTableModel>(changed).is_err(), "change {i}");
    }
}

/// Points of two classes in `dim` dimensions. The class depends on the first three coordinates, which vary more than
/// the others.
#[cfg(feature = "serde")]
fn wide(n: usize, dim: usize) -> (Points, Vec<Label>) {
    let points = Gaussian::new(dim, 1.0).unwrap().sample(n, 5).unwrap();
    let mut values = points.into_vec();
    for x in values.chunks_exact_mut(dim) {
        x[..3].iter_mut().for_each(|v| *v *= 20.0);
    }
    let label = |x: &[f64]| Label::from_sign(x[0] * x[1] + 10.0 * x[2]);
    let labels = values.chunks_exact(dim).map(label).collect();
    (Points::new(values, dim).unwrap(), labels)
}

/// If the class depends on the few columns that vary a lot, a wide table needs centred columns, because on other scales
/// the noise of the remaining columns dominates. Only the scales that the model needs are saved.
#[cfg(feature = "serde")]
#[test]
fn wide_tables_have_centred_columns_and_ridge_regression() {
    let (points, labels) = wide(900, 100);
    let model = fit(TableClassifier::params().held_out(0.3), &points, &labels);
    let report = model.report();
    for best in report.chosen().map(|entry| entry.candidate()) {
        assert_eq!(best.columns(), ColumnScale::Centred, "{best}");
    }
    let of_ridge = |method: Method| matches!(method, Method::Ridge { .. });
    assert!(report.compared().iter().any(|entry| of_ridge(entry.candidate().method())));
    assert!(report.held_out().unwrap().rate() < 0.2);
    let least = |columns| {
        let compared = report.compared().iter().map(|e| (e.candidate().columns(), e.error()));
        let dropped = report.dropped().iter().map(|e| (e.candidate().columns(), e.error()));
        let of_scale = compared.chain(dropped).filter(|(of, _)| *of == columns);
        of_scale.map(|(_, error)| error).fold(1.0, f64::min)
    };
    assert!(least(ColumnScale::Centred) + 0.1 < least(ColumnScale::Standardised));
    let saved = serde_json::to_value(&model).unwrap();
    assert_eq!(serde_json::from_value::<BinaryTableModel>(saved.clone()).unwrap(), model);
    let average = saved["average"].as_object().unwrap();
    assert!(average.contains_key("centred") && !average.contains_key("ranked"));
    let changes: [fn(&mut serde_json::Value); 2] = [
        |m| m["average"]["centred"] = serde_json::Value::Null,
        |m| m["average"]["centred"] = m["average"]["standardised"].clone(),
    ];
    for change in changes {
        let mut changed = saved.clone();
        change(&mut changed);
        assert!(serde_json::from_value::<BinaryTableModel>(changed).is_err());
    }
}

/// The landmarks of wide tables have four decimals, and ridge regression has more landmarks than other methods.
#[test]
fn wide_tables_have_more_landmarks_for_ridge_regression() {
    let points = Gaussian::new(100, 1.0).unwrap().sample(2100, 5).unwrap();
    for (outputs, few) in [(1, 300), (3, 800)] {
        let scaled = ScaledRows::new(ColumnScale::Centred, points.clone(), outputs, 1).unwrap();
        for family in families(false, 100, outputs) {
            let Space::Kernel { .. } = family.space else { continue };
            let features = scaled.features(&family, 10, false).unwrap();
            let centres = features.map.unwrap().into_kernel_values();
            let decimals = |v: f64| (v * 1e4 - (v * 1e4).round()).abs() < 1e-6;
            assert!(centres.centres().as_slice().iter().all(|v| decimals(*v)));
            let most = if family.is_ridge() { 2000 } else { few };
            let width = |space| matches!(space, Space::Kernel { width, .. } if width < 1.0);
            let found = centres.centres().len();
            assert!(if width(family.space) { found == most } else { found <= most }, "{found}");
        }
    }
}

/// The saved error of a dropped candidate must be at least the smallest error of the same comparison.
#[cfg(feature = "serde")]
#[test]
fn saved_dropped_candidates_are_checked() {
    let (points, _, noisy) = ring(60, 7);
    let model = fit(TableClassifier::params(), &points, &noisy);
    let saved = serde_json::to_value(&model).unwrap();
    let with = |error: f64, least_error: f64, rows: usize| {
        let mut changed = saved.clone();
        let candidate = &saved["report"]["compared"][0]["candidate"];
        changed["report"]["dropped"] = serde_json::json!([
            { "candidate": candidate, "error": error, "least_error": least_error, "rows": rows }
        ]);
        serde_json::from_value::<BinaryTableModel>(changed)
    };
    let on = model.report().compared_on();
    assert_eq!(with(0.5, 0.25, on).unwrap().report().dropped()[0].rows(), on);
    for (error, least_error, rows) in
        [(0.5, 0.25, on + 1), (0.5, 0.25, 0), (0.24, 0.25, 9), (1.5, 0.25, 9), (0.5, -0.5, 9)]
    {
        assert!(with(error, least_error, rows).is_err(), "{error} {least_error} {rows}");
    }
    assert_eq!(with(0.25, 0.25, on).unwrap().report().dropped()[0].error(), 0.25);
    // A saved model may have no list of dropped candidates.
    let mut without = saved.clone();
    without["report"].as_object_mut().unwrap().remove("dropped");
    assert!(
        serde_json::from_value::<BinaryTableModel>(without).unwrap().report().dropped().is_empty()
    );
}

/// If the labels are unpredictable and one of them is rare, all candidates predict the other label. Candidates beyond
/// the limit on survivors are then dropped although their errors equal the smallest error.
#[cfg(feature = "serde")]
#[test]
fn models_with_equal_candidates_are_saved() {
    let (points, ..) = ring(400, 7);
    let label = |i: usize| if i % 50 == 3 { Label::Positive } else { Label::Negative };
    let labels: Vec<Label> = (0..400).map(label).collect();
    let model = fit(TableClassifier::params(), &points, &labels);
    let dropped = model.report().dropped();
    assert!(dropped.iter().any(|entry| entry.error().total_cmp(&entry.least_error()).is_eq()));
    let saved = serde_json::to_string(&model).unwrap();
    assert_eq!(serde_json::from_str::<BinaryTableModel>(&saved).unwrap(), model);
}

/// Points in the plane, the names of their quadrants, and the same names after one in five was replaced by another
/// name.
fn quarters(n: usize, seed: u64) -> (Points, Vec<&'static str>, Vec<&'static str>) {
    let names = ["north-east", "north-west", "south-east", "south-west"];
    let points = Gaussian::new(2, 1.0).unwrap().sample(n, seed).unwrap();
    let quarter = |x: &[f64]| usize::from(x[0] < 0.0) + 2 * usize::from(x[1] < 0.0);
    let mut rng = rng_for(RngStream::CALLER, seed);
    let (mut clean, mut noisy) = (Vec::new(), Vec::new());
    for x in points.as_slice().chunks_exact(2) {
        let other = if rng.random_bool(0.2) { rng.random_range(1..4) } else { 0 };
        clean.push(names[quarter(x)]);
        noisy.push(names[(quarter(x) + other) % 4]);
    }
    (points, clean, noisy)
}

#[test]
fn several_classes_are_learned_under_noise() {
    let (points, _, noisy) = quarters(800, 11);
    let learner = TableClassifier::params().held_out(0.25).check().unwrap();
    let model = learner.fit_classes(&points, &noisy).unwrap();
    assert_eq!(model.classes(), ["north-east", "north-west", "south-east", "south-west"]);
    assert_eq!(model.dim(), 2);
    let (fresh, clean, fresh_noisy) = quarters(4000, 12);
    let found = model.class_all(&fresh, Threads::ONE).unwrap();
    let wrong = |truth: &[&str]| {
        found.iter().zip(truth).filter(|(a, b)| **a != *b).count() as f64 / truth.len() as f64
    };
    assert!(wrong(&clean) < 0.08, "{}", wrong(&clean));
    // The validation error and the bound refer to the given classes.
    let truth = wrong(&fresh_noisy);
    assert!((model.report().error() - truth).abs() < 0.05);
    let bound = model.error_bound(0.01).unwrap().value();
    assert!(bound > truth && bound < truth + 0.12, "{bound} {truth}");
    assert_eq!(model.report().held_out().unwrap().points(), 200);
    assert_eq!(model.class_all(&fresh, Threads::new(3).unwrap()).unwrap(), found);
    // Probabilities sum to 1 and refer to the given classes.
    let mut mean = 0.0;
    for (x, class) in fresh.rows().zip(&found).take(1000) {
        assert_eq!(model.class(x).unwrap(), *class);
        let probabilities = model.probabilities(x).unwrap();
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        mean += probabilities[model.classes().iter().position(|c| c == *class).unwrap()] / 1000.0;
    }
    assert!((mean - (1.0 - truth)).abs() < 0.1, "{mean} {truth}");
    // Threads and sparse storage have no effect.
    let params = TableClassifier::params().held_out(0.25).threads(Threads::new(2).unwrap());
    let sparse = SparsePoints::from_dense(&points).unwrap();
    assert_eq!(params.check().unwrap().fit_classes(&sparse, &noisy).unwrap(), model);
}

/// A model of two named classes is bitwise equal to the model of labels ±1.
#[test]
fn two_classes_equal_labels() {
    let (points, _, noisy) = ring(120, 13);
    let learner = TableClassifier::params().check().unwrap();
    let names: Vec<char> =
        noisy.iter().map(|y| if *y == Label::Positive { 'p' } else { 'n' }).collect();
    let (classes, labels) =
        (learner.fit_classes(&points, &names).unwrap(), learner.fit(&points, &noisy).unwrap());
    assert_eq!(classes.report(), labels.report());
    for x in points.rows() {
        let name = if labels.label(x).unwrap() == Label::Positive { 'p' } else { 'n' };
        assert_eq!(*classes.class(x).unwrap(), name);
        let probabilities = classes.probabilities(x).unwrap();
        assert_eq!(probabilities[1], labels.probability(x).unwrap());
        assert!((probabilities[0] + probabilities[1] - 1.0).abs() < 1e-15);
        assert_eq!(probabilities[1] > 0.5, name == 'p');
    }
}

/// The predicted class is the most probable one, even if the classes are not equally frequent. This also holds with
/// weights, which affect the probabilities in the same way as class frequencies.
#[test]
fn the_predicted_class_is_the_most_probable() {
    let (points, _, noisy) = quarters(240, 16);
    let is_far = |x: &[f64]| x[0] + x[1] > 1.0;
    let pairs = noisy.iter().zip(points.as_slice().chunks(2));
    let classes: Vec<&str> = pairs.map(|(y, x)| if is_far(x) { *y } else { "elsewhere" }).collect();
    let learner = TableClassifier::params().check().unwrap();
    let differ = |model: MulticlassTableModel<&str>| {
        let is_other = |x: &DenseRow<'_>| {
            let probabilities = model.probabilities(*x).unwrap();
            let class = model.class(*x).unwrap();
            let own = model.classes().iter().position(|c| c == class).unwrap();
            probabilities.iter().any(|p| *p > probabilities[own])
        };
        points.rows().filter(is_other).count()
    };
    assert_eq!(differ(learner.fit_classes(&points, &classes).unwrap()), 0);
    let weights: Vec<f64> =
        classes.iter().map(|y| if *y == "elsewhere" { 0.1 } else { 5.0 }).collect();
    let weighted = learner.fit_classes_weighted(&points, &classes, &weights).unwrap();
    let mean = |model: &MulticlassTableModel<&str>| {
        let of_elsewhere = |x| {
            model.probabilities(x).unwrap()
                [model.classes().iter().position(|c| *c == "elsewhere").unwrap()]
        };
        points.rows().map(of_elsewhere).sum::<f64>() / 240.0
    };
    let plain = learner.fit_classes(&points, &classes).unwrap();
    assert!(mean(&weighted) < mean(&plain) - 0.05, "{} {}", mean(&weighted), mean(&plain));
    assert_eq!(differ(weighted), 0);
}

#[test]
fn classes_have_weights_and_are_checked() {
    let (points, _, noisy) = quarters(160, 14);
    let learner = TableClassifier::params().check().unwrap();
    // The class of a row with weight 0 has no effect.
    let weights: Vec<f64> = (0..160).map(|i| if i % 4 == 0 { 0.0 } else { 1.0 }).collect();
    let other = |(i, y): (usize, &&'static str)| if i % 4 == 0 { "south-west" } else { *y };
    let others: Vec<&str> = noisy.iter().enumerate().map(other).collect();
    let fitted = |labels: &[&'static str]| {
        let model = learner.fit_classes_weighted(&points, labels, &weights).unwrap();
        let found = model.class_all(&points, Threads::ONE).unwrap();
        found.into_iter().copied().collect::<Vec<_>>()
    };
    assert_eq!(fitted(&noisy), fitted(&others));
    let refused = |error: InputError, name: &str| {
        assert!(matches!(error, InputError::ParameterOutOfRange { name: n, .. } if n == name));
    };
    refused(learner.fit_classes(&points, &["one"; 160]).unwrap_err(), "number of classes");
    let weighted = TableClassifier::params().class_weights(1.0, 2.0).check().unwrap();
    refused(weighted.fit_classes(&points, &noisy).unwrap_err(), "class weight");
    assert!(learner.fit_classes(&points, &noisy[1..]).is_err());
    assert!(learner.fit_classes_weighted(&points, &noisy, &[1.0; 3]).is_err());
    let none = Points::new(vec![], 2).unwrap();
    assert_eq!(learner.fit_classes::<_, u8>(&none, &[]), Err(InputError::Empty));
}

#[cfg(feature = "serde")]
#[test]
fn saved_models_of_classes_are_checked() {
    let (points, _, noisy) = quarters(80, 15);
    let noisy: Vec<String> = noisy.iter().map(ToString::to_string).collect();
    let model = TableClassifier::params().check().unwrap().fit_classes(&points, &noisy).unwrap();
    let saved = serde_json::to_value(&model).unwrap();
    type Model = MulticlassTableModel<String>;
    assert_eq!(serde_json::from_value::<Model>(saved.clone()).unwrap(), model);
    for classes in [&["a", "b", "c"][..], &["a", "b", "d", "c"], &["a", "b"], &["a"; 4], &[]] {
        let mut changed = saved.clone();
        changed["classes"] = serde_json::json!(classes);
        assert!(serde_json::from_value::<Model>(changed).is_err(), "{classes:?}");
    }
}

/// Equal decision values give equal probabilities, even if the values are extreme.
#[test]
fn equal_values_give_equal_probabilities() {
    let (points, _, noisy) = quarters(80, 15);
    let model = TableClassifier::params().check().unwrap().fit_classes(&points, &noisy).unwrap();
    assert_eq!(model.class_probabilities(&[-1e300; 4]).unwrap(), [0.25; 4]);
}

/// Rows of weight 0 do not affect the model, the validation or the hold-out.
#[test]
fn rows_of_weight_0_are_ignored() {
    let learner = TableClassifier::params().check().unwrap();
    for n in [200, 7000] {
        let (points, _, labels) = ring(n, 9);
        let weight = |i: usize| (i % 4) as f64;
        let weights: Vec<f64> = (0..n).map(weight).collect();
        let model = learner.fit_weighted(&points, &labels, &weights).unwrap();
        let rows: Vec<usize> = (0..n).filter(|i| i % 4 > 0).collect();
        let kept: Vec<Label> = rows.iter().map(|&i| labels[i]).collect();
        let weights: Vec<f64> = rows.iter().map(|&i| weight(i)).collect();
        let points = points.select(&rows).unwrap();
        assert_eq!(model, learner.fit_weighted(&points, &kept, &weights).unwrap());
        assert!(model.report().learned_from() < rows.len());
    }
    let (points, _, labels) = ring(8000, 9);
    let weights = |count: usize| -> Vec<f64> {
        (0..8000).map(|i| if i % 10 == 0 && i < 10 * count { 1.0 } else { 0.0 }).collect()
    };
    assert!(learner.fit_weighted(&points, &labels, &weights(10)).is_ok());
    let refused = learner.fit_weighted(&points, &labels, &weights(9)).unwrap_err().to_string();
    assert!(refused.starts_with("number of rows = 9 is out of range"), "{refused}");
}

/// Groups of `size` near-copies of a random point with a random class: nothing predicts the class of a new group. The
/// rows of a group are far apart in the table.
fn groups_of_copies(groups: usize, size: usize, seed: u64) -> (Points, Vec<usize>, Vec<usize>) {
    let centres = Gaussian::new(4, 1.0).unwrap().sample(groups, seed).unwrap();
    let mut rng = rng_for(RngStream::CALLER, seed);
    let class_of: Vec<usize> = (0..groups).map(|_| usize::from(rng.random_bool(0.5))).collect();
    let group_of: Vec<usize> = (0..groups * size).map(|i| i % groups).collect();
    let mut values = Vec::new();
    for group in &group_of {
        let centre = centres.row(*group).unwrap().as_slice().to_vec();
        values.extend(centre.into_iter().map(|v| v + 1e-3 * rng.random::<f64>()));
    }
    let classes = group_of.iter().map(|group| class_of[*group]).collect();
    (Points::new(values, 4).unwrap(), classes, group_of)
}

/// Tests folds, a screening round with folds, and a single split.
#[test]
fn groups_are_not_recognised_when_candidates_are_compared() {
    let learner = TableClassifier::params().held_out(0.0).check().unwrap();
    for (groups, size) in [(60, 20), (160, 20), (320, 20)] {
        let (points, classes, group_of) = groups_of_copies(groups, size, 4);
        let by_row = learner.fit_classes(&points, &classes).unwrap();
        let by_group = learner.fit_classes_by_group(&points, &classes, None, &group_of).unwrap();
        let errors = |model: &MulticlassTableModel<usize>| {
            model.report().compared()[0].error().min(model.report().error())
        };
        assert!(errors(&by_row) < 0.05, "{groups}: {}", errors(&by_row));
        assert!(errors(&by_group) > 0.3, "{groups}: {}", errors(&by_group));
        // The probabilities also differ from those of a model that recognises a row.
        let mean = |model: &MulticlassTableModel<usize>| {
            let values = model.class_values_all(&points, Threads::ONE).unwrap();
            let of = |value: &Vec<f64>| model.class_probabilities(value).unwrap();
            let largest = |p: Vec<f64>| p.into_iter().fold(0.0, f64::max);
            values.iter().map(|value| largest(of(value))).sum::<f64>() / values.len() as f64
        };
        assert!(mean(&by_row) > 0.95 && mean(&by_group) < 0.85, "{groups}: {}", mean(&by_group));
    }
}

#[test]
fn groups_are_checked_and_have_weights() {
    let (points, classes, group_of) = groups_of_copies(8, 10, 1);
    let learner = TableClassifier::params().check().unwrap();
    let fit = |weights: Option<&[f64]>, groups: &[usize]| {
        learner.fit_classes_by_group(&points, &classes, weights, groups)
    };
    let model = fit(None, &group_of).unwrap();
    assert_eq!(model.report().held_out(), None);
    assert_eq!((model.report().learned_from(), model.report().compared_on()), (80, 80));
    // The names of groups are arbitrary. Weights of 1 have no effect, and rows of weight 0 are left out.
    let named: Vec<usize> = group_of.iter().map(|group| 10 * group + 3).collect();
    assert_eq!(fit(None, &named).unwrap(), model);
    assert_eq!(fit(Some(&[1.0; 80]), &group_of).unwrap(), model);
    let weights = |last: usize| -> Vec<f64> {
        group_of.iter().map(|group| f64::from(u8::from(*group <= last))).collect()
    };
    assert_eq!(fit(Some(&weights(5)), &group_of).unwrap().report().learned_from(), 60);
    // The rows of each of the two groups are predicted by a fit to the other group.
    assert_eq!(fit(Some(&weights(1)), &group_of).unwrap().report().compared_on(), 20);
    let refused = fit(Some(&weights(0)), &group_of).unwrap_err().to_string();
    assert!(refused.starts_with("number of groups = 1 is out of range"), "{refused}");
    assert!(fit(None, &group_of[1..]).is_err() && fit(Some(&[-1.0; 80]), &group_of).is_err());
    let held_out = TableClassifier::params().held_out(0.1).check().unwrap();
    let refused = held_out.fit_classes_by_group(&points, &classes, None, &group_of).unwrap_err();
    assert!(refused.to_string().starts_with("held_out"), "{refused}");
}
