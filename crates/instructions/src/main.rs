//! `cargo xtask instructions`: counts the instructions that a row takes in eleven inner loops, without the noise of time.
//!
//! This package is separate from the experiments because CI compiles it with full optimisation for each change.
//!
//! Each loop runs in its own process, once over a few rows and once over more. This program steps through that process one
//! instruction at a time and counts. The difference of the two counts is the cost of the additional rows. The counts depend
//! on the compiler, which rust-toolchain.toml fixes, and on the vector instructions of the processor. Expected counts are
//! recorded for AVX-512; on other processors the counts are shown and not judged.

mod loops;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod stepping;
mod terminal;

use clap::Parser;
use loops::{LOOPS, Loop};
use std::io::Write as _;
use std::process::ExitCode;
use terminal::{Failure, say};

/// How far a count may be from the one written down, either way: a loop that became faster is written down anew,
/// so that it does not become slower again unseen.
const MOST: f64 = 1.3;

/// The vectors for which counts are written down.
const JUDGED: &str = "AVX-512";

/// Count the instructions that a row takes in eleven inner loops, and compare them with those written down.
///
/// The processor steps through each loop one instruction at a time. Linux on x86-64; elsewhere, and where a process may
/// not be followed, it says so and counts nothing.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask instructions", bin_name = "cargo xtask instructions")]
struct Options {
    /// Wait for a line on stdin and run one loop
    #[arg(long, value_name = "LOOP:ROWS", hide = true)]
    of: Option<String>,
}

fn main() -> ExitCode {
    instructions(&Options::parse()).unwrap_or_else(|failure| {
        // An error could only be reported there.
        let _ = writeln!(std::io::stderr(), "error: {failure}");
        ExitCode::from(2)
    })
}

/// Counts and judges, or runs one loop for the process that counts.
fn instructions(options: &Options) -> Result<ExitCode, Failure> {
    if let Some(of) = &options.of {
        return loops::run(of);
    }
    if cfg!(debug_assertions) {
        let needed = "the counts written down are those of an optimised program";
        return Err(format!("{needed}: cargo xtask instructions").into());
    }
    let vectors = halfspaces_kernels::vectors();
    say(&format!("| instructions a row, {vectors} | counted | written down | ratio | |\n"))?;
    say("|---|---|---|---|---|\n")?;
    let mut judged = Vec::new();
    for l in &LOOPS {
        match a_row(l)? {
            Ok(counted) => {
                let (line, good) = judge(l, vectors, counted);
                say(&line)?;
                judged.push(good);
            }
            Err(why) => {
                say(&format!("\nNOT COUNTED, nothing was checked: {why}\n"))?;
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
    let bad = judged.iter().filter(|good| **good == Some(false)).count();
    let unknown = judged.iter().filter(|good| good.is_none()).count();
    if unknown > 0 {
        say(&format!("\nNOT JUDGED: no counts are written down for {vectors} vectors\n"))?;
    }
    say(&format!("\n{bad} of {} loops beyond {MOST} times the count written down\n", LOOPS.len()))?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A line of the table, and whether the count is near the one written down, if there is one.
fn judge(l: &Loop, vectors: &str, counted: f64) -> (String, Option<bool>) {
    let expected = (vectors == JUDGED).then_some(l.avx512);
    let good = expected.map(|expected| {
        let ratio = counted / expected;
        (1.0 / MOST..=MOST).contains(&ratio)
    });
    let written = expected.map_or("-".into(), |e| format!("{e:.0} | {:.2}", counted / e));
    let word = match good {
        Some(true) => "as written",
        Some(false) if expected.is_some_and(|e| counted < e) => "fewer: write it down",
        Some(false) => "MORE",
        None => "not judged",
    };
    (format!("| {} | {counted:.1} | {written} | {word} |\n", l.id), good)
}

/// The instructions of a row, or why they cannot be counted here.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_row(l: &Loop) -> Result<Result<f64, String>, Failure> {
    let mut counts = [0; 2];
    for (count, rows) in counts.iter_mut().zip(l.rows) {
        match stepping::steps(&format!("{}:{rows}", l.id))? {
            Ok(steps) => *count = steps,
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Ok((counts[1] as f64 - counts[0] as f64) / (l.rows[1] - l.rows[0]) as f64))
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn a_row(_: &Loop) -> Result<Result<f64, String>, Failure> {
    Ok(Err("instructions are counted on Linux, x86-64".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_more_instructions_are_found() {
        for l in &LOOPS {
            let good = |ratio: f64| judge(l, JUDGED, ratio * l.avx512).1;
            assert_eq!((good(1.0), good(1.29), good(0.78)), (Some(true), Some(true), Some(true)));
            assert_eq!((good(1.31), good(0.76)), (Some(false), Some(false)));
            assert_eq!(judge(l, "AVX2", l.avx512).1, None);
        }
    }

    #[test]
    fn every_loop_runs_and_has_a_name_of_its_own() {
        for (i, l) in LOOPS.iter().enumerate() {
            assert!(LOOPS[..i].iter().all(|other| other.id != l.id));
            assert!(l.rows[0] < l.rows[1]);
            (l.prepare)(l.rows[0]).unwrap()().unwrap();
        }
        assert!(loops::named("none:3").is_err() && loops::named("scan-50").is_err());
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn steps_are_counted_or_refused_with_a_reason() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "echo; read line; exit 0"]);
        let counted = stepping::steps_of(shell).unwrap();
        match counted {
            Ok(steps) => assert!(steps > 100, "{steps}"),
            Err(why) => assert!(why.contains("follow"), "{why}"),
        }
    }
}
