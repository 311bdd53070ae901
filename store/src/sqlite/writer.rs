//! The writer thread: group commit, and the renewal of leases.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::job_queue::{Job, Jobs, Taken};
use super::transaction::{Files, Mode, run};
use crate::context::Context;
use crate::error::StoreError;
use crate::lease::OwnedRuns;
use crate::options::Durability;
use crate::sql::Work;
use crate::write_group::{GROUP_MAX, WriteCommand, WriteGroup};

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
    pub fn work(mut self, jobs: &Jobs) {
        let period = self.context.lease / 3;
        let mut renewed = Instant::now();
        loop {
            // The leases of the runs to come begin with them.
            let has_leases = !self.owned.is_empty();
            let taken = jobs.take(has_leases.then(|| renewed + period));
            if !has_leases {
                renewed = Instant::now();
            }
            let mut taken = match taken {
                Taken::Jobs(taken) => taken,
                Taken::Time => VecDeque::new(),
                Taken::End => return,
            };
            while let Some(job) = taken.pop_front() {
                match job {
                    Job::Write(command) => self.write_group(command, &mut taken),
                    Job::Work(work) => work(&mut self),
                    Job::Wake => {}
                    Job::Stop(stopped) => {
                        drop(self);
                        // A caller that does not wait any more needs no answer.
                        let _ = stopped.send(());
                        return;
                    }
                }
                self.renew_due_leases(&mut renewed, period);
            }
            self.renew_due_leases(&mut renewed, period);
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

    /// Writes a command and those directly behind it in one transaction.
    fn write_group(&mut self, first: WriteCommand, behind: &mut VecDeque<Job>) {
        let mut commands = vec![first];
        while commands.len() < GROUP_MAX {
            match behind.pop_front() {
                Some(Job::Write(command)) => commands.push(command),
                Some(other) => {
                    behind.push_front(other);
                    break;
                }
                None => break,
            }
        }
        let group = WriteGroup::new(commands);
        let written = match group.is_empty() {
            // Only flushes: what they wait for is written.
            true => Ok(vec![Ok(()); group.len()]),
            false => self.run(&group),
        };
        group.finish(written, &self.owned);
    }

    fn renew_due_leases(&mut self, renewed: &mut Instant, period: Duration) {
        if !self.owned.is_empty() && renewed.elapsed() >= period {
            self.renew_leases();
            *renewed = Instant::now();
        }
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
