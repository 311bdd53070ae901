//! All guards of a configuration.

use std::sync::Arc;
use std::time::Duration;

use pml_protocol::{GuardNote, GuardVerdict};
use serde_json::Value;

use crate::call::{Answer, GuardedCall};
use crate::coerce::coerce;
use crate::config::{GuardsConfig, GuardsError, Preset};
use crate::guard::{Guard, InForce, Verdict};
use crate::name::GuardName;
use crate::network::{NamedHosts, NetworkGuard};
use crate::rules::{
    ContractGuard, EffectGuard, OutputGuard, PreconditionsGuard, ProvenanceGuard, ReferencesGuard,
    RetryGuard, RunawayGuard, SaturationGuard, SchemaGuard, SensitiveGuard, ShapeGuard, TimeGuard,
};
use crate::settings::{Rules, Settings};

/// How often a name is resolved before a call: a name that changes between two lookups is refused.
const LOOKUPS_BEFORE: usize = 2;

/// The guards that are in force. A guard that is off for every tool is not asked.
///
/// ```
/// use pml_guards::{Guards, GuardsConfig};
///
/// let config: GuardsConfig = serde_json::from_str(r#"{ "preset": "strict" }"#)?;
/// let guards = Guards::new(&config)?;
/// assert!(guards.in_force("fs:read_file").iter().any(|rule| rule.guard.as_str() == "network"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Guards {
    preset: Preset,
    schema: Arc<SchemaGuard>,
    network: Arc<NetworkGuard>,
    time: Arc<TimeGuard>,
    /// In the order of [`GuardName`].
    all: Vec<Arc<dyn Guard>>,
}

/// A call, or an answer, that a guard blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The guard.
    pub guard: GuardName,
    /// Why, as the rest of a sentence.
    pub reason: String,
}

/// Names of a call that are resolved before it is sent and again when it is answered.
#[derive(Debug, Clone)]
pub struct Lookups(NamedHosts);

impl Guards {
    /// The guards of a configuration.
    ///
    /// # Errors
    /// A setting is invalid; the error says which.
    pub fn new(config: &GuardsConfig) -> Result<Self, GuardsError> {
        let schema = Arc::new(SchemaGuard(read(config)?));
        let network = Arc::new(NetworkGuard(read(config)?));
        let time = Arc::new(TimeGuard(read(config)?));
        let mut all: Vec<Arc<dyn Guard>> = Vec::new();
        add(&mut all, &schema.0, schema.clone());
        let references = ReferencesGuard(read(config)?);
        if references.0.is_used() {
            all.push(Arc::new(references));
        }
        let sensitive = read(config)?;
        if Rules::is_used(&sensitive) {
            all.push(Arc::new(SensitiveGuard::new(sensitive)?));
        }
        add(&mut all, &network.0, network.clone());
        let effect = EffectGuard(read(config)?);
        if effect.0.is_used() {
            all.push(Arc::new(effect));
        }
        all.push(Arc::new(PreconditionsGuard(read(config)?)));
        all.push(Arc::new(ProvenanceGuard::new(read(config)?)));
        all.push(Arc::new(RetryGuard(read(config)?)));
        all.push(Arc::new(RunawayGuard(read(config)?)));
        all.push(Arc::new(ShapeGuard(read(config)?)));
        add(&mut all, &time.0, time.clone());
        all.push(Arc::new(OutputGuard(read(config)?)));
        all.push(Arc::new(ContractGuard(read(config)?)));
        all.push(Arc::new(SaturationGuard(read(config)?)));
        Ok(Self {
            preset: config.preset,
            schema,
            network,
            time,
            all,
        })
    }

    /// The preset.
    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// The rules that are in force for a tool.
    pub fn in_force(&self, tool: &str) -> Vec<InForce> {
        self.all
            .iter()
            .filter_map(|guard| guard.in_force(tool))
            .collect()
    }

    /// The longest time of one attempt of a call.
    pub fn time_limit(&self, tool: &str) -> Option<Duration> {
        self.time.limit(tool)
    }

    /// Whether [`Guards::coerce`] changes arguments of a tool.
    pub fn coerces(&self, tool: &str) -> bool {
        self.schema.coerces(tool)
    }

    /// Converts arguments whose type nearly fits, before they are checked against the schema.
    pub fn coerce(&self, tool: &str, schema: &Value, arguments: &mut Value) -> Option<GuardNote> {
        let places = match self.coerces(tool) {
            true => coerce(schema, arguments),
            false => Vec::new(),
        };
        let first = places.first()?;
        let reason = format!("the type of `{first}` nearly fits its schema and is converted");
        Some(note(GuardName::Schema, GuardVerdict::Repair, reason))
    }

    /// Looks at a call before it is sent. What the guards say goes into `notes`.
    ///
    /// # Errors
    /// A guard blocks the call.
    pub fn before(
        &self,
        call: &mut GuardedCall<'_>,
        notes: &mut Vec<GuardNote>,
    ) -> Result<(), Blocked> {
        self.all
            .iter()
            .try_for_each(|guard| conclude(guard.name(), guard.before(call), notes))
    }

    /// The names in a call that have to be resolved.
    pub fn lookups(&self, call: &GuardedCall<'_>) -> Option<Lookups> {
        self.network.named_hosts(call).map(Lookups)
    }

    /// Resolves names before a call is sent.
    ///
    /// # Errors
    /// The network guard blocks the call.
    pub async fn look_up(
        &self,
        lookups: &Lookups,
        notes: &mut Vec<GuardNote>,
    ) -> Result<(), Blocked> {
        let verdict = self.network.look_up(&lookups.0, LOOKUPS_BEFORE).await;
        conclude(GuardName::Network, verdict, notes)
    }

    /// Resolves names again when the call is answered: the tool has resolved them in between.
    ///
    /// # Errors
    /// The network guard withholds the answer.
    pub async fn look_up_again(
        &self,
        lookups: &Lookups,
        notes: &mut Vec<GuardNote>,
    ) -> Result<(), Blocked> {
        let verdict = self.network.look_up(&lookups.0, 1).await;
        conclude(GuardName::Network, verdict, notes)
    }

    /// Looks at an answer. What the guards say goes into `notes`.
    ///
    /// # Errors
    /// A guard withholds the answer.
    pub fn after(
        &self,
        answer: &mut Answer<'_>,
        notes: &mut Vec<GuardNote>,
    ) -> Result<(), Blocked> {
        self.all
            .iter()
            .try_for_each(|guard| conclude(guard.name(), guard.after(answer), notes))
    }
}

fn add<S: Settings>(all: &mut Vec<Arc<dyn Guard>>, rules: &Rules<S>, guard: Arc<dyn Guard>) {
    if rules.is_used() {
        all.push(guard);
    }
}

fn read<S: Settings>(config: &GuardsConfig) -> Result<Rules<S>, GuardsError> {
    Rules::read(config.preset, config.guards.get(&S::NAME))
}

fn note(guard: GuardName, verdict: GuardVerdict, reason: String) -> GuardNote {
    GuardNote {
        guard: guard.as_str().to_owned(),
        verdict,
        reason,
    }
}

fn conclude(guard: GuardName, verdict: Verdict, notes: &mut Vec<GuardNote>) -> Result<(), Blocked> {
    match verdict {
        Verdict::Allow => Ok(()),
        Verdict::Warn(reason) => {
            notes.push(note(guard, GuardVerdict::Warn, reason));
            Ok(())
        }
        Verdict::Repair(reason) => {
            notes.push(note(guard, GuardVerdict::Repair, reason));
            Ok(())
        }
        Verdict::Block(reason) => {
            notes.push(note(guard, GuardVerdict::Block, reason.clone()));
            Err(Blocked { guard, reason })
        }
    }
}
