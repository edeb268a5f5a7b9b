//! The commands of the experiments are passed to their program with the same arguments, and its exit status is
//! returned.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `cargo xtask` with a script in place of Cargo.
fn xtask(script: &str, folder: &Path, arguments: &[&str]) -> Output {
    let cargo = folder.join("cargo");
    fs::write(&cargo, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.env("CARGO", &cargo).current_dir(folder).args(arguments).output().unwrap()
}

#[test]
fn arguments_folder_and_exit_status_are_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["reproduce", "--scale", "smoke", "--only", "K5 K6", "--", "--fresh"][..],
        &["report", "a b", "--out", "c"],
        &["list", "--help"],
        &["bench"],
        &["help", "reproduce"],
    ] {
        let script = "pwd; for argument; do echo \"$argument\"; done; exit 130";
        let output = xtask(script, folder.path(), arguments);
        assert_eq!(output.status.code(), Some(130), "{arguments:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(Path::new(lines[0]), folder.path().canonicalize().unwrap());
        assert_eq!(lines[1..5], ["run", "--release", "--package", "halfspaces-experiments"]);
        assert_eq!(lines[7], "--");
        assert_eq!(lines[8..], *arguments);
    }
}

/// `instructions` starts the package that counts instructions.
#[test]
fn instructions_have_their_own_program() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, passed) in [
        (&["instructions", "--of", "scan-50:3"][..], &["--of", "scan-50:3"][..]),
        (&["instructions"], &[]),
        (&["help", "instructions"], &["--help"]),
    ] {
        let output = xtask("for argument; do echo \"$argument\"; done", folder.path(), arguments);
        let said = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..4], ["run", "--release", "--package", "halfspaces-instructions"]);
        assert_eq!(lines[6], "--");
        assert_eq!(lines[7..], *passed);
    }
}

/// The program replaces this process, so a signal reaches the program itself.
#[test]
fn the_process_is_handed_over() {
    let folder = tempfile::tempdir().unwrap();
    let output = xtask("kill -TERM $$", folder.path(), &["reproduce"]);
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(output.status.signal(), Some(15));
}

#[test]
fn a_suite_that_cannot_be_started_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = command.env("CARGO", folder.path().join("none")).arg("list").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: cannot start ") && said.contains("none"), "{said}");
}

/// `index` needs the list of claims. If the list is missing, nothing is written.
#[test]
fn an_index_without_the_list_of_claims_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = xtask("exit 1", folder.path(), &["index"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("error: cannot list the claims: "), "{said}");
}
