//! The configuration key `pml.policy`.

use std::path::PathBuf;

use pml_policy::authorize::GlobRules;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::approval::AskTime;
use super::breaker::BreakerConfig;
use super::budget::BudgetConfig;
use super::bulkhead::BulkheadConfig;
use super::cache::CacheConfig;
use super::globs::ToolGlob;
use super::rate::RateConfig;
use super::retry::RetryConfig;

/// The `pml.policy` key of the configuration file. Every part may be left out.
///
/// ```jsonc
/// {
///   "file": "policy.cedar",               // next to the configuration; left out: no policy file
///   "allow": ["fs:read_*", "api:*"],      // left out: every tool
///   "deny": ["*:delete_*"],               // wins over allow
///   "ask": ["slack:post_*"], "askTime": "2m",
///   "rate": {
///     "global": "100/s",
///     "perServer": "20/s burst 40",
///     "servers": { "api": "5/s" },
///     "tools": { "api:search_*": "30/min" },
///     "perPrincipal": "50/s", "principals": { "ci": "200/s" },
///     "maxWait": "5s"
///   },
///   "concurrency": {
///     "perServer": 256,
///     "servers": { "api": 8 },
///     "tools": { "*:write_*": 1 },
///     "perPrincipal": 64, "principals": { "ci": 128 },
///     "queue": 4096
///   },
///   "retry": {
///     "attempts": 3, "firstDelay": "100ms", "maxDelay": "5s",
///     "idempotent": ["fs:read_*"],
///     "budget": 0.2
///   },
///   "breaker": {
///     "enabled": true, "window": "30s", "minCalls": 10, "failed": 0.5,
///     "slowCall": "20s", "slow": 0.9,
///     "openFor": "5s", "maxOpenFor": "1m", "probes": 2
///   },
///   "cache": { "tools": { "docs:search_*": "10m" }, "maxEntries": 1000, "maxBytes": "32m" },
///   "budget": { "calls": 100, "tools": { "api:*": 20 }, "time": "5m" }
/// }
/// ```
///
/// Invalid values are refused while the file is read, so building a policy cannot fail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct PolicyConfig {
    /// A file of Cedar policies, relative to the configuration. What it does not permit is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Tools that scripts may call. If absent, all of them; if empty, none.
    pub allow: Option<Vec<ToolGlob>>,
    /// Tools that scripts may not call, whatever `allow` says.
    pub deny: Vec<ToolGlob>,
    /// Tools whose calls the user has to approve. If absent, those that their server marks as
    /// destructive, where the client can ask the user; if empty, none.
    pub ask: Option<Vec<ToolGlob>>,
    /// How long the user has to answer.
    pub ask_time: AskTime,
    /// Rate limits.
    pub rate: RateConfig,
    /// Concurrency limits.
    pub concurrency: BulkheadConfig,
    /// Retries of failed calls.
    pub retry: RetryConfig,
    /// Circuit breakers.
    pub breaker: BreakerConfig,
    /// The result cache.
    pub cache: CacheConfig,
    /// The budget of a run.
    pub budget: BudgetConfig,
}

impl PolicyConfig {
    /// The globs, to be compiled to Cedar policies.
    pub fn glob_rules(&self) -> GlobRules {
        GlobRules {
            allow: self.allow.clone(),
            deny: self.deny.clone(),
            ask: self.ask.clone().unwrap_or_default(),
        }
    }

    /// Equal policies have equal digests; `file` is the text of the policy file.
    pub(crate) fn digest(&self, file: Option<&str>) -> [u8; 32] {
        // A policy is made of texts and numbers, which always become JSON.
        let json = serde_json::to_vec(self).unwrap_or_default();
        let digest = Sha256::new_with_prefix(json);
        digest
            .chain_update(file.unwrap_or_default())
            .finalize()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_is_read_in_full() {
        let json = serde_json::json!({
            "file": "policy.cedar",
            "allow": ["fs:read_*", "api:*"],
            "deny": ["*:delete_*"],
            "ask": ["slack:post_*"], "askTime": "2m",
            "rate": {
                "global": "100/s", "perServer": "20/s burst 40", "servers": {"api": "5/s"},
                "tools": {"api:search_*": "30/min"},
                "perPrincipal": "50/s", "principals": {"ci": "200/s"}, "maxWait": "5s"
            },
            "concurrency": {
                "perServer": 256, "servers": {"api": 8}, "tools": {"*:write_*": 1},
                "perPrincipal": 64, "principals": {"ci": 128}, "queue": 4096
            },
            "retry": {
                "attempts": 3, "firstDelay": "100ms", "maxDelay": "5s",
                "idempotent": ["fs:read_*"], "budget": 0.2
            },
            "breaker": {
                "enabled": true, "window": "30s", "minCalls": 10, "failed": 0.5, "slowCall": "20s",
                "slow": 0.9, "openFor": "5s", "maxOpenFor": "1m", "probes": 2
            },
            "cache": {"tools": {"docs:search_*": "10m"}, "maxEntries": 1000, "maxBytes": "32m"},
            "budget": {"calls": 100, "tools": {"api:*": 20}, "time": "5m"}
        });
        let config: PolicyConfig = serde_json::from_value(json).unwrap();
        let again = serde_json::to_string(&config).unwrap();
        assert_eq!(
            serde_json::from_str::<PolicyConfig>(&again).unwrap(),
            config
        );
    }

    #[test]
    fn an_empty_policy_is_the_default() {
        let config: PolicyConfig = serde_json::from_str("{}").unwrap();
        assert_eq!(config, PolicyConfig::default());
    }

    #[test]
    fn mistakes_are_refused_where_they_stand() {
        for (json, reason) in [
            (r#"{"alow": []}"#, "unknown field `alow`"),
            (r#"{"deny": ["delete"]}"#, "`delete:*`"),
            (r#"{"rate": {"global": "fast"}}"#, "invalid rate `fast`"),
            (r#"{"concurrency": {"perServer": 0}}"#, "nonzero"),
            (r#"{"retry": {"budget": 2}}"#, "invalid ratio `2`"),
            (
                r#"{"breaker": {"window": 30}}"#,
                "invalid duration `30`: add a unit",
            ),
            (r#"{"cache": {"tools": {"docs": "1m"}}}"#, "`docs:*`"),
            (r#"{"budget": {"call": 1}}"#, "unknown field `call`"),
        ] {
            let error = serde_json::from_str::<PolicyConfig>(json)
                .unwrap_err()
                .to_string();
            assert!(error.contains(reason), "{json}: {error}");
        }
    }
}
