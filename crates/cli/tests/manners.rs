//! How the command behaves: signals, pipes, files that are there, help, completions, manual pages.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{halfspaces, listing, table};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn an_output_is_overwritten_only_by_force() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(40)).unwrap();
    let fit = "fit t.csv --label y --learner logistic -o m.json";
    halfspaces(dir.path()).args(fit.split(' ')).assert().success();
    let before = fs::read(dir.path().join("m.json")).unwrap();
    halfspaces(dir.path()).args(fit.split(' ')).arg("--seed=7").assert().code(2);
    assert_eq!(fs::read(dir.path().join("m.json")).unwrap(), before);
    halfspaces(dir.path()).args(fit.split(' ')).args(["--seed=7", "--force"]).assert().success();
    assert_ne!(fs::read(dir.path().join("m.json")).unwrap(), before);
    assert_eq!(listing(dir.path()), ["m.json", "t.csv"]);
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(300)).unwrap();
    let mut models = Vec::new();
    for threads in ["1", "2", "5"] {
        let fit = format!("fit t.csv --label y --threads {threads} -o m.json --force");
        halfspaces(dir.path()).args(fit.split(' ')).assert().success();
        models.push(fs::read(dir.path().join("m.json")).unwrap());
    }
    assert!(models[0] == models[1] && models[0] == models[2]);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_its_code_and_leaves_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    // To read it alone takes longer than the wait before the signal.
    fs::write(dir.path().join("t.csv"), table(2_000_000)).unwrap();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_halfspaces"))
            .args(["fit", "t.csv", "--label", "y", "-o", "m.json"])
            .current_dir(dir.path())
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
    halfspaces(dir.path()).args(fit.split(' ')).assert().success();
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
    let text = |args: &[&str]| {
        let output = halfspaces(dir.path()).args(args).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let main = text(&["--help"]);
    assert!(main.contains("Exit codes:") && main.contains("130"), "{main}");
    for command in [
        "fit",
        "predict",
        "evaluate",
        "explain",
        "label",
        "audit",
        "transform",
        "completions",
        "man",
    ] {
        assert!(main.contains(&format!("  {command} ")), "{command}");
        let help = text(&[command, "--help"]);
        assert!(help.contains("Example"), "{command}: {help}");
        assert!(help.contains(&format!("halfspaces {command}")), "{command}: {help}");
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("halfspaces") && script.contains("explain"), "{shell}");
    }
    assert!(text(&["man"]).contains(".TH halfspaces 1"));
    text(&["man", "--dir", "."]);
    let pages = listing(dir.path());
    assert_eq!(pages.len(), 10);
    assert!(pages.contains(&"halfspaces-fit.1".to_owned()), "{pages:?}");
    halfspaces(dir.path()).args(["man", "--dir", "."]).assert().code(2);
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
    halfspaces(dir.path()).args(fit.split(' ')).assert().success();
    let predict = |text: &str| {
        write("new.csv", text);
        let args = ["predict", "m.json", "new.csv", "--unseen", "zero"];
        let output = halfspaces(dir.path()).args(args).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    // The median of 0..=6 stands in for a missing number, with a coordinate that says so: an absent column is missing cells.
    let missing = predict("a,colour\n,red\n");
    assert_eq!(predict("colour\nred\n"), missing);
    assert_ne!(predict("a,colour\n3,red\n"), missing);
    // A category that was not seen is none of the known ones, as is a missing one where none was missing.
    let unseen = predict("a,colour\n3,purple\n");
    assert_eq!(predict("a\n3\n"), unseen);
    assert_eq!(predict("a,colour\n3,\n"), unseen);
    assert_ne!(predict("a,colour\n3,red\n"), unseen);
}
