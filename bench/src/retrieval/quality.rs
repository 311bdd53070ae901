//! Retrieval metrics: recall, nDCG and MRR.

/// The cut-offs of recall.
const CUTS: [usize; 4] = [1, 3, 5, 10];

/// Metrics, averaged over queries.
#[derive(Default, Clone)]
pub struct Quality {
    queries: usize,
    recall: [f64; CUTS.len()],
    ndcg: f64,
    mrr: f64,
}

impl Quality {
    /// Adds the ranking of one query, of which the first ten count. `gold` has the right tools.
    pub fn add(&mut self, found: &[&str], gold: &[String]) {
        let right = |id: &&str| gold.iter().any(|gold| gold == id);
        self.queries += 1;
        for (recall, cut) in self.recall.iter_mut().zip(CUTS) {
            let hits = found.iter().take(cut).filter(|id| right(id)).count();
            *recall += hits as f64 / gold.len().max(1) as f64;
        }
        let discount = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
        let ranked = found.iter().take(10).enumerate();
        let gain: f64 = ranked
            .filter(|(_, id)| right(id))
            .map(|(rank, _)| discount(rank))
            .sum();
        let ideal: f64 = (0..gold.len().min(10)).map(discount).sum();
        self.ndcg += if ideal > 0.0 { gain / ideal } else { 0.0 };
        let first = found.iter().take(10).position(right);
        self.mrr += first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
    }

    /// The headings of [`Quality::row`].
    pub const COLUMNS: &str = "R@1 | R@3 | R@5 | R@10 | nDCG@10 | MRR";

    /// The means, as cells of a Markdown table.
    pub fn row(&self) -> String {
        let mean = |sum: f64| format!("{:.3}", sum / self.queries.max(1) as f64);
        let recall = self.recall.iter().map(|&sum| mean(sum));
        let values: Vec<String> = recall.chain([mean(self.ndcg), mean(self.mrr)]).collect();
        values.join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_two_queries_by_hand() {
        let mut quality = Quality::default();
        let gold = ["a".to_owned(), "b".to_owned()];
        quality.add(&["a", "x", "b"], &gold);
        quality.add(&["x", "y"], &gold);
        // First query: half at 1, all at 3; nDCG (1 + 1/2) / (1 + 1/log2 3); second: nothing.
        assert_eq!(
            quality.row(),
            "0.250 | 0.500 | 0.500 | 0.500 | 0.460 | 0.500"
        );
    }
}
