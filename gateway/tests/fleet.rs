//! Fifty servers of which five hang and five crash: the others do not notice.

use std::time::{Duration, Instant};

use pml_gateway::config::ServerConfig;
use pml_gateway::{RunLimits, ServerStatus};
use serde_json::json;

use crate::support::{gateway, odd};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_good_servers_answer_while_ten_bad_ones_are_explained() {
    // Far longer than the test: no call may wait for a hanging server.
    let start_timeout = Duration::from_secs(300);
    let mut servers: Vec<ServerConfig> =
        (0..40).map(|n| odd(&format!("good{n:02}"), &[])).collect();
    servers.extend((0..5).map(|n| odd(&format!("crash{n}"), &["--crash-at-start"])));
    servers.extend((0..5).map(|n| ServerConfig {
        start_timeout,
        ..odd(&format!("hang{n}"), &["--hang-at-start"])
    }));
    let gateway = gateway(servers);
    let warming = tokio::spawn({
        let gateway = gateway.clone();
        async move { gateway.warm().await }
    });

    let start = Instant::now();
    let calls = (0..40).map(|n| {
        let gateway = &gateway;
        async move {
            let scope = gateway.run(RunLimits::default());
            gateway
                .call(&scope, &format!("good{n:02}:echo"), json!({ "text": "up" }))
                .await
        }
    });
    let answers = futures::future::join_all(calls).await;
    let cold = start.elapsed();
    for answer in &answers {
        assert_eq!(answer.as_ref().unwrap().value, json!("up"));
    }
    // Starting forty interpreters takes a while; then a response is immediate.
    let start = Instant::now();
    let scope = gateway.run(RunLimits::default());
    for n in 0..40 {
        gateway
            .call(&scope, &format!("good{n:02}:echo"), json!({ "text": "up" }))
            .await
            .unwrap();
    }
    println!(
        "40 servers started and answered in {cold:?}, then 40 calls in {:?}",
        start.elapsed()
    );
    assert!(cold < Duration::from_secs(120), "{cold:?}");

    let reports = gateway.doctor(Duration::from_secs(2)).await;
    let failed: Vec<_> = reports
        .iter()
        .filter(|report| report.state != ServerStatus::Ready)
        .collect();
    assert_eq!(failed.len(), 10);
    for report in failed {
        let problem = report.problem.as_deref().unwrap();
        let expected = if report.server.starts_with("crash") {
            "cannot open the cellar door"
        } else {
            "waiting for the moon"
        };
        assert!(problem.contains(expected), "{}: {problem}", report.server);
    }
    warming.abort();
    gateway.shutdown().await;
}
