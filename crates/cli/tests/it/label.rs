//! `halfspaces label` in the terminal, its session file and its exports.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails says where")]

use crate::support;

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;
use support::{Draws, good, labels_of_session, pool, program, refused};

/// Moments at which a session is killed.
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

    /// The row that is asked next, with the class predicted; `None` once nothing is.
    fn question(&mut self) -> Option<(usize, String)> {
        let mut text = Vec::new();
        loop {
            let mut byte = [0];
            if self.output.read(&mut byte).unwrap() == 0 {
                return None;
            }
            text.push(byte[0]);
            if text.ends_with(b"% sure > ") {
                break;
            }
            if text.ends_with(b"Enter or q ends > ") {
                self.say("q");
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
fn a_pool_is_labelled_in_two_sittings() {
    let folder = tempfile::tempdir().unwrap();
    let truth = pool(folder.path(), 80);
    let mut corrections = 0;
    for sitting in 0..2 {
        let args = [&NEW[..], &["-o", "out.csv", "--force"]].concat();
        // The second sitting knows classes and answers from the session.
        let args = if sitting == 0 {
            args
        } else {
            args.iter().filter(|a| !["--classes", "in,out"].contains(a)).copied().collect()
        };
        let mut terminal = Terminal::start(folder.path(), &args);
        let mut answers = 0;
        while let Some((row, class)) = terminal.question() {
            if sitting == 0 && answers == 30 {
                terminal.say("q");
                continue;
            }
            corrections += usize::from(class != truth[row]);
            // Enter where it is right, a key or a name where it is not.
            let key = if truth[row] == "in" { "1" } else { "out" };
            terminal.say(if class == truth[row] { "" } else { key });
            answers += 1;
        }
        assert!(terminal.child.wait().unwrap().success());
        assert_eq!(answers, if sitting == 0 { 30 } else { 50 });
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
    // Fewer than half of what the smaller class has.
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
    assert_eq!(terminal.question().unwrap().0, second, "a skip is taken back");
    terminal.say("u");
    assert_eq!(terminal.question().unwrap().0, first);
    terminal.say("u");
    assert_eq!(terminal.question().unwrap().0, first, "there is nothing left to take back");
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
    assert_eq!(rows.last(), Some(&open), "what was skipped comes last");
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

/// The last answer can be taken back and changed as the others can, also in a session that was finished before.
#[test]
fn a_finished_session_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 3);
    let said = |input: &str| {
        let mut command = program(folder.path());
        command.args(NEW).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        write!(child.stdin.take().unwrap(), "{input}").unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let labels = || labels_of_session(&folder.path().join("s.jsonl")).into_values();
    let first = said("in\nin\nin\nu\nout\nin\n\n");
    assert!(first.contains("every row has a label; r lists the last answers"), "{first}");
    assert_eq!(labels().filter(|class| class == "out").count(), 1);
    assert!(said("r\n1 out\n2 out\n\nq\n").contains("3 of 3 labelled"));
    assert_eq!(labels().filter(|class| class == "out").count(), 2);
}

/// Killed at [`KILLS`] moments, whose answers are all there once, but for one that may have been on its way.
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
            // The question after an answer acknowledges it.
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
        // The last one was or was not on the disk.
        if let Some(row) = last.filter(|row| labels.contains_key(row)) {
            acknowledged.push(row);
            under_way += usize::from(life < KILLS);
        }
        assert_eq!(labels.len(), acknowledged.len(), "life {life}");
    }
    assert_eq!(acknowledged.len(), 300);
    assert!(under_way > 0, "some were killed after the answer was written");
}

/// The labels of a session file whose last line may be cut.
fn labels_of_session_cut(path: &Path) -> std::collections::BTreeMap<usize, String> {
    let text = fs::read_to_string(path).unwrap();
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let copy = path.with_extension("whole");
    fs::write(&copy, whole).unwrap();
    labels_of_session(&copy)
}

#[test]
fn sessions_of_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    pool(folder.path(), 10);
    let mut terminal = Terminal::start(folder.path(), &NEW);
    terminal.question().unwrap();
    let said = refused(folder.path(), &NEW);
    assert!(said.contains("another process labels with this session"), "{said}");
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
    assert!(said.contains("a session about pool.csv (10 rows, 2 columns)"), "{said}");
    let said = refused(folder.path(), &["label", "pool.csv", "--session", "pool.csv"]);
    assert!(said.contains("is this a session file"), "{said}");
    for (args, part) in [
        (&["label", "pool.csv"][..], "name the classes"),
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
        "what is refused begins nothing"
    );
}

#[test]
fn known_labels_are_a_start_and_label_studio_is_spoken() {
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
    // Annotated there, found by its text: one new label, one changed.
    let task = |row: usize, class: &str| {
        format!(
            r#"{{"data":{{"note":"item {row}"}},"annotations":[{{"result":[{{"value":{{"choices":["{class}"]}}}}]}}]}}"#
        )
    };
    let other = if truth[0] == "in" { "out" } else { "in" };
    fs::write(folder.path().join("ls.json"), format!("[{},{}]", task(1, truth[1]), task(0, other)))
        .unwrap();
    let csv = export("a.jsonl", "b.csv", &["--import-labelstudio", "ls.json"]);
    assert_eq!(csv.matches(",known,").count(), 21);
    assert!(
        csv.contains(&format!("\n0,item 0,{other},"))
            && csv.contains(&format!("\n1,item 1,{},", truth[1]))
    );
    fs::write(folder.path().join("bad.json"), format!("[{}]", task(2, "elsewhere"))).unwrap();
    let bad =
        ["--session", "a.jsonl", "--export", "-o", "c.csv", "--import-labelstudio", "bad.json"];
    let said = refused(folder.path(), &[&label[..], &bad].concat());
    assert!(
        said.contains("bad.json: there is no class \"elsewhere\"; there are in, out"),
        "{said}"
    );
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
    assert_ne!(corrections(&random), corrections(&given));
    assert_eq!(random["curve"][0]["answers"], 0);
    let few = play(&["--max-answers", "7"]);
    assert_eq!((few["answers"].as_u64(), few.get("corrections_first_half")), (Some(7), None));
    let text = good(folder.path(), &["label", "all.csv", "--label", "label", "--simulate"]);
    assert!(text.contains(" corrections in 200 answers about 200 rows; per answer "), "{text}");
}

/// Nobody reads the questions any more: that is no failure.
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
    // The reading end lives on for a moment in a process that another test is about to start: then the next question has a
    // reader, and the one after it has none.
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
