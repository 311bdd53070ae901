//! One mistake, where it is, and how to mend it.

use serde::Serialize;

/// What kind of mistake. The names are for machines and stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The text is not TypeScript.
    Syntax,
    /// An import that a script cannot have.
    UnreachableImport,
    /// A global that a script does not have.
    UnknownGlobal,
    /// A server that is not in the configuration, or is disabled there.
    UnknownServer,
    /// A tool that its server does not have.
    UnknownTool,
    /// Arguments that the tool's schema refuses.
    WrongArguments,
    /// A tool call that nobody waits for.
    FloatingPromise,
    /// What the TypeScript compiler found.
    TypeScript,
}

impl Rule {
    pub const ALL: [Self; 8] = [
        Self::Syntax,
        Self::UnreachableImport,
        Self::UnknownGlobal,
        Self::UnknownServer,
        Self::UnknownTool,
        Self::WrongArguments,
        Self::FloatingPromise,
        Self::TypeScript,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnreachableImport => "unreachable-import",
            Self::UnknownGlobal => "unknown-global",
            Self::UnknownServer => "unknown-server",
            Self::UnknownTool => "unknown-tool",
            Self::WrongArguments => "wrong-arguments",
            Self::FloatingPromise => "floating-promise",
            Self::TypeScript => "type-script",
        }
    }

    /// One sentence for those who meet it the first time.
    pub fn about(self) -> &'static str {
        match self {
            Self::Syntax => "The text is not TypeScript, or uses a part of it that is off.",
            Self::UnreachableImport => "A script can import \"pml\" and nothing else.",
            Self::UnknownGlobal => "A script has the language, tools and little more.",
            Self::UnknownServer => "The server must be in the configuration, and not disabled.",
            Self::UnknownTool => "The server has no such tool.",
            Self::WrongArguments => "The arguments do not fit the tool's input schema.",
            Self::FloatingPromise => "A tool call that is not awaited fails unnoticed.",
            Self::TypeScript => "The TypeScript compiler finds a mistake.",
        }
    }
}

/// A place in the script. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// A mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: Rule,
    pub message: String,
    pub start: Place,
    /// Just after the last character.
    pub end: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A change that mends a mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// What it does, such as "replace `raed` with `read`".
    pub about: String,
    pub start: Place,
    pub end: Place,
    pub replacement: String,
}

impl Finding {
    /// One about the script as a whole.
    pub(crate) fn of_file(message: &str) -> Self {
        let start = Place { line: 1, column: 1 };
        Self {
            rule: Rule::Syntax,
            message: message.to_owned(),
            start,
            end: start,
            fix: None,
        }
    }
}
