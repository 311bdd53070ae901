//! Writes the report of `pml test` to standard output or to a file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use clap::ValueEnum;
use pml_test_runner::report::{self, Colours, Pretty};
use pml_test_runner::{Coverage, FileResult, Summary};

use crate::exit;
use crate::style::Style;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Pretty,
    /// XML that CI systems read
    Junit,
    /// The Test Anything Protocol
    Tap,
    /// One JSON document
    Json,
}

pub struct Reporter {
    format: Format,
    pretty: Pretty,
    out: Box<dyn Write>,
    to_file: bool,
}

impl Reporter {
    /// Opens the file before the tests run, so that an invalid path fails at once.
    pub fn new(format: Format, file: Option<&Path>, verbose: bool) -> anyhow::Result<Self> {
        let (out, colours): (Box<dyn Write>, Colours) = match file {
            Some(path) => {
                let file = File::create(path)
                    .with_context(|| format!("the report {} cannot be written", path.display()))?;
                (Box::new(file), Colours::none())
            }
            None => (Box::new(io::stdout()), colours()),
        };
        Ok(Self {
            format,
            pretty: Pretty { colours, verbose },
            out,
            to_file: file.is_some(),
        })
    }

    /// Reports a test file that has ended.
    pub fn file(&mut self, file: &FileResult) -> anyhow::Result<()> {
        if self.format != Format::Pretty {
            return Ok(());
        }
        let text = self.pretty.file(file);
        self.write(&text)
    }

    /// Reports the end of all files.
    pub fn finish(&mut self, files: &[FileResult], summary: &Summary) -> anyhow::Result<()> {
        let text = match self.format {
            Format::Pretty => self.pretty.summary(summary, files),
            Format::Junit => report::junit(files, summary),
            Format::Tap => report::tap(files),
            Format::Json => report::json(files, summary),
        };
        self.write(&text)?;
        // The report is in the file, so the terminal gets a summary.
        if self.to_file {
            let pretty = Pretty {
                colours: colours(),
                verbose: false,
            };
            let line = pretty.summary(summary, files);
            exit::check_pipe(write!(io::stdout(), "{}", line.trim_start()))?;
        }
        Ok(())
    }

    pub fn coverage(&mut self, coverage: &Coverage) -> anyhow::Result<()> {
        if self.format != Format::Pretty || self.to_file {
            return Ok(());
        }
        let mut text = String::from("\nlines covered\n");
        for (path, hit, all) in coverage.files() {
            let share = 100.0 * hit as f64 / all.max(1) as f64;
            text.push_str(&format!("  {share:5.1} %  {path} ({hit} of {all})\n"));
        }
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let written = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
        Ok(exit::check_pipe(written)?)
    }
}

fn colours() -> Colours {
    Colours {
        good: |text| Style::for_stdout().green(text),
        bad: |text| Style::for_stdout().red(text),
        odd: |text| Style::for_stdout().yellow(text),
        dim: |text| Style::for_stdout().dim(text),
    }
}
