//! A client that is a model: everything it is told is scrubbed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pml_gateway::{Gateway, Progress};
use pml_runtime::Limits;
use pml_scrub::Scrubber;
use pml_search::Search;

use crate::approval::{Approver, Gate};
use crate::run::Run;
use crate::session::{Session, SessionOptions};
use crate::storage::Storage;
use crate::told::Outlet;

/// What a client is made with.
pub struct ClientOptions {
    pub gateway: Gateway,
    /// Clients over the same gateway share one.
    pub search: Search,
    pub scrubber: Arc<Scrubber>,
    /// Set where somebody asked for one: a server's own time limit holds otherwise.
    pub tool_timeout: Option<Duration>,
}

/// One connected client. Cheap to clone; the clones are the same client.
#[derive(Clone)]
pub struct Client {
    session: Session,
    outlet: Outlet,
}

impl Client {
    pub fn new(options: ClientOptions) -> Self {
        let names = Arc::new(Mutex::new(pml_scrub::Session::new(options.scrubber)));
        let storage = Arc::<Storage>::default();
        let session = Session::with(
            SessionOptions {
                gateway: options.gateway,
                search: options.search,
                scrubber: None,
                tool_timeout: options.tool_timeout,
            },
            Some(names.clone()),
            storage.clone(),
        );
        let outlet = Outlet::new(names, storage);
        Self { session, outlet }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The one way out.
    pub fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    /// A run that asks `approver` before it calls what the operator wants to be asked about.
    pub fn run(
        &self,
        limits: &Limits,
        approver: Arc<dyn Approver>,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Run {
        let time = self.session.gateway().approval_time();
        let gate = Gate::new(approver, time);
        let outlet = self.outlet.clone();
        self.session.run(limits, progress).asking(gate, outlet)
    }

    /// The limits for the runtime's side of a run: a result that is too large to show is kept
    /// here, so the worker may hand over as much as a message carries.
    pub fn runtime_limits(limits: Limits) -> Limits {
        Limits {
            output_chars: u64::MAX,
            ..Session::runtime_limits(limits)
        }
    }
}
