//! General behaviour of the command: signals, pipes, existing files, help, completions, manual pages.

use crate::support::{good, listing, program, refused, run_line, succeed, table};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn an_output_is_overwritten_only_with_force() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(40)).unwrap();
    let fit = "fit t.csv --label y --learner logistic -o m.json";
    succeed(dir.path(), fit);
    let before = fs::read(dir.path().join("m.json")).unwrap();
    let again = format!("{fit} --seed=7");
    refused(dir.path(), &again.split(' ').collect::<Vec<_>>());
    assert_eq!(fs::read(dir.path().join("m.json")).unwrap(), before);
    succeed(dir.path(), &format!("{again} --force"));
    assert_ne!(fs::read(dir.path().join("m.json")).unwrap(), before);
    assert_eq!(listing(dir.path()), ["m.json", "t.csv"]);
}

/// Outputs can be written through links, into pipes, and to standard output by its path; an overwritten file keeps its
/// permissions.
#[cfg(unix)]
#[test]
fn links_pipes_and_permissions_are_preserved() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("t.csv"), table(40)).unwrap();
    let run = |command: &str| succeed(dir.path(), command);
    let refuse = |command: &str| refused(dir.path(), &command.split(' ').collect::<Vec<_>>());
    run("fit t.csv --label y --learner logistic -o m.json");
    let said = run("predict m.json t.csv");
    for output in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let command = format!("predict m.json t.csv -o {output}");
        assert!(run(&command) == said, "{output}");
    }
    fs::create_dir(at("far")).unwrap();
    fs::write(at("far/real.csv"), "before").unwrap();
    fs::set_permissions(at("far/real.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("far/real.csv", at("link.csv")).unwrap();
    refuse("predict m.json t.csv -o link.csv");
    run("predict m.json t.csv -o link.csv --force");
    assert!(at("link.csv").is_symlink());
    assert!(fs::read_to_string(at("far/real.csv")).unwrap() == said);
    assert_eq!(fs::metadata(at("far/real.csv")).unwrap().permissions().mode() & 0o777, 0o600);
    symlink("nowhere.csv", at("loose.csv")).unwrap();
    refuse("predict m.json t.csv -o loose.csv --force");
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = at("pipe");
        move || fs::read_to_string(pipe).unwrap()
    });
    run("predict m.json t.csv -o pipe");
    assert!(reader.join().unwrap() == said);
    assert!(fs::metadata(at("pipe")).unwrap().file_type().is_fifo());
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(300)).unwrap();
    let mut models = Vec::new();
    for threads in ["1", "2", "5"] {
        let fit = format!("fit t.csv --label y --threads {threads} -o m.json --force");
        succeed(dir.path(), &fit);
        models.push(fs::read(dir.path().join("m.json")).unwrap());
    }
    assert!(models[0] == models[1] && models[0] == models[2]);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_its_code_and_leaves_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    // Reading this table takes longer than the wait before the signal.
    fs::write(dir.path().join("t.csv"), table(2_000_000)).unwrap();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut child = program(dir.path())
            .args(["fit", "t.csv", "--label", "y", "-o", "m.json"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(listing(dir.path()), ["t.csv"]);
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(20_000)).unwrap();
    let fit = "fit t.csv --label y --learner logistic -o m.json";
    succeed(dir.path(), fit);
    let binary = env!("CARGO_BIN_EXE_halfspaces");
    for command in ["predict m.json t.csv", "man"] {
        let output = Command::new("sh")
            .args(["-c", &format!("{binary} {command} | head -1")])
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn help_of_every_subcommand_has_examples_and_the_page_lists_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let text = |args: &[&str]| good(dir.path(), args);
    let main = text(&["--help"]);
    assert!(main.contains("Exit codes:") && main.contains("130"), "{main}");
    for command in [
        "fit",
        "predict",
        "evaluate",
        "compare",
        "explain",
        "export",
        "label",
        "audit",
        "correct",
        "inspect",
        "transform",
        "completions",
        "man",
    ] {
        assert!(main.contains(&format!("  {command} ")), "{command}");
        let help = text(&[command, "--help"]);
        assert!(help.contains("Example"), "{command}: {help}");
        assert!(help.contains(&format!("halfspaces {command}")), "{command}: {help}");
        // The options of the command itself are not among those of reading and of columns.
        let listed = help.split("\nExamples:").next().unwrap_or_default();
        let after = listed.split_once("\nReading:").map_or("", |(_, after)| after);
        for option in ["--json", "--output", "--label ", "--learner", "--seed"] {
            assert!(
                command == "label" || !after.contains(&format!("  {option}")),
                "{command} {option}"
            );
            let short = format!(", {option}");
            assert!(command == "label" || !after.contains(&short), "{command} {option}");
        }
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("halfspaces") && script.contains("explain"), "{shell}");
    }
    assert!(text(&["man"]).contains(".TH halfspaces 1"));
    text(&["man", "--dir", "."]);
    let pages = listing(dir.path());
    assert_eq!(pages.len(), 14);
    assert!(pages.contains(&"halfspaces-fit.1".to_owned()), "{pages:?}");
    refused(dir.path(), &["man", "--dir", "."]);
}

#[test]
fn unseen_categories_and_absent_columns_by_the_stated_rule() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let mut text = "a,colour,y\n".to_owned();
    for i in 0..60 {
        let a = if i % 20 == 0 { String::new() } else { (i % 7).to_string() };
        text.push_str(&format!(
            "{a},{},{}\n",
            ["red", "green"][i % 2],
            ["n", "p"][usize::from(i % 7 > 3)]
        ));
    }
    write("t.csv", &text);
    let fit = "fit t.csv --label y --learner svm --holdout 0 -o m.json";
    succeed(dir.path(), fit);
    let predict = |text: &str| {
        write("new.csv", text);
        succeed(dir.path(), "predict m.json new.csv --unseen zero")
    };
    // A missing number is replaced by the median of 0..=6 and marked by a coordinate. A missing column is treated as a
    // column of missing cells.
    let missing = predict("a,colour\n,red\n");
    assert_eq!(predict("colour\nred\n"), missing);
    assert_ne!(predict("a,colour\n3,red\n"), missing);
    // An unseen category counts as none of the known ones. So does a missing category if the training table has no
    // missing categories.
    let unseen = predict("a,colour\n3,purple\n");
    assert_eq!(predict("a\n3\n"), unseen);
    assert_eq!(predict("a,colour\n3,\n"), unseen);
    assert_ne!(predict("a,colour\n3,red\n"), unseen);
}

/// The label is the most probable class, for two and three classes of any frequency. If there is no hold-out, there are
/// no probabilities, and a note of `fit` states this.
#[test]
fn a_label_is_the_most_probable_class() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = "a,b,y,z\n".to_owned();
    for i in 0..400 {
        let (a, b) = (f64::from(i * 37 % 101) / 50.0 - 1.0, f64::from(i * 59 % 103) / 50.0 - 1.0);
        let noise = f64::from(i * 7 % 11) / 5.0 - 1.0;
        let z = if a - b + noise > 0.8 { "u" } else { ["v", "w"][usize::from(b + noise > 0.2)] };
        text.push_str(&format!("{a},{b},{},{z}\n", a + b + noise > 0.9));
    }
    fs::write(dir.path().join("t.csv"), text).unwrap();
    let run = |command: &str| succeed(dir.path(), command);
    for label in ["y", "z"] {
        let other = if label == "y" { "z" } else { "y" };
        for learner in ["auto", "logistic", "svm", "perceptron", "perspectron", "massart"] {
            let columns = format!("--label {label} --drop {other} --learner {learner}");
            run(&format!("fit t.csv {columns} --holdout 0.3 -o m.json --force"));
            let said = run(&format!("predict m.json t.csv --all --keep {label}"));
            let mut lines = said.lines();
            let header: Vec<&str> = lines.next().unwrap().split(',').collect();
            for line in lines {
                let cells: Vec<&str> = line.split(',').collect();
                let number = |cell: &str| cell.parse::<f64>().unwrap();
                let own = number(cells[3]);
                let most = cells[4..].iter().map(|cell| number(cell)).fold(0.0, f64::max);
                assert!(own >= most, "{learner}: {line}");
                let name = format!("probability={}", cells[1]);
                let place = header.iter().position(|cell| *cell == name).unwrap();
                assert_eq!(cells[place], cells[3], "{learner}: {line}");
            }
        }
    }
    // A small table is cross-validated, also for calibration.
    let said = run("fit t.csv --label y --learner svm --holdout 0 -o m.json --force");
    assert!(!said.contains("no probabilities"), "{said}");
    // A stream is not cross-validated, so it needs held-out rows. Of the 400 rows, none, nine and ten are held out in
    // turn.
    for (held_out, gives) in [("0", false), ("0.0225", false), ("0.025", true)] {
        let fit = format!("fit t.csv --label y --learner perceptron --stream --holdout {held_out}");
        let said = run(&format!("{fit} -o m.json --force"));
        assert_eq!(!said.contains("no probabilities"), gives, "{said}");
    }
}

/// A kept column that has the same name as a column of the result is renamed.
#[test]
fn kept_columns_have_unique_names() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(40).replacen(",y\n", ",label\n", 1)).unwrap();
    let run = |command: &str| succeed(dir.path(), command);
    run("fit t.csv --label label --learner logistic -o m.json");
    let said = run("predict m.json t.csv --keep label --keep a");
    assert!(said.starts_with("kept label,a,label,value,probability\n"), "{said}");
}

/// Names of classes and columns may contain control characters; they are escaped on the terminal.
#[test]
fn control_characters_in_names_are_escaped() {
    let dir = tempfile::tempdir().unwrap();
    let odd = "\"n\u{1b}[31m\no\"";
    let rows: String =
        (0..40).map(|i| format!("{}.5,1,{}\n", i, if i < 20 { odd } else { "p" })).collect();
    fs::write(dir.path().join("t.csv"), format!("a,\"k\u{7}\",y\n{rows}")).unwrap();
    let run = |command: &str| succeed(dir.path(), command);
    let fit = run("fit t.csv --label y --learner logistic -o m.json");
    assert!(fit.contains(r"n\u{1b}[31m\no (20), p (20)") && fit.contains(r"k\u{7}"), "{fit}");
    let evaluated = run("evaluate m.json t.csv");
    assert!(evaluated.contains(r"n\u{1b}[31m\no"), "{evaluated}");
    assert!(!(fit + &evaluated).contains(['\u{1b}', '\u{7}']));
}

/// `1` and `1.0` are one class, as a note states.
#[test]
fn classes_of_equal_numbers_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..40).map(|i| format!("{i},{}\n", ["1", "2", "1.0"][i % 3])).collect();
    fs::write(dir.path().join("t.csv"), format!("a,y\n{rows}")).unwrap();
    let fit = "fit t.csv --label y --learner logistic -o m.json";
    let output = run_line(dir.path(), fit);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`1` and `1.0` count as one class"), "{said}");
    assert!(!said.contains("`2`"), "{said}");
}

/// Weights are ordered by absolute value.
#[test]
fn weights_are_listed_by_their_size() {
    let dir = tempfile::tempdir().unwrap();
    let row = |i: i32| (i * 37 % 101 - 50, i * 59 % 103 - 51);
    let rows: String = (0..200)
        .map(|i| (row(i), if row(i).1 < row(i).0 / 4 { "p" } else { "n" }))
        .map(|((a, b), y)| format!("{a},{b},{y}\n"))
        .collect();
    fs::write(dir.path().join("t.csv"), format!("weak,strong,y\n{rows}")).unwrap();
    let run = |command: &str| succeed(dir.path(), command);
    run("fit t.csv --label y --learner logistic -o m.json");
    let explained = run("explain m.json t.csv --json");
    let explained: serde_json::Value = serde_json::from_str(&explained).unwrap();
    let weights = explained["weights"][0]["weights"].as_array().unwrap();
    let of = |at: usize| (weights[at]["coordinate"].clone(), weights[at]["weight"].as_f64());
    assert_eq!((of(0).0, of(1).0), ("strong".into(), "weak".into()));
    assert!(of(0).1 < Some(0.0) && of(1).1 > Some(0.0));
}

/// A column that looks like an identifier is ignored with a note, unless --use names it.
#[test]
fn identifier_columns_are_ignored_unless_used() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String =
        (0..60).map(|i| format!("doc{i},{},{}\n", i * 7 % 13, ["p", "q"][i / 30])).collect();
    fs::write(dir.path().join("t.csv"), format!("id,a,y\n{rows}")).unwrap();
    let fit = |more: &str| {
        let args = format!("fit t.csv --label y --learner logistic -o m.json --force{more}");
        run_line(dir.path(), &args)
    };
    let said = String::from_utf8(fit("").stderr).unwrap();
    assert!(said.contains("`id`") && said.contains("--use 'id'"), "{said}");
    // With --use, the column is read, but it has too many different texts for a column of categories.
    let used = fit(" --use id");
    assert_eq!(used.status.code(), Some(2));
    assert!(String::from_utf8(used.stderr).unwrap().contains("57 different texts in 57 rows"));
    assert_eq!(fit(" --use no").status.code(), Some(2));
}
