//! Tokens, as one widely used tokenizer counts them. A model's own differs by some percent.

use anyhow::Result;
use tiktoken_rs::{CoreBPE, o200k_base};

pub const TOKENIZER: &str = "o200k_base";

pub struct Tokens(CoreBPE);

impl Tokens {
    pub fn new() -> Result<Self> {
        Ok(Self(o200k_base()?))
    }

    pub fn count(&self, text: &str) -> usize {
        self.0.encode_ordinary(text).len()
    }

    pub fn of_all(&self, texts: &[String]) -> usize {
        texts.iter().map(|text| self.count(text)).sum()
    }
}
