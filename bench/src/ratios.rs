//! The ratios in the tables of the benchmarks: our time against that of the fastest peer, of one run.

/// A row of a table and its ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// The first cell of the row.
    pub what: String,
    /// Our time divided by that of the fastest peer: lower is better.
    pub value: f64,
}

/// The rows of all Markdown tables in a text whose second cell and at least one further cell are
/// times.
pub fn ratios(markdown: &str) -> Vec<Ratio> {
    markdown.lines().filter_map(ratio).collect()
}

fn ratio(line: &str) -> Option<Ratio> {
    let cells: Vec<&str> = line
        .strip_prefix('|')?
        .strip_suffix('|')?
        .split('|')
        .map(str::trim)
        .collect();
    let [what, ours, peers @ ..] = cells.as_slice() else {
        return None;
    };
    let best = peers.iter().filter_map(|cell| seconds(cell));
    let best = best.min_by(f64::total_cmp)?;
    Some(Ratio {
        what: (*what).to_owned(),
        value: seconds(ours)? / best,
    })
}

/// The seconds of a cell such as `1.48 ms`. A target (`10 ms`) has no decimals and is not a time.
fn seconds(cell: &str) -> Option<f64> {
    let (number, unit) = cell.split_once(' ')?;
    let scale = match unit {
        "ms" => 1e-3,
        "µs" => 1e-6,
        _ => return None,
    };
    let is_measured = number.contains('.');
    is_measured
        .then(|| number.parse::<f64>().ok())
        .flatten()
        .map(|number| number * scale)
}

/// How a ratio compares with the recorded one.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The row.
    pub what: String,
    /// The ratio that is recorded; `None` for a new row.
    pub recorded: Option<f64>,
    /// The median of the repetitions.
    pub measured: f64,
}

impl Comparison {
    /// Whether the measured ratio is worse than the recorded one by more than `noise`, a fraction.
    pub fn is_regression(&self, noise: f64) -> bool {
        self.recorded
            .is_some_and(|recorded| self.measured > recorded * (1.0 + noise))
    }
}

/// Compares the medians of several repetitions with the recorded ratios. A row that occurs twice
/// under one name is compared in the order of the rows.
pub fn compare(recorded: &[Ratio], repetitions: &[Vec<Ratio>]) -> Vec<Comparison> {
    let Some(first) = repetitions.first() else {
        return Vec::new();
    };
    let mut compared: Vec<Comparison> = Vec::new();
    for ratio in first {
        let nth = compared.iter().filter(|row| row.what == ratio.what).count();
        let find = |rows: &[Ratio]| {
            let mut same = rows.iter().filter(|row| row.what == ratio.what);
            same.nth(nth).map(|row| row.value)
        };
        let mut values: Vec<f64> = repetitions.iter().filter_map(|rows| find(rows)).collect();
        values.sort_by(f64::total_cmp);
        compared.push(Comparison {
            what: ratio.what.clone(),
            recorded: find(recorded),
            measured: values[values.len() / 2],
        });
    }
    compared
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
| what | pml | executor | FastMCP | next best against pml |
|---|---|---|---|---|
| trivial script | 1.50 ms | 6.00 ms | 9.00 ms | 4.0 times |
| the same | 500.0 µs | 1.00 ms | fails | 2.0 times |
| the same | 2.00 ms | 1.00 ms | 8.00 ms | 0.5 times |
| endless loop | ended after 5.00 ms | no answer in 60 s |  |  |
| warm run | 0.70 ms |  | target 1 ms |
| 300 lines | 5.00 ms | 1000.00 ms | 10 ms |
";

    fn rows(values: &[(&str, f64)]) -> Vec<Ratio> {
        let row = |(what, value): &(&str, f64)| Ratio {
            what: (*what).to_owned(),
            value: *value,
        };
        values.iter().map(row).collect()
    }

    #[test]
    fn rows_with_two_times_have_a_ratio_against_the_fastest_peer() {
        let expected = [
            ("trivial script", 0.25),
            ("the same", 0.5),
            ("the same", 2.0),
            ("300 lines", 0.005),
        ];
        let found = ratios(TABLE);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (row, (what, value)) in found.iter().zip(expected) {
            assert_eq!(row.what, what);
            assert!((row.value - value).abs() < 1e-9, "{row:?}");
        }
    }

    #[test]
    fn the_median_of_the_repetitions_is_compared_with_the_row_of_the_same_place() {
        let recorded = rows(&[("a", 0.5), ("b", 1.0), ("b", 3.0)]);
        let repetitions = [
            rows(&[("a", 0.5), ("b", 1.1), ("b", 9.0), ("new", 1.0)]),
            rows(&[("a", 0.9), ("b", 1.0), ("b", 5.0), ("new", 2.0)]),
            rows(&[("a", 0.4), ("b", 1.0), ("b", 4.0), ("new", 3.0)]),
        ];
        let compared = compare(&recorded, &repetitions);
        let regressions: Vec<bool> = compared.iter().map(|row| row.is_regression(0.2)).collect();
        assert_eq!(regressions, [false, false, true, false]);
        assert_eq!(compared[2].measured, 5.0);
        assert_eq!(compared[3].recorded, None);
    }
}
