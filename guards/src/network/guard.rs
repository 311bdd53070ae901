//! The network guard: its settings, what it says without I/O, and what names resolve to.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use pml_policy::tool_glob::wildcard;
use serde::Deserialize;
use serde_json::{Value, json};

use super::target::MAX_TARGETS;
use super::{Host, Reach, Target, reach_of_ip, reach_of_name, targets};
use crate::call::{Answer, GuardedCall};
use crate::dns;
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// How long all lookups for a call may take together.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// `pml.guards.network`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NetworkSettings {
    verdict: Level,
    /// Whether private addresses may be reached. Metadata services never may.
    private: bool,
    /// Whether names are resolved and every address is checked.
    resolve: bool,
    /// Whether a URL may have a user name.
    user_info: bool,
    /// The schemes that are permitted; if absent, all.
    #[serde(default)]
    schemes: Option<Vec<String>>,
    /// Names that may be reached whatever they resolve to, with `*` for any characters.
    #[serde(default)]
    hosts: Vec<String>,
    /// The DNS server to ask; if absent, the resolver of the system.
    #[serde(default)]
    resolver: Option<SocketAddr>,
}

impl Settings for NetworkSettings {
    const NAME: GuardName = GuardName::Network;

    fn strict() -> Value {
        json!({
            "verdict": "block", "private": false, "resolve": true, "userInfo": false,
            "schemes": ["http", "https"]
        })
    }

    fn standard() -> Value {
        json!({ "verdict": "block", "private": true, "resolve": false, "userInfo": true })
    }

    fn level(&self) -> Level {
        self.verdict
    }

    fn check(&self) -> Result<(), String> {
        match self.hosts.iter().find(|host| host.contains([':', '/'])) {
            Some(host) => Err(format!(
                "`hosts` has `{host}`: write names without scheme and port"
            )),
            None => Ok(()),
        }
    }
}

impl NetworkSettings {
    fn permits(&self, reach: Reach) -> bool {
        reach == Reach::Public || (self.private && reach == Reach::Private)
    }

    fn is_named(&self, name: &str) -> bool {
        self.hosts
            .iter()
            .any(|host| wildcard(&host.to_lowercase(), name.trim_end_matches('.')))
    }

    /// Why a target is refused, as far as it tells by itself.
    fn refusal(&self, target: &Target) -> Option<String> {
        let place = &target.place;
        if let Some(schemes) = &self.schemes
            && target.is_whole
            && !target.scheme.is_empty()
            && !schemes.contains(&target.scheme)
        {
            return Some(format!(
                "`{place}` is a URL of the scheme `{}`, and the permitted ones are {}",
                target.scheme,
                schemes.join(", ")
            ));
        }
        if target.has_user && !self.user_info {
            return Some(format!(
                "`{place}` is a URL with a user name, which hides its host: pass it without"
            ));
        }
        match &target.host {
            Host::Address(address) => {
                let is_named = self.is_named(&address.to_string());
                (!is_named && !self.permits(reach_of_ip(*address)))
                    .then(|| refused(place, reach_of_ip(*address)))
            }
            Host::Name(name) => {
                let reach = reach_of_name(name);
                (!self.is_named(name) && !self.permits(reach)).then(|| refused(place, reach))
            }
            Host::Ambiguous(_) if self.private && !target.is_whole => None,
            Host::Unreadable(_) if self.private => None,
            Host::Ambiguous(reason) | Host::Unreadable(reason) => {
                Some(format!("`{place}` is a URL that is not clear: {reason}"))
            }
        }
    }
}

fn refused(place: &str, reach: Reach) -> String {
    match reach {
        Reach::Metadata => {
            format!("`{place}` is an address of a metadata service, which gives out credentials")
        }
        Reach::Private | Reach::Public => format!(
            "`{place}` is an address of this machine or of a private network: use a public one, or let the operator name it in pml.guards.network.hosts"
        ),
    }
}

/// URLs of addresses that must not be reached.
pub(crate) struct NetworkGuard(pub Rules<NetworkSettings>);

/// The names in the arguments of a call that have to be resolved.
#[derive(Debug, Clone)]
pub(crate) struct NamedHosts {
    tool: String,
    /// The place of each, and the name.
    hosts: Vec<(String, String)>,
}

impl NetworkGuard {
    /// The names that have to be resolved before a call is sent; `None` without one.
    pub fn named_hosts(&self, call: &GuardedCall<'_>) -> Option<NamedHosts> {
        let settings = self.0.of(call.tool).filter(|settings| settings.resolve)?;
        let mut hosts: Vec<(String, String)> = targets_of(call)
            .into_iter()
            .filter_map(|target| match target.host {
                Host::Name(name) if !settings.is_named(&name) => Some((target.place, name)),
                _ => None,
            })
            .collect();
        hosts.sort_by(|one, other| one.1.cmp(&other.1));
        hosts.dedup_by(|one, other| one.1 == other.1);
        (!hosts.is_empty()).then(|| NamedHosts {
            tool: call.tool.to_owned(),
            hosts,
        })
    }

    /// Resolves the names, `times` times each: a name that answers differently when it is asked again
    /// is not what it says.
    pub async fn look_up(&self, named: &NamedHosts, times: usize) -> Verdict {
        let Some(settings) = self.0.of(&named.tool) else {
            return Verdict::Allow;
        };
        let looked_up = async {
            for (place, name) in &named.hosts {
                for _ in 0..times {
                    if let Some(reason) = resolve(settings, place, name).await {
                        return Some(reason);
                    }
                }
            }
            None
        };
        match tokio::time::timeout(LOOKUP_TIMEOUT, looked_up).await {
            Ok(None) => Verdict::Allow,
            Ok(Some(reason)) => Verdict::objection(settings.verdict, reason),
            Err(_) => Verdict::objection(
                settings.verdict,
                "the names in its URLs could not be resolved in time, so their addresses are not known",
            ),
        }
    }
}

/// The places that a call names. The URI of a resource is a name for its server, unless its scheme is one
/// that programs open.
fn targets_of(call: &GuardedCall<'_>) -> Vec<Target> {
    let mut found = targets(call.arguments);
    if call.is_offer {
        let is_opened =
            |scheme: &str| matches!(scheme, "" | "http" | "https" | "ws" | "wss" | "ftp");
        found.retain(|target| is_opened(&target.scheme));
    }
    found
}

/// Why a name is refused, by what it resolves to now: every address counts.
async fn resolve(settings: &NetworkSettings, place: &str, name: &str) -> Option<String> {
    let addresses: Result<Vec<IpAddr>, _> = match settings.resolver {
        Some(server) => dns::query(server, name).await,
        None => dns::system(name).await,
    };
    match addresses {
        Ok(addresses) if addresses.is_empty() => {
            Some(format!("the name in `{place}` has no address"))
        }
        Ok(addresses) => addresses
            .into_iter()
            .map(reach_of_ip)
            .filter(|reach| !settings.permits(*reach))
            .max()
            .map(|reach| format!("{} (its name resolves to it)", refused(place, reach))),
        Err(error) => Some(format!("the name in `{place}` cannot be resolved: {error}")),
    }
}

impl Guard for NetworkGuard {
    fn name(&self) -> GuardName {
        NetworkSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        let mut parts = vec!["metadata services".to_owned()];
        if !settings.private {
            parts.push("private addresses".to_owned());
        }
        if let Some(schemes) = &settings.schemes {
            parts.push(format!("schemes other than {}", schemes.join(", ")));
        }
        let how = match settings.resolve {
            true => "names are resolved",
            false => "names are not resolved",
        };
        let named = match settings.hosts.as_slice() {
            [] => String::new(),
            hosts => format!("; always permitted: {}", hosts.join(", ")),
        };
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: format!("URLs of {}; {how}{named}", parts.join(", ")),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        let Some(settings) = self.0.of(call.tool) else {
            return Verdict::Allow;
        };
        let targets = targets_of(call);
        let reason = match targets.iter().find_map(|target| settings.refusal(target)) {
            None if targets.len() > MAX_TARGETS => {
                format!("its arguments have more than {MAX_TARGETS} URLs: pass them in parts")
            }
            None => return Verdict::Allow,
            Some(reason) => reason,
        };
        Verdict::objection(settings.verdict, reason)
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}
