//! Corrupted files: runs the targets of `fuzz/` on the corpus and on a fixed number of mutations of it, like a fuzzer.
//! `fuzz/` itself needs nightly Rust and searches longer.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../fuzz/src/lib.rs"]
#[allow(dead_code, unreachable_pub, clippy::panic, reason = "a library of its own")]
mod targets;

use std::path::{Path, PathBuf};

/// A target and its name, which is also the name of its folder in the corpus.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 8] = [
    ("libsvm", targets::libsvm),
    ("arrow", targets::tables::arrow),
    ("parquet", targets::tables::parquet),
    ("numpy", targets::tables::numpy),
    ("journal", targets::journal),
    ("session", targets::session),
    ("saved", targets::saved),
    ("trials", targets::trials),
];

fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus")
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(corpus_folder().join(target))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn the_corpus_passes() {
    for (name, target) in TARGETS {
        let files = corpus(name);
        assert!(!files.is_empty(), "{name}");
        files.iter().for_each(|file| target(file));
    }
}

/// Every kind of saved value has a current seed in the corpus.
#[test]
fn every_kind_has_a_seed_that_loads() {
    assert_eq!(targets::seeds::kinds_without_a_seed().unwrap(), Vec::<&str>::new());
    for (target, name, contents) in targets::seeds::seeds().unwrap() {
        let run = TARGETS.iter().find(|(known, _)| *known == target).unwrap().1;
        run(&contents);
        assert!(targets::is_accepted(target, &contents), "{name}");
    }
}

/// The saved values in the corpus load; otherwise a fuzzer would only test that they are refused.
#[test]
fn the_corpus_of_saved_values_loads() {
    for (target, name, _) in targets::seeds::seeds().unwrap() {
        let path = corpus_folder().join(target).join(&name);
        assert!(targets::is_accepted(target, &std::fs::read(path).unwrap()), "{target}/{name}");
    }
}

/// The journals in the corpus are valid sessions, with and without checksums.
#[test]
fn the_corpus_of_journals_is_of_sessions() {
    for (target, name, contents) in targets::seeds::journals().unwrap() {
        assert!(targets::is_session(&contents), "{name}");
        let path = corpus_folder().join(target).join(&name);
        assert_eq!(std::fs::read(path).unwrap(), contents, "{name}");
    }
}

/// Replaces one to three values of a session by extreme numbers, 10 × `PROPTEST_CASES` times per file.
#[test]
fn changed_values_of_journals_are_refused_or_harmless() {
    let (mut accepted, mut refused) = (0, 0);
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    for file in corpus("journal") {
        // `mutate_json` expects a first line.
        let start = [b"journal\n", &file[..]].concat();
        let mut changed = start.clone();
        for seed in 0..10 * cases {
            if seed % 3 == 0 {
                changed.clone_from(&start);
            }
            if let Some(next) = targets::mutate_json(&changed, seed) {
                changed = next;
                let is_session = targets::is_session(&changed[b"journal\n".len()..]);
                *(if is_session { &mut accepted } else { &mut refused }) += 1;
            }
        }
    }
    assert!(accepted > 0 && refused > 100, "{accepted} accepted, {refused} refused");
}

/// Saved values that fuzzing found, with counters at their maximum, are refused.
#[test]
fn what_no_run_can_have_saved_is_refused() {
    for (kind, changes) in targets::seeds::impossible() {
        let broken = targets::seeds::broken(kind, &changes).unwrap();
        assert!(!targets::is_accepted("saved", &broken), "{kind}: {changes}");
    }
}

/// Replaces one to three values of a saved file by extreme numbers, removes them, or duplicates them: `PROPTEST_CASES`
/// times per file (default: 60).
#[test]
fn changed_values_are_refused_or_harmless() {
    let mut failures = std::collections::BTreeMap::new();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    for (name, target) in &TARGETS[5..] {
        for file in corpus(name) {
            let mut changed = file.clone();
            for seed in 0..cases {
                if seed % 3 == 0 {
                    changed.clone_from(&file);
                }
                if let Some(next) = targets::mutate_json(&changed, seed) {
                    changed = next;
                    let text = String::from_utf8_lossy(&changed).into_owned();
                    let ran = std::panic::catch_unwind(|| target(&changed));
                    if ran.is_err() {
                        let kind = text.lines().next().unwrap_or_default().to_owned();
                        failures.entry(format!("{name} {kind}")).or_insert(text);
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Truncates every file at every position, and changes the byte at every position.
#[test]
fn changed_bytes_are_refused_or_harmless() {
    for (name, target) in &TARGETS[..5] {
        for file in corpus(name) {
            for at in 0..file.len() {
                target(&file[..at]);
                for byte in *b"\0\"\n,:-9e#\xff" {
                    let mut changed = file.clone();
                    changed[at] = byte;
                    target(&changed);
                }
            }
        }
    }
}

/// Writes the seeds to the corpus: `cargo test -p halfspaces-tests malformed -- --ignored`.
#[test]
#[ignore = "writes into fuzz/corpus"]
fn write_the_corpus() {
    let corpus = corpus_folder();
    let seeds = targets::seeds::seeds().unwrap();
    for (target, name, contents) in seeds.into_iter().chain(targets::seeds::journals().unwrap()) {
        std::fs::create_dir_all(corpus.join(target)).unwrap();
        std::fs::write(corpus.join(target).join(name), contents).unwrap();
    }
    for (number, (kind, changes)) in targets::seeds::impossible().iter().enumerate() {
        let broken = targets::seeds::broken(kind, changes).unwrap();
        std::fs::write(corpus.join(format!("saved/{kind}_impossible_{number}")), broken).unwrap();
    }
}
