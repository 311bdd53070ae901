//! Exit codes, for people's scripts and CI.

use std::io::{self, Write};

use pml_runtime::{ErrorKind, Outcome};

use crate::complain;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    pub const SUCCESS: Self = Self(0);
    pub const FAILURE: Self = Self(1);

    /// Ends the process at once.
    ///
    /// Destructors of C++ libraries are left out: those of ONNX Runtime would run beneath the
    /// thread that may still load the model.
    pub fn leave(self) -> ! {
        // A reader who has gone wants nothing more.
        let _ = io::stdout().flush();
        // SAFETY: `_exit` takes any number and touches no memory of this process.
        unsafe { libc::_exit(self.0.into()) }
    }
}

/// Wrong usage or configuration.
const USAGE: u8 = 2;
const INTERNAL: u8 = 70;
const TIMEOUT: u8 = 124;
/// Ended by Ctrl-C, as a shell would say it.
const INTERRUPTED: u8 = 130;
const MEMORY: u8 = 137;

pub fn usage() -> ExitCode {
    ExitCode(USAGE)
}

/// Tells of a mistake in the usage or the configuration.
pub fn mistake(error: anyhow::Error) -> ExitCode {
    complain::error(format_args!("{error:#}"));
    usage()
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
        Some(_) => ExitCode::FAILURE,
    }
}

/// What became of printing: whoever closed the pipe has heard enough.
pub fn check_pipe(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
