//! Labels in a separate file, rows held out by group or time, costs, comparison, importance and outputs of a session.

use crate::support::{Draws, good, npy, program, refused, run_line, succeed, table};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.join(name), text).unwrap();
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

fn refuse(folder: &Path, line: &str) -> String {
    refused(folder, &line.split(' ').collect::<Vec<_>>())
}

/// Runs a command line that must succeed; returns its standard error.
fn notes(folder: &Path, line: &str) -> String {
    let output = run_line(folder, line);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{line}: {said}");
    said
}

/// Runs a command line with this standard input; returns its exit code and its whole output.
fn typed_line(folder: &Path, line: &str, input: &str) -> (Option<i32>, String) {
    let mut command = program(folder);
    command.args(line.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // The program may exit before it reads the input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// Labels that were shuffled after their rows were numbered are not joined in order. A program writes the numbers as a
/// first column without a name.
#[test]
fn shuffled_labels_are_not_joined_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = 40;
    let table = (0..rows).map(|i| format!("{}.5\n", i * 7 % 20)).collect::<String>();
    write(folder, "x.csv", format!("x\n{table}"));
    let class = |row: usize| if row * 7 % 20 > 9 { "high" } else { "low" };
    for name in ["", "Unnamed: 0", "index", "id", "Row", "row_id"] {
        for first in [0, 1] {
            let file = |order: &dyn Fn(usize) -> usize| {
                let line = |at| format!("{},{}\n", order(at) + first, class(order(at)));
                format!("{name},label\n{}", (0..rows).map(line).collect::<String>())
            };
            let fit = "fit x.csv --labels y.csv --learner logistic -o m.json";
            write(folder, "y.csv", file(&|at| at));
            notes(folder, &format!("{fit} --force"));
            for (order, line) in
                [(&(|at| rows - 1 - at) as &dyn Fn(usize) -> usize, 2), (&(|at| at ^ 2), 2)]
            {
                write(folder, "y.csv", file(order));
                let said = refuse(folder, &format!("{fit} --force"));
                let found = format!("y.csv, line {line}, ");
                assert!(said.contains(&found) && said.contains("another order"), "{name}: {said}");
            }
            // Numbers that are not those of the rows say nothing about their order.
            write(folder, "y.csv", file(&|at| at).replace("\n5,", "\n500,"));
            notes(folder, &format!("{fit} --force"));
        }
    }
}

/// A model is the same whether the labels are in the table, in another file with row numbers or ids, or in a NumPy
/// array.
#[test]
fn labels_are_joined_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let all = table(200);
    let lines: Vec<&str> = all.lines().skip(1).collect();
    let (mut whole, mut bare, mut by_row, mut by_id) = (
        "a,b,colour,label\n".to_owned(),
        "key,a,b,colour\n".to_owned(),
        "label,row\n".to_owned(),
        "said,key\n".to_owned(),
    );
    for (row, line) in lines.iter().enumerate() {
        let (x, _) = line.rsplit_once(',').unwrap();
        writeln!(bare, "k{row},{x}").unwrap();
        if row % 5 > 0 {
            writeln!(whole, "{line}").unwrap();
        }
    }
    // The rows are in another order, and one label occurs twice.
    for row in (0..200).rev().chain([7]) {
        let label = lines[row].rsplit(',').next().unwrap();
        if row % 5 > 0 {
            writeln!(by_row, "{label},{row}").unwrap();
            writeln!(by_id, "{label},k{row}").unwrap();
        } else {
            writeln!(by_row, ",{row}").unwrap();
        }
    }
    for (name, text) in
        [("whole.csv", &whole), ("bare.csv", &bare), ("row.csv", &by_row), ("id.csv", &by_id)]
    {
        write(folder, name, text);
    }
    succeed(folder, "fit whole.csv --label label -o whole.json");
    let said = notes(folder, "fit bare.csv --labels row.csv --drop key -o row.json");
    assert!(said.contains("160 of 200 rows have a label in row.csv"), "{said}");
    succeed(folder, "fit bare.csv --labels id.csv --id key -o id.json");
    let model = |name: &str| {
        let mut model: Value = serde_json::from_str(&read(folder, name)).unwrap();
        model["pipeline"]["label"] = Value::Null;
        model["checksum"] = Value::Null;
        model
    };
    assert_eq!(model("row.json"), model("whole.json"));
    assert_eq!(model("id.json"), model("whole.json"));
    // The evaluations are also the same.
    let evaluate = |line: &str| {
        let mut found: Value = serde_json::from_str(&succeed(folder, line)).unwrap();
        found["data"] = Value::Null;
        found
    };
    let expected = evaluate("evaluate whole.json whole.csv --json");
    assert_eq!(evaluate("evaluate row.json bare.csv --labels row.csv --json"), expected);
    assert_eq!(evaluate("evaluate id.json bare.csv --labels id.csv --id key --json"), expected);
    let explained = evaluate("explain whole.json whole.csv --json");
    let other = evaluate("explain row.json bare.csv --labels row.csv --json");
    assert_eq!(other["on_data"]["importance"], explained["on_data"]["importance"]);

    // One label for each row, in order, in NumPy arrays.
    let numbers: Vec<u8> = lines
        .iter()
        .flat_map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [cells[0], cells[1]].map(|cell| cell.parse::<f64>().unwrap().to_le_bytes())
        })
        .flatten()
        .collect();
    let codes = lines.iter().map(|line| i64::from(line.ends_with('p')));
    write(folder, "x.npy", npy("<f8", "(200, 2)", &numbers));
    write(
        folder,
        "y.npy",
        npy("<i8", "(200,)", &codes.flat_map(i64::to_le_bytes).collect::<Vec<_>>()),
    );
    let said = good(folder, &["fit", "x.npy", "--labels", "y.npy", "-o", "n.json"]);
    assert!(said.contains("200 rows, 2 columns") && said.contains("classes 0 ("), "{said}");
    assert!(read(folder, "n.json").contains(r#""column":"label""#));
}

/// A class called `NA` in a file of labels is kept, and a note reports it.
#[test]
fn markers_in_a_file_of_labels_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut x, mut y) = ("id,x\n".to_owned(), "id,label\n".to_owned());
    for row in 0..60 {
        writeln!(x, "{row},{}", row * 7 % 60).unwrap();
        let class = if row * 7 % 60 < 30 { "a" } else { "b" };
        writeln!(y, "{row},{}", if row % 4 == 0 { "NA" } else { class }).unwrap();
    }
    write(folder, "x.csv", x);
    write(folder, "y.csv", y);
    let fit = |labels: &str, more: &str| {
        let line = format!(
            "fit x.csv --labels {labels} --id id --learner logistic -o m.json --force{more}"
        );
        notes(folder, &line)
    };
    let said = fit("y.csv", "");
    assert!(said.contains("the label `NA` is read as a class (15 rows)"), "{said}");
    let said = fit("y.csv", " --missing NA");
    assert!(said.contains("45 of 60 rows have a label") && !said.contains("as a class"), "{said}");
    let said = notes(folder, "evaluate m.json x.csv --labels y.csv --id id --missing NA");
    assert!(said.contains("45 of 60 rows have a label"), "{said}");
    let said = fit("y.csv", " --not-missing NA");
    assert!(!said.contains("as a class"), "{said}");
}

/// Notes on how a column was read are not lost if the column contains weights or groups.
#[test]
fn notes_on_weights_and_groups_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut text = "x,w,g,y\n".to_owned();
    for row in 0..200 {
        let weight = if row % 20 == 0 { 9999 } else { 1 + row % 3 };
        let class = if row % 10 < 5 { "a" } else { "b" };
        writeln!(text, "{},{weight},0{},{class}", row % 10, row % 9).unwrap();
    }
    write(folder, "t.csv", text);
    let said =
        notes(folder, "fit t.csv --label y --weights w --group g --learner logistic -o m.json");
    assert!(said.contains("9999") && said.contains("--missing 9999"), "{said}");
    assert!(said.contains("column `g`") && said.contains("leading zero"), "{said}");
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "t.csv", "id,x\n1,1\n2,2\n3,3\n3,4\n");
    write(folder, "u.csv", "id,x,label\n1,1,a\n2,2,b\n");
    for (labels, options, said) in [
        ("row,label\n4,a\n", "", "`4` is not a row of t.csv, which has 4 rows, counted from 0"),
        ("row,label\n1,a\n1,b\n", "", "y.csv, line 3: row 1 of t.csv has two labels, `a` and `b`"),
        ("row,label\n1,\n", "", "y.csv: it has no labels"),
        ("label\na\nb\n", "", "2 labels for the 4 rows of t.csv"),
        (
            "row,p,q\n1,a,b\n",
            "",
            "it has no column `label`; pass the column of labels with --label; its columns are p, q",
        ),
        ("row,label\n1,a\n", " --label said", "y.csv: there is no column `said`"),
        (
            "id,label\n1,a\n",
            " --id id",
            "t.csv, line 5, column `id`: the id `3` is already used at t.csv, line 4",
        ),
        ("key,label\n1,a\n", " --id key", "t.csv: there is no column `key`"),
        ("row,x\n1,a\n", " --label x", "t.csv: it already has a column `x`"),
    ] {
        write(folder, "y.csv", labels);
        let found = refuse(folder, &format!("fit t.csv --labels y.csv{options} -o m.json"));
        assert!(found.contains(said), "{labels}: {found}");
    }
    write(folder, "y.csv", "id,label\n9,a\n");
    let found = refuse(folder, "evaluate m.json t.csv --labels y.csv --id x");
    assert!(found.contains("m.json"), "{found}");
    write(folder, "v.csv", "id,x\n1,1\n2,2\n");
    let found = refuse(folder, "fit v.csv --labels y.csv --id id -o m.json");
    assert!(found.contains("column `id`: v.csv has no row with the id `9`"), "{found}");
    let found = refuse(folder, "fit t.csv --labels y.csv --label-less -o m.json");
    assert!(found.contains("--label"), "{found}");
}

/// A row may have two labels of the same class, in any order.
#[test]
fn labels_of_the_same_class_do_not_contradict() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "t.csv", (0..60).fold("x\n".to_owned(), |text, i| text + &format!("{i}\n")));
    let labels: String = (2..60).map(|i| format!("{i},{}\n", i / 30)).collect();
    for twice in ["0,false\n0,0\n", "0,0\n0,false\n"] {
        write(folder, "y.csv", format!("row,label\n{labels}{twice}"));
        notes(folder, "fit t.csv --labels y.csv --learner logistic -o m.json --force");
    }
}

/// A class that a model predicted is not a label.
#[test]
fn predicted_labels_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "t.csv", (0..60).fold("x\n".to_owned(), |text, i| text + &format!("{i}\n")));
    let label = |i: usize| if i < 20 { "low,known," } else { "high,corrected," };
    let mut labels = "row,label,source,probability\n".to_owned();
    (0..40).for_each(|i| writeln!(labels, "{i},{}", label(i)).unwrap());
    (40..60).for_each(|i| writeln!(labels, "{i},low,predicted,0.6").unwrap());
    write(folder, "y.csv", labels);
    let said = notes(folder, "fit t.csv --labels y.csv -o m.json");
    assert!(said.contains("predicted labels are left out (20)"), "{said}");
    let report: Value = serde_json::from_str(&read(folder, "m.json")).unwrap();
    assert_eq!(report["pipeline"]["report"]["rows"], 40);
}

#[test]
fn rows_without_a_label_are_left_out_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let all = table(100);
    write(folder, "all.csv", &all);
    write(folder, "more.csv", format!("{all}1,2,red,\n2,1,blue,\n"));
    let found = refuse(folder, "fit more.csv --label y -o m.json");
    assert!(found.contains("line 102") && found.contains("--skip-unlabelled"), "{found}");
    let said = notes(folder, "fit more.csv --label y --skip-unlabelled -o more.json");
    assert!(said.contains("column `y`: 2 of 102 rows have no label and are left out"), "{said}");
    succeed(folder, "fit all.csv --label y -o all.json");
    assert_eq!(read(folder, "more.json"), read(folder, "all.json"));
}

/// Forty patients have ten nearly equal rows each, and the class of a patient is random. Rows held out at random seem
/// easy to predict, but the rows of new patients are not.
#[test]
fn groups_and_times_are_held_out_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut text, mut draws) = ("patient,day,a,b,y\n".to_owned(), Draws(3));
    for patient in 0..40 {
        let (a, b, class) = (draws.next(), draws.next(), draws.below(2));
        for visit in 0..10 {
            let (a, b) = (a + 0.001 * draws.next(), b + 0.001 * draws.next());
            let day = 10 * patient + visit;
            writeln!(
                text,
                "p{patient},2024-01-01T{:02}:{:02},{a},{b},c{class}",
                day / 60,
                day % 60
            )
            .unwrap();
        }
    }
    write(folder, "t.csv", text);
    let error = |options: &str| {
        let line = format!("fit t.csv --label y -o m.json --force --json{options}");
        let found: Value = serde_json::from_str(&succeed(folder, &line)).unwrap();
        found["held_out"]["rate"].as_f64().unwrap()
    };
    assert!(error(" --drop patient --drop day --holdout 0.2") < 0.1);
    assert!(error(" --group patient --drop day") > 0.25);
    let said = succeed(folder, "fit t.csv --label y --group patient -o m.json --force --drop day");
    for expected in [
        "hold-out    80 rows",
        "rows with the same `patient` are not independent",
        "% error in cross-validation by `patient`",
        "compared on 320 rows by `patient`",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let model: Value = serde_json::from_str(&read(folder, "m.json")).unwrap();
    assert_eq!(model["pipeline"]["report"]["split"]["group"], "patient");
    let said = succeed(folder, "fit t.csv --label y --time day -o m.json --force --drop patient");
    assert!(
        said.contains("the last ones in the order of `day`")
            && said.contains("hold-out    80 rows"),
        "{said}"
    );
    for (options, said) in [
        ("--group p", "there is no column `p`"),
        ("--time patient", "column `patient`: it contains text"),
        ("--group y", "has another role"),
        ("--group patient --drop patient", "--drop patient: it is the column by which"),
    ] {
        let found = refuse(folder, &format!("fit t.csv --label y {options} -o m.json --force"));
        assert!(found.contains(said), "{options}: {found}");
    }
}

#[test]
fn copies_of_fitted_rows_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut once, mut draws) = (String::new(), Draws(5));
    for _ in 0..40 {
        let (a, b) = (draws.next(), draws.next());
        writeln!(once, "{a},{b},{}", if a > b { "p" } else { "n" }).unwrap();
    }
    write(folder, "once.csv", format!("a,b,y\n{once}"));
    write(folder, "often.csv", format!("a,b,y\n{}", once.repeat(5)));
    let said = notes(folder, "fit often.csv --label y -o m.json --holdout 0.2");
    assert!(said.contains("held-out rows have the same values as a training row"), "{said}");
    let said = notes(folder, "fit once.csv --label y -o n.json --holdout 0.2");
    assert!(!said.contains("same values"), "{said}");
}

/// If a class is rare, the importance of a column is visible in the probabilities. With costs, the rows of the class
/// are found.
#[test]
fn a_rare_class_is_found_by_its_cost() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let table = |seed: u64| {
        let (mut text, mut draws) = ("a,b,y\n".to_owned(), Draws(seed));
        for _ in 0..1500 {
            let (a, b) = (draws.next(), draws.next());
            let class = if a > 0.85 && draws.next() < 0.3 { "ill" } else { "healthy" };
            writeln!(text, "{a},{b},{class}").unwrap();
        }
        text
    };
    write(folder, "t.csv", table(1));
    write(folder, "u.csv", table(2));
    let said = notes(folder, "fit t.csv --label y --positive ill -o m.json --holdout 0.3");
    assert!(said.contains("the model predicts `healthy` for every held-out row"), "{said}");
    let said = succeed(folder, "explain m.json u.csv");
    assert!(
        said.contains("increase in the log loss")
            && said.contains("\na  0.")
            && said.contains("\nb  0.000"),
        "{said}"
    );
    let json = |line: &str| serde_json::from_str::<Value>(&succeed(folder, line)).unwrap();
    let importance =
        json("explain m.json u.csv --json")["on_data"]["importance"]["of_columns"].take();
    assert_eq!(importance[0]["column"], "a");
    let of = |at: usize, field: &str| importance[at][field].as_f64().unwrap();
    assert!(of(0, "increase") > 3.0 * of(0, "standard_error") && of(1, "increase") < 0.01);
    // A missed illness costs as much as nine false alarms.
    let plain = json("evaluate m.json u.csv --json");
    assert!(plain.get("costs").is_none());
    let found = json("evaluate m.json u.csv --cost ill=9 --json");
    let cost = |name: &str| found["costs"][name].as_f64().unwrap();
    assert!(cost("mean") < 0.8 * cost("by_probability"), "{found}");
    assert!(cost("mean") < cost("baseline"), "{found}");
    // A threshold of one tenth gives the same decisions.
    let same = json("evaluate m.json u.csv --threshold 0.1 --json");
    assert_eq!(same["confusion"], found["confusion"]);
    let predicted = succeed(folder, "predict m.json u.csv --cost ill=9 --all");
    let mut rows = csv::Reader::from_reader(predicted.as_bytes());
    for row in rows.records() {
        let row = row.unwrap();
        let p: f64 = row[4].parse().unwrap();
        assert_eq!(&row[0] == "ill", p >= 0.1, "{row:?}");
        let odds = (9.0 * p / (1.0 - p)).ln();
        // Probabilities are rounded to six decimals.
        let value: f64 = row[1].parse().unwrap();
        assert!(p < 0.001 || (value - odds).abs() < 1e-3, "{row:?}");
    }
    let said = succeed(folder, "evaluate m.json u.csv --cost ill=9");
    assert!(said.contains("cost      0."), "{said}");
    for (line, said) in [
        ("predict m.json u.csv --cost sick=9", "--cost sick: the model has no such class"),
        ("predict m.json u.csv --cost ill", "expected CLASS=COST"),
        ("predict m.json u.csv --cost ill=0", "a cost must be a positive number"),
        ("predict m.json u.csv --threshold 1", "must be between 0 and 1"),
    ] {
        let found = refuse(folder, line);
        assert!(found.contains(said), "{line}: {found}");
    }
}

#[test]
fn models_are_compared_on_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "t.csv", table(300));
    succeed(folder, "fit t.csv --label y -o good.json");
    succeed(folder, "fit t.csv --label y --drop a --learner logistic -o bad.json");
    let line = "compare bad.json good.json t.csv --json";
    let found: Value = serde_json::from_str(&succeed(folder, line)).unwrap();
    let errors = |model: &str| {
        let line = format!("evaluate {model} t.csv --json");
        serde_json::from_str::<Value>(&succeed(folder, &line)).unwrap()["error"].take()
    };
    assert_eq!(found["first"], errors("bad.json"));
    assert_eq!(found["second"], errors("good.json"));
    let number = |name: &str| found[name].as_f64().unwrap();
    assert!(number("low") > 0.0 && number("p_value") < 0.001, "{found}");
    let said = succeed(folder, "compare bad.json good.json t.csv");
    assert!(said.contains("difference  +") && said.contains("bad.json minus good.json"), "{said}");
    let found = refuse(folder, "compare bad.json none.json t.csv");
    assert!(found.contains("none.json"), "{found}");
}

/// Models for different label columns or different classes are refused. The order of the classes does not matter.
#[test]
fn models_of_different_tasks_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut text = "a,b,level,y,z\n".to_owned();
    for i in 0..150 {
        let (a, b) = (i * 37 % 101, i * 59 % 103);
        let level = ["lo", "mid", "hi"][a * 3 / 101];
        let sign = |value: usize| if value > 50 { "p" } else { "n" };
        writeln!(text, "{a},{b},{level},{},{}", sign(a), sign(b)).unwrap();
    }
    write(folder, "t.csv", text);
    let fit = |options: &str, model: &str| {
        succeed(folder, &format!("fit t.csv --learner logistic {options} -o {model}"));
    };
    fit("--label y --drop z --drop level", "y.json");
    fit("--label y --drop z --drop level --positive n", "turned.json");
    fit("--label z --drop y --drop level", "z.json");
    let level = "--label level --drop y --drop z";
    fit(level, "levels.json");
    fit(&format!("{level} --positive hi"), "hi.json");
    fit(&format!("{level} --positive lo"), "lo.json");
    for (models, parts) in [
        ("y.json z.json", ["y.json was", "column `y`", "z.json to", "column `z`", "--label"]),
        ("hi.json levels.json", ["hi.json and levels.json", "`not hi`", "`mid`", "--positive", ""]),
        ("hi.json lo.json", ["hi.json and lo.json", "`not hi`", "`not lo`", "--positive", ""]),
    ] {
        let found = refuse(folder, &format!("compare {models} t.csv"));
        assert!(parts.iter().all(|part| found.contains(part)), "{models}: {found}");
    }
    succeed(folder, "compare y.json turned.json t.csv");
    succeed(folder, "compare y.json z.json t.csv --label y");
}

/// A row and a column without any value are reported when a table is read for a model.
#[test]
fn gaps_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "t.csv", table(100));
    succeed(folder, "fit t.csv --label y --drop colour -o m.json");
    write(folder, "one.csv", "a,b\n1,2\n,\n3,\n");
    let said = notes(folder, "predict m.json one.csv");
    assert!(
        said.contains("1 row has no value in any column of the model (for example one.csv, line 3"),
        "{said}"
    );
    assert!(!said.contains("column `b`"), "{said}");
    write(folder, "column.csv", format!("a,b\n{}", "1,\n2,\n".repeat(5)));
    let said = notes(folder, "predict m.json column.csv");
    assert!(said.contains("column.csv: column `b` has no value in any row"), "{said}");
    // A table with other columns has no gaps; the error is that it lacks the columns of the model.
    write(folder, "other.csv", "p,q\n1,2\n");
    let output = run_line(folder, "predict m.json other.csv");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no column `a`") && !said.contains("no value"), "{said}");
    // With nine rows, the values that are missing are counted.
    write(folder, "nine.csv", format!("a,b\n{}", "1,\n".repeat(9)));
    let said = notes(folder, "predict m.json nine.csv");
    assert!(said.ends_with("replace them: `b` (9)\n") && said.lines().count() == 1, "{said}");
    write(folder, "full.csv", "a,b\n1,2\n2,3\n");
    assert_eq!(notes(folder, "predict m.json full.csv"), "");
}

/// Only the columns of the model are counted, and one column is not called "1 columns".
#[test]
fn only_columns_of_the_model_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "t.csv", table(100));
    let said = succeed(folder, "fit t.csv --label y --drop colour --drop b -o m.json");
    assert!(said.contains("t.csv: 100 rows, 1 column, 1 coordinate; classes"), "{said}");
    // With few rows held out, the error in cross-validation has a range.
    assert!(said.contains(" % (about ") && said.contains("error in cross-validation"), "{said}");
}

/// The same command resumes a session that has written its output; an output with other lines is not overwritten.
#[test]
fn an_output_of_the_session_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    crate::support::pool(folder, 30);
    let run = |name: &str, answers: &str| {
        let line = format!("label pool.csv --classes in,out,other -o {name} --session s.jsonl");
        typed_line(folder, &line, answers)
    };
    for (name, answers) in [("o.csv", "in\nout\nq\n"), ("o.jsonl", "q\n"), ("o.json", "q\n")] {
        let (code, said) = run(name, answers);
        assert_eq!(code, Some(0), "{said}");
        let (code, said) = run(name, "in\nq\n");
        assert!(code == Some(0) && said.contains(&format!("labels written to {name}")), "{said}");
    }
    assert_eq!(read(folder, "o.json").matches("annotations\":[{").count(), 5);
    let (code, said) = run("o.csv", "in\nq\n");
    assert!(code == Some(0) && said.contains("6 labels written"), "{said}");
    // A label that the session does not have would be lost.
    write(folder, "o.csv", read(folder, "o.csv").replacen(",in,", ",out,", 1));
    let changed = read(folder, "o.csv");
    let (code, said) = run("o.csv", "in\nq\n");
    assert!(code == Some(2) && said.contains("o.csv already exists"), "{said}");
    assert_eq!(read(folder, "o.csv"), changed);
}

/// Predictions in an earlier output may differ from those of now; they are not labels that would be lost.
#[test]
fn an_output_with_predictions_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    crate::support::pool(folder, 30);
    let label = "label pool.csv --classes in,out --session s.jsonl";
    for name in ["o.csv", "o.jsonl", "o.json"] {
        let line = format!("{label} --with-predictions -o {name}");
        let (code, said) = typed_line(folder, &line, "in\nout\nq\n\n");
        assert_eq!(code, Some(0), "{said}");
        let before = read(folder, name);
        assert_eq!(typed_line(folder, label, "in\nout\nr\n1 in\n\nq\n\n").0, Some(0));
        let (code, said) = typed_line(folder, &line, "q\n\n");
        assert!(code == Some(0) && said.contains("30 labels written"), "{said}");
        assert_ne!(read(folder, name), before);
        // A label that the session does not have would be lost.
        let (from, to) = match name {
            "o.csv" => (",confirmed,", ",corrected,"),
            "o.jsonl" => ("\"confirmed\"", "\"corrected\""),
            _ => ("\"annotations\":[{", "\"annotations\":[{\"by\":1,"),
        };
        let changed = read(folder, name).replacen(from, to, 1);
        assert_ne!(changed, read(folder, name));
        write(folder, name, &changed);
        let (code, said) = typed_line(folder, &line, "q\n\n");
        assert!(code == Some(2) && said.contains("already exists"), "{said}");
        assert_eq!(read(folder, name), changed);
    }
}

/// Until each class has a labelled row, a session gives no probability.
#[test]
fn a_guess_has_no_probability_before_each_class_has_a_label() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    crate::support::pool(folder, 30);
    let line = "label pool.csv --classes a,b,c --session s.jsonl -o o.csv --with-predictions";
    let (code, said) = typed_line(folder, line, "a\nb\nq\n");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("a guess: not every class has a label yet").count(), 3, "{said}");
    assert_eq!(said.matches("% sure").count(), 0, "{said}");
    assert_eq!(read(folder, "o.csv").matches(",predicted,\n").count(), 28);
    let (code, said) = typed_line(folder, &format!("{line} --force"), "c\nq\n");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("% sure").count(), 1, "{said}");
    assert_eq!(read(folder, "o.csv").matches(",predicted,0.").count(), 27);
}

/// A model can be fitted to a session directly, even if its pool has been sorted since. The labels are those of the
/// output of the session.
#[test]
fn a_session_is_fitted_directly() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let truth = crate::support::pool(folder, 60);
    let labels = truth.iter().enumerate().map(|(row, label)| format!("{row},{label}\n"));
    write(
        folder,
        "known.csv",
        labels.take(40).fold("row,y\n".to_owned(), |text, line| text + &line),
    );
    let known = truth.iter().enumerate().map(|(row, label)| if row < 40 { label } else { "" });
    let lines: Vec<String> = read(folder, "pool.csv").lines().skip(1).map(str::to_owned).collect();
    let with = lines.iter().zip(known).map(|(line, label)| format!("{line},{label}\n"));
    write(folder, "with.csv", with.fold("x,y,said\n".to_owned(), |text, line| text + &line));
    let export = "label with.csv --known said --session s.jsonl --export -o o.csv";
    succeed(folder, export);
    let before = read(folder, "s.jsonl");
    let said = notes(folder, "fit with.csv --session s.jsonl --drop said -o m.json");
    assert!(said.contains("40 of 60 rows have a label in s.jsonl"), "{said}");
    succeed(folder, "fit with.csv --labels o.csv --drop said -o n.json");
    assert_eq!(read(folder, "m.json"), read(folder, "n.json"));
    let turned: String = lines.iter().rev().map(|line| format!("{line},\n")).collect();
    write(folder, "turned.csv", format!("x,y,said\n{turned}"));
    let said = notes(folder, "fit turned.csv --session s.jsonl --drop said -o t.json");
    assert!(said.contains("40 answered or skipped items have new row numbers"), "{said}");
    let classes = |name: &str| {
        let model: Value = serde_json::from_str(&read(folder, name)).unwrap();
        model["pipeline"]["report"]["classes"].clone()
    };
    assert_eq!(classes("t.json"), classes("m.json"));
    assert_eq!(read(folder, "s.jsonl"), before, "the session is only read");
    let cut = read(folder, "s.jsonl") + "{\"event\":\"answer\"";
    write(folder, "cut.jsonl", &cut);
    let said = notes(folder, "fit with.csv --session cut.jsonl --drop said -o c.json");
    assert!(said.contains("cut.jsonl: the last line is truncated and is ignored"), "{said}");
    for (line, said) in [
        ("fit with.csv --session none.jsonl -o u.json", "there is no such session"),
        ("fit known.csv --session s.jsonl -o u.json", "label --export` with the same options"),
        ("fit with.csv --session s.jsonl --label said -o u.json", "cannot be used with"),
        ("fit with.csv --session s.jsonl -o s.jsonl --force", "s.jsonl is an input file"),
    ] {
        let found = refuse(folder, line);
        assert!(found.contains(said), "{line}: {found}");
    }
}

/// No two columns of an output have the same name.
#[test]
fn copied_columns_have_different_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..60).map(|i| format!("{i},{},u,v\n", i / 30)).collect();
    write(folder, "t.csv", format!("x,y,label,kept label\n{rows}"));
    succeed(folder, "fit t.csv --label y --drop label --learner logistic -o m.json");
    for keep in [["label", "kept label"], ["kept label", "label"]] {
        let args = ["predict", "m.json", "t.csv", "--keep", keep[0], "--keep", keep[1]];
        let text = good(folder, &args);
        let names = text.lines().next().unwrap();
        assert_eq!(names, "kept label,kept kept label,label,value,probability");
    }
    let said = refuse(folder, "predict m.json t.csv --keep x --keep x");
    assert!(said.contains("--keep x: it is named twice; name it once"), "{said}");
}

/// A session, and labels of it in JSON, are not a table of labels. A note on the table is printed once.
#[test]
fn a_session_is_not_a_table_of_labels() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..30).map(|i| format!("{i},{}\n", i * 7 % 30)).collect();
    write(folder, "pool.csv", format!(",x\n{rows}"));
    let label = "label pool.csv --classes in,out --session s.jsonl -o o.jsonl";
    assert_eq!(typed_line(folder, label, "in\nout\nin\nout\nq\n\n").0, Some(0));
    let said = refuse(folder, "fit pool.csv --labels s.jsonl -o m.json");
    assert!(
        said.contains("s.jsonl: this is a session") && said.contains("with --session"),
        "{said}"
    );
    let said = refuse(folder, "fit pool.csv --labels o.jsonl -o m.json");
    assert!(said.contains("o.jsonl: labels in JSON are not supported"), "{said}");
    assert!(said.contains("whose name ends in .csv"), "{said}");
    let said = notes(folder, "fit pool.csv --session s.jsonl --learner logistic -o m.json");
    assert_eq!(said.matches("the first column has no name").count(), 1, "{said}");
    let said = refuse(folder, "evaluate m.json pool.csv --labels s.jsonl");
    assert!(said.contains("s.jsonl: this is a session"), "{said}");
}

/// Standard input can be read only once.
#[test]
fn a_table_on_standard_input_is_not_read_twice() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    crate::support::pool(folder, 30);
    let label = "label pool.csv --classes in,out --session s.jsonl";
    assert_eq!(typed_line(folder, label, "in\nout\nq\n\n").0, Some(0));
    let pool = read(folder, "pool.csv");
    for line in [
        "fit - --session s.jsonl -o m.json",
        "label - --merge s.jsonl --session t.jsonl --export -o o.csv",
    ] {
        let (code, said) = typed_line(folder, line, &pool);
        let part = "standard input cannot be read more than once; pass a file";
        assert!(code == Some(2) && said.contains(part), "{line}: {said}");
    }
}

/// Labels that are matched in order or by row number are refused if the ids in both files show that they belong to
/// other rows.
#[test]
fn labels_of_other_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let a = |i: usize| i * 37 % 60;
    let class = |i: usize| if a(i) < 30 { "low" } else { "high" };
    let x = |i: usize| format!("n{i},{}\n", a(i));
    let y = |i: usize| format!("n{i},{}\n", class(i));
    write(folder, "x.csv", format!("id,a\n{}", (0..60).map(x).collect::<String>()));
    write(folder, "sorted.csv", format!("id,a\n{}", (0..60).rev().map(x).collect::<String>()));
    write(folder, "y.csv", format!("id,label\n{}", (0..60).map(y).collect::<String>()));
    write(folder, "turned.csv", format!("id,label\n{}", (0..60).rev().map(y).collect::<String>()));
    let found = refuse(folder, "fit x.csv --labels turned.csv -o m.json");
    let said = "turned.csv, line 2, column `id`: `n59` here, but `n0` in x.csv, line 2,";
    assert!(
        found.contains(said) && found.contains("join by a column of ids (--id), or sort"),
        "{found}"
    );
    assert!(!folder.join("m.json").exists());
    succeed(folder, "fit x.csv --labels turned.csv --id id -o by_id.json");
    succeed(folder, "fit x.csv --labels y.csv -o m.json");
    // Columns that occur only in the file of labels do not confirm the order of the rows; a file that contains only
    // labels is meant to be in order.
    write(folder, "who.csv", read(folder, "y.csv").replace("id,", "who,").replace('n', "m"));
    let alone: String = (0..60).map(|i| format!("{}\n", class(i))).collect();
    write(folder, "alone.csv", format!("label\n{alone}"));
    for (labels, is_said) in [("y", false), ("who", true), ("alone", false)] {
        let said = notes(folder, &format!("fit x.csv --labels {labels}.csv -o {labels}.json"));
        let note = format!("{labels}.csv: the labels are joined to the rows of x.csv in order");
        assert_eq!(said.contains(&note), is_said, "{said}");
    }
    let numbered: String = (0..60).map(|i| format!("{i},{},known,\n", class(i))).collect();
    write(folder, "numbered.csv", format!("row,label,source,probability\n{numbered}"));
    let said = notes(folder, "fit x.csv --labels numbered.csv -o numbered.json");
    let note = "numbered.csv: the labels are joined to the rows of x.csv by row number; the files have no common column";
    assert!(said.contains(note), "{said}");
    // The row numbers belong to a different order.
    let rows: String = (0..60).map(|i| format!("{i},{}", y(i))).collect();
    write(folder, "rows.csv", format!("row,id,label\n{rows}"));
    let said = notes(folder, "fit x.csv --labels rows.csv -o by_row.json");
    assert!(!said.contains("no common column"), "{said}");
    assert_eq!(read(folder, "by_row.json"), read(folder, "m.json"));
    succeed(folder, "evaluate m.json x.csv --labels rows.csv");
    for line in [
        "fit sorted.csv --labels rows.csv -o s.json",
        "audit sorted.csv --labels rows.csv",
        "evaluate m.json sorted.csv --labels rows.csv",
    ] {
        let found = refuse(folder, line);
        let said = "rows.csv, line 2, column `id`: `n0` here, but `n59` in sorted.csv, line 2,";
        assert!(
            found.contains(said) && found.contains("join by a column of ids"),
            "{line}: {found}"
        );
    }
}

/// `q` ends the list of answers, as it ends the session.
#[test]
fn q_ends_the_list_of_answers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    crate::support::pool(folder, 30);
    let label = "label pool.csv --classes in,out --session s.jsonl";
    let answers = "in\nout\n".repeat(3);
    let (code, said) = typed_line(folder, label, &format!("{answers}r\nq\nq\nq\n"));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("NUMBER CLASS changes an answer"), "{said}");
    assert!(!said.contains("expected a number and a class"), "{said}");
}

/// Labels may come from a pipe that is given by name, even if they are read twice. A table that is read several times may
/// not.
#[cfg(unix)]
#[test]
fn labels_may_come_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let x: String = (0..40).map(|i| format!("{i}.5,{}\n", i * 7 % 20)).collect();
    write(folder, "x.csv", format!("a,b\n{x}"));
    let y: String = (0..40).map(|i| if i < 20 { "low\n" } else { "high\n" }).collect();
    write(folder, "y.csv", &y);
    let pipe = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    succeed(folder, "fit x.csv --labels y.csv -o m.json");
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, y)
    });
    succeed(folder, "fit x.csv --labels pipe -o p.json");
    writer.join().unwrap().unwrap();
    assert_eq!(read(folder, "p.json"), read(folder, "m.json"));
    write(folder, "c.csv", "row,label\n0,high\n");
    for line in [
        "correct pipe --with c.csv --label y -o o.csv",
        "compare m.json p.json pipe --label y",
        "label pipe --model m.json --session s.jsonl",
        "label x.csv --merge pipe --session s.jsonl --export -o o.csv",
    ] {
        let said = refuse(folder, line);
        assert!(
            said.contains("pipe is a pipe, which cannot be read more than once; pass a file"),
            "{said}"
        );
    }
}

/// The column of known labels of a session is no feature, whether or not it is named again.
#[test]
fn known_labels_of_a_session_are_no_feature() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut draws = Draws(5);
    let rows: String =
        (0..60).map(|i| format!("{:.3},{:.3},{}\n", draws.next(), draws.next(), i % 2)).collect();
    for column in ["y", "label"] {
        write(folder, "p.csv", format!("a,b,{column}\n{rows}"));
        let session = format!("{column}.jsonl");
        let export =
            format!("label p.csv --known {column} --session {session} --export -o {column}.csv");
        succeed(folder, &export);
        let said = notes(folder, &format!("fit p.csv --session {session} -o {column}.json"));
        assert!(said.contains(&format!("column `{column}` has the known labels")), "{said}");
        let model: Value = serde_json::from_str(&read(folder, &format!("{column}.json"))).unwrap();
        let columns = model["pipeline"]["recipe"]["columns"].as_array().unwrap();
        assert_eq!(columns.len(), 2, "{columns:?}");
        // The session is resumed with the same features.
        let (code, said) = typed_line(folder, &format!("label p.csv --session {session}"), "q\n");
        assert!(code == Some(0) && said.contains("has the known labels of this session"), "{said}");
    }
    // The exported labels next to the table with the known ones: the equal column is named.
    write(folder, "p.csv", format!("a,b,y\n{rows}"));
    let said = notes(folder, "fit p.csv --labels y.csv -o d.json");
    assert!(said.contains("column `y` has the label in all 60 rows; pass --drop y"), "{said}");
}

/// One label more than rows may be the name of the column, which the error says how to pass.
#[test]
fn a_name_among_labels_is_mentioned() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "x.csv", "a,b\n1,5\n2,3\n7,2\n8,1\n");
    write(folder, "l.csv", "0\n0\n0\n1\n1\n");
    let fit = "fit x.csv --labels l.csv --learner logistic --holdout 0 -o m.json";
    let said = refuse(folder, fit);
    assert!(
        said.contains("5 labels for the 4 rows") && said.contains("pass --label '0'"),
        "{said}"
    );
    succeed(folder, &format!("{fit} --label 0"));
    write(folder, "l.csv", "0\n0\n1\n1\n1\n1\n");
    assert!(!refuse(folder, &format!("{fit} --force")).contains("pass --label"));
}

/// The column of ids tells `fit` that the first line has names, as it tells `label`, and it is no feature.
#[test]
fn a_session_with_ids_is_fitted_to_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // A colour is called `colour`, so without the column of ids, the first line could be a row.
    let colour = |i: usize| ["red", "colour", "blue"][i % 3];
    let rows: String = (0..60)
        .map(|i| format!("a{i},{},{}\n", colour(i), ["round", "square"][i / 3 % 2]))
        .collect();
    write(folder, "t.csv", format!("id,colour,shape\n{rows}"));
    let label = "label t.csv --id id --classes n,p --session s.jsonl -o l.csv";
    let (code, said) = typed_line(folder, label, &"n\np\nn\n".repeat(20));
    assert_eq!(code, Some(0), "{said}");
    let said = notes(folder, "fit t.csv --session s.jsonl --learner logistic -o s.json");
    assert!(said.contains("column `id` identifies the rows of the session"), "{said}");
    notes(folder, "fit t.csv --labels l.csv --id id --learner logistic -o l.json");
    let model = |name: &str| {
        let model: Value = serde_json::from_str(&read(folder, name)).unwrap();
        (model["pipeline"]["recipe"].clone(), model["pipeline"]["model"].clone())
    };
    let (of_session, of_labels) = (model("s.json"), model("l.json"));
    assert_eq!(of_session.0["columns"].as_array().unwrap().len(), 2, "{of_session:?}");
    assert_eq!(of_session, of_labels);
}

/// Labels that a session wrote are of rows that it chose, however they reach the fit.
#[test]
fn answers_of_a_session_promise_nothing_about_other_rows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..80).map(|i| format!("{},{}\n", i % 20, (i * 7) % 13)).collect();
    write(folder, "p.csv", format!("a,b\n{rows}"));
    let line = "label p.csv --classes n,p --session s.jsonl -o a.csv";
    assert_eq!(typed_line(folder, line, &"n\np\n".repeat(20)).0, Some(0));
    let fit = |labels: &str| {
        let line = format!("fit p.csv {labels} -o m.json --force");
        String::from_utf8(run_line(folder, &line).stdout).unwrap()
    };
    let of_session = fit("--session s.jsonl");
    assert!(of_session.contains("it chose which rows"), "{of_session}");
    assert!(fit("--labels a.csv").contains("it chose which rows"));
    // Labels of the same rows from elsewhere may be of a random sample.
    let plain: Vec<String> = read(folder, "a.csv")
        .lines()
        .map(|line| line.split(',').take(2).collect::<Vec<_>>().join(","))
        .collect();
    write(folder, "b.csv", plain.join("\n"));
    assert!(!fit("--labels b.csv").contains("it chose which rows"));
}

/// Row numbers do not decide about a first line of words that may be names.
#[test]
fn a_first_line_that_may_be_names_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let row = |i: usize| {
        format!("{},{}\n", ["win a prize", "see you at noon"][i % 2], ["spam", "ham"][i % 2])
    };
    let rows: String = (0..40).map(row).collect();
    write(folder, "m.csv", format!("text,spam\n{rows}"));
    succeed(folder, "label m.csv --known spam --text text --session s.jsonl --export -o l.csv");
    let fit = "fit m.csv --labels l.csv --label label --learner logistic -o m.json --force";
    let said = refuse(folder, &format!("{fit} --drop c2 --text c1"));
    assert!(said.contains("its first line has only words") && said.contains("--header"), "{said}");
    succeed(folder, &format!("{fit} --header --drop spam --text text"));
}
