//! Sends batches to a collector, in the background.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use serde_json::Value;
use tokio::sync::watch;
use url::Url;

use crate::batch_queue::BatchQueue;
use crate::settings::ExportSettings;

/// How long a batch is tried again before it is dropped.
const RETRY_TIME: Duration = Duration::from_secs(30);
/// The first pause before a batch is tried again. It doubles.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Bytes of a response that are read.
const MAX_RESPONSE: usize = 64 * 1024;

/// A collector for one kind of telemetry.
#[derive(Clone)]
pub struct Collector {
    client: reqwest::Client,
    url: Url,
    settings: Arc<ExportSettings>,
    /// Becomes true when the process shuts down: nothing is tried again then.
    closing: watch::Receiver<bool>,
    is_failing: bool,
}

/// Why a batch was not taken.
enum Refused {
    /// It can be tried again, after this time if the collector named one.
    ForNow(String, Option<Duration>),
    /// The collector will not take it.
    ForEver(String),
}

impl Collector {
    pub fn new(
        client: reqwest::Client,
        url: Url,
        settings: Arc<ExportSettings>,
        closing: watch::Receiver<bool>,
    ) -> Self {
        Self {
            client,
            url,
            settings,
            closing,
            is_failing: false,
        }
    }

    /// Sends what is in a queue: whole batches at once, and what is left after the delay.
    pub async fn send_queue<T>(
        mut self,
        queue: Arc<BatchQueue<T>>,
        encode: impl Fn(&[T]) -> Value,
    ) {
        loop {
            let mut closing = self.closing.clone();
            let is_last = tokio::select! {
                () = queue.has_batch() => false,
                () = tokio::time::sleep(self.settings.delay) => false,
                _ = closing.wait_for(|is_closing| *is_closing) => true,
            };
            loop {
                let items = queue.take();
                if items.is_empty() {
                    break;
                }
                let count = items.len();
                let body = encode(&items);
                drop(items);
                if !self.send(&body).await {
                    queue.drop_sent(count);
                }
            }
            if is_last {
                return;
            }
        }
    }

    /// Sends what `encode` makes, at intervals and at the end.
    pub async fn send_regularly(mut self, encode: impl Fn() -> Option<Value>) {
        loop {
            let mut closing = self.closing.clone();
            let is_last = tokio::select! {
                () = tokio::time::sleep(self.settings.metric_interval) => false,
                _ = closing.wait_for(|is_closing| *is_closing) => true,
            };
            if let Some(body) = encode() {
                self.send(&body).await;
            }
            if is_last {
                return;
            }
        }
    }

    /// Sends a batch, more than once if need be. Returns whether the collector took it.
    async fn send(&mut self, body: &Value) -> bool {
        let body = self.encoded(body);
        let (began, mut pause) = (Instant::now(), RETRY_PAUSE);
        loop {
            let error = match self.post(body.clone()).await {
                Ok(()) => {
                    self.note_sent();
                    return true;
                }
                Err(Refused::ForEver(error)) => {
                    self.note_failed(&error);
                    return false;
                }
                Err(Refused::ForNow(error, asked)) => {
                    pause = asked.unwrap_or(pause);
                    error
                }
            };
            let is_over = *self.closing.borrow() || began.elapsed() + pause > RETRY_TIME;
            if is_over {
                self.note_failed(&error);
                return false;
            }
            let mut closing = self.closing.clone();
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                // One more try.
                _ = closing.wait_for(|is_closing| *is_closing) => {}
            }
            pause *= 2;
        }
    }

    fn encoded(&self, body: &Value) -> Vec<u8> {
        let json = body.to_string().into_bytes();
        if !self.settings.gzip {
            return json;
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        // Writing to memory cannot fail.
        let _ = encoder.write_all(&json);
        encoder.finish().unwrap_or_default()
    }

    async fn post(&self, body: Vec<u8>) -> Result<(), Refused> {
        let mut request = self
            .client
            .post(self.url.clone())
            .timeout(self.settings.timeout)
            .header(CONTENT_TYPE, "application/json");
        if self.settings.gzip {
            request = request.header(CONTENT_ENCODING, "gzip");
        }
        for (name, value) in &self.settings.headers {
            request = request.header(name, value);
        }
        let response = request.body(body).send().await;
        let mut response =
            response.map_err(|error| Refused::ForNow(error.without_url().to_string(), None))?;
        let status = response.status();
        if status.is_success() {
            let mut answer = Vec::new();
            while let Ok(Some(chunk)) = response.chunk().await {
                if answer.len() + chunk.len() > MAX_RESPONSE {
                    break;
                }
                answer.extend_from_slice(&chunk);
            }
            return match rejected(&answer) {
                Some(error) => Err(Refused::ForEver(error)),
                None => Ok(()),
            };
        }
        let error = format!("it answered {status}");
        let is_passing = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        if !is_passing {
            return Err(Refused::ForEver(error));
        }
        let after = response.headers().get(RETRY_AFTER);
        let after = after.and_then(|after| after.to_str().ok()?.trim().parse().ok());
        Err(Refused::ForNow(error, after.map(Duration::from_secs)))
    }

    fn note_sent(&mut self) {
        if std::mem::take(&mut self.is_failing) {
            tracing::info!(url = %self.url, "the collector takes telemetry again");
        }
    }

    fn note_failed(&mut self, error: &str) {
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!(
                url = %self.url, %error,
                "the collector does not take telemetry, which is dropped until it does"
            );
        }
    }
}

/// What a collector that took a request says about a part that it did not take.
fn rejected(answer: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let partial = answer.get("partialSuccess")?;
    let count = ["rejectedSpans", "rejectedDataPoints", "rejectedLogRecords"]
        .iter()
        .find_map(|key| match partial.get(key)? {
            Value::String(count) => count.parse::<u64>().ok(),
            count => count.as_u64(),
        })?;
    let message = partial["errorMessage"].as_str().unwrap_or_default();
    (count > 0).then(|| format!("it rejected {count} items: {message}"))
}
