//! Landlock without any allowed path: no file, no TCP port, no abstract socket, no signal to other
//! processes.

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};

/// Applies the rules to this thread and those that it starts.
pub fn forbid() -> Result<(), String> {
    // The newest rights that the crate knows. An older kernel applies those that it has, which the
    // status below shows.
    let abi = ABI::V6;
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(abi))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(abi)))
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.restrict_self())
        .map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("this kernel does not have it".to_owned()),
        // Every version covers files; the system-call filter covers what older kernels leave out
        // (ports, signals).
        RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => Ok(()),
    }
}
