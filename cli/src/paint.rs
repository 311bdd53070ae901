//! Colour, where the terminal has it.

use std::io::IsTerminal;

#[derive(Clone, Copy)]
pub struct Paint {
    colour: bool,
}

impl Paint {
    /// Colour on a terminal, unless `NO_COLOR` says otherwise; `FORCE_COLOR` wins.
    pub fn for_stderr() -> Self {
        Self::on(std::io::stderr().is_terminal())
    }

    pub fn for_stdout() -> Self {
        Self::on(std::io::stdout().is_terminal())
    }

    fn on(terminal: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let colour = set("FORCE_COLOR") || (!set("NO_COLOR") && terminal);
        Self { colour }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    pub fn error(self) -> String {
        self.wrap("1;31", "error:")
    }

    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// A code frame: the marked line stands out, the mark is red.
    pub fn frame(self, frame: &str) -> String {
        if !self.colour {
            return frame.to_owned();
        }
        let lines: Vec<String> = frame
            .lines()
            .map(|line| {
                if line.starts_with('>') {
                    line.to_owned()
                } else if line.trim_end().ends_with('^') && line.contains("| ") {
                    self.red(line)
                } else {
                    self.dim(line)
                }
            })
            .collect();
        lines.join("\n")
    }
}
