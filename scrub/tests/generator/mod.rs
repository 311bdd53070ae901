//! Generates private data of each kind, valid by its checksum and in every documented notation, in
//! sentences, keys, tables, logs and URLs; and near misses of the same form. A seed makes a run
//! repeatable.

pub mod addresses;
pub mod dates;
pub mod ids;
pub mod numbers;
pub mod secrets;

/// A generated text. Without a span it is a near miss, in which the kind must not be found.
pub struct Case {
    pub kind: &'static str,
    pub notation: &'static str,
    pub text: String,
    pub key: Option<&'static str>,
    /// The value, in characters.
    pub span: Option<(usize, usize)>,
}

/// A generator of random numbers: xorshift, which is enough for variety.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }

    pub fn range(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A value of a shape: fixed text and parts such as `{36w}`, with the classes of `many`.
    pub fn shape(&mut self, shape: &str) -> String {
        let mut text = String::new();
        let mut rest = shape;
        while let Some((fixed, after)) = rest.split_once('{') {
            let (part, next) = after.split_once('}').expect("a closed part");
            let (count, class) = part.split_at(part.len() - 1);
            let class = class.chars().next().expect("a class");
            text.push_str(fixed);
            text.push_str(&self.many(class, count.parse().expect("a count")));
            rest = next;
        }
        text + rest
    }

    /// As `shape`, for a layout in which `9` is a digit and `A` a capital.
    pub fn fill(&mut self, layout: &str) -> String {
        layout
            .chars()
            .map(|symbol| match symbol {
                '9' => self.many('d', 1),
                'A' => self.many('A', 1),
                _ => symbol.to_string(),
            })
            .collect()
    }

    /// Characters of a class: `d` digits, `A` capitals, `h` hexadecimal digits, `x` the same in any case,
    /// `l` small letters and digits, `u` capitals and digits, `w` letters and digits.
    pub fn many(&mut self, class: char, count: usize) -> String {
        let from: &[u8] = match class {
            'd' => b"0123456789",
            'A' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            'h' => b"0123456789abcdef",
            'x' => b"0123456789abcdefABCDEF",
            'l' => b"abcdefghijklmnopqrstuvwxyz0123456789",
            'u' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            _ => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        };
        (0..count).map(|_| char::from(self.pick(from))).collect()
    }
}

/// A kind of private data.
pub struct Kind {
    pub name: &'static str,
    /// A value and the name of its notation.
    pub value: fn(&mut Random) -> (String, &'static str),
    /// A value that is not of the kind.
    pub near_miss: fn(&mut Random) -> String,
    /// The words that identify the kind; empty if its form does.
    pub labels: &'static [&'static str],
}

/// All kinds.
pub fn kinds() -> Vec<Kind> {
    let mut kinds = numbers::kinds();
    kinds.extend(ids::kinds());
    kinds.extend(dates::kinds());
    kinds.extend(secrets::kinds());
    kinds.extend(addresses::kinds());
    kinds
}

/// Texts around a value; `{v}` is the value, `{l}` the label.
const LABELLED: [&str; 8] = [
    "The {l} is {v}, as you asked.",
    "{l}: {v}",
    "| Ada | {l} {v} | open |",
    "INFO [worker-3] saved {l}={v} for user 17",
    "https://x.example/find?{l}={v}&page=2",
    "My {l} number is {v}.",
    "{\"id\": 7, \"{l}\": \"{v}\"}",
    "{l}\t{v}\tok",
];
const BARE: [&str; 7] = [
    "We have {v} on file.",
    "{v}",
    "| Ada | {v} | open |",
    "INFO [worker-3] saved {v} for user 17",
    "\"{v}\",\"x\"",
    "see {v}.",
    "x = '{v}';",
];

/// `count` cases of a kind, half of them near misses.
pub fn cases(kind: &Kind, random: &mut Random, count: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for index in 0..count {
        let near = index % 2 == 1;
        let (value, notation) = match near {
            true => ((kind.near_miss)(random), "near miss"),
            false => (kind.value)(random),
        };
        let frame = match kind.labels {
            [] => random.pick(&BARE),
            // A near miss has no label: with one, a mistyped value is private too.
            _ if near => BARE[0],
            _ => random.pick(&LABELLED),
        };
        let label = match kind.labels {
            [] => "",
            labels => random.pick(labels),
        };
        let before = frame.split("{v}").next().unwrap_or_default();
        let before = before.replace("{l}", label);
        let text = frame.replace("{l}", label).replace("{v}", &value);
        let start = before.chars().count();
        cases.push(Case {
            kind: kind.name,
            notation,
            text,
            key: None,
            span: (!near).then(|| (start, start + value.chars().count())),
        });
    }
    cases
}
