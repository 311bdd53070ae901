//! Trains the tagger of `scrub/src/entities`: an averaged structured perceptron.
//!
//! `rustc -O --edition 2024 scrub/train/train.rs -o train` and `train WORDS TRAINING MODEL [EVALUATION…]`.
//! A line of TRAINING or EVALUATION is a text with `\n` and `\t` escaped, a tab, and its names as
//! `start,end,kind` in bytes with `;` between them; the kinds are P, L and O.

#![allow(dead_code)]

#[path = "../src/entities"]
mod entities {
    pub mod features;
    pub mod tagger;
    pub mod tokens;
    pub mod word_table;
}

use entities::features::{FEATURES, ROW_BITS};
use entities::tagger::{
    EntityKind, Model, ROW, Scores, TAGS, Tagged, Weights, best_tags, entities, first_tag, may_follow,
};
use entities::word_table::WordTable;
use std::{env, fs};

const EPOCHS: usize = 6;

/// Of 64 words of names, so many are hidden.
const HIDDEN: u64 = 12;

/// By how much a name must win, by its first tag: for more precision than the most likely tags have.
const CAUTION: [i32; TAGS] = [0, 60, 0, 60, 0, 20, 0];

struct Example {
    text: String,
    names: Vec<(usize, usize, EntityKind)>,
}

fn read(path: &str) -> Vec<Example> {
    let text = fs::read_to_string(path).expect("a readable file");
    let parse = |line: &str| {
        let (text, names) = line.rsplit_once('\t').expect("a tab");
        let text = text.replace("\\n", "\n").replace("\\t", "\t");
        let names = names.split(';').filter(|n| !n.is_empty());
        let names = names.map(|name| {
            let parts: Vec<&str> = name.split(',').collect();
            let kind = match parts[2] {
                "P" => EntityKind::Person,
                "L" => EntityKind::Place,
                _ => EntityKind::Organisation,
            };
            (parts[0].parse().expect("a start"), parts[1].parse().expect("an end"), kind)
        });
        Example { names: names.collect(), text }
    };
    text.lines().map(parse).collect()
}

struct Training {
    weights: Vec<[i32; ROW]>,
    sums: Vec<[i64; ROW]>,
    last: Vec<u64>,
    transitions: [[i32; TAGS]; TAGS],
    transition_sums: [[i64; TAGS]; TAGS],
    step: u64,
}

impl Weights for Training {
    fn add(&self, row: u32, to: &mut Scores) {
        for (sum, weight) in to.iter_mut().zip(&self.weights[row as usize]) {
            *sum += weight;
        }
    }
    fn transition(&self, from: usize, to: usize) -> i32 {
        self.transitions[from][to]
    }
}

impl Training {
    fn settle(&mut self, row: usize) {
        let steps = (self.step - self.last[row]) as i64;
        for (sum, weight) in self.sums[row].iter_mut().zip(&self.weights[row]) {
            *sum += i64::from(*weight) * steps;
        }
        self.last[row] = self.step;
    }

    fn update(&mut self, rows: &[u32; FEATURES], tag: usize, by: i32) {
        for row in rows {
            self.settle(*row as usize);
            self.weights[*row as usize][tag] += by;
        }
    }
}

fn gold(example: &Example, tagged: &Tagged) -> Vec<usize> {
    let mut tags = vec![0; tagged.tokens.len()];
    for (start, end, kind) in &example.names {
        let mut first = true;
        for (tag, token) in tags.iter_mut().zip(&tagged.tokens) {
            if token.start >= *start && token.end <= *end {
                *tag = first_tag(*kind) + usize::from(!first);
                first = false;
            }
        }
    }
    tags
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let table = WordTable::read(&fs::read(&args[1]).expect("the words"));
    if args[2] != "-" {
        train(&table, &args[2], &args[3]);
    }
    let model = Model::read(&fs::read(&args[3]).expect("the model")).expect("a model");
    for path in &args[4..] {
        evaluate(&table, &model, path);
    }
}

fn train(table: &WordTable, path: &str, to: &str) {
    let mut examples = read(path);
    let rows = 1usize << ROW_BITS;
    let mut training = Training {
        weights: vec![[0; ROW]; rows],
        sums: vec![[0; ROW]; rows],
        last: vec![0; rows],
        transitions: [[0; TAGS]; TAGS],
        transition_sums: [[0; TAGS]; TAGS],
        step: 0,
    };
    let mut seed = 20_260_101u64;
    for epoch in 0..EPOCHS {
        for i in (1..examples.len()).rev() {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            examples.swap(i, (seed % (i as u64 + 1)) as usize);
        }
        let (mut wrong, mut total) = (0, 0);
        for example in &examples {
            let mut tagged = Tagged::new(&example.text, table);
            let gold = gold(example, &tagged);
            for (at, tag) in gold.iter().enumerate() {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                // One name of six is a word that the table does not have.
                if *tag != 0 && seed >> 32 & 63 < HIDDEN {
                    tagged.attributes[at].hide();
                }
            }
            training.step += 1;
            for run in tagged.runs() {
                let scores = tagged.scores(run, &training);
                // A margin: what is right must win by some points. A missed name costs less than a wrong one.
                let right = &gold[run.0..run.1];
                let mut harder = scores.clone();
                for (at, scores) in harder.iter_mut().enumerate() {
                    for tag in 0..TAGS {
                        if tag != right[at] {
                            scores[tag] += if tag == 0 { 20 } else { 30 };
                        }
                    }
                }
                let tags = best_tags(&harder, &training);
                total += 1;
                if tags == right {
                    continue;
                }
                wrong += 1;
                let (mut before, mut before_right) = (0, 0);
                for at in 0..tags.len() {
                    if tags[at] != right[at] {
                        let rows = tagged.rows(run.0 + at);
                        training.update(&rows, right[at], 1);
                        training.update(&rows, tags[at], -1);
                    }
                    if (before, tags[at]) != (before_right, right[at]) && may_follow(before_right, right[at]) {
                        training.transitions[before_right][right[at]] += 1;
                        training.transitions[before][tags[at]] -= 1;
                    }
                    (before, before_right) = (tags[at], right[at]);
                }
            }
            for from in 0..TAGS {
                for to in 0..TAGS {
                    training.transition_sums[from][to] += i64::from(training.transitions[from][to]);
                }
            }
        }
        println!("epoch {epoch}: {wrong} of {total} runs wrong");
    }
    for row in 0..rows {
        training.settle(row);
    }
    write(&training, to);
}

fn write(training: &Training, to: &str) {
    let average = |sum: i64| sum as f64 / training.step as f64;
    let mut sizes: Vec<f64> = training.sums.iter().flatten().map(|s| average(*s).abs()).collect();
    sizes.sort_by(f64::total_cmp);
    // The largest weights are cut off.
    let most = sizes[sizes.len() - sizes.len() / 5_000];
    let scale = 127.0 / most;
    let mut bytes = Vec::with_capacity(Model::BYTES);
    for from in &training.transition_sums {
        for (to, sum) in from.iter().enumerate() {
            let score = (average(*sum) * scale).round() as i32 - CAUTION[to];
            bytes.extend(score.to_le_bytes());
        }
    }
    for sum in training.sums.iter().flatten() {
        bytes.push((average(*sum) * scale).round().clamp(-127.0, 127.0) as i8 as u8);
    }
    println!("scale {scale:.2}, largest weight {:.1}", sizes[sizes.len() - 1]);
    fs::write(to, bytes).expect("written");
}

fn evaluate(table: &WordTable, model: &Model, path: &str) {
    let examples = read(path);
    let start = std::time::Instant::now();
    let bytes: usize = examples.iter().map(|e| e.text.len()).sum();
    let found: Vec<_> = examples
        .iter()
        .map(|e| entities(&Tagged::new(&e.text, table), model))
        .collect();
    let speed = bytes as f64 / 1e6 / start.elapsed().as_secs_f64();
    println!("{path}: {speed:.1} MB/s");
    let list = env::var("LIST").is_ok();
    for kind in [EntityKind::Person, EntityKind::Place, EntityKind::Organisation] {
        {
            let (mut right, mut missed, mut wrong) = (0, 0, 0);
            for (example, found) in examples.iter().zip(&found) {
                let names: Vec<_> = example.names.iter().filter(|n| n.2 == kind).collect();
                let own: Vec<_> = found.iter().filter(|f| f.kind == kind).collect();
                for name in &names {
                    let shared = |f: &&&entities::tagger::Entity| {
                        f.end.min(name.1).saturating_sub(f.start.max(name.0)) * 2 >= name.1 - name.0
                    };
                    if own.iter().any(|f| shared(&f)) {
                        right += 1;
                    } else {
                        missed += 1;
                        if list {
                            println!("MISSED {kind:?} {} | {:?}", &example.text[name.0..name.1], example.text);
                        }
                    }
                }
                for f in own {
                    if !names.iter().any(|n| f.start < n.1 && n.0 < f.end) {
                        wrong += 1;
                        if list {
                            println!("WRONG {kind:?} {} {} | {:?}", &example.text[f.start..f.end], f.margin, example.text);
                        }
                    }
                }
            }
            println!(
                "{kind:?}: precision {:.3} recall {:.3} ({right} right, {wrong} wrong, {missed} missed)",
                f64::from(right) / f64::from((right + wrong).max(1)),
                f64::from(right) / f64::from((right + missed).max(1)),
            );
        }
    }
}
