use super::*;
use tokio::time::advance;

const ID: &str = "api:search";

fn breakers(json: serde_json::Value) -> Breakers {
    Breakers::new(&serde_json::from_value(json).unwrap())
}

fn call(breakers: &Breakers, outcome: Outcome) {
    breakers
        .admit(ID)
        .expect("the breaker is open")
        .close(outcome);
}

/// Opens the breaker with the defaults: ten failures in a row.
fn open(breakers: &Breakers) {
    for _ in 0..10 {
        call(breakers, Outcome::Failed);
    }
    assert_eq!(breakers.state("api"), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn it_opens_when_half_of_the_calls_fail_and_says_for_how_long() {
    let breakers = breakers(serde_json::json!({}));
    for _ in 0..5 {
        call(&breakers, Outcome::Answered);
    }
    for _ in 0..5 {
        call(&breakers, Outcome::Failed);
    }
    advance(Duration::from_secs(1)).await;
    let refusal = breakers.admit(ID).unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::Tool);
    assert_eq!(refusal.retry_after_ms, Some(4000));
    assert!(refusal.retryable);
    assert!(refusal.message.contains("server `api`"));
    assert_eq!(breakers.check(ID).unwrap_err(), refusal);
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_tools_themselves_never_open_it() {
    let breakers = breakers(serde_json::json!({}));
    for _ in 0..1000 {
        call(&breakers, Outcome::Answered);
    }
    assert_eq!(breakers.state("api"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_few_failures_decide_nothing() {
    let breakers = breakers(serde_json::json!({"minCalls": 10}));
    for _ in 0..9 {
        call(&breakers, Outcome::Failed);
    }
    assert_eq!(breakers.state("api"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn old_failures_are_forgotten() {
    let breakers = breakers(serde_json::json!({"window": "10s"}));
    for _ in 0..9 {
        call(&breakers, Outcome::Failed);
    }
    advance(Duration::from_secs(11)).await;
    call(&breakers, Outcome::Failed);
    assert_eq!(breakers.state("api"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_only_answers_slowly_opens_it_too() {
    let breakers = breakers(serde_json::json!({"slowCall": "2s", "slow": 0.5, "minCalls": 2}));
    for _ in 0..2 {
        let ticket = breakers.admit(ID).unwrap();
        advance(Duration::from_secs(3)).await;
        ticket.close(Outcome::Answered);
    }
    assert_eq!(breakers.state("api"), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn half_open_only_the_probes_pass_and_their_success_closes_it() {
    let breakers = breakers(serde_json::json!({}));
    open(&breakers);
    advance(Duration::from_secs(5)).await;
    let first = breakers.admit(ID).unwrap();
    let second = breakers.admit(ID).unwrap();
    assert!(
        breakers.admit(ID).is_err(),
        "a third call passed as a probe"
    );
    first.close(Outcome::Answered);
    assert_eq!(breakers.state("api"), BreakerState::HalfOpen);
    second.close(Outcome::Answered);
    assert_eq!(breakers.state("api"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn failing_probes_open_it_for_longer_up_to_the_maximum() {
    let breakers = breakers(serde_json::json!({"openFor": "5s", "maxOpenFor": "15s"}));
    open(&breakers);
    for seconds in [5, 10, 15, 15] {
        let refusal = breakers.admit(ID).unwrap_err();
        assert_eq!(refusal.retry_after_ms, Some(seconds * 1000));
        advance(Duration::from_secs(seconds)).await;
        call(&breakers, Outcome::Failed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_probe_makes_room_for_another() {
    let breakers = breakers(serde_json::json!({"probes": 1}));
    open(&breakers);
    advance(Duration::from_secs(5)).await;
    drop(breakers.admit(ID).unwrap());
    call(&breakers, Outcome::Answered);
    assert_eq!(breakers.state("api"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_call_from_before_it_opened_does_not_count_as_a_probe() {
    let breakers = breakers(serde_json::json!({"probes": 1}));
    let early = breakers.admit(ID).unwrap();
    open(&breakers);
    advance(Duration::from_secs(5)).await;
    let probe = breakers.admit(ID).unwrap();
    early.close(Outcome::Failed);
    assert_eq!(breakers.state("api"), BreakerState::HalfOpen);
    probe.close(Outcome::Answered);
    assert_eq!(breakers.state("api"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn one_server_failing_says_nothing_about_another() {
    let breakers = breakers(serde_json::json!({}));
    open(&breakers);
    assert!(breakers.admit("other:search").is_ok());
}

#[tokio::test(start_paused = true)]
async fn switched_off_it_lets_everything_through() {
    let breakers = breakers(serde_json::json!({"enabled": false}));
    for _ in 0..100 {
        call(&breakers, Outcome::Failed);
    }
}
