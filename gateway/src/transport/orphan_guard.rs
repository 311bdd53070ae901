//! Kills the servers when this process is killed.
//!
//! A server started with `npx` is a tree of processes. After a SIGKILL no code of `pml` runs, and a
//! parent-death signal reaches only the direct child. So a small shell reads from a pipe whose only
//! write end this process holds: at end of file, it kills every process group on its list, and then
//! every process whose environment has a tag of this gateway, for those that left their group. A child
//! registers itself between fork and exec, so no group can be missed.

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::descendants::TAG;

/// Plain POSIX shell; `$1` is the beginning of the tags. SIGTERM first, so that a server can clean up;
/// then SIGKILL. A list without groups means that all servers and their descendants have ended.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT PIPE
groups=''
while read -r word group; do
  case $word in
    add) groups="$groups $group" ;;
    drop)
      kept=''
      for g in $groups; do [ "$g" = "$group" ] || kept="$kept $g"; done
      groups=$kept ;;
  esac
done
[ -z "$groups" ] && exit 0
for g in $groups; do kill -s TERM -- "-$g"; done
sleep 1
for g in $groups; do kill -s KILL -- "-$g"; done
rounds=0
while [ "$rounds" -lt 20 ]; do
  left=$(grep -lsF -- "$1" /proc/[0-9]*/environ)
  [ -z "$left" ] && exit 0
  for file in $left; do
    pid=${file#/proc/}
    kill -s KILL "${pid%/environ}"
  done
  rounds=$((rounds + 1))
done
"#;

/// The running guard. Dropping it closes the pipe, which ends the shell.
#[derive(Debug)]
pub struct OrphanGuard {
    pipe: Mutex<std::process::ChildStdin>,
    shell: Mutex<std::process::Child>,
    /// The beginning of the tags of this gateway's servers.
    tags: String,
    servers: AtomicU64,
}

impl OrphanGuard {
    pub fn start() -> std::io::Result<Self> {
        let tags = format!("{:016x}", fastrand::u64(..));
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "pml-guard"])
            .arg(format!("{TAG}={tags}-"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Not in the terminal's foreground group: Ctrl-C must not end the guard first.
            .process_group(0);
        let mut shell = command.spawn()?;
        let pipe = shell
            .stdin
            .take()
            .ok_or_else(|| std::io::Error::other("the guard has no standard input"))?;
        Ok(Self {
            pipe: Mutex::new(pipe),
            shell: Mutex::new(shell),
            tags,
            servers: AtomicU64::new(0),
        })
    }

    /// The tag of a new server.
    pub fn new_tag(&self) -> String {
        let number = self.servers.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", self.tags)
    }

    /// The descriptor that a child registers itself with, between fork and exec.
    pub fn descriptor(&self) -> RawFd {
        self.pipe
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_raw_fd()
    }

    /// Removes a group from the list after it has ended.
    pub fn forget(&self, group: i32) {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        // Fails only if the guard was killed.
        let _ = pipe.write_all(format!("drop {group}\n").as_bytes());
    }
}

impl Drop for OrphanGuard {
    fn drop(&mut self) {
        // Replacing the pipe closes it. The shell then exits at once and is reaped.
        let pipe = self.pipe.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
            *pipe = std::process::ChildStdin::from(OwnedFd::from(null));
        }
        let shell = self.shell.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = shell.wait();
    }
}

/// Writes `add PID` to `pipe`. Runs between fork and exec: no allocation, no locks.
pub fn register_self(pipe: RawFd) {
    let mut line = [0u8; 24];
    line[..4].copy_from_slice(b"add ");
    // SAFETY: getpid has no preconditions and is async-signal-safe.
    let mut pid = unsafe { libc::getpid() }.unsigned_abs();
    let mut digits = [0u8; 10];
    let mut count = 0;
    loop {
        digits[count] = b'0' + (pid % 10) as u8;
        count += 1;
        pid /= 10;
        if pid == 0 {
            break;
        }
    }
    let mut end = 4;
    while count > 0 {
        count -= 1;
        line[end] = digits[count];
        end += 1;
    }
    line[end] = b'\n';
    end += 1;
    // SAFETY: `line` is valid for `end` bytes; signal and write are async-signal-safe, and a write of
    // so few bytes to a pipe is atomic. SIGPIPE is ignored meanwhile, so that a killed guard does not
    // kill new servers, and then restored.
    unsafe {
        let before = libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        libc::write(pipe, line.as_ptr().cast(), end);
        libc::signal(libc::SIGPIPE, before);
    }
}
