//! The source: reads the document when it is opened, and sends each call as an HTTP request.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use pml_openapi::{Documents, HttpRequest, Operation, ReadOptions, Service, SkippedOperation};
use pml_protocol::TraceContext;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;

use super::access::{Access, Added};
use super::{answer, load, place};
use crate::ToolId;
use crate::call::{CallError, CallErrorKind, FailedAttempt, ToolCall};
use crate::config::OpenApi;
use crate::policy::globs::ToolGlob;
use crate::policy::retry::Failure;
use crate::registry::Tool;
use crate::secrets::Secrets;
use crate::source::tool_source::{Opening, SourceInfo, ToolSource};
use crate::transport::{ServerShare, StartError, without_paths};

/// Bytes of a tool with its schemas. A tool over it gets shorter schemas.
const MAX_TOOL_BYTES: usize = 64 * 1024;
/// Bytes of all tools of a service.
const MAX_TOTAL_BYTES: usize = 48 * 1024 * 1024;
/// Skipped operations that a report names.
const MAX_REMARKS: usize = 20;
/// Characters of a document's description that count as instructions.
const MAX_INSTRUCTIONS: usize = 2_000;

/// A service whose operations are tools.
pub(crate) struct OpenApiSource {
    info: SourceInfo,
    operations: HashMap<String, Target>,
    /// The tools as JSON text, which takes a fraction of their values.
    tools: Vec<Box<str>>,
    skipped: Vec<SkippedOperation>,
    access: Access,
    /// Headers of every request; none of them goes to a foreign origin.
    headers: HeaderMap,
    client: reqwest::Client,
    share: ServerShare,
    secrets: Secrets,
}

/// An operation and where its requests go.
struct Target {
    operation: Operation,
    base: Url,
    /// Whether credentials may go there.
    is_trusted: bool,
}

impl OpenApiSource {
    /// Loads the document and makes its tools.
    ///
    /// # Errors
    /// The document cannot be loaded or used; the sentence says why.
    pub async fn open(config: &OpenApi, opening: Opening<'_>) -> Result<Self, StartError> {
        let unusable = |reason: String| StartError::OpenApi {
            document: config.document.to_string(),
            reason,
        };
        let client = opening.context.transports.client()?;
        let documents = load::load(config, &client).await.map_err(unusable)?;
        let options = ReadOptions {
            fixed_headers: config.access.headers.keys().cloned().collect(),
            variables: config.variables.clone(),
        };
        let server = opening.config.name.clone();
        let read = move || read(&documents, &options, &server);
        let service = match tokio::task::spawn_blocking(read).await {
            Ok(service) => service.map_err(unusable)?,
            Err(_) => return Err(unusable("reading it makes pml panic".to_owned())),
        };
        let base = place::base_url(config, service.server.as_deref()).map_err(unusable)?;
        let access =
            Access::new(config, &service.schemes, &base, opening.login).map_err(unusable)?;
        let mut source = Self {
            info: SourceInfo {
                protocol: service.format.clone(),
                implementation: implementation(&service),
                title: service.title.clone(),
                instructions: service.description.as_deref().map(instructions),
            },
            operations: HashMap::new(),
            tools: Vec::new(),
            skipped: service.skipped,
            access,
            headers: headers(config),
            client,
            share: ServerShare::new(&opening.config.name),
            secrets: opening.context.secrets.clone(),
        };
        source
            .add_operations(config, &base, service.operations)
            .map_err(unusable)?;
        Ok(source)
    }

    fn add_operations(
        &mut self,
        config: &OpenApi,
        base: &Url,
        operations: Vec<Operation>,
    ) -> Result<(), String> {
        let filter = OperationFilter::new(config);
        let mut total = 0;
        for operation in operations.into_iter().filter(|it| filter.allows(it)) {
            let Some((base, is_trusted)) =
                place::operation_url(config, base, operation.server.as_deref())
            else {
                self.skipped.push(SkippedOperation {
                    operation: format!("{} {}", operation.method, operation.path),
                    reason: "the document sends it to a private address: add it to `origins` of the server".to_owned(),
                });
                continue;
            };
            let text = operation.tool().to_string().into_boxed_str();
            total += text.len();
            if total > MAX_TOTAL_BYTES {
                return Err(format!(
                    "its tools have more than {} MiB: choose some with `operations`",
                    MAX_TOTAL_BYTES >> 20
                ));
            }
            self.tools.push(text);
            let name = operation.name.clone();
            self.operations.insert(
                name,
                Target {
                    operation,
                    base,
                    is_trusted,
                },
            );
        }
        Ok(())
    }

    /// Sends the request once.
    async fn send(
        &self,
        tool: &ToolId,
        target: &Target,
        request: &HttpRequest,
        trace: Option<&TraceContext>,
    ) -> Result<reqwest::Response, FailedAttempt> {
        let refused = |reason: String| {
            let message = format!("`{tool}` was not sent: {reason}");
            answer::answered(CallErrorKind::Denied, tool, message)
        };
        let added = match target.is_trusted {
            true => self
                .access
                .added(&target.operation, &self.client, &self.secrets)
                .await
                .map_err(refused)?,
            false => Added::default(),
        };
        let url = address(&target.base, request, &added)
            .map_err(|reason| answer::answered(CallErrorKind::Arguments, tool, reason))?;
        let method = reqwest::Method::from_bytes(request.method.as_bytes())
            .map_err(|_| refused("its method is invalid".to_owned()))?;
        let mut headers = match target.is_trusted {
            true => self.headers.clone(),
            false => HeaderMap::new(),
        };
        fill(&mut headers, request, &added).map_err(refused)?;
        headers
            .entry(http::header::ACCEPT)
            .or_insert(accept(&target.operation));
        let mut builder = self.client.request(method, url).headers(headers);
        if let Some(trace) = trace {
            builder = builder.header("traceparent", trace.traceparent());
            for (name, value) in [
                ("tracestate", trace.tracestate()),
                ("baggage", trace.baggage()),
            ] {
                if let Some(value) = value {
                    builder = builder.header(name, value);
                }
            }
        }
        if let Some((content_type, bytes)) = &request.body {
            builder = builder
                .header(http::header::CONTENT_TYPE, content_type)
                .body(bytes.clone());
        }
        builder.send().await.map_err(|error| unsent(tool, &error))
    }
}

#[async_trait]
impl ToolSource for OpenApiSource {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    async fn list(&self) -> Result<Vec<Value>, String> {
        let parse = |text: &str| serde_json::from_str(text).map_err(|it| it.to_string());
        self.tools.iter().map(|text| parse(text)).collect()
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<Value, FailedAttempt> {
        let ToolCall {
            tool,
            arguments,
            limit,
            trace,
            ..
        } = call;
        let Some(target) = self.operations.get(tool.tool()) else {
            let message = format!("`{tool}` is not an operation of the document");
            return Err(answer::answered(CallErrorKind::Unknown, tool, message));
        };
        let request = target.operation.request(&arguments).map_err(|error| {
            let message =
                format!("the arguments of `{tool}` make no request, and nothing was sent: {error}");
            answer::answered(CallErrorKind::Arguments, tool, message)
        })?;
        let answered = async {
            let mut response = self.send(tool, target, &request, trace).await?;
            let is_refused = response.status() == http::StatusCode::UNAUTHORIZED;
            if is_refused && target.is_trusted && self.access.renew(&target.operation).await {
                response = self.send(tool, target, &request, trace).await?;
            }
            if response.status().is_success() {
                return answer::value(tool, response, &self.share).await;
            }
            let status = response.status();
            let mut failed = answer::failure(
                tool,
                &target.operation,
                response,
                &self.share,
                &self.secrets,
            )
            .await;
            if status == http::StatusCode::UNAUTHORIZED && self.access.uses_login(&target.operation)
            {
                let login = format!(
                    "`{tool}` requires a login: run `pml login {}`",
                    tool.server()
                );
                failed.error.message = login;
            }
            Err(failed)
        };
        match tokio::time::timeout(limit, answered).await {
            Ok(answer) => answer,
            Err(_) => Err(timed_out(tool, limit)),
        }
    }

    /// A service has no ping. Its circuit breaker notices when it fails.
    async fn ping(&self, _: Duration) -> Option<Duration> {
        Some(Duration::ZERO)
    }

    fn closed(&self) -> bool {
        false
    }

    async fn close(&self) {}

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self
            .skipped
            .iter()
            .take(MAX_REMARKS)
            .map(|it| {
                format!(
                    "the operation {} cannot be used: {}",
                    it.operation, it.reason
                )
            })
            .collect();
        let more = self.skipped.len().saturating_sub(MAX_REMARKS);
        if more > 0 {
            remarks.push(format!("and {more} more operations that cannot be used"));
        }
        remarks
    }
}

/// Reads the service on a thread of its own: every schema is measured.
fn read(documents: &Documents, options: &ReadOptions, server: &str) -> Result<Service, String> {
    let fits = |described: &Value| {
        let is_short = described.to_string().len() <= MAX_TOOL_BYTES;
        is_short
            && matches!(
                Tool::read(server, described),
                Some(Ok(tool)) if tool.output_schema.is_some() == described["outputSchema"].is_object()
            )
    };
    Service::read(documents, options, &fits).map_err(|error| error.to_string())
}

fn implementation(service: &Service) -> Option<String> {
    let title = service.title.as_deref()?;
    let version = service.version.as_deref().unwrap_or_default();
    Some(format!("{title} {version}").trim_end().to_owned())
}

fn instructions(text: &str) -> String {
    let end = text
        .char_indices()
        .nth(MAX_INSTRUCTIONS)
        .map_or(text.len(), |(end, _)| end);
    text[..end].to_owned()
}

/// The configured headers, which the configuration has validated.
fn headers(config: &OpenApi) -> HeaderMap {
    let headers = config.access.headers.iter().filter_map(|(name, value)| {
        let mut value = HeaderValue::try_from(value.as_str()).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name.as_str()).ok()?, value))
    });
    headers.collect()
}

/// The operations of a document that become tools.
struct OperationFilter {
    allow: Option<Vec<ToolGlob>>,
    deny: Vec<ToolGlob>,
}

impl OperationFilter {
    fn new(config: &OpenApi) -> Self {
        let globs = |patterns: &[String]| -> Vec<ToolGlob> {
            patterns
                .iter()
                .map(|pattern| ToolGlob::within("operation", pattern))
                .collect()
        };
        let filter = &config.operations;
        Self {
            allow: filter.allow.as_deref().map(globs),
            deny: globs(&filter.deny),
        }
    }

    fn allows(&self, operation: &Operation) -> bool {
        let names = [
            format!("operation:{}", operation.name),
            format!("operation:{} {}", operation.method, operation.path),
        ];
        let tags = operation.tags.iter().map(|tag| format!("operation:#{tag}"));
        let names: Vec<String> = names.into_iter().chain(tags).collect();
        let any = |globs: &[ToolGlob]| {
            globs
                .iter()
                .any(|glob| names.iter().any(|name| glob.matches(name)))
        };
        self.allow.as_deref().is_none_or(any) && !any(&self.deny)
    }
}

/// The address of a request. It is the one of the operation: what arguments add changes neither its
/// origin nor the path before it.
fn address(base: &Url, request: &HttpRequest, added: &Added) -> Result<Url, String> {
    let mut url = base.clone();
    url.set_fragment(None);
    url.set_query(None);
    let path = format!("{}{}", base.path().trim_end_matches('/'), request.path);
    let mut text = format!("{}{path}", url.origin().ascii_serialization());
    if !request.query.is_empty() {
        text.push('?');
        text.push_str(&request.query);
    }
    let mut full = Url::parse(&text).map_err(|error| format!("its address is invalid: {error}"))?;
    if full.path() != path && full.path() != path.replace('\'', "%27") {
        return Err("an argument would lead to another path, and nothing was sent".to_owned());
    }
    for (name, value) in &added.query {
        full.query_pairs_mut().append_pair(name, value);
    }
    Ok(full)
}

/// The headers of a request over those of the entry, and the cookies of both together.
fn fill(headers: &mut HeaderMap, request: &HttpRequest, added: &Added) -> Result<(), String> {
    let mut cookies: Vec<&str> = added.cookies.iter().map(String::as_str).collect();
    let own = request.headers.iter().chain(&added.headers);
    for (name, value) in own {
        if name == "cookie" {
            cookies.push(value);
            continue;
        }
        let invalid = || format!("the header `{name}` has an invalid value");
        let name = HeaderName::try_from(name.as_str()).map_err(|_| invalid())?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| invalid())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if !cookies.is_empty() {
        let value = HeaderValue::try_from(cookies.join("; "));
        let value = value.map_err(|_| "a cookie has an invalid value".to_owned())?;
        headers.insert(http::header::COOKIE, value);
    }
    Ok(())
}

/// What the document says of its answers, then anything.
fn accept(operation: &Operation) -> HeaderValue {
    let mut accepted: Vec<&str> = operation.accepts.iter().map(String::as_str).collect();
    accepted.sort_by_key(|media| !media.contains("json"));
    accepted.truncate(5);
    accepted.retain(|media| *media != "*/*");
    let text = match accepted.is_empty() {
        true => "application/json, */*;q=0.5".to_owned(),
        false => format!("{}, */*;q=0.5", accepted.join(", ")),
    };
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("*/*"))
}

fn unsent(tool: &ToolId, error: &reqwest::Error) -> FailedAttempt {
    if !error.is_connect() {
        return answer::broken(tool, error);
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let message = format!(
        "the service of `{tool}` could not be reached: {}",
        without_paths(&cause.to_string())
    );
    FailedAttempt {
        error: CallError::transient(CallErrorKind::Unavailable, tool.as_str(), message, None),
        failure: Failure::NeverSent,
        unhealthy: true,
    }
}

fn timed_out(tool: &ToolId, limit: Duration) -> FailedAttempt {
    let message = format!(
        "`{tool}` did not answer within {:.1} s: ask for less, or allow it more time (`timeout` of the server, `--tool-timeout` of a run)",
        limit.as_secs_f64()
    );
    FailedAttempt {
        error: CallError::transient(CallErrorKind::Timeout, tool.as_str(), message, None),
        failure: Failure::Unanswered,
        unhealthy: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_change_neither_origin_nor_path() {
        let base: Url = "https://api.example/v1/".parse().unwrap();
        let request = |path: &str| HttpRequest {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: "q=%2F".to_owned(),
            headers: Vec::new(),
            body: None,
        };
        let of = |path: &str| address(&base, &request(path), &Added::default());
        assert_eq!(
            of("/a%2Fb").unwrap().as_str(),
            "https://api.example/v1/a%2Fb?q=%2F"
        );
        assert_eq!(of("/a;b=c,d'").unwrap().path(), "/v1/a;b=c,d'");
        for path in ["/../admin", "/%2e%2E/admin", "/a/./b"] {
            assert!(of(path).is_err(), "{path}");
        }
        let key = Added {
            query: vec![("key".to_owned(), "k&y".to_owned())],
            ..Added::default()
        };
        let url = address(&base, &request("/a"), &key).unwrap();
        assert_eq!(url.query(), Some("q=%2F&key=k%26y"));
    }
}
