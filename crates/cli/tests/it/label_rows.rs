//! Labels that belong to other rows than those to which they would be joined, and labels that are predictions.

use crate::support::{refused, run_line, succeed};
use std::fs;
use std::path::Path;

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.join(name), text).unwrap();
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

fn a(i: usize) -> String {
    format!("{}.25", i * 37 % 60)
}

fn class(i: usize) -> &'static str {
    if i * 37 % 60 < 30 { "low" } else { "high" }
}

/// Writes t.csv with the columns id and a, and y.csv with ids and labels.
fn tables(folder: &Path) {
    let x = |i: usize| format!("n{i:02},{}\n", a(i));
    write(folder, "t.csv", format!("id,a\n{}", (0..60).map(x).collect::<String>()));
    let y = |i: usize| format!("n{i:02},{}\n", class(i));
    write(folder, "y.csv", format!("id,label\n{}", (0..60).map(y).collect::<String>()));
}

/// Columns may have the names that the commands give to columns of their own.
#[test]
fn columns_called_like_those_of_the_commands_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["value", "score", "source", "probability", "rank", "line"] {
        let x: String = (0..60).map(|i| a(i) + ",1\n").collect();
        let y: String = (0..60).rev().map(|i| format!("{},{}\n", a(i), class(i))).collect();
        write(folder, "t.csv", format!("{name},b\n{x}"));
        write(folder, "y.csv", format!("{name},label\n{y}"));
        let said = refuse(folder, "fit t.csv --labels y.csv -o m.json");
        assert!(said.contains(&format!("column `{name}`")) && said.contains("--id"), "{said}");
    }
    let row = |i: usize| 59 - i;
    let x: String = (0..60).map(|i| format!("{},{}\n", row(i), a(i))).collect();
    let y: String = (0..60).map(|i| format!("{},{}\n", row(i), class(i))).collect();
    write(folder, "t.csv", format!("row,a\n{x}"));
    write(folder, "y.csv", format!("row,label\n{y}"));
    let said = refuse(folder, "fit t.csv --labels y.csv -o m.json");
    assert!(said.contains("column `row`") && said.contains("pass --id row"), "{said}");
    succeed(folder, "fit t.csv --labels y.csv --id row --learner logistic -o m.json");
}

#[test]
fn ids_under_another_name_are_not_joined_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    tables(folder);
    let lines = fs::read_to_string(folder.join("y.csv")).unwrap();
    let turned: Vec<&str> = lines.lines().skip(1).collect();
    let turned: String = turned.iter().rev().map(|line| format!("{line}\n")).collect();
    write(folder, "s.csv", format!("sample_id,label\n{turned}"));
    let said = refuse(folder, "fit t.csv --labels s.csv -o m.json");
    assert!(said.contains("column `sample_id`") && said.contains("column `id`"), "{said}");
    write(folder, "s.csv", lines.replace("id,", "sample_id,"));
    notes(folder, "fit t.csv --labels s.csv --learner logistic -o m.json");
}

/// The images are read in the order 0, 1, .., 10, but a list of the folder is sorted by letters.
#[test]
fn a_list_of_images_in_another_order_is_not_joined() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("im")).unwrap();
    let mut names = Vec::new();
    for i in 0..24u8 {
        let name = format!("{i}.png");
        let image = fs::File::create(folder.join("im").join(&name)).unwrap();
        let mut encoder = png::Encoder::new(image, 8, 8);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let grey: Vec<u8> = (0..64).map(|at| i.wrapping_mul(37).wrapping_add(at * 3)).collect();
        encoder.write_header().unwrap().write_image_data(&grey).unwrap();
        names.push(name);
    }
    let label = |name: &String| if name.len() > 5 { "long" } else { "short" };
    let lines = |names: &[String], cut: usize| {
        let line = |name: &String| format!("{},{}\n", &name[..name.len() - cut], label(name));
        names.iter().map(line).collect::<String>()
    };
    let mut sorted = names.clone();
    sorted.sort();
    for (head, cut) in [("image,label", 0), ("filename,label", 4)] {
        write(folder, "y.csv", format!("{head}\n{}", lines(&sorted, cut)));
        let said = refuse(folder, "fit im --labels y.csv -o m.json --force");
        assert!(said.contains("another order") && said.contains("`file`"), "{said}");
        write(folder, "y.csv", format!("{head}\n{}", lines(&names, cut)));
        let said = notes(folder, "fit im --labels y.csv --learner logistic -o m.json --force");
        assert!(said.contains("in the order of their names (2 before 10)"), "{said}");
    }
}

/// The rows of a ranking are those of the audited table, not those of the file of labels.
#[test]
fn a_ranking_does_not_correct_a_file_of_labels_in_another_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    tables(folder);
    let lines = fs::read_to_string(folder.join("y.csv")).unwrap();
    let mut moved: Vec<&str> = lines.lines().skip(1).collect();
    moved.rotate_left(2);
    write(folder, "l.csv", format!("id,label\n{}\n", moved.join("\n")));
    let audit = "audit t.csv --labels l.csv --id id --learner logistic -o ranking.csv";
    succeed(folder, audit);
    let ranking = fs::read_to_string(folder.join("ranking.csv")).unwrap();
    let head = ranking.lines().next().unwrap();
    assert!(head.split(',').any(|name| name == "id"), "{head}");
    let line = ranking.lines().nth(1).unwrap();
    write(folder, "accepted.csv", format!("{head}\n{line}\n"));
    let said = refuse(folder, "correct l.csv --label label --with accepted.csv -o c.csv");
    assert!(said.contains("column `id`"), "{said}");
    // One equal label does not show that the rows are the same.
    write(folder, "accepted.csv", format!("row,label,suggested\n1,{},new\n", class(3)));
    let said = notes(folder, "correct l.csv --label label --with accepted.csv -o c.csv");
    assert!(said.contains("no common column that could confirm this"), "{said}");
    let numbered: String = (0..60).rev().map(|i| format!("{i},{}\n", class(i))).collect();
    write(folder, "n.csv", format!("row,label\n{numbered}"));
    write(folder, "accepted.csv", format!("row,label,suggested\n0,{},new\n", class(59)));
    let said = refuse(folder, "correct n.csv --label label --with accepted.csv -o n2.csv");
    assert!(said.contains("rename the column `row`"), "{said}");
}

#[test]
fn a_row_is_explained_by_its_number_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    tables(folder);
    succeed(folder, "fit t.csv --labels y.csv --id id --learner logistic -o m.json");
    write(
        folder,
        "e.csv",
        format!("row,label\n0,{}\n2,{}\n39,{}\n", class(0), class(2), class(39)),
    );
    let said = succeed(folder, "explain m.json t.csv --labels e.csv --row 39");
    assert!(said.contains("row 39 (t.csv, line 41)"), "{said}");
    let said = succeed(folder, "explain m.json t.csv --labels e.csv --row 2 --json");
    let found: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&found["rows"][0]["row"], &found["rows"][0]["place"]),
        (&2.into(), &"t.csv, line 4".into())
    );
    let said = refuse(folder, "explain m.json t.csv --labels e.csv --row 1");
    assert!(said.contains("--row 1: t.csv has no label for this row"), "{said}");
}

#[test]
fn predictions_are_not_true_labels() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    tables(folder);
    succeed(folder, "fit t.csv --labels y.csv --id id --learner logistic -o m.json");
    succeed(folder, "predict m.json t.csv --keep id -o p.csv");
    for command in ["evaluate m.json", "compare m.json m.json"] {
        let said = refuse(folder, &format!("{command} t.csv --labels p.csv --id id"));
        assert!(said.contains("its labels are predictions of a model"), "{said}");
    }
    let said = notes(folder, "fit t.csv --labels p.csv --id id --learner logistic -o q.json");
    assert!(said.contains("its labels are predictions of a model"), "{said}");
    // The output of a labelling session and other columns of this name are no predictions.
    write(folder, "p.csv", fs::read_to_string(folder.join("p.csv")).unwrap().replace("value", "v"));
    succeed(folder, "evaluate m.json t.csv --labels p.csv --id id");
}

#[test]
fn guesses_of_a_session_are_not_labels() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    tables(folder);
    let source = |i: usize| if i < 20 { "confirmed," } else { "predicted,0.7" };
    let line = |i: usize| format!("{i},n{i:02},{},{}\n", class(i), source(i));
    let all: String = (0..60).map(line).collect();
    let pool = fs::read_to_string(folder.join("t.csv")).unwrap();
    write(folder, "t.csv", pool.replace("id,", "who,"));
    write(folder, "all.csv", format!("row,who,label,source,probability\n{all}"));
    for command in ["fit all.csv --label label -o m.json", "audit all.csv --label label"] {
        let said = refuse(folder, command);
        assert!(said.contains("a prediction of a model (40 of 60 rows)"), "{said}");
    }
    let label = "label t.csv --show who --classes low,high --session s.jsonl";
    let import = format!("{label} --import-labelstudio all.csv --export -o out.csv");
    let said = notes(folder, &import);
    assert!(said.contains("40 tasks have a label that a model predicted"), "{said}");
    let exported = fs::read_to_string(folder.join("out.csv")).unwrap();
    assert_eq!(exported.lines().count(), 21, "{exported}");
}

#[test]
fn the_targets_of_libsvm_are_no_feature() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line =
        |i: usize| format!("{} 1:{} 2:{}\n", usize::from(class(i) == "low"), a(i), i % 7 + 1);
    write(folder, "d.svm", (0..60).map(line).collect::<String>());
    let labels: String = (0..60).map(|i| format!("{}\n", class(i))).collect();
    for head in ["y", "label"] {
        write(folder, "y.csv", format!("{head}\n{labels}"));
        let fit =
            format!("fit d.svm --labels y.csv --label {head} --learner logistic -o {head}.json");
        let said = notes(folder, &fit);
        assert!(said.contains("its targets (`label`) are left out"), "{said}");
        let said = succeed(folder, &format!("explain {head}.json"));
        assert!(!said.contains("label=") && said.contains('1'), "{said}");
        succeed(folder, &format!("evaluate {head}.json d.svm --labels y.csv"));
    }
}

#[test]
fn the_column_of_ids_has_no_other_role() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    tables(folder);
    for option in ["--group", "--time"] {
        let said =
            refuse(folder, &format!("fit t.csv --labels y.csv --id id {option} id -o m.json"));
        assert!(said.contains(&format!("{option} id: it is the column of unique ids")), "{said}");
    }
}
