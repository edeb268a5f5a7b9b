//! Progress on stderr: bars on a terminal, plain lines elsewhere, and an estimate of the remaining time.
#![allow(clippy::disallowed_methods, reason = "progress reports time")]

use crate::console::note;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Interval between two plain lines, and between two records of the time taken.
const EVERY: Duration = Duration::from_secs(10);

/// Weight of the stated costs in the estimate, in seconds of measured time.
const GRACE: f64 = 10.0;

/// An experiment that is about to run.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Trials that are already stored.
    pub(crate) known: usize,
    /// Total number of trials.
    pub(crate) total: usize,
    /// Expected seconds for its missing trials.
    pub(crate) cost: f64,
}

/// The estimate of the remaining time. It uses the stated costs, adjusted to the measured speed. Trials are counted
/// only within an experiment, since the costs of trials of different experiments differ by orders of magnitude.
#[derive(Debug, Clone, Default, PartialEq)]
struct Estimate {
    /// Expected seconds of the finished experiments.
    expected: f64,
    /// Measured seconds of the finished experiments.
    taken: f64,
    /// Expected seconds of the running experiment.
    current: f64,
    /// Expected seconds of the experiments after the running one.
    ahead: f64,
}

impl Estimate {
    /// Measured seconds per expected second.
    fn pace(&self) -> f64 {
        (self.taken + GRACE) / (self.expected + GRACE)
    }

    /// Remaining seconds after a `share` of the running experiment's trials took `elapsed` seconds. With a larger
    /// `share`, the estimate relies more on the measured pace of the running experiment.
    fn left(&self, share: f64, elapsed: f64) -> f64 {
        let own = elapsed / (share * self.current);
        let pace = match own.is_finite() && own > 0.0 {
            true => self.pace().powf(1.0 - share) * own.powf(share),
            false => self.pace(),
        };
        (1.0 - share) * self.current * pace + self.ahead * self.pace()
    }

    /// Ends the running experiment, which took `elapsed` seconds, and starts one that is expected to take `next`
    /// seconds.
    fn advance(&mut self, elapsed: f64, next: f64) {
        self.expected += self.current;
        self.taken += elapsed;
        self.current = next;
        self.ahead = (self.ahead - next).max(0.0);
    }
}

/// Formats seconds as minutes and seconds, with hours if needed.
fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole / 3600 {
        0 => format!("{}:{:02}", whole / 60, whole % 60),
        hours => format!("{hours}:{:02}:{:02}", whole / 60 % 60, whole % 60),
    }
}

/// The progress bars on a terminal: one for the running experiment and one for the whole run.
struct Bars {
    all: MultiProgress,
    part: ProgressBar,
    run: ProgressBar,
}

impl Bars {
    fn new(cost: f64) -> Bars {
        let style = |template| {
            let style = ProgressStyle::with_template(template);
            style.unwrap_or_else(|e| unreachable!("{template}: {e}"))
        };
        let all = MultiProgress::new();
        let part = all.add(ProgressBar::new(0));
        part.set_style(style("{prefix:>4} {bar:32} {pos}/{len} trials  {msg}"));
        let run = all.add(ProgressBar::new(1000).with_prefix("run"));
        run.set_style(style("{prefix:>4} {bar:32} {percent} %, {elapsed} elapsed  {msg}"));
        run.set_message(format!("about {} left", clock(cost)));
        for bar in [&part, &run] {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Bars { all, part, run }
    }
}

struct State {
    part: usize,
    done: usize,
    started: Instant,
    /// Time of the last plain line.
    reported: Instant,
    estimate: Estimate,
}

thread_local! {
    /// When the last trial of this thread ended.
    static ENDED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Progress of a run.
pub(crate) struct Progress {
    parts: Vec<Part>,
    started: Instant,
    bars: Option<Bars>,
    state: Mutex<State>,
}

impl Progress {
    /// Starts the first of `parts`.
    pub(crate) fn start(parts: Vec<Part>) -> Progress {
        let now = Instant::now();
        let ahead: f64 = parts.iter().map(|p| p.cost).sum();
        let bars = std::io::stderr().is_terminal().then(|| Bars::new(ahead));
        let mut estimate = Estimate { ahead, ..Estimate::default() };
        estimate.advance(0.0, parts.first().map_or(0.0, |p| p.cost));
        let state = State { part: 0, done: 0, started: now, reported: now, estimate };
        let progress = Progress { parts, started: now, bars, state: Mutex::new(state) };
        progress.introduce(0);
        progress
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|_| unreachable!("another thread panicked"))
    }

    fn introduce(&self, index: usize) {
        // There is no part after the last.
        let Some(part) = self.parts.get(index) else { return };
        match &self.bars {
            Some(bars) => {
                bars.part.set_prefix(part.id);
                bars.part.set_message(part.title);
                bars.part.set_length(part.total as u64);
                bars.part.set_position(part.known as u64);
            }
            None => {
                let known = if part.known > 0 {
                    format!(", {} already done", part.known)
                } else {
                    String::new()
                };
                note(&format!("{} {}: {} trials{known}", part.id, part.title, part.total));
            }
        }
    }

    /// Counts one more finished trial. Must be called on the thread that ran the trial. Returns the seconds since the
    /// previous trial of this thread ended, or since the running experiment started if that was later. About every ten
    /// seconds, it also returns the seconds that the running experiment has taken, to be recorded.
    pub(crate) fn tick(&self) -> (f64, Option<f64>) {
        let mut state = self.state();
        state.done += 1;
        let now = Instant::now();
        let ended =
            ENDED.replace(Some(now)).map_or(state.started, |ended| ended.max(state.started));
        (now.duration_since(ended).as_secs_f64(), self.report(&mut state))
    }

    /// Shows the progress. About every ten seconds, returns the seconds that the running experiment has taken.
    fn report(&self, state: &mut State) -> Option<f64> {
        let part = self.parts.get(state.part)?;
        let missing = part.total.saturating_sub(part.known).max(1);
        let elapsed = state.started.elapsed().as_secs_f64();
        let left = state.estimate.left(state.done as f64 / missing as f64, elapsed);
        let gone = self.started.elapsed().as_secs_f64();
        if let Some(bars) = &self.bars {
            bars.part.inc(1);
            bars.run.set_position((1000.0 * gone / (gone + left).max(1e-9)) as u64);
            bars.run.set_message(format!("about {} left", clock(left)));
        }
        if state.reported.elapsed() < EVERY {
            return None;
        }
        state.reported = Instant::now();
        if self.bars.is_none() {
            let done = part.known + state.done;
            let (gone, left) = (clock(gone), clock(left));
            let trials = format!("{}: {done} of {} trials", part.id, part.total);
            note(&format!("{trials}; run: {gone} elapsed, about {left} left"));
        }
        Some(elapsed)
    }

    /// Ends the running experiment and starts the next. Returns the seconds that the ended experiment took.
    pub(crate) fn next(&self) -> f64 {
        let mut state = self.state();
        let seconds = state.started.elapsed().as_secs_f64();
        if let Some(part) = self.parts.get(state.part) {
            let text = format!("{} done in {seconds:.1} s", part.id);
            match &self.bars {
                Some(bars) => bars.all.suspend(|| note(&text)),
                None => note(&text),
            }
        }
        state.part += 1;
        state.done = 0;
        state.started = Instant::now();
        let cost = self.parts.get(state.part).map_or(0.0, |p| p.cost);
        state.estimate.advance(seconds, cost);
        self.introduce(state.part);
        if let (Some(bars), true) = (&self.bars, state.part >= self.parts.len()) {
            bars.part.finish_and_clear();
            bars.run.finish_and_clear();
        }
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Estimate {
        let mut estimate = Estimate { ahead: 100.0, ..Estimate::default() };
        estimate.advance(0.0, 40.0);
        estimate
    }

    #[test]
    fn estimates_follow_costs_then_speed() {
        let mut estimate = run();
        assert_eq!(estimate.left(0.0, 3.0), 100.0);
        // At the stated pace, half of the experiment takes 20 s, and 80 s remain.
        assert!((estimate.left(0.5, 20.0) - 80.0).abs() < 1e-9);
        // The experiment is twice as slow as stated. Its own pace counts more as it advances.
        assert!(estimate.left(0.5, 40.0) > 80.0 && estimate.left(0.5, 40.0) < 100.0);
        assert!((estimate.left(1.0, 80.0) - 60.0).abs() < 1e-9);
        estimate.advance(80.0, 60.0);
        // The 60 s that remain are multiplied by (80 + 10)/(40 + 10).
        assert!((estimate.left(0.0, 0.0) - 108.0).abs() < 1e-9);
        estimate.advance(120.0, 0.0);
        assert_eq!(estimate.left(1.0, 0.0), 0.0);
    }

    /// The estimate is finite even if there are no costs and no missing trials.
    #[test]
    fn estimates_are_finite() {
        let estimate = Estimate::default();
        for (share, elapsed) in [(0.0, 0.0), (0.5, 1.0), (1.0, 0.0), (1.0, 9.0)] {
            assert_eq!(estimate.left(share, elapsed), 0.0, "{share} {elapsed}");
        }
    }

    #[test]
    fn clocks_read_as_clocks() {
        for (seconds, text) in
            [(0.4, "0:00"), (59.6, "1:00"), (61.0, "1:01"), (3600.0, "1:00:00"), (-1.0, "0:00")]
        {
            assert_eq!(clock(seconds), text);
        }
    }
}
