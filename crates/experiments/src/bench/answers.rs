//! Latency after an answer in a labelling session, for several kinds of labels, and the memory of the session.

use super::definition::{Size, duration, timed};
use super::memory::{labelling_session, peak_above_idle};
use super::pools::Pools;
use super::shape::{Shape, shape};
use crate::Failure;
use halfspaces_linalg::{Label, RngStream, rng_for};
use rand::RngExt;
use serde::Serialize;
use std::fmt;

/// Target for the 99th percentile of the latency, in seconds.
const MAX_SECONDS: f64 = 0.1;
/// One of every `SLIP_EVERY` answers is wrong.
const SLIP_EVERY: usize = 10;

/// The source of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Halfspace,
    Slips,
    Random,
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Halfspace, "a halfspace"),
    (Kind::Slips, "a halfspace, every tenth label wrong"),
    (Kind::Random, "at random"),
];

/// Latencies for one kind of labels.
#[derive(Debug, Serialize)]
pub(super) struct Answers {
    labels: &'static str,
    n: usize,
    d: usize,
    answers: usize,
    half: f64,
    most_of_100: f64,
    longest: f64,
    /// Peak memory minus that of an idle process, in bytes. It includes the memory of the points.
    bytes: Option<f64>,
    met: bool,
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (labels, n, d, answers) = (self.labels, self.n, self.d, self.answers);
        let (half, most, longest) =
            (duration(self.half), duration(self.most_of_100), duration(self.longest));
        let memory = self.bytes.map_or("not measured".into(), |b| format!("{:.0} MB", b * 1e-6));
        let verdict = if self.met { "met" } else { "missed" };
        write!(
            f,
            "| {labels} | {n} x {d} | {answers} | {half} | {most} | {longest} | {memory} | {verdict} |"
        )
    }
}

fn sizes(size: Size) -> (Shape, usize) {
    match size {
        #[cfg(test)]
        Size::Toy => (shape(300, 5, 0), 20),
        Size::Quick => (shape(20_000, 100, 0), 200),
        Size::Full => (shape(100_000, 100, 0), 400),
    }
}

pub(super) fn table(size: Size) -> Result<(&'static str, Vec<Answers>), Failure> {
    let (Shape { n, d, .. }, answers) = sizes(size);
    let bytes = peak_above_idle(&format!("labelling-{d}"), n)?;
    let pool = Pools::default().sphere(n, d)?;
    let fresh = labelling_session(&pool.points)?;
    let mut rows = Vec::new();
    for (kind, labels) in KINDS {
        let mut session = fresh.clone();
        let mut rng = rng_for(RngStream::CALLER, 1);
        let mut times = Vec::with_capacity(answers);
        for round in 1..=answers {
            let seconds = timed(|| {
                let question = session.next().ok_or("the session ended early")?;
                let truth = usize::from(pool.labels[question.index] == Label::Positive);
                let slip = kind == Kind::Slips && round % SLIP_EVERY == 0;
                let class = match kind {
                    Kind::Random => usize::from(rng.random::<bool>()),
                    _ if slip => 1 - truth,
                    _ => truth,
                };
                Ok(session.answer(class)?)
            })?;
            times.push(seconds.1);
        }
        times.sort_by(f64::total_cmp);
        let quantile = |share: f64| times[((times.len() as f64 * share) as usize).min(answers - 1)];
        let most_of_100 = quantile(0.99);
        rows.push(Answers {
            labels,
            n,
            d,
            answers,
            half: quantile(0.5),
            most_of_100,
            longest: quantile(1.0),
            bytes,
            met: most_of_100 <= MAX_SECONDS,
        });
    }
    let head = "| labelling session, labels by | size | answers | p50 | p99 (<= 100 ms) | longest | memory | |\n|---|---|---|---|---|---|---|---|\n";
    Ok((head, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_the_latencies() {
        let (size, answers) = sizes(Size::Toy);
        assert!(answers <= size.n);
        let row = Answers {
            labels: KINDS[2].1,
            n: 300,
            d: 5,
            answers,
            half: 0.01,
            most_of_100: 0.05,
            longest: 0.2,
            bytes: Some(2e6),
            met: true,
        };
        assert_eq!(
            row.to_string(),
            "| at random | 300 x 5 | 20 | 10.0 ms | 50.0 ms | 200 ms | 2 MB | met |"
        );
    }
}
