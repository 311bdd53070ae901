//! Slots that tools share: `"db:*": 3`.

use std::collections::VecDeque;

use super::node::ReadyTask;
use crate::plan::Plan;

pub struct Pools {
    pools: Vec<Pool>,
    /// The pool of each task.
    of: Vec<Option<usize>>,
}

struct Pool {
    free: usize,
    waiting: VecDeque<ReadyTask>,
}

impl Pools {
    pub fn new(plan: &Plan) -> Self {
        let pool_of = |tool: &str| plan.pools.iter().position(|(glob, _)| matches(glob, tool));
        Self {
            pools: plan
                .pools
                .iter()
                .map(|(_, slots)| Pool {
                    free: *slots,
                    waiting: VecDeque::new(),
                })
                .collect(),
            of: plan
                .tasks
                .iter()
                .map(|task| pool_of(task.tool().unwrap_or("pml:execute_code")))
                .collect(),
        }
    }

    /// Takes a slot for a step of a task; its pool if that has none free.
    pub fn take(&mut self, node: usize) -> Option<usize> {
        let pool = self.of[node]?;
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
        self.pools[pool].waiting.push_back(ready);
    }

    /// Gives a slot back, and returns the tasks that waited for it.
    pub fn give(&mut self, node: usize) -> impl Iterator<Item = ReadyTask> + use<> {
        let waiting = self.of.get(node).copied().flatten().map(|pool| {
            let pool = &mut self.pools[pool];
            pool.free += 1;
            // All of them: the best one wins, and the others are parked again.
            std::mem::take(&mut pool.waiting)
        });
        waiting.into_iter().flatten()
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
