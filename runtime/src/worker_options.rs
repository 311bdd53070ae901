//! The command line of a worker process: the options that it needs before its isolate exists.

use std::process::Command;

use pml_protocol::Limits;

/// The subcommand of a worker. Only the broker uses it.
const WORKER: &str = "__pml_worker";

/// The argument that makes a worker a template.
const TEMPLATE: &str = "template";

/// The options of a worker process that V8 and the walls need before the script arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerOptions {
    /// The limit of V8's heap.
    pub heap_bytes: u64,
    /// The limit of array buffers, which are not in the heap.
    pub buffer_bytes: u64,
    /// Whether V8 may compile to machine code. Without it the process may not map executable memory.
    pub jit: bool,
}

/// What a worker process does when it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Runs one script.
    Worker,
    /// Forks for every script; each child runs one.
    Template,
}

impl WorkerOptions {
    /// The options of a run with these limits.
    pub fn for_limits(limits: &Limits, jit: bool) -> Self {
        Self {
            heap_bytes: limits.heap_bytes,
            buffer_bytes: limits.buffer_bytes,
            jit,
        }
    }

    /// Adds the arguments that make `command` a worker of this process.
    pub(crate) fn apply(self, role: Role, command: &mut Command) {
        command
            .arg(WORKER)
            .arg(std::process::id().to_string())
            .arg(self.heap_bytes.to_string())
            .arg(self.buffer_bytes.to_string())
            .arg(u8::from(self.jit).to_string());
        if role == Role::Template {
            command.arg(TEMPLATE);
        }
    }
}

#[cfg(feature = "worker")]
pub(crate) use parse::{WorkerCommand, is_worker};

#[cfg(feature = "worker")]
mod parse {
    use std::ffi::OsString;

    use super::{Role, TEMPLATE, WORKER, WorkerOptions};

    /// The arguments of a process that was started as a worker.
    #[derive(Debug, PartialEq, Eq)]
    pub(crate) struct WorkerCommand {
        /// The broker's pid.
        pub parent: libc::pid_t,
        pub options: WorkerOptions,
        pub role: Role,
        /// Further arguments, which only tests add.
        pub rest: Vec<OsString>,
    }

    /// Whether these arguments, without the program's name, are those of a worker.
    pub(crate) fn is_worker(args: &[OsString]) -> bool {
        args.first().is_some_and(|arg| arg == WORKER)
    }

    impl WorkerCommand {
        /// `None` if the arguments are not the ones that [`WorkerOptions::apply`] adds.
        pub(crate) fn parse(args: &[OsString]) -> Option<Self> {
            let (worker, args) = args.split_first()?;
            let mut numbers = args.iter().map(|arg| arg.to_str()?.parse::<u64>().ok());
            let mut next = || numbers.next().flatten();
            let parent = libc::pid_t::try_from(next()?).ok()?;
            let options = WorkerOptions {
                heap_bytes: next()?,
                buffer_bytes: next()?,
                jit: next()? != 0,
            };
            let mut rest = args.get(4..)?.to_vec();
            let role = match rest.first() {
                Some(arg) if arg == TEMPLATE => {
                    rest.remove(0);
                    Role::Template
                }
                _ => Role::Worker,
            };
            (worker == WORKER).then_some(Self {
                parent,
                options,
                role,
                rest,
            })
        }
    }

    #[cfg(test)]
    mod tests {
        use std::process::Command;

        use super::*;

        #[test]
        fn a_worker_reads_the_arguments_that_it_was_started_with() {
            let options = WorkerOptions {
                heap_bytes: 8,
                buffer_bytes: 9,
                jit: true,
            };
            for role in [Role::Worker, Role::Template] {
                let mut command = Command::new("pml");
                options.apply(role, &mut command);
                let args: Vec<OsString> = command.get_args().map(OsString::from).collect();
                assert!(is_worker(&args));
                let parsed = WorkerCommand::parse(&args).unwrap();
                assert_eq!((parsed.options, parsed.role), (options, role));
                assert!(parsed.rest.is_empty());
            }
            assert!(WorkerCommand::parse(&["run".into()]).is_none());
        }
    }
}
