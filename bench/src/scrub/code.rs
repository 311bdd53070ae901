//! False positives: findings of the default configuration in source code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use pml_scrub::{ScrubConfig, Scrubber};

/// File name extensions that are read.
const EXTENSIONS: [&str; 17] = [
    "py", "rs", "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "vue", "json", "md", "toml",
    "yml", "yaml", "css",
];

pub fn measure(folder: &Path, list: bool) -> Result<()> {
    let scrubber = Scrubber::new(&ScrubConfig::default())?;
    let mut files = Vec::new();
    collect(folder, &mut files).with_context(|| format!("cannot list {}", folder.display()))?;
    files.sort();
    let (mut lines, mut bytes, mut counts) = (0, 0, BTreeMap::<&str, usize>::new());
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else {
            continue;
        };
        lines += text.lines().count();
        bytes += text.len();
        for finding in scrubber.find(&text, None) {
            *counts.entry(finding.kind.as_str()).or_default() += 1;
            if list {
                println!(
                    "{}:{} {} {:.2}",
                    file.display(),
                    finding.place.line,
                    finding.kind,
                    finding.confidence
                );
            }
        }
    }
    let total: usize = counts.values().sum();
    println!("## findings in the code below {}", folder.display());
    println!(
        "{} files, {lines} lines, {:.1} MB",
        files.len(),
        bytes as f64 / 1e6
    );
    for (kind, count) in &counts {
        println!("{kind:28} {count}");
    }
    println!(
        "{:28} {total} ({:.2} in 10,000 lines)\n",
        "together",
        total as f64 * 1e4 / lines.max(1) as f64
    );
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !matches!(name.as_str(), ".git" | "target") {
                collect(&path, files)?;
            }
        } else if path
            .extension()
            .is_some_and(|e| EXTENSIONS.iter().any(|t| e == *t))
        {
            files.push(path);
        }
    }
    Ok(())
}
