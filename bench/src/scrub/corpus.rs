//! Generated texts without private data, for throughput: English, JSON and minified code. The seed is
//! fixed, so that every run and every peer reads the same text.

/// A generated text.
pub struct Corpus {
    pub name: &'static str,
    pub text: String,
}

const BYTES: usize = 8 << 20;

/// All texts, of 8 MiB each.
pub fn all() -> Vec<Corpus> {
    vec![
        Corpus {
            name: "English text",
            text: english(BYTES),
        },
        Corpus {
            name: "JSON",
            text: json(BYTES),
        },
        Corpus {
            name: "minified code",
            text: minified(BYTES),
        },
    ]
}

/// A xorshift generator: the texts only need variety.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len())]
    }
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "the", "of", "and", "a", "in", "that", "it", "was", "for", "on", "as", "with", "they", "at", "one", "have", "this",
    "from", "had", "words", "but", "what", "some", "we", "can", "out", "other", "were", "all", "there", "when", "use",
    "how", "said", "each", "which", "their", "time", "will", "way", "about", "many", "then", "them", "would", "write",
    "like", "so", "these", "long", "make", "thing", "see", "two", "has", "look", "more", "day", "could", "go", "come",
    "did", "sound", "most", "people", "over", "know", "water", "than", "first", "been", "who", "may", "down", "side",
    "now", "find", "any", "new", "work", "part", "take", "get", "place", "made", "live", "where", "after", "back",
    "little", "only", "round", "year", "came", "show", "every", "good", "give", "under", "computer", "language",
    "measurement", "parliament", "river", "history", "science", "mountain", "between", "country", "question", "result",
];

fn english(bytes: usize) -> String {
    let mut random = Xorshift(0x9E37_79B9_7F4A_7C15);
    let mut text = String::with_capacity(bytes + 64);
    let mut start = true;
    while text.len() < bytes {
        let word = random.pick(WORDS);
        if start {
            text.push_str(&word[..1].to_uppercase());
            text.push_str(&word[1..]);
        } else {
            text.push_str(word);
        }
        start = random.below(14) == 0;
        match (start, random.below(12)) {
            (true, 0) => text.push_str(".\n\n"),
            (true, _) => text.push_str(". "),
            (false, 0) => text.push_str(", "),
            (false, 1) if random.below(8) == 0 => {
                text.push_str(&format!(" {} ", 1900 + random.below(120)))
            }
            (false, _) => text.push(' '),
        }
    }
    text
}

fn json(bytes: usize) -> String {
    let mut random = Xorshift(0xD1B5_4A32_D192_ED03);
    let mut text = String::with_capacity(bytes + 512);
    text.push('[');
    while text.len() < bytes {
        let status = random.pick(&["open", "closed", "pending", "archived"]);
        let title: Vec<_> = (0..4 + random.below(6))
            .map(|_| random.pick(WORDS))
            .collect();
        text.push_str(&format!(
            "{{\"id\":{},\"status\":\"{status}\",\"title\":\"{}\",\"score\":{}.{},\"active\":{},\"tags\":[\"{}\",\"{}\"],\"created\":\"20{:02}-0{}-1{}T0{}:{}:00Z\",\"path\":\"src/{}/{}.ts\",\"count\":{}}},\n",
            random.below(100_000), title.join(" "), random.below(100), random.below(1000), random.below(2) == 0,
            random.pick(WORDS), random.pick(WORDS), 10 + random.below(15), 1 + random.below(9), random.below(10), random.below(10),
            10 + random.below(50), random.pick(WORDS), random.pick(WORDS), random.below(5000),
        ));
    }
    text.push_str("{}]");
    text
}

fn minified(bytes: usize) -> String {
    let mut random = Xorshift(0x94D0_49BB_1331_11EB);
    let mut text = String::with_capacity(bytes + 512);
    let letters: Vec<String> = (b'a'..=b'z').map(|b| (b as char).to_string()).collect();
    let names: Vec<&str> = letters.iter().map(String::as_str).collect();
    while text.len() < bytes {
        let (a, b, c) = (
            random.pick(&names),
            random.pick(&names),
            random.pick(&names),
        );
        let (word, other) = (random.pick(WORDS), random.pick(WORDS));
        match random.below(8) {
            0 => text.push_str(&format!(
                "function {a}{}({b},{c}){{return {b}.{word}&&{c}.{other}}}",
                random.below(100)
            )),
            1 => text.push_str(&format!(
                "var {a}={b}({}),{c}=\"{word}-{other}\";",
                random.below(10_000)
            )),
            2 => text.push_str(&format!(
                "if({a}.{word}===null||{b}>0x{:x})throw new Error(\"{word} {other}\");",
                random.below(65_536)
            )),
            3 => text.push_str(&format!(
                "{a}.{word}=({b},{c})=>{{for(let i=0;i<{b}.length;i++){c}[i]={b}[i]<<{}}};",
                random.below(32)
            )),
            4 => text.push_str(&format!(
                "{a}?{b}:{c}?void 0:{{{word}:!0,{other}:{}.{}}},",
                random.below(10),
                random.below(1000)
            )),
            5 => text.push_str(&format!("exports.{word}=require({});", random.below(9000))),
            6 => text.push_str(&format!(
                "switch({a}){{case {}:return {b};default:{c}--}}",
                random.below(300)
            )),
            _ => text.push_str(&format!(
                "/^[{a}-{b}]+$/i.test({c})?\"#{:06x}\":`${{{a}}}-{word}`;",
                random.below(1 << 24)
            )),
        }
    }
    text
}
