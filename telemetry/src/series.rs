//! The values of one metric, by labels.

use std::collections::BTreeMap;

use crate::families::{Family, FamilyKind};

/// The longest value of a label, in bytes; the rest is cut.
const MAX_LABEL_BYTES: usize = 80;
/// The value of an open label beyond the number of series.
pub const OTHER: &str = "other";

/// One value of a metric.
#[derive(Debug, Clone, PartialEq)]
pub enum Point {
    /// Of a counter.
    Number(f64),
    /// Of a histogram: counts by bucket, the last one unbounded.
    Buckets { counts: Vec<u64>, sum: f64 },
}

/// All values of one metric.
#[derive(Debug, Default)]
pub struct Series {
    points: BTreeMap<Vec<String>, Point>,
    /// How many of them have an open label with a value of its own.
    open: usize,
}

impl Series {
    /// Adds a value. `labels` are in the order of the family; at most `max_open` series have open labels
    /// with values of their own.
    pub fn add(&mut self, family: &Family, labels: &[&str], value: f64, max_open: usize) {
        let mut key: Vec<String> = labels.iter().map(|label| cut(label)).collect();
        if !self.points.contains_key(&key)
            && let Some(open) = family.open
        {
            if self.open >= max_open {
                if let Some(label) = key.get_mut(open) {
                    OTHER.clone_into(label);
                }
            } else {
                self.open += 1;
            }
        }
        let point = self.points.entry(key).or_insert_with(|| match family.kind {
            FamilyKind::Counter => Point::Number(0.0),
            FamilyKind::Histogram(bounds) => Point::Buckets {
                counts: vec![0; bounds.len() + 1],
                sum: 0.0,
            },
        });
        match (point, family.kind) {
            (Point::Number(number), _) => *number += value,
            (Point::Buckets { counts, sum }, FamilyKind::Histogram(bounds)) => {
                let bucket = bounds.partition_point(|bound| *bound < value);
                counts[bucket] += 1;
                *sum += value;
            }
            // A family keeps its kind.
            (Point::Buckets { .. }, _) => {}
        }
    }

    /// All values with their labels.
    pub fn points(&self) -> impl Iterator<Item = (&[String], &Point)> {
        self.points
            .iter()
            .map(|(labels, point)| (labels.as_slice(), point))
    }
}

fn cut(label: &str) -> String {
    label[..label.floor_char_boundary(MAX_LABEL_BYTES)].to_owned()
}
