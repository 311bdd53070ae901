//! Exit codes, for people's scripts and CI.

use std::io;
use std::process::ExitCode;

use pml_runtime::{ErrorKind, Outcome};

use crate::complain;

/// Wrong usage or configuration.
const USAGE: u8 = 2;
const INTERNAL: u8 = 70;
const TIMEOUT: u8 = 124;
/// Ended by Ctrl-C, as a shell would say it.
const INTERRUPTED: u8 = 130;
const MEMORY: u8 = 137;

pub fn usage() -> ExitCode {
    ExitCode::from(USAGE)
}

/// Tells of a mistake in the usage or the configuration.
pub fn mistake(error: anyhow::Error) -> ExitCode {
    complain::error(format_args!("{error:#}"));
    usage()
}

pub fn interrupted() -> ExitCode {
    ExitCode::from(INTERRUPTED)
}

pub fn internal() -> ExitCode {
    ExitCode::from(INTERNAL)
}

pub fn of(outcome: &Outcome) -> ExitCode {
    match outcome.error.as_ref().map(|error| error.kind) {
        None => ExitCode::SUCCESS,
        Some(ErrorKind::Timeout) => ExitCode::from(TIMEOUT),
        Some(ErrorKind::Memory) => ExitCode::from(MEMORY),
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
