//! What a token says.

use pml_policy::tool_glob::ToolGlob;

use crate::date;
use crate::error::TokenError;

const MAX_NAME: usize = 64;
const MAX_PATTERN: usize = 256;

/// What the first block of a token says: who calls, and what they may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub(crate) tenant: String,
    pub(crate) principal: String,
    pub(crate) restriction: Restriction,
}

/// What a block takes away. What it does not mention stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restriction {
    /// The only tools that may be called; empty if the block says nothing about tools.
    pub tools: Vec<ToolGlob>,
    /// The last second, counted from 1970, at which the token is valid.
    pub expires: Option<u64>,
    /// How many calls may be made in all, by this token and those made from it.
    pub calls: Option<u32>,
}

impl Grant {
    /// What a principal of a tenant may do.
    ///
    /// # Errors
    /// A name or pattern that cannot be in a token, or no pattern at all.
    pub fn new(
        tenant: &str,
        principal: &str,
        restriction: Restriction,
    ) -> Result<Self, TokenError> {
        for name in [tenant, principal] {
            if !is_name(name) {
                return Err(TokenError::Name(name.to_owned()));
            }
        }
        if restriction.tools.is_empty() {
            return Err(TokenError::NothingAllowed);
        }
        restriction.check()?;
        Ok(Self {
            tenant: tenant.to_owned(),
            principal: principal.to_owned(),
            restriction,
        })
    }

    /// Whose data its runs work on.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Who calls.
    pub fn principal(&self) -> &str {
        &self.principal
    }

    /// What it may do.
    pub fn restriction(&self) -> &Restriction {
        &self.restriction
    }
}

impl Restriction {
    /// A restriction to these tools.
    pub fn to(tools: impl IntoIterator<Item = ToolGlob>) -> Self {
        Self {
            tools: tools.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Whether it restricts nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a tool may be called; `fs:resources` and `fs:prompts` stand for those of a server.
    pub(crate) fn permits(&self, id: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|glob| glob.matches(id))
    }

    pub(crate) fn check(&self) -> Result<(), TokenError> {
        for glob in &self.tools {
            let text = glob.to_string();
            let is_plain = |letter: char| !letter.is_control() && letter != '"' && letter != '\\';
            if text.len() > MAX_PATTERN || !text.chars().all(is_plain) {
                return Err(TokenError::Pattern(text.escape_debug().to_string()));
            }
        }
        match self.expires {
            Some(time) if time > date::LAST => Err(TokenError::TooLate),
            _ => Ok(()),
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_letter)
}
