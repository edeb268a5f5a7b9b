//! Explanations of rows, and the model card.

use crate::support::{npy, refused, succeed, table};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&succeed(folder, line)).unwrap()
}

/// The sum of the mean and the contributions is the prediction, which is that of `predict`.
#[test]
fn a_row_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("t.csv"), table(200)).unwrap();
    succeed(folder, "fit t.csv --label y -o m.json");
    let found = json(folder, "explain m.json t.csv --row 7,3 --json");
    assert!(found.get("on_data").is_none(), "only the rows were asked for");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0]["row"].as_u64(), rows[1]["row"].as_u64()), (Some(7), Some(3)));
    assert_eq!(rows[0]["place"], "t.csv, line 9");
    let predicted = succeed(folder, "predict m.json t.csv");
    let line = predicted.lines().nth(8).unwrap();
    let class = rows[0]["predicted"].as_str().unwrap();
    assert!(line.split(',').any(|cell| cell == class), "{line}");
    let of_columns = rows[0]["of_columns"].as_array().unwrap();
    let sum: f64 = of_columns.iter().map(|of| of["contribution"].as_f64().unwrap()).sum();
    let number = |name: &str| rows[0][name].as_f64().unwrap();
    assert!((number("baseline") + sum - number("result")).abs() < 1e-9);
    assert!(line.contains(&number("result").to_string()[..6]), "{line} {}", number("result"));
    // Each cell is that of its column.
    let written = table(200);
    let header: Vec<&str> = written.lines().next().unwrap().split(',').collect();
    let cells: Vec<&str> = written.lines().nth(8).unwrap().split(',').collect();
    for (of, cell) in of_columns.iter().zip(rows[0]["cells"].as_array().unwrap()) {
        let at = header.iter().position(|name| of["column"] == *name).unwrap();
        assert_eq!(cell, cells[at]);
    }
    let text = succeed(folder, "explain m.json t.csv --row 7 --top 1");
    assert!(text.contains("row 7 (t.csv, line 9): predicted") && text.contains("all others"));
    assert!(!text.contains("margins in units"));

    let why = refused(folder, &["explain", "m.json", "t.csv", "--row", "200"]);
    assert!(why.contains("--row 200: t.csv has 200 rows; rows are counted from 0"), "{why}");
    let lines: Vec<&str> = written.lines().collect();
    fs::write(folder.join("one.csv"), lines[..2].join("\n")).unwrap();
    let why = refused(folder, &["explain", "m.json", "one.csv", "--row", "0"]);
    assert!(why.contains("the table has no other row"), "{why}");
}

/// The card contains the numbers of `evaluate`, names are escaped, and a file is replaced only with --force.
#[test]
fn a_model_card_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = table(200).replacen("a,b,", "<b>,b,", 1);
    fs::write(folder.join("t.csv"), &text).unwrap();
    succeed(folder, "fit t.csv --label y -o m.json");
    succeed(folder, "explain m.json t.csv --row 5 --html card.html");
    let card = fs::read_to_string(folder.join("card.html")).unwrap();
    let scores = json(folder, "evaluate m.json t.csv --json");
    let loss = scores["probabilities"]["log_loss"].as_f64().unwrap();
    assert!(card.contains(&format!("<td>{loss:.4}</td>")), "{loss}");
    let summary = json(folder, "explain m.json --json");
    let held_out = summary["held_out"]["of"].as_u64().unwrap();
    assert!(card.contains(&format!("on {held_out} rows, drawn at random")));
    for title in ["The model", "Columns", "Candidates", "Errors on t.csv", "Margins", "Limits"] {
        assert!(card.contains(&format!("<h2>{title}</h2>")), "{title}");
    }
    assert!(card.contains("row 5 (t.csv, line 7): predicted") && card.contains("<svg"));
    assert!(card.contains("&lt;b&gt;") && !card.contains("<b>") && !card.contains("<script"));
    let why = refused(folder, &["explain", "m.json", "--html", "card.html"]);
    assert!(why.contains("card.html already exists"), "{why}");
    // The card can be written without a table, and for a model without candidates.
    succeed(folder, "train t.csv --label y --learner svm -o s.json");
    succeed(folder, "explain s.json --html card.html --force");
    let card = fs::read_to_string(folder.join("card.html")).unwrap();
    assert!(card.contains("written without a table") && card.contains("Largest weights for"));
    assert!(!card.contains("<h2>Candidates</h2>") && !card.contains("<h2>Margins</h2>"));
    let why = refused(folder, &["explain", "s.json", "--html", "s.json", "--force"]);
    assert!(why.contains("s.json"), "{why}");
}

/// Rows of a matrix, which has no column names and no lines, can be explained.
#[test]
fn rows_of_a_matrix_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let values: Vec<f64> = (0..120).map(|i| f64::from(i * 37 % 101)).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(folder.join("X.npy"), npy("<f8", "(40, 3)", &bytes)).unwrap();
    let labels: String = (0..40)
        .map(|row| format!("{}\n", if values[3 * row] > 50.0 { "p" } else { "n" }))
        .collect();
    fs::write(folder.join("y.csv"), format!("label\n{labels}")).unwrap();
    succeed(folder, "fit X.npy --labels y.csv --learner logistic -o m.json");
    let found = json(folder, "explain m.json X.npy --row 39 --json");
    assert_eq!(found["rows"][0]["of_columns"].as_array().unwrap().len(), 3);
    assert_eq!(found["rows"][0]["cells"].as_array().unwrap().len(), 3);
}
