//! Progress on a terminal.

use halfspaces_linalg::Monitor;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

/// The time between two updates.
const TICK: Duration = Duration::from_millis(100);

/// A line on stderr that shows the current step. It is shown only on a terminal, and is cleared when this value is
/// dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Starts a spinner, for work of unknown length.
    pub(crate) fn start(what: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, target());
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(TICK);
        Progress(bar)
    }

    /// Starts a counter of rows, which also shows the number of rows per second.
    pub(crate) fn rows(what: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, target());
        bar.set_style(style("{spinner} {msg} {human_pos} rows, {per_sec}"));
        bar.set_message(what.to_owned());
        Progress(bar)
    }

    /// Starts a bar for `total` steps that take about the same time. It shows the percentage that is done and, after
    /// the first step, the time left.
    pub(crate) fn steps(what: &str, total: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total as u64), target());
        bar.set_style(style("{spinner} {msg} {share}").with_key("share", share));
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(TICK);
        Progress(bar)
    }

    /// Starts a bar for the steps that a computation with this monitor plans. It is the same as [`Progress::steps`]
    /// while steps are planned, and the same as [`Progress::start`] at other times.
    pub(crate) fn monitored(what: &str, monitor: &Monitor) -> Progress {
        let progress = Progress::steps(what, 0);
        let (bar, monitor) = (progress.0.downgrade(), monitor.clone());
        std::thread::spawn(move || {
            while let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
                let (done, total) = monitor.progress().unwrap_or((0, 0));
                if bar.length() != Some(total) {
                    bar.reset();
                    bar.set_length(total);
                }
                bar.set_position(done);
                drop(bar);
                std::thread::sleep(TICK);
            }
        });
        progress
    }

    /// Adds `by` to the counter.
    pub(crate) fn advance(&self, by: u64) {
        self.0.inc(by);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Writes a bar, the percentage of the steps that are done and, after the first step, the time left. If no steps are
/// planned, writes the time so far.
fn share(state: &ProgressState, text: &mut dyn Write) {
    const WIDTH: usize = 20;
    let (done, total) = (state.pos(), state.len().unwrap_or(0));
    // Errors of the progress line are ignored, since nothing can be done about them.
    let _ = match (100 * done).checked_div(total) {
        None => write!(text, "{:#}", HumanDuration(state.elapsed())),
        Some(percent) => {
            let full = (state.fraction() * WIDTH as f32) as usize;
            let bar = "█".repeat(full) + &"░".repeat(WIDTH - full);
            write!(text, "{bar} {percent} %")
        }
    };
    if done > 0 {
        let _ = write!(text, ", about {} left", HumanDuration(state.eta()));
    }
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() && !console::is_dumb() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

#[expect(
    clippy::expect_used,
    reason = "the templates are constants, and every test of a command uses them"
)]
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is valid")
}
