//! LanceDB's own hybrid search on the index of pml: full text and vectors, fused by rank.

use std::path::Path;

use anyhow::{Context, Result};
use arrow_array::StringArray;
use futures_util::TryStreamExt;
use lancedb::Table;
use lancedb::index::Index;
use lancedb::index::scalar::{FtsIndexBuilder, FullTextSearchQuery};
use lancedb::query::{QueryBase, QueryExecutionOptions, Select};

/// The name of pml's table.
const TABLE: &str = "tools";

/// The index of pml, queried by LanceDB.
pub struct LanceIndex {
    table: Table,
}

impl LanceIndex {
    /// Opens the index in a folder and adds a full-text index, which pml does not need.
    ///
    /// # Errors
    ///
    /// If the table cannot be opened or indexed.
    pub async fn open(folder: &Path) -> Result<Self> {
        let connection = lancedb::connect(&folder.to_string_lossy())
            .execute()
            .await?;
        let table = connection.open_table(TABLE).execute().await?;
        table
            .create_index(&["text"], Index::FTS(FtsIndexBuilder::default()))
            .execute()
            .await?;
        Ok(Self { table })
    }

    /// The ids of the best tools.
    ///
    /// # Errors
    ///
    /// If LanceDB's query fails.
    pub async fn find(&self, text: &str, vector: &[f32], limit: usize) -> Result<Vec<String>> {
        let batches: Vec<_> = self
            .table
            .query()
            .full_text_search(FullTextSearchQuery::new(text.to_owned()))
            .nearest_to(vector)?
            .limit(limit)
            .select(Select::columns(&["id"]))
            .execute_hybrid(QueryExecutionOptions::default())
            .await?
            .try_collect()
            .await?;
        let mut found = Vec::new();
        for batch in &batches {
            let ids = batch
                .column_by_name("id")
                .and_then(|ids| ids.as_any().downcast_ref::<StringArray>())
                .context("LanceDB returned no ids")?;
            found.extend(ids.iter().flatten().map(str::to_owned));
        }
        Ok(found)
    }
}
