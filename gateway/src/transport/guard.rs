//! Ends the servers when this process dies without a chance to do it itself.
//!
//! A server started with `npx` is a tree of processes. When `pml` is killed with SIGKILL nothing
//! of its own code runs any more, and a parent-death signal reaches only the direct child. So one
//! small shell waits on a pipe that only this process holds open: at its end, it ends every
//! process group still on its list. A child puts itself on the list before it becomes the server,
//! so there is no moment at which it could be missed.

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Deliberately plain POSIX shell. SIGTERM first, so that a server may tidy up; then SIGKILL.
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
"#;

/// The running guard. Dropping it closes the pipe, which ends the shell.
#[derive(Debug)]
pub struct Guard {
    pipe: Mutex<std::process::ChildStdin>,
    shell: Mutex<std::process::Child>,
}

impl Guard {
    pub fn start() -> std::io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command
            .arg("-c")
            .arg(SCRIPT)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of the terminal's foreground group: Ctrl-C must not end the guard first.
            .process_group(0);
        let mut shell = command.spawn()?;
        let pipe = shell
            .stdin
            .take()
            .ok_or_else(|| std::io::Error::other("the guard has no standard input"))?;
        Ok(Self {
            pipe: Mutex::new(pipe),
            shell: Mutex::new(shell),
        })
    }

    /// The descriptor a child writes its own registration to, between fork and exec.
    pub fn descriptor(&self) -> RawFd {
        self.pipe
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_raw_fd()
    }

    /// Takes a group off the list once all of it has ended.
    pub fn forget(&self, group: i32) {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        // The guard can only be gone if someone killed it; then there is nothing to tell it.
        let _ = pipe.write_all(format!("drop {group}\n").as_bytes());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Replacing the pipe closes it; the shell then ends at once and must not stay a zombie.
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
    // SAFETY: `line` is valid for `end` bytes; signal and write are async-signal-safe, and a pipe
    // takes so few bytes whole or not at all. SIGPIPE is ignored meanwhile, so that a guard that
    // someone ended cannot take new servers with it, and then is as the standard library left it.
    unsafe {
        let before = libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        libc::write(pipe, line.as_ptr().cast(), end);
        libc::signal(libc::SIGPIPE, before);
    }
}
