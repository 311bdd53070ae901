//! Terms of text and their weights: the vectors by which intents and tools are compared.

use std::collections::HashMap;

/// A vector with few terms, sorted by term, of length one at most.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SparseVector(pub Vec<(u32, f32)>);

impl SparseVector {
    /// The cosine of two vectors.
    pub fn cosine(&self, other: &Self) -> f32 {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut sum = 0.0;
        while let (Some((a, x)), Some((b, y))) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => drop(left.next()),
                std::cmp::Ordering::Greater => drop(right.next()),
                std::cmp::Ordering::Equal => {
                    sum += x * y;
                    left.next();
                    right.next();
                }
            }
        }
        sum
    }

    /// Whether a term occurs.
    pub fn has(&self, term: u32) -> bool {
        self.0.binary_search_by_key(&term, |(id, _)| *id).is_ok()
    }
}

/// Words that say nothing about a task in any set of tools.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "i", "if", "in",
    "is", "it", "its", "me", "my", "of", "on", "or", "our", "that", "the", "their", "this", "to",
    "us", "was", "we", "which", "will", "with", "you", "your",
];

/// The terms of a text in their order: words without endings, `camelCase` and `snake_case` split.
/// Numbers become one term; a script without spaces becomes pairs of characters.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut last: Option<char> = None;
    let mut ideograph: Option<char> = None;
    for c in text.chars() {
        if is_ideograph(c) {
            end_word(&mut word, &mut terms);
            if let Some(before) = ideograph {
                terms.push([before, c].iter().collect());
            }
            ideograph = Some(c);
        } else {
            ideograph = None;
            let hump = c.is_uppercase() && last.is_some_and(char::is_lowercase);
            let digit = last.is_some_and(|last| last.is_ascii_digit() != c.is_ascii_digit());
            if !c.is_alphanumeric() || hump || digit {
                end_word(&mut word, &mut terms);
            }
            if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            }
        }
        last = Some(c);
    }
    end_word(&mut word, &mut terms);
    terms
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn end_word(word: &mut String, terms: &mut Vec<String>) {
    let taken = std::mem::take(word);
    if taken.is_empty() || STOP_WORDS.contains(&taken.as_str()) {
        return;
    }
    if taken.bytes().all(|byte| byte.is_ascii_digit()) {
        terms.push("#".to_owned());
    } else {
        terms.push(stem(&taken));
    }
}

/// The word without its most frequent English endings.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() <= 3 {
        return word.to_owned();
    }
    let cut = |end: usize| word[..word.len() - end].to_owned();
    let stem = if word.ends_with("sses") {
        cut(2)
    } else if word.ends_with("ies") && word.len() > 4 {
        format!("{}y", cut(3))
    } else if word.ends_with("ing") && word.len() > 5 {
        cut(3)
    } else if word.ends_with("ed") && word.len() > 4 {
        cut(2)
    } else if word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is")
    {
        cut(1)
    } else {
        word.to_owned()
    };
    // `creating` and `create`, `planning` and `plan` meet here.
    let bytes = stem.as_bytes();
    let doubled = bytes.len() > 3
        && stem.len() < word.len()
        && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
        && !matches!(bytes[bytes.len() - 1], b'l' | b's' | b'z');
    if doubled || (stem.len() > 3 && stem.ends_with('e')) {
        stem[..stem.len() - 1].to_owned()
    } else {
        stem
    }
}

fn rarity(texts: usize, with_it: usize) -> f32 {
    let with_it = with_it as f32;
    (1.0 + ((texts as f32 - with_it).max(0.0) + 0.5) / (with_it + 0.5)).ln()
}

/// The terms of a set of texts and how rare each is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vocabulary {
    ids: HashMap<String, u32>,
    rarity: Vec<f32>,
    texts: usize,
}

impl Vocabulary {
    /// Learns the terms of `texts`, with pairs of neighbouring words.
    pub fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut ids = HashMap::new();
        let mut counts: Vec<(u32, usize)> = Vec::new();
        let mut total = 0_usize;
        for text in texts {
            total += 1;
            for term in grams(&terms(text)) {
                let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
                let id = *ids.entry(term).or_insert(next);
                if id as usize == counts.len() {
                    counts.push((0, 0));
                }
                let (count, seen_in) = &mut counts[id as usize];
                if *seen_in != total {
                    *count += 1;
                    *seen_in = total;
                }
            }
        }
        let rarity = counts
            .iter()
            .map(|(count, _)| rarity(total, *count as usize))
            .collect();
        Self {
            ids,
            rarity,
            texts: total,
        }
    }

    pub fn len(&self) -> usize {
        self.rarity.len()
    }

    pub fn rarity(&self, term: u32) -> f32 {
        self.rarity[term as usize]
    }

    /// What a term weighs that no text has: as much as one that a single text has.
    pub fn unknown_rarity(&self) -> f32 {
        rarity(self.texts, 1)
    }

    /// The id of one word.
    pub fn id(&self, term: &str) -> Option<u32> {
        self.ids.get(term).copied()
    }

    /// The vector of weighted texts: the name of a tool counts more than its description.
    ///
    /// Terms that are not known lie in the vector's length: a new intent has as many of them as a past one
    /// had terms that no other has, and its cosines must mean the same.
    pub fn vector(&self, texts: &[(f32, &str)]) -> SparseVector {
        let mut known: HashMap<u32, f32> = HashMap::new();
        let mut unknown: HashMap<String, f32> = HashMap::new();
        for (weight, text) in texts {
            for term in grams(&terms(text)) {
                let weight = weight * if term.contains(' ') { 0.5 } else { 1.0 };
                match self.ids.get(&term) {
                    Some(id) => *known.entry(*id).or_default() += weight,
                    None => *unknown.entry(term).or_default() += weight,
                }
            }
        }
        let mut vector: Vec<(u32, f32)> = known
            .into_iter()
            .map(|(id, weight)| (id, (1.0 + weight).ln() * self.rarity[id as usize]))
            .collect();
        vector.sort_unstable_by_key(|(id, _)| *id);
        let mut lengths: Vec<f32> = unknown
            .values()
            .map(|weight| (1.0 + weight).ln() * self.unknown_rarity())
            .collect();
        // The sum of floating-point numbers depends on their order.
        lengths.sort_by(f32::total_cmp);
        let all = vector.iter().map(|(_, x)| x).chain(&lengths);
        let length = all.map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|(_, x)| *x /= length);
        }
        SparseVector(vector)
    }
}

/// Words and pairs of neighbours.
fn grams(terms: &[String]) -> impl Iterator<Item = String> + '_ {
    let pairs = terms
        .windows(2)
        .map(|pair| format!("{} {}", pair[0], pair[1]));
    terms.iter().cloned().chain(pairs)
}

/// Which rows have a term, with its weight: cosines against all rows in one pass.
#[derive(Debug, Clone, Default)]
pub(crate) struct Postings {
    rows: Vec<Vec<(u32, f32)>>,
    len: usize,
}

impl Postings {
    pub fn new<'a>(terms: usize, vectors: impl Iterator<Item = &'a SparseVector>) -> Self {
        let mut rows = vec![Vec::new(); terms];
        let mut len = 0;
        for vector in vectors {
            for (term, weight) in &vector.0 {
                rows[*term as usize].push((len as u32, *weight));
            }
            len += 1;
        }
        Self { rows, len }
    }

    /// The cosine of `vector` with every row.
    pub fn cosines(&self, vector: &SparseVector) -> Vec<f32> {
        let mut sums = vec![0.0; self.len];
        for (term, weight) in &vector.0 {
            for (row, other) in &self.rows[*term as usize] {
                sums[*row as usize] += weight * other;
            }
        }
        sums
    }
}
