//! Slots that tools share: `"db:*": 3`.

use std::collections::BinaryHeap;

use super::node::{ReadyTask, StepId, StepKind};
use crate::plan::{Fallback, Plan, Task};

pub struct Pools {
    pools: Vec<Pool>,
    /// The pool of each task.
    of: Vec<Option<usize>>,
    /// The pool of the fallback of each task.
    of_fallback: Vec<Option<usize>>,
}

struct Pool {
    free: usize,
    /// Each slot that becomes free lets the best of them try, so there is none here while a slot is
    /// free and no other task of the pool is ready.
    waiting: BinaryHeap<ReadyTask>,
}

impl Pools {
    pub fn new(plan: &Plan) -> Self {
        let pool_of = |task: &Task| {
            let tool = task.tool().unwrap_or("pml:execute_code");
            plan.pools.iter().position(|(glob, _)| matches(glob, tool))
        };
        let fallback = |task: &Task| match &task.fallback {
            Some(Fallback::Task(other)) => pool_of(&plan.tasks[*other]),
            Some(Fallback::Inline(inline)) => pool_of(inline),
            None => None,
        };
        Self {
            pools: plan
                .pools
                .iter()
                .map(|(_, slots)| Pool {
                    free: *slots,
                    waiting: BinaryHeap::new(),
                })
                .collect(),
            of: plan.tasks.iter().map(pool_of).collect(),
            of_fallback: plan.tasks.iter().map(fallback).collect(),
        }
    }

    /// The pool of a step. A question to a person takes no slot.
    fn of(&self, id: StepId) -> Option<usize> {
        match id.kind {
            StepKind::Task => self.of[id.node],
            StepKind::Fallback => self.of_fallback[id.node],
            StepKind::Approval => None,
        }
    }

    /// Takes a slot for a step; its pool if that has none free.
    pub fn take(&mut self, id: StepId) -> Option<usize> {
        let pool = self.of(id)?;
        match &mut self.pools[pool].free {
            0 => Some(pool),
            free => {
                *free -= 1;
                None
            }
        }
    }

    /// Keeps a task until a slot of the pool is free.
    pub fn park(&mut self, pool: usize, ready: ReadyTask) {
        self.pools[pool].waiting.push(ready);
    }

    /// Gives a slot back, and returns the task that waits for it.
    pub fn give(&mut self, id: StepId) -> Option<ReadyTask> {
        let pool = self.of(id)?;
        self.pools[pool].free += 1;
        self.pools[pool].waiting.pop()
    }

    /// The task that waits for the slot that a step leaves free because it does not start.
    pub fn pass_on(&mut self, id: StepId) -> Option<ReadyTask> {
        let pool = self.of(id)?;
        match self.pools[pool].free {
            0 => None,
            _ => self.pools[pool].waiting.pop(),
        }
    }
}

/// `*` stands for any characters.
pub fn matches(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn globs_match_tools() {
        for (glob, text, expected) in [
            ("db:*", "db:query", true),
            ("db:*", "dbs:query", false),
            ("*", "a:b", true),
            ("a:b", "a:b", true),
            ("a:b", "a:bc", false),
            ("*:read*", "fs:read_file", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(glob, text), expected, "{glob} {text}");
        }
    }
}
