//! The definition of a job, and the measurement of the job and of its limit.

use super::pools::Pools;
use super::shape::Shape;
use crate::Failure;
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// The size of the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// For tests.
    #[cfg(test)]
    Toy,
    /// Runs all jobs in under three minutes.
    Quick,
    /// The sizes quoted in the documentation.
    Full,
}

/// The target of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// No target: the job is compared with other programs (benches/peers).
    Peers,
    /// The time of the limit is at least this fraction of the job's time.
    Share(f64),
    /// The job's time is at most this multiple of the limit's time.
    Multiple(f64),
    /// The job takes at most this number of seconds per unit of work.
    SecondsAUnit(f64),
    /// The job does at least this number of units of work (bytes) per second.
    UnitsASecond(f64),
}

impl Target {
    /// Whether the minimum times of the job and of its limit meet the target; `None` if there is no target.
    fn met(self, seconds: f64, limit: f64, units: f64) -> Option<bool> {
        match self {
            Target::Peers => None,
            Target::Share(share) => Some(limit >= share * seconds),
            Target::Multiple(multiple) => Some(seconds <= multiple * limit),
            Target::SecondsAUnit(most) => Some(seconds <= most * units),
            Target::UnitsASecond(least) => Some(units >= least * seconds),
        }
    }

    fn describe(self) -> String {
        match self {
            Target::Peers => "-".into(),
            Target::Share(share) => format!(">= {share} of limit"),
            Target::Multiple(multiple) => format!("<= {multiple} limits"),
            Target::SecondsAUnit(most) => format!("<= {} us a step", most * 1e6),
            Target::UnitsASecond(least) => format!(">= {} MB/s", least * 1e-6),
        }
    }
}

/// A job that is ready to run.
pub(super) struct Job {
    /// Runs the job and returns a digest of the result.
    pub(super) run: Box<dyn FnMut() -> Result<u64, Failure>>,
    /// Runs the limit.
    pub(super) limit: Box<dyn FnMut() -> Result<(), Failure>>,
    /// Units of work (bytes or steps) of the most recent run.
    pub(super) units: Box<dyn Fn() -> f64>,
}

impl Job {
    pub(super) fn new(
        run: impl FnMut() -> Result<u64, Failure> + 'static,
        limit: impl FnMut() -> Result<(), Failure> + 'static,
    ) -> Job {
        Job { run: Box::new(run), limit: Box::new(limit), units: Box::new(|| 1.0) }
    }

    pub(super) fn units(mut self, units: impl Fn() -> f64 + 'static) -> Job {
        self.units = Box::new(units);
        self
    }
}

/// A function that builds a job of a given shape.
pub(super) type Build = fn(&mut Pools, Shape) -> Result<Job, Failure>;

/// A job and the function that builds it.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    pub(super) id: &'static str,
    pub(super) what: &'static str,
    /// Description of the limit.
    pub(super) limit: &'static str,
    pub(super) target: Target,
    /// Shapes for tests, for quick runs and for full runs.
    pub(super) shapes: [Shape; 3],
    pub(super) build: Build,
}

impl Definition {
    pub(super) fn shape(&self, size: Size) -> Shape {
        match size {
            #[cfg(test)]
            Size::Toy => self.shapes[0],
            Size::Quick => self.shapes[1],
            Size::Full => self.shapes[2],
        }
    }
}

/// The measurement of a job. All times are in seconds.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) id: &'static str,
    what: &'static str,
    n: usize,
    d: usize,
    more: usize,
    seconds: f64,
    seconds_median: f64,
    limit: &'static str,
    limit_seconds: f64,
    limit_seconds_median: f64,
    /// Minimum time of the job divided by the minimum time of the limit.
    ratio: f64,
    /// Median over the rounds of the job's time divided by the limit's time.
    ratio_median: f64,
    units: f64,
    rounds: usize,
    target: String,
    pub(super) met: Option<bool>,
}

impl Measured {
    pub(super) const HEAD: &'static str = "\
| job | size | time | limit | its time | time / limit | limit / time | target | |
|---|---|---|---|---|---|---|---|---|
";
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.more > 0 { format!(", {}", self.more) } else { String::new() };
        let rate = match self.target.split_once(' ').map(|(_, rest)| rest) {
            Some(rest) if rest.ends_with("us a step") => {
                format!(" ({:.2} us a step)", self.seconds / self.units * 1e6)
            }
            Some(rest) if rest.ends_with("MB/s") => {
                format!(" ({:.0} MB/s)", self.units / self.seconds * 1e-6)
            }
            _ => String::new(),
        };
        let verdict = match self.met {
            None => "",
            Some(true) => "met",
            Some(false) => "missed",
        };
        write!(
            f,
            "| {} | {} x {}{more} | {}{rate} | {} | {} | {:.2} | {:.2} | {} | {verdict} |",
            self.what,
            self.n,
            self.d,
            duration(self.seconds),
            self.limit,
            duration(self.limit_seconds),
            self.ratio,
            1.0 / self.ratio,
            self.target,
        )
    }
}

/// Formats seconds with three digits in a suitable unit.
pub(super) fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    let decimals = if value >= 99.95 { 0 } else { 1 + usize::from(value < 9.995) };
    format!("{value:.decimals$} {unit}")
}

/// The minimum and maximum number of rounds, and the time after which no further round starts.
fn effort(size: Size) -> (usize, usize, Duration) {
    match size {
        #[cfg(test)]
        Size::Toy => (1, 1, Duration::ZERO),
        Size::Quick => (3, 200, Duration::from_secs(3)),
        Size::Full => (5, 400, Duration::from_secs(12)),
    }
}

/// Measures a job and its limit alternately.
pub(super) fn measure(
    definition: &Definition,
    size: Size,
    pools: &mut Pools,
) -> Result<Measured, Failure> {
    let shape = definition.shape(size);
    let mut job = (definition.build)(pools, shape)?;
    let (least, most, budget) = effort(size);
    let (mut ours, mut limits) = (Vec::new(), Vec::new());
    // The first round fills caches and buffers; its times are discarded.
    (job.limit)()?;
    let result = (job.run)()?;
    let begin = Instant::now();
    while ours.len() < least || (ours.len() < most && begin.elapsed() < budget) {
        limits.push(timed(&mut job.limit)?.1);
        let (again, seconds) = timed(&mut job.run)?;
        if again != result {
            return Err(format!("{}: two runs gave different results", definition.id).into());
        }
        ours.push(seconds);
    }
    let mut ratios: Vec<f64> = ours.iter().zip(&limits).map(|(a, b)| a / b).collect();
    let (units, rounds) = ((job.units)(), ours.len());
    let (seconds, limit_seconds) = (minimum(&ours), minimum(&limits));
    Ok(Measured {
        id: definition.id,
        what: definition.what,
        n: shape.n,
        d: shape.d,
        more: shape.more,
        seconds,
        seconds_median: median(&mut ours),
        limit: definition.limit,
        limit_seconds,
        limit_seconds_median: median(&mut limits),
        ratio: seconds / limit_seconds,
        ratio_median: median(&mut ratios),
        units,
        rounds,
        target: definition.target.describe(),
        met: definition.target.met(seconds, limit_seconds, units),
    })
}

/// Runs `work` and returns its result and its time in seconds.
pub(super) fn timed<T>(mut work: impl FnMut() -> Result<T, Failure>) -> Result<(T, f64), Failure> {
    let clock = Instant::now();
    let result = work()?;
    Ok((result, clock.elapsed().as_secs_f64()))
}

/// Runs `work` in several rounds and returns its minimum time in seconds.
pub(super) fn best_time<T>(
    rounds: usize,
    mut work: impl FnMut() -> Result<T, Failure>,
) -> Result<f64, Failure> {
    let times =
        (0..rounds).map(|_| Ok(timed(&mut work)?.1)).collect::<Result<Vec<_>, Failure>>()?;
    Ok(minimum(&times))
}

fn minimum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns the upper median. Panics if there are no values.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The 64-bit FNV-1a hash of a sequence of numbers.
pub(super) fn digest(values: impl IntoIterator<Item = u64>) -> u64 {
    let bytes: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
    halfspaces_eval::fnv1a(&bytes)
}

/// [`digest`] of a vector and a count.
pub(super) fn digest_of(w: &[f64], count: u64) -> u64 {
    digest(w.iter().map(|v| v.to_bits()).chain([count]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_worked_by_hand() {
        assert_eq!(Target::Peers.met(1.0, 1.0, 1.0), None);
        assert_eq!(Target::Share(0.5).met(2.0, 1.0, 1.0), Some(true));
        assert_eq!(Target::Share(0.5).met(2.1, 1.0, 1.0), Some(false));
        assert_eq!(Target::Multiple(1.3).met(1.3, 1.0, 1.0), Some(true));
        assert_eq!(Target::Multiple(1.3).met(1.4, 1.0, 1.0), Some(false));
        assert_eq!(Target::SecondsAUnit(9e-6).met(8e-5, 1.0, 10.0), Some(true));
        assert_eq!(Target::SecondsAUnit(9e-6).met(1e-4, 1.0, 10.0), Some(false));
        assert_eq!(Target::UnitsASecond(4e8).met(1.0, 1.0, 5e8), Some(true));
        assert_eq!(Target::UnitsASecond(4e8).met(1.0, 1.0, 3e8), Some(false));
    }

    #[test]
    fn durations_have_three_digits() {
        let texts = [1.5, 0.0123, 0.123, 9.9e-6, 0.0999].map(duration);
        assert_eq!(texts, ["1.50 s", "12.3 ms", "123 ms", "9.90 us", "99.9 ms"]);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
    }
}
