//! Runs the TypeScript compiler, if it is installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use pml_check::report::CheckedFile;
use pml_check::{Finding, Position, Rule};
use serde_json::json;

use crate::types::{API, TEST_API};

/// Errors of the compiler that are not errors in a script: a `return` outside a function, and a
/// top-level `await` in a file without imports and exports.
const ACCEPTED: [&str; 2] = ["TS1108", "TS1375"];

/// Adds the errors of the compiler to the findings.
pub fn check(
    types: Option<&str>,
    sources: &[(String, String)],
    checked: &mut [CheckedFile],
) -> anyhow::Result<()> {
    let folder =
        tempfile::tempdir().context("no temporary folder for the compiler can be created")?;
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
    };
    write("pml.d.ts", API)?;
    write("test.d.ts", TEST_API)?;
    write("pml-tools.d.ts", types.unwrap_or_default())?;
    // Files are compiled in place, so that relative imports of a test resolve. Only standard input, and a
    // script with a `return`, which imports no file, are written to the temporary folder.
    let mut scripts = Vec::new();
    for (index, (name, source)) in sources.iter().enumerate() {
        // The compiler does not look inside of a `return` of the script itself.
        let copy = pml_script::returns_as_throws(name, source);
        let path = match fs::canonicalize(name) {
            Ok(path) if copy.is_none() => path,
            _ => {
                let name = format!("{index}.ts");
                write(&name, copy.as_deref().unwrap_or(source))?;
                let path = folder.path().join(name);
                fs::canonicalize(&path).unwrap_or(path)
            }
        };
        scripts.push(path);
    }
    let mut files: Vec<PathBuf> = ["pml.d.ts", "test.d.ts", "pml-tools.d.ts"]
        .iter()
        .map(|name| folder.path().join(name))
        .collect();
    files.extend(scripts.iter().cloned());
    let options = json!({
        "compilerOptions": {
            "target": "ESNext", "module": "ESNext", "moduleResolution": "Bundler",
            "moduleDetection": "force", "lib": ["ESNext"], "types": [],
            "strict": true, "noEmit": true, "allowImportingTsExtensions": true,
            "allowJs": true, "checkJs": false,
        },
        "files": files,
    });
    write("tsconfig.json", &options.to_string())?;
    let mut compiler = compiler(sources)?;
    let output = compiler
        .args(["--pretty", "false", "-p"])
        .arg(folder.path())
        .current_dir(folder.path())
        .output()
        .context(
            "the TypeScript compiler cannot be started; install it with `npm install typescript`",
        )?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut understood = output.status.success();
    for line in printed.lines() {
        let Some((file, finding)) = parse_line(line) else {
            continue;
        };
        understood = true;
        // The compiler prints paths relative to its working folder.
        let file = folder.path().join(file);
        let file = fs::canonicalize(&file).unwrap_or(file);
        let Some(index) = scripts.iter().position(|script| *script == file) else {
            continue;
        };
        let skipped = ACCEPTED
            .iter()
            .any(|code| finding.message.starts_with(code));
        if let Some(one) = checked.get_mut(index).filter(|_| !skipped) {
            one.findings.push(finding);
            one.findings
                .sort_by_key(|finding| (finding.start, finding.rule));
        }
    }
    if !understood {
        bail!(
            "the TypeScript compiler failed: {}{}",
            printed.trim(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

/// The compiler in `node_modules` of the first script's project, else the one on the `PATH`, where
/// relative entries do not count.
fn compiler(sources: &[(String, String)]) -> anyhow::Result<Command> {
    let name = if cfg!(windows) { "tsc.cmd" } else { "tsc" };
    let first = sources.first().map(|(name, _)| Path::new(name));
    let folder = first.and_then(Path::parent).unwrap_or(Path::new(""));
    let folder = env::current_dir().unwrap_or_default().join(folder);
    let of_project = folder
        .ancestors()
        .map(|folder| folder.join("node_modules").join(".bin").join(name))
        .find(|path| is_of_user(path));
    let Some(program) = of_project.or_else(|| pml_files::find_executable(name)) else {
        bail!(
            "--tsc needs the TypeScript compiler, which is neither in node_modules nor on the PATH; \
             install it with `npm install typescript`, or leave out --tsc"
        )
    };
    let mut compiler = Command::new(program);
    // It is a script, which looks for `node` on the PATH.
    match pml_files::absolute_search_path() {
        Some(path) => compiler.env("PATH", path),
        None => compiler.env_remove("PATH"),
    };
    Ok(compiler)
}

/// Whether the file belongs to this user or to root: a folder above a project, such as `/tmp`, may be
/// writable by others.
#[cfg(unix)]
fn is_of_user(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: `geteuid` has no preconditions.
    let user = unsafe { libc::geteuid() };
    path.metadata()
        .is_ok_and(|file| file.is_file() && (file.uid() == user || file.uid() == 0))
}

#[cfg(not(unix))]
fn is_of_user(path: &Path) -> bool {
    path.is_file()
}

/// Parses a line such as `a/b.ts(3,7): error TS2345: …` into the file and the finding.
fn parse_line(line: &str) -> Option<(&str, Finding)> {
    let (place, rest) = line.split_once("): error ")?;
    let (file, place) = place.rsplit_once('(')?;
    let (line, column) = place.split_once(',')?;
    let start = Position {
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    };
    let finding = Finding {
        rule: Rule::TypeScript,
        message: rest.to_owned(),
        start,
        end: Position {
            column: start.column + 1,
            ..start
        },
        fix: None,
    };
    Some((file, finding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_compiler_becomes_a_finding() {
        let (file, finding) = parse_line("../a(1)/b.ts(3,7): error TS2345: Argument 'x'.").unwrap();
        assert_eq!(file, "../a(1)/b.ts");
        assert_eq!(finding.start, Position { line: 3, column: 7 });
        assert_eq!(finding.message, "TS2345: Argument 'x'.");
        assert!(parse_line("  Type 'x' is not assignable.").is_none());
    }
}
