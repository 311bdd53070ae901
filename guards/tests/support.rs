//! A session that makes calls through guards.

use std::time::{Duration, Instant};

use pml_guards::{
    Answer, Blocked, CallKey, CallShape, GuardName, GuardedCall, Guards, GuardsConfig, History,
    Lookups,
};
use pml_protocol::{EffectClass, GuardNote, GuardVerdict};
use serde_json::{Value, json};

pub struct Session {
    pub guards: Guards,
    pub history: History,
    pub effect: EffectClass,
    pub schema: Value,
    pub shape: CallShape,
    pub is_dry_run: bool,
    pub has_own_key: bool,
    pub is_offer: bool,
    pub took: Duration,
    /// What the contract of the tool says about answers.
    pub contract: Result<(), String>,
}

/// What became of a call or an answer.
#[derive(Debug)]
pub struct Judged {
    pub blocked: Option<Blocked>,
    pub notes: Vec<GuardNote>,
    pub value: Value,
}

impl Judged {
    pub fn is_blocked_by(&self, guard: GuardName) -> bool {
        self.blocked
            .as_ref()
            .is_some_and(|blocked| blocked.guard == guard)
    }

    pub fn verdicts(&self) -> Vec<(&str, GuardVerdict)> {
        self.notes
            .iter()
            .map(|note| (note.guard.as_str(), note.verdict))
            .collect()
    }

    pub fn text(&self) -> String {
        self.notes.iter().map(|note| format!("{note}\n")).collect()
    }
}

impl Session {
    pub fn new(config: Value) -> Self {
        let config: GuardsConfig = serde_json::from_value(config).unwrap();
        Self {
            guards: Guards::new(&config).unwrap(),
            history: History::default(),
            effect: EffectClass::Read,
            schema: json!({}),
            shape: CallShape {
                chain: 1,
                in_flight: 1,
            },
            is_dry_run: false,
            has_own_key: false,
            is_offer: false,
            took: Duration::ZERO,
            contract: Ok(()),
        }
    }

    /// The guards without all others: each is off unless it is named.
    pub fn only(guard: &str, settings: Value) -> Self {
        let mut config = json!({});
        for name in GuardName::ALL {
            if name.configured_by().is_none() {
                config[name.as_str()] = json!("off");
            }
        }
        config[guard] = settings;
        Self::new(config)
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Judged {
        self.call_then(tool, arguments, |_| ()).0
    }

    /// The names of a call that have to be resolved.
    pub fn lookups(&self, tool: &str, arguments: Value) -> Option<Lookups> {
        self.call_then(tool, arguments, |call| self.guards.lookups(call))
            .1
    }

    fn call_then<T>(
        &self,
        tool: &str,
        arguments: Value,
        then: impl FnOnce(&GuardedCall<'_>) -> T,
    ) -> (Judged, T) {
        let (mut notes, mut value) = (Vec::new(), arguments);
        let key = CallKey::new(tool, &value);
        let mut call = GuardedCall {
            tool,
            effect: self.effect,
            has_own_key: self.has_own_key,
            is_offer: self.is_offer,
            input_schema: &self.schema,
            arguments: &mut value,
            key,
            history: &self.history,
            shape: self.shape,
            is_dry_run: self.is_dry_run,
        };
        let blocked = self.guards.before(&mut call, &mut notes).err();
        let then = then(&call);
        let judged = Judged {
            blocked,
            notes,
            value,
        };
        (judged, then)
    }

    pub fn answer(&self, tool: &str, arguments: &Value, value: Value) -> Judged {
        let (mut notes, mut value) = (Vec::new(), value);
        let contract = |_: &Value| self.contract.clone();
        let mut answer = Answer {
            tool,
            key: CallKey::new(tool, arguments),
            value: &mut value,
            took: self.took,
            history: &self.history,
            contract: &contract,
        };
        let blocked = self.guards.after(&mut answer, &mut notes).err();
        Judged {
            blocked,
            notes,
            value,
        }
    }
}

/// The error of a configuration.
pub fn mistake(config: Value) -> String {
    match serde_json::from_value::<GuardsConfig>(config) {
        Err(error) => error.to_string(),
        Ok(config) => match Guards::new(&config) {
            Err(error) => error.to_string(),
            Ok(_) => "none".to_owned(),
        },
    }
}

/// Asserts that a call with four times the text takes about four times as long, not sixteen times.
#[track_caller]
pub fn assert_linear(session: &Session, of: impl Fn(usize) -> String) {
    const KIB: usize = 1 << 10;
    let time = |bytes: usize| {
        let arguments = json!({ "text": of(bytes) });
        let start = Instant::now();
        session.call("s:t", arguments);
        start.elapsed()
    };
    let one = time(128 * KIB).min(time(128 * KIB));
    let four = time(512 * KIB).min(time(512 * KIB));
    // Room for a busy machine.
    let limit = one * 10 + Duration::from_secs(1);
    assert!(four < limit, "{one:?}, then {four:?}: {:.20}", of(20));
}
