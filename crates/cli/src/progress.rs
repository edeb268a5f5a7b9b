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
        let total = total as u64;
        Progress::bar(what, move |done| Some((done, total)))
    }

    /// Starts a bar for the steps that a computation with this monitor plans. It is the same as [`Progress::steps`]
    /// while steps are planned, and the same as [`Progress::start`] at other times.
    pub(crate) fn monitored(what: &str, monitor: &Monitor) -> Progress {
        let monitor = monitor.clone();
        Progress::bar(what, move |_| monitor.progress())
    }

    /// Starts a bar. `steps` is called with the counter. It returns the number of finished steps and the number of all
    /// steps, or `None` if no steps are planned.
    fn bar(
        what: &str,
        steps: impl Fn(u64) -> Option<(u64, u64)> + Clone + Send + Sync + 'static,
    ) -> Progress {
        let bar = ProgressBar::with_draw_target(None, target());
        let share = move |state: &ProgressState, text: &mut dyn Write| {
            // Errors of the progress line are ignored, since nothing can be done about them.
            let _ = share(steps(state.pos()), state.elapsed(), text);
        };
        bar.set_style(style("{spinner} {msg} {share}").with_key("share", share));
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(TICK);
        Progress(bar)
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
fn share(steps: Option<(u64, u64)>, elapsed: Duration, text: &mut dyn Write) -> std::fmt::Result {
    const WIDTH: usize = 20;
    let Some((done, total)) = steps else {
        return write!(text, "{:#}", HumanDuration(elapsed));
    };
    let share = done as f64 / total.max(1) as f64;
    let full = (share * WIDTH as f64) as usize;
    let bar = "█".repeat(full) + &"░".repeat(WIDTH - full);
    write!(text, "{bar} {:.0} %", (100.0 * share).floor())?;
    if done > 0 {
        write!(text, ", about {} left", HumanDuration(elapsed.mul_f64(1.0 / share - 1.0)))?;
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_and_the_time_left_are_shown() {
        let shown = |steps, seconds| {
            let mut text = String::new();
            share(steps, Duration::from_secs(seconds), &mut text).unwrap();
            text
        };
        let bar = |full: usize| "█".repeat(full) + &"░".repeat(20 - full);
        assert_eq!(shown(None, 3), "3s");
        assert_eq!(shown(Some((0, 4)), 3), bar(0) + " 0 %");
        assert_eq!(shown(Some((1, 4)), 3), bar(5) + " 25 %, about 9 seconds left");
        assert_eq!(shown(Some((399, 400)), 800), bar(19) + " 99 %, about 2 seconds left");
        assert_eq!(shown(Some((4, 4)), 3), bar(20) + " 100 %, about 0 seconds left");
    }
}
