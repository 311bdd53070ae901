//! What an operator does with the servers of a running gateway.

use crate::{Gateway, StartError};

impl Gateway {
    /// The last lines that a server wrote to standard error, oldest first and without secrets; `None`
    /// for a name that the configuration does not have.
    pub fn recent_logs(&self, server: &str, lines: usize) -> Option<Vec<String>> {
        let server = self.inner().servers.get(server)?;
        Some(server.history().stderr.last(lines))
    }

    /// Starts a server anew. Requests under way are answered by the process that has them, which then
    /// ends; if the new one does not start, the old one goes on. `None` for a name that the
    /// configuration does not have.
    pub async fn restart(&self, server: &str) -> Option<Result<(), StartError>> {
        let restarting = self.inner().servers.get(server)?;
        let restarted = restarting.restart().await;
        if restarted.is_ok() {
            self.inner().policy().breakers.reset(server);
        }
        Some(restarted.map_err(|unavailable| unavailable.error))
    }
}
