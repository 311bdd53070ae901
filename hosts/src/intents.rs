//! Intents of calls, which are on disk before the calls are sent, and the idempotency keys of calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use pml_gateway::{BeforeSend, CallError, CallErrorKind, Effect};
use pml_protocol::{Request, RequestKey, RunContext};

use crate::journal::{RunJournal, digest_of};

/// The intents of one run.
pub struct Intents {
    journal: Option<Arc<RunJournal>>,
    /// How often each call was made, in a run without a journal.
    occurrences: Mutex<HashMap<[u8; 32], u32>>,
}

impl Intents {
    pub fn new(journal: Option<Arc<RunJournal>>) -> Self {
        Self {
            journal,
            occurrences: Mutex::default(),
        }
    }

    /// The idempotency key of a call: the same in every execution of the run, and different for every
    /// call of it.
    pub fn idempotency_key(&self, request: &Request, run: &RunContext) -> String {
        let key = run
            .request_key()
            .unwrap_or_else(|| self.unjournaled_key(request));
        let mut hasher = blake3::Hasher::new_derive_key("pml idempotency key of a tool call 1");
        hasher.update(run.tenant().as_str().as_bytes());
        hasher.update(&[0]);
        hasher.update(run.id().as_str().as_bytes());
        hasher.update(&[0]);
        hasher.update(&key.digest);
        hasher.update(&key.occurrence.to_le_bytes());
        let digest = hasher.finalize().to_hex();
        digest[..32].to_owned()
    }

    fn unjournaled_key(&self, request: &Request) -> RequestKey {
        let digest = digest_of(request);
        // A counter is whole after a panic.
        let mut counts = self
            .occurrences
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(digest).or_default();
        *count += 1;
        RequestKey {
            number: 0,
            digest,
            occurrence: *count - 1,
        }
    }

    /// The intent of a call.
    pub fn of<'a>(
        &'a self,
        request: &'a Request,
        tool: &'a str,
        run: &'a RunContext,
    ) -> Intent<'a> {
        Intent {
            journal: self.journal.as_deref(),
            request,
            tool,
            run,
        }
    }
}

/// The intent of one call.
pub struct Intent<'a> {
    journal: Option<&'a RunJournal>,
    request: &'a Request,
    tool: &'a str,
    run: &'a RunContext,
}

impl BeforeSend for Intent<'_> {
    fn before_send<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<(), CallError>> {
        let (Some(journal), Some(key)) = (self.journal, self.run.request_key()) else {
            return std::future::ready(Ok(())).boxed();
        };
        async move {
            let control = self.run.control();
            let intended = journal.intend(key.number, self.request, effect.class, control);
            intended.await.map_err(|failure| {
                CallError::permanent(CallErrorKind::Internal, self.tool, failure.message)
            })
        }
        .boxed()
    }
}
