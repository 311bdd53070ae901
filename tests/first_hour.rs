//! `docs/first-hour.md`: every command of the page, in order, prints what the page shows.
//!
//! `PML_UPDATE_DOCS=1 cargo test -p pml --test e2e first_hour` writes what is printed into the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::serve::driver::StdioClient;
use crate::support::{binary, onnx_runtime, repository};

/// A block of the page between two fences.
struct Block<'a> {
    language: &'a str,
    lines: Vec<&'a str>,
}

/// Text and blocks of the page, in order.
enum Part<'a> {
    Prose(&'a str),
    Block(Block<'a>),
}

fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            None => parts.push(Part::Prose(line)),
            Some(language) => {
                let lines = lines.by_ref().take_while(|line| *line != "```").collect();
                parts.push(Part::Block(Block { language, lines }));
            }
        }
    }
    parts
}

/// A home folder with a client and a project, and `pml` on the `PATH`.
struct Newcomer {
    home: TempDir,
}

impl Newcomer {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for folder in ["project", "bin", ".cursor"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(binary(), home.path().join("bin/pml")).unwrap();
        let demo =
            json!({ "command": "pml", "args": ["demo-server", home.path().join("project")] });
        let servers = json!({ "mcpServers": { "demo": demo } });
        fs::write(home.path().join(".cursor/mcp.json"), servers.to_string()).unwrap();
        Self { home }
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home.path())
            .env(
                "PATH",
                format!("{}/bin:/usr/bin:/bin", self.home.path().display()),
            )
            .env("ORT_DYLIB_PATH", onnx_runtime());
        command
    }

    /// What a line of the shell prints.
    fn prints(&self, line: &str) -> String {
        let output = self
            .command("sh")
            .args(["-c", &format!("{line} 2>&1")])
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The first line of the block is a comment with the name of the file.
    fn writes(&self, block: &Block<'_>) {
        let name = block.lines[0]
            .strip_prefix("// ")
            .expect("a file has a name");
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // JSON has no comments.
        let from = usize::from(block.language == "json");
        fs::write(path, block.lines[from..].join("\n") + "\n").unwrap();
    }

    /// The text with the paths of the page, and without times.
    fn shown(&self, text: &str) -> String {
        let real = fs::canonicalize(binary()).unwrap();
        let text = text
            .replace(&*real.to_string_lossy(), "/usr/local/bin/pml")
            .replace(
                &format!("{}/bin/pml", self.home.path().display()),
                "/usr/local/bin/pml",
            )
            .replace(&*self.home.path().to_string_lossy(), "/home/me");
        without_times(&text)
    }
}

/// Every number in front of `ms` or `s` is 1. Progress that is printed only where the machine is slow is left out.
fn without_times(text: &str) -> String {
    let is_number = |part: &str| part.trim_start_matches('(').parse::<f64>().is_ok();
    let mut shown = String::new();
    let lines = text.split_inclusive('\n');
    for line in lines.filter(|line| !line.starts_with("indexed ")) {
        let mut words: Vec<&str> = line.split(' ').collect();
        for at in 1..words.len() {
            let unit = words[at].trim_end().trim_end_matches([',', ')']);
            if ["ms", "s"].contains(&unit) && is_number(words[at - 1]) {
                let is_in_brackets = words[at - 1].starts_with('(');
                words[at - 1] = if is_in_brackets { "(1" } else { "1" };
            }
        }
        shown.push_str(&words.join(" "));
    }
    shown
}

fn page() -> PathBuf {
    repository().join("docs/first-hour.md")
}

/// The page as it should be, and the newcomer after all its commands.
fn followed(page: &str) -> (String, Newcomer) {
    let newcomer = Newcomer::new();
    let mut expected = Vec::new();
    for part in parts(page) {
        match part {
            Part::Prose(line) => expected.push(line.to_owned()),
            Part::Block(block) => {
                expected.push(format!("```{}", block.language));
                match block.language {
                    "console" => {
                        for command in block
                            .lines
                            .iter()
                            .filter_map(|line| line.strip_prefix("$ "))
                        {
                            expected.push(format!("$ {command}"));
                            let printed = newcomer.shown(&newcomer.prints(command));
                            expected.extend(printed.lines().map(str::to_owned));
                        }
                    }
                    _ => {
                        newcomer.writes(&block);
                        expected.extend(block.lines.iter().map(|line| (*line).to_owned()));
                    }
                }
                expected.push("```".to_owned());
            }
        }
    }
    (expected.join("\n") + "\n", newcomer)
}

#[test]
fn every_command_of_the_first_hour_prints_what_the_page_shows() {
    let text = fs::read_to_string(page()).unwrap();
    let (expected, newcomer) = followed(&text);
    if std::env::var_os("PML_UPDATE_DOCS").is_some() {
        fs::write(page(), &expected).unwrap();
        return;
    }
    assert_eq!(text, expected);
    the_printed_entry_serves_a_client(&newcomer, &text);
}

/// Starts the server as the client would, with the entry on the page.
fn the_printed_entry_serves_a_client(newcomer: &Newcomer, page: &str) {
    let printed = newcomer.prints("pml serve --print-config claude-code");
    let entry = printed[printed.find('{').unwrap()..=printed.rfind('}').unwrap()].to_owned();
    let entry: Value = serde_json::from_str(&entry).unwrap();
    let entry = &entry["mcpServers"]["pml"];
    assert_eq!(
        Path::new(entry["command"].as_str().unwrap())
            .file_name()
            .unwrap(),
        "pml"
    );
    let mut command = newcomer.command(binary());
    command
        .args(
            entry["args"]
                .as_array()
                .unwrap()
                .iter()
                .map(|arg| arg.as_str().unwrap()),
        )
        // A client starts its servers where it likes.
        .current_dir("/");
    let mut client = StdioClient::start(command);
    let script = fs::read_to_string(newcomer.project().join("versions.ts")).unwrap();
    let envelope = client.run(&script);
    let services = envelope["result"].as_array().unwrap();
    for service in services {
        assert!(page.contains(&format!("  {service}")), "{service}");
    }
    assert_eq!(services.len(), 2, "{envelope}");
}
