//! Peak memory of several cases. Each case runs in a separate process, and its peak memory is read from VmHWM on Linux.
//!
//! The memory of a case is its peak minus the peak of an idle process. The target of a streaming pass does not depend
//! on the length of the stream. The target of a pool is 1.1 times the memory of its points plus 16 bytes per point.

use super::definition::Size;
use super::pools::Pools;
use crate::Failure;
use halfspaces_data::random_target;
use halfspaces_frame::{Block, Hints, Labels, LargeTable, ReadOptions};
use halfspaces_linalg::{
    DescendingMargins, Label, Params, PointSet, Points, Threads, largest_margins, margins,
};
use halfspaces_online::{Greedy, Labelling, LabellingSession, OnlineLearner, Perceptron};
use halfspaces_pipeline::Examples;
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::process::Command;
use tempfile::NamedTempFile;

const DIM: usize = 50;
/// Bytes allowed in every case, for buffers of a fixed size and for buffers that hold one point.
const STREAM: f64 = 2e6;
/// Number of rows of a stream that are in memory at a time.
const ROWS: usize = 256;
/// Memory allowed for a pool, relative to the memory of its points.
const SHARE: f64 = 1.1;
/// Additional bytes allowed per point of a pool.
const A_POINT: f64 = 16.0;

/// The cases: name, description, and whether the memory may grow with the pool.
const CASES: [(&str, &str, bool); 4] = [
    ("stream", "perceptron over a stream of LIBSVM text", false),
    ("pool", "a pool and its 100 largest margins", true),
    ("order", "a pool and the order of its margins", true),
    ("greedy", "a pool and a run of greedy until every label is correct", true),
];

/// The peak memory of one case.
#[derive(Debug, Serialize)]
pub(super) struct Peak {
    case: &'static str,
    what: &'static str,
    n: usize,
    d: usize,
    /// Peak memory minus that of an idle process, in bytes; `None` if it cannot be measured.
    bytes: Option<f64>,
    most: f64,
    met: Option<bool>,
}

impl fmt::Display for Peak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |bytes: f64| format!("{:.1} MB", bytes * 1e-6);
        let measured = self.bytes.map_or("not measured".into(), megabytes);
        let verdict = self.met.map_or("", |met| if met { "met" } else { "missed" });
        let (what, n, d, most) = (self.what, self.n, self.d, megabytes(self.most));
        write!(f, "| {what} | {n} x {d} | {measured} | <= {most} | {verdict} |")
    }
}

/// Measures all cases at two sizes.
pub(super) fn table(size: Size) -> Result<(&'static str, Vec<Peak>), Failure> {
    let sizes = if size == Size::Full { [100_000, 1_000_000] } else { [20_000, 200_000] };
    let idle = child("idle", 0)?;
    let mut rows = Vec::new();
    for (case, what, grows) in CASES {
        for n in sizes {
            let points = (n * DIM * size_of::<f64>()) as f64;
            let pool = if grows { SHARE * points + A_POINT * n as f64 } else { 0.0 };
            let most = pool + STREAM;
            let bytes = match (idle, child(case, n)?) {
                (Some(idle), Some(peak)) => Some((peak - idle).max(0.0)),
                _ => None,
            };
            let met = bytes.map(|bytes| bytes <= most);
            rows.push(Peak { case, what, n, d: DIM, bytes, most, met });
        }
    }
    Ok(("| memory | size | peak | target | |\n|---|---|---|---|---|\n", rows))
}

/// The peak memory of a case minus that of an idle process, in bytes; `None` if it cannot be measured.
pub(super) fn peak_above_idle(case: &str, n: usize) -> Result<Option<f64>, Failure> {
    let (idle, peak) = (child("idle", 0)?, child(case, n)?);
    Ok(idle.zip(peak).map(|(idle, peak)| (peak - idle).max(0.0)))
}

/// Runs a case in a child process and returns its peak in bytes.
fn child(case: &str, n: usize) -> Result<Option<f64>, Failure> {
    let program = std::env::current_exe()?;
    let run = Command::new(program).args(["bench", "--peak", &format!("{case}:{n}")]).output()?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).trim().into());
    }
    Ok(String::from_utf8_lossy(&run.stdout).trim().parse().ok())
}

/// Runs `case:n` and returns the peak memory of this process in bytes as text, or "not measured".
pub(super) fn peak_of(case: &str) -> Result<String, Failure> {
    let (name, n) = case
        .split_once(':')
        .ok_or_else(|| format!("--peak {case}: expected CASE:POINTS, such as pool:1000"))?;
    work(name, n.parse()?)?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Ok(kilobytes.map_or("not measured".into(), |kb| (kb * 1024).to_string()))
}

fn work(case: &str, n: usize) -> Result<(), Failure> {
    match case {
        "idle" => {}
        "stream" => {
            let row = (1..=DIM).map(|j| format!(" {j}:0.{j}")).collect::<String>();
            let text = format!("1{row}\n-1{row}\n").into_bytes();
            let file = NamedTempFile::new()?;
            let mut writer = BufWriter::new(&file);
            for _ in 0..n / 2 {
                writer.write_all(&text)?;
            }
            writer.flush()?;
            drop(writer);
            let hints = Hints::default();
            let table = LargeTable::open(file.path(), &ReadOptions::default(), hints.clone())?;
            let label = |class: &str| if class == "1" { Label::Positive } else { Label::Negative };
            let (tally, _) = table.in_chunks(&hints, ROWS, |parts| {
                let mut batches = parts.map(|part| {
                    let mut part = part?;
                    let labels = Labels::take_part(&mut part, "label")?;
                    let signs = labels.of_row.iter().map(|class| label(&labels.classes[*class]));
                    let Some(Block::Sparse(block)) = part.block else {
                        unreachable!("LIBSVM rows are read into a sparse block")
                    };
                    Ok((block.into_points(), signs.collect()))
                });
                let mut examples = Examples::new(DIM, &mut batches);
                Ok::<_, Failure>(Perceptron::new(DIM)?.partial_fit(&mut examples, u64::MAX)?)
            })?;
            if tally.rounds != n as u64 / 2 * 2 {
                return Err(format!("the stream ended after {} of {n} rows", tally.rounds).into());
            }
        }
        "pool" | "order" | "greedy" => {
            let pool = Pools::default().ball(n, DIM)?;
            let w = random_target(DIM, 3)?;
            match case {
                "pool" => {
                    black_box(largest_margins(&pool.points, w.normal(), 100, Threads::new(2)?)?);
                }
                "order" => {
                    let all = margins(&pool.points, w.normal())?;
                    let order = DescendingMargins::new(&all);
                    drop(all);
                    black_box(order.last());
                }
                _ => {
                    black_box(Greedy::simulate(&pool.points, &pool.labels)?.mistakes().len());
                }
            }
            black_box(pool.points.len());
        }
        _ => {
            let dim = case.strip_prefix("labelling-").and_then(|dim| dim.parse().ok());
            let pool =
                Pools::default().sphere(n, dim.ok_or_else(|| format!("unknown case {case:?}"))?)?;
            let mut session = labelling_session(&pool.points)?;
            for _ in 0..5 {
                session.next();
                session.confirm()?;
            }
        }
    }
    Ok(())
}

/// A labelling session on two threads.
pub(super) fn labelling_session(points: &Points) -> Result<LabellingSession, Failure> {
    let params = Labelling::params(2).threads(Threads::new(2)?);
    Ok(params.check()?.session(points)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_runs() {
        for case in CASES.iter().map(|(case, ..)| *case).chain(["idle"]) {
            work(case, 300).unwrap();
        }
        work("labelling-4", 60).unwrap();
        assert!(work("no-such", 1).is_err() && work("labelling-x", 60).is_err());
        assert!(peak_of("idle").is_err());
        let told = peak_of("idle:0").unwrap();
        assert!(told == "not measured" || told.parse::<u64>().unwrap() > 1 << 20, "{told}");
    }
}
