//! The dependencies of a plan.

/// Why a node waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The node that must have ended.
    pub node: usize,
    /// What its end must be.
    pub need: Need,
}

/// What a node needs of one that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// That it ended, however: the node handles its failure, or is a race.
    End,
    /// That it did not fail.
    Success,
    /// Its output.
    Output,
}

/// The dependencies between the nodes of a plan: tasks, and behind them races.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    before: Vec<Vec<Edge>>,
    after: Vec<Vec<usize>>,
    /// The layer of each node, from 0.
    level: Vec<usize>,
    /// The nodes on the longest chain that begins with each node.
    rank: Vec<usize>,
    /// The task whose fallback a node is.
    fallback_of: Vec<Option<usize>>,
}

impl Graph {
    /// A graph of these edges, or the nodes of a cycle in it, in order.
    pub(crate) fn new(
        mut before: Vec<Vec<Edge>>,
        fallback_of: Vec<Option<usize>>,
    ) -> Result<Self, Vec<usize>> {
        for edges in &mut before {
            // The strongest need of each node.
            edges.sort_by_key(|edge| (edge.node, std::cmp::Reverse(edge.need)));
            edges.dedup_by_key(|edge| edge.node);
        }
        let mut after = vec![Vec::new(); before.len()];
        for (node, edges) in before.iter().enumerate() {
            for edge in edges {
                after[edge.node].push(node);
            }
        }
        let mut waiting: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..before.len())
            .filter(|node| waiting[*node] == 0)
            .collect();
        let mut level = vec![0; before.len()];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for &dependant in &after[node] {
                level[dependant] = level[dependant].max(level[node] + 1);
                waiting[dependant] -= 1;
                if waiting[dependant] == 0 {
                    order.push(dependant);
                }
            }
        }
        if order.len() < before.len() {
            return Err(cycle(&before, &waiting));
        }
        let mut rank = vec![1; before.len()];
        for &node in order.iter().rev() {
            let longest = after[node].iter().map(|after| rank[*after]).max();
            rank[node] = 1 + longest.unwrap_or(0);
        }
        Ok(Self {
            before,
            after,
            level,
            rank,
            fallback_of,
        })
    }

    /// What a node waits for.
    pub fn before(&self, node: usize) -> &[Edge] {
        &self.before[node]
    }

    /// The nodes that wait for this one.
    pub fn after(&self, node: usize) -> &[usize] {
        &self.after[node]
    }

    /// The layer of a node, from 0.
    pub fn level(&self, node: usize) -> usize {
        self.level[node]
    }

    /// How many nodes are on the longest chain that begins here.
    pub fn rank(&self, node: usize) -> usize {
        self.rank[node]
    }

    /// The task whose fallback a node is: it runs only if that one fails.
    pub fn fallback_of(&self, node: usize) -> Option<usize> {
        self.fallback_of[node]
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.before.len()
    }

    /// The number of dependencies.
    pub fn edges(&self) -> usize {
        self.before.iter().map(Vec::len).sum()
    }

    /// The number of layers, which is the longest chain.
    pub fn layers(&self) -> usize {
        self.level.iter().max().map_or(0, |level| level + 1)
    }
}

/// One cycle among the nodes that wait for ever.
fn cycle(before: &[Vec<Edge>], waiting: &[usize]) -> Vec<usize> {
    let Some(start) = waiting.iter().position(|waiting| *waiting > 0) else {
        return Vec::new();
    };
    // Every such node waits for another one, so walking back comes to a node again.
    let (mut seen, mut path, mut node) = (vec![usize::MAX; before.len()], Vec::new(), start);
    while seen[node] == usize::MAX {
        seen[node] = path.len();
        path.push(node);
        let previous = before[node].iter().find(|edge| waiting[edge.node] > 0);
        match previous {
            Some(edge) => node = edge.node,
            None => return path,
        }
    }
    let mut cycle = path.split_off(seen[node]);
    cycle.reverse();
    cycle
}
