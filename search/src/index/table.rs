//! The LanceDB table: a row for each tool, with its text and its vector.

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
/// Writes that are left lying as files of their own before they are put together.
const LOOSE_FILES: usize = 8;
/// How long an old version stays for processes that read it.
const KEPT: chrono::TimeDelta = chrono::TimeDelta::minutes(10);

/// What is known of one tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub id: String,
    pub fingerprint: String,
    pub text: String,
    pub vector: Vec<f32>,
}

/// What an index has on disk.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct IndexStats {
    pub folder: PathBuf,
    pub tools: usize,
    pub versions: usize,
    pub bytes: u64,
}

/// The table of one configuration.
pub struct VectorTable {
    folder: PathBuf,
    connection: Connection,
}

impl VectorTable {
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

    /// The vectors that are there, by fingerprint. An index that was never written is empty.
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

    /// Adds rows, in place of those with the same ids.
    pub async fn put(&self, rows: &[Row]) -> Result<(), SearchError> {
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
                self.tidy(&table).await
            }
            // Another model, or an older form of the table.
            Some(_) => {
                self.clear().await?;
                self.create(batch).await
            }
            None => self.create(batch).await,
        }
    }

    /// Forgets the tools whose fingerprints are not among `kept`.
    pub async fn keep(&self, kept: &[&str]) -> Result<(), SearchError> {
        let Some(table) = self.table().await? else {
            return Ok(());
        };
        // Fingerprints are hexadecimal: nothing in them can end the quotes.
        let kept: Vec<String> = kept.iter().map(|print| format!("'{print}'")).collect();
        let gone = format!("fingerprint NOT IN ({})", kept.join(", "));
        table.delete(gone.as_str()).await.map_err(broken)?;
        self.tidy(&table).await
    }

    /// Empties the index, whatever state it is in.
    pub async fn clear(&self) -> Result<(), SearchError> {
        let path = self.folder.join(format!("{NAME}.lance"));
        match fs::remove_dir_all(&path) {
            Err(source) if path.exists() => Err(SearchError::Folder { path, source }),
            _ => Ok(()),
        }
    }

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

    /// Many small writes become one file; versions that nobody reads any more go.
    async fn tidy(&self, table: &Table) -> Result<(), SearchError> {
        let versions = table.list_versions().await.map_err(broken)?.len();
        if versions % LOOSE_FILES == 0 {
            let compact = OptimizeAction::Compact {
                options: Default::default(),
                remap_options: None,
            };
            table.optimize(compact).await.map_err(broken)?;
        }
        if versions > LOOSE_FILES {
            let prune = OptimizeAction::Prune {
                older_than: Some(KEPT),
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
    // A model's width is far below the limit.
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
        return Err(SearchError::Index("its form is unknown".to_owned()));
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
    let odd = || SearchError::Index("its columns are not those of pml".to_owned());
    let prints = batch.column_by_name("fingerprint").ok_or_else(odd)?;
    let prints = prints.as_string_opt::<i32>().ok_or_else(odd)?;
    let lists = batch.column_by_name("vector").ok_or_else(odd)?;
    let lists = lists.as_fixed_size_list_opt().ok_or_else(odd)?;
    let width = lists.value_length() as usize;
    let values = lists.values();
    let values = values.as_primitive_opt::<Float32Type>().ok_or_else(odd)?;
    let rows = values.values().chunks_exact(width.max(1));
    for (print, row) in prints.iter().zip(rows) {
        vectors.insert(print.unwrap_or_default().to_owned(), row.to_vec());
    }
    Ok(())
}

fn broken(error: impl std::fmt::Display) -> SearchError {
    // LanceDB's errors go on with backtraces and places in its source.
    let told = error.to_string();
    let line = told.lines().next().unwrap_or_default();
    SearchError::Index(line.to_owned())
}

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
