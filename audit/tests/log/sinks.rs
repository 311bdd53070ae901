//! Sinks that are away: what waits, what is refused, and what they get when they are back.

use std::io;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pml_audit::{
    AuditError, AuditFolder, AuditLog, Event, Filter, Retention, Shipping, Sink, SinkGate,
    SinkTarget, WhileAway,
};
use serde_json::{Value, json};

use crate::fixture::{options, write_events};

/// A sink that takes lines, or is away.
#[derive(Clone, Default)]
struct Double {
    is_away: Arc<AtomicBool>,
    taken: Arc<Mutex<Vec<u8>>>,
}

impl Double {
    fn away() -> Self {
        let double = Self::default();
        double.is_away.store(true, Ordering::Relaxed);
        double
    }

    fn is_back(&self) {
        self.is_away.store(false, Ordering::Relaxed);
    }

    fn ids(&self) -> Vec<u64> {
        let taken = self.taken.lock().unwrap();
        let lines = taken.split(|byte| *byte == b'\n');
        let events = lines.filter(|line| !line.is_empty());
        events
            .map(|line| {
                let event: Value = serde_json::from_slice(line).unwrap();
                event["id"].as_str().unwrap().parse().unwrap()
            })
            .collect()
    }
}

impl Write for Double {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.is_away.load(Ordering::Relaxed) {
            true => Err(io::Error::other("it is away")),
            false => self.taken.lock().unwrap().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn ship(folder: &Path, double: &Double, away: WhileAway, gate: &SinkGate) -> Shipping {
    let sink = Sink {
        name: "double".to_owned(),
        target: SinkTarget::Lines(Box::new(double.clone())),
        away,
    };
    Shipping::start(folder, vec![sink], gate)
}

async fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_blocking_sink_refuses_calls_beyond_its_spool_until_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let (double, gate) = (Double::away(), SinkGate::default());
    let log = AuditLog::open(folder.path(), options()).unwrap();
    let shipping = ship(folder.path(), &double, WhileAway::Block(10), &gate);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    gate.check().expect("few events wait");
    for n in 0..20 {
        log.append(&Event::new("pml.test", &json!({ "n": n })))
            .unwrap();
    }
    eventually("calls are refused", || gate.check().is_err()).await;
    let error = gate.check().unwrap_err();
    assert!(matches!(error, AuditError::SinkAway { waiting, .. } if waiting > 10));
    double.is_back();
    eventually("calls are sent again", || gate.check().is_ok()).await;
    shipping.close().await;
    log.close();
    let ids = double.ids();
    assert!(
        (0..21).all(|id| ids.contains(&id)),
        "nothing is lost: {ids:?}"
    );

    // The next process knows what waits before it has sent anything.
    write_events(folder.path(), 30);
    let (away, gate) = (Double::away(), SinkGate::default());
    let shipping = ship(folder.path(), &away, WhileAway::Block(10), &gate);
    eventually("calls are refused at once", || gate.check().is_err()).await;
    shipping.close().await;
}

#[tokio::test]
async fn beyond_its_spool_a_sink_misses_the_oldest_events_and_the_log_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let (double, gate) = (Double::away(), SinkGate::default());
    write_events(folder.path(), 600);
    let shipping = ship(folder.path(), &double, WhileAway::Skip(5), &gate);
    tokio::time::sleep(Duration::from_millis(300)).await;
    gate.check().expect("calls go on");
    double.is_back();
    eventually("the rest arrives", || double.ids().len() >= 5).await;
    shipping.close().await;
    assert_eq!(double.ids(), [596, 597, 598, 599, 600]);
    let logged = AuditFolder::open(folder.path()).unwrap();
    assert_eq!(logged.query(&Filter::default()).unwrap().len(), 601);
}

#[tokio::test]
async fn a_new_sink_begins_behind_the_events_that_retention_has_removed() {
    let folder = tempfile::tempdir().unwrap();
    write_events(folder.path(), 1_100);
    let pruned = || {
        let log = AuditLog::open(
            folder.path(),
            pml_audit::LogOptions {
                retention: Retention {
                    hot: Duration::ZERO,
                    cold: Duration::ZERO,
                },
                ..options()
            },
        );
        let log = log.unwrap();
        std::thread::sleep(Duration::from_millis(400));
        log.close();
    };
    // Compressed by the first process, removed by the second one.
    pruned();
    pruned();
    let (double, gate) = (Double::default(), SinkGate::default());
    let shipping = ship(folder.path(), &double, WhileAway::Wait, &gate);
    eventually("what is left arrives", || double.ids().contains(&1_100)).await;
    shipping.close().await;
    assert_eq!(
        double.ids().first(),
        Some(&1_024),
        "four bundles were removed"
    );
}
