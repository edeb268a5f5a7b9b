//! `halfspaces inspect`.

use crate::support::{good, refused, run};
use serde_json::Value;
use std::fs;

const UNTIDY: &str =
    "Report of May;;\n;;\nname;size;kind\nA;1,50;x\nB;2,25;y\nC;3,75;x\n;;\nSource: the office;;\n";

#[test]
fn a_table_is_shown_as_text_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), UNTIDY).unwrap();
    let text = good(folder.path(), &["inspect", "t.csv"]);
    for part in ["delimiter", "lines 1 to 2 above the table", "lines 8", "size", "rows"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = good(folder.path(), &["inspect", "t.csv", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["reading"]["delimiter"], ";");
    assert_eq!(json["reading"]["rows"], 3);
    assert_eq!(json["reading"]["preamble_lines"], 2);
    assert_eq!(json["columns"][1]["name"], "size");
}

/// Letters that a terminal does not show are escaped in the notation of JSON.
#[test]
fn invisible_letters_are_valid_json() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a\u{200b}b\u{feff}\u{202e}\u{7f}\u{85}\u{e9}\u{1f600}";
    let rows: String = (0..20).map(|i| format!("{i},{name}{}\n", i % 2)).collect();
    fs::write(folder.path().join("t.csv"), format!("x,{name}\n{rows}")).unwrap();
    let json = good(folder.path(), &["inspect", "t.csv", "--json"]);
    assert!(json.contains("a\\u200bb") && !json.contains('\u{200b}'), "{json}");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["columns"][1]["name"], name);
}

#[test]
fn a_table_is_written_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), UNTIDY).unwrap();
    good(folder.path(), &["inspect", "t.csv", "-o", "plain.csv"]);
    let plain = fs::read_to_string(folder.path().join("plain.csv")).unwrap();
    assert_eq!(plain, "name,size,kind\nA,\"1,50\",x\nB,\"2,25\",y\nC,\"3,75\",x\n");
    let said = refused(folder.path(), &["inspect", "t.csv", "-o", "plain.csv"]);
    assert!(said.contains("--force"), "{said}");
}

#[test]
fn ragged_rows_are_shown_and_refused_by_a_fit() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), "a,b,y\n1,p,u\n2,v\n3,q,u\n4,r,v,5\n").unwrap();
    let text = good(folder.path(), &["inspect", "t.csv"]);
    assert!(text.contains("ragged rows") && text.contains("line 3"), "{text}");
    let said = refused(folder.path(), &["fit", "t.csv", "--label", "y", "-o", "m.json"]);
    assert!(said.contains("line 3") && said.contains("--ragged"), "{said}");
    let json = good(folder.path(), &["inspect", "t.csv", "--ragged", "skip", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["reading"]["rows"], 2);
}

#[test]
fn an_empty_file_has_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), "").unwrap();
    let output = run(folder.path(), &["inspect", "t.csv", "-o", "plain.csv"]);
    assert!(output.status.success());
    assert_eq!(fs::read(folder.path().join("plain.csv")).unwrap(), b"");
    assert!(String::from_utf8(output.stdout).unwrap().contains("empty"));
}
