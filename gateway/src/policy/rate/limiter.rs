//! All token buckets of a policy.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_guards::GuardName;
use tokio::time::{Instant, sleep};

use super::bucket::Bucket;
use super::config::{Rate, RateConfig};
use crate::policy::globs::{ToolGlob, server_of};
use crate::policy::refusal::{Refusal, RefusalKind};

/// Decides when a call may be sent.
#[derive(Debug)]
pub struct RateLimiter {
    config: RateConfig,
    buckets: Mutex<Buckets>,
}

#[derive(Debug)]
struct Buckets {
    global: Option<Bucket>,
    /// Filled at a server's first call. Only configured servers have an entry, so a script cannot
    /// grow this map.
    servers: HashMap<String, Bucket>,
    tools: Vec<(ToolGlob, Bucket)>,
    /// Filled at a principal's first call. Full buckets are dropped when they are many: a new one is
    /// full as well.
    principals: HashMap<String, Bucket>,
}

/// Principals whose buckets are kept when they are full.
const MAX_PRINCIPALS: usize = 10_000;

/// What the rates of a call depend on.
#[derive(Debug, Clone, Copy)]
struct RatedCall<'a> {
    /// `None` if only the rates of the tool count.
    principal: Option<&'a str>,
    id: &'a str,
}

impl RateLimiter {
    /// Full buckets with the rates of a configuration.
    pub fn new(config: &RateConfig) -> Self {
        let now = Instant::now();
        Self {
            buckets: Mutex::new(Buckets {
                global: config.global.map(|rate| Bucket::full(rate, now)),
                servers: HashMap::new(),
                tools: config
                    .tools
                    .iter()
                    .map(|(glob, rate)| (glob.clone(), Bucket::full(*rate, now)))
                    .collect(),
                principals: HashMap::new(),
            }),
            config: config.clone(),
        }
    }

    /// Waits until the call may be sent.
    ///
    /// # Errors
    /// The wait would be longer than `maxWait`. The error comes at once.
    ///
    /// # Cancel safety
    /// Dropping the future returns the tokens.
    pub async fn admit(&self, id: &str) -> Result<(), Refusal> {
        self.admit_for(None, id).await
    }

    /// [`RateLimiter::admit`] for a call of a principal.
    ///
    /// # Errors
    /// The wait would be longer than `maxWait`. The error comes at once.
    ///
    /// # Cancel safety
    /// Dropping the future returns the tokens.
    pub async fn admit_for(&self, principal: Option<&str>, id: &str) -> Result<(), Refusal> {
        let call = RatedCall { principal, id };
        let wait = self.reserve(call)?;
        if wait.is_zero() {
            return Ok(());
        }
        let mut turn = Turn {
            limiter: self,
            call,
            taken: false,
        };
        sleep(wait).await;
        turn.taken = true;
        Ok(())
    }

    /// Takes a token from every bucket of the call. Returns how long to wait before using it.
    fn reserve(&self, call: RatedCall<'_>) -> Result<Duration, Refusal> {
        let now = Instant::now();
        let mut buckets = self.lock();
        let mut wait = Duration::ZERO;
        let mut slowest = None;
        buckets.covering(&self.config, call, now, |scope, bucket| {
            let own = bucket.wait(now);
            if own > wait {
                wait = own;
                slowest = Some((scope.to_string(), bucket.rate()));
            }
        });
        if let Some((scope, rate)) = slowest.filter(|_| wait > self.config.max_wait.get()) {
            return Err(too_fast(call.id, &scope, rate, wait));
        }
        buckets.covering(&self.config, call, now, |_, bucket| bucket.draw());
        Ok(wait)
    }

    /// The rates that cover a tool, and what each is for.
    pub fn rates(&self, id: &str) -> Vec<(String, Rate)> {
        let server = server_of(id);
        let of_server = self.config.servers.get(server);
        let of_server = of_server.or(self.config.per_server.as_ref());
        let of_server = of_server.map(|rate| (Scope::Server(server).to_string(), *rate));
        let global = self
            .config
            .global
            .map(|rate| (Scope::Global.to_string(), rate));
        let tools = self.config.tools.iter();
        let tools = tools.filter(|(glob, _)| glob.matches(id));
        let tools = tools.map(|(glob, rate)| (Scope::Tools(glob).to_string(), *rate));
        global.into_iter().chain(of_server).chain(tools).collect()
    }

    /// The rate of a principal, if it is limited.
    pub fn rate_of_principal(&self, principal: &str) -> Option<Rate> {
        let rate = self.config.principals.get(principal);
        rate.or(self.config.per_principal.as_ref()).copied()
    }

    /// The longest that a call waits.
    pub fn max_wait(&self) -> Duration {
        self.config.max_wait.get()
    }

    fn give_back(&self, call: RatedCall<'_>) {
        let now = Instant::now();
        self.lock()
            .covering(&self.config, call, now, |_, bucket| bucket.give_back());
    }

    fn lock(&self) -> MutexGuard<'_, Buckets> {
        // The counts stay valid if a thread panics with the lock.
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buckets {
    /// Visits every bucket that covers the call.
    fn covering(
        &mut self,
        config: &RateConfig,
        call: RatedCall<'_>,
        now: Instant,
        mut visit: impl FnMut(Scope<'_>, &mut Bucket),
    ) {
        if let Some(bucket) = &mut self.global {
            visit(Scope::Global, bucket);
        }
        let RatedCall { principal, id } = call;
        if let Some(name) = principal {
            self.principal(config, name, now, &mut visit);
        }
        let server = server_of(id);
        if let Some(bucket) = self.servers.get_mut(server) {
            visit(Scope::Server(server), bucket);
        } else if let Some(rate) = config.servers.get(server).or(config.per_server.as_ref()) {
            let bucket = self
                .servers
                .entry(server.to_owned())
                .or_insert_with(|| Bucket::full(*rate, now));
            visit(Scope::Server(server), bucket);
        }
        for (glob, bucket) in &mut self.tools {
            if glob.matches(id) {
                visit(Scope::Tools(glob), bucket);
            }
        }
    }

    fn principal(
        &mut self,
        config: &RateConfig,
        name: &str,
        now: Instant,
        visit: &mut impl FnMut(Scope<'_>, &mut Bucket),
    ) {
        let rate = config
            .principals
            .get(name)
            .or(config.per_principal.as_ref());
        let Some(rate) = rate else {
            return;
        };
        if !self.principals.contains_key(name) {
            if self.principals.len() >= MAX_PRINCIPALS {
                self.principals.retain(|_, bucket| !bucket.is_full(now));
            }
            self.principals
                .insert(name.to_owned(), Bucket::full(*rate, now));
        }
        if let Some(bucket) = self.principals.get_mut(name) {
            visit(Scope::Principal(name), bucket);
        }
    }
}

#[derive(Clone, Copy)]
enum Scope<'a> {
    Global,
    Server(&'a str),
    Tools(&'a ToolGlob),
    Principal(&'a str),
}

impl std::fmt::Display for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Global => f.write_str("all calls together"),
            Self::Server(server) => write!(f, "server `{server}`"),
            Self::Tools(glob) => write!(f, "tools `{glob}`"),
            Self::Principal(name) => write!(f, "principal `{name}`"),
        }
    }
}

fn too_fast(id: &str, scope: &str, rate: Rate, wait: Duration) -> Refusal {
    Refusal::transient(
        RefusalKind::Calls,
        format!(
            "`{id}` was not called: {scope} may be called {rate}; make fewer calls or try again later"
        ),
        Some(wait),
    )
    .of(GuardName::Limits)
}

/// Tokens of a waiting call, which are returned if it is dropped before its time.
///
/// Calls that already wait keep their times, so the next call may be sent together with the last of
/// them: never more calls than tokens, but for a moment closer together than the burst allows.
struct Turn<'a> {
    limiter: &'a RateLimiter,
    call: RatedCall<'a>,
    taken: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.taken {
            self.limiter.give_back(self.call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    fn limiter(json: serde_json::Value) -> RateLimiter {
        RateLimiter::new(&serde_json::from_value(json).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn each_principal_has_a_rate_of_its_own_for_all_tools() {
        let limiter = limiter(serde_json::json!({
            "perPrincipal": "1/min", "principals": { "ci": "2/min" }, "maxWait": "1s"
        }));
        for (principal, calls) in [("ci", 2), ("eve", 1), ("acme/ci", 1)] {
            for tool in ["a:x", "b:y"].into_iter().cycle().take(calls) {
                limiter.admit_for(Some(principal), tool).await.unwrap();
            }
            let refused = limiter.admit_for(Some(principal), "c:z").await.unwrap_err();
            assert!(
                refused
                    .message
                    .contains(&format!("principal `{principal}`")),
                "{refused}"
            );
            assert_eq!(refused.guard, Some(GuardName::Limits));
        }
        limiter.admit("a:x").await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_limited_unless_it_is_configured() {
        let limiter = limiter(serde_json::json!({}));
        let start = Instant::now();
        for _ in 0..10_000 {
            limiter.admit("fs:read").await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_past_the_burst_waits_for_a_token() {
        let limiter = limiter(serde_json::json!({"global": "10/s burst 2"}));
        let start = Instant::now();
        for _ in 0..4 {
            limiter.admit("fs:read").await.unwrap();
        }
        let waited = start.elapsed();
        assert!((190..=210).contains(&waited.as_millis()), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_would_wait_too_long_is_refused_with_the_time() {
        let limiter = limiter(serde_json::json!({"servers": {"api": "1/min"}, "maxWait": "5s"}));
        limiter.admit("api:search").await.unwrap();
        let refusal = limiter.admit("api:search").await.unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Calls);
        assert!(refusal.retryable);
        assert_eq!(refusal.retry_after_ms, Some(60_000));
        assert!(
            refusal.message.contains("server `api`"),
            "{}",
            refusal.message
        );
        // Refused calls take no token: after the time in the message, the next call is admitted.
        tokio::time::advance(Duration::from_millis(60_000)).await;
        limiter.admit("api:search").await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn each_server_has_its_own_bucket() {
        let limiter = limiter(serde_json::json!({"perServer": "1/h", "maxWait": "0s"}));
        limiter.admit("a:x").await.unwrap();
        limiter.admit("b:x").await.unwrap();
        assert!(limiter.admit("a:y").await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn tools_of_one_glob_share_its_rate() {
        let limiter = limiter(serde_json::json!({"tools": {"*:write_*": "1/h"}, "maxWait": "0s"}));
        limiter.admit("a:write_x").await.unwrap();
        assert!(limiter.admit("b:write_y").await.is_err());
        limiter.admit("b:read").await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_refused_by_one_bucket_takes_nothing_from_the_others() {
        let limiter =
            limiter(serde_json::json!({"global": "2/h", "tools": {"a:x": "1/h"}, "maxWait": "0s"}));
        limiter.admit("a:x").await.unwrap();
        assert!(limiter.admit("a:x").await.is_err());
        limiter.admit("a:y").await.unwrap();
        assert!(limiter.admit("a:y").await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_stops_waiting_returns_its_token() {
        let limiter = limiter(serde_json::json!({"global": "1/s", "maxWait": "1m"}));
        limiter.admit("a:x").await.unwrap();
        for _ in 0..20 {
            let left = timeout(Duration::from_millis(1), limiter.admit("a:x")).await;
            assert!(left.is_err());
        }
        let start = Instant::now();
        limiter.admit("a:x").await.unwrap();
        assert!(start.elapsed() <= Duration::from_secs(1));
    }
}
