//! The source text that names a tool, and the replacement that names another.

use serde_json::Value;
use swc_core::common::{Span, Spanned};
use swc_core::ecma::ast::{MemberExpr, MemberProp};

/// How a script names a tool.
pub enum ToolReference {
    /// `"fs:read_file"`
    Id(Span),
    /// `tools.fs.read_file`: the names after the dots. `server` is `None` for `fs.read_file`.
    Member {
        server: Option<NamePart>,
        tool: NamePart,
    },
    /// `read_file`, after `const { read_file } = tools.fs`.
    Alias(Span),
}

/// A name after a dot, or in brackets.
pub struct NamePart {
    span: Span,
    quoted: bool,
}

impl NamePart {
    pub fn of(member: &MemberExpr) -> Self {
        match &member.prop {
            MemberProp::Computed(computed) => Self {
                span: computed.expr.span(),
                quoted: true,
            },
            other => Self {
                span: other.span(),
                quoted: false,
            },
        }
    }

    /// Another name in the same notation.
    fn with(&self, name: &str) -> Option<(Span, String)> {
        match self.quoted {
            true => Some((self.span, quoted(name))),
            false => is_identifier(name).then(|| (self.span, name.to_owned())),
        }
    }
}

impl ToolReference {
    pub fn span(&self) -> Span {
        match self {
            Self::Id(span) | Self::Alias(span) => *span,
            Self::Member { tool, .. } => tool.span,
        }
    }

    pub fn server_span(&self) -> Span {
        match self {
            Self::Member {
                server: Some(server),
                ..
            } => server.span,
            other => other.span(),
        }
    }

    /// The edit that calls another tool instead.
    pub fn with_tool(&self, server: &str, tool: &str) -> Option<(Span, String)> {
        match self {
            Self::Id(span) => Some((*span, quoted(&format!("{server}:{tool}")))),
            Self::Member { tool: part, .. } => part.with(tool),
            Self::Alias(_) => None,
        }
    }

    /// The edit that uses another server instead. `tool` is `None` where the script names only the
    /// server.
    pub fn with_server(&self, server: &str, tool: Option<&str>) -> Option<(Span, String)> {
        match (self, tool) {
            (Self::Id(span), None) => Some((*span, quoted(server))),
            (Self::Id(_), Some(tool)) => self.with_tool(server, tool),
            (Self::Member { server: part, .. }, _) => part.as_ref()?.with(server),
            (Self::Alias(_), _) => None,
        }
    }
}

/// A string literal.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}
