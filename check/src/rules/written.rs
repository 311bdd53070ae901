//! How a script names a tool, and how another would be written in the same place.

use serde_json::Value;
use swc_core::common::{Span, Spanned};
use swc_core::ecma::ast::{MemberExpr, MemberProp};

/// How a tool's name is written, for what to write instead.
pub enum Written {
    /// `"fs:read_file"`
    Id(Span),
    /// `tools.fs.read_file`: the two parts after the dots, the first if it is there.
    Member { server: Option<Part>, tool: Part },
    /// `const { read_file } = tools.fs`, and then its name alone.
    Elsewhere(Span),
}

/// A name after a dot, or in brackets.
pub struct Part {
    span: Span,
    quoted: bool,
}

impl Part {
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

    /// Another name, written in the same way.
    fn with(&self, name: &str) -> Option<(Span, String)> {
        match self.quoted {
            true => Some((self.span, quoted(name))),
            false => is_identifier(name).then(|| (self.span, name.to_owned())),
        }
    }
}

impl Written {
    pub fn span(&self) -> Span {
        match self {
            Self::Id(span) | Self::Elsewhere(span) => *span,
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

    /// What to write, and where, to call this tool instead.
    pub fn with_tool(&self, server: &str, tool: &str) -> Option<(Span, String)> {
        match self {
            Self::Id(span) => Some((*span, quoted(&format!("{server}:{tool}")))),
            Self::Member { tool: part, .. } => part.with(tool),
            Self::Elsewhere(_) => None,
        }
    }

    /// The same for another server; without a tool, its name stands alone.
    pub fn with_server(&self, server: &str, tool: Option<&str>) -> Option<(Span, String)> {
        match (self, tool) {
            (Self::Id(span), None) => Some((*span, quoted(server))),
            (Self::Id(_), Some(tool)) => self.with_tool(server, tool),
            (Self::Member { server: part, .. }, _) => part.as_ref()?.with(server),
            (Self::Elsewhere(_), _) => None,
        }
    }
}

pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}
