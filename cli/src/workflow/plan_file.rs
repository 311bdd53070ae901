//! A plan and its input from files and flags.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use pml_workflow::{Plan, PlanError, PlanLimits};
use serde_json::{Map, Value};

#[derive(Args)]
pub struct PlanArgs {
    /// The plan: a file of JSON or YAML, or - for standard input
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
}

#[derive(Args)]
pub struct InputArgs {
    /// An input of the plan, `$INPUT.KEY`; the value is JSON if it can be read as such, else text
    #[arg(long, value_name = "KEY=VALUE")]
    input: Vec<String>,

    /// A JSON file with an object of inputs
    #[arg(long, value_name = "FILE")]
    input_file: Option<PathBuf>,
}

impl InputArgs {
    pub fn read(&self) -> anyhow::Result<Value> {
        let mut input = match &self.input_file {
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .with_context(|| format!("{} cannot be read", file.display()))?;
                match serde_json::from_str(&text) {
                    Ok(Value::Object(object)) => object,
                    Ok(_) => bail!("{} is not a JSON object", file.display()),
                    Err(error) => bail!("{} is not JSON: {error}", file.display()),
                }
            }
            None => Map::new(),
        };
        for pair in &self.input {
            let Some((key, value)) = pair.split_once('=') else {
                bail!("--input {pair}: expected KEY=VALUE, for example --input dir=config");
            };
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            input.insert(key.to_owned(), value);
        }
        Ok(Value::Object(input))
    }
}

/// The text of a plan.
pub fn read_text(path: &Path, limits: &PlanLimits) -> anyhow::Result<String> {
    let limit = limits.bytes as u64 + 1;
    let mut bytes = Vec::new();
    let shown = path.display();
    if path.as_os_str() == "-" {
        std::io::stdin()
            .lock()
            .take(limit)
            .read_to_end(&mut bytes)?;
    } else {
        let file = std::fs::File::open(path).with_context(|| format!("{shown} cannot be read"))?;
        let read = file.take(limit).read_to_end(&mut bytes);
        read.with_context(|| format!("{shown} cannot be read"))?;
    }
    String::from_utf8(bytes).with_context(|| format!("{shown} is not UTF-8 text"))
}

/// The plan in a text. Its mistakes are one error, a line each.
pub fn parse(text: &str, name: &str, limits: &PlanLimits) -> anyhow::Result<Plan> {
    Plan::parse(text, limits).map_err(|error| match error {
        PlanError::Syntax(_) => anyhow::anyhow!("{name}: {error}"),
        PlanError::Invalid(_) => anyhow::anyhow!("{name} has mistakes:\n{error}"),
    })
}
