//! Exit codes, for shell scripts and CI.

use std::io::{self, Write};

use pml_protocol::{ErrorKind, Outcome};

use crate::diagnostics;

/// The exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    pub const SUCCESS: Self = Self(0);
    pub const FAILURE: Self = Self(1);

    /// Ends the process at once, without running the destructors of C++ libraries: those of ONNX
    /// Runtime would run while another thread may still load the model.
    pub fn leave(self) -> ! {
        // The reader may have closed the pipe.
        let _ = io::stdout().flush();
        // SAFETY: `_exit` takes any number and touches no memory of this process.
        unsafe { libc::_exit(self.0.into()) }
    }
}

/// Wrong usage or configuration.
const USAGE: u8 = 2;
const INTERNAL: u8 = 70;
/// The run is not over: it waits for a person. `EX_TEMPFAIL` of `sysexits.h`.
const WAITING: u8 = 75;
const TIMEOUT: u8 = 124;
/// 128 + SIGINT, as shells report it.
const INTERRUPTED: u8 = 130;
const MEMORY: u8 = 137;

pub fn usage() -> ExitCode {
    ExitCode(USAGE)
}

/// Reports an error in the usage or the configuration.
pub fn usage_error(error: anyhow::Error) -> ExitCode {
    diagnostics::error(format_args!("{error:#}"));
    usage()
}

/// Reports an error of what was asked for; its usage was right.
pub fn success_or_failure(done: anyhow::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            diagnostics::error(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

pub fn interrupted() -> ExitCode {
    ExitCode(INTERRUPTED)
}

pub fn internal() -> ExitCode {
    ExitCode(INTERNAL)
}

pub fn of(outcome: &Outcome) -> ExitCode {
    match outcome.error.as_ref().map(|error| error.kind) {
        None => ExitCode::SUCCESS,
        Some(ErrorKind::Timeout) => ExitCode(TIMEOUT),
        Some(ErrorKind::Memory) => ExitCode(MEMORY),
        Some(ErrorKind::Internal) => internal(),
        Some(ErrorKind::Waiting | ErrorKind::Unknown) => ExitCode(WAITING),
        Some(_) => ExitCode::FAILURE,
    }
}

/// The result of printing; a pipe that the reader closed is not an error.
pub fn check_pipe(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
