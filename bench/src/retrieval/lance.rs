//! The same index, asked by LanceDB itself: full text and vectors, fused by rank.

use std::path::Path;

use anyhow::{Context, Result};
use arrow_array::StringArray;
use futures_util::TryStreamExt;
use lancedb::Table;
use lancedb::index::Index;
use lancedb::index::scalar::{FtsIndexBuilder, FullTextSearchQuery};
use lancedb::query::{QueryBase, QueryExecutionOptions, Select};

/// The table that pml keeps its tools in.
const TABLE: &str = "tools";

pub struct LanceIndex {
    table: Table,
}

impl LanceIndex {
    /// Opens the index in a folder and gives it what pml does not need: words.
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
                .context("LanceDB gave no ids")?;
            found.extend(ids.iter().flatten().map(str::to_owned));
        }
        Ok(found)
    }
}
