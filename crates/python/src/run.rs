//! Runs computations without the interpreter's lock, and stops them on Ctrl-C.

use crate::error::Fault;
use halfspaces_linalg::{StopFlag, Threads};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The time between two checks for signals of the interpreter. Including this interval and the time to the next
/// checkpoint, a computation ends within 0.2 s of a signal.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(20);

/// The number of entries up to which a computation runs on the calling thread and cannot be interrupted.
const SMALL: usize = 20_000;

/// Runs `work`, which reads `entries` numbers, on a pool of `jobs` threads, without the interpreter's lock. After
/// stopping the work, raises `KeyboardInterrupt` or the exception of another signal handler.
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
    let flag = StopFlag::default();
    let watcher = flag.clone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs);
    let pool = pool.start_handler(move |_| watcher.watch()).build();
    let pool = pool.map_err(|e| PyRuntimeError::new_err(format!("n_jobs={jobs}: {e}")))?;
    let (done, outcome) = channel();
    let (raised, outcome) = py.detach(move || {
        let mut raised = None;
        let outcome = pool.in_place_scope(|scope| {
            let flag = &flag;
            scope.spawn(move |_| {
                // The receiver outlives the scope.
                let _ = done.send(flag.run(|| work(threads)));
            });
            loop {
                match outcome.recv_timeout(BETWEEN_SIGNALS) {
                    Ok(outcome) => break outcome,
                    // The work panicked; the scope passes the panic on.
                    Err(RecvTimeoutError::Disconnected) => break None,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            flag.stop();
                            raised = Some(error);
                        }
                    }
                }
            }
        });
        (raised, outcome)
    });
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Some(outcome)) => Ok(outcome.map_err(<Fault as From<E>>::from)?),
        (None, None) => unreachable!("only a signal stops a computation"),
    }
}
