//! The command `bench`: measures the speed of jobs. Each job is compared with its limit: the minimum work that any
//! program must do for the job, timed on this machine.
//!
//! A job and its limit run alternately in one process, so that load on the machine affects both. The minimum times are
//! compared, since load affects them least. Buffers are allocated before timing starts and are reused, because the
//! first access to memory is slow.
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

mod answers;
mod definition;
mod file_jobs;
mod growth;
mod jobs;
mod limits;
mod memory;
mod passes;
mod pools;
mod products;
mod reading;
mod scans;
mod shape;
#[cfg(test)]
mod tests;
mod threads;
mod walks;

use crate::Failure;
use crate::cli::{BenchOptions, Measurement};
use crate::console::{note, say};
use crate::suite::listed;
use crate::workspace::workspace_root;
use definition::{Definition, Measured, Size, measure};
use halfspaces_eval::{Host, write_atomically};
use jobs::definitions;
use limits::Limits;
use pools::Pools;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::ExitCode;
use threads::Series;

/// Runs the measurements, prints their tables, and writes bench.json.
pub(crate) fn bench(options: &BenchOptions) -> Result<ExitCode, Failure> {
    if let Some(case) = &options.peak {
        say(&format!("{}\n", memory::peak_of(case)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &options.serve {
        file_jobs::serve(folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (chosen, threaded) = chosen(&options.only)?;
    let size = if options.quick { Size::Quick } else { Size::Full };
    let wanted = |m: Measurement| options.tables.is_empty() || options.tables.contains(&m);
    let mut out = json!({ "host": Host::detect(), "quick": options.quick });

    if wanted(Measurement::Jobs) && !chosen.is_empty() {
        let limits = Limits::measure(size)?;
        say(&format!("{limits}\n{}", Measured::HEAD))?;
        let mut pools = Pools::default();
        let mut rows = Vec::new();
        for definition in &chosen {
            let measured = measure(definition, size, &mut pools)?;
            say(&format!("{measured}\n"))?;
            rows.push(measured);
        }
        let missed = rows.iter().filter(|row| row.met == Some(false)).count();
        say(&format!("\n{missed} of {} targets missed\n\n", judged(&rows)))?;
        out["limits"] = serde_json::to_value(&limits)?;
        out["jobs"] = serde_json::to_value(&rows)?;
    }
    if wanted(Measurement::Memory) && options.only.is_empty() {
        out["memory"] = table(&memory::table(size)?)?;
    }
    if wanted(Measurement::Growth) && options.only.is_empty() {
        out["growth"] = table(&growth::table(size)?)?;
    }
    if wanted(Measurement::Answers) && options.only.is_empty() {
        out["answers"] = table(&answers::table(size)?)?;
    }
    if wanted(Measurement::Threads) && !threaded.is_empty() {
        out["threads"] = table(&threads::table(&threaded, size)?)?;
    }
    let file = options.out.clone().unwrap_or_else(|| workspace_root().join("target/bench.json"));
    write_atomically(&file, &serde_json::to_string_pretty(&out)?)?;
    note(&format!("written: {}", file.display()));
    Ok(ExitCode::SUCCESS)
}

/// Prints a heading and rows, and returns the rows as JSON.
fn table<R: serde::Serialize + std::fmt::Display>(
    (head, rows): &(&str, Vec<R>),
) -> Result<Value, Failure> {
    say(head)?;
    for row in rows {
        say(&format!("{row}\n"))?;
    }
    say("\n")?;
    Ok(serde_json::to_value(rows)?)
}

fn judged(rows: &[Measured]) -> usize {
    rows.iter().filter(|row| row.met.is_some()).count()
}

/// The requested jobs, from the table of jobs and from the table of threads; all jobs if `only` is empty.
fn chosen(only: &[String]) -> Result<(Vec<Definition>, Vec<Series>), Failure> {
    let (all, threaded) = (definitions(), threads::SERIES);
    let only: Vec<&str> = only.iter().flat_map(|names| listed(names)).collect();
    let known: BTreeSet<&str> =
        all.iter().map(|job| job.id).chain(threaded.iter().map(|job| job.id)).collect();
    if let Some(unknown) = only.iter().find(|name| !known.contains(*name)) {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(
            format!("--only {unknown}: no such job; use one of {}", known.join(", ")).into()
        );
    }
    let wanted = |id: &str| only.is_empty() || only.contains(&id);
    let threaded = threaded.into_iter().filter(|job| wanted(job.id)).collect();
    Ok((all.into_iter().filter(|job| wanted(job.id)).collect(), threaded))
}
