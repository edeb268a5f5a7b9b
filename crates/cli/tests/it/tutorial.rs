//! Runs all commands of README.md, docs/guide/*.md and docs/tutorial/*.md in order and compares their output.
//!
//! A block marked `console` contains commands, each after `$ `, and their output. `…` in a line matches any text; a
//! line that consists of `…` matches any number of lines. Each page runs in its own directory, with copies of the files
//! in crates/data/datasets, crates/cli/tests/data and examples/tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a page with their expected output.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => found.push((command.to_owned(), Vec::new())),
                (None, Some((command, output))) => {
                    if output.is_empty() && command.ends_with('\\') {
                        command.push('\n');
                        command.push_str(line);
                    } else {
                        output.push(line.to_owned());
                    }
                }
                (None, None) => panic!("a block begins with output: {line}"),
            }
        }
    }
    found
}

/// Whether `text` matches `pattern`, in which `…` matches any text.
fn line_matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn matches(pattern: &[String], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((head, rest)) if head.trim() == "…" => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]))
        }
        Some((head, rest)) => lines
            .split_first()
            .is_some_and(|(line, more)| line_matches(head, line) && matches(rest, more)),
    }
}

fn copy_files(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy_files(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs a page; returns the differences.
fn run(page: &Path) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for folder in ["crates/data/datasets", "crates/cli/tests/data", "examples/tables"] {
        copy_files(&workspace().join(folder), directory.path());
    }
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_halfspaces"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let mut faults = Vec::new();
    for (command, expected) in commands(&fs::read_to_string(page).unwrap()) {
        // Both outputs in one stream, in the order in which a terminal shows them.
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(directory.path())
            .env("PATH", &path)
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let expected: Vec<String> = expected.iter().map(|l| l.trim_end().to_owned()).collect();
        let fails = expected.iter().any(|line| line.starts_with("error:"));
        if !matches(&expected, &lines) || output.status.success() == fails {
            let expected = expected.join("\n");
            faults.push(format!(
                "{}: $ {command}\nexpected:\n{expected}\nprinted ({}):\n{printed}",
                page.display(),
                output.status
            ));
        }
    }
    faults
}

#[test]
fn every_command_prints_what_its_page_says() {
    let folders = ["docs/guide", "docs/tutorial"].map(|folder| workspace().join(folder));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|e| e == "md"));
    pages.push(workspace().join("README.md"));
    pages.sort();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        let is_list =
            page.ends_with("docs/guide/README.md") || page.ends_with("docs/tutorial/README.md");
        assert!(is_list || !commands(&text).is_empty(), "{} has no command", page.display());
    }
    let faults: Vec<String> = pages.iter().flat_map(|page| run(page)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn output_is_compared() {
    let page = "text\n```console\n$ one\na…c\n…\nend\n\n$ two \\\n  three\n```\n```sh\n$ no\n```\n";
    let found = commands(page);
    assert_eq!(found.len(), 2);
    assert_eq!(found[1], ("two \\\n  three".to_owned(), vec![]));
    let pattern = &found[0].1[..3];
    for (lines, expected) in [
        (&["abc", "end"][..], true),
        (&["a c", "x", "y", "end"], true),
        (&["ab", "end"], false),
        (&["abc", "x"], false),
        (&["abc", "end", "more"], false),
        (&[], false),
    ] {
        assert_eq!(matches(pattern, lines), expected, "{lines:?}");
    }
    assert!(
        line_matches("a…b…c", "a1b2bc") && !line_matches("a…b…c", "ab") && !line_matches("a", "ab")
    );
}
