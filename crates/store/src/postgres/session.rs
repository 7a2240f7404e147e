//! Session: one connection of the pool while an operation of the store uses it.

use super::dialect::Translation;
use super::pool::PooledClient;
use super::project_numbers::ProjectNumbers;
use super::values::{PgRow, PgValue};
use crate::sql::SqlError;
use futures_util::TryStreamExt;
use futures_util::future::join_all;
use heirloom_model::ProjectName;
use rusqlite::ToSql;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

/// Statements that may wait for the next round trip.
const PENDING_MAX: usize = 512;

/// Translations of statements, shared by all sessions of a store.
#[derive(Debug, Default)]
pub(crate) struct TranslationCache(Mutex<HashMap<String, Arc<Translation>>>);

/// Number of translations that are kept: the store has about two hundred statements; those that are built for a filter
/// are translated each time once the cache is full.
const TRANSLATIONS_MAX: usize = 2_048;

impl TranslationCache {
    fn get(&self, sql: &str) -> Arc<Translation> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(translation) = known.get(sql) {
            return Arc::clone(translation);
        }
        let translation = Arc::new(Translation::of(sql));
        if known.len() < TRANSLATIONS_MAX {
            known.insert(sql.to_owned(), Arc::clone(&translation));
        }
        translation
    }
}

/// Statement with its values.
struct Request {
    translation: Arc<Translation>,
    values: Vec<PgValue>,
}

impl Request {
    fn new(translation: &Arc<Translation>, values: &[&dyn ToSql]) -> Result<Self, SqlError> {
        let values = values.iter().map(|value| PgValue::of(*value));
        Ok(Self {
            translation: Arc::clone(translation),
            values: values.collect::<rusqlite::Result<_>>()?,
        })
    }

    /// Sends the statement and waits for its rows. The statement is sent when the future is first polled.
    async fn run(&self, client: &Client) -> Result<(Vec<PgRow>, u64), tokio_postgres::Error> {
        let typed = self.values.iter().zip(1_usize..).map(|(value, number)| {
            // PostgreSQL cannot infer the type of a parameter that does not occur.
            let is_used = self.translation.parameters.contains(&number);
            let kind = if is_used {
                value.declared_type()
            } else {
                Type::TEXT
            };
            (value, kind)
        });
        let rows = client.query_typed_raw(&self.translation.sql, typed).await?;
        let mut rows = std::pin::pin!(rows);
        let mut found = Vec::new();
        while let Some(row) = rows.try_next().await? {
            found.push(PgRow::new(row));
        }
        Ok((found, rows.rows_affected().unwrap_or(0)))
    }
}

/// Connection of the pool in use by one operation.
pub(crate) struct PgSession {
    client: PooledClient,
    runtime: Handle,
    translations: Arc<TranslationCache>,
    projects: Arc<ProjectNumbers>,
    /// Writes that were not sent yet.
    pending: RefCell<Vec<Request>>,
    /// True after a statement failed, until the transaction is rolled back.
    has_failed: Cell<bool>,
}

impl PgSession {
    /// Creates a session on a connection.
    pub(super) fn new(
        client: PooledClient,
        runtime: Handle,
        translations: Arc<TranslationCache>,
        projects: Arc<ProjectNumbers>,
    ) -> Self {
        Self {
            client,
            runtime,
            translations,
            projects,
            pending: RefCell::default(),
            has_failed: Cell::new(false),
        }
    }

    /// Returns the number of a project that an earlier query read.
    pub(crate) fn known_project(&self, name: &ProjectName) -> Option<i64> {
        self.projects.get(name)
    }

    /// Remembers the number of a project.
    pub(crate) fn remember_project(&self, name: &ProjectName, number: i64) {
        self.projects.insert(name, number);
    }

    /// Forgets the numbers of all projects.
    pub(crate) fn forget_projects(&self) {
        self.projects.clear();
    }

    /// Executes several statements without values.
    pub(super) fn execute_batch(&self, sql: &str) -> Result<(), SqlError> {
        self.send(None)?;
        let client: &Client = &self.client;
        Ok(self.runtime.block_on(client.batch_execute(sql))?)
    }

    /// Keeps the connection from being used again.
    pub(super) fn discard(&self) {
        self.client.discard();
    }

    /// Prepares a statement of the store.
    pub(crate) fn statement(&self, sql: &str) -> PgStatement<'_> {
        PgStatement {
            session: self,
            translation: self.translations.get(sql),
        }
    }

    /// Sends all pending writes and `last` in one round trip; returns the rows of `last` and the number of rows that it
    /// changed.
    fn send(&self, last: Option<Request>) -> Result<(Vec<PgRow>, u64), tokio_postgres::Error> {
        let mut requests = self.pending.take();
        let has_query = last.is_some();
        requests.extend(last);
        let client: &Client = &self.client;
        let answers = self
            .runtime
            .block_on(async { join_all(requests.iter().map(|request| request.run(client))).await });
        let mut result = (Vec::new(), 0);
        for answer in answers {
            result = answer.inspect_err(|_| self.has_failed.set(true))?;
        }
        if !has_query {
            result = (Vec::new(), 0);
        }
        Ok(result)
    }

    /// Queues a statement for the next round trip.
    fn queue(&self, request: Request) -> Result<(), tokio_postgres::Error> {
        self.pending.borrow_mut().push(request);
        if self.pending.borrow().len() >= PENDING_MAX {
            self.send(None)?;
        }
        Ok(())
    }

    /// Queues the beginning of a transaction.
    pub(super) fn begin(&self, sql: &str) -> Result<(), tokio_postgres::Error> {
        self.queue(self.plain(sql))
    }

    /// Sends all pending writes and the commit.
    pub(super) fn commit(&self) -> Result<(), tokio_postgres::Error> {
        self.send(Some(self.plain("COMMIT"))).map(drop)
    }

    /// Discards pending writes and rolls the transaction back. A connection that cannot do that is not used again.
    pub(super) fn rollback(&self) {
        self.pending.take();
        self.has_failed.set(false);
        if self.send(Some(self.plain("ROLLBACK"))).is_err() {
            self.client.discard();
        }
    }

    fn plain(&self, sql: &str) -> Request {
        Request {
            translation: self.translations.get(sql),
            values: Vec::new(),
        }
    }
}

/// Statement of the store on PostgreSQL.
pub(crate) struct PgStatement<'c> {
    session: &'c PgSession,
    translation: Arc<Translation>,
}

impl PgStatement<'_> {
    /// Runs the query and returns all of its rows.
    pub(crate) fn query(&self, values: &[&dyn ToSql]) -> Result<Vec<PgRow>, SqlError> {
        let request = Request::new(&self.translation, values)?;
        Ok(self.session.send(Some(request))?.0)
    }

    /// Executes the statement and returns the number of changed rows.
    pub(crate) fn execute(&self, values: &[&dyn ToSql]) -> Result<usize, SqlError> {
        let request = Request::new(&self.translation, values)?;
        let (_, changed) = self.session.send(Some(request))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Queues the statement for the next round trip.
    pub(crate) fn write(&self, values: &[&dyn ToSql]) -> Result<(), SqlError> {
        let request = Request::new(&self.translation, values)?;
        Ok(self.session.queue(request)?)
    }
}
