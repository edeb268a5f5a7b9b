//! `fit --stream`: files read in chunks.

use crate::support::{run_line, succeed, table};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn fit(dir: &Path, args: &str) -> Value {
    let args = format!("fit {args} --json --force");
    serde_json::from_str(&succeed(dir, &args)).unwrap()
}

/// A table with two numeric columns and a column of categories; the class depends on the angle.
fn wheel(rows: usize, classes: &[&str]) -> String {
    let mut text = "x,y,z,class\n".to_owned();
    for i in 0..rows {
        let angle = (i as f64 * 0.618_034).fract();
        let (x, y) = (angle * std::f64::consts::TAU).sin_cos();
        let class = classes[(angle * classes.len() as f64) as usize];
        text.push_str(&format!("{x:.4},{y:.4},{},{class}\n", ["u", "v"][i % 2]));
    }
    text
}

#[test]
fn a_small_file_gives_the_same_model_as_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(300)).unwrap();
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    for learner in ["auto", "logistic", "perspectron"] {
        fit(dir.path(), &format!("t.csv --label y --learner {learner} -o memory.json"));
        fit(dir.path(), &format!("t.csv --label y --learner {learner} --stream -o stream.json"));
        assert!(read("memory.json") == read("stream.json"), "{learner}");
    }
}

/// The number 1 is not the class `true` if both are labels, and `true` may be named by 1 if it is not.
#[test]
fn one_class_against_the_rest_is_the_same_as_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    for (labels, positive) in [
        (["true", "false", "1"], "true"),
        (["true", "false", "maybe"], "1"),
        (["0", "2", "1"], "1"),
    ] {
        fs::write(dir.path().join("t.csv"), wheel(300, &labels)).unwrap();
        let args =
            format!("t.csv --label class --positive {positive} --learner perceptron -o m.json");
        let (memory, stream) = (fit(dir.path(), &args), fit(dir.path(), &(args + " --stream")));
        assert_eq!(memory["classes"], stream["classes"], "{labels:?} {positive}");
        // Each label has a third of the rows.
        let rows = memory["classes"][1]["rows"].as_u64().unwrap();
        assert!((98..103).contains(&rows), "{labels:?} {positive}: {rows}");
    }
}

#[test]
fn all_rows_except_the_hold_out_are_learned_from() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), wheel(70_000, &["a", "b"])).unwrap();
    let found = fit(dir.path(), "t.csv --label class --learner perceptron --stream -o m.json");
    // Columns and classes come from the first rows; about 10 % of all rows are held out.
    assert_eq!(found["rows"], 70_000);
    assert_eq!(found["sampled"], 60_000);
    let held_out = found["held_out"]["of"].as_u64().unwrap();
    assert!((6_600..7_400).contains(&held_out), "{found}");
    assert_eq!(found["learned_from"].as_u64().unwrap() + held_out, 70_000);
    let rows = found["classes"].as_array().unwrap().iter().map(|c| c["rows"].as_u64().unwrap());
    assert_eq!(rows.sum::<u64>(), 70_000);
    assert!(found["held_out"]["rate"].as_f64().unwrap() < 0.02, "{found}");
}

/// The rows are read twice: at first to find the columns and classes, and then to learn. Both leave out the footnote.
#[test]
fn a_footnote_is_no_row() {
    let dir = tempfile::tempdir().unwrap();
    let text = wheel(300, &["a", "b"]) + "Source: our own measurements\n";
    fs::write(dir.path().join("t.csv"), text).unwrap();
    for stream in ["", " --stream"] {
        let args = format!("t.csv --label class --learner perceptron -o m.json{stream}");
        assert_eq!(fit(dir.path(), &args)["rows"], 300, "{stream}");
        let said = run_line(dir.path(), &format!("fit {args} --force")).stderr;
        let said = String::from_utf8(said).unwrap();
        assert_eq!(said.matches("line 302, after the table, is left out as a footnote").count(), 1);
    }
    // For a prediction, every line is a row.
    let output = run_line(dir.path(), "predict m.json t.csv");
    assert_eq!(output.status.code(), Some(2));
}

/// The categories come from the first rows, so rows with other categories are counted.
#[test]
fn categories_after_the_first_rows_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let late = |i: usize| i >= 65_000 && i.is_multiple_of(2);
    let rows = wheel(70_000, &["a", "b"]);
    let rows = rows.lines().enumerate().map(|(i, line)| match i.checked_sub(1) {
        Some(row) if late(row) => format!("{}\n", line.replace(",u,", ",w,")),
        _ => format!("{line}\n"),
    });
    fs::write(dir.path().join("t.csv"), rows.collect::<String>()).unwrap();
    let run = |args: &str| {
        let output =
            run_line(dir.path(), &format!("fit t.csv --label class -o m.json --force {args}"));
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let notes = run("--learner perceptron --stream");
    assert!(notes.contains("column `z`: 2500 rows have categories that do not occur"), "{notes}");
    assert!(!notes.contains("column `x`"), "{notes}");
    // In memory, the model knows all categories.
    assert!(!run("--learner perceptron").contains("do not occur"));
}

/// Before the pass, only the first 60 000 rows are read.
#[test]
fn lines_after_the_first_rows_are_checked_and_noted() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines: Vec<String> = wheel(61_000, &["a", "b"]).lines().map(str::to_owned).collect();
    lines[60_500] =
        format!("1152921504606846977{}", &lines[60_500][lines[60_500].find(',').unwrap()..]);
    lines.insert(60_900, String::new());
    let run = |text: &str| {
        fs::write(dir.path().join("t.csv"), text).unwrap();
        let args = "fit t.csv --label class --learner perceptron --stream -o m.json --force";
        let output = run_line(dir.path(), args);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, notes) = run(&lines.join("\n"));
    assert_eq!(code, Some(0), "{notes}");
    for note in
        ["line 60501, column `x`: 1152921504606846977 is rounded", "line 60901 is left out (blank)"]
    {
        assert_eq!(notes.matches(note).count(), 1, "{notes}");
    }
    lines[60_950].push('\0');
    let (code, error) = run(&lines.join("\n"));
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("t.csv: there is a zero byte in line 60951"), "{error}");
}

#[test]
fn several_classes_and_lists_of_halfspaces() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("three.csv"), wheel(9000, &["a", "b", "c"])).unwrap();
    let found = fit(dir.path(), "three.csv --label class --learner perceptron --stream -o m.json");
    assert_eq!(found["learned_from"], 7500);
    assert!(found["held_out"]["rate"].as_f64().unwrap() < 0.1, "{found}");
    // Each round that extends the decision list takes as many new rows as it needs.
    fs::write(dir.path().join("more.csv"), wheel(60_000, &["a", "b", "c"])).unwrap();
    let args =
        "more.csv --label class --positive b --learner massart --noise 0.1 --stream -o m.json";
    let found = fit(dir.path(), args);
    assert!(found["findings"]["ended"].as_str().unwrap().ends_with("converged"), "{found}");
    assert!(found["held_out"]["rate"].as_f64().unwrap() < 0.05, "{found}");
    assert!(found["learned_from"].as_u64().unwrap() < 54_000, "{found}");
    succeed(dir.path(), "evaluate m.json three.csv");
}

/// Sparse rows of three classes. Each row has up to four nonzero columns, one of which is typical of its class. Every
/// fifth label is wrong.
fn sparse_rows(rows: u64) -> String {
    let mut text = String::new();
    for i in 0..rows {
        let drawn = |k: u64| (i * 4 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let class = drawn(0) % 3;
        let column = 1 + 3 * (drawn(1) % 100) + class;
        let mut columns = vec![column, 301 + drawn(2) % 50, 351 + drawn(3) % 50, 401];
        columns.dedup();
        let label = if i % 5 == 3 { (class + 1) % 3 } else { class };
        let entries: Vec<String> = columns.iter().map(|column| format!("{column}:1")).collect();
        text.push_str(&format!("{label} {}\n", entries.join(" ")));
    }
    text
}

/// The default learner makes one pass over many sparse rows, and the model is the same for any number of threads. If
/// there are no more rows than in the sample, the model is the same as without `--stream`.
#[test]
fn many_sparse_rows_are_learned_in_one_pass() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("many.svm"), sparse_rows(62_000)).unwrap();
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    let found = fit(dir.path(), "many.svm --label label --stream --threads 1 -o one.json");
    fit(dir.path(), "many.svm --label label --stream --threads 2 -o two.json");
    assert!(read("one.json") == read("two.json"));
    let held_out = found["held_out"]["of"].as_u64().unwrap();
    assert_eq!(found["learned_from"].as_u64().unwrap() + held_out, 62_000);
    // A fifth of the labels are wrong.
    let rate = found["held_out"]["rate"].as_f64().unwrap();
    assert!((0.18..0.22).contains(&rate), "{rate}");
    fs::write(dir.path().join("few.svm"), sparse_rows(2000)).unwrap();
    fit(dir.path(), "few.svm --label label --stream -o stream.json");
    fit(dir.path(), "few.svm --label label -o memory.json");
    assert!(read("memory.json") == read("stream.json"));
}

/// Values that occur only after the first rows are noted, as in memory. A column that is constant only in these rows is
/// named.
#[test]
fn late_values_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let rows = wheel(62_000, &["a", "b"]);
    let rows = rows.lines().enumerate().map(|(i, line)| match i.checked_sub(1) {
        None => format!("{line},late,empty,same\n"),
        Some(row) if row < 60_000 => format!("{line},{}.5,,NA\n", row % 7),
        Some(row) if row % 5 == 0 => format!("{line},-999,1,\n"),
        Some(_) => format!("{line},2.5,,NA\n"),
    });
    // The labels are in the fourth column.
    fs::write(dir.path().join("t.csv"), rows.collect::<String>()).unwrap();
    for stream in ["", " --stream"] {
        let args = "fit t.csv --label class --learner perceptron -o m.json --force";
        let output = run_line(dir.path(), &format!("{args}{stream}"));
        assert!(output.status.success());
        let notes = String::from_utf8(output.stderr).unwrap();
        let marker = "column `late`: -999 is in 400 rows and far from all other numbers";
        assert_eq!(notes.matches(marker).count(), 1, "{stream} {notes}");
        let constant = "line 60002, column `empty`: its value differs";
        assert_eq!(notes.matches(constant).count(), usize::from(!stream.is_empty()), "{notes}");
        assert!(!notes.contains("column `same`"), "{notes}");
    }
}
