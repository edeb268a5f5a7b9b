//! Runs computations without the interpreter's lock, reports their progress, and stops them on Ctrl-C.

use crate::error::Fault;
use halfspaces_linalg::{Monitor, Threads};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The time between two checks for signals to the interpreter. A computation ends within 0.2 s of a signal, which
/// includes this interval and the time to the next checkpoint.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(20);

/// The number of entries up to which a computation runs on the calling thread and cannot be interrupted.
const SMALL: usize = 20_000;

/// Passed in place of the number of entries if a computation must stop on Ctrl-C even for small data, or if the size of
/// its data is not known yet. A fit can make any number of passes.
pub(crate) const LARGE: usize = usize::MAX;

thread_local! {
    /// The Python function that receives the progress of the computations started by this thread.
    static REPORT: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// Sets the function that receives the progress of the computations started by this thread: the number of finished
/// steps and the total number of steps. With `None`, progress is not reported. Returns the function that was set
/// before.
#[pyfunction]
pub(crate) fn set_progress(report: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
    REPORT.replace(report)
}

/// The progress that was last reported to a function.
struct Reported {
    report: Py<PyAny>,
    last: Option<(u64, u64)>,
}

impl Reported {
    /// Reports the progress if it has changed.
    fn update(&mut self, py: Python<'_>, now: Option<(u64, u64)>) -> PyResult<()> {
        if let Some(counts) = now.filter(|_| now != self.last) {
            self.last = now;
            self.report.call1(py, counts)?;
        }
        Ok(())
    }
}

/// Runs `work`, which reads `entries` numbers, on a pool of `jobs` threads, without the interpreter's lock. If a
/// signal handler or the function that receives the progress raises an exception, such as `KeyboardInterrupt`, stops
/// the work and returns the exception.
///
/// The pool belongs to this call, so a process that was forked afterwards can make calls of its own.
pub(crate) fn run<T: Send, E: Send>(
    py: Python<'_>,
    jobs: usize,
    entries: usize,
    work: impl FnOnce(Threads) -> Result<T, E> + Send,
) -> PyResult<T>
where
    Fault: From<E>,
{
    let threads = Threads::new(jobs).map_err(Fault::new)?;
    if jobs == 1 && entries <= SMALL {
        return Ok(py.detach(|| work(threads)).map_err(<Fault as From<E>>::from)?);
    }
    let report = REPORT.with_borrow(|report| report.as_ref().map(|report| report.clone_ref(py)));
    let mut reported = report.map(|report| Reported { report, last: None });
    let monitor = Monitor::default();
    let watcher = monitor.clone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs);
    let pool = pool.start_handler(move |_| watcher.watch()).build();
    let pool = pool.map_err(|e| PyRuntimeError::new_err(format!("n_jobs={jobs}: {e}")))?;
    let (done, outcome) = channel();
    let (raised, outcome, reported) = py.detach(move || {
        let mut raised = None;
        let outcome = pool.in_place_scope(|scope| {
            let monitor = &monitor;
            scope.spawn(move |_| {
                // The receiver outlives the scope.
                let _ = done.send(monitor.run(|| work(threads)));
            });
            loop {
                match outcome.recv_timeout(BETWEEN_SIGNALS) {
                    Ok(outcome) => break outcome,
                    // The work panicked; the scope passes the panic on.
                    Err(RecvTimeoutError::Disconnected) => break None,
                    Err(RecvTimeoutError::Timeout) => {
                        let checked = Python::attach(|py| {
                            py.check_signals()?;
                            match &mut reported {
                                Some(reported) => reported.update(py, monitor.progress()),
                                None => Ok(()),
                            }
                        });
                        if let Err(error) = checked {
                            monitor.stop();
                            raised.get_or_insert(error);
                            reported = None;
                        }
                    }
                }
            }
        });
        (raised, outcome, reported)
    });
    // The last steps may have ended after the last check.
    if let (None, Some(Ok(_)), Some(mut reported)) = (&raised, &outcome, reported) {
        let end = reported.last.map(|(_, total)| (total, total));
        reported.update(py, end)?;
    }
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Some(outcome)) => Ok(outcome.map_err(<Fault as From<E>>::from)?),
        (None, None) => unreachable!("only an exception stops a computation"),
    }
}
