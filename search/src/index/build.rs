//! Builds the vectors of tools: those that the index has are read, the others are computed.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::lock::IndexLock;
use super::table::{Row, VectorTable};
use crate::document::ToolDocument;
use crate::error::SearchError;
use crate::model::Embedder;
use crate::vectors::{QuantizedVectors, mean};

/// Tools per request to the model: a concurrent query waits for at most one such batch.
const EMBED_BATCH: usize = 8;
/// Tools per write to the table: a killed process loses at most the work on this many.
const WRITE_BATCH: usize = 256;

/// Progress of an index build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexProgress {
    /// Tools that are embedded.
    pub done: usize,
    /// Tools that need to be embedded.
    pub of: usize,
}

/// Returns a vector for every document, in order. Without a folder nothing is written to disk.
pub async fn build(
    documents: &[ToolDocument],
    model: &str,
    folder: Option<&Path>,
    embedder: &Embedder,
    progress: impl Fn(IndexProgress),
) -> Result<QuantizedVectors, SearchError> {
    let tools: Vec<ToolViews> = documents
        .iter()
        .map(|tool| ToolViews::new(tool, model))
        .collect();
    let mut indexed = match folder {
        Some(folder) => read_or_empty(folder).await,
        None => VectorMap::new(),
    };
    if !missing(&tools, &indexed).is_empty() {
        let index = match folder {
            Some(folder) => {
                let index = IndexWriter::open(folder).await?;
                // Read again under the lock: another process may have written some of them.
                indexed = index.read_or_repair().await?;
                Some(index)
            }
            None => None,
        };
        embed_missing(&tools, &mut indexed, index.as_ref(), embedder, progress).await?;
        if let Some(index) = &index
            && indexed.len() > 2 * tools.len()
        {
            let kept: Vec<&str> = tools.iter().map(|tool| &*tool.fingerprint).collect();
            index.table.retain(&kept).await?;
        }
    }
    let vectors: Option<Vec<&Vec<f32>>> = tools
        .iter()
        .map(|tool| indexed.get(&tool.fingerprint))
        .collect();
    let mixed_widths = || SearchError::Index("its vectors differ in width".to_owned());
    vectors
        .and_then(|vectors| QuantizedVectors::new(&vectors))
        .ok_or_else(mixed_widths)
}

/// Vectors by the fingerprints of their tools.
type VectorMap = HashMap<String, Vec<f32>>;

/// The tools without a vector, one per fingerprint.
fn missing<'a>(tools: &'a [ToolViews<'a>], indexed: &VectorMap) -> Vec<&'a ToolViews<'a>> {
    let mut seen = HashSet::new();
    let mut missing = Vec::new();
    for tool in tools {
        if !indexed.contains_key(&tool.fingerprint) && seen.insert(&tool.fingerprint) {
            missing.push(tool);
        }
    }
    missing
}

async fn embed_missing(
    tools: &[ToolViews<'_>],
    indexed: &mut VectorMap,
    index: Option<&IndexWriter>,
    embedder: &Embedder,
    progress: impl Fn(IndexProgress),
) -> Result<(), SearchError> {
    let missing = missing(tools, indexed);
    let of = missing.len();
    let mut done = 0;
    for write_batch in missing.chunks(WRITE_BATCH) {
        let mut rows = Vec::with_capacity(write_batch.len());
        for batch in write_batch.chunks(EMBED_BATCH) {
            progress(IndexProgress { done, of });
            let texts = batch.iter().flat_map(|tool| tool.views.clone()).collect();
            let mut vectors = embedder.embed(texts).await?.into_iter();
            rows.extend(batch.iter().map(|tool| Row {
                id: tool.id.to_owned(),
                fingerprint: tool.fingerprint.clone(),
                text: tool.views.first().cloned().unwrap_or_default(),
                vector: mean(vectors.by_ref().take(tool.views.len())),
            }));
            done += batch.len();
        }
        if let Some(index) = index {
            index.table.upsert(&rows).await?;
        }
        indexed.extend(rows.into_iter().map(|row| (row.fingerprint, row.vector)));
    }
    Ok(())
}

/// The texts of a tool to embed.
struct ToolViews<'a> {
    id: &'a str,
    views: Vec<String>,
    fingerprint: String,
}

impl<'a> ToolViews<'a> {
    fn new(tool: &'a ToolDocument, model: &str) -> Self {
        let views = tool.views();
        Self {
            id: &tool.id,
            fingerprint: ToolDocument::fingerprint(&views, model),
            views,
        }
    }
}

/// Reads the index without its lock. A damaged index reads as empty here; the process that holds the
/// lock repairs it.
async fn read_or_empty(folder: &Path) -> VectorMap {
    if !folder.exists() {
        return VectorMap::new();
    }
    let read = async { VectorTable::open(folder).await?.vectors().await };
    read.await.unwrap_or_else(|error| {
        tracing::debug!(%error, "the index cannot be read");
        VectorMap::new()
    })
}

/// A locked index that this process may write.
struct IndexWriter {
    table: VectorTable,
    _lock: IndexLock,
}

impl IndexWriter {
    async fn open(folder: &Path) -> Result<Self, SearchError> {
        let lock = IndexLock::acquire(folder)?;
        Ok(Self {
            table: VectorTable::open(folder).await?,
            _lock: lock,
        })
    }

    /// The vectors of the index. A damaged index is cleared and reads as empty.
    async fn read_or_repair(&self) -> Result<VectorMap, SearchError> {
        match self.table.vectors().await {
            Ok(vectors) => Ok(vectors),
            Err(error) => {
                tracing::warn!(%error, "the index is damaged and is rebuilt");
                self.table.clear().await?;
                Ok(VectorMap::new())
            }
        }
    }
}
