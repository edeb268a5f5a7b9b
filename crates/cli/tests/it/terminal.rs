//! Output on a terminal: colours, line breaks between words, tables that fit, answers in a labelling session, and
//! progress.

use crate::support::{pool, program, succeed, table};
use nix::pty::{Winsize, openpty};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

/// A terminal without colours and without progress.
const PLAIN: &[(&str, &str)] = &[("TERM", "dumb")];

/// Runs a command line on a terminal with this number of columns, types `input`, and returns what the terminal shows,
/// without carriage returns.
fn on_terminal(
    folder: &Path,
    line: &str,
    columns: u16,
    environment: &[(&str, &str)],
    input: &str,
) -> String {
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(&size, None).unwrap();
    let slave = File::from(terminal.slave);
    let mut command = program(folder);
    command.args(line.split(' ')).env_remove("NO_COLOR").env("TERM", "xterm");
    command.envs(environment.iter().copied());
    command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.spawn().unwrap();
    // The command has copies of the terminal; the output ends when all of them are closed.
    drop(command);
    let mut master = File::from(terminal.master);
    master.write_all(input.as_bytes()).unwrap();
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    // Linux reports the end of the output of a terminal as an error.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
    }
    child.wait().unwrap();
    String::from_utf8(shown).unwrap().replace('\r', "")
}

/// Returns the lines. None of them may be wider than `columns`.
fn lines_within(text: &str, columns: usize) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    for line in &lines {
        assert!(line.chars().count() <= columns, "{line}");
    }
    lines
}

/// Writes ten classes with long names to long.csv and fits a model to them.
fn long_classes(folder: &Path) {
    let words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let mut text = "a,b,class\n".to_owned();
    for i in 0..400 {
        let angle = f64::from(i % 10) * 0.628 + f64::from(i * 37 % 101) / 200.0;
        let name = words[i as usize % 10];
        writeln!(text, "{},{},a very long name of class {name}", angle.cos(), angle.sin()).unwrap();
    }
    fs::write(folder.join("long.csv"), text).unwrap();
    succeed(folder, "fit long.csv --label class --learner logistic -o long.json");
}

/// Errors and notes are coloured only on a terminal, and only if the environment permits it.
#[test]
fn errors_and_notes_are_coloured_on_a_terminal_only() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), "1,2\n3,4\n5,7\n").unwrap();
    let shown = |line: &str, environment: &[(&str, &str)]| {
        on_terminal(dir.path(), line, 80, environment, "")
    };
    let error = shown("transform none.csv", &[]);
    assert!(error.contains("\u{1b}[31m\u{1b}[1merror:\u{1b}[0m none.csv"), "{error:?}");
    let note = shown("transform t.csv", &[]);
    assert!(note.contains("\u{1b}[36m\u{1b}[1mnote:\u{1b}[0m t.csv"), "{note:?}");
    for environment in [PLAIN, &[("NO_COLOR", "1"), ("TERM", "dumb")]] {
        for line in ["transform none.csv", "transform t.csv"] {
            let text = shown(line, environment);
            assert!(!text.contains('\u{1b}') && text.contains(": "), "{text:?}");
        }
    }
    // NO_COLOR forbids colours but not the progress line, which moves the cursor.
    let text = shown("transform none.csv", &[("NO_COLOR", "1")]);
    assert!(text.contains("error: none.csv"), "{text:?}");
    let mut piped = program(dir.path());
    piped.args(["transform", "none.csv"]).env_remove("NO_COLOR").env("TERM", "xterm");
    let piped = piped.output().unwrap();
    assert!(piped.stderr.starts_with(b"error: none.csv"));
}

/// Long lines are broken between words and continue below the first value. In a pipe, a line is not broken.
#[test]
fn long_lines_break_between_words_on_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(300)).unwrap();
    let fit = "fit t.csv --label y -o m.json --force";
    let text = on_terminal(dir.path(), fit, 60, PLAIN, "");
    let lines = lines_within(&text, 60);
    let at = lines.iter().position(|line| line.starts_with("guarantee   this interval")).unwrap();
    assert!(lines[at + 1].starts_with(&format!("{}{}", " ".repeat(12), "with")), "{text}");
    let piped = succeed(dir.path(), fit);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&text), words(&piped));
    assert!(piped.lines().any(|line| line.len() > 80));
    // No line breaks are added to JSON.
    let json = on_terminal(dir.path(), &format!("{fit} --json"), 40, PLAIN, "");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rows"], 300);
}

/// The tables of `evaluate` fit into 80 columns in a pipe, and into the width of a terminal. The numbers of a column
/// have the same number of decimals and are aligned.
#[test]
fn the_tables_of_an_evaluation_fit() {
    let dir = tempfile::tempdir().unwrap();
    long_classes(dir.path());
    let evaluate = "evaluate long.json long.csv";
    let piped = succeed(dir.path(), evaluate);
    lines_within(&piped, 80);
    // Rows and columns are numbered, and the names differ at their ends.
    for row in [" 1 a very lon…lass eight", "true \\ predicted           1   2 "] {
        assert!(piped.contains(row), "{row}: {piped}");
    }
    let narrow = on_terminal(dir.path(), evaluate, 50, PLAIN, "");
    assert!(lines_within(&narrow, 50).len() > piped.lines().count());
    let wide = on_terminal(dir.path(), evaluate, 400, PLAIN, "");
    // With enough space, a class has one line of rates and averages.
    assert_eq!([&piped, &wide].map(|text| text.matches("\nclass ").count()), [2, 1]);
    let mut lines = piped.lines().skip_while(|line| !line.starts_with("class "));
    let header = lines.next().unwrap();
    let rows: Vec<&str> = lines.take(10).collect();
    // "recall" ends where its numbers end, and each has one decimal and a per cent sign.
    let end = header.find("recall").unwrap() + "recall".len();
    for row in rows {
        let upto: String = row.chars().take(end).collect();
        let number = upto.split_whitespace().rev().nth(1).unwrap();
        assert!(upto.ends_with(" %") && number.split('.').nth(1).unwrap().len() == 1, "{row}");
    }
}

/// A few short names are shown in full.
#[test]
fn short_names_of_classes_stay() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(200)).unwrap();
    succeed(dir.path(), "fit t.csv --label y --learner logistic -o m.json");
    let text = succeed(dir.path(), "evaluate m.json t.csv");
    assert!(lines_within(&text, 80).iter().any(|line| line.starts_with("true \\ predicted ")));
    assert!(text.contains("95 % interval     AUC  avg. precision\nn  "), "{text}");
}

/// A row is shown in columns and the prediction in bold; the beginning of a name is accepted as an answer.
#[test]
fn a_session_on_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let columns: Vec<String> = (0..9).map(|j| format!("column {j}")).collect();
    let mut text = columns.join(",") + "\n";
    for i in 0..12 {
        let cells: Vec<String> = (0..9).map(|j| format!("{}.25", i * j * 37 % 1000)).collect();
        text.push_str(&(cells.join(",") + "\n"));
    }
    fs::write(dir.path().join("pool.csv"), text).unwrap();
    let label = "label pool.csv --classes malignant,benign,Mammal -o out.csv";
    let text = on_terminal(dir.path(), label, 60, &[], "ma\nmal\nq\n");
    assert!(text.contains("or the beginning of a name"), "{text:?}");
    assert!(text.contains("\u{1b}[1mmalignant\u{1b}[0m? "), "{text:?}");
    assert!(text.contains("\u{1b}[1m1\u{1b}[0m malignant"), "{text:?}");
    // Two columns fit; no line ends within a number.
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  column")).collect();
    assert!(lines[0].starts_with("  column 0  ") && lines[0].contains("    column 1  "));
    for line in &lines {
        assert!(line.len() <= 60 && line.ends_with(".25"), "{line:?}");
    }
    assert_eq!(lines.iter().map(|line| line.matches("column").count()).sum::<usize>() % 9, 0);
    let written = fs::read_to_string(dir.path().join("out.csv")).unwrap();
    // `ma` is the beginning of `malignant` only, because `Mammal` begins with a capital.
    assert_eq!(written.matches(",malignant,").count(), 2, "{written}");
    let again = on_terminal(dir.path(), "label pool.csv", 60, PLAIN, "MA\nq\n");
    assert!(again.contains("\"MA\" is the beginning of malignant, Mammal"), "{again}");
}

/// A simulation shows the percentage that is done and the time left.
#[test]
fn a_simulation_shows_its_progress() {
    let dir = tempfile::tempdir().unwrap();
    let truth = pool(dir.path(), 200);
    let rows = fs::read_to_string(dir.path().join("pool.csv")).unwrap();
    let rows = rows.lines().skip(1).zip(&truth);
    let rows: String = rows.map(|(row, class)| format!("{row},{class}\n")).collect();
    fs::write(dir.path().join("known.csv"), format!("x,y,class\n{rows}")).unwrap();
    let simulate = "label known.csv --label class --simulate";
    let text = on_terminal(dir.path(), simulate, 80, &[], "");
    assert!(text.contains("simulating ") && text.contains(" %, about "), "{text:?}");
    assert!(!on_terminal(dir.path(), simulate, 80, PLAIN, "").contains("simulating"));
}
