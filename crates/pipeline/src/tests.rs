//! Tests of the whole pipeline. Loaded models predict the same as fitted models, and damage to a model file is
//! detected.

use crate::{
    Costs, Decisions, Evaluation, FitOptions, Importance, ImportanceMeasure, Method, Model,
    Pipeline, Plan, Recipe, RecipeOptions, SplitBy, Unseen, split,
};
use halfspaces_frame::{Block, Column, DataError, Frame, Values};
use halfspaces_linalg::{SparsePoints, Threads};

const METHODS: [Method; 6] = Method::ALL;

fn column(name: &str, values: Values) -> Column {
    Column { name: name.into(), values }
}

/// Creates a table with a column of numbers, some of which are missing, and a column of categories. The classes depend
/// on both columns.
fn table(rows: usize, classes: usize) -> Frame {
    let x: Vec<f64> =
        (0..rows).map(|i| if i % 17 == 5 { f64::NAN } else { (i * 37 % 101) as f64 }).collect();
    let code = |i: usize| (i * 7 % 3) as u32;
    let class = |i: usize| ((i * 37 % 101 * classes) / 101) as u32;
    let names: Vec<String> = (0..classes).map(|c| format!("class {c}")).collect();
    Frame::new(
        "t",
        vec![
            column("x", Values::numbers(x)),
            column("c", Values::texts((0..rows).map(code).collect(), &["red", "green", "blue"])),
            column("y", Values::texts((0..rows).map(class).collect(), &names)),
        ],
    )
}

fn options(method: Method) -> FitOptions {
    FitOptions { plan: Plan::new(method), holdout: Some(0.2), ..FitOptions::new("y") }
}

fn bytes(pipeline: &Pipeline) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipeline.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_loaded_model_decides_as_the_fitted_one() {
    for method in METHODS {
        for classes in [2, 3] {
            let (fitted, _) = Pipeline::fit(table(200, classes), &options(method)).unwrap();
            let loaded = Pipeline::read(&bytes(&fitted), "m").unwrap();
            assert_eq!(loaded, fitted, "{method:?}");
            let new = table(50, classes);
            let decide = |model: &Pipeline, threads: usize| {
                model.decide(&new, Unseen::Error, Threads::new(threads).unwrap()).unwrap()
            };
            assert_eq!(decide(&loaded, 1), decide(&fitted, 2), "{method:?}");
            assert!(decide(&loaded, 1).probabilities.is_some(), "40 rows calibrate it");
        }
    }
}

/// Changes every byte of a model file in turn, and truncates the file at every length. Reading the file then returns an
/// error. The only exception is a change in the name of the program, which gives the same model.
#[test]
fn damage_to_a_model_file_is_detected() {
    let (fitted, _) = Pipeline::fit(table(60, 2), &options(Method::Logistic)).unwrap();
    let whole = bytes(&fitted);
    for at in 0..whole.len() {
        for bit in [0, 3, 6] {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            if let Ok(read) = Pipeline::read(&changed, "m") {
                assert_eq!(read, fitted, "byte {at}, bit {bit}");
            }
        }
        assert!(Pipeline::read(&whole[..at], "m").is_err() || at + 1 == whole.len(), "cut at {at}");
    }
}

#[test]
fn the_report_counts_rows() {
    let (fitted, _) = Pipeline::fit(table(300, 3), &options(Method::Auto)).unwrap();
    let report = fitted.report();
    assert_eq!((report.rows, report.learned_from), (300, 240));
    assert_eq!(report.findings.compared_on, 240);
    assert_eq!(report.held_out().unwrap().unwrap().of, 60);
    let rows: Vec<usize> = report.classes.iter().map(|class| class.rows).collect();
    let most = *rows.iter().max().unwrap() as f64;
    assert!((report.commonest_error - (1.0 - most / 300.0)).abs() < 1e-12);
    assert!(report.findings.cross_validated.is_some());
    // With one halfspace per class, roughly the middle band of the three is misclassified. The error is cross-validated
    // on all training rows.
    let (linear, _) = Pipeline::fit(table(300, 3), &options(Method::Logistic)).unwrap();
    let cross_validated = linear.report().findings.cross_validated.unwrap();
    assert!((0.0..0.5).contains(&cross_validated), "{cross_validated}");
    assert_eq!(linear.report().learned_from, 240);
}

/// A model is never calibrated on rows to which it was fitted. If there are 1000 held-out rows, the table classifier is
/// calibrated again on these rows.
#[test]
fn the_calibration_is_of_the_model_that_is_used() {
    let kept = FitOptions { holdout: Some(0.25), ..options(Method::Auto) };
    let is_calibrated = |rows: usize| {
        let (fitted, _) = Pipeline::fit(table(rows, 2), &kept).unwrap();
        String::from_utf8(bytes(&fitted)).unwrap().contains("\"calibration\"")
    };
    assert!(!is_calibrated(3996) && is_calibrated(4000));
}

/// Creates sparse rows. Each row has an entry in one of the first 40 columns, and the parity of this column is the
/// class.
fn sparse(rows: usize, dim: usize) -> Frame {
    let mut points = SparsePoints::empty(dim).unwrap();
    let mut codes = Vec::new();
    for i in 0..rows {
        let class = (i * 7 % 5 < 2) as usize;
        let signal = 2 * (i * 11 % 20) + class;
        let noise = 40 + (i * 131) % (dim - 40);
        points.push(&[signal as u32, noise as u32], &[1.0, 0.5]).unwrap();
        codes.push(class as u32);
    }
    let label = column("y", Values::texts(codes, &["odd", "even"]));
    Frame { block: Some(Block::Sparse(points.into())), ..Frame::new("s", vec![label]) }
}

#[test]
fn every_learner_takes_sparse_rows() {
    for method in METHODS {
        let options = FitOptions { plan: Plan::new(method), ..options(method) };
        // Massart assumes 25 % noise, so in many dimensions it needs more rows to beat the baseline.
        let rows = if method == Method::Massart { 2000 } else { 400 };
        let (fitted, _) = Pipeline::fit(sparse(rows, 900), &options).unwrap();
        assert!(fitted.recipe().is_sparse(), "{method:?}");
        let held_out = fitted.report().held_out().unwrap().unwrap();
        let most = if method == Method::Massart { fitted.report().commonest_error } else { 0.3 };
        assert!(held_out.rate < most, "{method:?}: {}", held_out.text());
        let loaded = Pipeline::read(&bytes(&fitted), "m").unwrap();
        let found = |model: &Pipeline| {
            model.decide(&sparse(30, 900), Unseen::Error, Threads::ONE).unwrap().classes
        };
        assert_eq!(found(&loaded), found(&fitted));
        // Columns that the model does not know have no weight.
        let wider = sparse(30, 2000);
        assert_eq!(loaded.decide(&wider, Unseen::Error, Threads::ONE).unwrap().classes.len(), 30);
    }
}

/// The treatment of ragged rows that the fit used applies to new tables.
#[test]
fn ragged_rows_are_padded_as_at_the_fit() {
    use halfspaces_frame::{Hints, Ragged, ReadOptions, read};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let rows: String =
        (0..60).map(|i| format!("{i}.5,{},{}\n", i % 7, ["a", "b"][i / 30])).collect();
    std::fs::write(&path, format!("x,z,y\n{rows}")).unwrap();
    let told = ReadOptions { ragged: Ragged::Pad, ..ReadOptions::default() };
    let frame = read(&path, &told, &Hints::texts(["y"])).unwrap();
    let (model, _) =
        Pipeline::fit(frame, &FitOptions { ragged: Ragged::Pad, ..options(Method::Logistic) })
            .unwrap();
    let model = Pipeline::read(&bytes(&model), "m").unwrap();
    std::fs::write(&path, "x,z,y\n3.5,1,a\n40.5,2\n").unwrap();
    let plain = ReadOptions::default();
    assert_eq!(model.read_table(&path, &plain, &[], &[]).unwrap().rows, 2);
    let (strict, _) = Pipeline::fit(table(60, 2), &options(Method::Logistic)).unwrap();
    assert!(strict.read_table(&path, &plain, &[], &[]).is_err());
}

/// A kept column that the model does not use is not changed. In this column, `NA` means Namibia.
#[test]
fn kept_columns_are_unchanged() {
    use halfspaces_frame::ReadOptions;
    let (model, _) = Pipeline::fit(table(60, 2), &options(Method::Logistic)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "x,c,country\n3,red,NA\n4,red,1.50\n").unwrap();
    let kept = ["country".to_owned()];
    let frame = model.read_table(&path, &ReadOptions::default(), &[], &kept).unwrap();
    let country = frame.column("country").unwrap();
    assert_eq!((country.text(0), country.text(1)), ("NA".to_owned(), "1.50".to_owned()));
}

/// A held-out row with an unknown class does not prevent the calibration.
#[test]
fn unknown_classes_held_out_leave_the_calibration() {
    let mut frame = table(200, 2);
    let mut codes: Vec<u32> = (0..200).map(|i| u32::from(i * 37 % 101 > 50)).collect();
    let (_, held_out) = crate::split(200, Some(0.2), 0);
    codes[held_out[0]] = 2;
    frame.columns[2].values = Values::texts(codes, &["a", "b", "rare"]);
    let (fitted, notes) = Pipeline::fit(frame, &options(Method::Logistic)).unwrap();
    assert!(fitted.model().has_probabilities());
    assert!(notes.iter().any(|note| note.contains("`rare`")), "{notes:?}");
    assert_eq!(fitted.report().held_out().unwrap().unwrap().of, 40);
}

/// The first twenty labels are unknown to the model, and the measures that the note names leave these rows out.
#[test]
fn unknown_labels_leave_the_measures_of_the_note() {
    let (model, _) = Pipeline::fit(table(200, 2), &options(Method::Logistic)).unwrap();
    let mut frame = table(60, 2);
    let code = |i: u32| if i < 20 { 2 } else { u32::from(i * 37 % 101 > 50) };
    let names = ["class 0", "class 1", "rare"];
    frame.columns[2].values = Values::texts((0..60).map(code).collect(), &names);
    let found = model.true_classes(&frame, "y").unwrap();
    let note = &found.notes[0];
    assert!(note.contains("20 of the labels, such as `rare`; they count as errors"), "{note}");
    assert!(note.contains("left out of recall, AUC, average precision, cost, log loss"));
    let all = model.decide(&frame, Unseen::Error, Threads::ONE).unwrap();
    let known = Decisions {
        classes: all.classes[20..].to_vec(),
        values: all.values[20..].to_vec(),
        probabilities: all.probabilities.as_ref().map(|of_rows| of_rows[20..].to_vec()),
    };
    let (of_all, of_known) = (&found.of_row[..], &found.of_row[20..]);
    let costs = Costs::new(model.classes(), &[("class 0".to_owned(), 3.0)]).unwrap();
    assert_eq!(costs.mean(&all.classes, of_all), costs.mean(&known.classes, of_known));
    let measure = |decisions: &Decisions, truth: &[Option<usize>]| {
        Evaluation::new(model.classes(), decisions, truth).unwrap()
    };
    let (all, known) = (measure(&all, of_all), measure(&known, of_known));
    assert_eq!((all.error.count, all.error.of), (known.error.count + 20, 60));
    assert!(all.baseline > known.baseline && all.coverage[0].error == all.error);
    assert_eq!(all.probabilities, known.probabilities);
    for (all, known) in all.of_class.iter().zip(&known.of_class) {
        assert_eq!((all.recall, all.auc), (known.recall, known.auc));
        assert_eq!(all.average_precision, known.average_precision);
        assert!(all.precision.map(|rate| rate.count) == known.precision.map(|rate| rate.count));
    }
}

/// A note names the labels that are combined into one class, with their row counts. This includes labels that did not
/// occur in the fit.
#[test]
fn labels_combined_into_one_class_are_named() {
    let several = FitOptions { positive: Some("class 1".into()), ..options(Method::Logistic) };
    let (model, _) = Pipeline::fit(table(200, 3), &several).unwrap();
    let mut frame = table(60, 3);
    let code = |i: u32| if i < 20 { 0 } else { i % 7 + 1 };
    let names = ["Class 1", "class 1", "a", "b", "c", "d", "e", "f"];
    frame.columns[2].values = Values::texts((0..60).map(code).collect(), &names);
    let found = model.true_classes(&frame, "y").unwrap();
    assert_eq!(
        found.notes,
        [
            "t, column `y`: all labels except `class 1` count as `not class 1`: `Class 1` (20), `a` (6), `b` (6), `c` (6), \
          `f` (6) and 2 more"
        ]
    );
    // A model for two classes knows the names of both classes.
    let two = FitOptions { positive: Some("class 0".into()), ..options(Method::Logistic) };
    let (model, _) = Pipeline::fit(table(200, 2), &two).unwrap();
    assert!(model.true_classes(&table(60, 2), "y").unwrap().notes.is_empty());
}

/// A table with the class counts of the fit may be the table of the fit. One row more, or one other label, is enough
/// for a different table.
#[test]
fn the_table_of_the_fit_is_noted() {
    for classes in [2, 3] {
        let (model, _) = Pipeline::fit(table(200, classes), &options(Method::Logistic)).unwrap();
        let notes = |frame: &Frame| model.true_classes(frame, "y").unwrap().notes;
        let note = notes(&table(200, classes));
        assert!(note.len() == 1 && note[0].contains("if it is the same table"), "{note:?}");
        assert!(notes(&table(201, classes)).is_empty());
        assert!(notes(&table(199, classes)).is_empty());
        let mut other = table(200, classes);
        let Values::Texts(labels) = &other.columns[2].values else { panic!("labels are texts") };
        let mut codes = labels.codes().to_vec();
        codes[0] = u32::from(codes[0] == 0);
        let names: Vec<String> = labels.levels().map(str::to_owned).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        other.columns[2].values = Values::texts(codes, &names);
        assert!(notes(&other).is_empty());
    }
}

/// One class against the others is found by its name. A number is not the truth value with the same meaning if both
/// are labels.
#[test]
fn a_number_is_not_a_truth_value_against_the_rest() {
    let rows = 300;
    let code = |i: usize| (i * 37 % 101 * 3 / 101) as u32;
    let table = |names: [&str; 3]| {
        let x = (0..rows).map(|i| (i * 37 % 101) as f64).collect();
        let labels = Values::texts((0..rows).map(code).collect(), &names);
        Frame::new("t", vec![column("x", Values::numbers(x)), column("y", labels)])
    };
    for (names, positive, place) in [
        (["true", "false", "1"], "true", 0),
        (["true", "false", "1"], "1", 2),
        (["true", "false", "maybe"], "1", 0),
    ] {
        let several = FitOptions { positive: Some(positive.into()), ..options(Method::Logistic) };
        let (model, _) = Pipeline::fit(table(names), &several).unwrap();
        assert_eq!(model.classes()[1], names[place], "{names:?} {positive}");
        let truth = model.true_classes(&table(names), "y").unwrap().of_row;
        let expected = (0..rows).map(|i| Some(usize::from(code(i) as usize == place)));
        assert!(truth.into_iter().eq(expected), "{names:?} {positive}");
        let counts = &model.report().classes;
        let positive_rows = (0..rows).filter(|i| code(*i) as usize == place).count();
        assert_eq!(counts[1].rows, positive_rows, "{names:?} {positive}");
    }
}

/// An absent column of the matrix counts as zeros, but not a named column next to the matrix.
#[test]
fn an_absent_named_column_next_to_sparse_entries_is_an_error() {
    let rows = 120;
    let value = |i: usize| (i * 37 % 101) as f64 + 1.0;
    let matrix = |columns: usize| {
        let entries: Vec<u32> = (0..rows).flat_map(|_| 0..columns as u32).collect();
        let values = (0..rows).flat_map(|i| vec![value(i); columns]).collect();
        let starts = (0..=rows).map(|i| i * columns).collect();
        SparsePoints::new(starts, entries, values, columns).unwrap()
    };
    let frame = |columns: usize, named: &[&str]| {
        let block = Block::Sparse(halfspaces_frame::SparseBlock::new(matrix(columns), "x", 0));
        let numbers = || Values::numbers((0..rows).map(|i| value(i * 7)).collect());
        let mut all: Vec<Column> = named.iter().map(|name| column(name, numbers())).collect();
        let class = |i: usize| u32::from(value(i) > 51.0);
        all.push(column("y", Values::texts((0..rows).map(class).collect(), &["n", "p"])));
        Frame { block: Some(block), ..Frame::new("t", all) }
    };
    let (model, _) = Pipeline::fit(frame(3, &["age", "x7"]), &options(Method::Logistic)).unwrap();
    let design = |columns, named: &[&str]| model.design(&frame(columns, named), Unseen::Error);
    assert!(design(3, &["age", "x7"]).is_ok() && design(2, &["age"]).is_ok());
    let error = design(3, &["x7"]).unwrap_err().to_string();
    assert!(error.contains("no column `age`"), "{error}");
}

/// Fits a model to a file and reads another file for the model. Returns the values of the column `x` of the second
/// file.
fn decide_file(
    fit: &str,
    new: &str,
    told: &halfspaces_frame::ReadOptions,
) -> Result<Vec<f64>, String> {
    use halfspaces_frame::{Hints, ReadOptions, read};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, fit).unwrap();
    let frame = read(&path, &ReadOptions::default(), &Hints::texts(["y"])).unwrap();
    let (model, _) = Pipeline::fit(frame, &options(Method::Logistic)).unwrap();
    std::fs::write(&path, new).unwrap();
    let frame = model.read_table(&path, told, &[], &[]).map_err(|error| error.to_string())?;
    let Some(values) = frame.column("x") else { panic!("a column x") };
    Ok((0..frame.rows).map(|row| values.text(row).parse().unwrap_or(f64::NAN)).collect())
}

/// Creates a table with rows `x;z;y`, in which `spell` formats the values of x.
fn german(spell: impl Fn(usize) -> String) -> String {
    let rows: String = (0..60)
        .map(|i| format!("{};{},5;{}\n", spell(i * 37 % 60), i % 7, ["a", "b"][i / 30]))
        .collect();
    format!("x;z;y\n{rows}")
}

/// In a table with decimal commas, a point separates thousands. An explicit option overrides this rule.
#[test]
fn spellings_found_at_the_fit_apply_to_new_rows() {
    use halfspaces_frame::{Decimal, ReadOptions};
    let plain = ReadOptions::default();
    let whole = german(|i| (100 + i).to_string());
    let new = "x;z\n1.234;2,5\n2.500;1,5\n";
    assert_eq!(decide_file(&whole, new, &plain).unwrap(), [1234.0, 2500.0]);
    let point = ReadOptions { decimal: Some(Decimal::Point), ..ReadOptions::default() };
    let new = "x;z\n1.234;2.5\n2.500;1.5\n";
    assert_eq!(decide_file(&whole, new, &point).unwrap(), [1.234, 2.5]);
    // If the numbers in the fit contained only commas, a point in a new number is ambiguous.
    let commas = german(|i| format!("{i},25"));
    let refused = decide_file(&commas, "x;z\n1.234;2,5\n2.500;1,5\n", &plain).unwrap_err();
    assert!(refused.contains("--decimal"), "{refused}");
    // A new number without a percent sign may be a share.
    let percent = german(|i| format!("{i}%"));
    let refused = decide_file(&percent, "x;z\n0.5;2,5\n0.25;1,5\n", &plain).unwrap_err();
    assert!(refused.contains("`0.5`"), "{refused}");
}

/// Every row of a new table gets a prediction, including empty rows at the end and rows with a single cell.
#[test]
fn rows_at_the_end_of_a_new_table_are_classified() {
    let text = german(|i| i.to_string());
    let plain = halfspaces_frame::ReadOptions::default();
    let found = decide_file(&text, "x;z\n1;2,5\n;\n;3,5\n;\n", &plain).unwrap();
    assert_eq!(found.len(), 4);
}

/// The names that the model expects show that there is only one header line, even if the next line consists of words.
#[test]
fn a_row_of_words_is_not_a_second_header_line() {
    let text = german(|i| i.to_string());
    let plain = halfspaces_frame::ReadOptions::default();
    let found = decide_file(&text, "x;z\nn.a.;unknown\n1;2,5\n2;3,5\n", &plain);
    assert!(found.is_err() || found.is_ok_and(|found| found.len() == 3));
}

/// Creates texts of three classes. Each text has two of the ten words of its class and four of thirty common words.
fn reviews(rows: usize) -> (Frame, Vec<usize>) {
    let mut state = 7usize;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let classes: Vec<usize> = (0..rows).map(|row| row % 3).collect();
    let mut text = |class: &usize| {
        let own =
            [draw(10), draw(10)].map(|word| format!("{}{word}", ["good", "poor", "mild"][*class]));
        let common: Vec<String> = (0..4).map(|_| format!("thing{}", draw(30))).collect();
        format!("{} {}", own.join(" "), common.join(" "))
    };
    let texts: Vec<String> = classes.iter().map(&mut text).collect();
    let names: Vec<&str> = texts.iter().map(String::as_str).collect();
    let codes = (0..rows as u32).collect();
    let labels = classes.iter().map(|class| *class as u32).collect();
    let columns = vec![
        column("said", Values::texts(codes, &names)),
        column("y", Values::texts(labels, &["a", "b", "c"])),
    ];
    (Frame::new("t", columns), classes)
}

#[test]
fn texts_are_learned_without_being_named() {
    let (frame, _) = reviews(400);
    let threads = |count: usize| {
        let plan = Plan { threads: Threads::new(count).unwrap(), ..Plan::new(Method::Auto) };
        Pipeline::fit(frame.clone(), &FitOptions { plan, ..options(Method::Auto) }).unwrap()
    };
    let (fitted, notes) = threads(1);
    assert!(notes.iter().any(|note| note.contains("treated as text")), "{notes:?}");
    assert_eq!(threads(3).0, fitted);
    assert_eq!(fitted.report().held_out().unwrap().unwrap().count, 0);
    let loaded = Pipeline::read(&bytes(&fitted), "m").unwrap();
    let (new, truth) = reviews(60);
    let decided = loaded.decide(&new, Unseen::Error, Threads::ONE).unwrap();
    assert_eq!(decided.classes, truth);
    assert!(decided.probabilities.unwrap().iter().zip(truth).all(|(p, class)| p[class] > 0.5));
    // The model also works with hashed n-grams, and with words that it has not seen.
    let hashed = RecipeOptions { hash_bits: Some(14), ..RecipeOptions::default() };
    let hashed_options = FitOptions { recipe: hashed, ..options(Method::Auto) };
    let (hashed, _) = Pipeline::fit(frame.clone(), &hashed_options).unwrap();
    assert_eq!(hashed.recipe().dim(), 2 << 14);
    assert_eq!(hashed.report().held_out().unwrap().unwrap().count, 0);
    let unknown = Frame::new("t", vec![column("said", Values::texts(vec![0], &["Привет"]))]);
    assert!(fitted.decide(&unknown, Unseen::Error, Threads::ONE).is_ok());
    // Massart returns an error for this many n-grams, because it would compute a matrix of all pairs of n-grams.
    let massart = FitOptions { plan: Plan::new(Method::Massart), ..hashed_options };
    let refused = Pipeline::fit(frame, &massart).unwrap_err().to_string();
    assert!(refused.contains("use --learner perspectron"), "{refused}");
}

/// If a third of the labels are wrong, nearly all texts are still classified correctly. Rows of weight 0 are left out.
#[test]
fn the_labels_and_weights_of_texts_count() {
    let (mut frame, classes) = reviews(600);
    frame.take("y").unwrap();
    let (recipe, _) = Recipe::fit(&frame, &RecipeOptions::default()).unwrap();
    let design = recipe.apply(&frame, Unseen::Error).unwrap();
    let plan = Plan::new(Method::Auto);
    let fit = |classes: &[usize], weights: Option<&[f64]>| {
        Model::fit(&plan, &design, classes, weights, None).unwrap()
    };
    let noisy = classes.iter().enumerate();
    let noisy: Vec<usize> =
        noisy.map(|(row, class)| if row % 2 == 0 { row * 37 % 101 % 3 } else { *class }).collect();
    let given = noisy.iter().zip(&classes).filter(|(a, b)| a != b).count();
    let (model, findings) = fit(&noisy, None);
    let decided = model.decide(&design, Threads::ONE).unwrap().classes;
    let wrong = decided.iter().zip(&classes).filter(|(a, b)| a != b).count();
    assert!(given > 180 && 4 * wrong < given, "{given} {wrong}");
    // The value of C with the smallest error is used, and this error is reported.
    assert_eq!(findings.cross_validated, Some(findings.compared[0].0));
    assert!(findings.compared.is_sorted_by(|a, b| a.0 <= b.0) && findings.compared.len() > 1);
    let weights: Vec<f64> = (0..600).map(|row| f64::from(u8::from(row % 5 != 0))).collect();
    let (model, findings) = fit(&classes, Some(&weights));
    let other: Vec<usize> = classes
        .iter()
        .enumerate()
        .map(|(row, class)| if row % 5 == 0 { (class + 1) % 3 } else { *class })
        .collect();
    let (unchanged, same) = fit(&other, Some(&weights));
    assert_eq!(findings, same);
    assert_eq!(model.weights(), unchanged.weights());
    assert!(Model::fit(&plan, &design, &classes, Some(&[0.0; 600]), None).is_err());
}

#[test]
fn rows_of_weight_zero_are_not_counted() {
    let (mut frame, classes) = reviews(100);
    frame.take("y").unwrap();
    let (recipe, _) = Recipe::fit(&frame, &RecipeOptions::default()).unwrap();
    let design = recipe.apply(&frame, Unseen::Error).unwrap();
    let weights: Vec<f64> = (0..100).map(|row| f64::from(row % 5)).collect();
    let learned = |weights: Option<&[f64]>| {
        let plan = Plan::new(Method::Logistic);
        Model::fit(&plan, &design, &classes, weights, None).unwrap().1.learned_from
    };
    assert_eq!((learned(None), learned(Some(&weights))), (100, 80));
}

/// 40 % of the texts of a class are labelled as another class. Such rows are left out, and a note names the classes.
/// The report in the model file contains the number of rows.
#[test]
fn a_note_says_which_rows_are_left_out() {
    let rows = 900;
    let (mut texts, mut labels) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let own = |k: usize| format!("{}{}", ["alpha", "beta", "gamma"][i % 3], (i * k) % 47);
        let any = |k: usize| format!("common{}", (i * k + i * i) % 211);
        let words: Vec<String> =
            (0..3).map(|k| own(11 + k)).chain((0..6).map(|k| any(7 + k))).collect();
        texts.push(words.join(" "));
        labels.push(if i % 3 == 1 && i / 3 % 5 < 2 { 0 } else { (i % 3) as u32 });
    }
    let codes = (0..rows as u32).collect();
    let frame = Frame::new(
        "t",
        vec![
            column("said", Values::texts(codes, &texts)),
            column("y", Values::texts(labels, &["post", "bank", "shop"])),
        ],
    );
    let (model, notes) = Pipeline::fit(frame, &options(Method::Auto)).unwrap();
    let left_out = model.report().findings.left_out.unwrap();
    let note = notes.iter().find(|note| note.contains("left out of the fit")).unwrap();
    let expected = format!("t: {} rows labelled `post` are left out of the fit", left_out.rows);
    assert!(note.starts_with(&expected) && note.contains("look like `bank`"), "{note}");
    assert!((40..130).contains(&left_out.rows), "{left_out:?}");
    assert_eq!(model.report().learned_from + left_out.rows as u64, 720);
    let loaded = Pipeline::read(&bytes(&model), "m").unwrap();
    assert_eq!(loaded.report().findings.left_out, Some(left_out));
}

/// If the classes are balanced, the weight of each row is inversely proportional to the size of its class, so a rare
/// class is predicted more often. The calibration on held-out rows uses the same weights.
#[test]
fn balanced_classes_have_the_same_weight() {
    let rows = 4000;
    let rare = |i: usize| i % 20 == 3;
    let x = |i: usize| {
        let at = (i * 37 % 101) as f64;
        if rare(i) { 60.0 + 0.6 * at } else { at }
    };
    let frame = |weights: Option<[f64; 2]>| {
        let codes = (0..rows).map(|i| u32::from(rare(i))).collect();
        let mut columns = vec![
            column("x", Values::numbers((0..rows).map(x).collect())),
            column("y", Values::texts(codes, &["often", "rare"])),
        ];
        if let Some(weights) = weights {
            let of_row = (0..rows).map(|i| weights[usize::from(rare(i))]).collect();
            columns.push(column("w", Values::numbers(of_row)));
        }
        Frame::new("t", columns)
    };
    let plain = FitOptions { holdout: Some(0.3), ..FitOptions::new("y") };
    let balanced = FitOptions { balanced: true, ..plain.clone() };
    let weighted = FitOptions { weights: Some("w".into()), ..plain.clone() };
    let fit = |frame: Frame, options: &FitOptions| Pipeline::fit(frame, options).unwrap().0;
    let decide =
        |model: &Pipeline| model.decide(&frame(None), Unseen::Error, Threads::ONE).unwrap();
    let found = |model: &Pipeline| {
        let classes = decide(model).classes;
        (0..rows).filter(|i| rare(*i) && classes[*i] == 1).count()
    };
    let agree = |a: &Pipeline, b: &Pipeline| {
        let (a, b) = (decide(a).classes, decide(b).classes);
        a.iter().zip(&b).filter(|(a, b)| a == b).count()
    };
    let (without, with) = (fit(frame(None), &plain), fit(frame(None), &balanced));
    assert!(found(&without) < 90 && found(&with) > 180, "{} {}", found(&without), found(&with));
    // Between 60 and 100, the rare class would be denser than the other class if both were equally frequent.
    let row = (0..rows).find(|i| x(*i) == 80.0).unwrap();
    let rare_at = |model: &Pipeline| decide(model).probabilities.unwrap()[row][1];
    assert!(rare_at(&without) < 0.4 && (0.5..0.9).contains(&rare_at(&with)));
    // A column of weights gives nearly the same model as `balanced`. The weights in the column are computed from all
    // rows, and the balanced weights are computed from the 2800 training rows.
    let counts = &with.report().classes;
    let weight = |class: usize| rows as f64 / (2.0 * counts[class].rows as f64);
    let by_column = fit(frame(Some([weight(0), weight(1)])), &weighted);
    assert!(agree(&by_column, &with) > rows * 99 / 100);
    // Balancing cancels the effect of weights that depend only on the class.
    let both = FitOptions { balanced: true, ..weighted.clone() };
    let undone = fit(frame(Some([1.0, 50.0])), &both);
    assert!(agree(&undone, &with) > rows * 99 / 100);
    for options in [&both, &weighted] {
        let error = Pipeline::fit(frame(Some([0.0, 1.0])), options).unwrap_err().to_string();
        assert!(error.contains("every row of a class has weight 0"), "{error}");
    }
    // Weights whose sums or ratios could overflow are refused, with the first row that has one.
    for (weights, wrong) in [([1.0, 1e308], "1e308"), ([1e-200, 1e9], "1e-200")] {
        for options in [&both, &weighted] {
            let error = Pipeline::fit(frame(Some(weights)), options).unwrap_err().to_string();
            let row = usize::from(wrong == "1e308") * 3;
            let place = frame(None).place(row);
            assert!(
                error.starts_with(&format!("{place}, column `w`: a weight must be")),
                "{error}"
            );
            assert!(
                error.contains(&format!("but this one is {wrong}; multiply the column")),
                "{error}"
            );
        }
    }
    // The largest and the smallest weights are used.
    for method in [Method::Auto, Method::Logistic, Method::Svm] {
        for options in [&both, &weighted] {
            let options = FitOptions { plan: Plan::new(method), ..options.clone() };
            let fitted = Pipeline::fit(frame(Some([1e-100, 1e100])), &options);
            assert!(fitted.is_ok(), "{method:?} {:?}", fitted.err());
        }
    }
    for method in [Method::Logistic, Method::Svm] {
        let linear = |options: &FitOptions| {
            let options = FitOptions { plan: Plan::new(method), ..options.clone() };
            let model = fit(frame(None), &options);
            (found(&model), rare_at(&model))
        };
        // The class means are 90 and 50, so about five of six rare rows are predicted correctly.
        let (without, with) = (linear(&plain), linear(&balanced));
        assert!(without.0 < 90 && without.1 < 0.4, "{method:?}: {without:?}");
        assert!(with.0 > 130 && (0.5..0.9).contains(&with.1), "{method:?}: {with:?}");
    }
    let perceptron = FitOptions { plan: Plan::new(Method::Perceptron), ..balanced };
    assert!(perceptron.check().unwrap_err().to_string().contains("--balanced"));
}

/// A calibration on spare rows is replaced only by a calibration on more rows.
#[test]
fn more_rows_than_the_spare_rows_calibrate_again() {
    let (fitted, _) = Pipeline::fit(table(200, 2), &options(Method::Auto)).unwrap();
    let mut saved = serde_json::to_value(&fitted).unwrap();
    saved["model"]["core"]["table"]["report"]["calibrated_on"] = 1200.into();
    let fitted: Pipeline = serde_json::from_value(saved).unwrap();
    let is_calibrated = |rows: usize| {
        let values: Vec<Vec<f64>> = (0..rows).map(|i| vec![(i % 9) as f64 - 4.0]).collect();
        let classes: Vec<usize> = (0..rows).map(|i| usize::from(i % 9 > 4)).collect();
        fitted.model().clone().calibrate(&values, &classes, None).unwrap()
    };
    assert!(!is_calibrated(1200) && is_calibrated(1201));
}

/// Rows of weight 2 calibrate a model as if they occurred twice.
#[test]
fn weights_calibrate_as_repeated_rows() {
    let (fitted, _) = Pipeline::fit(table(200, 2), &options(Method::Logistic)).unwrap();
    let values: Vec<Vec<f64>> = (0..1200).map(|i| vec![f64::from(i % 9) - 4.0]).collect();
    let classes: Vec<usize> = (0..1200).map(|i| usize::from(i % 9 > 4 || i % 7 == 0)).collect();
    let twice = |i: &usize| i.is_multiple_of(7);
    let weight = |i: usize| if twice(&i) { 2.0 } else { 1.0 };
    let weights: Vec<f64> = (0..1200).map(weight).collect();
    let repeated: Vec<usize> = (0..1200).chain((0..1200).filter(twice)).collect();
    let mut weighted = fitted.model().clone();
    weighted.calibrate(&values, &classes, Some(&weights)).unwrap();
    let of = |rows: &[usize]| -> (Vec<Vec<f64>>, Vec<usize>) {
        rows.iter().map(|row| (values[*row].clone(), classes[*row])).unzip()
    };
    let (more_values, more_classes) = of(&repeated);
    let mut longer = fitted.model().clone();
    longer.calibrate(&more_values, &more_classes, None).unwrap();
    let mut plain = fitted.model().clone();
    plain.calibrate(&values, &classes, None).unwrap();
    let design = fitted.recipe().apply(&table(5, 2), Unseen::Error).unwrap();
    let first =
        |model: &Model| model.decide(&design, Threads::ONE).unwrap().probabilities.unwrap()[0][0];
    assert!(
        (first(&weighted) - first(&longer)).abs() < 1e-2,
        "{} {}",
        first(&weighted),
        first(&longer)
    );
    assert!((first(&weighted) - first(&plain)).abs() > 1e-3);
}

/// A table with one column and two classes.
fn one_column(x: Vec<f64>) -> Frame {
    let classes = x.iter().map(|x| u32::from(*x > 0.4)).collect();
    let column = |name: &str, values| Column { name: name.into(), values };
    let classes = Values::texts(classes, &["n", "p"]);
    Frame::new("t", vec![column("x", Values::numbers(x)), column("y", classes)])
}

/// If a tenth of the held-out rows are copies of training rows, a note is written. If there is one copy fewer, there is
/// no note.
#[test]
fn copies_are_noted_from_a_tenth_on() {
    let (learn, held_out) = split(100, Some(0.2), 0);
    assert_eq!(held_out.len(), 20);
    for copies in [1, 2] {
        let mut x: Vec<f64> = (0..100).map(|row| f64::from(row * 37 % 101) / 101.0).collect();
        held_out.iter().take(copies).for_each(|row| x[*row] = x[learn[0]]);
        let options = FitOptions { holdout: Some(0.2), ..FitOptions::new("y") };
        let (_, notes) = Pipeline::fit(one_column(x), &options).unwrap();
        let note = notes.iter().find(|note| note.contains("have the same values"));
        assert_eq!(note.is_some(), copies == 2, "{notes:?}");
    }
}

/// Importance is measured on at most 2000 rows.
#[test]
fn importance_has_a_limit_of_rows() {
    let x: Vec<f64> = (0..2100).map(|row| f64::from(row * 37 % 2111) / 2111.0).collect();
    let options = FitOptions { plan: Plan::new(Method::Perceptron), ..FitOptions::new("y") };
    let (model, _) = Pipeline::fit(one_column(x.clone()), &options).unwrap();
    for rows in [1999, 2100] {
        let design = model.design(&one_column(x[..rows].to_vec()), Unseen::Error).unwrap();
        let found = Importance::measure(&model, &design, None, Threads::ONE).unwrap();
        assert_eq!((found.rows, found.shuffles), (rows.min(2000), 3));
        assert!(found.measure == ImportanceMeasure::Changed && found.of_columns[0].increase > 0.2);
    }
}

/// Creates groups of twenty rows. The class of a group is random. The rows of a group have nearly the same numbers or
/// the same words.
fn group_frame(groups: usize, texts: bool) -> Frame {
    let rows = 20 * groups;
    let group = |row: usize| row % groups;
    let hash = |of: usize| (of + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let x = |row: usize, axis: usize| {
        (hash(4 * group(row) + axis) % 1000) as f64 + 1e-2 * (row * 7919 % 101) as f64
    };
    let said =
        |row: usize| format!("{:x} {:x} row{}", hash(group(row)), hash(2000 + group(row)), row % 7);
    let said: Vec<String> = (0..rows).map(said).collect();
    let patients: Vec<String> = (0..groups).map(|group| format!("p{group}")).collect();
    let class = |row: usize| (hash(1000 + group(row)) % 2) as u32;
    let mut columns = vec![
        column("p", Values::texts((0..rows).map(|row| group(row) as u32).collect(), &patients)),
        column("y", Values::texts((0..rows).map(class).collect(), &["ill", "well"])),
    ];
    if texts {
        columns.push(column("said", Values::texts((0..rows as u32).collect(), &said)));
    } else {
        let numbers = |axis| Values::numbers((0..rows).map(|row| x(row, axis)).collect());
        columns.extend((0..4).map(|axis| column(&format!("x{axis}"), numbers(axis))));
    }
    Frame::new("t", columns)
}

/// The class of a group is random, so candidates that recognise a group are right on random folds and often wrong on
/// new groups.
#[test]
fn candidates_are_compared_on_new_groups() {
    for texts in [false, true] {
        let recipe = RecipeOptions {
            text: texts.then(|| "said".to_owned()).into_iter().collect(),
            ..RecipeOptions::default()
        };
        let errors = |split: SplitBy| {
            let mut frame = group_frame(60, texts);
            if split.is_random() {
                frame.take("p").unwrap();
            }
            let options = FitOptions { split, recipe: recipe.clone(), ..options(Method::Auto) };
            let (pipeline, notes) = Pipeline::fit(frame, &options).unwrap();
            assert!(notes.iter().all(|note| !note.contains("not cross-validated")), "{notes:?}");
            let report = pipeline.report();
            let held_out = report.held_out().unwrap().unwrap().rate;
            let findings = &report.findings;
            (findings.compared[0].0, findings.cross_validated.unwrap(), held_out)
        };
        let (compared, cross_validated, held_out) = errors(SplitBy::Random);
        let most = compared.max(cross_validated).max(held_out);
        assert!(most < 0.05, "{texts} {compared} {cross_validated} {held_out}");
        let (compared, cross_validated, held_out) = errors(SplitBy::Group("p".into()));
        assert!(compared.min(cross_validated).min(held_out) > 0.25, "{texts} {compared}");
    }
}

/// With three groups, one group is held out and two folds remain, so the error is not cross-validated. With two groups,
/// only one remains, and candidates cannot be compared.
#[test]
fn few_groups_are_a_note_or_an_error() {
    let fit = |groups, method, holdout| {
        let split = SplitBy::Group("p".into());
        let mut frame = group_frame(groups, false);
        // Both classes are in every group.
        frame.take("y").unwrap();
        let codes = (0..frame.rows as u32).map(|row| row / 7 % 2).collect();
        frame.columns.push(column("y", Values::texts(codes, &["ill", "well"])));
        Pipeline::fit(frame, &FitOptions { split, holdout, ..options(method) })
    };
    let noted = |fitted: Result<(Pipeline, Vec<String>), DataError>| {
        let (pipeline, notes) = fitted.unwrap();
        let noted = notes.iter().any(|note| note.contains("fewer than 5 groups of column `p`"));
        assert_eq!(noted, pipeline.report().findings.cross_validated.is_none(), "{notes:?}");
        noted
    };
    assert!(noted(fit(3, Method::Auto, None)) && noted(fit(2, Method::Auto, Some(0.0))));
    assert!(noted(fit(2, Method::Logistic, None)) && noted(fit(4, Method::Logistic, Some(0.0))));
    assert!(!noted(fit(5, Method::Logistic, Some(0.0))) && !noted(fit(6, Method::Auto, Some(0.1))));
    let refused = fit(2, Method::Auto, None).unwrap_err().to_string();
    assert!(
        refused.contains("t, column `p`: only one group is left")
            && refused.contains("--holdout 0"),
        "{refused}"
    );
    let refused = fit(1, Method::Auto, None).unwrap_err().to_string();
    assert!(refused.contains("all rows are in one group"), "{refused}");
}

/// The notes of the fit include notes on the dates by which rows are held out.
#[test]
fn notes_on_the_dates_of_a_split_are_kept() {
    use halfspaces_frame::{Hints, ReadOptions, read_bytes};
    let row = |i: usize| {
        let (day, month, class) = (1 + i / 9, 1 + i % 9, ["a", "b"][i % 2]);
        format!("0{month}/0{day}/2024;{};{class}\n", i * 7 % 13)
    };
    let rows: String = (0..60).map(row).collect();
    let text = format!("t;x;y\n{rows}").into_bytes();
    let told = ReadOptions::default();
    let frame = read_bytes("t.csv", text, &told, &Hints::texts(["y"])).unwrap();
    let split = SplitBy::Time("t".into());
    let options = FitOptions { split, holdout: None, ..options(Method::Logistic) };
    let (_, notes) = Pipeline::fit(frame, &options).unwrap();
    let said = "column `t`: dates such as `02/01/2024` fit both orders of day and month";
    assert_eq!(notes.iter().filter(|note| note.contains(said)).count(), 1, "{notes:?}");
}

/// An error message gives only advice that can help.
#[test]
fn too_few_rows_are_an_error_with_advice_that_helps() {
    let fit = |rows, holdout| {
        let options = FitOptions { holdout: Some(holdout), ..FitOptions::new("y") };
        Pipeline::fit(table(rows, 2), &options)
    };
    for holdout in [0.0, 0.2] {
        let refused = fit(9, holdout).unwrap_err().to_string();
        assert!(!refused.contains("--holdout") && refused.contains("add rows"), "{refused}");
    }
    let refused = fit(10, 0.2).unwrap_err().to_string();
    assert!(
        refused.contains("8 rows are too few to learn from: auto needs at least 10"),
        "{refused}"
    );
    assert!(refused.contains("--holdout 0") && !refused.contains("add rows"), "{refused}");
    fit(10, 0.0).unwrap();
    let plan = Plan::new(Method::Logistic);
    Pipeline::fit(table(9, 2), &FitOptions { plan, holdout: Some(0.0), ..FitOptions::new("y") })
        .unwrap();
}

/// A file is replaced as a whole. A process that has the file open keeps reading the old model, a symbolic link stays a
/// link, and the permissions are kept.
#[cfg(unix)]
#[test]
fn saving_replaces_the_file_at_the_end() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("m.json"), folder.path().join("link.json"));
    let (model, _) = Pipeline::fit(table(60, 2), &options(Method::Perceptron)).unwrap();
    std::fs::write(&file, "before").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let open = std::fs::File::open(&file).unwrap();
    model.save(&link).unwrap();
    assert_eq!(std::io::read_to_string(open).unwrap(), "before");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read(&file).unwrap(), bytes(&model));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    std::fs::remove_file(&file).unwrap();
    assert!(model.save(&link).is_err() && link.is_symlink() && !file.exists());
    let error = model.save(&folder.path().join("none/m.json")).unwrap_err().to_string();
    assert!(error.contains("cannot be written"), "{error}");
}

/// The columns that an option names are expected, so they are read even if they are the index of a pandas table.
#[test]
fn columns_that_options_name_are_expected() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let recipe = RecipeOptions {
        drop: names(&["d"]),
        text: names(&["t"]),
        use_columns: names(&["u"]),
        ..RecipeOptions::default()
    };
    let split = SplitBy::Group("g".into());
    let options = FitOptions { recipe, split, weights: Some("w".into()), ..FitOptions::new("y") };
    let expected: Vec<String> = options.hints().expected.into_iter().collect();
    assert_eq!(expected, ["d", "g", "t", "u", "w", "y"]);
    assert!(!options.hints().texts.contains("g"));
}

/// A model of one class against the rest finds its class in a table that writes `1` for `true`, and says so. If the
/// table also contains the class itself, `1` is another class.
#[test]
fn a_truth_value_against_the_rest_is_found_as_a_number() {
    for (fitted, other) in [("true", "1"), ("1", "true")] {
        let with = |names: [&str; 3]| {
            let mut frame = table(90, 3);
            frame.columns[2].values = Values::texts((0..90).map(|i| i % 3).collect(), &names);
            frame
        };
        let several = FitOptions { positive: Some(fitted.into()), ..options(Method::Logistic) };
        let (model, _) = Pipeline::fit(with(["maybe", "no", fitted]), &several).unwrap();
        let found = model.true_classes(&with(["maybe", "no", other]), "y").unwrap();
        let expected: Vec<Option<usize>> = (0..90).map(|i| Some(usize::from(i % 3 == 2))).collect();
        assert_eq!(found.of_row, expected);
        let note = format!("no label is `{fitted}`, so `{other}` counts as `{fitted}`");
        assert!(found.notes.concat().contains(&note), "{:?}", found.notes);
        let rest = format!("all labels except `{other}` count as `not {fitted}`");
        assert!(found.notes.concat().contains(&rest), "{:?}", found.notes);
        let both = model.true_classes(&with(["maybe", other, fitted]), "y").unwrap();
        assert_eq!(both.of_row, expected);
        assert!(!both.notes.concat().contains("so `"), "{:?}", both.notes);
    }
}
