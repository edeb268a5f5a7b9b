//! `correct`, and the ranking that it reads.

use crate::support::{refused, run_line, succeed};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A table whose cells are written in unusual forms. `class` is `yes` for x >= 10, but two labels are wrong.
fn write_table(dir: &Path) {
    let mut text = "id;x;class;note\n".to_owned();
    for i in 0..60 {
        let is_wrong = i == 7 || i == 41;
        let class = if (i % 20 >= 10) == is_wrong { "no" } else { "yes" };
        text.push_str(&format!("{i:03};{}.50;{class};\"a;{i}\"\n", i % 20));
    }
    fs::write(dir.join("t.csv"), text).unwrap();
}

fn refuse(dir: &Path, line: &str) -> String {
    refused(dir, &line.split(' ').collect::<Vec<_>>())
}

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap()
}

#[test]
fn the_first_rows_of_a_ranking_are_corrected_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    write_table(dir.path());
    let audit = "audit t.csv --label class --use note --drop note --keep id --keep label --learner logistic -o r.csv";
    assert!(refuse(dir.path(), audit).contains("there is no column `label`"));
    succeed(
        dir.path(),
        "audit t.csv --label class --drop note --keep id --keep class --learner logistic -o r.csv",
    );
    let ranking = read(dir.path(), "r.csv");
    let lines: Vec<&str> = ranking.lines().collect();
    assert_eq!(
        lines[0],
        "rank,row,label,suggested,agreement,likely_wrong,line,sort_key,contradicts,id,class"
    );
    let mut found: Vec<Vec<&str>> = lines[1..3].iter().map(|l| l.split(',').collect()).collect();
    found.sort_by_key(|cells| cells[1].len());
    for (cells, row) in found.iter().zip(["7", "41"]) {
        assert_eq!((cells[1], cells[2], cells[10]), (row, "yes", "yes"), "{cells:?}");
        assert_eq!(cells[9], format!("{row:0>3}"));
    }
    let result =
        succeed(dir.path(), "audit t.csv --label class --drop note --learner logistic --json");
    let likely = serde_json::from_str::<Value>(&result).unwrap()["likely_wrong"].as_u64().unwrap();
    assert!(likely > 0);
    for (rank, line) in (1..).zip(&lines[1..]) {
        let expected = if rank <= likely { "yes" } else { "no" };
        assert_eq!(line.split(',').nth(5), Some(expected), "{line}");
    }

    // If --first were not required, every suggestion would be accepted.
    let all = refuse(dir.path(), "correct t.csv --label class --with r.csv -o c.csv");
    assert!(all.contains("every suggestion would be accepted"), "{all}");
    succeed(dir.path(), "correct t.csv --label class --with r.csv --first 2 -o c.csv");
    let (before, after) = (read(dir.path(), "t.csv"), read(dir.path(), "c.csv"));
    for (row, (before, after)) in before.lines().zip(after.lines()).enumerate() {
        let expected = match row {
            8 | 42 => before.replace("yes", "no"),
            _ => before.to_owned(),
        };
        // Only a cell with a delimiter needs quotes.
        let expected = expected.replace("\"a;", "<a;").replace('"', "");
        assert_eq!(after.replace("\"a;", "<a;").replace('"', ""), expected, "row {row}");
    }
    // The same corrections do not fit the corrected table.
    let again = refuse(dir.path(), "correct c.csv --label class --with r.csv --first 2 -o d.csv");
    assert!(again.contains("already been corrected"), "{again}");
}

/// Answers of a session contain only the new label. It may be a label that the table does not have yet, such as `None`.
#[test]
fn answers_are_taken_by_row() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), "x,class\n1,\n2,a\n3,b\n").unwrap();
    fs::write(dir.path().join("a.csv"), "row,label,source\n0,None,confirmed\n2,b,known\n").unwrap();
    succeed(dir.path(), "correct t.csv --label class --with a.csv -o c.csv");
    assert_eq!(read(dir.path(), "c.csv"), "x,class\n1,None\n2,a\n3,b\n");
    assert_eq!(
        succeed(dir.path(), "correct t.csv --label class --with a.csv"),
        read(dir.path(), "c.csv")
    );
}

/// A label in another form names the same class: its cell stays as it is, and it is not a new label.
#[test]
fn cells_of_the_same_class_keep_their_spelling() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), "x,class\r\n1,1.0\r\n2,1\r\n3,2.0\r\n4,2.00\r\n").unwrap();
    let ranking = "row,label,suggested\n0,1,1\n1,1,2\n3,2,1\n";
    fs::write(dir.path().join("r.csv"), ranking).unwrap();
    let done = run_line(dir.path(), "correct t.csv --label class --with r.csv -o c.csv");
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.ends_with("2 of 4 labels changed; 1 correction equal to the old label\n"),
        "{said}"
    );
    assert_eq!(read(dir.path(), "c.csv"), "x,class\n1,1.0\n2,2.0\n3,2.0\n4,1\n");
    // A spreadsheet program writes truth values in capital letters.
    fs::write(dir.path().join("t.csv"), "x,class\n1,True\n2,False\n3,False\n").unwrap();
    fs::write(dir.path().join("r.csv"), "row,label,suggested\n1,FALSE,TRUE\n").unwrap();
    succeed(dir.path(), "correct t.csv --label class --with r.csv -o d.csv");
    assert_eq!(read(dir.path(), "d.csv"), "x,class\n1,True\n2,True\n3,False\n");
    fs::write(dir.path().join("t.csv"), "x,class\n1,0\n2,1\n3,1\n").unwrap();
    fs::write(dir.path().join("r.csv"), "row,label\n1,true\n").unwrap();
    let done = run_line(dir.path(), "correct t.csv --label class --with r.csv -o e.csv");
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.ends_with("0 of 3 labels changed; 1 correction equal to the old label\n"),
        "{said}"
    );
    assert!(
        said.starts_with("note: r.csv: the labels are joined to the rows of t.csv by row number")
    );
}

/// A table with semicolons and decimal commas keeps both, so it is read in the same way again.
#[test]
fn the_delimiter_of_the_table_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("r.csv"), "row,label\n1,\"c;d\"\n").unwrap();
    for (delimiter, kept) in [(';', ';'), ('\t', '\t'), ('|', '|'), (' ', ' ')] {
        let table = |of: char| {
            let rows = [["x", "z", "class"], ["0.5", "07", "a"], ["2.5", "08", "b"]];
            rows.map(|cells| cells.join(&of.to_string()) + "\n").concat()
        };
        fs::write(dir.path().join("t.csv"), table(delimiter)).unwrap();
        succeed(dir.path(), "correct t.csv --label class --with r.csv -o c.csv --force");
        let new = if kept == ';' { "\"c;d\"" } else { "c;d" };
        assert_eq!(read(dir.path(), "c.csv"), table(kept).replace('b', new), "{delimiter:?}");
    }
    fs::write(dir.path().join("t.csv"), "x;class\n0,5;a\n1,5;b\n").unwrap();
    succeed(dir.path(), "correct t.csv --label class --with r.csv -o c.csv --force");
    assert_eq!(read(dir.path(), "c.csv"), "x;class\n0,5;a\n1,5;\"c;d\"\n");
}

#[test]
fn corrections_that_do_not_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), "x,class\n1,a\n2,a\n3,b\n").unwrap();
    for (corrections, said) in [
        ("row,label\n3,a\n", "line 2, column `row`: `3` is not a row of t.csv, which has 3 rows"),
        ("row,label\n-1,a\n", "`-1` is not a row"),
        ("row,label\n1.5,a\n", "`1.5` is not a row"),
        ("row,label\n1,a\n1,b\n", "line 3: row 1 has two new labels, `a` and `b`"),
        ("row,label\n1,\n", "line 2: there is no new label"),
        ("row,suggested,label\n1,b,c\n", "row 1 has the label `c` here, but `a` in t.csv, line 3"),
        ("row,class\n1,b\n", "there is no column `label`"),
        ("row,label\n7,b\n", "`7` is not a row of t.csv"),
        ("line,label\n1,b\n", "there is no column `row`"),
    ] {
        fs::write(dir.path().join("c.csv"), corrections).unwrap();
        let found = refuse(dir.path(), "correct t.csv --label class --with c.csv -o o.csv");
        assert!(found.contains(said), "{corrections}: {found}");
        assert!(!dir.path().join("o.csv").exists());
    }
    let found = refuse(dir.path(), "correct t.csv --label z --with c.csv -o o.csv");
    assert!(found.contains("there is no column `z`"), "{found}");
    fs::write(dir.path().join("c.csv"), "row,label\n1,b\n").unwrap();
    let found = refuse(dir.path(), "correct t.csv --label class --with c.csv --first 2 -o o.csv");
    assert!(found.contains("--first 2: c.csv has fewer rows (1)"), "{found}");
    succeed(dir.path(), "correct t.csv --label class --with c.csv --first 1 -o o.csv");
}

/// The full cycle: audit, review the labels that the classifier contradicts, write the corrected table.
#[test]
fn contradicted_labels_are_reviewed_in_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = "x,y,class\n".to_owned();
    let class = |i: usize| if i % 20 >= 10 { "high" } else { "low" };
    let known = |i: usize| if i % 40 == 7 { "high" } else { class(i) };
    for i in 0..200 {
        text.push_str(&format!("{},{},{}\n", i % 20, (i * 7) % 13, known(i)));
    }
    fs::write(dir.path().join("t.csv"), &text).unwrap();
    succeed(dir.path(), "audit t.csv --label class -o r.csv");
    let ranking = read(dir.path(), "r.csv");
    let contradicted: Vec<usize> = ranking
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .filter(|cells: &Vec<&str>| cells[2] != cells[3])
        .map(|cells| cells[1].parse().unwrap())
        .collect();
    assert!((5..20).contains(&contradicted.len()), "{ranking}");
    let label = ["label", "t.csv", "--known", "class", "--review", "r.csv", "-o", "a.csv"];
    let mut session = crate::support::program(dir.path())
        .args(label)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // A suggestion that is right is confirmed, and the others are corrected.
    let suggests = |row: usize| if known(row) == "high" { "low" } else { "high" };
    let answer = |row: &usize| match class(*row) == suggests(*row) {
        true => "\n".to_owned(),
        false => format!("{}\n", class(*row)),
    };
    let answers: String = contradicted.iter().map(answer).collect();
    assert!(answers.contains("\n\n") && answers.contains("low\n"), "{answers:?}");
    std::io::Write::write_all(&mut session.stdin.take().unwrap(), answers.as_bytes()).unwrap();
    let output = session.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.matches("known label: ").count(), contradicted.len(), "{said}");
    // The questions come in the order of the ranking, with its suggestions.
    let asked: Vec<usize> = said
        .lines()
        .filter_map(|line| line.strip_prefix("row "))
        .map(|row| row.trim().parse().unwrap())
        .collect();
    assert_eq!(asked, contradicted);
    assert_eq!(said.matches("? suggested > ").count(), contradicted.len(), "{said}");
    let last = format!("{0} of {0} rows reviewed, 5 labels changed", contradicted.len());
    assert!(said.contains(&last), "{said}");
    // The advice to stop concerns the whole pool, so a review does not give it.
    assert!(!said.contains("if you stop now"), "{said}");
    let answers = read(dir.path(), "a.csv");
    assert_eq!(answers.matches(",known,").count(), 200 - contradicted.len());
    succeed(dir.path(), "correct t.csv --label class --with a.csv -o clean.csv");
    for (i, line) in read(dir.path(), "clean.csv").lines().skip(1).enumerate() {
        assert_eq!(line.rsplit(',').next(), Some(class(i)), "row {i}");
    }
    // A session that already has the labels does not ask about these rows.
    succeed(dir.path(), "label t.csv --known class --session s.jsonl --export -o k.csv");
    let again = run_line(
        dir.path(),
        "label t.csv --known class --review r.csv --session s.jsonl --export -o k2.csv",
    );
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("a known label in this session already"), "{said}");
    fs::write(dir.path().join("bad.csv"), "row\n200\n").unwrap();
    let bad = refuse(dir.path(), "label t.csv --known class --review bad.csv --session n.jsonl");
    assert!(bad.contains("`200` is not a row of the pool"), "{bad}");
}

/// A review asks about the rows that it names, also if other rows have no label. Rows that it names count, whether or not
/// they have a known label.
#[test]
fn a_review_asks_only_about_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let label = |i: usize| if i % 5 == 4 { "" } else { ["a", "b"][i % 2] };
    let rows: String = (0..30).map(|i| format!("{i},{},{}\n", i * i % 11, label(i))).collect();
    fs::write(dir.path().join("t.csv"), format!("x,z,y\n{rows}")).unwrap();
    fs::write(dir.path().join("r.csv"), "row,label,suggested\n7,b,a\n4,,b\n2,a,b\n").unwrap();
    let mut command = crate::support::program(dir.path());
    command.args("label t.csv --known y --review r.csv -o a.csv".split(' '));
    let stdio = std::process::Stdio::piped;
    let mut child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"\n\na\nq\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(
        said.contains("5 rows without a label, which are not reviewed, are not asked"),
        "{said}"
    );
    assert!(said.contains("3 of 3 rows reviewed, 1 label changed"), "{said}");
    assert!(said.contains("every row to review has an answer"), "{said}");
    let answers = read(dir.path(), "a.csv");
    for line in ["7,a,confirmed", "4,b,confirmed", "2,a,corrected"] {
        assert!(answers.contains(line), "{line}: {answers}");
    }
}

/// A row that was skipped before the review has no suggestion, so a model predicts it.
#[test]
fn a_skipped_row_has_no_suggestion() {
    let dir = tempfile::tempdir().unwrap();
    let label = |i: usize| if i == 9 { "" } else { ["a", "b"][i % 2] };
    let rows: String = (0..30).map(|i| format!("{i},{},{}\n", i % 7, label(i))).collect();
    fs::write(dir.path().join("t.csv"), format!("x,z,y\n{rows}")).unwrap();
    fs::write(dir.path().join("r.csv"), "row,label,suggested\n7,b,a\n").unwrap();
    let typed = |line: &str, input: &str| {
        let stdio = std::process::Stdio::piped;
        let mut command = crate::support::program(dir.path());
        command.args(line.split(' ')).stdin(stdio()).stdout(stdio()).stderr(stdio());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    typed("label t.csv --known y", "s\nq\n");
    let said = typed("label t.csv --known y --review r.csv", "q\n");
    assert!(said.contains("row 9, skipped before") && !said.contains("suggested"), "{said}");
}

/// A row whose suggestion is its own label in another spelling is not reviewed.
#[test]
fn another_spelling_of_a_label_is_not_reviewed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), "x,y\n1,1.0\n2,0\n3,1.0\n4,0\n").unwrap();
    fs::write(dir.path().join("r.csv"), "row,label,suggested\n0,1.0,1\n1,0,1\n").unwrap();
    let run = run_line(dir.path(), "label t.csv --known y --review r.csv --export -o k.csv");
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("1 row to review"), "{said}");
}

/// Predictions and uncertain rows in the output of `label` do not replace labels.
/// A table or a ranking in another order is refused, even if the first lines happen to agree.
#[test]
fn other_orders_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_table(dir);
    succeed(dir, "audit t.csv --label class --drop note --drop id --learner logistic -o r.csv");
    let table = read(dir, "t.csv");
    let (header, rows) = table.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    let ranking = read(dir, "r.csv");
    let first = ranking.lines().nth(1).unwrap().split(',').nth(1).unwrap();
    let first: usize = first.parse().unwrap();
    // All rows except the first row of the ranking are reversed.
    let kept = rows.remove(first);
    rows.reverse();
    rows.insert(first, kept);
    fs::write(dir.join("moved.csv"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let said = refuse(dir, "correct moved.csv --label class --with r.csv --first 1 -o c.csv");
    assert!(said.contains("has the label") && said.contains("was the row moved"), "{said}");

    let mut lines: Vec<&str> = ranking.lines().collect();
    lines[1..].sort_by_key(|line| line.split(',').nth(1).unwrap().parse::<usize>().unwrap());
    fs::write(dir.join("sorted.csv"), lines.join("\n")).unwrap();
    let said = refuse(dir, "correct t.csv --label class --with sorted.csv --first 2 -o c.csv");
    assert!(said.contains("sort the file by its column `rank`"), "{said}");

    // Labels that the session knew must be those of the table.
    fs::write(
        dir.join("answers.csv"),
        "row,label,source\n3,yes,corrected\n0,no,known\n10,yes,known\n",
    )
    .unwrap();
    succeed(dir, "correct t.csv --label class --with answers.csv -o c.csv");
    let said = refuse(dir, "correct moved.csv --label class --with answers.csv -o d.csv");
    assert!(said.contains("was the row moved"), "{said}");
}

/// A line of units is part of the header for `label`, but not if the column of labels must have its plain name.
#[test]
fn a_table_with_a_line_of_units_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let rows = "3,0,lo\n9,7,hi\n2,3,lo\n8,9,hi\n1,4,lo\n7,2,hi\n";
    fs::write(dir.join("c.csv"), "row,label\n0,hi\n").unwrap();
    fs::write(dir.join("t.csv"), format!("len,wid,y\ncm,mm,\n{rows}")).unwrap();
    let said = refuse(dir, "correct t.csv --label y --with c.csv -o o.csv");
    assert!(said.contains("other commands read 2 lines as the header"), "{said}");
    fs::write(dir.join("t.csv"), format!("len,wid,y\n{rows}")).unwrap();
    succeed(dir, "correct t.csv --label y --with c.csv -o o.csv");
    assert!(read(dir, "o.csv").starts_with("len,wid,y\n3,0,hi\n9,7,hi\n"));
}

#[test]
fn only_answers_of_people_replace_labels() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), "x,y\n1,a\n2,a\n3,b\n4,b\n").unwrap();
    let answers = "row,label,source,probability\n0,b,corrected,\n1,b,predicted,0.9\n2,,uncertain,\n3.0,b,confirmed,\n";
    fs::write(dir.path().join("a.csv"), answers).unwrap();
    let done = run_line(dir.path(), "correct t.csv --label y --with a.csv");
    assert_eq!(String::from_utf8(done.stdout).unwrap(), "x,y\n1,b\n2,a\n3,b\n4,b\n");
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("a.csv: 1 row predicted; these rows keep their label"), "{said}");
    assert!(said.contains("1 row uncertain") && said.contains("1 of 4 labels changed"), "{said}");
}

/// Only the name of the label column shows that there is a header, because the header looks like data. The header is
/// found both times that the table is read.
#[test]
fn a_header_that_only_the_label_shows_is_found_twice() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..40).map(|i| format!("text {i},{}\n", ["spam", "ham"][i % 2])).collect();
    fs::write(dir.path().join("t.csv"), format!("message,spam\n{rows}")).unwrap();
    fs::write(dir.path().join("c.csv"), "row,label\n0,ham\n").unwrap();
    succeed(dir.path(), "correct t.csv --label spam --with c.csv -o o.csv");
    assert!(read(dir.path(), "o.csv").starts_with("message,spam\ntext 0,ham\ntext 1,ham\n"));
}

/// Cells of columns that are left out, or that `correct` need not read, are not checked.
#[test]
fn columns_that_are_not_used_are_not_checked() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..60)
        .map(|i| {
            let id = if i == 33 { "C33b".to_owned() } else { i.to_string() };
            format!("{id},{},{}\n", i % 20, ["p", "q"][usize::from(i % 20 < 10)])
        })
        .collect();
    fs::write(dir.path().join("t.csv"), format!("id,x,y\n{rows}")).unwrap();
    assert!(refuse(dir.path(), "fit t.csv --label y -o m.json").contains("C33b"));
    succeed(dir.path(), "fit t.csv --label y --drop id --learner logistic -o m.json");
    succeed(dir.path(), "audit t.csv --label y --drop id --learner logistic -o r.csv");
    fs::write(dir.path().join("c.csv"), "row,label\n0,q\n").unwrap();
    succeed(dir.path(), "correct t.csv --label y --with c.csv -o o.csv");
    assert!(read(dir.path(), "o.csv").contains("C33b,13,p"));
}

/// A ranking with a column of ids is refused for a table whose rows have been sorted since.
#[test]
fn a_ranking_of_other_rows_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    write_table(dir.path());
    succeed(
        dir.path(),
        "audit t.csv --label class --drop note --keep id --learner logistic -o r.csv",
    );
    let text = read(dir.path(), "t.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let turned: String = rows.lines().rev().map(|line| format!("{line}\n")).collect();
    let turned = format!("{header}\n{turned}");
    fs::write(dir.path().join("sorted.csv"), &turned).unwrap();
    let label = "--known class --drop note --review r.csv --session s.jsonl --export -o k.csv";
    for line in [
        "correct sorted.csv --label class --with r.csv --first 2 -o c.csv",
        &format!("label sorted.csv {label}"),
    ] {
        let found = refuse(dir.path(), line);
        assert!(found.contains("r.csv, line 2, column `id`: "), "{line}: {found}");
        assert!(found.contains(" in sorted.csv, line "), "{found}");
        assert!(found.contains("pass the table to which r.csv belongs"), "{found}");
    }
    assert_eq!(read(dir.path(), "sorted.csv"), turned);
    assert!(!dir.path().join("c.csv").exists() && !dir.path().join("k.csv").exists());
    succeed(dir.path(), "correct t.csv --label class --with r.csv --first 2 -o c.csv");
    succeed(dir.path(), &format!("label t.csv {label}"));
    // Without ids, the label of a row shows that it is a different row.
    fs::write(dir.path().join("r.csv"), "row,label,suggested\n8,no,no\n7,no,yes\n").unwrap();
    let line = "label t.csv --known class --drop note --review r.csv --session n.jsonl";
    let found = refuse(dir.path(), line);
    let said = "r.csv, line 3: row 7 has the label `no` here, but `yes` in t.csv, line 9";
    assert!(found.contains(said), "{found}");
}

/// Corrections may name rows by their ids, whatever the order of the table.
#[test]
fn corrections_are_found_by_ids() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_table(dir);
    let table = read(dir, "t.csv");
    let mut lines: Vec<&str> = table.lines().collect();
    lines[1..].reverse();
    fs::write(dir.join("turned.csv"), lines.join("\n") + "\n").unwrap();
    fs::write(dir.join("fixes.csv"), "id,class\n041,no\n007,no\n").unwrap();
    for name in ["t", "turned"] {
        let line =
            format!("correct {name}.csv --label class --with fixes.csv --id id -o {name}2.csv");
        let output = run_line(dir, &line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said, "2 of 60 labels changed; 0 corrections equal to the old label\n");
        let expected = read(dir, &format!("{name}.csv"))
            .replace("007;7.50;yes", "007;7.50;no")
            .replace("041;1.50;yes", "041;1.50;no");
        assert_eq!(read(dir, &format!("{name}2.csv")), expected);
    }
    let said = refuse(dir, "correct t.csv --label class --with fixes.csv -o x.csv");
    let part = "; add the numbers of the data rows, counted from 0, or pass --id";
    assert!(said.contains("there is no column `row`") && said.contains(part), "{said}");
    fs::write(dir.join("more.csv"), "id,label\n007,no\n7,no\n").unwrap();
    let said = refuse(dir, "correct t.csv --label class --with more.csv --id id -o x.csv");
    assert!(
        said.contains("more.csv, line 3, column `id`: t.csv has no row with the id `7`"),
        "{said}"
    );
    fs::write(dir.join("twice.csv"), table.replace("008;", "007;")).unwrap();
    let said = refuse(dir, "correct twice.csv --label class --with fixes.csv --id id -o x.csv");
    assert!(said.contains("the id `007` is already used at twice.csv, line 9"), "{said}");
    assert!(!dir.join("x.csv").exists());
}
