//! Where a script comes from.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};
use pml_runtime::Script;

pub enum Origin<'a> {
    File(&'a Path),
    Stdin,
    Code(&'a str),
}

impl Origin<'_> {
    /// What messages and stack traces call the script.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) => path
                .file_name()
                .map_or(Cow::Borrowed("script.ts"), |name| name.to_string_lossy()),
            Self::Stdin => Cow::Borrowed("stdin.ts"),
            Self::Code(_) => Cow::Borrowed("eval.ts"),
        }
    }
}

pub fn read(origin: &Origin<'_>, limit: u64, args: Vec<String>) -> anyhow::Result<Script> {
    let bytes = match origin {
        Origin::File(path) => read_file(path, limit)?,
        Origin::Stdin => {
            read_bounded(io::stdin().lock(), limit).context("standard input could not be read")?
        }
        Origin::Code(code) => code.as_bytes().to_vec(),
    };
    let what = match origin {
        Origin::File(path) => format!("{}", path.display()),
        Origin::Stdin => "standard input".to_owned(),
        Origin::Code(_) => "the code given with -e".to_owned(),
    };
    if bytes.len() as u64 > limit {
        bail!(
            "{what} is larger than {} KiB; a script of that size is data, which belongs behind a tool",
            limit / 1024
        );
    }
    let source = match String::from_utf8(bytes) {
        Ok(source) => source,
        Err(error) => bail!(
            "{what} is not UTF-8 text: byte {} cannot be read; save it as UTF-8",
            error.utf8_error().valid_up_to()
        ),
    };
    if source.trim_start_matches('\u{feff}').trim().is_empty() {
        bail!("{what} is empty; write a script into it, for example: return 6 * 7");
    }
    Ok(Script {
        name: origin.name().into_owned(),
        source,
        args,
    })
}

fn read_file(path: &Path, limit: u64) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("there is no file {shown}; check the path")
        }
        Err(error) => bail!("{shown} cannot be read: {error}"),
    };
    if metadata.is_dir() {
        bail!("{shown} is a folder; name a script in it");
    }
    let file = File::open(path).with_context(|| format!("{shown} cannot be read"))?;
    read_bounded(file, limit).with_context(|| format!("{shown} cannot be read"))
}

/// Reads one byte more than allowed at most, so that the caller can tell.
fn read_bounded(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
