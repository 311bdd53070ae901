//! The stack of a durable run over a gateway with a real server and a real store: what needs approval
//! waits for it, and is sent once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pml_approvals::{ApprovalRules, Approvals};
use pml_protocol::{
    ErrorKind, FailureKind, Limits, Principal, Request, RunContext, RunId, SessionId, TenantId,
    ToolHost,
};
use pml_store::{ApprovalFilter, ApprovalState, Store, StoreOptions, StoreUrl, StoredApproval};

use crate::journal::{DurableScript, DurableSpec, NewRunInfo, RunJournal};
use crate::stack::{self, LiveRun};
use crate::stack_tests::{FixedApprover, Fixture, method_at_server, placeholders, requests};
use crate::{Approver, Decision, IfUnasked, Person, SessionStorage, StaticHost};

/// How long a request that waits for a person is watched.
const WATCHED: Duration = Duration::from_millis(400);

struct Durable {
    fixture: Fixture,
    approvals: Approvals,
    runs: AtomicUsize,
}

/// A run of its own, and its context.
struct DurableRun {
    host: Arc<dyn ToolHost>,
    context: RunContext,
}

impl Durable {
    async fn new(rules: ApprovalRules) -> Self {
        let fixture = Fixture::new();
        let folder = fixture.folder.path().join("store");
        let url = StoreUrl::Sqlite(folder.join("pml.db"));
        let store = Store::open(StoreOptions::new(url, folder)).await.unwrap();
        Self {
            fixture,
            approvals: Approvals::new(store, Arc::new(rules), None),
            runs: AtomicUsize::new(0),
        }
    }

    async fn run(&self, approver: Arc<dyn Approver>) -> DurableRun {
        let number = self.runs.fetch_add(1, Ordering::SeqCst);
        let id: RunId = format!("run-{number}").parse().unwrap();
        let info = NewRunInfo {
            tenant: TenantId::local(),
            id: id.clone(),
            principal: Principal::local().as_str().to_owned(),
            origin: "test".to_owned(),
            task_ttl: None,
        };
        let script = DurableScript {
            name: "a.ts".to_owned(),
            source: "1".to_owned(),
            args: Vec::new(),
            file: None,
            is_workflow: false,
        };
        let spec = DurableSpec::new(script, Limits::default());
        let placeholders = placeholders().await;
        let gateway = self.fixture.gateway.clone();
        let rules = self.approvals.rules().clone();
        let host = stack::live(LiveRun {
            person: Some(Person::new(
                approver,
                &gateway,
                placeholders.clone(),
                IfUnasked::Send,
                rules,
            )),
            gateway,
            search: Arc::new(StaticHost::empty()),
            storage: Arc::new(SessionStorage::default()),
            placeholders: Some(placeholders),
            script_observer: None,
            observers: Vec::new(),
            limits: Limits::default(),
            tool_timeout: None,
            journal: Some(RunJournal::begin(self.approvals.store(), info, spec)),
            approvals: Some(self.approvals.clone()),
            telemetry: None,
            costs: Default::default(),
            suspensions: Default::default(),
            speculated: None,
            audit: None,
            progress: Arc::new(|_| {}),
        });
        let context = RunContext::with_id(
            id,
            SessionId::random(),
            TenantId::local(),
            Principal::local(),
        );
        DurableRun { host, context }
    }

    async fn open(&self) -> Vec<StoredApproval> {
        let filter = ApprovalFilter {
            states: vec![ApprovalState::Open],
            ..ApprovalFilter::default()
        };
        let (store, tenant) = (self.approvals.store(), TenantId::local());
        store.approvals(&tenant, &filter).await.unwrap()
    }

    /// Asserts that a request waits for approval, and returns the question.
    async fn waits(&self, run: &DurableRun, request: &Request) -> StoredApproval {
        let context = run.context.for_request();
        let asked = async {
            while self.open().await.is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(WATCHED).await;
        };
        tokio::select! {
            answer = run.host.handle(request, &context) => panic!("{request:?} does not wait: {answer:?}"),
            waited = tokio::time::timeout(Duration::from_secs(30), asked) => assert!(waited.is_ok(), "{request:?} is not asked about"),
        }
        let mut open = self.open().await;
        assert_eq!(open.len(), 1, "{request:?}");
        assert!(self.fixture.take_received().is_empty(), "{request:?}");
        open.remove(0)
    }
}

fn asking_requests() -> impl Iterator<Item = (Request, &'static str)> {
    let method = |request: Request| method_at_server(&request).map(|method| (request, method));
    requests().into_iter().filter_map(method)
}

fn cannot_ask() -> Arc<FixedApprover> {
    Arc::new(FixedApprover {
        decision: Decision::AllowAll,
        can_ask: false,
        asked: AtomicUsize::new(0),
    })
}

#[tokio::test]
async fn what_nobody_can_be_asked_about_waits_and_is_sent_once_after_the_answer() {
    let durable = Durable::new(ApprovalRules::default()).await;
    for (request, method) in asking_requests() {
        let run = durable.run(cannot_ask()).await;
        let mut control = run.context.control().watch();
        let (host, context) = (run.host.clone(), run.context.for_request());
        let asked = request.clone();
        let waiting = tokio::spawn(async move { host.handle(&asked, &context).await });
        let suspended = control.wait_for(|state| state.suspension().is_some());
        let kind = suspended
            .await
            .unwrap()
            .suspension()
            .map(|error| error.kind);
        assert_eq!(kind, Some(ErrorKind::Waiting), "{request:?}");
        let open = durable.open().await;
        assert_eq!(open.len(), 1, "{request:?}");
        assert!(durable.fixture.take_received().is_empty(), "{request:?}");
        let tenant = TenantId::local();
        let answered = durable.approvals.answer(&tenant, &open[0].id, true, "ada");
        answered.await.unwrap();
        assert!(waiting.await.unwrap().is_ok(), "{request:?}");
        assert_eq!(durable.fixture.take_received(), [method], "{request:?}");
    }
    durable.fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn what_a_person_denies_is_not_sent() {
    let durable = Durable::new(ApprovalRules::default()).await;
    for (request, _) in asking_requests() {
        let run = durable.run(FixedApprover::new(Decision::Deny)).await;
        let answer = run.host.handle(&request, &run.context.for_request()).await;
        assert_eq!(answer.unwrap_err().kind, FailureKind::Denied, "{request:?}");
        assert!(durable.fixture.take_received().is_empty(), "{request:?}");
        assert!(durable.open().await.is_empty(), "{request:?}");
    }
    durable.fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn what_a_person_allows_is_sent() {
    let durable = Durable::new(ApprovalRules::default()).await;
    for (request, method) in asking_requests() {
        let run = durable.run(FixedApprover::new(Decision::AllowThese)).await;
        let answer = run.host.handle(&request, &run.context.for_request()).await;
        assert!(answer.is_ok(), "{request:?}");
        assert_eq!(durable.fixture.take_received(), [method], "{request:?}");
    }
    durable.fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn a_person_who_is_no_approver_is_not_asked() {
    let rules = ApprovalRules {
        approvers: vec![("mail:*".parse().unwrap(), vec!["ada".to_owned()])],
        ..ApprovalRules::default()
    };
    let durable = Durable::new(rules).await;
    for (request, _) in asking_requests() {
        let person = FixedApprover::new(Decision::AllowAll);
        let run = durable.run(person.clone()).await;
        let open = durable.waits(&run, &request).await;
        assert_eq!(person.asked.load(Ordering::SeqCst), 0, "{request:?}");
        let tenant = TenantId::local();
        let stranger = durable.approvals.answer(&tenant, &open.id, true, "local");
        assert!(stranger.await.is_err(), "{request:?}");
        let approver = durable.approvals.answer(&tenant, &open.id, false, "ada");
        approver.await.unwrap();
    }
    durable.fixture.gateway.shutdown().await;
}
