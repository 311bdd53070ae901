//! What is known of one source: its values, how long they are used, and whether they were rejected.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::secret::Secret;

/// The part of a lease after which it is renewed, or its secret is read anew.
const RENEW_AFTER: f64 = 2.0 / 3.0;
/// How long a value is used on after its source did not answer: at least this, and with a lease no
/// longer. The wait for a source that hangs must not be that of every request.
const PAUSE: Duration = Duration::from_secs(10);
/// A value that was rejected, and that its source still gives, is not asked for again within this: a
/// server that rejects everything must not load the source.
const MIN_BETWEEN_REJECTIONS: Duration = Duration::from_secs(5);

/// The fields of a source, by name; a source with one value has it under the empty name.
pub type Fields = BTreeMap<String, Zeroizing<String>>;

/// The lease of a value of Vault.
#[derive(Debug, Clone)]
pub struct Lease {
    pub id: String,
    pub duration: Duration,
    pub is_renewable: bool,
}

/// What a source gave.
pub struct Read {
    pub fields: Fields,
    pub lease: Option<Lease>,
}

/// The values of a source that are kept.
pub struct Cached {
    pub secrets: BTreeMap<String, Secret>,
    pub lease: Option<Lease>,
    fresh_until: Instant,
    rejected: Option<Instant>,
}

impl Cached {
    /// Keeps what was read. A field with the same value keeps its version.
    pub fn new(read: Read, ttl: Duration, before: Option<&Self>, next: impl Fn() -> u64) -> Self {
        let same = |name: &str, value: &str| {
            let known = before?.secrets.get(name)?;
            (known.value() == value).then(|| known.clone())
        };
        let secrets = read.fields.into_iter().map(|(name, value)| {
            let secret = same(&name, &value).unwrap_or_else(|| Secret::new(value, next()));
            (name, secret)
        });
        let kept = read.lease.as_ref().map_or(ttl, used_for);
        Self {
            secrets: secrets.collect(),
            fresh_until: Instant::now() + kept,
            lease: read.lease,
            rejected: None,
        }
    }

    /// Whether the values are used without asking the source.
    pub fn is_fresh(&self) -> bool {
        Instant::now() < self.fresh_until
    }

    /// When the source is asked next, if the values have a lease.
    pub fn lease_due(&self) -> Option<Instant> {
        self.lease.as_ref().map(|_| self.fresh_until)
    }

    /// The lease was renewed for `duration`.
    pub fn renewed(&mut self, duration: Duration) {
        if let Some(lease) = &mut self.lease {
            lease.duration = duration;
            self.fresh_until = Instant::now() + used_for(lease);
        }
    }

    /// The source did not answer.
    pub fn kept_on(&mut self, ttl: Duration) {
        let pause = match self.lease {
            Some(_) => PAUSE,
            None => ttl.max(PAUSE),
        };
        self.fresh_until = Instant::now() + pause;
    }

    /// A server rejected the current values. Returns whether the source is asked for others.
    pub fn may_be_asked_again(&self) -> bool {
        self.rejected
            .is_none_or(|at| at.elapsed() >= MIN_BETWEEN_REJECTIONS)
    }

    /// The source was asked because of a rejection, and gave the same values.
    pub fn still_rejected(&mut self) {
        self.rejected = Some(Instant::now());
    }
}

fn used_for(lease: &Lease) -> Duration {
    lease.duration.mul_f64(RENEW_AFTER)
}
