//! The statements of blocks: written, and read back.
//!
//! A holder signs the blocks that it appends, so a verifier gets Datalog of strangers. The limits of
//! `biscuit-auth` on facts and time are checked between the steps of an evaluation, and one join of a
//! hostile block is one step that can take years. So the statements are not evaluated as Datalog: a block
//! has exactly the statements that this module writes for some [`Grant`] or [`Restriction`], and a token
//! with any other block is refused. The decision is then that of [`Restriction`], whose time is bounded by the size of the
//! token.
//!
//! For other verifiers the statements mean the same, with the function `glob` for patterns. A block
//! trusts the facts of the first block besides its own; therefore the first has `allow`, and all others
//! `only`.

use std::fmt::Write as _;

use crate::date;
use crate::grant::{Grant, Restriction};

const ALLOW: &str = "allow";
const ONLY: &str = "only";
const EXPIRY: &str = "check if time($time), $time <= ";

/// The statements of the first block.
pub fn of_grant(grant: &Grant) -> String {
    let (tenant, principal) = (&grant.tenant, &grant.principal);
    let mut text = format!("tenant(\"{tenant}\");\nprincipal(\"{principal}\");\n");
    write(&mut text, &grant.restriction, ALLOW);
    text
}

/// The statements of a further block.
pub fn of_restriction(restriction: &Restriction) -> String {
    let mut text = String::new();
    write(&mut text, restriction, ONLY);
    text
}

/// The grant that has exactly these statements.
pub fn read_grant(source: &str) -> Option<Grant> {
    let mut lines = source.lines();
    let tenant = fact(lines.next()?, "tenant")?;
    let principal = fact(lines.next()?, "principal")?;
    let restriction = read(lines, ALLOW)?;
    let grant = Grant::new(tenant, principal, restriction).ok()?;
    (of_grant(&grant) == source).then_some(grant)
}

/// The restriction that has exactly these statements.
pub fn read_restriction(source: &str) -> Option<Restriction> {
    let restriction = read(source.lines(), ONLY)?;
    restriction.check().ok()?;
    (of_restriction(&restriction) == source).then_some(restriction)
}

fn write(text: &mut String, restriction: &Restriction, predicate: &str) {
    // Writing to a string cannot fail.
    for glob in &restriction.tools {
        let _ = writeln!(text, "{predicate}(\"{glob}\");");
    }
    if let Some(calls) = restriction.calls {
        let _ = writeln!(text, "calls({calls});");
    }
    if let Some(time) = restriction.expires {
        let _ = writeln!(text, "{EXPIRY}{};", date::written(time));
    }
    if !restriction.tools.is_empty() {
        let _ = writeln!(text, "{};", tool_check(predicate));
    }
}

fn tool_check(predicate: &str) -> String {
    format!("check if tool($tool), {predicate}($glob), $tool.extern::glob($glob)")
}

/// Reads at least what [`write`] writes. The caller compares.
fn read<'a>(lines: impl Iterator<Item = &'a str>, predicate: &str) -> Option<Restriction> {
    let mut restriction = Restriction::default();
    for line in lines {
        let statement = line.strip_suffix(';')?;
        if let Some(glob) = fact(line, predicate) {
            restriction.tools.push(glob.parse().ok()?);
        } else if let Some(calls) = statement.strip_prefix("calls(") {
            restriction.calls = Some(calls.strip_suffix(')')?.parse().ok()?);
        } else if let Some(time) = statement.strip_prefix(EXPIRY) {
            restriction.expires = Some(date::read(time)?);
        } else if statement != tool_check(predicate) {
            return None;
        }
    }
    Some(restriction)
}

/// The text of the fact `predicate("text");`.
fn fact<'a>(line: &'a str, predicate: &str) -> Option<&'a str> {
    let text = line.strip_prefix(predicate)?.strip_prefix("(\"")?;
    text.strip_suffix("\");")
}
