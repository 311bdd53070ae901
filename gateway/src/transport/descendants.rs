//! Descendants of servers that left their process group.
//!
//! A process that calls `setsid` gets no signal of its old group, and one whose parent has ended is a
//! child of init, where nothing leads back to the server. So this process is the subreaper of its
//! descendants (`PR_SET_CHILD_SUBREAPER`): orphans become its own children. Each server leads a
//! session of its own, so a child in another session than ours is a server or an orphan of one. Other
//! children, such as workers, share our session and are not touched.
//!
//! Each server gets a variable with its own tag, which its descendants inherit: an orphan is ended
//! with the server that it comes from. One that has removed the tag is ended with the last gateway of
//! the process.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The variable with the tag of a server.
pub const TAG: &str = "PML_SERVER_TAG";

/// How often orphans that have ended are reaped.
const REAP_INTERVAL: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// A killed process ends within milliseconds, unless the kernel holds it.
const MAX_POLLS: usize = 100;

/// The servers of this process that are not reaped yet. Locked while one is started, so that it is
/// never mistaken for an orphan.
static SERVERS: Mutex<Option<HashSet<i32>>> = Mutex::new(None);
static GATEWAYS: AtomicUsize = AtomicUsize::new(0);

/// Starts a server with `spawn`, which returns the process and its pid.
pub fn start_server<T>(spawn: impl FnOnce() -> std::io::Result<(T, i32)>) -> std::io::Result<T> {
    become_subreaper();
    let mut servers = servers();
    let (process, pid) = spawn()?;
    servers.get_or_insert_default().insert(pid);
    Ok(process)
}

/// Forgets a server that was reaped.
pub fn forget_server(pid: i32) {
    if let Some(servers) = servers().as_mut() {
        servers.remove(&pid);
    }
}

/// Makes this process the parent of the orphans among its descendants.
fn become_subreaper() {
    static BECOME: Once = Once::new();
    BECOME.call_once(|| {
        #[cfg(target_os = "linux")]
        // SAFETY: takes integers and touches no memory of this process.
        unsafe {
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        }
    });
}

/// Kills the orphans of the server `pid`: those with its tag, and those in its session. Returns when
/// they are gone, or after half a second.
pub async fn end_orphans_of(pid: i32, tag: &str) {
    end_orphans(|orphan| session_of(orphan) == Some(pid) || has_tag(orphan, tag)).await;
}

async fn end_orphans(is_meant: impl Fn(i32) -> bool) {
    for _ in 0..MAX_POLLS {
        let mut is_left = false;
        // Killing one orphans its children, which the next round finds.
        for orphan in orphans() {
            if reap(orphan) {
                is_left = true;
            } else if is_meant(orphan) {
                is_left = true;
                // SAFETY: takes two integers. The orphan is a child of ours that is not reaped, so its
                // pid names no other process.
                unsafe { libc::kill(orphan, libc::SIGKILL) };
            }
        }
        if !is_left {
            return;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Counts a gateway for as long as it lives.
pub struct GatewayCount(());

impl GatewayCount {
    pub fn new() -> Self {
        GATEWAYS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// Kills all orphans that are left, if this is the only gateway of the process.
    pub async fn end_all_orphans(&self) {
        if GATEWAYS.load(Ordering::Relaxed) == 1 {
            end_orphans(|_| true).await;
        }
    }
}

impl Drop for GatewayCount {
    fn drop(&mut self) {
        GATEWAYS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reaps orphans that have ended, until `shutdown`: they would stay zombies.
pub async fn reap_orphans(shutdown: CancellationToken) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(REAP_INTERVAL) => {}
            () = shutdown.cancelled() => return,
        }
        for orphan in orphans() {
            reap(orphan);
        }
    }
}

/// Reaps the orphan if it has ended.
fn reap(orphan: i32) -> bool {
    // SAFETY: without a pointer, the status is not written. Only this module waits for orphans.
    unsafe { libc::waitpid(orphan, std::ptr::null_mut(), libc::WNOHANG) == orphan }
}

/// The children of this process that are in another session and are not servers.
fn orphans() -> Vec<i32> {
    let servers = servers();
    let Some(servers) = servers.as_ref() else {
        return Vec::new();
    };
    let own = session_of(0);
    children()
        .into_iter()
        .filter(|child| session_of(*child) != own && !servers.contains(child))
        .collect()
}

/// The children of this process.
fn children() -> Vec<i32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let lists: Vec<String> = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok())
        .collect();
    // A kernel without these lists has other ways to find them, which take longer.
    if lists.is_empty() {
        return children_by_parent();
    }
    let pids = lists.iter().flat_map(|list| list.split_whitespace());
    pids.filter_map(|pid| pid.parse().ok()).collect()
}

fn children_by_parent() -> Vec<i32> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
            // The name may contain parentheses and spaces; the state and the parent follow it.
            let (_, after_name) = stat.rsplit_once(')')?;
            (after_name.split_whitespace().nth(1) == Some(own.as_str())).then_some(pid)
        })
        .collect()
}

fn session_of(pid: i32) -> Option<i32> {
    // SAFETY: takes an integer and touches no memory of this process.
    let session = unsafe { libc::getsid(pid) };
    (session >= 0).then_some(session)
}

/// Whether the process was started with the tag.
fn has_tag(pid: i32, tag: &str) -> bool {
    let entry = format!("{TAG}={tag}");
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
        environ
            .split(|byte| *byte == 0)
            .any(|found| found == entry.as_bytes())
    })
}

fn servers() -> MutexGuard<'static, Option<HashSet<i32>>> {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner)
}
