//! A server as a child process: its own session, an environment without our secrets, and a stop that
//! always ends the whole group and its orphans.

use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::descendants::{TAG, end_orphans_of, forget_server, start_server};
use super::environment::inherited;
use super::orphan_guard::{OrphanGuard, register_self};
use crate::config::Command;

/// How long a server may take to exit after its stdin was closed, and then after SIGTERM.
const EXIT_AFTER_EOF: Duration = Duration::from_millis(700);
const EXIT_AFTER_SIGTERM: Duration = Duration::from_millis(1500);
/// How often to look whether the server has ended, where the kernel has no pidfd.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The standard streams of a new process.
pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// A handle to a running server. A task owns the process and reaps it however it ends; the handle can
/// stop it and wait for its exit.
#[derive(Debug, Clone)]
pub struct ServerProcess {
    stop: CancellationToken,
    exit: watch::Receiver<Option<ExitStatus>>,
    pub id: u32,
}

impl ServerProcess {
    pub fn start(
        command: &Command,
        guard: Option<Arc<OrphanGuard>>,
    ) -> std::io::Result<(Self, Pipes)> {
        let tag = match &guard {
            Some(guard) => guard.new_tag(),
            None => format!("{:016x}", fastrand::u64(..)),
        };
        let missing = || std::io::Error::other("the server was started without its pipes");
        let mut child = start_server(|| {
            let child = build(command, guard.as_deref(), &tag).spawn()?;
            let id = child.id().ok_or_else(missing)?;
            Ok((child, id.cast_signed()))
        })?;
        let pipes = Pipes {
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
            stderr: child.stderr.take().ok_or_else(missing)?,
        };
        let id = child.id().ok_or_else(missing)?;
        let leader = Leader {
            pidfd: open_pidfd(id.cast_signed()),
            child,
            group: id.cast_signed(),
            tag,
            guard,
            reaped: false,
        };
        let stop = CancellationToken::new();
        let (exit_sender, exit) = watch::channel(None);
        tokio::spawn(leader.supervise(stop.clone(), exit_sender));
        Ok((Self { stop, exit, id }, pipes))
    }

    /// Ends the process group: waits for its exit, then SIGTERM, then SIGKILL. Returns when it is gone.
    /// The caller has closed its stdin.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.exited().await;
    }

    /// Starts [`ServerProcess::stop`] without waiting for it.
    pub fn request_stop(&self) {
        self.stop.cancel();
    }

    /// The exit status, if the process exits within `timeout`.
    pub async fn exit_within(&self, timeout: Duration) -> Option<ExitStatus> {
        tokio::time::timeout(timeout, self.exited())
            .await
            .ok()
            .flatten()
    }

    async fn exited(&self) -> Option<ExitStatus> {
        let mut exit = self.exit.clone();
        let status = exit.wait_for(Option::is_some).await.ok()?;
        *status
    }
}

/// The owner of the child. Dropped while the process is alive (the runtime shuts down), it kills the
/// group at once.
struct Leader {
    child: Child,
    /// Readable when the child has ended. `None` where the kernel has no such descriptor.
    pidfd: Option<AsyncFd<OwnedFd>>,
    group: i32,
    tag: String,
    guard: Option<Arc<OrphanGuard>>,
    reaped: bool,
}

impl Leader {
    async fn supervise(mut self, stop: CancellationToken, exit: watch::Sender<Option<ExitStatus>>) {
        tokio::select! {
            () = self.ended() => {}
            () = stop.cancelled() => self.end().await,
        }
        // Other processes of the group would be orphans. The leader is still a zombie, so the number
        // of the group cannot belong to another one.
        self.signal(libc::SIGKILL);
        if let Some(guard) = &self.guard {
            guard.forget(self.group);
        }
        let status = self.child.wait().await;
        self.reaped = true;
        forget_server(self.group);
        end_orphans_of(self.group, &self.tag).await;
        exit.send_replace(Some(status.unwrap_or_default()));
    }

    /// Returns when the child has ended; it is not reaped.
    async fn ended(&self) {
        match &self.pidfd {
            Some(pidfd) => {
                // Fails only when the runtime shuts down.
                let _ = pidfd.readable().await;
            }
            None => {
                while !has_ended(self.group) {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            }
        }
    }

    /// Asks the child to end, in three steps. It is not reaped.
    async fn end(&self) {
        if tokio::time::timeout(EXIT_AFTER_EOF, self.ended())
            .await
            .is_ok()
        {
            return;
        }
        self.signal(libc::SIGTERM);
        if tokio::time::timeout(EXIT_AFTER_SIGTERM, self.ended())
            .await
            .is_ok()
        {
            return;
        }
        self.signal(libc::SIGKILL);
        self.ended().await;
    }

    /// Signals the group. The caller has not reaped the child.
    fn signal(&self, signal: i32) {
        // SAFETY: kill has no memory effects. The group is ours: it was created for this child, and
        // its number is not reused before the child is reaped.
        unsafe {
            libc::kill(-self.group, signal);
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(libc::SIGKILL);
        }
    }
}

/// A descriptor that becomes readable when the child has ended.
#[cfg(target_os = "linux")]
fn open_pidfd(pid: i32) -> Option<AsyncFd<OwnedFd>> {
    use std::os::fd::FromRawFd;
    // SAFETY: takes two integers and returns a descriptor or an error.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, libc::PIDFD_NONBLOCK) };
    let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0)?;
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: an `OwnedFd` has the same descriptor for as long as it lives.
    unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }.ok()
}

#[cfg(not(target_os = "linux"))]
fn open_pidfd(_: i32) -> Option<AsyncFd<OwnedFd>> {
    None
}

/// Whether the child has ended; it is not reaped.
fn has_ended(pid: i32) -> bool {
    // SAFETY: all-zero bytes are a valid `siginfo_t`; the pointer is to a local that outlives the call.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let waited = libc::waitid(libc::P_PID, pid.unsigned_abs(), &raw mut info, flags);
        // An error means that there is no such child.
        waited != 0 || info.si_pid() != 0
    }
}

fn build(command: &Command, guard: Option<&OrphanGuard>, tag: &str) -> tokio::process::Command {
    let mut build = tokio::process::Command::new(&command.program);
    build
        .args(&command.args)
        .env_clear()
        .envs(inherited(std::env::vars_os()))
        .envs(&command.env)
        .env(TAG, tag)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = &command.cwd {
        build.current_dir(cwd);
    }
    let pipe = guard.map(OrphanGuard::descriptor);
    // SAFETY: `setsid` and `register_self` are async-signal-safe, and the descriptor stays open because
    // the guard outlives the spawn.
    unsafe {
        build.pre_exec(move || {
            // A session of its own, and with it a group: no terminal, and orphans are recognised.
            libc::setsid();
            if let Some(pipe) = pipe {
                register_self(pipe);
            }
            Ok(())
        });
    }
    build
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tokio::io::AsyncReadExt;

    fn shell(script: &str) -> Command {
        Command {
            program: "/bin/sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: BTreeMap::from([("GIVEN".to_owned(), "yes".to_owned())]),
            cwd: None,
        }
    }

    fn alive(group: u32) -> bool {
        // SAFETY: signal 0 only checks whether the group exists.
        unsafe { libc::kill(-group.cast_signed(), 0) == 0 }
    }

    async fn gone(group: u32) -> bool {
        for _ in 0..100 {
            if !alive(group) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        false
    }

    #[tokio::test]
    async fn a_server_that_ignores_everything_is_killed_with_its_children() {
        let guard = Arc::new(OrphanGuard::start().unwrap());
        let script = "trap '' TERM; sleep 1000 & echo up; while :; do sleep 1; done";
        let (process, mut pipes) = ServerProcess::start(&shell(script), Some(guard)).unwrap();
        let mut up = [0; 3];
        pipes.stdout.read_exact(&mut up).await.unwrap();
        assert!(alive(process.id));
        drop(pipes.stdin);
        process.stop().await;
        assert!(gone(process.id).await);
    }

    #[tokio::test]
    async fn processes_that_a_dead_leader_left_in_its_group_are_killed() {
        let (process, mut pipes) =
            ServerProcess::start(&shell("sleep 1000 & echo up"), None).unwrap();
        let mut up = [0; 3];
        pipes.stdout.read_exact(&mut up).await.unwrap();
        assert!(
            process
                .exit_within(Duration::from_secs(5))
                .await
                .unwrap()
                .success()
        );
        assert!(gone(process.id).await);
    }

    #[tokio::test]
    async fn a_server_sees_its_own_environment_and_not_ours() {
        // SAFETY: no other thread of this test binary reads this variable.
        unsafe { std::env::set_var("PML_TEST_SECRET_TOKEN", "hidden") };
        let script = "echo \"$GIVEN-$PML_TEST_SECRET_TOKEN-$PATH\"";
        let (_process, mut pipes) = ServerProcess::start(&shell(script), None).unwrap();
        let mut text = String::new();
        pipes.stdout.read_to_string(&mut text).await.unwrap();
        assert!(text.starts_with("yes--/"), "{text}");
    }

    #[tokio::test]
    async fn the_guard_kills_the_group_when_its_owner_is_gone() {
        let guard = Arc::new(OrphanGuard::start().unwrap());
        let mut child = build(&shell("sleep 1000 & echo up; wait"), Some(&guard), "tag")
            .kill_on_drop(false)
            .spawn()
            .unwrap();
        let mut up = [0; 3];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut up)
            .await
            .unwrap();
        let group = child.id().unwrap();
        assert!(alive(group));
        // The kernel closes the only write end of the pipe like this when we are killed.
        drop(guard);
        child.wait().await.unwrap();
        assert!(gone(group).await);
    }
}
