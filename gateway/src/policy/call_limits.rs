//! What slows or refuses the calls of one tool, for estimates: nothing is spent or reserved.

use std::time::Duration;

use super::Policy;
use super::breaker::BreakerState;
use super::globs::server_of;
use super::rate::Rate;

/// The limits of the operator that apply to one tool.
#[derive(Debug, Clone)]
pub struct CallLimits {
    /// Calls at once: what has the limit, and how many.
    pub slots: Vec<(String, u32)>,
    /// Calls in a time: what has the limit, and how many.
    pub rates: Vec<(String, Rate)>,
    /// Calls at once of the principal, of all tools.
    pub principal_slots: Option<u32>,
    /// Calls of the principal in a time, of all tools.
    pub principal_rate: Option<Rate>,
    /// The longest that a call waits for its rate.
    pub max_wait: Duration,
    /// The state of the circuit breaker of its server.
    pub breaker: BreakerState,
    /// The share of unanswered calls that opens the breaker; `None` if there is none.
    pub opens_at: Option<f64>,
}

impl<R> Policy<R> {
    /// The limits that apply to calls of a tool by a principal.
    pub fn limits_of(&self, principal: &str, id: &str) -> CallLimits {
        CallLimits {
            slots: self.bulkhead.sizes(id),
            rates: self.rate.rates(id),
            principal_slots: self.bulkhead.size_of_principal(principal),
            principal_rate: self.rate.rate_of_principal(principal),
            max_wait: self.rate.max_wait(),
            breaker: self.breakers.state(server_of(id)),
            opens_at: self.breakers.opens_at(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_limits_of_a_tool_are_those_that_cover_it() {
        let config = serde_json::json!({
            "rate": { "servers": { "api": "5/s burst 9" }, "tools": { "*:write_*": "1/s" }, "maxWait": "2s" },
            "concurrency": { "perServer": 7, "tools": { "*:write_*": 1 } },
        });
        let policy: Policy = Policy::new(&serde_json::from_value(config).unwrap());
        let limits = policy.limits_of("local", "api:write_x");
        let slots = [
            ("tools `*:write_*`".to_owned(), 1),
            ("server `api`".to_owned(), 7),
        ];
        assert_eq!(limits.slots, slots);
        let names: Vec<&str> = limits.rates.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["server `api`", "tools `*:write_*`"]);
        assert_eq!(limits.max_wait, Duration::from_secs(2));
        assert_eq!(
            (limits.breaker, limits.opens_at),
            (BreakerState::Closed, Some(0.5))
        );
        assert_eq!(policy.limits_of("local", "fs:read").rates.len(), 0);
    }
}
