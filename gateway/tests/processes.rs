//! Processes of the system, and waiting for a condition.

use std::time::Duration;

/// Waits until `condition` holds, for at most five seconds.
pub async fn eventually(mut condition: impl AsyncFnMut() -> bool) -> bool {
    for _ in 0..250 {
        if condition().await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// The processes whose command line contains `mark`, zombies included where they show one.
pub fn processes_with(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if id != own && String::from_utf8_lossy(&line).contains(mark) {
            found.push(id);
        }
    }
    found
}
