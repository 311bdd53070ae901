//! Colours on a terminal, and escaping of all other control characters.

use std::borrow::Cow;
use std::io::{self, IsTerminal};

use pml_gateway::is_unsafe_to_show;

/// How text is written to one stream.
#[derive(Clone, Copy)]
pub struct Style {
    /// Whether text is coloured.
    colour: bool,
    /// Whether the stream is a terminal.
    terminal: bool,
}

impl Style {
    /// Colour on a terminal, unless `NO_COLOR` says otherwise; `FORCE_COLOR` wins.
    pub fn for_stderr() -> Self {
        Self::on(std::io::stderr().is_terminal())
    }

    pub fn for_stdout() -> Self {
        Self::on(std::io::stdout().is_terminal())
    }

    fn on(terminal: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let forced = std::env::var_os("FORCE_COLOR").is_some_and(|value| value != "0");
        let colour = (set("FORCE_COLOR") && forced) || (!set("NO_COLOR") && terminal);
        Self { colour, terminal }
    }

    /// Untrusted text, of a script or a server. For a terminal, its control characters and those that
    /// reorder text are escaped, except sequences that set a colour.
    pub fn escape_controls(self, text: &str) -> Cow<'_, str> {
        let is_printable = |c: char| matches!(c, '\n' | '\t') || !is_unsafe_to_show(c);
        if !self.terminal || text.chars().all(is_printable) {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let taken = colour_sequence(rest).unwrap_or(c.len_utf8());
            let (head, tail) = rest.split_at(taken);
            match c {
                _ if taken > c.len_utf8() || is_printable(c) => shown.push_str(head),
                '\r' if tail.starts_with('\n') => {}
                _ => shown.extend(c.escape_default()),
            }
            rest = tail;
        }
        Cow::Owned(shown)
    }

    /// Standard output for untrusted text, with [`escape_controls`](Self::escape_controls) applied.
    pub fn escaped_stdout() -> impl io::Write {
        EscapedWriter {
            out: io::stdout().lock(),
            style: Self::for_stdout(),
        }
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

    /// A code frame: the lines around the marked one are dim, the caret is red.
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

struct EscapedWriter<W> {
    out: W,
    style: Style,
}

impl<W: io::Write> io::Write for EscapedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.out
            .write_all(self.style.escape_controls(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The length of the colour sequence that the text begins with, for example `ESC [ 31 m`.
fn colour_sequence(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[end..].starts_with('m').then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn control_characters_in_printed_text_are_escaped() {
        let style = Style {
            colour: true,
            terminal: true,
        };
        let mut escaped = EscapedWriter {
            out: Vec::new(),
            style,
        };
        writeln!(escaped, "{}: \u{1b}]0;x\u{7}", style.red("é")).unwrap();
        let shown = String::from_utf8(escaped.out).unwrap();
        assert_eq!(shown, "\u{1b}[31mé\u{1b}[0m: \\u{1b}]0;x\\u{7}\n");
    }

    fn shown(text: &str) -> Cow<'_, str> {
        let style = Style {
            colour: true,
            terminal: true,
        };
        style.escape_controls(text)
    }

    #[test]
    fn a_script_cannot_control_the_terminal() {
        assert_eq!(shown("\u{1b}]52;c;aGk=\u{7}A"), "\\u{1b}]52;c;aGk=\\u{7}A");
        assert_eq!(shown("\u{1b}[2J\u{9b}1m"), "\\u{1b}[2J\\u{9b}1m");
        assert_eq!(shown("hidden\rshown"), "hidden\\rshown");
    }

    #[test]
    fn text_and_colours_stay() {
        for text in ["plain\ttext\n", "\u{1b}[1;31mred\u{1b}[0m", "日本語 é"] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("a\r\nb"), "a\nb");
    }
}
