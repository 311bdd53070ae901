//! A finding: one mistake, its position, and how to fix it.

use serde::Serialize;

/// The kind of a mistake. The names are part of every report format and do not change.
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
    /// A tool call that is not awaited.
    FloatingPromise,
    /// A call whose tool does not accept what an earlier call returns.
    RefusedFlow,
    /// A diagnostic of the TypeScript compiler.
    TypeScript,
}

impl Rule {
    /// Every rule, in the order of the SARIF report.
    pub const ALL: [Self; 9] = [
        Self::Syntax,
        Self::UnreachableImport,
        Self::UnknownGlobal,
        Self::UnknownServer,
        Self::UnknownTool,
        Self::WrongArguments,
        Self::FloatingPromise,
        Self::RefusedFlow,
        Self::TypeScript,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnreachableImport => "unreachable-import",
            Self::UnknownGlobal => "unknown-global",
            Self::UnknownServer => "unknown-server",
            Self::UnknownTool => "unknown-tool",
            Self::WrongArguments => "wrong-arguments",
            Self::FloatingPromise => "floating-promise",
            Self::RefusedFlow => "refused-flow",
            Self::TypeScript => "type-script",
        }
    }

    /// One sentence that explains the rule.
    pub fn about(self) -> &'static str {
        match self {
            Self::Syntax => "The text is not TypeScript, or uses a part of it that is off.",
            Self::UnreachableImport => "A script can import \"pml\" and nothing else.",
            Self::UnknownGlobal => "A script has the language, tools and little more.",
            Self::UnknownServer => "The server must be in the configuration, and not disabled.",
            Self::UnknownTool => "The server has no such tool.",
            Self::WrongArguments => "The arguments do not fit the tool's input schema.",
            Self::FloatingPromise => "A tool call that is not awaited fails unnoticed.",
            Self::RefusedFlow => "The tool does not accept what the script has read before.",
            Self::TypeScript => "The TypeScript compiler finds a mistake.",
        }
    }
}

/// A position in the script. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind of the mistake.
    pub rule: Rule,
    /// One sentence: what is wrong, and often what was meant.
    pub message: String,
    /// Its first character.
    pub start: Position,
    /// The position after its last character.
    pub end: Position,
    /// How to fix it, where that is certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A text edit that fixes a mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// What it does, such as "replace `raed` with `read`".
    pub about: String,
    /// The start of the replaced text.
    pub start: Position,
    /// The position after the replaced text.
    pub end: Position,
    /// The new text.
    pub replacement: String,
}

impl Finding {
    /// A finding about the whole script.
    pub(crate) fn of_file(message: &str) -> Self {
        let start = Position { line: 1, column: 1 };
        Self {
            rule: Rule::Syntax,
            message: message.to_owned(),
            start,
            end: start,
            fix: None,
        }
    }
}
