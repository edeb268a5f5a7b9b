//! `cargo xtask instructions`: counts the instructions per row of eleven inner loops. Unlike times, the counts have no noise.
//!
//! This package is separate from the experiments because CI compiles it with full optimisation for each change.
//!
//! Each loop runs in its own process, once over a few rows and once over more. This program steps through that process
//! one instruction at a time and counts the instructions. The difference between the two counts is the cost of the
//! additional rows. The counts depend on the compiler, which rust-toolchain.toml fixes, and on the vector instructions
//! of the processor. Expected counts are recorded for AVX-512; on other processors the counts are shown but not judged.

mod loops;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod stepping;
mod terminal;

use clap::Parser;
use loops::{LOOPS, Loop};
use std::io::Write as _;
use std::process::ExitCode;
use terminal::{Failure, say};

/// The largest accepted ratio between a count and its recorded value, in either direction. If a loop becomes faster,
/// record its new count, so that a later slowdown is noticed.
const MAX_RATIO: f64 = 1.3;

/// The instruction set with recorded counts.
const JUDGED: &str = "AVX-512";

/// Count the instructions per row of eleven inner loops and compare them with the recorded counts.
///
/// The program steps through each loop one instruction at a time. This requires Linux on x86-64 and permission to trace
/// a process; otherwise the program reports why it counts nothing.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask instructions", bin_name = "cargo xtask instructions")]
struct Options {
    /// Wait for a line on stdin and run one loop
    #[arg(long, value_name = "LOOP:ROWS", hide = true)]
    of: Option<String>,
}

fn main() -> ExitCode {
    instructions(&Options::parse()).unwrap_or_else(|failure| {
        // There is no other place to report this error.
        let _ = writeln!(std::io::stderr(), "error: {failure}");
        ExitCode::from(2)
    })
}

/// Counts the instructions of all loops and compares them with the recorded counts, or runs one loop for the counting
/// process.
fn instructions(options: &Options) -> Result<ExitCode, Failure> {
    if let Some(of) = &options.of {
        return loops::run(of);
    }
    if cfg!(debug_assertions) {
        let needed = "the recorded counts require an optimised build; run";
        return Err(format!("{needed} cargo xtask instructions").into());
    }
    let vectors = halfspaces_kernels::vectors();
    say(&format!("| instructions per row, {vectors} | counted | recorded | ratio | |\n"))?;
    say("|---|---|---|---|---|\n")?;
    let mut judged = Vec::new();
    for l in &LOOPS {
        match instructions_per_row(l)? {
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
        say(&format!("\nNOT JUDGED: no counts are recorded for {vectors}\n"))?;
    }
    say(&format!(
        "\n{bad} of {} loops differ from the recorded count by more than a factor of {MAX_RATIO}\n",
        LOOPS.len()
    ))?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A line of the table, and whether the count is close to the recorded one; `None` if none is recorded for this processor.
fn judge(l: &Loop, vectors: &str, counted: f64) -> (String, Option<bool>) {
    let expected = (vectors == JUDGED).then_some(l.avx512);
    let good = expected.map(|expected| {
        let ratio = counted / expected;
        (1.0 / MAX_RATIO..=MAX_RATIO).contains(&ratio)
    });
    let written = expected.map_or("-".into(), |e| format!("{e:.0} | {:.2}", counted / e));
    let word = match good {
        Some(true) => "as recorded",
        Some(false) if expected.is_some_and(|e| counted < e) => "fewer: record it",
        Some(false) => "MORE",
        None => "not judged",
    };
    (format!("| {} | {counted:.1} | {written} | {word} |\n", l.id), good)
}

/// The instructions per row, or the reason why they cannot be counted here.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn instructions_per_row(l: &Loop) -> Result<Result<f64, String>, Failure> {
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
fn instructions_per_row(_: &Loop) -> Result<Result<f64, String>, Failure> {
    Ok(Err("instructions are counted only on Linux, x86-64".into()))
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
    fn every_loop_runs_and_has_its_own_name() {
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
