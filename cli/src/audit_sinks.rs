//! `pml.audit.sinks`: where audit events go besides the log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use pml_audit::{HttpSink, Sink, SinkTarget, WhileAway};
use serde::Deserialize;
use url::Url;

/// Events that wait for a sink before calls are refused, where the operator named no number.
const BLOCKING_SPOOL: u64 = 1_000;

/// One entry of the list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SinkSettings {
    #[serde(rename = "type")]
    kind: SinkKind,
    /// Of a file; relative to the configuration file.
    path: Option<PathBuf>,
    /// The whole address of an `http` or `otlp` sink.
    url: Option<Url>,
    /// Headers of every request to it.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Events that may wait for it.
    spool: Option<u64>,
    #[serde(default)]
    on_failure: OnSinkFailure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SinkKind {
    /// A file to which a line is appended per event.
    File,
    /// Standard output, where it is not used for MCP.
    Stdout,
    /// Batches of CloudEvents by POST.
    Http,
    /// Log records over OTLP/HTTP.
    Otlp,
}

/// What happens while a sink does not take events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnSinkFailure {
    /// Calls go on.
    #[default]
    Degrade,
    /// Calls are refused when more events wait than `spool`.
    Block,
}

impl SinkSettings {
    fn word(&self) -> &'static str {
        match self.kind {
            SinkKind::File => "file",
            SinkKind::Stdout => "stdout",
            SinkKind::Http => "http",
            SinkKind::Otlp => "otlp",
        }
    }

    /// The name under which the position of the sink is kept: a sink whose place changes begins anew.
    fn name(&self) -> String {
        let path = self.path.as_ref().map(|path| path.display().to_string());
        let Some(place) = path.or(self.url.as_ref().map(Url::to_string)) else {
            return self.word().to_owned();
        };
        let digest = pml_audit::leaf_hash(place.as_bytes()).to_string();
        format!("{}-{}", self.word(), digest.get(..16).unwrap_or_default())
    }

    fn away(&self) -> WhileAway {
        match (self.on_failure, self.spool) {
            (OnSinkFailure::Degrade, None) => WhileAway::Wait,
            (OnSinkFailure::Degrade, Some(most)) => WhileAway::Skip(most),
            (OnSinkFailure::Block, most) => WhileAway::Block(most.unwrap_or(BLOCKING_SPOOL)),
        }
    }

    fn open(self, beside: Option<&Path>, is_stdio: bool) -> anyhow::Result<Sink> {
        let (name, away) = (self.name(), self.away());
        let target = match (self.kind, self.path, self.url) {
            (SinkKind::File, Some(path), None) => SinkTarget::File(file(&path, beside)?),
            (SinkKind::File, ..) => {
                bail!("it needs a `path` and no `url`, such as \"path\": \"events.jsonl\"")
            }
            (SinkKind::Stdout, None, None) if is_stdio => {
                bail!(
                    "it needs `pml serve --http`: otherwise standard output belongs to the client"
                )
            }
            (SinkKind::Stdout, None, None) => SinkTarget::Lines(Box::new(std::io::stdout())),
            (SinkKind::Stdout, ..) => bail!("it has neither a `path` nor a `url`"),
            (SinkKind::Http, None, Some(url)) => SinkTarget::Http(http(url, self.headers)?),
            (SinkKind::Otlp, None, Some(url)) => SinkTarget::Otlp(http(url, self.headers)?),
            (SinkKind::Http | SinkKind::Otlp, ..) => {
                bail!(
                    "it needs a `url` and no `path`, such as \"url\": \"https://siem.example/events\""
                )
            }
        };
        Ok(Sink { name, target, away })
    }
}

fn file(path: &Path, beside: Option<&Path>) -> anyhow::Result<PathBuf> {
    let path = beside.map_or_else(|| path.to_owned(), |folder| folder.join(path));
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    ensure!(
        folder.is_none_or(Path::is_dir) && !path.is_dir(),
        "the file {} cannot be written: its folder must exist, and it must not be a folder itself",
        path.display()
    );
    Ok(path)
}

fn http(url: Url, headers: BTreeMap<String, String>) -> anyhow::Result<HttpSink> {
    pml_gateway::install_tls();
    ensure!(
        matches!(url.scheme(), "http" | "https"),
        "its address is {url}: expected http:// or https://"
    );
    Ok(HttpSink::new(url, headers.into_iter().collect())?)
}

/// The sinks of a configuration. Paths are relative to `beside`.
pub fn open(
    sinks: &[SinkSettings],
    beside: Option<&Path>,
    is_stdio: bool,
) -> anyhow::Result<Vec<Sink>> {
    let mut opened: Vec<Sink> = Vec::new();
    for (number, sink) in sinks.iter().enumerate() {
        let word = sink.word();
        let place = || {
            format!(
                "the sink `{word}` (number {} of `pml.audit.sinks`)",
                number + 1
            )
        };
        let sink = sink.clone().open(beside, is_stdio).with_context(place)?;
        ensure!(
            opened.iter().all(|other| other.name != sink.name),
            "{} is in the list twice: remove one",
            place()
        );
        opened.push(sink);
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(sink: &str) -> Result<Sink, String> {
        pml_gateway::install_tls();
        let settings: SinkSettings = serde_json::from_str(sink).map_err(|e| e.to_string())?;
        let opened = open(&[settings], None, true);
        let mut opened = opened.map_err(|error| format!("{error:#}"))?;
        Ok(opened.remove(0))
    }

    #[test]
    fn what_happens_while_a_sink_is_away_is_chosen_by_two_keys() {
        let away = |keys: &str| {
            let sink = format!(r#"{{ "type": "http", "url": "http://127.0.0.1:1/e"{keys} }}"#);
            opened(&sink).map(|sink| sink.away).unwrap()
        };
        assert_eq!(away(""), WhileAway::Wait);
        assert_eq!(away(r#", "spool": 5"#), WhileAway::Skip(5));
        assert_eq!(away(r#", "onFailure": "block""#), WhileAway::Block(1_000));
        assert_eq!(
            away(r#", "onFailure": "block", "spool": 0"#),
            WhileAway::Block(0)
        );
    }

    #[test]
    fn a_sink_that_cannot_work_is_one_sentence() {
        for (sink, expected) in [
            (r#"{ "type": "stdout" }"#, "needs `pml serve --http`"),
            (r#"{ "type": "http" }"#, "needs a `url`"),
            (
                r#"{ "type": "file", "url": "http://a/b" }"#,
                "needs a `path`",
            ),
            (
                r#"{ "type": "file", "path": "/no/such/folder/f" }"#,
                "its folder must exist",
            ),
            (r#"{ "type": "file", "path": "/" }"#, "must not be a folder"),
            (
                r#"{ "type": "http", "url": "ftp://a/b" }"#,
                "expected http://",
            ),
            (r#"{ "type": "kafka" }"#, "unknown variant `kafka`"),
            (
                r#"{ "type": "http", "url": "http://a/b", "headers": { "x y": "s3cret" } }"#,
                "`x y` cannot be sent",
            ),
        ] {
            let error = opened(sink).err().unwrap_or_else(|| panic!("{sink}"));
            assert!(error.contains(expected), "{sink}: {error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
