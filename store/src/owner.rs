//! The identity of a process that owns runs, and whether another owner still exists.
//!
//! A lease alone would make every resume after `kill -9` wait until it ends. The identity of the owner
//! says more: if it ran under this kernel and in this pid namespace, and no process has its pid and
//! its start time, then it is gone. In all other cases only the lease decides.

use std::fmt;
use std::fs;

use crate::error::StoreError;
use crate::key::{random_bytes, to_hex};

/// A process that opened a store. Two stores opened by one process are two owners.
///
/// Its text form, which is in the database, has the boot id, the inode of the pid namespace, the pid,
/// the start time in clock ticks, and a random part, with colons between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    process: Option<ProcessId>,
    pid: u32,
    random: String,
}

/// A process among all processes of all machines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ProcessId {
    boot: String,
    pid_namespace: String,
    started: u64,
}

impl Owner {
    /// This process.
    pub fn current() -> Result<Self, StoreError> {
        Ok(Self {
            process: ProcessId::current(),
            pid: std::process::id(),
            random: to_hex(&random_bytes::<12>()?),
        })
    }

    /// The owner with this text form.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let mut part = || parts.next();
        let (boot, pid_namespace, pid) = (part()?, part()?, part()?.parse().ok()?);
        let (started, random) = (part()?.parse().ok()?, part()?.to_owned());
        let process = (!boot.is_empty()).then(|| ProcessId {
            boot: boot.to_owned(),
            pid_namespace: pid_namespace.to_owned(),
            started,
        });
        Some(Self {
            process,
            pid,
            random,
        })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the owner is certainly gone. `false` if it exists or this process cannot tell.
    pub fn is_gone(&self) -> bool {
        let (Some(owner), Some(this)) = (&self.process, ProcessId::current()) else {
            return false;
        };
        let is_visible = owner.boot == this.boot && owner.pid_namespace == this.pid_namespace;
        is_visible && process_is_gone(self.pid, owner.started)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (boot, namespace, started) = match &self.process {
            Some(process) => (
                process.boot.as_str(),
                process.pid_namespace.as_str(),
                process.started,
            ),
            None => ("", "", 0),
        };
        let Self { pid, random, .. } = self;
        write!(f, "{boot}:{namespace}:{pid}:{started}:{random}")
    }
}

impl ProcessId {
    /// `None` where `/proc` does not tell.
    fn current() -> Option<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        // `pid:[4026531836]`
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
        let digits = |c: char| !c.is_ascii_digit();
        Some(Self {
            boot: boot.trim().to_owned(),
            pid_namespace: namespace.to_str()?.replace(digits, ""),
            started: Stat::read("self")?.started,
        })
    }
}

/// Whether no process has this pid and start time, or only its exit status is left.
#[cfg(unix)]
fn process_is_gone(pid: u32, started: u64) -> bool {
    let Some(id) = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return false;
    };
    // `/proc` may hide the processes of other users; the signal 0 does not.
    if rustix::process::test_kill_process(id) == Err(rustix::io::Errno::SRCH) {
        return true;
    }
    Stat::read(&pid.to_string()).is_some_and(|stat| stat.is_dead || stat.started != started)
}

#[cfg(not(unix))]
fn process_is_gone(_pid: u32, _started: u64) -> bool {
    false
}

/// What `/proc/<pid>/stat` says.
struct Stat {
    /// A zombie, or already being removed.
    is_dead: bool,
    /// Clock ticks after the start of the kernel.
    started: u64,
}

impl Stat {
    fn read(pid: &str) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name of the program, in parentheses, may contain spaces and parentheses.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        Some(Self {
            is_dead: matches!(state, "Z" | "X" | "x"),
            started: fields.nth(18)?.parse().ok()?,
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_text_form_keeps_the_identity() {
        let owner = Owner::current().unwrap();
        assert_eq!(Owner::parse(&owner.to_string()), Some(owner.clone()));
        assert_eq!(owner.pid(), std::process::id());
        assert_ne!(owner, Owner::current().unwrap());
        assert_eq!(Owner::parse("x"), None);
    }

    #[test]
    fn a_program_may_have_any_name() {
        let stat = Stat::parse("7 (a) R 1 (b) S 1 7 7 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 2");
        assert_eq!(stat.unwrap().started, 4711);
    }

    #[test]
    fn an_owner_is_gone_when_its_process_ended_or_its_pid_is_reused() {
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let started = Stat::read(&child.id().to_string()).unwrap().started;
        let mut owner = Owner::current().unwrap();
        assert!(!owner.is_gone());
        owner.pid = child.id();
        owner.process.as_mut().unwrap().started = started;
        assert!(!owner.is_gone());
        let mut reused = owner.clone();
        reused.process.as_mut().unwrap().started = started + 1;
        assert!(reused.is_gone());
        child.kill().unwrap();
        // A zombie until it is waited for.
        while !owner.is_gone() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(owner.is_gone());
        owner.process.as_mut().unwrap().boot = "another machine".to_owned();
        assert!(!owner.is_gone());
    }
}
