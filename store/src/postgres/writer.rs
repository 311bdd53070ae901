//! The tasks of a store on a server: one writes, one renews leases.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::database::Connections;
use crate::lease::OwnedRuns;
use crate::run_writer::WriteQueue;
use crate::write_group::{GROUP_MAX, WriteCommand, WriteGroup};

/// Something for the writer task to do, in the order of the queue.
pub(super) enum Job {
    /// A write of a run: committed together with those around it.
    Write(WriteCommand),
    /// The end of the task.
    Stop(oneshot::Sender<()>),
}

/// The sending side of the writer task.
pub(super) struct Queue(pub mpsc::UnboundedSender<Job>);

impl WriteQueue for Queue {
    fn push(&self, command: WriteCommand) -> bool {
        self.0.send(Job::Write(command)).is_ok()
    }
}

/// Writes until the store is closed or dropped. Leases are renewed as long.
pub(super) async fn write(
    connections: Arc<Connections>,
    owned: Arc<OwnedRuns>,
    mut jobs: mpsc::UnboundedReceiver<Job>,
) {
    let renewal = renew_leases(connections.clone(), owned.clone());
    let _renewal = AbortOnDrop(tokio::spawn(renewal));
    while let Some(job) = jobs.recv().await {
        let mut next = Some(job);
        let mut commands = Vec::new();
        let mut stop = None;
        while let Some(job) = next.take() {
            match job {
                Job::Write(command) => commands.push(command),
                Job::Stop(stopped) => stop = Some(stopped),
            }
            if stop.is_none() && commands.len() < GROUP_MAX {
                next = jobs.try_recv().ok();
            }
        }
        write_group(&connections, &owned, commands).await;
        if let Some(stopped) = stop {
            // A caller that does not wait any more needs no answer.
            let _ = stopped.send(());
            return;
        }
    }
}

async fn write_group(connections: &Connections, owned: &OwnedRuns, commands: Vec<WriteCommand>) {
    let group = WriteGroup::new(commands);
    let written = match group.is_empty() {
        // Only flushes: what they wait for is written.
        true => Ok(vec![Ok(()); group.len()]),
        false => connections.write(&group).await,
    };
    group.finish(written, owned);
}

/// A renewal that fails is tried again after the next period; meanwhile the leases run out.
async fn renew_leases(connections: Arc<Connections>, owned: Arc<OwnedRuns>) {
    let period = connections.lease() / 3;
    loop {
        tokio::time::sleep(period).await;
        if owned.is_empty() {
            continue;
        }
        let renewal = owned.renewal();
        if let Ok(renewed) = connections.write(&renewal).await {
            owned.finish_renewal(&renewal, &renewed);
        }
    }
}

/// A task that ends with its owner.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
