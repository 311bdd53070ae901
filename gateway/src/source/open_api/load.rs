//! Loads a document and those that it refers to.
//!
//! What a document may refer to is bounded: from a file, files in its folder or below it; from a URL,
//! addresses of its origin; in both cases those of the `origins` in the configuration. The size of each
//! document, their number and their sum are bounded too.

use std::io::Read;
use std::path::{Path, PathBuf};

use futures::StreamExt;
use pml_openapi::Documents;
use serde_json::Value;
use url::Url;

use crate::config::{DocumentAddress, OpenApi};
use crate::transport::without_paths;

/// Bytes of one document. The largest public ones have about 40 MiB.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of all documents of one service.
const MAX_TOTAL_BYTES: usize = 96 * 1024 * 1024;
/// Documents of one service.
const MAX_DOCUMENTS: usize = 5_000;
/// Documents that are loaded at the same time.
const CONCURRENT: usize = 8;

/// Loads what the entry names, and everything that it refers to.
///
/// # Errors
/// The document cannot be read. One that it refers to and that cannot be read only makes those
/// operations unusable that need it.
pub async fn load(config: &OpenApi, client: &reqwest::Client) -> Result<Documents, String> {
    let loader = Loader::new(config, client)?;
    let root = loader.root.clone();
    let (address, text) = loader.text(&root).await?;
    let mut total = text.len();
    let document = parsed(text).await?;
    let mut documents = Documents::new(address, document);
    let mut count = 1;
    loop {
        let (missing, back) = with_missing(documents).await?;
        documents = back;
        if missing.is_empty() {
            return Ok(documents);
        }
        count += missing.len();
        if count > MAX_DOCUMENTS {
            return Err(format!("it refers to more than {MAX_DOCUMENTS} documents"));
        }
        let loader = &loader;
        let mut loaded = futures::stream::iter(missing)
            .map(async |address: Url| {
                let text = match loader.check(&address) {
                    Ok(()) => loader.text(&address).await.map(|(_, text)| text),
                    Err(reason) => Err(reason),
                };
                let bytes = text.as_ref().map_or(0, String::len);
                let document = match text {
                    Ok(text) => parsed(text).await,
                    Err(reason) => Err(reason),
                };
                (address, bytes, document)
            })
            .buffer_unordered(CONCURRENT);
        while let Some((address, bytes, document)) = loaded.next().await {
            total += bytes;
            if total > MAX_TOTAL_BYTES {
                return Err(format!(
                    "it has more than {} MiB with the documents that it refers to",
                    MAX_TOTAL_BYTES >> 20
                ));
            }
            documents.add(&address, document);
        }
    }
}

/// The documents that are missing. Every value is looked at, so it is done on another thread.
async fn with_missing(documents: Documents) -> Result<(Vec<Url>, Documents), String> {
    let find = move || (documents.missing(), documents);
    let found = tokio::task::spawn_blocking(find).await;
    found.map_err(|_| "reading its references makes pml panic".to_owned())
}

async fn parsed(text: String) -> Result<Value, String> {
    let parse = move || pml_openapi::parse(&text);
    match tokio::task::spawn_blocking(parse).await {
        Ok(parsed) => parsed.map_err(|error| error.to_string()),
        Err(_) => Err("reading it makes pml panic".to_owned()),
    }
}

struct Loader<'a> {
    client: &'a reqwest::Client,
    config: &'a OpenApi,
    root: Url,
    /// The folder of a document that is a file: nothing outside of it is read.
    folder: Option<PathBuf>,
}

impl<'a> Loader<'a> {
    fn new(config: &'a OpenApi, client: &'a reqwest::Client) -> Result<Self, String> {
        let (root, folder) = match &config.document {
            DocumentAddress::Url(url) => (url.clone(), None),
            DocumentAddress::File(path) => {
                let path = path.canonicalize().map_err(|error| {
                    format!("the file {} cannot be read: {error}", path.display())
                })?;
                let url = Url::from_file_path(&path)
                    .map_err(|()| format!("the path {} has no address", path.display()))?;
                (url, path.parent().map(Path::to_owned))
            }
        };
        Ok(Self {
            client,
            config,
            root,
            folder,
        })
    }

    /// Whether the documents may refer to this address.
    fn check(&self, address: &Url) -> Result<(), String> {
        let is_named = self
            .config
            .origins
            .iter()
            .any(|origin| origin.origin() == address.origin());
        match address.scheme() {
            "file" if self.folder.is_some() => Ok(()),
            "file" => Err("a document from the network must not refer to files".to_owned()),
            "http" | "https" if is_named || address.origin() == self.root.origin() => Ok(()),
            "http" | "https" => Err(format!(
                "it is at another origin: add \"{}\" to `origins` of the server to load it",
                address.origin().ascii_serialization()
            )),
            other => Err(format!("documents are not loaded by `{other}`")),
        }
    }

    /// The text at an address, and the address that it was found at.
    async fn text(&self, address: &Url) -> Result<(Url, String), String> {
        if address.scheme() == "file" {
            let path = address
                .to_file_path()
                .map_err(|()| "it is no path".to_owned())?;
            let folder = self.folder.clone();
            let read = move || read_file(&path, folder.as_deref());
            let text = tokio::task::spawn_blocking(read).await;
            let text = text.map_err(|_| "reading it makes pml panic".to_owned())??;
            return Ok((address.clone(), text));
        }
        self.fetch(address).await
    }

    async fn fetch(&self, address: &Url) -> Result<(Url, String), String> {
        let mut request = self.client.get(address.clone());
        // The headers are for the service; its document may be somewhere else.
        let base = self.config.base_url.as_ref();
        if base.is_some_and(|base| base.origin() == address.origin()) {
            for (name, value) in &self.config.access.headers {
                request = request.header(name, value);
            }
        }
        let failed = |error: reqwest::Error| {
            use std::error::Error as _;
            let reason = error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string);
            format!("it cannot be loaded: {}", without_paths(&reason))
        };
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        if status.is_redirection() {
            let target = response
                .headers()
                .get("location")
                .and_then(|it| it.to_str().ok());
            let target = target.and_then(|target| address.join(target).ok());
            let target = target.map_or("another address".to_owned(), |url| {
                url.origin().ascii_serialization()
            });
            return Err(format!(
                "it redirects to {target}, which is not followed: write that address as `openapi`"
            ));
        }
        if !status.is_success() {
            return Err(format!("it cannot be loaded: HTTP {status}"));
        }
        let found_at = response.url().clone();
        if response
            .content_length()
            .is_some_and(|bytes| bytes > MAX_BYTES as u64)
        {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let mut pieces = response.bytes_stream();
        while let Some(piece) = pieces.next().await {
            bytes.extend_from_slice(&piece.map_err(failed)?);
            if bytes.len() > MAX_BYTES {
                return Err(too_large());
            }
        }
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        Ok((found_at, text))
    }
}

/// Reads a file in `folder`, links followed.
fn read_file(path: &Path, folder: Option<&Path>) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("it cannot be read: {error}");
    let real = path.canonicalize().map_err(failed)?;
    if !folder.is_some_and(|folder| real.starts_with(folder)) {
        return Err("it is outside of the folder of the document".to_owned());
    }
    let file = std::fs::File::open(&real).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut text = String::new();
    let mut bounded = file.take(MAX_BYTES as u64 + 1);
    bounded.read_to_string(&mut text).map_err(failed)?;
    match text.len() > MAX_BYTES {
        true => Err(too_large()),
        false => Ok(text),
    }
}

fn too_large() -> String {
    format!("it has more than {} MiB", MAX_BYTES >> 20)
}
