//! Tests of the command line: results do not depend on interruptions, threads or shards, and errors are clear.
#![allow(clippy::disallowed_methods, reason = "a program that hangs fails the test")]

use assert_cmd::Command as Assert;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const SUITE: &str = env!("CARGO_BIN_EXE_halfspaces-experiments");

fn reproduce(out: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(SUITE);
    command.arg("reproduce").arg("--out").arg(out);
    for (option, value) in [("--scale", "smoke"), ("--only", "K5")] {
        if !more.contains(&option) {
            command.args([option, value]);
        }
    }
    command.args(more);
    command
}

fn succeed(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

/// Runs a command that must fail, and returns its one line of error.
fn refused(mut command: Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{said}");
    assert_eq!(said.lines().last(), errors.first().copied(), "{said}");
    errors[0].to_owned()
}

/// The outputs that must not depend on the course of a run: all outputs except `run.json` and the order of the trials.
fn results(out: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for folder in ["tables", "figures"] {
        for entry in fs::read_dir(out.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(out).unwrap().to_path_buf();
            found.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    for name in ["claims.json", "claims.csv", "findings.md", "index.html"] {
        found.insert(name.into(), fs::read_to_string(out.join(name)).unwrap());
    }
    found
}

fn trials(out: &Path) -> usize {
    let bytes = fs::read(out.join("trials.jsonl")).unwrap_or_default();
    bytes.iter().filter(|b| **b == b'\n').count()
}

/// Waits until the run has written `count` trials or has ended, and kills it with SIGKILL. Returns whether the run was
/// still running.
fn kill_after(mut child: Child, out: &Path, count: usize) -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    while trials(out) < count && child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(200));
    }
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running
}

#[test]
fn every_file_of_the_design_is_written_and_the_ledger_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = succeed(reproduce(&out, &[]));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("K5 ") && stderr.contains("K5 done in "), "{stderr}");
    let ledger = String::from_utf8(output.stdout).unwrap();
    assert!(ledger.contains("K5    holds"), "{ledger}");
    let all = trials(&out);
    assert!(all > 50 && ledger.contains(&format!("{all} trials")), "{ledger}");
    for name in ["run.json", "trials.jsonl", "claims.json", "index.html"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    let claims: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("claims.json")).unwrap()).unwrap();
    for field in [
        "id",
        "statement",
        "source",
        "experiment",
        "verdict",
        "trials",
        "measured",
        "bound",
        "detail",
    ] {
        assert!(!claims[0][field].is_null(), "{field}");
    }
    assert_eq!(claims[0]["verdict"], "holds");
    assert!(results(&out).len() >= 4);
}

#[test]
fn ten_kills_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    succeed(reproduce(&whole, &[]));
    let mut killed = 0;
    for kill in 0..10 {
        let count = trials(&broken) + 1 + kill % 7;
        let child = reproduce(&broken, &["--jobs", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        killed += usize::from(kill_after(child, &broken, count));
    }
    assert!(killed >= 8, "only {killed} runs were still going when killed");
    succeed(reproduce(&broken, &[]));
    assert_eq!(results(&broken), results(&whole));

    // The times of resumed runs are added up.
    let seconds = || {
        let run = fs::read_to_string(broken.join("run.json")).unwrap();
        let run: serde_json::Value = serde_json::from_str(&run).unwrap();
        run["experiments"][0]["seconds"].as_f64().unwrap()
    };
    let before = seconds();
    succeed(reproduce(&broken, &[]));
    assert!(before > 0.0 && seconds() > before);
}

#[test]
fn jobs_and_shards_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    succeed(reproduce(&place("one"), &["--jobs", "1"]));
    succeed(reproduce(&place("two"), &["--jobs", "2"]));
    assert_eq!(results(&place("one")), results(&place("two")));

    let mut report = Command::new(SUITE);
    report.arg("report");
    for part in 1..=3 {
        let out = place(&format!("part{part}"));
        let output = succeed(reproduce(&out, &["--shard", &format!("{part}/3")]));
        // A single shard gives no verdict.
        assert!(String::from_utf8(output.stdout).unwrap().contains("K5    inconclusive"));
        report.arg(out);
    }
    report.arg("--out").arg(place("merged"));
    succeed(report);
    assert_eq!(results(&place("merged")), results(&place("one")));

    // A report in place rebuilds deleted files.
    let before = results(&place("one"));
    fs::remove_dir_all(place("one").join("figures")).unwrap();
    fs::remove_file(place("one").join("claims.json")).unwrap();
    let mut again = Command::new(SUITE);
    again.arg("report").arg(place("one"));
    succeed(again);
    assert_eq!(results(&place("one")), before);
}

/// A shard is killed and resumed, and the parts are merged. The results are those of an uninterrupted run.
#[test]
fn a_killed_shard_goes_on_and_is_merged() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    succeed(reproduce(&place("whole"), &[]));
    let shard = |part: &str| {
        fs::create_dir_all(place(part)).unwrap();
        reproduce(&place(part), &["--jobs", "1", "--shard", part])
    };
    let child = shard("1/2").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    kill_after(child, &place("1/2"), 5);
    let kept = trials(&place("1/2"));
    succeed(shard("1/2"));
    succeed(shard("2/2"));
    let all = trials(&place("whole"));
    assert!(kept >= 5 && trials(&place("1/2")) >= kept && trials(&place("2/2")) < all);
    assert_eq!(trials(&place("1/2")) + trials(&place("2/2")), all);

    let mut report = Command::new(SUITE);
    report.arg("report").args([place("1/2"), place("2/2")]).arg("--out").arg(place("merged"));
    succeed(report);
    assert_eq!(results(&place("merged")), results(&place("whole")));
}

/// The notes of a command that must succeed.
fn notes(command: Command) -> String {
    String::from_utf8(succeed(command).stderr).unwrap()
}

fn report(folders: &[PathBuf], out: &Path) -> Command {
    let mut command = Command::new(SUITE);
    command.arg("report").args(folders).arg("--out").arg(out);
    command
}

fn run_info(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(folder.join("run.json")).unwrap()).unwrap()
}

#[test]
fn a_report_names_what_is_missing_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    succeed(reproduce(&place("whole"), &[]));
    let shard = |part: usize| {
        let name = format!("{part}/3");
        (place(&format!("part{part}")), ["--jobs", "1", "--shard"].map(str::to_owned), name)
    };
    let run = |part: usize| {
        let (out, options, name) = shard(part);
        let options: Vec<&str> = options.iter().map(String::as_str).chain([&name[..]]).collect();
        reproduce(&out, &options)
    };
    let [first, second, third] = [1, 2, 3].map(|part| shard(part).0);
    succeed(run(1));
    let child = run(2).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(kill_after(child, &second, 3));
    let merged = place("merged");
    let said = notes(report(&[first, second.clone()], &merged));
    let lacks = trials(&place("whole")) - trials(&merged);
    let expected = format!(
        "K5: {lacks} of {} trials are missing\nshard 3/3 is missing: pass its folder, or run it\nshard 2/3 is not finished: run its command again\n",
        trials(&place("whole"))
    );
    assert_eq!(said, expected);
    assert!(fs::read_to_string(merged.join("claims.json")).unwrap().contains("inconclusive"));

    // The output folder still contains the first shard.
    succeed(run(2));
    succeed(run(3));
    assert_eq!(notes(report(&[third.clone(), second.clone()], &merged)), "");
    assert_eq!(results(&merged), results(&place("whole")));
    // If the same report is repeated, no time is counted twice.
    let seconds = |folder: &Path| run_info(folder)["experiments"][0]["seconds"].as_f64().unwrap();
    let all = [place("part1"), second, third];
    succeed(report(&all, &merged));
    let sum: f64 = all.iter().map(|part| seconds(part)).sum();
    assert!((seconds(&merged) - sum).abs() < 1e-9, "{} is not {sum}", seconds(&merged));
    assert_eq!(run_info(&merged)["shares"].as_array().unwrap().len(), 3);
}

/// A report of a killed run lists the experiments that the run had not begun.
#[test]
fn experiments_that_have_not_begun_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let child = reproduce(&out, &["--jobs", "1", "--only", "K4,K5"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(kill_after(child, &out, 5));
    let said = notes(report(std::slice::from_ref(&out), &out));
    let line = said.lines().find(|line| line.starts_with("K5: ")).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!((words[1], &words[4..]), (words[3], &["trials", "are", "missing"][..]), "{said}");
    let claims = fs::read_to_string(out.join("claims.json")).unwrap();
    assert!(claims.contains("\"K5\"") && claims.contains("inconclusive"));
}

#[test]
fn shards_that_contradict_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let shard = |name: &str, part: &str, more: &[&str]| {
        reproduce(&place(name), &[&["--shard", part], more].concat())
    };
    succeed(shard("first", "1/2", &[]));
    succeed(shard("again", "1/2", &[]));
    succeed(shard("thirds", "2/3", &[]));
    succeed(shard("seed", "2/2", &["--seed", "2"]));
    succeed(shard("other", "2/2", &["--only", "K4"]));
    succeed(shard("version", "2/2", &[]));
    let mut run = run_info(&place("version"));
    run["version"] = "9.9.9".into();
    fs::write(place("version").join("run.json"), run.to_string()).unwrap();
    for (second, expected) in [
        ("again", "again: shard 1/2 is also in "),
        ("thirds", "thirds: contains shard 2/3 of division "),
        ("other", "other: contains shard 2/2 of division "),
        ("seed", "seed 2, but this run has 1"),
        ("version", "version 9.9.9, but this run has "),
    ] {
        let error = refused(report(&[place("first"), place(second)], &place("merged")));
        assert!(error.contains(expected), "{error}");
        assert!(!place("merged").exists());
    }
    // A shard continues only in its own folder.
    let before = fs::read(place("first").join("trials.jsonl")).unwrap();
    for (part, more) in [("2/2", &[][..]), ("1/3", &[]), ("1/2", &["--only", "K4,K5"])] {
        let error = refused(shard("first", part, more));
        let expected =
            ["shards 1/2 of division ", &format!("but this run has {part} of division ")];
        assert!(expected.iter().all(|text| error.contains(text)), "{error}");
    }
    assert_eq!(fs::read(place("first").join("trials.jsonl")).unwrap(), before);
    // A run of all trials in the folder of a shard completes it.
    succeed(reproduce(&place("first"), &[]));
    assert_eq!(run_info(&place("first"))["shares"], serde_json::json!([]));
}

#[test]
fn recorded_times_balance_shards() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    succeed(reproduce(&place("whole"), &["--jobs", "1"]));
    // The file now states that one configuration takes all of the time.
    let mut run = run_info(&place("whole"));
    let times = run["experiments"][0]["configurations"].as_array_mut().unwrap();
    let recorded: f64 = times.iter().map(|time| time["seconds"].as_f64().unwrap()).sum();
    assert!(recorded > 0.0 && times.len() > 1);
    for (at, time) in times.iter_mut().enumerate() {
        let trials = time["trials"].as_f64().unwrap();
        time["seconds"] = (trials * if at == 0 { 1000.0 } else { 0.001 }).into();
    }
    let long = times[0]["trials"].as_u64().unwrap();
    fs::write(place("times.json"), run.to_string()).unwrap();
    let path = place("times.json").display().to_string();
    let parts = [1, 2].map(|part| {
        let out = place(&format!("part{part}"));
        let said = notes(reproduce(&out, &["--shard", &format!("{part}/2"), "--times", &path]));
        let longest = format!("the longest shard takes {}000.", long.div_ceil(2));
        assert!(said.contains(&longest), "{said}");
        out
    });
    succeed(report(&parts, &place("merged")));
    assert_eq!(results(&place("merged")), results(&place("whole")));
}

#[test]
fn a_cut_last_line_is_refused_then_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    succeed(reproduce(&out, &[]));
    let before = results(&out);
    let path = out.join("trials.jsonl");
    let bytes = fs::read(&path).unwrap();
    let last = format!("trials.jsonl, line {}", trials(&out));
    fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();

    let error = refused(reproduce(&out, &[]));
    assert!(error.contains(&last) && error.contains("--repair"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), &bytes[..bytes.len() - 20]);
    assert_eq!(results(&out), before);
    succeed(reproduce(&out, &["--repair"]));
    assert_eq!(results(&out), before);

    fs::write(&path, b"{\"not\": \"a trial\"}\n").unwrap();
    let error = refused(reproduce(&out, &[]));
    assert!(error.contains("trials.jsonl, line 1") && error.contains("--fresh"), "{error}");
    succeed(reproduce(&out, &["--fresh"]));
    assert_eq!(results(&out), before);
}

#[test]
fn a_folder_of_another_run_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    succeed(reproduce(&out, &[]));
    let before = (results(&out), fs::read(out.join("trials.jsonl")).unwrap());
    // A copied folder that no run has used here yet is refused, and no file is created.
    fs::remove_file(out.join(".lock")).unwrap();
    let error = refused(reproduce(&out, &["--seed", "2"]));
    assert!(error.contains("run.json") && error.contains("seed 1, but this run has 2"), "{error}");
    assert!(error.contains("--fresh") && !out.join(".lock").exists(), "{error}");

    let run = fs::read_to_string(out.join("run.json")).unwrap();
    let mut run: serde_json::Value = serde_json::from_str(&run).unwrap();
    run["version"] = "9.9.9".into();
    fs::write(out.join("run.json"), run.to_string()).unwrap();
    let error = refused(reproduce(&out, &[]));
    assert!(error.contains("version 9.9.9") && error.contains("--fresh"), "{error}");
    fs::remove_file(out.join("run.json")).unwrap();
    let error = refused(reproduce(&out, &[]));
    assert!(error.contains("without a run.json"), "{error}");
    fs::write(out.join("run.json"), "{").unwrap();
    let error = refused(reproduce(&out, &[]));
    assert!(error.contains("not a run.json"), "{error}");
    assert_eq!((results(&out), fs::read(out.join("trials.jsonl")).unwrap()), before);
}

/// Files that no run has written survive every command, including `--fresh`.
#[test]
fn foreign_files_survive() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    succeed(reproduce(&out, &[]));
    let before = results(&out);
    fs::write(out.join("figures/thesis.pdf"), "mine").unwrap();
    fs::create_dir(out.join("tables/notes")).unwrap();
    succeed(reproduce(&out, &["--fresh"]));
    succeed(reproduce(&out, &["--only", "K4"]));
    assert_eq!(fs::read_to_string(out.join("figures/thesis.pdf")).unwrap(), "mine");
    fs::remove_file(out.join("figures/thesis.pdf")).unwrap();
    fs::remove_dir(out.join("tables/notes")).unwrap();
    succeed(reproduce(&out, &["--fresh"]));
    assert_eq!(results(&out), before);

    // A folder with other contents is refused.
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("index.html"), "my page").unwrap();
    for more in [&[][..], &["--fresh"]] {
        let error = refused(reproduce(&home, more));
        assert!(error.contains("index.html") && error.contains("--out"), "{error}");
    }
    let mut report = Command::new(SUITE);
    report.arg("report").arg(&out).arg("--out").arg(&home);
    assert!(refused(report).contains("index.html"));
    let files: Vec<_> = fs::read_dir(&home).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(files, ["index.html"]);
    assert_eq!(fs::read_to_string(home.join("index.html")).unwrap(), "my page");
}

#[test]
fn reports_never_lose_trials() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    succeed(reproduce(&place("a"), &["--shard", "1/2"]));
    succeed(reproduce(&place("b"), &["--shard", "2/2"]));
    succeed(reproduce(&place("other"), &["--seed", "7"]));
    let report = |inputs: &[&str], out: &str| {
        let mut command = Command::new(SUITE);
        command.arg("report").args(inputs.iter().map(|name| place(name)));
        command.arg("--out").arg(place(out));
        command
    };
    // The folder of another run is refused, and its trials are unchanged.
    let before = fs::read(place("other").join("trials.jsonl")).unwrap();
    let error = refused(report(&["a", "b"], "other"));
    assert!(error.contains("seed"), "{error}");
    assert_eq!(fs::read(place("other").join("trials.jsonl")).unwrap(), before);
    // Writing into one of the inputs puts all trials there, even if it is named twice.
    let all = trials(&place("a")) + trials(&place("b"));
    succeed(report(&["a", "b", "a"], "a"));
    assert_eq!(trials(&place("a")), all);
    let merged = results(&place("a"));
    let mut again = Command::new(SUITE);
    again.arg("report").arg(place("a"));
    succeed(again);
    assert_eq!(results(&place("a")), merged);
    let claims = &merged[Path::new("claims.json")];
    assert!(claims.contains("\"holds\"") && !claims.contains("inconclusive"));
}

#[test]
fn a_run_in_progress_keeps_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut child = reproduce(&out, &["--jobs", "1", "--scale", "full"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while trials(&out) < 5 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    for more in [&[][..], &["--fresh"], &["--repair"]] {
        let more = [more, &["--scale", "full"]].concat();
        let command = reproduce(&out, &more);
        let error = refused(command);
        assert!(error.contains("another run is using this folder"), "{error}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(trials(&out) >= 5);
}

/// A run that is killed while it creates its files leaves them empty. The next run then starts as in a new folder.
#[test]
fn an_empty_start_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("trials.jsonl"), "").unwrap();
    fs::write(out.join(".run.json.x1Y2z3.tmp"), "{").unwrap();
    succeed(reproduce(&out, &[]));
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let error = refused(reproduce(&file.join("out"), &[]));
    assert!(error.contains("file/out") && error.contains("--out"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

/// Ctrl-C and `kill` print how to resume, and no finished trial is lost.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    succeed(reproduce(&whole, &[]));
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let kept = trials(&broken);
        let child = reproduce(&broken, &["--jobs", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while trials(&broken) < kept + 3 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(200));
        }
        let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{said}");
        let last = said.lines().last().unwrap();
        let kept = trials(&broken);
        assert!(last.starts_with(&format!("interrupted: {kept} trials are kept in ")), "{said}");
        assert!(last.contains("run the same command again"), "{said}");
    }
    succeed(reproduce(&broken, &[]));
    assert_eq!(results(&broken), results(&whole));
}

#[test]
fn experiments_and_claims_are_named_as_people_do() {
    let folder = tempfile::tempdir().unwrap();
    for (at, only) in [&["K5, K6"][..], &["K5,K6"], &["k5", "k6"], &["K6 K5"]].iter().enumerate() {
        let out = folder.path().join(at.to_string());
        succeed(reproduce(&out, &[&["--only"], *only].concat()));
        let claims = fs::read_to_string(out.join("claims.json")).unwrap();
        // K5 and K5s belong to the same experiment.
        assert_eq!(claims.matches("\"statement\"").count(), 3, "{only:?}");
    }
    // A claim selects the experiment that measures it.
    let out = folder.path().join("claim");
    succeed(reproduce(&out, &["--only", "K3n"]));
    assert!(fs::read_to_string(out.join("claims.json")).unwrap().contains("\"K3\""));
}

/// A full disk is simulated by a limit on the file size, which is reached at the end of a page or within a line.
/// Complete lines are kept, and the run resumes once there is space.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    succeed(reproduce(&whole, &[]));
    for blocks in ["8", "9", "11"] {
        let out = folder.path().join(blocks);
        let mut limited = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        limited.args(["-c", &script, "sh", SUITE]);
        limited.args(["reproduce", "--scale", "smoke", "--only", "K5", "--out"]).arg(&out);
        let error = refused(limited);
        assert!(error.contains("trials.jsonl") && error.contains("trials are kept"), "{error}");
        let bytes = fs::read(out.join("trials.jsonl")).unwrap();
        assert_eq!(bytes.last(), Some(&b'\n'), "{blocks}");
        let kept = trials(&out);
        assert!(kept > 0 && kept < trials(&whole));
        succeed(reproduce(&out, &[]));
        assert_eq!(results(&out), results(&whole));
    }
}

#[test]
fn usage_errors_list_the_valid_values() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for only in ["K99", "K3, K99", ""] {
        let error = refused(reproduce(&out, &["--only", only]));
        // The message lists the experiments and their claims.
        assert!(
            error.contains("use one of K1, ") && error.contains("K3, K3n, K4, K4s, K5, "),
            "{error}"
        );
        assert_eq!(error.contains("--only K99: no such"), !only.is_empty(), "{error}");
    }
    let error = refused(reproduce(&out, &["--data", "/no/such/folder"]));
    assert!(error.contains("/no/such/folder"), "{error}");
    let mut nothing = Command::new(SUITE);
    nothing.arg("report").arg(folder.path());
    let error = refused(nothing);
    assert!(error.contains("run.json"), "{error}");
    for bad in [["--shard", "4/3"], ["--jobs", "0"], ["--scale", "vast"]] {
        let mut command = reproduce(&out, &[]);
        Assert::from_std({
            command.args(bad);
            command
        })
        .assert()
        .code(2);
    }
    assert!(!out.exists());
}

#[test]
fn bad_data_is_named_by_file_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let faults = [
        ("1,2,g\n3,NaN,h\n", "magic.csv, line 2, column `c2`"),
        ("1,2,g\n3,h\n", "magic.csv, line 2"),
        ("", "magic.csv"),
    ];
    for (text, place) in faults {
        fs::write(data.join("magic.csv"), text).unwrap();
        let mut command = reproduce(&out, &["--fresh", "--data"]);
        command.arg(&data);
        let error = refused(command);
        assert!(error.contains(place), "{error}");
        // The error comes before anything runs.
        assert!(!out.exists());
    }
    for one_class in ["1,2,g\n3,4,g\n", "1,2,g\n1,2,h\n"] {
        fs::write(data.join("magic.csv"), one_class).unwrap();
        let mut command = reproduce(&out, &["--data"]);
        command.arg(&data);
        let error = refused(command);
        assert!(error.contains("magic.csv") && error.contains("two classes"), "{error}");
    }
    fs::remove_file(data.join("magic.csv")).unwrap();
    let mut command = reproduce(&out, &["--data"]);
    command.arg(&data);
    assert!(refused(command).contains("found none of magic.csv"));
}

#[test]
fn list_names_experiments_and_claims() {
    let assert = Assert::new(SUITE).arg("list").assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    for id in ["K3", "K3n", "K4", "K5", "smoke", "standard", "full"] {
        assert!(text.contains(id), "{id}");
    }
}
