//! The writer thread: group commit, and the renewal of leases.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::transaction::{Files, Mode, run};
use crate::context::Context;
use crate::error::StoreError;
use crate::lease::OwnedRuns;
use crate::options::Durability;
use crate::run_writer::WriteQueue;
use crate::sql::Work;
use crate::write_group::{GROUP_MAX, WriteCommand, WriteGroup};

/// Something for the writer thread to do, in the order of the queue.
pub(super) enum Job {
    /// A write of a run: committed together with those around it.
    Write(WriteCommand),
    /// A transaction of its own.
    Work(Box<dyn FnOnce(&mut Writer) + Send>),
    /// Nothing: the thread has to look at the leases.
    Wake,
    /// The end of the thread.
    Stop(oneshot::Sender<()>),
}

/// The sending side of the writer thread.
pub(super) struct Queue(pub Sender<Job>);

impl WriteQueue for Queue {
    fn push(&self, command: WriteCommand) -> bool {
        self.0.send(Job::Write(command)).is_ok()
    }
}

/// The state of the writer thread.
pub(super) struct Writer {
    pub connection: Connection,
    pub files: Files,
    pub context: Arc<Context>,
    pub owned: Arc<OwnedRuns>,
    /// Whether a commit of the connection fsyncs.
    pub syncs: bool,
}

impl Writer {
    /// Works until the store is closed or dropped.
    pub fn work(mut self, jobs: &Receiver<Job>) {
        let period = self.context.lease / 3;
        let mut renewed = Instant::now();
        loop {
            let job = if self.owned.is_empty() {
                let job = jobs.recv().map_err(|_| RecvTimeoutError::Disconnected);
                // The leases of the runs to come begin with them.
                renewed = Instant::now();
                job
            } else {
                jobs.recv_timeout(period.saturating_sub(renewed.elapsed()))
            };
            let mut job = match job {
                Ok(job) => Some(job),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            while let Some(next) = job.take() {
                match next {
                    Job::Write(command) => job = self.write_group(command, jobs),
                    Job::Work(work) => work(&mut self),
                    Job::Wake => {}
                    Job::Stop(stopped) => {
                        drop(self);
                        // A caller that does not wait any more needs no answer.
                        let _ = stopped.send(());
                        return;
                    }
                }
            }
            if !self.owned.is_empty() && renewed.elapsed() >= period {
                self.renew_leases();
                renewed = Instant::now();
            }
        }
    }

    /// Does a work in a transaction.
    pub fn run<W: Work>(&mut self, work: &W) -> Result<W::Output, StoreError> {
        self.set_sync(work.is_durable() && self.context.durability == Durability::Power)?;
        run(
            &mut self.connection,
            &self.files,
            &self.context,
            Mode::Write,
            work,
        )
    }

    /// Writes a command and those that are queued behind it in one transaction. Returns the job that
    /// ended the group.
    fn write_group(&mut self, first: WriteCommand, jobs: &Receiver<Job>) -> Option<Job> {
        let mut commands = vec![first];
        let mut next = None;
        while commands.len() < GROUP_MAX {
            match jobs.try_recv() {
                Ok(Job::Write(command)) => commands.push(command),
                Ok(other) => {
                    next = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        let group = WriteGroup::new(commands);
        let written = match group.is_empty() {
            // Only flushes: what they wait for is written.
            true => Ok(vec![Ok(()); group.len()]),
            false => self.run(&group),
        };
        group.finish(written, &self.owned);
        next
    }

    /// A renewal that fails is tried again after the next period; meanwhile the leases run out.
    fn renew_leases(&mut self) {
        let renewal = self.owned.renewal();
        if let Ok(renewed) = self.run(&renewal) {
            self.owned.finish_renewal(&renewal, &renewed);
        }
    }

    /// Chooses whether the next commit fsyncs the write-ahead log. One fsync covers all commits before.
    fn set_sync(&mut self, syncs: bool) -> Result<(), StoreError> {
        if self.syncs != syncs {
            let level = if syncs { "FULL" } else { "NORMAL" };
            let set = format!("PRAGMA synchronous = {level}");
            let set = self.connection.execute_batch(&set);
            set.map_err(|error| self.files.failed(&error))?;
            self.syncs = syncs;
        }
        Ok(())
    }
}
