//! Token counts of one widely used tokenizer. Those of a particular model differ by some percent.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use pml_bench::install_npm;

pub const TOKENIZER: &str = "o200k_base";
const VERSION: &str = "4.0.0";

/// Reads a JSON array of texts and prints their number of tokens.
const COUNT: &str = "
const { encode } = require(process.argv[1]);
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(texts.reduce((sum, text) => sum + encode(text).length, 0));
";

/// Counts tokens with a Node.js package.
pub struct Tokens {
    module: PathBuf,
}

impl Tokens {
    pub fn new() -> Result<Self> {
        let binaries = install_npm("gpt-tokenizer", VERSION)?;
        let module = format!("../gpt-tokenizer/cjs/encoding/{TOKENIZER}.js");
        Ok(Self {
            module: binaries.join(module),
        })
    }

    pub fn count(&self, text: &str) -> Result<usize> {
        self.count_all(&[text.to_owned()])
    }

    pub fn count_all(&self, texts: &[String]) -> Result<usize> {
        let mut node = Command::new("node")
            .args(["-e", COUNT])
            .arg(&self.module)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("node could not be started")?;
        let mut input = node.stdin.take().context("node has no input")?;
        input.write_all(&serde_json::to_vec(texts)?)?;
        drop(input);
        let output = node.wait_with_output()?;
        ensure!(output.status.success(), "the tokenizer failed");
        let count = String::from_utf8(output.stdout)?;
        count
            .trim()
            .parse()
            .context("the tokenizer printed no number")
    }
}
