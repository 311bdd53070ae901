//! Landlock with no path: no file, no TCP port, no abstract socket, no signal to others.

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};

pub fn forbid() -> Result<(), String> {
    // The newest rights this crate version knows; on an older kernel the crate drops the ones
    // that it lacks, and the status below tells.
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
        // Files are covered since the first version; what an older kernel leaves out (ports,
        // signals) the system-call filter covers.
        RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => Ok(()),
    }
}
