//! What the rules of the store need from a database.
//!
//! Every rule (claiming, fencing, settling, retention, …) is written once, as a [`Work`] on a
//! [`Transaction`]. SQLite and PostgreSQL implement the transaction. Both understand the same SQL text;
//! parameters are written `$1`, and the SQLite side turns that into its own `?1`.

use std::borrow::Cow;
use std::future::Future;

use crate::context::Context;
use crate::error::StoreError;
use crate::model::UnixMs;
use crate::vault::{BlobName, SealedBlob};

/// A value of a column or a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A statement with its parameters.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub sql: Cow<'static, str>,
    pub values: Vec<Value>,
}

/// A [`Statement`] from SQL text and the parameters `$1`, `$2`, ….
macro_rules! statement {
    ($sql:expr $(, $value:expr)* $(,)?) => {
        $crate::sql::Statement {
            sql: ::std::borrow::Cow::from($sql),
            values: vec![$($crate::sql::Value::from($value)),*],
        }
    };
}
pub(crate) use statement;

/// A row of a result. Its columns are taken from left to right.
#[derive(Debug)]
pub(crate) struct Row(std::vec::IntoIter<Value>);

/// A column whose type is not what the program wrote there.
#[derive(Debug)]
pub(crate) struct UnexpectedColumn;

impl Row {
    pub fn new(values: Vec<Value>) -> Self {
        Self(values.into_iter())
    }

    pub fn value(&mut self) -> Result<Value, UnexpectedColumn> {
        self.0.next().ok_or(UnexpectedColumn)
    }

    pub fn text(&mut self) -> Result<String, UnexpectedColumn> {
        self.optional_text()?.ok_or(UnexpectedColumn)
    }

    pub fn optional_text(&mut self) -> Result<Option<String>, UnexpectedColumn> {
        match self.value()? {
            Value::Text(text) => Ok(Some(text)),
            Value::Null => Ok(None),
            _ => Err(UnexpectedColumn),
        }
    }

    pub fn bytes(&mut self) -> Result<Vec<u8>, UnexpectedColumn> {
        self.optional_bytes()?.ok_or(UnexpectedColumn)
    }

    pub fn optional_bytes(&mut self) -> Result<Option<Vec<u8>>, UnexpectedColumn> {
        match self.value()? {
            Value::Bytes(bytes) => Ok(Some(bytes)),
            Value::Null => Ok(None),
            _ => Err(UnexpectedColumn),
        }
    }

    pub fn digest(&mut self) -> Result<[u8; 32], UnexpectedColumn> {
        self.bytes()?.try_into().map_err(|_| UnexpectedColumn)
    }

    /// An integer of any type that holds it.
    pub fn number<N: TryFrom<i64>>(&mut self) -> Result<N, UnexpectedColumn> {
        self.optional_number()?.ok_or(UnexpectedColumn)
    }

    pub fn optional_number<N: TryFrom<i64>>(&mut self) -> Result<Option<N>, UnexpectedColumn> {
        match self.value()? {
            Value::Int(number) => number.try_into().map(Some).map_err(|_| UnexpectedColumn),
            Value::Null => Ok(None),
            _ => Err(UnexpectedColumn),
        }
    }
}

/// A blob in the store.
#[derive(Debug, Clone)]
pub(crate) struct BlobKey {
    /// Empty where the name alone is the key.
    pub tenant: String,
    pub name: BlobName,
}

/// A transaction of a database.
pub(crate) trait Transaction: Send {
    /// What a `SELECT` of a run ends with, so that no other transaction claims the run meanwhile.
    /// A row that another transaction has locked is left out.
    const LOCK_ROW: &'static str;

    /// Executes a statement; returns how many rows it changed.
    fn execute(
        &mut self,
        statement: Statement,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Executes statements whose order does not matter.
    fn execute_all(
        &mut self,
        statements: Vec<Statement>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The rows of a statement.
    fn query(
        &mut self,
        statement: Statement,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// The time by the clock that all owners of the store share.
    fn now(&mut self) -> impl Future<Output = Result<UnixMs, StoreError>> + Send;

    /// Writes a blob, unless it is there.
    fn put_blob(
        &mut self,
        tenant: &str,
        blob: SealedBlob,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The sealed bytes of a blob; `None` if it is missing.
    fn blob(
        &mut self,
        tenant: &str,
        name: BlobName,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> + Send;

    /// The blobs that no row of `pml_blob_refs` names.
    fn unused_blobs(&mut self) -> impl Future<Output = Result<Vec<BlobKey>, StoreError>> + Send;

    /// Removes blobs that no row of `pml_blob_refs` names; returns how many. No transaction can begin to
    /// refer to one of them before this one ends.
    fn remove_unused_blobs(
        &mut self,
        blobs: Vec<BlobKey>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

/// Something to do in one transaction.
pub(crate) trait Work: Send + Sync + 'static {
    /// What it returns.
    type Output: Send + 'static;

    /// Whether it is fsynced with [`Durability::Power`](crate::Durability::Power).
    fn is_durable(&self) -> bool {
        false
    }

    /// Does it. May be called again after a deadlock or a lost connection.
    fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> impl Future<Output = Result<Self::Output, StoreError>> + Send;
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<u64> for Value {
    /// Times beyond the year 292,000,000 are stored as that year.
    fn from(number: u64) -> Self {
        Self::Int(number.try_into().unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Int(number.try_into().unwrap_or(i64::MAX))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<&[u8; 32]> for Value {
    fn from(bytes: &[u8; 32]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
