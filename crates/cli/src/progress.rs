//! Progress on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A line on stderr that says what is being done, on a terminal only; gone when dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Work whose end is not known.
    pub(crate) fn start(what: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, target());
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(bar)
    }
}

impl Progress {
    /// Work on rows, with their number and rate.
    pub(crate) fn rows(what: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, target());
        bar.set_style(style("{spinner} {msg} {human_pos} rows, {per_sec}"));
        bar.set_message(what.to_owned());
        Progress(bar)
    }

    /// This many more are done.
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
    if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

#[expect(clippy::expect_used, reason = "a constant template, used by every test of a command")]
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of known keys")
}
