//! `halfspaces label` in the terminal, its session file and its exports.

use crate::support::{Draws, good, labels_of_session, npy, pool, program, refused};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

/// Number of times that a session is killed.
const KILLS: usize = 50;

const NEW: [&str; 6] = ["label", "pool.csv", "--classes", "in,out", "--session", "s.jsonl"];

/// A person at a terminal.
struct Terminal {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Terminal {
    fn start(folder: &Path, args: &[&str]) -> Terminal {
        let mut command = program(folder);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Terminal { child, input, output: BufReader::new(output) }
    }

    /// The row of the next question and the predicted class; `None` at the end.
    fn question(&mut self) -> Option<(usize, String)> {
        let mut text = Vec::new();
        loop {
            let mut byte = [0];
            if self.output.read(&mut byte).unwrap() == 0 {
                return None;
            }
            text.push(byte[0]);
            if text.ends_with(b"% sure > ") || text.ends_with(b"label yet > ") {
                break;
            }
            if text.ends_with(b"Enter or q ends > ") {
                self.say("q");
            }
            // The answers to look at again.
            if text.ends_with(b"Enter ends > ") {
                self.say("");
            }
        }
        let text = String::from_utf8(text).unwrap();
        let row = text.lines().rev().find_map(|line| line.strip_prefix("row ")).unwrap();
        let row = row.split([':', ',']).next().unwrap().parse().unwrap();
        let class = text.lines().last().unwrap().split('?').next().unwrap().to_owned();
        Some((row, class))
    }

    fn say(&mut self, text: &str) {
        // The program may have been killed.
        let _ = writeln!(self.input, "{text}");
    }
}

#[test]
fn a_pool_is_labelled_in_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    let truth = pool(folder.path(), 80);
    let mut corrections = 0;
    for run in 0..2 {
        let args = [&NEW[..], &["-o", "out.csv", "--force"]].concat();
        // The second run takes classes and answers from the session.
        let args = if run == 0 {
            args
        } else {
            args.iter().filter(|a| !["--classes", "in,out"].contains(a)).copied().collect()
        };
        let mut terminal = Terminal::start(folder.path(), &args);
        let mut answers = 0;
        while let Some((row, class)) = terminal.question() {
            if run == 0 && answers == 30 {
                terminal.say("q");
                continue;
            }
            corrections += usize::from(class != truth[row]);
            // Presses Enter if the prediction is correct, and otherwise types a key or a name.
            let key = if truth[row] == "in" { "1" } else { "out" };
            terminal.say(if class == truth[row] { "" } else { key });
            answers += 1;
        }
        assert!(terminal.child.wait().unwrap().success());
        assert_eq!(answers, if run == 0 { 30 } else { 50 });
    }
    let session = labels_of_session(&folder.path().join("s.jsonl"));
    assert!(session.iter().all(|(row, class)| class == truth[*row]) && session.len() == 80);
    let out = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "row,label,source,probability");
    assert_eq!(out.matches(",corrected,").count(), corrections);
    for (row, line) in lines[1..].iter().enumerate() {
        assert!(line.starts_with(&format!("{row},{},", truth[row])), "{line}");
    }
    // The number of corrections is less than half of the number of rows of the smaller class.
    assert!(corrections < 20, "{corrections}");
}

#[test]
fn undo_skip_and_review() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 12);
    let mut terminal = Terminal::start(folder.path(), &NEW);
    let (first, _) = terminal.question().unwrap();
    terminal.say("in");
    let (second, _) = terminal.question().unwrap();
    terminal.say("s");
    let (third, _) = terminal.question().unwrap();
    assert!(second != third);
    terminal.say("nonsense");
    assert_eq!(terminal.question().unwrap().0, third);
    terminal.say("u");
    assert_eq!(terminal.question().unwrap().0, second, "a skip is undone");
    terminal.say("u");
    assert_eq!(terminal.question().unwrap().0, first);
    terminal.say("u");
    assert_eq!(terminal.question().unwrap().0, first, "there is nothing left to undo");
    terminal.say("out");
    let (open, _) = terminal.question().unwrap();
    terminal.say("r\n1 in\n");
    assert_eq!(terminal.question().unwrap().0, open, "a change leaves the question open");
    terminal.say("s");
    let mut rows = vec![first];
    while let Some((row, _)) = terminal.question() {
        rows.push(row);
        terminal.say("");
    }
    assert_eq!(rows.last(), Some(&open), "skipped rows come last");
    rows.sort_unstable();
    assert!(rows.into_iter().eq(0..12));
    let labels = good(
        folder.path(),
        &[&NEW[..2], &["--session", "s.jsonl", "--export", "-o", "o.jsonl"]].concat(),
    );
    assert_eq!(labels, "");
    let text = fs::read_to_string(folder.path().join("o.jsonl")).unwrap();
    let of_first = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_first = of_first.into_iter().find(|line| line["row"] == first).unwrap();
    assert_eq!(of_first["label"], "in");
}

/// The output of the command of [`NEW`] if a person types `input`.
fn said(folder: &Path, input: &str) -> String {
    let mut command = program(folder);
    command.args(NEW).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    write!(child.stdin.take().unwrap(), "{input}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// The most recent answer can be undone, and it can be changed like all others, even in a finished session.
#[test]
fn a_finished_session_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 3);
    let said = |input: &str| said(folder.path(), input);
    let labels = || labels_of_session(&folder.path().join("s.jsonl")).into_values();
    let first = said("in\nin\nin\nu\nout\nin\n\n");
    assert!(first.contains("every row has an answer; r lists the last answers"), "{first}");
    assert_eq!(labels().filter(|class| class == "out").count(), 1);
    assert_eq!(first.matches("undone: the answer `in` about row ").count(), 1, "{first}");
    assert!(said("r\n1 out\n2 out\n\nq\n").contains("3 of 3 labelled"));
    assert_eq!(labels().filter(|class| class == "out").count(), 2);
    // The last answer is undone, even if another one was changed later.
    let session = fs::read_to_string(folder.path().join("s.jsonl")).unwrap();
    let mut answers = session.lines().rev().filter(|line| line.contains("\"answer\""));
    let last: Value = serde_json::from_str(answers.next().unwrap()).unwrap();
    let undone = said("r\n3 out\n\nu\nq\n\n");
    let part = format!("undone: the answer `out` about row {}\n", last["row"]);
    assert!(undone.contains(&part), "{part} {undone}");
}

/// An uncertain row is not asked about again and has no label in the output. The person can give it a label in the
/// second look at the end.
#[test]
fn uncertain_rows_are_exported_and_looked_at_again() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 12);
    let said = |input: &str| said(folder.path(), input);
    let export = || {
        let export = ["--session", "s.jsonl", "--export", "--force", "-o", "o.csv"];
        good(folder.path(), &[&NEW[..2], &export].concat());
        table(folder.path(), "o.csv")
    };
    let first = said("?\nin\nout\n?\nu\n?\nq\n\n");
    assert!(first.contains("uncertain (2 of 2):\n  1  row "), "{first}");
    let rows = export();
    let uncertain: Vec<&Vec<String>> = rows.iter().filter(|row| row[2] == "uncertain").collect();
    assert_eq!((rows.len(), uncertain.len()), (4, 2), "{rows:?}");
    assert!(uncertain.iter().all(|row| row[1].is_empty()));
    let json = ["--session", "s.jsonl", "--export", "-o", "o.json"];
    good(folder.path(), &[&NEW[..2], &json].concat());
    let text = fs::read_to_string(folder.path().join("o.json")).unwrap();
    assert_eq!(text.matches("\"annotations\":[{\"result\":[]}]").count(), 2, "{text}");
    // All other rows are asked about; the last uncertain row gets a class.
    let last = said(&("out\n".repeat(8) + "out\n\n1 out\n\n"));
    assert!(last.contains("every row has an answer; r lists"), "{last}");
    assert!(last.contains("uncertain (1 of 1):") && last.contains("11 of 12 labelled"), "{last}");
    let rows = export();
    assert_eq!((rows.len(), rows.iter().filter(|row| row[2] == "uncertain").count()), (12, 1));
}

/// The sessions of two annotators are merged: first with a review of the disputed rows, then without questions.
#[test]
fn sessions_of_several_annotators_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let truth = pool(folder.path(), 12);
    let answers = |name: &str, answer: &dyn Fn(usize) -> &'static str| {
        let start = ["label", "pool.csv", "--classes", "in,out", "--annotator", name];
        let mut terminal = Terminal::start(folder.path(), &start);
        while let Some((row, _)) = terminal.question() {
            terminal.say(answer(row));
        }
    };
    // Both agree on all rows except two; a third row is uncertain.
    answers("ann", &|row| if row == 3 { "?" } else { truth[row] });
    answers("bob", &|row| match (row, truth[row]) {
        (5 | 7, "in") => "out",
        (5 | 7, _) => "in",
        (_, class) => class,
    });
    let merge = [
        "label",
        "pool.csv",
        "--merge",
        "pool.csv.ann.session.jsonl",
        "pool.csv.bob.session.jsonl",
    ];
    let export = |name: &str| {
        good(folder.path(), &[&merge[..], &["--export", "-o", name]].concat());
        table(folder.path(), name)
    };
    let before = export("before.csv");
    assert_eq!(before.len(), 12);
    let header = fs::read_to_string(folder.path().join("before.csv")).unwrap();
    assert!(
        header.starts_with("row,label,source,probability,label by ann,label by bob\n"),
        "{header}"
    );
    for (row, cells) in before.iter().enumerate() {
        let (label, source) = match row {
            5 | 7 => ("", "tied"),
            3 => (truth[3], "most"),
            _ => (truth[row], "agreed"),
        };
        assert_eq!((cells[1].as_str(), cells[2].as_str()), (label, source), "{cells:?}");
        assert_eq!(cells[4], if row == 3 { "?" } else { truth[row] });
    }
    let (_, notes) = typed(folder.path(), &merge[1..], "q\n");
    let said = "2 annotators (ann, bob): all labels agree in 9 of 11 rows with at least two labels; Cohen's kappa";
    assert!(notes.contains(said) && notes.contains("; 2 tied, 0 only uncertain"), "{notes}");
    let mut terminal = Terminal::start(folder.path(), &merge);
    let mut asked = Vec::new();
    while let Some((row, _)) = terminal.question() {
        asked.push(row);
        terminal.say(truth[row]);
    }
    asked.sort_unstable();
    assert_eq!(asked, [3, 5, 7]);
    for (row, cells) in export("after.csv").iter().enumerate() {
        let source = if [3, 5, 7].contains(&row) { "reviewed" } else { "agreed" };
        assert_eq!((cells[1].as_str(), cells[2].as_str()), (truth[row], source), "{cells:?}");
    }
    let twice =
        [&merge[..4], &merge[3..4], &["--export", "-o", "x.csv", "--session", "x.jsonl"]].concat();
    assert!(refused(folder.path(), &twice).contains("two annotators with the name \"ann\""));
    let other = ["label", "pool.csv", "--annotator", "cid", "--session", merge[3]];
    assert!(refused(folder.path(), &other).contains("this is the session of ann"));
    for name in ["a/b", " ", "a\nb"] {
        let nameless = ["label", "pool.csv", "--classes", "a,b", "--annotator", name];
        assert!(refused(folder.path(), &nameless).contains("must not be empty or contain"));
    }
}

/// Annotators may spell a class differently. The spelling of the first session is used, and a note says so.
#[test]
fn sessions_with_other_spellings_of_the_classes_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let truth = pool(folder, 4);
    for (name, classes) in [("ann", ["0", "1"]), ("bob", ["0.0", "1.0"])] {
        let named = classes.join(",");
        let start = ["label", "pool.csv", "--classes", &named, "--annotator", name];
        let mut terminal = Terminal::start(folder, &start);
        while let Some((row, _)) = terminal.question() {
            terminal.say(classes[usize::from(truth[row] == "in")]);
        }
    }
    let merge = ["--merge", "pool.csv.ann.session.jsonl", "pool.csv.bob.session.jsonl"];
    let export = [&["pool.csv"], &merge[..], &["--export", "-o", "m.csv"]].concat();
    let (code, said) = typed(folder, &export, "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("the class `1.0` counts as `1`, as in an earlier session"), "{said}");
    let merged = table(folder, "m.csv");
    for (row, cells) in merged.iter().enumerate() {
        let label = if truth[row] == "in" { "1" } else { "0" };
        assert_eq!((cells[1].as_str(), cells[2].as_str()), (label, "agreed"), "{cells:?}");
    }
    assert_eq!(merged.len(), 4);
}

/// Classes that differ only in case are different, so the annotators disagree. A note says that the names look alike.
#[test]
fn merged_classes_that_look_alike_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pool(folder, 4);
    for (name, classes) in [("ann", "in,out"), ("bob", "In,out")] {
        let start = ["label", "pool.csv", "--classes", classes, "--annotator", name];
        let mut terminal = Terminal::start(folder, &start);
        while terminal.question().is_some() {
            terminal.say(classes.split(',').next().unwrap());
        }
    }
    let merge = ["--merge", "pool.csv.ann.session.jsonl", "pool.csv.bob.session.jsonl"];
    let export = [&["pool.csv"], &merge[..], &["--export", "-o", "m.csv"]].concat();
    let (code, said) = typed(folder, &export, "");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("note: --merge: `in` (4) and `In` (4) count as different classes"),
        "{said}"
    );
}

/// A column that contains only names of classes probably contains the labels. Several columns of numbers with this
/// property are features.
#[test]
fn a_column_of_class_names_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = |header: &str, cells: fn(usize) -> String| {
        let rows: String = (0..12).map(|i| format!("{}.5,{}\n", i * 7 % 11, cells(i))).collect();
        fs::write(folder.join("t.csv"), format!("{header}\n{rows}")).unwrap();
        let session = "s.session.jsonl";
        drop(fs::remove_file(folder.join(session)));
        let args = ["t.csv", "--classes", "0,1", "--session", session];
        typed(folder, &args, "q\n").1
    };
    let noted = "note: column `y` contains only names of classes and is used as a feature";
    let said = rows("x,y", |i| (i % 2).to_string());
    assert!(said.contains(noted), "{said}");
    let said = rows("x,y", |i| (i % 3).to_string());
    assert!(!said.contains("is used as a feature"), "{said}");
    let said = rows("x,y,z", |i| format!("{},{}", i % 2, i / 2 % 2));
    assert!(!said.contains("is used as a feature"), "{said}");
}

/// Another annotator may have had the same rows with the columns in another order.
#[test]
fn columns_in_another_order_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: Vec<(usize, usize)> = (0..9).map(|i| (i / 3, i % 3)).collect();
    for (name, head, turned) in [("p.csv", "x,y", false), ("q.csv", "y,x", true)] {
        let line = |(x, y): &(usize, usize)| match turned {
            true => format!("{y},{x}\n"),
            false => format!("{x},{y}\n"),
        };
        let lines: String = rows.iter().map(line).collect();
        fs::write(folder.join(name), format!("{head}\n{lines}")).unwrap();
        let args = ["label", name, "--classes", "up,down", "--session", &format!("{name}.jsonl")];
        let mut terminal = Terminal::start(folder, &args);
        while let Some((row, _)) = terminal.question() {
            terminal.say(if rows[row].1 > rows[row].0 { "up" } else { "down" });
        }
    }
    for sessions in [["p.csv.jsonl", "q.csv.jsonl"], ["q.csv.jsonl", "p.csv.jsonl"]] {
        let merge = [&["label", "p.csv", "--merge"], &sessions[..], &["--export", "--force"]];
        good(folder, &[&merge.concat()[..], &["-o", "m.csv"]].concat());
        let merged = table(folder, "m.csv");
        assert!(merged.len() == 9 && merged.iter().all(|row| row[2] == "agreed"), "{merged:?}");
        let class = |row: usize| if rows[row].1 > rows[row].0 { "up" } else { "down" };
        assert!((0..9).all(|row| merged[row][1] == class(row)), "{merged:?}");
    }
}

/// The review of a merge belongs to the merged annotators and has all their classes. It asks about rows whose answers
/// are contradicted later.
#[test]
fn a_merge_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pool(folder, 12);
    // The answers are given in the order of the questions. The first questions are about the same rows for all
    // annotators.
    let answer = |name: &str, classes: &str, input: &str| {
        typed(folder, &["pool.csv", "--classes", classes, "--annotator", name], input);
        format!("pool.csv.{name}.session.jsonl")
    };
    let ann = answer("ann", "in,out", "in\nin\nq\n");
    let eve = answer("eve", "in,out,egg", "egg\nq\n");
    let merge = ["pool.csv", "--merge", &ann, &eve];
    let (_, said) = typed(folder, &[&merge[..], &["-o", "m.csv"]].concat(), "egg\nq\n");
    assert!(said.contains("2 labels written"), "{said}");
    let labels = |name: &str| -> Vec<String> {
        table(folder, name).iter().map(|row| format!("{} {}", row[1], row[2])).collect()
    };
    let mut found = labels("m.csv");
    found.sort_unstable();
    assert_eq!(found, ["egg reviewed", "in single"], "the class of one annotator can be chosen");
    // The row that only ann had answered is now contradicted, so the review asks about it.
    answer("eve", "in,out,egg", "out\nq\n");
    let (_, said) = typed(folder, &[&merge[..], &["-o", "n.csv"]].concat(), "out\nq\n");
    assert!(said.contains("2 labels written"), "{said}");
    let mut found = labels("n.csv");
    found.sort_unstable();
    assert_eq!(found, ["egg reviewed", "out reviewed"]);
    // Other annotators do not get this review.
    let dan = answer("dan", "in,out", "out\nq\n");
    let other = ["label", "pool.csv", "--merge", &dan, &eve, "--export", "-o", "other.csv"];
    let why = refused(folder, &other);
    assert!(why.contains("this is the session of merge of \"ann\", \"eve\""), "{why}");
}

/// Annotators may change their answers after a merge. Their new common label replaces the earlier one.
#[test]
fn a_merge_follows_changed_answers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pool(folder, 12);
    let names = ["ann", "bob"];
    let answer = |input: &str| {
        for name in names {
            let args = ["pool.csv", "--classes", "in,out", "--annotator", name];
            assert_eq!(typed(folder, &args, input).0, Some(0));
        }
    };
    answer("in\nout\nq\n\n");
    let sessions = names.map(|name| format!("pool.csv.{name}.session.jsonl"));
    let merge = ["pool.csv", "--merge", &sessions[0], &sessions[1], "--session", "m.jsonl"];
    assert_eq!(typed(folder, &merge, "q\n\n").0, Some(0));
    // The last answer is changed.
    answer("r\n1 in\n\nq\n\n");
    let export = [&merge[..], &["--export", "-o", "m.csv", "--force"]].concat();
    for args in [&export[..], &merge, &export] {
        let (code, said) = typed(folder, args, "q\n\n");
        assert!(code == Some(0) && !said.contains("ignored"), "{said}");
    }
    assert!(typed(folder, &export, "").1.contains("all labels agree in 2 of 2 rows"));
    let rows = table(folder, "m.csv");
    assert!(rows.len() == 2 && rows.iter().all(|row| row[1] == "in" && row[2] == "agreed"));
    let own = ["pool.csv", "--session", "m.jsonl", "--export", "-o", "own.csv"];
    assert_eq!(typed(folder, &own, "").0, Some(0));
    let rows = table(folder, "own.csv");
    assert!(rows.len() == 2 && rows.iter().all(|row| row[1] == "in"), "{rows:?}");
}

/// `--seek` asks about the rows that are most likely to belong to the rare class, and the simulation counts the rows of
/// this class that are found.
#[test]
fn a_rare_class_is_sought() {
    let folder = tempfile::tempdir().unwrap();
    let mut draws = Draws(5);
    let mut text = String::from("x,y,z,class\n");
    for row in 0..400 {
        let (x, y) = (4.0 * draws.next() - 2.0, 4.0 * draws.next() - 2.0);
        let class = if x > 1.2 && y > 1.2 { "rare" } else { "common" };
        text.push_str(&format!("{x},{y},{},{class}\n", row % 7));
    }
    fs::write(folder.path().join("t.csv"), &text).unwrap();
    let rare = text.matches("rare").count();
    let found = |order: &[&str]| {
        let start =
            ["label", "t.csv", "--label", "class", "--simulate", "--max-answers", "80", "--json"];
        let out = good(folder.path(), &[&start[..], order].concat());
        let result: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(result["classes"][1], "rare");
        let last = result["curve"].as_array().unwrap().last().unwrap().clone();
        let found: u64 =
            last["found"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(found, 80);
        last["found"][1].as_u64().unwrap() as usize
    };
    let (sought, random) = (found(&["--seek", "rare"]), found(&["--order", "random"]));
    assert!(rare >= 10 && sought == rare && 2 * random < rare, "{rare} {sought} {random}");
    let unknown = ["label", "t.csv", "--label", "class", "--simulate", "--seek", "x"];
    let said = refused(folder.path(), &unknown);
    assert!(said.contains("--seek: there is no class \"x\"; there are common, rare"), "{said}");
    // In a session, the question is about the likeliest row.
    let start = ["label", "t.csv", "--known", "class", "--classes", "rare,common", "--drop", "x"];
    assert!(refused(folder.path(), &[&start[..], &["--seek", "y"]].concat()).contains("--seek"));
}

/// A session that is killed [`KILLS`] times keeps every acknowledged answer exactly once.
#[test]
fn nothing_is_lost_when_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let truth = pool(folder.path(), 300);
    let session = folder.path().join("s.jsonl");
    let mut draws = Draws(3);
    let mut acknowledged: Vec<usize> = Vec::new();
    let mut under_way = 0;
    for life in 0..=KILLS {
        let mut terminal = Terminal::start(folder.path(), &NEW);
        let mut left = if life < KILLS { 1 + draws.below(5) } else { usize::MAX };
        let mut last = None;
        while let Some((row, _)) = terminal.question() {
            // The next question acknowledges the answer.
            acknowledged.extend(last.take());
            assert!(!acknowledged.contains(&row), "row {row} is asked again");
            terminal.say(truth[row]);
            last = Some(row);
            left -= 1;
            if left == 0 {
                std::thread::sleep(Duration::from_micros(draws.below(8000) as u64));
                terminal.child.kill().unwrap();
                break;
            }
        }
        terminal.child.wait().unwrap();
        let labels = labels_of_session_cut(&session);
        for row in &acknowledged {
            assert_eq!(labels.get(row).map(String::as_str), Some(truth[*row]), "life {life}");
        }
        // The last answer may or may not be on the disk.
        if let Some(row) = last.filter(|row| labels.contains_key(row)) {
            acknowledged.push(row);
            under_way += usize::from(life < KILLS);
        }
        assert_eq!(labels.len(), acknowledged.len(), "life {life}");
    }
    assert_eq!(acknowledged.len(), 300);
    assert!(under_way > 0, "some were killed after the answer was written");
}

/// The labels of a session file whose last line may be truncated.
fn labels_of_session_cut(path: &Path) -> std::collections::BTreeMap<usize, String> {
    let text = fs::read_to_string(path).unwrap();
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let copy = path.with_extension("whole");
    fs::write(&copy, whole).unwrap();
    labels_of_session(&copy)
}

#[test]
fn unsuitable_sessions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 10);
    let mut terminal = Terminal::start(folder.path(), &NEW);
    terminal.question().unwrap();
    let said = refused(folder.path(), &NEW);
    assert!(said.contains("another process is using this session"), "{said}");
    terminal.say("q");
    assert!(terminal.child.wait().unwrap().success());
    let before = fs::read_to_string(folder.path().join("s.jsonl")).unwrap();
    let said =
        refused(folder.path(), &["label", "pool.csv", "--classes", "a,b", "--session", "s.jsonl"]);
    assert!(said.contains("the classes of this session are in,out"), "{said}");
    fs::write(folder.path().join("other.csv"), "x,y\n1,2\n3,4\n").unwrap();
    let said = refused(
        folder.path(),
        &["label", "other.csv", "--classes", "in,out", "--session", "s.jsonl"],
    );
    assert!(said.contains("a session for pool.csv (10 rows, 2 columns)"), "{said}");
    let said = refused(folder.path(), &["label", "pool.csv", "--session", "pool.csv"]);
    assert!(said.contains("not a session file"), "{said}");
    for (args, part) in [
        (&["label", "pool.csv"][..], "name them with --classes"),
        (&["label", "pool.csv", "--classes", "a"], "at least two"),
        (&["label", "pool.csv", "--classes", "a,a"], "named twice"),
        (&["label", "pool.csv", "--classes", "a,b", "-o", "pool.csv"], "already exists"),
        (&["label", "pool.csv", "--classes", "a,b", "--show", "z"], "there is no column `z`"),
        (
            &["label", "pool.csv", "--classes", "a,b", "--items", "other.csv"],
            "2 rows for the 10 rows",
        ),
        (&["label", "-", "--classes", "a,b"], "standard input cannot be both"),
    ] {
        let said = refused(folder.path(), args);
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("s.jsonl")).unwrap(), before);
    assert!(
        !folder.path().join("pool.csv.session.jsonl").exists(),
        "a refused command creates no session"
    );
}

#[test]
fn known_labels_and_label_studio_files() {
    let folder = tempfile::tempdir().unwrap();
    let truth = pool(folder.path(), 40);
    let text = fs::read_to_string(folder.path().join("pool.csv")).unwrap();
    let mut with = String::from("x,y,note,label\n");
    for (row, line) in text.lines().skip(1).enumerate() {
        let label = if row % 2 == 0 { truth[row] } else { "" };
        with.push_str(&format!("{line},item {row},{label}\n"));
    }
    fs::write(folder.path().join("known.csv"), with).unwrap();
    let label = ["label", "known.csv", "--known", "label", "--show", "note"];
    let export = |session: &str, out: &str, more: &[&str]| {
        good(
            folder.path(),
            &[&label[..], &["--session", session, "--export", "-o", out], more].concat(),
        );
        fs::read_to_string(folder.path().join(out)).unwrap()
    };
    let csv = export("a.jsonl", "a.csv", &["--with-predictions"]);
    assert_eq!(csv.matches(",known,").count(), 20);
    let predicted =
        csv.lines().filter(|line| line.contains(",predicted,0.") || line.contains(",predicted,1"));
    assert_eq!(predicted.count(), 20);
    assert!(csv.contains("\n3,item 3,"));
    let json = export("a.jsonl", "a.json", &["--with-predictions"]);
    let tasks: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(tasks[0]["annotations"][0]["result"][0]["value"]["choices"][0], truth[0]);
    assert!(tasks[1]["predictions"][0]["score"].as_f64().unwrap() >= 0.5);
    // Tasks are matched by their texts: one label is new, one changes a known label.
    let task = |row: usize, class: &str| {
        format!(
            r#"{{"data":{{"note":"item {row}"}},"annotations":[{{"result":[{{"value":{{"choices":["{class}"]}}}}]}}]}}"#
        )
    };
    // That a class is uncertain is also an answer, so no import replaces it.
    let start = ["known.csv", "--classes", "in,out", "--show", "note", "--session", "u.jsonl"];
    let (code, said) = typed(folder.path(), &start, "?\nq\n");
    assert_eq!(code, Some(0), "{said}");
    fs::write(folder.path().join("u.json"), format!("[{}]", task(0, "in"))).unwrap();
    let import = ["--import-labelstudio", "u.json", "--export", "-o", "u.csv"];
    let (code, said) = typed(folder.path(), &[&start[..], &import].concat(), "");
    let part = "u.json: 1 of its labels are ignored, because these rows were answered as uncertain (rows 0)";
    assert!(code == Some(0) && said.contains(part), "{said}");
    assert_eq!(table(folder.path(), "u.csv")[0][3], "uncertain");
    let other = if truth[0] == "in" { "out" } else { "in" };
    fs::write(folder.path().join("ls.json"), format!("[{},{}]", task(1, truth[1]), task(0, other)))
        .unwrap();
    let csv = export("a.jsonl", "b.csv", &["--import-labelstudio", "ls.json"]);
    assert_eq!(csv.matches(",known,").count(), 21);
    assert!(
        csv.contains(&format!("\n0,item 0,{other},"))
            && csv.contains(&format!("\n1,item 1,{},", truth[1]))
    );
    // A task with an unknown class is left out and named.
    let tasks = format!("[{},{}]", task(2, "elsewhere"), task(1, truth[1]));
    fs::write(folder.path().join("bad.json"), tasks).unwrap();
    let bad =
        ["--session", "a.jsonl", "--export", "-o", "c.csv", "--import-labelstudio", "bad.json"];
    let (code, said) = typed(folder.path(), &[&label[1..], &bad].concat(), "");
    let part = "bad.json: 1 task has the label \"elsewhere\", which is not a class of the session (in, out); write the name of \
                a class instead in the file, or start a new session with this class in --classes; not imported (task 1 \"item 2\")";
    assert!(code == Some(0) && said.contains(part), "{said}");
}

#[test]
fn a_simulation_counts_corrections() {
    let folder = tempfile::tempdir().unwrap();
    let truth = pool(folder.path(), 200);
    let text = fs::read_to_string(folder.path().join("pool.csv")).unwrap();
    let mut with = String::from("x,y,label\n");
    text.lines()
        .skip(1)
        .zip(&truth)
        .for_each(|(line, label)| with.push_str(&format!("{line},{label}\n")));
    fs::write(folder.path().join("all.csv"), with).unwrap();
    let play = |more: &[&str]| {
        let args =
            [&["label", "all.csv", "--label", "label", "--simulate", "--json"], more].concat();
        serde_json::from_str::<Value>(&good(folder.path(), &args)).unwrap()
    };
    let recommended = play(&[]);
    let corrections = |value: &Value| value["corrections"].as_u64().unwrap();
    assert_eq!(recommended["answers"], 200);
    assert!(corrections(&recommended) <= 20, "{recommended}");
    assert!(recommended["corrections_first_half"].as_u64().unwrap() <= 5, "{recommended}");
    let (random, given) = (play(&["--order", "random"]), play(&["--order", "given"]));
    let half = |value: &Value| value["corrections_first_half"].as_u64().unwrap();
    assert!(
        half(&random) > half(&recommended) && half(&given) > half(&recommended),
        "{random} {given}"
    );
    assert_ne!(random["curve"], given["curve"]);
    assert_eq!(random["curve"][0]["answers"], 0);
    let few = play(&["--max-answers", "7"]);
    assert_eq!((few["answers"].as_u64(), few.get("corrections_first_half")), (Some(7), None));
    let said =
        refused(folder.path(), &["label", "all.csv", "--classes", "in,out", "--order", "given"]);
    assert!(said.contains("--order given is only for --simulate"), "{said}");
    // A session in random order does not depend on the answers. It resumes where it stopped.
    let random = |name: &str, answers: &str| {
        let session = ["--session", name, "--order", "random", "--seed", "5"];
        let args = [&["all.csv", "--drop", "label", "--classes", "in,out"][..], &session].concat();
        assert_eq!(typed(folder.path(), &args, answers).0, Some(0));
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        let rows = text
            .lines()
            .skip(1)
            .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["row"].as_u64());
        rows.collect::<Vec<u64>>()
    };
    let asked = random("a.jsonl", "in\nin\nout\nout\nin\nq\n\n");
    assert_eq!((asked.len(), asked.is_sorted()), (5, false));
    random("b.jsonl", "out\nin\nq\n\n");
    assert_eq!(random("b.jsonl", "out\nout\nin\nq\n\n"), asked);
    let found = |value: &Value| value["answers_until_20_of_each"].as_u64().unwrap();
    let rare = play(&["--order", "rare"]);
    assert!((40..=45).contains(&found(&rare)), "{rare}");
    assert!(found(&rare) <= found(&recommended));
    assert!(corrections(&rare) <= 20, "{rare}");
    let stop = &recommended["stop"];
    assert!(stop["answers"].as_u64().unwrap() < 200, "{stop}");
    assert!(stop["wrong"].as_u64().unwrap() <= 10, "at most 5 per cent of 200: {stop}");
    // The only row of the third class comes last, so there is no advice to stop before.
    let row = |row: usize| format!("{},{},{}\n", 10 * (row % 2), row % 7, ["a", "b"][row % 2]);
    let rows: String = (0..60).map(row).collect();
    for (last, may_stop) in [("5,50,c", false), ("10,3,b", true)] {
        let pool = format!("x,z,label\n{rows}{last}\n");
        std::fs::write(folder.path().join("last.csv"), pool).unwrap();
        let args =
            ["label", "last.csv", "--label", "label", "--simulate", "--order", "given", "--json"];
        let played: Value = serde_json::from_str(&good(folder.path(), &args)).unwrap();
        assert_eq!(played["stop"]["answers"].is_u64(), may_stop, "{played}");
    }
    let text = good(folder.path(), &["label", "all.csv", "--label", "label", "--simulate"]);
    assert!(text.contains("the model suggests stopping after "), "{text}");
    assert!(
        text.contains(" corrections in 200 answers for 200 rows; time per answer: median "),
        "{text}"
    );
}

/// A closed output ends the command without an error.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 10);
    let mut terminal = Terminal::start(folder.path(), &NEW);
    terminal.question().unwrap();
    drop(std::mem::replace(
        &mut terminal.output,
        BufReader::new(
            program(folder.path())
                .arg("--version")
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
                .stdout
                .take()
                .unwrap(),
        ),
    ));
    terminal.say("in");
    // A process that another test is about to start may inherit the reading end for a moment: then the next question
    // still has a reader, and the one after it has none.
    let status = loop {
        match terminal.child.try_wait().unwrap() {
            Some(status) => break status,
            None => {
                std::thread::sleep(Duration::from_millis(50));
                terminal.say("s");
            }
        }
    };
    assert!(status.success());
    let mut rest = String::new();
    terminal.output.read_line(&mut rest).unwrap();
    assert_eq!(labels_of_session(&folder.path().join("s.jsonl")).len(), 1, "the answer is kept");
}

/// Runs `label` with answers from standard input; returns its exit code, and its notes and errors.
fn typed(folder: &Path, args: &[&str], input: &str) -> (Option<i32>, String) {
    let mut command = program(folder);
    command.arg("label").args(args).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // The program may exit before it reads the input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn table(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

const TEXTS: [&str; 6] =
    ["Works as described", "Lamp", "Broke after a week", "Very quiet", "Lid is loose", "Cheap"];

fn write_texts(folder: &Path, name: &str, texts: &[&str]) {
    let mut csv = String::from("text,n\n");
    texts.iter().for_each(|text| csv.push_str(&format!("{text},{}\n", text.len() % 5)));
    fs::write(folder.join(name), csv).unwrap();
}

/// If the pool was sorted, extended and saved under another name, each answer stays with its item, and a note reports
/// the changes.
#[test]
fn answers_stay_with_their_items() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_texts(folder, "pool.csv", &TEXTS);
    let show = ["--show", "text", "--session", "s.jsonl", "--force", "-o"];
    let new = [&["pool.csv", "--classes", "good,bad"], &show[..], &["a.csv"]].concat();
    let (code, said) = typed(folder, &new, "good\nbad\ngood\ns\nq\n");
    assert_eq!(code, Some(0), "{said}");
    let by_text = |name: &str| {
        let rows = table(folder, name).into_iter();
        rows.map(|row| (row[1].clone(), row[2].clone(), row[3].clone())).collect::<Vec<_>>()
    };
    let mut before = by_text("a.csv");
    before.sort();
    let mut sorted = TEXTS.to_vec();
    sorted.sort_unstable();
    sorted.insert(1, "New");
    sorted.push("Also new");
    write_texts(folder, "sorted.csv", &sorted);
    // An export reads the session and does not write to it.
    let bytes = fs::read(folder.join("s.jsonl")).unwrap();
    let export = [&["sorted.csv", "--export"], &show[..], &["b.csv"]].concat();
    for go_on in [export, [&["sorted.csv"], &show[..], &["b.csv"]].concat()] {
        let (code, said) = typed(folder, &go_on, "q\n");
        assert_eq!(code, Some(0), "{said}");
        assert!(
            said.contains("items have new row numbers") && said.contains("2 new items"),
            "{said}"
        );
        let mut after = by_text("b.csv");
        after.sort();
        assert_eq!(after, before);
        let exported = go_on.contains(&"--export");
        assert_eq!(fs::read(folder.join("s.jsonl")).unwrap() == bytes, exported);
    }
    // The session now has the new pool.
    let (_, said) = typed(folder, &[&["sorted.csv"], &show[..], &["b.csv"]].concat(), "q\n");
    assert!(!said.contains("pool has changed"), "{said}");
    // If an answered item is missing, the session is refused without --keep-found. Its answer returns with it.
    let answered = before[0].0.clone();
    let cut: Vec<&str> = TEXTS.iter().copied().filter(|text| *text != answered).collect();
    write_texts(folder, "cut.csv", &cut);
    let cut = [&["cut.csv"], &show[..], &["c.csv"]].concat();
    let (code, said) = typed(folder, &cut, "q\n");
    assert!(code == Some(2) && said.contains("1 of 4 answered or skipped items"), "{said}");
    assert!(said.contains("--keep-found"), "{said}");
    let (code, said) = typed(folder, &[&cut[..], &["--keep-found"]].concat(), "q\n");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(by_text("c.csv").len(), 2);
    let (_, said) = typed(folder, &[&["pool.csv"], &show[..], &["d.csv"]].concat(), "q\n");
    assert!(said.contains("1 answered or skipped item is back"), "{said}");
    let mut back = by_text("d.csv");
    back.sort();
    assert_eq!(back, before);
}

/// The content shown from another table is a part of the item.
#[test]
fn answers_do_not_move_to_other_texts_or_images() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pool(folder, 6);
    write_texts(folder, "items.csv", &TEXTS);
    let mut turned = TEXTS;
    turned.reverse();
    write_texts(folder, "turned.csv", &turned);
    let args = |items: &'static str| {
        [
            "pool.csv",
            "--items",
            items,
            "--show",
            "text",
            "--session",
            "s.jsonl",
            "-o",
            "o.csv",
            "--force",
        ]
    };
    let new = [&args("items.csv")[..], &["--classes", "a,b"]].concat();
    assert_eq!(typed(folder, &new, "a\nb\nq\n").0, Some(0));
    for export in [&["--export"][..], &[]] {
        let (code, said) = typed(folder, &[&args("turned.csv")[..], export].concat(), "q\n");
        assert!(code == Some(2) && said.contains("the table is the same, but the texts"), "{said}");
    }
    // Without --items, the pool still matches the session, because the table is the same.
    let (code, said) =
        typed(folder, &["pool.csv", "--session", "s.jsonl", "--export", "-o", "e.csv"], "");
    assert!(code == Some(0) && table(folder, "e.csv").len() == 2, "{said}");
    // A folder of images, one of which is renamed and so belongs to another row.
    fs::create_dir(folder.join("im")).unwrap();
    for (number, name) in ["a", "b", "c", "d", "e", "f"].iter().enumerate() {
        fs::write(folder.join(format!("im/{name}.png")), format!("image {number}")).unwrap();
    }
    let images = ["pool.csv", "--items", "im", "--session", "i.jsonl", "-o", "i.csv", "--force"];
    let new = [&images[..], &["--classes", "a,b"]].concat();
    let (code, said) = typed(folder, &new, "a\nb\na\nq\n");
    let part =
        "note: im: the images are shown with the rows in the order of their names (2 before 10)";
    assert!(code == Some(0) && said.contains(part), "{said}");
    // The new name has the same place in the order, so the image belongs to the same row.
    fs::rename(folder.join("im/b.png"), folder.join("im/b2.png")).unwrap();
    let (code, said) = typed(folder, &images, "q\n");
    assert!(code == Some(0) && said.contains("1 item has another name"), "{said}");
    fs::rename(folder.join("im/a.png"), folder.join("im/z.png")).unwrap();
    let (code, said) = typed(folder, &images, "q\n");
    assert!(code == Some(2) && said.contains("images shown with it have changed"), "{said}");
}

/// Rows whose cells are read as the same number, or as missing, keep their answers if the pool is sorted.
#[test]
fn rows_that_look_alike_keep_their_answers() {
    let pairs = [("1.10", "1.1"), ("None", "NA"), ("true", "1"), ("007", "7")];
    for (a, b) in pairs.into_iter().chain([("12345678901234567890", "12345678901234567891")]) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let write = |rows: &[&str]| {
            let rows: String = rows.iter().map(|text| format!("{text},1\n")).collect();
            fs::write(folder.join("pool.csv"), format!("t,z\n{rows}foo bar,2\nthe text,3\n"))
                .unwrap();
        };
        write(&[a, b]);
        let args = ["pool.csv", "--show", "t", "--session", "s.jsonl"];
        let mut terminal =
            Terminal::start(folder, &[&["label"], &args[..], &["--classes", "A,B"]].concat());
        while let Some((row, _)) = terminal.question() {
            terminal.say(if row == 0 { "A" } else { "B" });
        }
        write(&[b, a]);
        let export = [&args[..], &["--export", "-o", "o.csv", "--force"]].concat();
        let (code, said) = typed(folder, &export, "");
        assert_eq!(code, Some(0), "{a} {b}: {said}");
        let labels: Vec<String> =
            table(folder, "o.csv").into_iter().map(|row| row[2].clone()).collect();
        assert_eq!(labels, ["B", "A", "B", "B"], "{a} {b}: {said}");
    }
}

/// The answer of a removed row stays with a copy of the row.
#[test]
fn a_removed_copy_loses_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("pool.csv"), "x,z\n5,1\n5,1\n7,2\n8,3\n").unwrap();
    let args = ["pool.csv", "--session", "s.jsonl"];
    let mut terminal =
        Terminal::start(folder, &[&["label"], &args[..], &["--classes", "A,B"]].concat());
    while let Some((row, _)) = terminal.question() {
        terminal.say(if row < 2 { "A" } else { "B" });
    }
    fs::write(folder.join("pool.csv"), "x,z\n5,1\n7,2\n8,3\n").unwrap();
    let (code, said) = typed(folder, &[&args[..], &["--export", "-o", "o.csv"]].concat(), "");
    let part = "1 row was removed without the loss of an answer";
    assert!(code == Some(0) && said.contains(part), "{said}");
    let labels: Vec<String> =
        table(folder, "o.csv").into_iter().map(|row| row[1].clone()).collect();
    assert_eq!(labels, ["A", "B", "B"]);
}

/// If such rows are written in another form, it is unknown which answer belongs to which row.
#[test]
fn rows_that_look_alike_are_refused_after_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |rows: [&str; 4]| {
        let rows = rows.iter().enumerate().map(|(row, text)| format!("{text},{}\n", row / 2));
        let rows: String = rows.collect();
        fs::write(folder.join("pool.csv"), format!("t,z\n{rows}")).unwrap();
    };
    write(["1.10", "1.1", "foo", "bar"]);
    let args = ["pool.csv", "--show", "t", "--session", "s.jsonl"];
    let (code, said) =
        typed(folder, &[&args[..], &["--classes", "A,B"]].concat(), "A\nB\nA\nB\nq\n");
    let part = "2 rows are read as equal to other rows, but may look different: rows 0 and 1 differ in column `t`: \
                `1.10` and `1.1`";
    assert!(code == Some(0) && said.contains(part), "{said}");
    write(["1.100", "+1.1", "foo", "bar"]);
    let export = [&args[..], &["--export", "-o", "o.csv"]].concat();
    let (code, said) = typed(folder, &export, "");
    let part = "rows 0, 1 of pool.csv are read as equal, but they look different: rows 0 and 1 differ in column `t`: \
                `1.100` and `+1.1`, and not all of them have the same answer";
    assert!(code == Some(2) && said.contains(part) && said.contains("--id COLUMN"), "{said}");
}

/// A date of a new row can show that the day is first in all dates. The other dates then become those of other rows.
#[test]
fn dates_in_another_order_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let dates =
        ["01/02/2024", "02/01/2024", "03/04/2024", "05/06/2024", "04/03/2024", "06/05/2024"];
    let write = |dates: &[&str]| {
        let lines = dates.iter().map(|date| format!("{date},1\n"));
        fs::write(folder.join("d.csv"), format!("when,z\n{}", lines.collect::<String>())).unwrap();
    };
    write(&dates);
    let new = ["label", "d.csv", "--classes", "A,B", "--session", "s.jsonl"];
    let mut terminal = Terminal::start(folder, &new);
    while let Some((row, _)) = terminal.question() {
        terminal.say(["A", "B", "A", "A", "B", "B"][row]);
    }
    let session = fs::read_to_string(folder.join("s.jsonl")).unwrap();
    let export = ["label", "d.csv", "--session", "s.jsonl", "--export", "-o", "o.csv", "--force"];
    good(folder, &export);
    write(&[&dates[..], &["25/02/2024"]].concat());
    let said = refused(folder, &export);
    assert!(
        said.contains("s.jsonl: column `when`: the dates of d.csv were read"),
        "{said} {session}"
    );
    assert!(said.contains("month first in the last run"), "{said}");
    write(&[&dates[..], &["02/25/2024"]].concat());
    good(folder, &export);
    write(&dates);
    let said = refused(folder, &[&export[..], &["--day-first"]].concat());
    assert!(said.contains("the dates of d.csv were read"), "{said}");
}

/// Rows with the same shown text are told apart by the numbers of the matrix and by the known labels.
#[test]
fn rows_with_the_same_text_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |order: [usize; 4]| {
        let of_rows: Vec<u8> = order.iter().flat_map(|row| (*row as f64).to_le_bytes()).collect();
        fs::write(folder.join("x.npy"), npy("<f8", "(4, 1)", &of_rows)).unwrap();
        let title = |row: &usize| ["Untitled\n", "Untitled\n", "one\n", "two\n"][*row];
        let titles: String = order.iter().map(title).collect();
        fs::write(folder.join("t.csv"), format!("title\n{titles}")).unwrap();
        let line = |row: &usize| ["1,2,A\n", "1,2,\n", "3,4,A\n", "5,1,B\n"][*row];
        let lines: String = order.iter().map(line).collect();
        fs::write(folder.join("k.csv"), format!("x,z,y\n{lines}")).unwrap();
    };
    let of_matrix = ["x.npy", "--items", "t.csv", "--show", "title", "--session", "x.jsonl"];
    let of_known = ["k.csv", "--known", "y", "--session", "k.jsonl"];
    write([0, 1, 2, 3]);
    for args in [&of_matrix[..], &of_known] {
        let mut terminal =
            Terminal::start(folder, &[&["label"], args, &["--classes", "A,B"]].concat());
        while let Some((row, _)) = terminal.question() {
            terminal.say(["A", "B"][row % 2]);
        }
    }
    write([1, 0, 2, 3]);
    for args in [&of_matrix[..], &of_known] {
        let (code, said) = typed(folder, &[args, &["--export", "-o", "o.csv"]].concat(), "");
        assert_eq!(code, Some(0), "{said}");
        let text = fs::read_to_string(folder.join("o.csv")).unwrap();
        fs::remove_file(folder.join("o.csv")).unwrap();
        let label =
            |line: &str| line.split(',').find(|cell| ["A", "B"].contains(cell)).map(str::to_owned);
        let found: Vec<Option<String>> = text.lines().skip(1).map(label).collect();
        assert_eq!(found[..2], [Some("B".to_owned()), Some("A".to_owned())], "{text}");
    }
}

/// A session on a matrix is resumed without its items only if the matrix is the same.
#[test]
fn a_matrix_without_its_items_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let values: Vec<f64> = (0..6).flat_map(|row| [f64::from(row), f64::from(row % 2)]).collect();
    let turned: Vec<f64> = values.chunks(2).rev().flatten().copied().collect();
    for (name, values) in [("f.npy", &values), ("g.npy", &turned)] {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(folder.join(name), npy("<f8", "(6, 2)", &bytes)).unwrap();
    }
    write_texts(folder, "items.csv", &TEXTS);
    let show = ["--items", "items.csv", "--show", "text"];
    let new = [&["f.npy", "--classes", "a,b", "--session", "s.jsonl"], &show[..]].concat();
    let (code, said) = typed(folder, &new, "a\na\nb\nb\nb\nb\nq\n");
    assert_eq!(code, Some(0), "{said}");
    let export = |matrix| ["label", matrix, "--session", "s.jsonl", "--export", "-o"];
    good(folder, &[&export("f.npy")[..], &["f.csv"]].concat());
    assert_eq!(table(folder, "f.csv").len(), 6);
    let said = refused(folder, &[&export("g.npy")[..], &["g.csv"]].concat());
    assert!(said.contains("g.npy: the rows have changed") && said.contains("--items"), "{said}");
    let said = refused(folder, &["fit", "g.npy", "--session", "s.jsonl", "-o", "g.json"]);
    assert!(said.contains("g.npy: the rows have changed"), "{said}");
}

/// A table of items whose order differs from that of the pool is refused if both have a column of ids.
#[test]
fn items_of_other_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..6).map(|i| format!("n{i},{},{}\n", i * 5 % 6, i % 3)).collect();
    fs::write(folder.join("pool.csv"), format!("id,x,y\n{rows}")).unwrap();
    let write = |name: &str, rows: &[usize]| {
        let rows: String = rows.iter().map(|i| format!("n{i},{}\n", TEXTS[*i])).collect();
        fs::write(folder.join(name), format!("id,text\n{rows}")).unwrap();
    };
    write("items.csv", &[0, 1, 2, 3, 4, 5]);
    write("turned.csv", &[5, 4, 3, 2, 1, 0]);
    let session = ["--id", "id", "--show", "text", "--classes", "a,b", "--session", "s.jsonl"];
    for id in [&session[..], &session[2..]] {
        let args = [&["label", "pool.csv", "--items", "turned.csv"], id].concat();
        let said = refused(folder, &args);
        let part = "turned.csv, line 2, column `id`: `n5` here, but `n0` in pool.csv, line 2,";
        assert!(
            said.contains(part) && said.contains("sort the tables in the same order"),
            "{said}"
        );
        assert!(!folder.join("s.jsonl").exists());
    }
    let args = [&["pool.csv", "--items", "items.csv"], &session[..]].concat();
    let (code, said) = typed(folder, &args, "a\nq\n");
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("no common column"), "{said}");
    // The ids may have another name in the file.
    for (name, is_same) in [("turned.csv", false), ("items.csv", true)] {
        let items = fs::read_to_string(folder.join(name)).unwrap().replace("id,", "key,");
        fs::write(folder.join("other.csv"), items).unwrap();
        let args = ["pool.csv", "--items", "other.csv", "--show", "text", "--classes", "a,b"];
        let (code, said) = typed(folder, &[&args[..], &["--session", "t.jsonl"]].concat(), "q\n");
        let part = "other.csv, line 2, column `key`: `n5` here, but `n0` in column `id` of pool.csv, line 2";
        assert_eq!((code == Some(0), said.contains(part)), (is_same, !is_same), "{said}");
        let note = "its rows are shown with the rows of pool.csv in order; the files have no common column";
        assert_eq!(said.contains(note), is_same, "{said}");
    }
}

/// Items that were shuffled after their rows were numbered are not shown with the rows of the pool.
#[test]
fn shuffled_items_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..6).map(|i| format!("{},{}\n", i * 5 % 6, i % 3)).collect();
    fs::write(folder.join("pool.csv"), format!("x,y\n{rows}")).unwrap();
    let args =
        ["--items", "items.csv", "--show", "text", "--classes", "a,b", "--session", "s.jsonl"];
    for name in ["", "index", "row", "id"] {
        for (order, is_same) in [([0, 3, 2, 1, 4, 5], false), ([0, 1, 2, 3, 4, 5], true)] {
            let rows: String = order.iter().map(|i| format!("{i},{}\n", TEXTS[*i])).collect();
            fs::write(folder.join("items.csv"), format!("{name},text\n{rows}")).unwrap();
            let args = [&["pool.csv"], &args[..]].concat();
            let (code, said) = typed(folder, &args, "q\n");
            let part = "items.csv, line 3, ";
            let is_refused = said.contains(part)
                && said.contains("`3` here, but 1 is expected")
                && said.contains("sort the file by these numbers, or remove them");
            assert_eq!(
                (code, is_refused),
                (Some(if is_same { 0 } else { 2 }), !is_same),
                "{name}: {said}"
            );
            let _ = fs::remove_file(folder.join("s.jsonl"));
        }
    }
}

#[test]
fn items_are_identified_by_their_ids() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, rows: &[(&str, &str)]| {
        let rows: Vec<String> = rows.iter().map(|(id, x)| format!("{id},{x},{x}\n")).collect();
        fs::write(folder.join(name), format!("no,x,y\n{}", rows.concat())).unwrap();
    };
    write("pool.csv", &[("007", "1"), ("7", "2"), ("8", "3"), ("9", "4")]);
    let args = |pool: &'static str| [pool, "--session", "s.jsonl", "-o", "o.csv", "--force"];
    let new = [&args("pool.csv")[..], &["--id", "no", "--classes", "a,b"]].concat();
    assert_eq!(typed(folder, &new, "a\na\na\na\nr\n1 b\n\nq\n").0, Some(0));
    let of_first = table(folder, "o.csv");
    assert_eq!(of_first[0][1], "007", "the export contains the ids");
    // The content and the order have changed: the ids decide. The id column is taken from the session.
    write("next.csv", &[("9", "4"), ("8", "30"), ("7", "2"), ("007", "1"), ("10", "5")]);
    let (code, said) = typed(folder, &args("next.csv"), "q\n");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("items with the same id and changed content: 1 (rows 1)"), "{said}");
    let ids = |rows: Vec<Vec<String>>| {
        let mut rows: Vec<(String, String)> =
            rows.into_iter().map(|row| (row[1].clone(), row[2].clone())).collect();
        rows.sort();
        rows
    };
    assert_eq!(ids(table(folder, "o.csv")), ids(of_first));
    let (code, said) = typed(folder, &[&args("next.csv")[..], &["--id", "x"]].concat(), "q\n");
    assert!(code == Some(2) && said.contains("by the ids in column `no`"), "{said}");
    write("twice.csv", &[("1", "1"), ("1", "2")]);
    let twice = ["twice.csv", "--classes", "a,b", "--id", "no"];
    let (code, said) = typed(folder, &twice, "q\n");
    assert!(code == Some(2) && said.contains("line 3, column `no`: the id \"1\""), "{said}");
}

/// An answer counts only if it is in the file that the path names.
#[cfg(unix)]
#[test]
fn a_session_file_that_is_deleted_or_replaced_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 10);
    let path = folder.path().join("s.jsonl");
    for replaced in [false, true] {
        let mut command = program(folder.path());
        command.args(NEW).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut errors = child.stderr.take().unwrap();
        let mut terminal = Terminal { child, input, output: BufReader::new(output) };
        terminal.question().unwrap();
        terminal.say("in");
        let (row, _) = terminal.question().unwrap();
        if replaced {
            let text = fs::read_to_string(&path).unwrap();
            fs::write(folder.path().join("copy"), text.trim_end()).unwrap();
            fs::rename(folder.path().join("copy"), &path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        terminal.say("out");
        assert_eq!(terminal.question(), None);
        assert_eq!(terminal.child.wait().unwrap().code(), Some(1));
        let mut said = String::new();
        errors.read_to_string(&mut said).unwrap();
        let (what, saved) =
            if replaced { ("replaced", "s.jsonl.rescued-1") } else { ("deleted", "s.jsonl") };
        assert!(said.contains(&format!("was {what} by another program")), "{said}");
        let labels = labels_of_session(&folder.path().join(saved));
        assert_eq!(labels.get(&row).map(String::as_str), Some("out"));
        assert_eq!(labels.len(), if replaced { 4 } else { 2 });
        let go_on = ["label", "pool.csv", "--session", saved, "--export", "-o", "o.csv", "--force"];
        good(folder.path(), &go_on);
    }
}

#[cfg(unix)]
#[test]
fn session_files_of_other_kinds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 5);
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in ["pipe", "/dev/stdout", "/dev/null", "."] {
        let args = ["label", "pool.csv", "--classes", "in,out", "--session", path];
        let said = refused(folder.path(), &args);
        assert!(said.contains("--session needs a regular file"), "{said}");
    }
}

/// A last line that lacks only its line end is used; a line that is missing in the middle is reported.
#[test]
fn a_damaged_session_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 6);
    assert_eq!(typed(folder.path(), &NEW[1..], "in\nout\nin\nq\n").0, Some(0));
    let text = fs::read_to_string(folder.path().join("s.jsonl")).unwrap();
    let export = |text: &str| {
        fs::write(folder.path().join("t.jsonl"), text).unwrap();
        let args = ["pool.csv", "--session", "t.jsonl", "--export", "-o", "o.csv", "--force"];
        typed(folder.path(), &args, "")
    };
    let (code, said) = export(text.trim_end());
    assert!(code == Some(0) && said.contains("3 labels written"), "{said}");
    let lines: Vec<&str> = text.lines().collect();
    let (code, said) = export(&format!("{}\n{}\n{}\n", lines[0], lines[1], lines[3]));
    assert!(code == Some(2) && said.contains("line 3: this is line 4 of the session"), "{said}");
    let (code, said) = export(&text.replacen("[\"in\",\"out\"]", "[\"in\",\"in\"]", 1));
    assert!(code == Some(2) && said.contains("line 1"), "{said}");
}

/// An import matches an item by all fields of the task, and never replaces an answer. Ambiguous tasks are reported.
#[test]
fn imports_are_careful() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut texts = TEXTS.to_vec();
    texts.push("Lamp");
    write_texts(folder, "pool.csv", &texts);
    let task = |data: &str, classes: &[&str]| {
        let annotation = |class: &&str| {
            format!(r#"{{"result":[{{"from_name":"a","value":{{"choices":["{class}"]}}}}]}}"#)
        };
        let annotations: Vec<String> = classes.iter().map(annotation).collect();
        format!(r#"{{"data":{data},"annotations":[{}]}}"#, annotations.join(","))
    };
    let tasks = [
        task(r#"{"product":"Lamp","text":"Very quiet"}"#, &["good"]),
        task(r#"{"text":"Lamp"}"#, &["good"]),
        task(r#"{"text":"very-Cheap"}"#, &["bad"]),
        task(r#"{"text":"Cheap"}"#, &["bad", "good", "bad"]),
        task(r#"{"text":"Lid is loose","row":0}"#, &["bad"]),
        task(r#"{"text":"Works as described"}"#, &["bad"]),
    ];
    fs::write(folder.join("ls.json"), format!("\u{feff}[{}]", tasks.join(","))).unwrap();
    let show = ["--show", "text", "--session", "s.jsonl", "--force", "-o", "o.csv"];
    let new = [&["pool.csv", "--classes", "good,bad"], &show[..]].concat();
    // In a session without labels, the first question is about the first row.
    let (code, said) = typed(folder, &new, "good\nq\n");
    assert_eq!(code, Some(0), "{said}");
    let first = table(folder, "o.csv").remove(0);
    assert_eq!((first[1].as_str(), first[2].as_str()), ("Works as described", "good"));
    let import = [&["pool.csv", "--import-labelstudio", "ls.json"], &show[..]].concat();
    let (code, said) = typed(folder, &import, "q\n");
    assert_eq!(code, Some(0), "{said}");
    for part in [
        "1 task matches several rows with the same text or image",
        "rows 1 and 6",
        "1 task matches no row of the pool",
        "task 3 \"very-Cheap\"",
        "1 task has several annotations that disagree",
        "1 of its labels differ from those of the session and are ignored (rows 0)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let rows = table(folder, "o.csv").into_iter();
    let got: Vec<_> = rows.map(|row| [row[0].clone(), row[2].clone(), row[3].clone()]).collect();
    let source = &first[3];
    assert_eq!(got, [["0", "good", source], ["3", "good", "known"], ["4", "bad", "known"]]);
    // A later import that changes a label says so; importing the same file again changes nothing.
    let (_, said) = typed(folder, &import, "q\n");
    assert!(!said.contains("replace them"), "{said}");
    let turned = task(r#"{"text":"Works as described"}"#, &["bad"]);
    let of_row = task(r#"{"text":"Lid is loose","row":4}"#, &["good"]);
    fs::write(folder.join("ls.json"), format!("[{turned},{of_row}]")).unwrap();
    let (_, said) = typed(folder, &import, "q\n");
    assert!(
        said.contains("1 of its labels differ from labels that were imported or known before and replace them (rows 4)"),
        "{said}"
    );
}

/// The answers about one column of labels are not those about another one.
/// Tables are imported in every form in which a pool is read. A word such as `None` can be a class.
#[test]
fn tables_of_any_form_are_imported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_texts(folder, "pool.csv", &["Caf\u{e9} small", "Tea", "Milk", "Juice"]);
    let lines = [["text", "kind"], ["Caf\u{e9} small", "None"], ["Tea", "good"], ["Milk", "good"]];
    let file = |separator: &str| {
        let line = |cells: &[&str; 2]| {
            let cells = cells
                .map(|cell| if separator == "," { format!("\"{cell}\"") } else { cell.to_owned() });
            format!("{}\n", cells.join(separator))
        };
        lines.iter().map(line).collect::<String>()
    };
    let latin = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
    let wide = |text: &str| {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xff, 0xfe].into_iter().chain(units).collect::<Vec<u8>>()
    };
    for (name, bytes) in [
        ("a.csv", file(",").into_bytes()),
        ("b.csv", file(";").into_bytes()),
        ("c.tsv", file("\t").into_bytes()),
        ("d.csv", latin(&file(";"))),
        ("e.csv", wide(&file(","))),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        let args =
            ["pool.csv", "--show", "text", "--classes", "None,good", "--import-labelstudio", name];
        let more =
            ["--session", &format!("{name}.jsonl"), "--export", "-o", &format!("{name}.out.csv")];
        let (code, said) = typed(folder, &[&args[..], &more].concat(), "");
        assert!(code == Some(0) && said.contains("3 labels written"), "{name}: {said}");
    }
    fs::write(folder.join("f.json"), latin("[{\"text\":\"Caf\u{e9} small\",\"kind\":\"good\"}]"))
        .unwrap();
    let args =
        ["label", "pool.csv", "--show", "text", "--classes", "None,good", "--session", "f.jsonl"];
    let said = refused(folder, &[&args[..], &["--import-labelstudio", "f.json"]].concat());
    assert!(
        said.contains("f.json: the file is not in UTF-8") && said.contains("save it as"),
        "{said}"
    );
}

#[test]
fn a_session_is_about_one_column_of_labels() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let row = |i: usize| format!("{i},{},{},{}\n", i * i % 5, ["p", "n"][i % 2], ["n", "p"][i % 2]);
    let rows: String = (0..8).map(row).collect();
    fs::write(folder.join("k.csv"), format!("x,z,y1,y2\n{rows}")).unwrap();
    fs::write(folder.join("rv.csv"), "row\n0\n1\n").unwrap();
    let review = |known: &str| {
        let args = ["k.csv", "--known", known, "--review", "rv.csv"];
        typed(folder, &args, "p\nq\n\n")
    };
    assert_eq!(review("y1").0, Some(0));
    assert_eq!(review("y1").0, Some(0), "the same session");
    let (code, said) = review("y2");
    let part = "k.csv.session.jsonl: line 1: this session is about the labels in column `y1`";
    assert!(code == Some(2) && said.contains(part), "{said}");
    // Nor does a session change its seed.
    let args = ["k.csv", "--known", "y1", "--review", "rv.csv", "--seed"];
    let seeded = |seed: &str| typed(folder, &[&args[..], &[seed]].concat(), "q\n\n");
    assert_eq!(seeded("0").0, Some(0));
    let (code, said) = seeded("77");
    assert!(code == Some(2) && said.contains("this session has the seed 0"), "{said}");
}

/// With more classes than the help lists, a letter is the beginning of a name and not a key that is not shown.
#[test]
fn a_letter_is_no_hidden_key() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..30).map(|i| format!("{i},{}\n", i * i % 7)).collect();
    fs::write(folder.join("z.csv"), format!("x,z\n{rows}")).unwrap();
    let classes = "ant,bee,cat,dog,eel,fox,gnu,hen,ibis,jay,koi,lion,mole,newt";
    let args = ["z.csv", "--classes", classes, "-o", "a.csv"];
    assert_eq!(typed(folder, &args, "d\n1\nq\n").0, Some(0));
    let labels: Vec<String> =
        table(folder, "a.csv").into_iter().map(|row| row[1].clone()).collect();
    assert!(labels.contains(&"dog".to_owned()) && labels.contains(&"ant".to_owned()), "{labels:?}");
}

/// Labels are matched to classes by value, and a missing-value marker is a class if it is named as one.
#[test]
fn known_labels_find_their_classes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("pool.csv"), "x,y\n1,1.0\n2,0.0\n3,\n4,None\n").unwrap();
    let known = |classes: &str, session: &str| {
        let args = ["pool.csv", "--known", "y", "--classes", classes, "--session", session];
        typed(folder, &[&args[..], &["--export", "-o", "o.csv", "--force"]].concat(), "")
    };
    let (code, said) = known("0,1", "a.jsonl");
    assert!(code == Some(0) && said.contains("`None` in 1 rows counts as missing"), "{said}");
    let labels =
        || table(folder, "o.csv").into_iter().map(|row| row[1].clone()).collect::<Vec<_>>();
    assert_eq!(labels(), ["1", "0"]);
    let (code, said) = known("0,1,None", "b.jsonl");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(labels(), ["1", "0", "None"]);
    // At the start of a session, `--not-missing` says that the word is a class, as at a fit.
    let args = ["pool.csv", "--known", "y", "--not-missing", "None", "--session", "e.jsonl"];
    let (code, said) =
        typed(folder, &[&args[..], &["--export", "-o", "o.csv", "--force"]].concat(), "");
    assert!(code == Some(0) && !said.contains("counts as missing"), "{said}");
    assert_eq!(labels(), ["1.0", "0.0", "None"]);
    // Quotation marks protect a comma.
    fs::write(folder.join("commas.csv"), "x,y\n1,\"a,b\"\n2,c\n3,\n").unwrap();
    let args = ["commas.csv", "--known", "y", "--classes", "\"a,b\", c", "--session", "d.jsonl"];
    let (code, said) =
        typed(folder, &[&args[..], &["--export", "-o", "o.csv", "--force"]].concat(), "");
    assert_eq!(code, Some(0), "{said}");
    let written = fs::read_to_string(folder.join("o.csv")).unwrap();
    assert!(written.contains("0,\"a,b\",known") && written.contains("1,c,known"), "{written}");
    let (code, said) = known("0,1,1.0", "c.jsonl");
    assert!(code == Some(2) && said.contains("are the same class"), "{said}");
}

/// Shown cells are exported as they are in the file. For the keys of the items and for the features, markers such as NA
/// count as missing values, as in other columns. Sessions in which they were shown as empty cells can therefore be
/// resumed.
#[test]
fn shown_cells_are_kept_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let pool = |cells: [&str; 5]| {
        let lines =
            cells.iter().enumerate().map(|(row, cell)| format!("{row}.5,{cell},{}\n", row % 2));
        fs::write(folder.join("pool.csv"), format!("x,note,z\n{}", lines.collect::<String>()))
            .unwrap();
    };
    let cells = ["NA", "None", "?", "null", "fine"];
    pool(cells);
    let show = ["pool.csv", "--show", "note,z", "--session", "s.jsonl", "--force", "-o", "o.csv"];
    let new = [&show[..], &["--classes", "a,b"]].concat();
    let (code, said) = typed(folder, &new, "a\nb\na\nb\na\nq\n");
    assert_eq!(code, Some(0), "{said}");
    let notes = || {
        let rows = table(folder, "o.csv").into_iter();
        let mut rows: Vec<_> = rows.map(|row| (row[0].clone(), row[1].clone())).collect();
        rows.sort();
        rows.into_iter().map(|(_, note)| note).collect::<Vec<_>>()
    };
    assert_eq!(notes(), cells);
    let session = fs::read(folder.join("s.jsonl")).unwrap();
    pool(["", "", "", "", "fine"]);
    let (code, said) = typed(folder, &[&show[..], &["--export"]].concat(), "");
    assert!(code == Some(0) && !said.contains("has changed"), "{said}");
    assert_eq!(notes(), ["", "", "", "", "fine"]);
    assert_eq!(fs::read(folder.join("s.jsonl")).unwrap(), session);
}

/// The classes of known labels have the names and the order that they have after a fit.
#[test]
fn classes_of_known_labels_are_those_of_a_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String =
        (0..40).map(|i| format!("{i},{}\n", ["10", "9.0", "9", "10.0"][i / 10])).collect();
    fs::write(folder.join("t.csv"), format!("x,y\n{rows}")).unwrap();
    let label =
        ["label", "t.csv", "--known", "y", "--session", "s.jsonl", "--export", "-o", "o.csv"];
    good(folder, &label);
    let session = fs::read_to_string(folder.join("s.jsonl")).unwrap();
    assert!(session.contains(r#"["9","10"]"#), "{}", session.lines().next().unwrap());
}

/// A column of --drop or --text may contain anything, as in `fit`. The options do not change the identity of the items.
#[test]
fn unused_columns_are_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("pool.csv"), "a,junk\n1,5\n2,6\n3,7\n4,oops\n").unwrap();
    for option in ["--drop", "--text"] {
        let args = ["pool.csv", "--classes", "x,y", option, "junk", "--session", "s.jsonl"];
        let (code, said) = typed(folder, &args, "x\ny\nq\n");
        assert_eq!(code, Some(0), "{said}");
        fs::remove_file(folder.join("s.jsonl")).unwrap();
    }
    fs::write(folder.join("pool.csv"), "a,day,n\n1,1.3.2024,1.0\n2,13.3.2024,NA\n3,14.3.2024,7\n")
        .unwrap();
    let args = ["pool.csv", "--classes", "x,y", "--session", "s.jsonl"];
    assert_eq!(typed(folder, &args, "x\ny\nq\n").0, Some(0));
    let args = [&args[..], &["--drop", "day", "--drop", "n"]].concat();
    let (code, said) = typed(folder, &args, "q\n");
    assert!(code == Some(0) && !said.contains("the pool has changed"), "{said}");
}

/// `--missing` applies to the pool. The table of `--items` is read without this option, so its keys do not depend on
/// it.
#[test]
fn missing_markers_of_the_pool_are_not_those_of_the_items() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("pool.csv"), "x,z\n0.5,1\n1.5,0\n2.5,1\n3.5,0\n").unwrap();
    fs::write(folder.join("items.csv"), "note\nNA\nfine\n-\nbad\n").unwrap();
    let show = ["pool.csv", "--items", "items.csv", "--show", "note", "--session", "s.jsonl"];
    let marked = ["--missing", "fine"];
    let new = [&show[..], &marked, &["--classes", "a,b", "-o", "o.csv"]].concat();
    let (code, said) = typed(folder, &new, "a\nb\na\nb\n");
    assert_eq!(code, Some(0), "{said}");
    let session = fs::read(folder.join("s.jsonl")).unwrap();
    let (code, said) = typed(folder, &[&show[..], &["--export", "-o", "p.csv"]].concat(), "");
    assert!(code == Some(0) && !said.contains("has changed"), "{said}");
    assert_eq!(fs::read(folder.join("s.jsonl")).unwrap(), session);
    let mut notes: Vec<_> =
        table(folder, "p.csv").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    notes.sort();
    assert_eq!(
        notes.iter().map(|(_, note)| note.as_str()).collect::<Vec<_>>(),
        ["NA", "fine", "-", "bad"]
    );
}

#[test]
fn a_shown_column_may_also_be_dropped() {
    let folder = tempfile::tempdir().unwrap();
    write_texts(folder.path(), "pool.csv", &TEXTS);
    let args = ["pool.csv", "--classes", "a,b", "--show", "text", "--drop", "text"];
    let (code, said) = typed(folder.path(), &args, "q\n");
    assert_eq!(code, Some(0), "{said}");
}

/// A session of version 1 can be resumed: its items get keys, which identify them from then on.
#[test]
fn a_session_of_version_1_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (xs, ys) = ([1.0, 2.0, 3.5, 4.0], [0.5, 0.25, 0.125, 1.0]);
    let write = |name: &str, rows: &[usize]| {
        let rows: Vec<String> = rows.iter().map(|i| format!("{},{}\n", xs[*i], ys[*i])).collect();
        fs::write(folder.join(name), format!("x,y\n{}", rows.concat())).unwrap();
    };
    write("pool.csv", &[0, 1, 2, 3]);
    // FNV-1a of the name and the values of each column.
    let column = |name: &[u8], values: &[f64]| {
        [name, &[0xff], &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>()].concat()
    };
    let bytes = [column(b"x", &xs), column(b"y", &ys)].concat();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let header = format!(
        r#"{{"format":"halfspaces labelling session","version":1,"pool":{{"source":"pool.csv","rows":4,"columns":2,"fingerprint":"{hash:016x}"}},"classes":["a","b"],"seed":0}}"#
    );
    let answer = r#"{"event":"answer","row":2,"class":"b","predicted":"a","probability":0.5,"to_come":null}"#;
    let old = format!("{header}\n{answer}\n");
    fs::write(folder.join("s.jsonl"), &old).unwrap();
    write("turned.csv", &[3, 2, 1, 0]);
    let go_on = |pool: &'static str| {
        let args = [pool, "--session", "s.jsonl", "-o", "o.csv", "--force"];
        typed(folder, &args, "q\n")
    };
    let (code, said) = go_on("turned.csv");
    assert!(code == Some(2) && said.contains("to carry the answers over, use --export"), "{said}");
    good(folder, &["label", "pool.csv", "--session", "s.jsonl", "--export", "-o", "o.csv"]);
    assert_eq!(fs::read_to_string(folder.join("s.jsonl")).unwrap(), old);
    let (code, said) = go_on("pool.csv");
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read_to_string(folder.join("s.jsonl")).unwrap().starts_with(&old));
    let (code, said) = go_on("turned.csv");
    assert!(
        code == Some(0) && said.contains("1 answered or skipped item has a new row number"),
        "{said}"
    );
    assert_eq!(table(folder, "o.csv"), [["1", "b", "corrected", ""]]);
}

/// A session starts with the predictions, classes and probabilities of a fitted model, even when it is resumed.
#[test]
fn a_session_starts_from_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (all, header) = (crate::support::table(500), "a,b,colour");
    let rows: Vec<&str> = all.lines().skip(1).collect();
    let bare = |row: &&str| row.rsplit_once(',').unwrap().0.to_owned();
    let (learn, pool) = rows.split_at(200);
    let lines = |rows: Vec<String>, header: &str| format!("{header}\n{}\n", rows.join("\n"));
    let owned = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect();
    fs::write(folder.join("learn.csv"), lines(owned(learn), "a,b,colour,y")).unwrap();
    fs::write(folder.join("truth.csv"), lines(owned(pool), "a,b,colour,y")).unwrap();
    fs::write(folder.join("new.csv"), lines(pool.iter().map(bare).collect(), header)).unwrap();
    crate::support::succeed(folder, "fit learn.csv --label y -o m.json");
    let predictions = crate::support::succeed(folder, "predict m.json new.csv");
    let count = |line: &str| {
        let found: Value = serde_json::from_str(&crate::support::succeed(folder, line)).unwrap();
        found["corrections"].as_u64().unwrap()
    };
    let alone = count("label truth.csv --label y --simulate --json");
    let helped = count("label truth.csv --label y --simulate --model m.json --json");
    assert!(helped < alone, "{helped} {alone}");

    // In both runs, the first question has a probability, although nothing is labelled at first.
    for _ in 0..2 {
        let args = ["label", "new.csv", "--model", "m.json", "--session", "s.jsonl"];
        let mut terminal = Terminal::start(folder, &args);
        let (row, class) = terminal.question().unwrap();
        let line = predictions.lines().nth(row + 1).unwrap();
        assert!(line.split(',').any(|cell| cell == class), "{line} {class}");
        terminal.say("");
        terminal.question().unwrap();
        terminal.say("q");
        assert!(terminal.child.wait().unwrap().success());
    }
    let export =
        "label new.csv --model m.json --session s.jsonl --export --with-predictions -o all.csv";
    crate::support::succeed(folder, export);
    let exported = fs::read_to_string(folder.join("all.csv")).unwrap();
    assert_eq!(
        exported.matches(",predicted,0.").count() + exported.matches(",predicted,1").count(),
        298
    );

    let refuse = |line: &str| refused(folder, &line.split(' ').collect::<Vec<_>>());
    let why = refuse("label new.csv --model m.json --classes u,v --session t.jsonl");
    assert!(why.contains("but the classes of this session are u, v"), "{why}");
    let why = refuse("label - --web --model m.json --session t.jsonl");
    assert!(why.contains("--model: standard input cannot be read more than once"), "{why}");
    fs::write(folder.join("other.csv"), "z\n1\n2\n").unwrap();
    let why = refuse("label other.csv --model m.json --session t.jsonl");
    assert!(why.contains("no column"), "{why}");
    assert!(!folder.join("t.jsonl").exists(), "nothing is written before the model fits the table");
}
