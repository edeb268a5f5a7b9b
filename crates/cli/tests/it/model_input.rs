//! Tables that differ in small ways from the table to which a model was fitted.

use crate::support::{npy, run_line, succeed};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Runs a command that must succeed and returns its messages.
fn said(dir: &Path, line: &str) -> String {
    let output = run_line(dir, line);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{line}: {said}");
    said
}

fn write(dir: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::write(dir.join(name), text).unwrap();
}

/// Lines `head` and then `line(i)` for i = 0, 1, ..
fn lines(head: &str, rows: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = format!("{head}\n");
    (0..rows).for_each(|i| writeln!(text, "{}", line(i)).unwrap());
    text
}

fn class(i: usize) -> &'static str {
    if i * 37 % 101 > 50 { "p" } else { "n" }
}

fn x(i: usize) -> usize {
    i * 37 % 101
}

/// The median replaces a missing number. This is said if the model has not learned from missing numbers.
#[test]
fn numbers_that_are_missing_for_the_first_time_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "t.csv", lines("x,z,y", 200, |i| format!("{},{},{}", x(i), i % 7, class(i))));
    succeed(dir, "fit t.csv --label y --learner logistic -o m.json");
    let new = |missing: usize| {
        lines("x,z", 12, |i| match i < missing {
            true => format!(",{}", i % 7),
            false => format!("{},{}", x(i), i % 7),
        })
    };
    for (missing, note) in [(0, ""), (1, "`x` (1)"), (11, "`x` (11)")] {
        write(dir, "new.csv", new(missing));
        let said = said(dir, "predict m.json new.csv");
        assert_eq!(said.contains("has not learned from missing values"), missing > 0, "{said}");
        assert!(said.contains(note), "{said}");
    }
    // A row without any value and a column without any value have notes of their own.
    write(dir, "new.csv", lines("x,z", 12, |i| if i == 3 { ",".into() } else { format!("{i},1") }));
    let of_row = said(dir, "predict m.json new.csv");
    assert!(of_row.contains("1 row has no value") && !of_row.contains("not learned"), "{of_row}");
    write(dir, "new.csv", new(12));
    let of_column = said(dir, "predict m.json new.csv");
    assert!(of_column.contains("no value in any row") && !of_column.contains("not learned"));
    // With missing numbers in the fit, they have a coordinate of their own.
    write(
        dir,
        "t.csv",
        lines("x,z,y", 200, |i| {
            let x = if i % 9 == 0 { String::new() } else { x(i).to_string() };
            format!("{x},{},{}", i % 7, class(i))
        }),
    );
    succeed(dir, "fit t.csv --label y --learner logistic -o m.json --force");
    write(dir, "new.csv", new(5));
    assert!(!said(dir, "predict m.json new.csv").contains("missing"));
}

/// A model that was fitted to a file without names reads every line as data. This is said if the first line looks like
/// names.
#[test]
fn a_header_that_is_read_as_data_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let size = |i: usize| if class(i) == "p" { "big" } else { "small" };
    let row = |i: usize| format!("{},{},{}", size(i), ["red", "blue"][i % 2], class(i));
    write(dir, "t.csv", lines(&row(0), 199, |i| row(i + 1)));
    succeed(dir, "fit t.csv --label c3 --no-header --learner logistic -o m.json");
    let args = "predict m.json new.csv --unseen zero";
    let new = |i: usize| format!("{},{}", size(i), ["red", "blue"][i % 2]);
    let rows = lines(&new(0), 20, |i| new(i + 1));
    write(dir, "new.csv", &rows);
    assert_eq!(said(dir, args), "");
    write(dir, "new.csv", format!("size,colour\n{rows}"));
    assert!(said(dir, args).contains("line 1 looks like column names"));
}

/// A category that is a number has the same meaning in all formats.
#[test]
fn categories_of_numbers_are_found_in_arrays() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(
        dir,
        "t.csv",
        lines("x0,x1,y", 200, |i| {
            let category = if class(i) == "p" { "1.0" } else { "2.0" };
            format!("{category},{},{}", i % 5, class(i))
        }),
    );
    succeed(dir, "fit t.csv --label y --category x0 -o m.json");
    write(dir, "new.csv", "x0,x1\n1,0\n2,0\n");
    let numbers = [1.0f64, 0.0, 2.0, 0.0].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    write(dir, "new.npy", npy("<f8", "(2, 2)", &numbers));
    let of_text = succeed(dir, "predict m.json new.csv");
    assert_eq!(succeed(dir, "predict m.json new.npy"), of_text);
    assert!(of_text.contains("\np,") && of_text.contains("\nn,"), "{of_text}");
}

/// The cells of dropped and unused columns are not checked, wherever the labels come from.
#[test]
fn cells_of_unused_columns_are_not_checked() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let bad = |i: usize| if i == 150 { "see p. 4 x".into() } else { (i * 3).to_string() };
    write(dir, "t.csv", lines("x,bad", 200, |i| format!("{},{}", x(i), bad(i))));
    write(dir, "y.csv", lines("label", 200, |i| class(i).into()));
    succeed(dir, "fit t.csv --labels y.csv --drop bad --learner logistic -o m.json");
    // A model of an array has no rules for columns.
    let numbers = (0..200).flat_map(|i| (x(i) as f64).to_le_bytes()).collect::<Vec<u8>>();
    write(dir, "x.npy", npy("<f8", "(200, 1)", &numbers));
    succeed(dir, "fit x.npy --labels y.csv --learner logistic -o m.json --force");
    write(dir, "new.csv", lines("x0,bad", 200, |i| format!("{},{}", x(i), bad(i))));
    let found = succeed(dir, "predict m.json new.csv");
    let wrong = found.lines().skip(1).enumerate().filter(|(i, line)| !line.starts_with(class(*i)));
    assert!(wrong.count() < 20, "{found}");
}

/// A column of digits can be used as text.
#[test]
fn digits_can_be_text() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let code = |i: usize| format!("{:03} {:03}", i % 40, if class(i) == "p" { 7 } else { 8 });
    write(
        dir,
        "t.csv",
        lines("code,y", 200, |i| format!("{},{}", code(i).replace(' ', ""), class(i))),
    );
    let fitted = said(dir, "fit t.csv --label y --text code -o m.json");
    assert!(!fitted.contains("numbers"), "{fitted}");
    let found = succeed(dir, "predict m.json t.csv");
    assert_eq!(found.lines().count(), 201);
}

/// A one-pass fit says what it finds after the rows by which it determined the columns.
#[test]
fn later_chunks_of_a_stream_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let category = |i: usize| match i {
        62_000.. if i.is_multiple_of(2) => "",
        62_000.. => "w",
        _ => ["u", "v"][i % 2],
    };
    let offset = |i: usize| if i < 61_000 { "+02:00" } else { "Z" };
    let number = |i: usize| if i < 62_000 { (i % 9).to_string() } else { String::new() };
    let text = lines("x,c,n,at,y", 64_000, |i| {
        let at = format!("2024-01-{:02}T10:{:02}:00{}", i % 28 + 1, i % 60, offset(i));
        format!("{},{},{},{at},{}", x(i), category(i), number(i), class(i))
    });
    write(dir, "t.csv", text);
    let found = said(dir, "fit t.csv --label y --learner perceptron --stream -o m.json");
    // New categories and blanks are both unknown to the model.
    assert!(found.contains("column `c`: 2000 rows have categories that do not occur"), "{found}");
    assert_eq!(found.matches("has another offset from UTC").count(), 1, "{found}");
    let gaps = "t.csv, line 62002, column `n`: its values are missing in 2000 rows, but in none of the training rows";
    assert!(found.contains(gaps), "{found}");
    assert!(!found.contains("column `x`: its values are missing"), "{found}");
    // In a LIBSVM file, an index that occurs only later is left out. An index that is constant has no use, and a late
    // one does not change this.
    let sparse = |late: usize| {
        let row = |i: usize| {
            let more = if i < late { String::new() } else { format!(" {}:1", 7 + i % 3) };
            format!("{} 1:{} 2:1 3:{}{more}\n", i % 2, x(i), i % 5)
        };
        (0..64_000).map(row).collect::<String>()
    };
    write(dir, "late.svm", sparse(61_000));
    write(dir, "even.svm", sparse(64_000));
    let fit = |name: &str| {
        said(
            dir,
            &format!("fit {name} --label label --learner perceptron --stream --force -o s.json"),
        )
    };
    let found = fit("late.svm");
    let note = "late.svm, line 61001, column `8`: it does not occur, or has one value, in the training rows among the first 60000 \
                rows, so it is left out, like 2 other columns; shuffle the file";
    assert!(found.contains(note), "{found}");
    let found = fit("even.svm");
    assert!(!found.contains("left out"), "{found}");
    // A dropped column is not late, and the first row after the first ones is.
    let found = fit("even.svm --drop 3");
    assert!(!found.contains("does not occur"), "{found}");
    write(dir, "edge.svm", sparse(60_000));
    let found = fit("edge.svm");
    assert!(found.contains("edge.svm, line 60001, column `7`: it does not occur"), "{found}");
}
