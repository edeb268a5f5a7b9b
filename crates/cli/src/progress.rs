//! Progress on a terminal.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

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
        bar.enable_steady_tick(Duration::from_millis(100));
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
        let left = |state: &ProgressState, text: &mut dyn Write| {
            if state.pos() > 0 {
                // Errors of the progress line are ignored, since nothing can be done about them.
                let _ = write!(text, ", about {} left", HumanDuration(state.eta()));
            }
        };
        bar.set_style(style("{spinner} {msg} {bar:20} {percent} %{left}").with_key("left", left));
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
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
