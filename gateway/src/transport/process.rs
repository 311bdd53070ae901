//! A server as a child process: its own process group, an environment without our secrets, and a stop
//! that always ends the whole group.

use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::environment::is_inherited;
use super::orphan_guard::{OrphanGuard, register_self};
use crate::config::Command;

/// How long a server may take to exit after its stdin was closed, and then after SIGTERM.
const EXIT_AFTER_EOF: Duration = Duration::from_millis(700);
const EXIT_AFTER_SIGTERM: Duration = Duration::from_millis(1500);

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
        let mut child = build(command, guard.as_deref()).spawn()?;
        let missing = || std::io::Error::other("the server was started without its pipes");
        let pipes = Pipes {
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
            stderr: child.stderr.take().ok_or_else(missing)?,
        };
        let id = child.id().ok_or_else(missing)?;
        let leader = Leader {
            child,
            group: id.cast_signed(),
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
    group: i32,
    guard: Option<Arc<OrphanGuard>>,
    reaped: bool,
}

impl Leader {
    async fn supervise(mut self, stop: CancellationToken, exit: watch::Sender<Option<ExitStatus>>) {
        let status = tokio::select! {
            status = self.child.wait() => status,
            () = stop.cancelled() => self.end().await,
        };
        // Other processes of the group would be orphans.
        self.signal(libc::SIGKILL);
        self.reaped = true;
        self.group_gone().await;
        if let Some(guard) = &self.guard {
            guard.forget(self.group);
        }
        exit.send_replace(Some(status.unwrap_or_default()));
    }

    /// Waits up to 500 ms for the killed processes of the group. They are not our children, so they
    /// can only be polled.
    async fn group_gone(&self) {
        for _ in 0..100 {
            // SAFETY: signal 0 only checks whether the group exists.
            if unsafe { libc::kill(-self.group, 0) } != 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn end(&mut self) -> std::io::Result<ExitStatus> {
        if let Ok(status) = tokio::time::timeout(EXIT_AFTER_EOF, self.child.wait()).await {
            return status;
        }
        self.signal(libc::SIGTERM);
        if let Ok(status) = tokio::time::timeout(EXIT_AFTER_SIGTERM, self.child.wait()).await {
            return status;
        }
        self.signal(libc::SIGKILL);
        self.child.wait().await
    }

    fn signal(&self, signal: i32) {
        // SAFETY: kill has no memory effects. The group is ours: it was created for this child,
        // and its number cannot be reused before the child has been reaped by the caller.
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

fn build(command: &Command, guard: Option<&OrphanGuard>) -> tokio::process::Command {
    let mut build = tokio::process::Command::new(&command.program);
    build
        .args(&command.args)
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited)))
        .envs(&command.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(cwd) = &command.cwd {
        build.current_dir(cwd);
    }
    if let Some(pipe) = guard.map(OrphanGuard::descriptor) {
        // SAFETY: `register_self` only makes async-signal-safe calls, and the descriptor stays
        // open because the guard outlives the spawn.
        unsafe {
            build.pre_exec(move || {
                register_self(pipe);
                Ok(())
            });
        }
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
        let mut child = build(&shell("sleep 1000 & echo up; wait"), Some(&guard))
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
