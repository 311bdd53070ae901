//! `pml.audit.sinks`: where audit events go besides the log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use pml_audit::{HttpSink, Sink, SinkTarget};
use serde::Deserialize;
use url::Url;

/// One entry of the list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase", tag = "type")]
pub enum SinkSettings {
    /// A file to which a line is appended per event.
    File {
        /// Relative to the configuration file.
        path: PathBuf,
    },
    /// Standard output, where it is not used for MCP.
    Stdout {},
    /// Batches of CloudEvents by POST.
    Http {
        /// The whole address.
        url: Url,
        /// Headers of every request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// Log records over OTLP/HTTP.
    Otlp {
        /// The whole address, such as `http://127.0.0.1:4318/v1/logs`.
        url: Url,
        /// Headers of every request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

impl SinkSettings {
    /// The name under which the position of the sink is kept: a sink whose place changes begins anew.
    fn name(&self) -> String {
        let (kind, place) = match self {
            Self::File { path } => ("file", path.display().to_string()),
            Self::Stdout {} => return "stdout".to_owned(),
            Self::Http { url, .. } => ("http", url.to_string()),
            Self::Otlp { url, .. } => ("otlp", url.to_string()),
        };
        let digest = pml_audit::leaf_hash(place.as_bytes()).to_string();
        format!("{kind}-{}", digest.get(..16).unwrap_or_default())
    }

    fn open(self, beside: Option<&Path>, is_stdio: bool) -> anyhow::Result<Sink> {
        let name = self.name();
        let target = match self {
            Self::File { path } => {
                SinkTarget::File(beside.map_or_else(|| path.clone(), |folder| folder.join(&path)))
            }
            Self::Stdout {} if is_stdio => anyhow::bail!(
                "the sink `stdout` of `pml.audit.sinks` needs `pml serve --http`: otherwise standard output belongs to the client"
            ),
            Self::Stdout {} => SinkTarget::Lines(Box::new(std::io::stdout())),
            Self::Http { url, headers } => SinkTarget::Http(http(url, headers)?),
            Self::Otlp { url, headers } => SinkTarget::Otlp(http(url, headers)?),
        };
        Ok(Sink { name, target })
    }
}

fn http(url: Url, headers: BTreeMap<String, String>) -> anyhow::Result<HttpSink> {
    pml_gateway::install_tls();
    anyhow::ensure!(
        matches!(url.scheme(), "http" | "https"),
        "a sink of `pml.audit.sinks` has the address {url}: expected http:// or https://"
    );
    let sink = HttpSink::new(url, headers.into_iter().collect());
    sink.context("a sink of `pml.audit.sinks` cannot be used")
}

/// The sinks of a configuration. Paths are relative to `beside`.
pub fn open(
    sinks: &[SinkSettings],
    beside: Option<&Path>,
    is_stdio: bool,
) -> anyhow::Result<Vec<Sink>> {
    let sinks = sinks.iter().cloned();
    sinks.map(|sink| sink.open(beside, is_stdio)).collect()
}
