//! From tools to their vectors: out of the index where they are, from the model where not.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::lock::IndexLock;
use super::table::{Row, VectorTable};
use crate::document::Document;
use crate::error::SearchError;
use crate::model::Embedder;
use crate::vectors::{Vectors, mean};

/// Tools that the model takes at once: a query that comes meanwhile waits for one such batch.
const BATCH: usize = 8;
/// Tools that are written at once. Whoever is killed loses no more work than that.
const WRITTEN_AT_ONCE: usize = 256;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub of: usize,
}

/// Gives every document its vector, in order. Without a folder nothing is kept.
pub async fn build(
    documents: &[Document],
    model: &str,
    folder: Option<&Path>,
    embedder: &Embedder,
    progress: impl Fn(Progress),
) -> Result<Vectors, SearchError> {
    let wanted: Vec<Wanted> = documents
        .iter()
        .map(|tool| Wanted::new(tool, model))
        .collect();
    let mut known = match folder {
        Some(folder) => read(folder).await,
        None => Known::new(),
    };
    if !missing(&wanted, &known).is_empty() {
        let index = match folder {
            Some(folder) => {
                let index = Writing::begin(folder).await?;
                // What another process wrote meanwhile need not be done again.
                known = index.repaired().await?;
                Some(index)
            }
            None => None,
        };
        embed_missing(&wanted, &mut known, index.as_ref(), embedder, progress).await?;
        if let Some(index) = &index
            && known.len() > 2 * wanted.len()
        {
            let kept: Vec<&str> = wanted.iter().map(|tool| &*tool.fingerprint).collect();
            index.table.keep(&kept).await?;
        }
    }
    let vectors: Option<Vec<&Vec<f32>>> = wanted
        .iter()
        .map(|tool| known.get(&tool.fingerprint))
        .collect();
    let odd = || SearchError::Index("its vectors are not of one width".to_owned());
    vectors
        .and_then(|vectors| Vectors::new(&vectors))
        .ok_or_else(odd)
}

/// Vectors by the fingerprints of their tools.
type Known = HashMap<String, Vec<f32>>;

/// The tools without a vector, each text once.
fn missing<'a>(wanted: &'a [Wanted<'a>], known: &Known) -> Vec<&'a Wanted<'a>> {
    let mut seen = HashSet::new();
    let mut missing = Vec::new();
    for tool in wanted {
        if !known.contains_key(&tool.fingerprint) && seen.insert(&tool.fingerprint) {
            missing.push(tool);
        }
    }
    missing
}

async fn embed_missing(
    wanted: &[Wanted<'_>],
    known: &mut Known,
    index: Option<&Writing>,
    embedder: &Embedder,
    progress: impl Fn(Progress),
) -> Result<(), SearchError> {
    let missing = missing(wanted, known);
    let of = missing.len();
    let mut done = 0;
    for some in missing.chunks(WRITTEN_AT_ONCE) {
        let mut rows = Vec::with_capacity(some.len());
        for batch in some.chunks(BATCH) {
            progress(Progress { done, of });
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
            index.table.put(&rows).await?;
        }
        known.extend(rows.into_iter().map(|row| (row.fingerprint, row.vector)));
    }
    Ok(())
}

struct Wanted<'a> {
    id: &'a str,
    views: Vec<String>,
    fingerprint: String,
}

impl<'a> Wanted<'a> {
    fn new(tool: &'a Document, model: &str) -> Self {
        let views = tool.views();
        Self {
            id: &tool.id,
            fingerprint: Document::fingerprint(&views, model),
            views,
        }
    }
}

/// What can be read without waiting for anybody. A damaged index reads as empty here: it is
/// repaired by whoever has the right to write.
async fn read(folder: &Path) -> Known {
    if !folder.exists() {
        return Known::new();
    }
    let read = async { VectorTable::open(folder).await?.vectors().await };
    read.await.unwrap_or_else(|error| {
        tracing::debug!(%error, "the index cannot be read");
        Known::new()
    })
}

/// An index that this process may write.
struct Writing {
    table: VectorTable,
    _lock: IndexLock,
}

impl Writing {
    async fn begin(folder: &Path) -> Result<Self, SearchError> {
        let lock = IndexLock::take(folder)?;
        Ok(Self {
            table: VectorTable::open(folder).await?,
            _lock: lock,
        })
    }

    /// What is there; nothing, if what was there is damaged.
    async fn repaired(&self) -> Result<Known, SearchError> {
        match self.table.vectors().await {
            Ok(vectors) => Ok(vectors),
            Err(error) => {
                tracing::warn!(%error, "the index is damaged and is made anew");
                self.table.clear().await?;
                Ok(Known::new())
            }
        }
    }
}
