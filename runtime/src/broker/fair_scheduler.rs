//! Whose run is next. A pool runs so many scripts at once; those who share it get their turns
//! fairly, however many runs one of them asks for.
//!
//! The contract: whoever has the fewest runs under way is next. One party never holds every
//! slot, so that another's first run starts at once. And the more runs a party has under way,
//! the less of the processor each further one gets from the kernel, so that a party with many
//! busy scripts weighs about as much as one with a single script.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Of this many slots, one is kept for others.
const RESERVED_SHARE: usize = 8;
/// What each further run of a party adds to its niceness: about a third of the weight is left.
const NICENESS_STEP: i32 = 5;
const MAX_NICENESS: i32 = 19;

/// One of those who share a pool, such as a connected client. Clones are the same party.
#[derive(Debug, Clone)]
pub struct FairShareKey(u64);

impl FairShareKey {
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for FairShareKey {
    fn default() -> Self {
        Self::new()
    }
}

/// The slots and the lines for them.
pub struct FairScheduler {
    per_party: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    running: HashMap<u64, usize>,
    /// One line for each party that waits; who was served last stands last.
    lines: VecDeque<Line>,
}

struct Line {
    party: u64,
    waiting: VecDeque<oneshot::Sender<RunPermit>>,
}

/// A slot. Dropping it lets the next run begin.
pub struct RunPermit {
    turns: Arc<FairScheduler>,
    party: u64,
    /// How many runs the party has under way, this one included.
    rank: usize,
}

impl FairScheduler {
    pub fn new(slots: usize) -> Arc<Self> {
        let slots = slots.max(1);
        let reserved = if slots > 1 {
            slots.div_ceil(RESERVED_SHARE)
        } else {
            0
        };
        Arc::new(Self {
            per_party: slots - reserved,
            state: Mutex::new(State {
                free: slots,
                running: HashMap::new(),
                lines: VecDeque::new(),
            }),
        })
    }

    /// Waits for a slot. Dropping the future leaves the line.
    pub async fn acquire(self: &Arc<Self>, party: &FairShareKey) -> RunPermit {
        let waiting = {
            let (granted, waiting) = oneshot::channel();
            self.lock().line(party.0).push_back(granted);
            waiting
        };
        self.serve();
        match waiting.await {
            Ok(turn) => turn,
            // The sender goes only with this very structure, which outlives the call.
            Err(_) => RunPermit {
                turns: self.clone(),
                party: party.0,
                rank: self.lock().begin(party.0),
            },
        }
    }

    /// Gives out the slots that are free.
    fn serve(self: &Arc<Self>) {
        loop {
            let next = self.lock().next(self.per_party);
            let Some((party, rank, waiting)) = next else {
                return;
            };
            // Whoever has left the line gets no turn. To drop one here would call this again, once
            // for each that has left.
            if waiting.is_closed() {
                self.lock().end(party);
                continue;
            }
            // One that leaves at this very moment drops the turn, and its slot is free again.
            let _ = waiting.send(RunPermit {
                turns: self.clone(),
                party,
                rank,
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn line(&mut self, party: u64) -> &mut VecDeque<oneshot::Sender<RunPermit>> {
        let known = self.lines.iter().position(|line| line.party == party);
        let index = known.unwrap_or_else(|| {
            self.lines.push_back(Line {
                party,
                waiting: VecDeque::new(),
            });
            self.lines.len() - 1
        });
        &mut self.lines[index].waiting
    }

    /// The next run to begin, if a slot is free for it.
    fn next(&mut self, per_party: usize) -> Option<(u64, usize, oneshot::Sender<RunPermit>)> {
        if self.free == 0 {
            return None;
        }
        let (index, _) = self
            .lines
            .iter()
            .enumerate()
            .map(|(index, line)| (index, self.running.get(&line.party).copied().unwrap_or(0)))
            .filter(|(_, running)| *running < per_party)
            .min_by_key(|(_, running)| *running)?;
        let mut line = self.lines.remove(index)?;
        let waiting = line.waiting.pop_front();
        let party = line.party;
        if !line.waiting.is_empty() {
            self.lines.push_back(line);
        }
        Some((party, self.begin(party), waiting?))
    }

    fn begin(&mut self, party: u64) -> usize {
        self.free = self.free.saturating_sub(1);
        let running = self.running.entry(party).or_default();
        *running += 1;
        *running
    }

    fn end(&mut self, party: u64) {
        self.free += 1;
        if let Some(running) = self.running.get_mut(&party) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&party);
            }
        }
    }
}

impl RunPermit {
    /// How far the run stands back for those of others.
    pub fn niceness(&self) -> i32 {
        let further = i32::try_from(self.rank.saturating_sub(1)).unwrap_or(i32::MAX);
        further.saturating_mul(NICENESS_STEP).min(MAX_NICENESS)
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        self.turns.lock().end(self.party);
        self.turns.serve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn one_party_never_holds_every_slot() {
        let turns = FairScheduler::new(8);
        let (greedy, other) = (FairShareKey::new(), FairShareKey::new());
        let mut held = Vec::new();
        while let Some(turn) = turns.acquire(&greedy).now_or_never() {
            held.push(turn);
        }
        assert_eq!(held.len(), 7);
        assert!(turns.acquire(&other).now_or_never().is_some());
    }

    #[tokio::test]
    async fn whoever_has_fewer_runs_is_next() {
        let turns = FairScheduler::new(4);
        let (greedy, other) = (FairShareKey::new(), FairShareKey::new());
        let mut held = vec![
            turns.acquire(&greedy).await,
            turns.acquire(&greedy).await,
            turns.acquire(&greedy).await,
        ];
        let _first = turns.acquire(&other).await;
        let many: Vec<_> = (0..5)
            .map(|_| {
                let (turns, greedy) = (turns.clone(), greedy.clone());
                tokio::spawn(async move { turns.acquire(&greedy).await })
            })
            .collect();
        tokio::task::yield_now().await;
        let second = tokio::spawn({
            let (turns, other) = (turns.clone(), other.clone());
            async move { turns.acquire(&other).await }
        });
        tokio::task::yield_now().await;
        held.pop();
        let second = second.await.unwrap();
        assert_eq!(second.rank, 2);
        assert!(many.iter().all(|waiting| !waiting.is_finished()));
        many.iter().for_each(|waiting| waiting.abort());
    }

    #[tokio::test]
    async fn leaving_the_line_frees_the_slot() {
        let turns = FairScheduler::new(1);
        let party = FairShareKey::new();
        let held = turns.acquire(&party).await;
        let waiting = tokio::spawn({
            let (turns, party) = (turns.clone(), party.clone());
            async move { turns.acquire(&party).await }
        });
        tokio::task::yield_now().await;
        waiting.abort();
        let _ = waiting.await;
        drop(held);
        assert!(turns.acquire(&party).now_or_never().is_some());
        assert!(turns.lock().running.is_empty());
    }

    #[tokio::test]
    async fn further_runs_stand_back() {
        let turns = FairScheduler::new(32);
        let party = FairShareKey::new();
        let held = [
            turns.acquire(&party).await,
            turns.acquire(&party).await,
            turns.acquire(&party).await,
        ];
        assert_eq!(held.each_ref().map(RunPermit::niceness), [0, 5, 10]);
    }
}
