//! Tests that exported models predict the same as the pipeline on rows with missing values and unseen categories. The
//! exported files are evaluated from their bytes: ONNX by an interpreter of its operators, SQL by SQLite, and Python by
//! python3 if it is installed.

use super::ExportFormat;
use super::onnx::interpreter::{Elements, Tensor, run};
use crate::{Decisions, FitOptions, Method, Pipeline, Plan, RecipeOptions, Unseen};
use halfspaces_frame::{Format, Frame, Hints, ReadOptions, read_bytes};
use halfspaces_linalg::Threads;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::{Command, Output};

/// A pseudorandom number from 0 to 1.
fn unit(row: usize, by: f64) -> f64 {
    (row as f64 * by).fract()
}

/// Creates a table with two columns of numbers and two columns of categories. One column of numbers has missing values
/// and a marker for missing values. Some names and categories contain quotes. New rows contain unseen categories, and
/// missing values in columns that had none before.
fn csv(rows: std::ops::Range<usize>, classes: usize, is_new: bool) -> String {
    let mut text = String::from("a b,\"q\"\"x\",color,kind,y\n");
    for row in rows {
        let (a, b) = (unit(row, 0.618_033_988_75) * 10.0, unit(row, 0.414_213_562_37) * 1e4);
        let colour = ["red", "it's", "blue \"dark\""][row * 7 % 3];
        let kind = ["1", "2", ""][row * 11 % 13 % 3];
        let score = a / 10.0 + if colour == "red" { 0.3 } else { 0.0 } + 0.4 * unit(row, 0.732_05);
        let class = ((score / 1.7 * classes as f64) as usize).min(classes - 1);
        let a = match row % 17 {
            5 => String::new(),
            9 => "-99".to_owned(),
            _ => a.to_string(),
        };
        let b = if is_new && row % 19 == 3 { String::new() } else { b.to_string() };
        let colour = match row % 11 {
            4 if is_new => "green",
            6 if is_new => "",
            _ => colour,
        };
        let colour = colour.replace('"', "\"\"");
        let _ = writeln!(text, "{a},{b},\"{colour}\",{kind},class '{class}'");
    }
    text
}

fn read(text: &str, hints: &Hints) -> Frame {
    let has_kind = text.lines().next().unwrap().contains(",kind,");
    let told = ReadOptions {
        format: Some(Format::Csv),
        missing: vec!["-99".into()],
        category: if has_kind { vec!["kind".into()] } else { vec![] },
        ..ReadOptions::default()
    };
    read_bytes("t.csv", text.as_bytes().to_vec(), &told, hints).unwrap()
}

/// Returns a model, new rows as text, and the decisions of the model for these rows.
fn example(method: Method, classes: usize) -> (Pipeline, String, Decisions) {
    let frame = read(&csv(0..240, classes, false), &Hints::default());
    let options =
        FitOptions { plan: Plan::new(method), holdout: Some(0.2), ..FitOptions::new("y") };
    let (model, _) = Pipeline::fit(frame, &options).unwrap();
    let text = csv(240..400, classes, true);
    let found = decide(&model, &text);
    (model, text, found)
}

fn decide(model: &Pipeline, text: &str) -> Decisions {
    let frame = read(text, &model.hints(&["y".to_owned()]));
    model.decide(&frame, Unseen::Zero, Threads::ONE).unwrap()
}

/// Splits the text of a table into rows, each of which maps the names of the columns to cells.
fn cells(text: &str) -> Vec<HashMap<String, String>> {
    let mut lines = text.lines().map(|line| {
        let (mut cells, mut quoted, mut letters) = (vec![String::new()], false, line.chars());
        while let Some(letter) = letters.next() {
            let cell = cells.last_mut().unwrap();
            match letter {
                '"' if quoted && letters.as_str().starts_with('"') => {
                    cell.push('"');
                    letters.next();
                }
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                letter => cell.push(letter),
            }
        }
        cells
    });
    let names = lines.next().unwrap();
    lines.map(|line| names.iter().cloned().zip(line).collect()).collect()
}

const LINEAR: [Method; 4] =
    [Method::Perspectron, Method::Perceptron, Method::Logistic, Method::Svm];

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-11
}

fn as_number(cell: &str) -> f64 {
    if cell.is_empty() { f64::NAN } else { cell.parse().unwrap() }
}

fn inputs(model: &Pipeline, text: &str) -> HashMap<String, Tensor> {
    let rows = cells(text);
    let mut inputs = HashMap::new();
    let numbers: Vec<f64> =
        rows.iter().flat_map(|row| ["a b", "q\"x"].map(|name| as_number(&row[name]))).collect();
    assert_eq!(model.recipe().places()[1].0, "q\"x");
    inputs.insert("X".to_owned(), Tensor::numbers(&[rows.len(), 2], numbers));
    for name in ["color", "kind"] {
        let elements = Elements::Texts(rows.iter().map(|row| row[name].clone()).collect());
        inputs.insert(name.to_owned(), Tensor { shape: vec![rows.len(), 1], elements });
    }
    inputs
}

#[test]
fn onnx_models_decide_as_the_pipeline() {
    for method in LINEAR.into_iter().chain([Method::Auto]) {
        for classes in [2, 3] {
            let (model, text, expected) = example(method, classes);
            check_onnx(&model, &text, &expected);
        }
    }
}

fn check_onnx(model: &Pipeline, text: &str, expected: &Decisions) {
    let found = run(&model.export(ExportFormat::Onnx).unwrap(), inputs(model, text));
    let labels: Vec<&String> =
        expected.classes.iter().map(|class| &model.classes()[*class]).collect();
    assert_eq!(found["label"].as_texts().iter().collect::<Vec<_>>(), labels);
    let probabilities = expected.probabilities.as_ref().unwrap().concat();
    assert_eq!(found["probabilities"].shape, [labels.len(), model.classes().len()]);
    for (found, expected) in found["probabilities"].as_numbers().iter().zip(probabilities) {
        assert!(close(*found, expected), "{found} {expected}");
    }
}

/// If the decision values are equal, the second of two classes or the first of several classes is predicted. Huge
/// distances, whose powers would overflow, are handled too.
#[test]
fn ties_and_huge_values_are_decided_as_by_the_pipeline() {
    for classes in [2, 3] {
        for factor in [0.0, 1e200] {
            let (model, text, _) = example(Method::Logistic, classes);
            let mut saved = serde_json::to_value(&model).unwrap();
            saved["model"]["calibration"] =
                json!({ "unit": 0.5, "slope": 0.0, "exponent": 9.0, "slip": 0.25, "tail": 2.0 });
            multiply_halfspaces(&mut saved, factor);
            // A deviation of 0 belongs to a column that was constant.
            saved["model"]["core"]["linear"]["scale"]["deviations"][1] = json!(0.0);
            let model: Pipeline = serde_json::from_value(saved).unwrap();
            let expected = decide(&model, &text);
            if factor == 0.0 {
                assert_eq!(expected.classes[0], [1, 0][classes - 2]);
            }
            check_python(&model, &text, &expected);
            check_query(&model, &text, &expected);
            check_onnx(&model, &text, &expected);
        }
    }
}

/// Multiplies the weights and biases of the halfspaces of a saved model.
fn multiply_halfspaces(saved: &mut Value, factor: f64) {
    match saved {
        Value::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Value::Number(number) if key == "bias" => {
                        *value = json!(number.as_f64().unwrap() * factor);
                    }
                    Value::Array(numbers) if key == "normal" => {
                        numbers.iter_mut().for_each(|n| *n = json!(n.as_f64().unwrap() * factor));
                    }
                    _ => multiply_halfspaces(value, factor),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| multiply_halfspaces(item, factor)),
        _ => {}
    }
}

#[test]
fn queries_decide_as_the_pipeline() {
    for method in LINEAR {
        for classes in [2, 3] {
            let (model, text, expected) = example(method, classes);
            check_query(&model, &text, &expected);
        }
    }
}

/// Opens a database that has the functions `exp` and `power`, which queries use and some builds of SQLite lack.
fn database() -> rusqlite::Connection {
    let database = rusqlite::Connection::open_in_memory().unwrap();
    let flags = rusqlite::functions::FunctionFlags::SQLITE_UTF8;
    let exp = |given: &mut rusqlite::functions::Context<'_>| Ok(given.get::<f64>(0)?.exp());
    database.create_scalar_function("exp", 1, flags, exp).unwrap();
    let power = |given: &mut rusqlite::functions::Context<'_>| {
        Ok(given.get::<f64>(0)?.powf(given.get::<f64>(1)?))
    };
    database.create_scalar_function("power", 2, flags, power).unwrap();
    database
}

/// Runs the exported query on a table and compares the added columns with the expected decisions.
fn check_query(model: &Pipeline, text: &str, expected: &Decisions) {
    let query = String::from_utf8(model.export(ExportFormat::Sql).unwrap()).unwrap();
    let database = database();
    let create =
        "CREATE TABLE \"data\" (\"a b\" REAL, \"q\"\"x\" REAL, \"color\" TEXT, \"kind\" TEXT)";
    database.execute(create, []).unwrap();
    for (at, row) in cells(text).iter().enumerate() {
        let number = |name: &str| Some(as_number(&row[name])).filter(|v| !v.is_nan());
        // Both an empty text and NULL are missing values.
        let kind = Some(&row["kind"]).filter(|kind| at.is_multiple_of(2) || !kind.is_empty());
        let values = (number("a b"), number("q\"x"), &row["color"], kind);
        database.execute("INSERT INTO \"data\" VALUES (?, ?, ?, ?)", values).unwrap();
    }
    let mut query = database.prepare(&query).unwrap();
    let mut rows = query.query([]).unwrap();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        let class = expected.classes[count];
        let label: String = row.get("predicted_label").unwrap();
        assert_eq!(label, model.classes()[class], "row {count}");
        let probability: f64 = row.get("predicted_probability").unwrap();
        let all = &expected.probabilities.as_ref().unwrap()[count];
        assert!(close(probability, all[class]), "{probability} {all:?}");
        if model.classes().len() == 2 {
            let value: f64 = row.get("predicted_value").unwrap();
            let size = expected.values[count].abs().max(1.0);
            assert!(close(value / size, expected.values[count] / size), "{value}");
        }
        count += 1;
    }
    assert_eq!(count, expected.classes.len());
}

/// Reads the value of a variable from the source of a module. The value is a literal on one line or a list with one
/// literal per line.
fn literal(module: &str, name: &str) -> Value {
    let start = format!("\n{name} = ");
    let (_, rest) = module.rsplit_once(&start).unwrap();
    let text = match rest.strip_prefix("[\n") {
        Some(rest) => {
            let (items, _) = rest.split_once("\n]\n").unwrap();
            format!("[{}]", items.trim_end_matches(','))
        }
        None => rest.lines().next().unwrap().to_owned(),
    };
    serde_json::from_str(&text).unwrap()
}

fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// Computes the decision values of a row from the data of a module, directly from their definitions.
fn values_of_data(module: &str, row: &HashMap<String, String>) -> Vec<f64> {
    let mut x = Vec::new();
    for column in literal(module, "COLUMNS").as_array().unwrap() {
        let cell = row[column["name"].as_str().unwrap()].as_str();
        let markers = column["missing_cells"].as_array().unwrap();
        let is_missing = markers.iter().any(|marker| marker == cell);
        match column["kind"].as_str().unwrap() {
            "number" if is_missing => x.push(column["median"].as_f64().unwrap()),
            "number" => x.push(cell.parse().unwrap()),
            "category" => {
                let levels = column["levels"].as_array().unwrap();
                x.extend(levels.iter().map(|level| f64::from(u8::from(level == cell))));
            }
            other => panic!("kind {other}"),
        }
        if column["missing"] == true {
            x.push(f64::from(u8::from(is_missing)));
        }
    }
    let scales: Vec<Vec<f64>> = literal(module, "SCALES")
        .as_array()
        .unwrap()
        .iter()
        .map(|scale| match scale["kind"].as_str().unwrap() {
            "standard" => {
                let scales = list(&scale["means"]).into_iter().zip(list(&scale["deviations"]));
                let scaled = x.iter().zip(scales);
                scaled.map(|(v, (m, s))| if s > 0.0 { (v - m) / s } else { 0.0 }).collect()
            }
            _ => {
                let knots = scale["knots"].as_array().unwrap();
                let rank = |(v, knots): (&f64, &Value)| {
                    let (values, ranks) = (list(&knots[0]), list(&knots[1]));
                    let at = values.partition_point(|other| other <= v);
                    if at == 0 || at == values.len() {
                        return ranks[at.saturating_sub(1)];
                    }
                    let share = (v - values[at - 1]) / (values[at] - values[at - 1]);
                    ranks[at - 1] + share * (ranks[at] - ranks[at - 1])
                };
                x.iter().zip(knots).map(rank).collect()
            }
        })
        .collect();
    let mut sums = Vec::new();
    for part in literal(module, "PARTS").as_array().unwrap() {
        let scaled = &scales[part["scale"].as_u64().unwrap() as usize];
        let kernel = &part["kernel"];
        let features = match kernel["centres"].as_array() {
            None => scaled.clone(),
            Some(centres) => {
                let is_square = kernel["distance"] == "SquaredEuclidean";
                let distance = |centre: &Value| -> f64 {
                    let differences = list(centre).into_iter().zip(scaled).map(|(z, v)| z - v);
                    differences.map(|d| if is_square { d * d } else { d.abs() }).sum()
                };
                let scale = kernel["scale"].as_f64().unwrap();
                centres.iter().map(|centre| (-distance(centre) / scale).exp()).collect()
            }
        };
        let halfspaces = part["halfspaces"].as_array().unwrap();
        sums.resize(halfspaces.len(), 0.0);
        for (sum, halfspace) in sums.iter_mut().zip(halfspaces) {
            let products = list(&halfspace["weights"]).into_iter().zip(&features);
            *sum += products.map(|(w, v)| w * v).sum::<f64>() + halfspace["bias"].as_f64().unwrap();
        }
    }
    sums
}

#[test]
fn the_data_of_python_modules_give_the_values_of_the_pipeline() {
    for method in LINEAR.into_iter().chain([Method::Auto]) {
        for classes in [2, 3] {
            let (model, text, expected) = example(method, classes);
            let module = String::from_utf8(model.export(ExportFormat::Python).unwrap()).unwrap();
            for (row, expected) in cells(&text).iter().zip(&expected.values) {
                let values = values_of_data(&module, row);
                let lead = crate::model::lead(&values);
                assert!(close(lead, *expected), "{method:?} {classes}: {lead} {expected}");
            }
        }
    }
}

/// Runs `predict` and `decision_values` of a module on rows. For a row that causes an error, the result is the error
/// message. Returns `None` if there is no python3.
fn run_python(module: &[u8], rows: &[HashMap<String, String>], unseen: &str) -> Option<Vec<Value>> {
    const PROGRAM: &str = "
import json, sys
import exported
def found(row):
    try:
        return [*exported.predict(row, sys.argv[1]), exported.decision_values(row, sys.argv[1])]
    except ValueError as error:
        return str(error)
print(json.dumps([found(row) for row in json.load(open('rows.json', encoding='utf-8'))]))
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("exported.py"), module).unwrap();
    std::fs::write(folder.path().join("rows.json"), serde_json::to_vec(rows).unwrap()).unwrap();
    let output = Command::new("python3")
        .args(["-c", PROGRAM, unseen])
        .current_dir(folder.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn check_python(model: &Pipeline, text: &str, expected: &Decisions) {
    let module = model.export(ExportFormat::Python).unwrap();
    let Some(found) = run_python(&module, &cells(text), "zero") else { return };
    assert_eq!(found.len(), expected.classes.len());
    for (row, found) in found.iter().enumerate() {
        let class = expected.classes[row];
        assert_eq!(found[0], model.classes()[class].as_str(), "row {row}: {found}");
        let lead = crate::model::lead(&list(&found[2]));
        let size = expected.values[row].abs().max(1.0);
        assert!(close(lead / size, expected.values[row] / size), "row {row}: {found}");
        match &expected.probabilities {
            None => assert!(found[1].is_null()),
            Some(all) => {
                for (name, expected) in model.classes().iter().zip(&all[row]) {
                    let found = found[1][name].as_f64().unwrap();
                    assert!(close(found, *expected), "row {row}: {found} {expected}");
                }
            }
        }
    }
}

#[test]
fn python_modules_decide_as_the_pipeline() {
    for method in LINEAR.into_iter().chain([Method::Auto]) {
        for classes in [2, 3] {
            let (model, text, expected) = example(method, classes);
            check_python(&model, &text, &expected);
        }
    }
}

/// A model that was fitted to a stream without held-out rows has no calibration.
#[test]
fn models_without_probabilities_have_values() {
    for classes in [2, 3] {
        let (model, text, _) = example(Method::Svm, classes);
        let mut saved = serde_json::to_value(&model).unwrap();
        saved["model"].as_object_mut().unwrap().remove("calibration").unwrap();
        let model: Pipeline = serde_json::from_value(saved).unwrap();
        let expected = decide(&model, &text);
        assert!(expected.probabilities.is_none());
        check_python(&model, &text, &expected);
        let found = run(&model.export(ExportFormat::Onnx).unwrap(), inputs(&model, &text));
        assert!(found.contains_key("label") && !found.contains_key("probabilities"));
        let outputs = if classes == 2 { 1 } else { classes };
        assert_eq!(found["values"].shape, [expected.values.len(), outputs]);
        for (values, expected) in found["values"].as_numbers().chunks(outputs).zip(&expected.values)
        {
            assert!(close(crate::model::lead(values), *expected), "{values:?} {expected}");
        }
        let query = String::from_utf8(model.export(ExportFormat::Sql).unwrap()).unwrap();
        assert!(query.contains("predicted_label") && !query.contains("predicted_probability"));
    }
}

/// Words with letters of many scripts, punctuation between letters and digits, several kinds of spaces, and letters
/// whose lower-case form is longer.
const WORDS: [&str; 24] = [
    "can't",
    "U.S.A.",
    "3.14",
    "1,000",
    "1,000.5x",
    "a:b",
    "foo_bar",
    "__",
    "naïve",
    "e\u{301}te\u{301}",
    "İstanbul",
    "ΣΑΣ",
    "機械学習",
    "カタカナ_x",
    "ひらがな",
    "א\"ב",
    "ש'",
    "नमस्ते",
    "สวัสดี",
    "x\u{200d}y",
    "😀\u{200d}👩",
    "٣٫٤",
    "a\u{a0}b",
    "-",
];

#[test]
fn python_modules_divide_texts_as_the_pipeline() {
    let text = |rows: std::ops::Range<usize>| {
        let mut text = String::from("t,n,y\n");
        for row in rows {
            let word = |by: f64| WORDS[(unit(row + 1, by) * WORDS.len() as f64) as usize];
            let words = [
                word(0.618_033_988_75),
                word(0.414_213_562_37),
                word(0.732_050_8),
                word(0.236_067_9),
            ];
            let separator = [" ", "", "  ", ". "][row % 4];
            let cell = words.join(separator).replace('"', "\"\"");
            let cell = if row % 23 == 7 { "" } else { &cell };
            let class = usize::from(words.iter().any(|word| word.len() > 9));
            let _ = writeln!(text, "\"{cell}\",{},{}", row % 10, ["no", "yes"][class]);
        }
        text
    };
    for hash_bits in [None, Some(9)] {
        let recipe =
            RecipeOptions { text: vec!["t".into()], hash_bits, ..RecipeOptions::default() };
        let options = FitOptions { recipe, ..FitOptions::new("y") };
        let frame =
            read(&text(0..200), &Hints { texts: ["t".to_owned()].into(), ..Hints::default() });
        let (model, _) = Pipeline::fit(frame, &options).unwrap();
        let new = text(200..500);
        check_python(&model, &new, &decide(&model, &new));
    }
}

/// The cells are numbers with signs, digit groups and units, truth values, and dates whose day and month are in the
/// order that their column uses.
#[test]
fn python_modules_read_cells_as_the_pipeline() {
    let text = |rows: std::ops::Range<usize>| {
        let mut text = String::from("price,share,day,clock,seen,ok,y\n");
        for row in rows {
            let v = unit(row + 1, 0.618_033_988_75);
            let price = match row % 5 {
                0 => format!("\"1.{:03},50 €\"", (v * 999.0) as usize),
                1 => format!("\"({},25)\"", (v * 99.0) as usize),
                2 => format!("\"-{},5€\"", (v * 99.0) as usize),
                3 => format!("\"{} €\"", (v * 99.0) as usize),
                _ => "NA".to_owned(),
            };
            let share = format!("{}%", (v * 100.0) as usize);
            let day = format!("{:02}.{:02}.{}", 1 + row % 28, 1 + row % 12, 2019 + row % 4);
            let clock = format!("{}:{:02}", row % 24, row * 7 % 60);
            let seen = match row % 3 {
                0 => format!(
                    "2021-{:02}-{:02}T{:02}:30:15.25+02:00",
                    1 + row % 12,
                    1 + row % 28,
                    row % 24
                ),
                1 => format!("{} Mar 2022 {}:05 pm +0100", 1 + row % 28, 1 + row % 12),
                _ => "null".to_owned(),
            };
            let ok = ["true", "FALSE", "True"][row * 5 % 3];
            let class = if v + 0.1 * (row % 12) as f64 > 1.0 { "b" } else { "a" };
            let _ = writeln!(text, "{price},{share},{day},{clock},{seen},{ok},{class}");
        }
        text
    };
    let frame = read(&text(0..200), &Hints::default());
    let options = FitOptions { plan: Plan::new(Method::Logistic), ..FitOptions::new("y") };
    let (model, _) = Pipeline::fit(frame, &options).unwrap();
    let names = model.recipe().coordinates().join(" ");
    for name in [
        "price is missing",
        "share",
        "day: day of year (sin)",
        "clock: time of day",
        "seen is missing",
        "ok",
    ] {
        assert!(names.contains(name), "{name}: {names}");
    }
    let new = text(200..400);
    check_python(&model, &new, &decide(&model, &new));
    for (format, column) in [(ExportFormat::Onnx, "day"), (ExportFormat::Sql, "day")] {
        let error = model.export(format).unwrap_err().to_string();
        assert!(error.contains(&format!("`{column}`")) && error.contains("--drop"), "{error}");
    }
}

/// Numbers with groups of thousands are read if the column had none when the model was fitted, unless the separator
/// could be a decimal mark.
#[test]
fn python_modules_read_groups_of_thousands_as_the_pipeline() {
    let number = |row: usize| unit(row + 1, 0.618_033_988_75) * 999.0;
    let text = |mark: char| {
        let rows = (0..120).map(|row| {
            let cell = format!("{:.2}", number(row)).replace('.', &mark.to_string());
            format!("{cell}|{}\n", if number(row) > 500.0 { "p" } else { "n" })
        });
        format!("x|y\n{}", rows.collect::<String>())
    };
    for (mark, read_cells, refused) in [
        ('.', ["1 000.5", "1'000", "1,000.5", "\u{200b}'１,000,000"], "1,120"),
        (',', ["1 000,5", "=\"1'000\"", "1.234,5", "1.000.000"], "1.120"),
    ] {
        let options = FitOptions { plan: Plan::new(Method::Logistic), ..FitOptions::new("y") };
        let (model, _) = Pipeline::fit(read(&text(mark), &Hints::default()), &options).unwrap();
        let module = model.export(ExportFormat::Python).unwrap();
        let row = |cell: &str| HashMap::from([("x".to_owned(), cell.to_owned())]);
        let rows: Vec<_> = read_cells.iter().chain([&refused]).map(|cell| row(cell)).collect();
        let Some(found) = run_python(&module, &rows, "error") else { return };
        for (cell, found) in read_cells.iter().zip(&found) {
            let table = read(&format!("x|z\n{cell}|a\n"), &model.hints(&[]));
            let expected = model.decide(&table, Unseen::Error, Threads::ONE).unwrap().values[0];
            let value = crate::model::lead(&list(&found[2]));
            assert!(close(value / expected, 1.0), "{cell}: {value} {expected}");
        }
        let error = found[4].as_str().unwrap();
        assert!(error.contains(&format!("'{refused}' is not a number")), "{error}");
    }
}

/// If the dates in the fit had slashes and the month first, the module reads dates with slashes but rejects dates with
/// points.
#[test]
fn python_modules_refuse_points_in_dates_with_the_month_first() {
    let date = |row: usize| format!("{}/{}/2025", 1 + row % 12, 1 + row % 28);
    let rows: String =
        (0..120).map(|row| format!("{},{}\n", date(row), ["n", "p"][row % 12 / 6])).collect();
    let frame = read(&format!("day,y\n{rows}"), &Hints::default());
    let options = FitOptions { plan: Plan::new(Method::Logistic), ..FitOptions::new("y") };
    let (model, _) = Pipeline::fit(frame, &options).unwrap();
    let new = "day\n5/7/2025\n2025-05-07\n7. May 2025\n05.07.2025\n";
    let module = model.export(ExportFormat::Python).unwrap();
    let Some(found) = run_python(&module, &cells(new), "error") else { return };
    assert!(found[0].is_array() && found[0] == found[1] && found[0] == found[2], "{found:?}");
    let error = found[3].as_str().unwrap();
    assert!(error.contains("`day`: dots") && error.contains("'05.07.2025'"), "{error}");
    let new = b"day\n5/7/2025\n05.07.2025\n".to_vec();
    let refused = read_bytes("t.csv", new, &ReadOptions::default(), &model.hints(&[]));
    assert!(refused.unwrap_err().to_string().contains("pass --day-first"));
}

/// Sparse columns contain numbers, and an absent number counts as 0.
#[test]
fn models_of_sparse_columns_decide_as_the_pipeline() {
    let text = |rows: std::ops::Range<usize>| {
        let row = |i: usize| {
            let (a, b) = (unit(i + 1, 0.618_033_988_75), unit(i + 1, 0.414_213_562_37));
            let first = if i.is_multiple_of(3) { String::new() } else { format!(" 2:{a}") };
            format!("{}{first} 5:{b} 7:{}\n", if a + b > 1.0 { "1" } else { "-1" }, i % 4)
        };
        rows.map(row).collect::<String>()
    };
    let read = |text: &str| {
        let told = ReadOptions { format: Some(Format::Libsvm), ..ReadOptions::default() };
        read_bytes("t.libsvm", text.as_bytes().to_vec(), &told, &Hints::default()).unwrap()
    };
    let options = FitOptions {
        plan: Plan::new(Method::Logistic),
        holdout: Some(0.2),
        ..FitOptions::new("label")
    };
    let (model, _) = Pipeline::fit(read(&text(0..200)), &options).unwrap();
    let new = text(200..300);
    let expected = model.decide(&read(&new), Unseen::Zero, Threads::ONE).unwrap();
    let row = |line: &str| -> HashMap<String, String> {
        let cells = line.split(' ').skip(1).filter_map(|cell| cell.split_once(':'));
        cells.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    let rows: Vec<_> = new.lines().map(row).collect();
    let names: Vec<String> = model.recipe().places().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["2", "5", "7"]);
    let value = |row: &HashMap<String, String>, name: &String| {
        row.get(name).map_or(f64::NAN, |cell| as_number(cell))
    };
    let matrix = rows.iter().flat_map(|row| names.iter().map(|name| value(row, name)));
    let matrix = Tensor::numbers(&[rows.len(), 3], matrix.collect());
    let found =
        run(&model.export(ExportFormat::Onnx).unwrap(), HashMap::from([("X".to_owned(), matrix)]));
    let all = expected.probabilities.as_ref().unwrap().concat();
    assert!(found["probabilities"].as_numbers().iter().zip(&all).all(|(a, b)| close(*a, *b)));
    let query = String::from_utf8(model.export(ExportFormat::Sql).unwrap()).unwrap();
    let database = database();
    database.execute("CREATE TABLE \"data\" (\"2\" REAL, \"5\" REAL, \"7\" REAL)", []).unwrap();
    for row in &rows {
        let cell = |at: usize| Some(value(row, &names[at])).filter(|v| !v.is_nan());
        let values = (cell(0), cell(1), cell(2));
        database.execute("INSERT INTO \"data\" VALUES (?, ?, ?)", values).unwrap();
    }
    let values = format!("SELECT \"predicted_value\" FROM ({})", query.trim_end());
    let mut values = database.prepare(&values).unwrap();
    let values = values.query_map([], |row| row.get::<_, f64>(0)).unwrap();
    for (found, expected) in values.zip(&expected.values) {
        assert!(close(found.unwrap(), *expected));
    }
    let module = model.export(ExportFormat::Python).unwrap();
    let Some(found) = run_python(&module, &rows, "error") else { return };
    for (found, expected) in found.iter().zip(&expected.values) {
        assert!(close(found[2][0].as_f64().unwrap(), *expected), "{found} {expected}");
    }
}

/// The module rejects the same cells as the command, and the error message names the column.
#[test]
fn python_modules_refuse_unknown_cells() {
    let (model, text, _) = example(Method::Logistic, 2);
    let module = model.export(ExportFormat::Python).unwrap();
    let mut rows = cells(&text)[..4].to_vec();
    rows[0].insert("color".into(), "grün".into());
    rows[1].remove("a b");
    rows[2].insert("a b".into(), "many".into());
    rows[3].insert("color".into(), String::new());
    let Some(found) = run_python(&module, &rows, "error") else { return };
    for (found, parts) in found.iter().zip([
        ["`color`", "'grün'"],
        ["`a b`", "unseen"],
        ["`a b`", "'many' is not a number"],
        ["`color`", "the value is missing"],
    ]) {
        let error = found.as_str().unwrap_or_else(|| panic!("{found}"));
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn models_without_a_counterpart_are_refused() {
    let (model, ..) = example(Method::Auto, 2);
    let error = model.export(ExportFormat::Sql).unwrap_err().to_string();
    assert!(error.contains("--learner logistic"), "{error}");
    // These column names are the names of other inputs or outputs of the export.
    for (name, format) in [
        ("predicted_value", ExportFormat::Sql),
        ("value=n", ExportFormat::Sql),
        ("label", ExportFormat::Onnx),
        ("X", ExportFormat::Onnx),
        ("halfspaces/1", ExportFormat::Onnx),
    ] {
        let rows: String =
            (0..60).map(|i| format!("{},{}\n", ["r", "g"][i % 2], ["n", "p"][i / 7 % 2])).collect();
        let frame = read(&format!("{name},y\n{rows}"), &Hints::default());
        let options = FitOptions { plan: Plan::new(Method::Svm), ..FitOptions::new("y") };
        let (model, _) = Pipeline::fit(frame, &options).unwrap();
        for other in ExportFormat::ALL {
            let found = model.export(other);
            assert_eq!(found.is_err(), other == format, "{name} {other:?}");
            if let Err(error) = found {
                let error = error.to_string();
                assert!(
                    error.contains(&format!("`{name}`")) && error.contains("rename"),
                    "{error}"
                );
            }
        }
    }
    for format in ExportFormat::ALL {
        let (model, ..) = example(Method::Massart, 2);
        let error = model.export(format).unwrap_err().to_string();
        assert!(error.contains("massart") && error.contains("--learner"), "{error}");
    }
}

/// Runs a module as a program on a table. Returns `None` if there is no python3.
fn run_program(module: &[u8], table: &str) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("exported.py"), module).unwrap();
    std::fs::write(folder.path().join("table.csv"), table).unwrap();
    let mut command = Command::new("python3");
    command.args(["exported.py", "table.csv", "unseen=zero"]).current_dir(folder.path());
    command.env("PYTHONDONTWRITEBYTECODE", "1").output().ok()
}

/// Like `predict`, the program reads tables with other separators and with spaces around the names of columns. It
/// rejects rows with a different number of cells.
#[test]
fn the_program_reads_tables_as_the_command_does() {
    let (model, text, expected) = example(Method::Logistic, 2);
    let module = model.export(ExportFormat::Python).unwrap();
    let run = |table: &str| run_program(&module, table);
    let Some(plain) = run(&text) else { return };
    let plain = String::from_utf8(plain.stdout).unwrap();
    assert_eq!(plain.lines().count(), expected.classes.len() + 1);
    let header = text.lines().next().unwrap();
    let spaced = text.replacen(header, &header.replace(',', " , "), 1);
    // No cell of this table contains a comma.
    for table in [spaced, text.replace(',', ";"), text.replace(',', "\t")] {
        let found = run(&table).unwrap();
        let is_same = String::from_utf8(found.stdout).unwrap() == plain;
        assert!(is_same, "{}", table.lines().next().unwrap());
    }
    for extra in [",", "\n1,2"] {
        let output = run(&(text.trim_end().to_owned() + extra)).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("cells, but the header has"), "{said}");
    }
}

/// In a table with one column, a blank line is a row with a missing value, unless it is at the end of the table.
#[test]
fn the_program_keeps_blank_lines_of_one_column() {
    let number = |row: usize| row * 37 % 101;
    let cell = |row: usize| if row % 7 == 3 { String::new() } else { number(row).to_string() };
    let rows: String = (0..120)
        .map(|row| format!("{},{}\n", cell(row), ["n", "p"][usize::from(number(row) > 50)]))
        .collect();
    let frame = read(&format!("x,y\n{rows}"), &Hints::default());
    let options = FitOptions { plan: Plan::new(Method::Logistic), ..FitOptions::new("y") };
    let (model, _) = Pipeline::fit(frame, &options).unwrap();
    // The last of these lines are blank. The row before them is an empty cell in quotes.
    let rows: String = (0..60).map(|row| cell(row) + "\n").collect();
    let table = format!("x\n{rows}\"\"\n\n\n");
    let frame = read(&table, &model.hints(&[]));
    let expected = model.decide(&frame, Unseen::Error, Threads::ONE).unwrap().classes;
    assert_eq!(expected.len(), 61);
    let module = model.export(ExportFormat::Python).unwrap();
    let Some(output) = run_program(&module, &table) else { return };
    let found = String::from_utf8(output.stdout).unwrap();
    let found: Vec<&str> = found.lines().skip(1).filter_map(|l| l.split(',').next()).collect();
    let expected: Vec<&str> =
        expected.iter().map(|class| model.classes()[*class].as_str()).collect();
    assert_eq!(found, expected);
}

/// A query fails on a table that lacks one of the columns. Some databases would read an unknown name as a string.
#[test]
fn a_query_needs_all_columns() {
    let (model, _, _) = example(Method::Logistic, 2);
    let query = String::from_utf8(model.export(ExportFormat::Sql).unwrap()).unwrap();
    for present in [true, false] {
        let database = database();
        let color = if present { ", \"color\" TEXT" } else { "" };
        let create =
            format!("CREATE TABLE \"data\" (\"a b\" REAL, \"q\"\"x\" REAL, \"kind\" TEXT{color})");
        database.execute(&create, []).unwrap();
        assert_eq!(database.prepare(&query).is_ok(), present);
    }
}
