//! The LanceDB table: one row per tool, with its text and its vector.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{
    FixedSizeListArray, Float32Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use futures_util::TryStreamExt;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::OptimizeAction;
use lancedb::{Connection, Table};

use crate::error::SearchError;

const NAME: &str = "tools";
/// Table versions between compactions; each write adds a version and a file.
const COMPACT_EVERY: usize = 8;
/// How long an old version is kept for processes that still read it.
const KEEP_VERSIONS_FOR: chrono::TimeDelta = chrono::TimeDelta::minutes(10);

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// `server:tool`
    pub id: String,
    /// See [`ToolDocument::fingerprint`](crate::ToolDocument::fingerprint).
    pub fingerprint: String,
    /// The first of the tool's views.
    pub text: String,
    /// The mean vector of the views.
    pub vector: Vec<f32>,
}

/// Statistics of an index on disk.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct IndexStats {
    /// The index folder.
    pub folder: PathBuf,
    /// Rows of the table.
    pub tools: usize,
    /// Versions of the table.
    pub versions: usize,
    /// Size of the folder.
    pub bytes: u64,
}

/// The vector table of one configuration.
pub struct VectorTable {
    folder: PathBuf,
    connection: Connection,
}

impl VectorTable {
    /// Connects to the table in `folder`, which is created if it is missing.
    pub async fn open(folder: &Path) -> Result<Self, SearchError> {
        fs::create_dir_all(folder).map_err(|source| SearchError::Folder {
            path: folder.to_owned(),
            source,
        })?;
        let connection = lancedb::connect(&folder.to_string_lossy())
            .execute()
            .await
            .map_err(broken)?;
        Ok(Self {
            folder: folder.to_owned(),
            connection,
        })
    }

    /// All vectors, by fingerprint. An index that was never written is empty.
    pub async fn vectors(&self) -> Result<HashMap<String, Vec<f32>>, SearchError> {
        let Some(table) = self.table().await? else {
            return Ok(HashMap::new());
        };
        let batches: Vec<RecordBatch> = table
            .query()
            .select(Select::columns(&["fingerprint", "vector"]))
            .execute()
            .await
            .map_err(broken)?
            .try_collect()
            .await
            .map_err(broken)?;
        let mut vectors = HashMap::new();
        for batch in &batches {
            read_batch(batch, &mut vectors)?;
        }
        Ok(vectors)
    }

    /// Inserts rows, replacing those with the same ids.
    pub async fn upsert(&self, rows: &[Row]) -> Result<(), SearchError> {
        let Some(width) = rows.first().map(|row| row.vector.len()) else {
            return Ok(());
        };
        let schema = schema(width);
        let batch = batch(rows, schema.clone())?;
        match self.table().await? {
            Some(table) if table.schema().await.map_err(broken)? == schema => {
                let mut merge = table.merge_insert(&["id"]);
                merge
                    .when_matched_update_all(None)
                    .when_not_matched_insert_all();
                let rows = RecordBatchIterator::new([Ok(batch)], schema);
                merge.execute(Box::new(rows)).await.map_err(broken)?;
                self.compact(&table).await
            }
            // The table is of another model, or has an older schema.
            Some(_) => {
                self.clear().await?;
                self.create(batch).await
            }
            None => self.create(batch).await,
        }
    }

    /// Deletes the rows whose fingerprints are not among `kept`.
    pub async fn retain(&self, kept: &[&str]) -> Result<(), SearchError> {
        let Some(table) = self.table().await? else {
            return Ok(());
        };
        // Fingerprints are hexadecimal, so they need no escaping.
        let kept: Vec<String> = kept.iter().map(|digest| format!("'{digest}'")).collect();
        let others = format!("fingerprint NOT IN ({})", kept.join(", "));
        table.delete(others.as_str()).await.map_err(broken)?;
        self.compact(&table).await
    }

    /// Deletes the table, in whatever state it is.
    pub async fn clear(&self) -> Result<(), SearchError> {
        let path = self.folder.join(format!("{NAME}.lance"));
        match fs::remove_dir_all(&path) {
            Err(source) if path.exists() => Err(SearchError::Folder { path, source }),
            _ => Ok(()),
        }
    }

    /// Statistics of the table and its folder.
    pub async fn stats(&self) -> Result<IndexStats, SearchError> {
        let (tools, versions) = match self.table().await? {
            Some(table) => (
                table.count_rows(None).await.map_err(broken)?,
                table.list_versions().await.map_err(broken)?.len(),
            ),
            None => (0, 0),
        };
        Ok(IndexStats {
            folder: self.folder.clone(),
            tools,
            versions,
            bytes: size(&self.folder),
        })
    }

    async fn table(&self) -> Result<Option<Table>, SearchError> {
        match self.connection.open_table(NAME).execute().await {
            Ok(table) => Ok(Some(table)),
            Err(lancedb::Error::TableNotFound { .. }) => Ok(None),
            Err(error) => Err(broken(error)),
        }
    }

    async fn create(&self, batch: RecordBatch) -> Result<(), SearchError> {
        let created = self.connection.create_table(NAME, batch).execute().await;
        created.map(|_| ()).map_err(broken)
    }

    /// Merges many small files into one, and prunes old versions.
    async fn compact(&self, table: &Table) -> Result<(), SearchError> {
        let versions = table.list_versions().await.map_err(broken)?.len();
        if versions % COMPACT_EVERY == 0 {
            let compact = OptimizeAction::Compact {
                options: Default::default(),
                remap_options: None,
            };
            table.optimize(compact).await.map_err(broken)?;
        }
        if versions > COMPACT_EVERY {
            let prune = OptimizeAction::Prune {
                older_than: Some(KEEP_VERSIONS_FOR),
                delete_unverified: None,
                error_if_tagged_old_versions: None,
            };
            table.optimize(prune).await.map_err(broken)?;
        }
        Ok(())
    }
}

fn schema(width: usize) -> SchemaRef {
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    // A model's width is far below `i32::MAX`.
    let vector = DataType::FixedSizeList(item, width as i32);
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("fingerprint", DataType::Utf8, false),
        Field::new("text", DataType::Utf8, false),
        Field::new("vector", vector, false),
    ]))
}

fn batch(rows: &[Row], schema: SchemaRef) -> Result<RecordBatch, SearchError> {
    let texts = |of: fn(&Row) -> &str| StringArray::from_iter_values(rows.iter().map(of));
    let values = rows.iter().flat_map(|row| row.vector.iter().copied());
    let DataType::FixedSizeList(item, width) = schema.field(3).data_type() else {
        return Err(SearchError::Index("its schema is unknown".to_owned()));
    };
    let values = Arc::new(Float32Array::from_iter_values(values));
    let vectors =
        FixedSizeListArray::try_new(item.clone(), *width, values, None).map_err(broken)?;
    RecordBatch::try_new(
        schema.clone(),
        vec![
            Arc::new(texts(|row| &row.id)),
            Arc::new(texts(|row| &row.fingerprint)),
            Arc::new(texts(|row| &row.text)),
            Arc::new(vectors),
        ],
    )
    .map_err(broken)
}

fn read_batch(
    batch: &RecordBatch,
    vectors: &mut HashMap<String, Vec<f32>>,
) -> Result<(), SearchError> {
    let foreign = || SearchError::Index("its columns are not those of pml".to_owned());
    let fingerprints = batch.column_by_name("fingerprint").ok_or_else(foreign)?;
    let fingerprints = fingerprints.as_string_opt::<i32>().ok_or_else(foreign)?;
    let lists = batch.column_by_name("vector").ok_or_else(foreign)?;
    let lists = lists.as_fixed_size_list_opt().ok_or_else(foreign)?;
    let width = lists.value_length() as usize;
    let values = lists.values();
    let values = values
        .as_primitive_opt::<Float32Type>()
        .ok_or_else(foreign)?;
    let rows = values.values().chunks_exact(width.max(1));
    for (fingerprint, row) in fingerprints.iter().zip(rows) {
        vectors.insert(fingerprint.unwrap_or_default().to_owned(), row.to_vec());
    }
    Ok(())
}

fn broken(error: impl std::fmt::Display) -> SearchError {
    // The other lines of LanceDB's errors are backtraces and source locations.
    let message = error.to_string();
    let line = message.lines().next().unwrap_or_default();
    SearchError::Index(line.to_owned())
}

/// The size of all files below a folder, in bytes.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
