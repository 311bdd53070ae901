//! The network guard: its settings, what it says without I/O, and what names resolve to.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use pml_policy::tool_glob::wildcard;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Found, Host, Reach, Target, find_target, reach_of_ip, reach_of_name};
use crate::call::{Answer, GuardedCall};
use crate::dns;
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// How long all lookups for a call may take together.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// Names of one call that are resolved. More are refused.
const MAX_NAMES: usize = 200;

/// `pml.guards.network`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NetworkSettings {
    verdict: Level,
    /// The highest verdict about a URL that a text mentions whose argument is not one for URLs.
    mentions: Level,
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
            "verdict": "block", "mentions": "block", "private": false, "resolve": true,
            "userInfo": false, "schemes": ["http", "https"]
        })
    }

    fn standard() -> Value {
        json!({
            "verdict": "block", "mentions": "warn", "private": true, "resolve": false,
            "userInfo": true
        })
    }

    fn level(&self) -> Level {
        self.verdict
    }

    fn check(&self) -> Result<(), String> {
        if self.mentions == Level::Repair {
            return Err("`mentions` is `repair`: expected `off`, `warn` or `block`".to_owned());
        }
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

    fn level_of(&self, target: &Target) -> Level {
        let is_limited =
            target.is_prose && (self.verdict == Level::Block || self.mentions == Level::Off);
        match is_limited {
            true => self.mentions,
            false => self.verdict,
        }
    }

    /// Why a target is refused, as far as it tells by itself.
    fn refusal(&self, target: &Target) -> Option<String> {
        let place = &target.place;
        if let Some(schemes) = &self.schemes
            && target.found == Found::Whole
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
            // Each host that programs may read in it is a target of its own.
            Host::Ambiguous(_) | Host::Unreadable(_) if self.private => None,
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
    /// By name.
    hosts: BTreeMap<String, Mention>,
}

/// The first place of a name.
#[derive(Debug, Clone)]
struct Mention {
    place: String,
    /// Whether it is a name only if a program reads the argument in an unusual way: one that has no
    /// address is none.
    is_guess: bool,
    level: Level,
}

impl NetworkGuard {
    /// The names that have to be resolved before a call is sent; `None` without one.
    pub fn named_hosts(&self, call: &GuardedCall<'_>) -> Option<NamedHosts> {
        let settings = self.0.of(call.tool).filter(|settings| settings.resolve)?;
        let mut hosts: BTreeMap<String, Mention> = BTreeMap::new();
        find_target_of(call, &mut |target| {
            let (is_guess, level) = (target.found == Found::Guess, settings.level_of(&target));
            if let Host::Name(name) = target.host
                && level != Level::Off
                && !settings.is_named(&name)
            {
                let place = target.place;
                let first = hosts.entry(name).or_insert(Mention {
                    place,
                    is_guess,
                    level,
                });
                first.is_guess &= is_guess;
                if level == Level::Block {
                    first.level = level;
                }
            }
            hosts.len() > MAX_NAMES
        });
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
        if named.hosts.len() > MAX_NAMES {
            let reason = format!(
                "its arguments have more than {MAX_NAMES} names to resolve: pass them in parts"
            );
            return Verdict::objection(settings.verdict, reason);
        }
        let looked_up = async {
            let mut warned = None;
            for (name, mention) in &named.hosts {
                for _ in 0..times {
                    match resolve(settings, mention, name).await {
                        Some(reason) if mention.level == Level::Block => {
                            return Some((Level::Block, reason));
                        }
                        Some(reason) => warned = warned.or(Some((mention.level, reason))),
                        None => {}
                    }
                }
            }
            warned
        };
        match tokio::time::timeout(LOOKUP_TIMEOUT, looked_up).await {
            Ok(None) => Verdict::Allow,
            Ok(Some((level, reason))) => Verdict::objection(level, reason),
            Err(_) => Verdict::objection(
                settings.verdict,
                "the names in its URLs could not be resolved in time, so their addresses are not known",
            ),
        }
    }
}

/// Visits the places that a call names, until `visit` returns true. The URI of a resource is a name for its
/// server, unless its scheme is one that programs open.
fn find_target_of(call: &GuardedCall<'_>, visit: &mut dyn FnMut(Target) -> bool) {
    let is_opened = |scheme: &str| matches!(scheme, "" | "http" | "https" | "ws" | "wss" | "ftp");
    find_target(call.arguments, &mut |target| {
        (!call.is_offer || is_opened(&target.scheme)) && visit(target)
    });
}

/// Why a name is refused, by what it resolves to now: every address counts.
async fn resolve(settings: &NetworkSettings, mention: &Mention, name: &str) -> Option<String> {
    let place = &mention.place;
    let addresses: Result<Vec<IpAddr>, _> = match settings.resolver {
        Some(server) => dns::query(server, name).await,
        None => dns::system(name).await,
    };
    match addresses {
        Ok(addresses) if addresses.is_empty() && mention.is_guess => None,
        Err(_) if mention.is_guess => None,
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
        let mut said: Option<(Level, String)> = None;
        find_target_of(call, &mut |target| {
            let level = settings.level_of(&target);
            let is_news = level == Level::Block || said.is_none();
            if is_news
                && level != Level::Off
                && let Some(reason) = settings.refusal(&target)
            {
                said = Some((level, reason));
            }
            matches!(said, Some((Level::Block, _)))
        });
        said.map_or(Verdict::Allow, |(level, reason)| {
            Verdict::objection(level, reason)
        })
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}
