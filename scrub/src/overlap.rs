//! Resolves overlapping candidates.

use crate::scan::Candidate;

/// Keeps, of candidates that overlap, the one with the highest confidence, and of equal ones the
/// longest. The kept ones are in text order.
pub(crate) fn resolve(candidates: &mut Vec<Candidate>) {
    if candidates.len() < 2 {
        return;
    }
    candidates.sort_by(|a, b| {
        b.confidence
            .total_cmp(&a.confidence)
            .then_with(|| (b.end - b.start).cmp(&(a.end - a.start)))
            .then_with(|| a.start.cmp(&b.start))
            .then_with(|| a.kind.cmp(&b.kind))
    });
    // By start. Kept candidates never overlap, so only the neighbour before is compared.
    let mut kept = std::collections::BTreeMap::<usize, Candidate>::new();
    for candidate in candidates.drain(..) {
        let before = kept.range(..candidate.end).next_back();
        if before.is_none_or(|(_, k)| k.end <= candidate.start) {
            kept.insert(candidate.start, candidate);
        }
    }
    candidates.extend(kept.into_values());
}

/// Joins candidates of one kind that overlap: two readings of a text can find parts of one value.
pub(crate) fn join_same_kind(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by_key(|c| (c.kind, c.start));
    let mut joined: Vec<Candidate> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        match joined.last_mut() {
            Some(last) if last.kind == candidate.kind && candidate.start < last.end => {
                let end = last.end.max(candidate.end);
                if candidate.confidence > last.confidence {
                    let start = last.start;
                    *last = Candidate { start, ..candidate };
                }
                last.end = end;
            }
            _ => joined.push(candidate),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::detect::CUSTOM;

    fn candidate(start: usize, end: usize, confidence: f32) -> Candidate {
        Candidate {
            start,
            end,
            kind: Kind::new("X"),
            detector: &CUSTOM,
            confidence,
        }
    }

    #[test]
    fn the_parts_of_a_value_are_joined() {
        let found = vec![
            candidate(0, 6, 0.9),
            candidate(20, 24, 0.6),
            candidate(2, 12, 0.6),
        ];
        let joined = join_same_kind(found);
        let spans: Vec<_> = joined.iter().map(|c| (c.start, c.end)).collect();
        assert_eq!(spans, [(0, 12), (20, 24)]);
        assert!(joined[0].confidence > 0.8);
    }

    #[test]
    fn the_highest_confidence_wins_then_the_longest_in_text_order() {
        let mut found = vec![
            candidate(10, 20, 0.6),
            candidate(0, 4, 0.5),
            candidate(12, 14, 0.9),
            candidate(30, 35, 0.7),
            candidate(31, 40, 0.7),
        ];
        resolve(&mut found);
        let spans: Vec<_> = found.iter().map(|c| (c.start, c.end)).collect();
        assert_eq!(spans, [(0, 4), (12, 14), (31, 40)]);
    }
}
