//! Progress on stderr: bars on a terminal, plain lines elsewhere.

use crate::reproduce::note;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Progress of one experiment.
pub(crate) struct Progress {
    id: &'static str,
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// Starts an experiment of which `done` of `total` trials are in already.
    pub(crate) fn start(id: &'static str, title: &str, done: usize, total: usize) -> Progress {
        let bar = if std::io::stderr().is_terminal() {
            let style =
                "{prefix:>4} {bar:32} {pos}/{len} trials, {elapsed} gone, {eta} left  {msg}";
            let style = ProgressStyle::with_template(style)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(total as u64).with_style(style).with_prefix(id);
            bar.set_message(title.to_owned());
            bar.set_position(done as u64);
            bar.reset_eta();
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        } else {
            let known = if done > 0 { format!(", {done} already in") } else { String::new() };
            note(&format!("{id} {title}: {total} trials{known}"));
            ProgressBar::hidden()
        };
        Progress { id, bar, started: Instant::now() }
    }

    /// One more trial is in.
    pub(crate) fn tick(&self) {
        self.bar.inc(1);
    }

    /// Ends the experiment; returns the seconds it took.
    pub(crate) fn finish(self) -> f64 {
        let seconds = self.started.elapsed().as_secs_f64();
        self.bar.finish_and_clear();
        note(&format!("{} done in {seconds:.1} s", self.id));
        seconds
    }
}
