//! Traces a process one instruction at a time.

use crate::terminal::Failure;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// The number of instructions that this program executes when it runs the loop named `of`, counted from the moment when
/// it starts to wait. If the system does not allow one process to trace another, returns the reason.
pub(super) fn steps(of: &str) -> Result<Result<u64, String>, Failure> {
    let mut program = Command::new(std::env::current_exe()?);
    program.args(["--of", of]);
    steps_of(program)
}

/// The number of instructions that `program` executes after it starts to wait. The program must write one byte, wait
/// for a byte on stdin, and end.
pub(super) fn steps_of(mut program: Command) -> Result<Result<u64, String>, Failure> {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
        unreachable!("both are pipes")
    };
    stdout.read_exact(&mut [0])?;
    // Waits until the program is asleep. Otherwise its instructions between the output and the wait would be counted in
    // some runs.
    while !is_asleep(child.id())? {
        std::thread::yield_now();
    }
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    let attached = ptrace::attach(pid).and_then(|()| waitpid(pid, None));
    stdin.write_all(b"\n")?;
    drop(stdin);
    let counted = match attached {
        Ok(_) => count(pid)?,
        Err(refused) => {
            Err(format!("this system does not allow a process to follow another ({refused})"))
        }
    };
    // A process that was traced to its end has already been waited for.
    let _ = child.wait();
    Ok(counted)
}

/// Whether the process is waiting. Linux gives the state as a letter after the name in parentheses.
fn is_asleep(process: u32) -> Result<bool, Failure> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    Ok(stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S')))
}

/// Steps through a stopped process to its end.
fn count(pid: Pid) -> Result<Result<u64, String>, Failure> {
    let (mut steps, mut pass_on) = (0, None);
    loop {
        if let Err(refused) = ptrace::step(pid, pass_on) {
            return Ok(Err(format!(
                "this system does not allow a process to follow another ({refused})"
            )));
        }
        pass_on = None;
        match waitpid(pid, None) {
            Ok(WaitStatus::Stopped(_, Signal::SIGTRAP)) => steps += 1,
            Ok(WaitStatus::Stopped(_, signal)) => pass_on = Some(signal),
            Ok(WaitStatus::Exited(_, 0)) => return Ok(Ok(steps)),
            Err(Errno::EINTR) => {}
            other => return Err(format!("the loop ended with {other:?}").into()),
        }
    }
}
