//! `pml token inspect`: what a token says, and whether it is valid here.

use std::fmt::Write as _;
use std::path::Path;

use pml_tokens::{
    BlockText, Capability, CapabilityStore, Restriction, TokenError, TokenId, written_time,
};
use serde_json::{Value, json};

use super::{print, token};
use crate::exit::ExitCode;
use crate::{capability, config};

pub fn run(named: Option<&Path>, argument: &str, json: bool) -> anyhow::Result<ExitCode> {
    let settings = config::load_settings(named)?;
    let store = capability::store(&settings.servers)?;
    let token = token(argument)?;
    let blocks = token.blocks()?;
    let problem = store.open(&token).err().map(|error| error.to_string());
    // Also what has expired or was revoked says something.
    let known = store.verify(&token).ok();
    let value = json!({
        "valid": problem.is_none(),
        "problem": problem,
        "tenant": known.as_ref().map(|known| known.token().grant().tenant().to_owned()),
        "principal": known.as_ref().map(|known| known.token().grant().principal().to_owned()),
        "name": known.as_ref().map(Capability::name),
        "expires": known.as_ref().and_then(|known| known.token().expires()).map(written_time),
        "blocks": json_blocks(&store, &blocks, known.as_ref())?,
    });
    let text = text(&store, &blocks, known.as_ref(), problem.as_deref())?;
    print(json, &value, &text)?;
    Ok(match problem {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::FAILURE,
    })
}

/// A block, what it takes away, and the calls that were made with it.
struct Block<'a> {
    id: TokenId,
    source: &'a str,
    restriction: Option<&'a Restriction>,
    calls_made: Option<u64>,
}

fn described<'a>(
    store: &CapabilityStore,
    blocks: &'a [BlockText],
    known: Option<&'a Capability>,
) -> Result<Vec<Block<'a>>, TokenError> {
    let mut restrictions = known
        .map(|known| known.token().restrictions())
        .into_iter()
        .flatten();
    let described = blocks.iter().map(|block| {
        let restriction = restrictions.next();
        let has_budget = restriction.is_some_and(|block| block.calls.is_some());
        let made = has_budget.then(|| store.counters().made(block.id));
        Ok(Block {
            id: block.id,
            source: &block.source,
            restriction,
            calls_made: made.transpose()?,
        })
    });
    described.collect()
}

fn json_blocks(
    store: &CapabilityStore,
    blocks: &[BlockText],
    known: Option<&Capability>,
) -> Result<Vec<Value>, TokenError> {
    let described = described(store, blocks, known)?;
    let values = described.iter().map(|block| {
        json!({
            "id": block.id.to_string(),
            "allow": block.restriction.map(|it| &it.tools),
            "expires": block.restriction.and_then(|it| it.expires).map(written_time),
            "calls": block.restriction.and_then(|it| it.calls),
            "callsMade": block.calls_made,
            "datalog": block.source,
        })
    });
    Ok(values.collect())
}

fn text(
    store: &CapabilityStore,
    blocks: &[BlockText],
    known: Option<&Capability>,
    problem: Option<&str>,
) -> Result<String, TokenError> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match problem {
        None => writeln!(text, "valid"),
        Some(problem) => writeln!(text, "not valid: {problem}"),
    };
    if let Some(known) = known {
        let grant = known.token().grant();
        let _ = writeln!(
            text,
            "principal  {} of tenant {}",
            grant.principal(),
            grant.tenant()
        );
        let expires = known.token().expires().map(written_time);
        let _ = writeln!(text, "expires    {}", expires.as_deref().unwrap_or("never"));
    }
    for (n, block) in described(store, blocks, known)?.iter().enumerate() {
        let _ = writeln!(text, "block {n}    {}", block.id);
        match block.restriction {
            // The statements of a token that is not ours are those of a stranger.
            None => block.source.lines().for_each(|line| {
                let _ = writeln!(text, "           {}", line.escape_debug());
            }),
            Some(restriction) => write_restriction(&mut text, restriction, block.calls_made),
        }
    }
    Ok(text)
}

fn write_restriction(text: &mut String, restriction: &Restriction, calls_made: Option<u64>) {
    for glob in &restriction.tools {
        let _ = writeln!(text, "           allow    {glob}");
    }
    if let Some(time) = restriction.expires {
        let _ = writeln!(text, "           expires  {}", written_time(time));
    }
    if let Some(calls) = restriction.calls {
        let made = calls_made.unwrap_or_default();
        let _ = writeln!(text, "           calls    {made} of {calls} made");
    }
}
