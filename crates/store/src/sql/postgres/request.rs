//! Statements in the form in which they are sent to PostgreSQL.

use super::dialect::Translation;
use super::pool::PooledClient;
use super::values::{PgRow, PgValue};
use crate::sql::{SqlError, Values};
use futures_util::TryStreamExt;
use rusqlite::ToSql;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_postgres::types::Type;

/// Translations of statements, shared by all sessions of a store.
#[derive(Debug, Default)]
pub(crate) struct TranslationCache(Mutex<HashMap<String, Arc<Translation>>>);

/// Number of translations that are kept: the store has about two hundred statements; those that are built for a filter
/// are translated each time once the cache is full.
const TRANSLATIONS_MAX: usize = 2_048;

impl TranslationCache {
    /// Returns the translation of a statement.
    pub(crate) fn get(&self, sql: &str) -> Arc<Translation> {
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
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    translation: Arc<Translation>,
    values: Vec<PgValue>,
}

/// Answer to a request: its rows and the number of rows that it changed.
pub(crate) type Answer = (Vec<PgRow>, u64);

impl Request {
    /// Creates a request with these values.
    pub(crate) fn new(
        translation: &Arc<Translation>,
        values: &[&dyn ToSql],
    ) -> Result<Self, SqlError> {
        let values = values.iter().map(|value| PgValue::of(*value));
        Ok(Self {
            translation: Arc::clone(translation),
            values: values.collect::<rusqlite::Result<_>>()?,
        })
    }

    /// Returns the statement in PostgreSQL's dialect.
    pub(crate) fn sql(&self) -> &str {
        &self.translation.sql
    }

    /// Returns a request for the plan of the statement; `None` if it has no plan.
    pub(crate) fn explanation(&self) -> Option<Self> {
        let verbs = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];
        let sql = self.sql();
        verbs
            .iter()
            .any(|verb| sql.starts_with(verb))
            .then(|| Self {
                translation: Arc::new(Translation {
                    sql: format!("EXPLAIN (COSTS OFF) {sql}"),
                    parameters: self.translation.parameters.clone(),
                }),
                values: self.values.clone(),
            })
    }

    /// Returns the types of the parameters.
    fn types(&self) -> impl Iterator<Item = Type> {
        self.values.iter().zip(1_usize..).map(|(value, number)| {
            // PostgreSQL cannot infer the type of a parameter that does not occur.
            match self.translation.parameters.contains(&number) {
                true => value.declared_type(),
                false => Type::TEXT,
            }
        })
    }

    /// Prepares the statement if the connection has used it before and prepares statements.
    pub(crate) async fn prepare(&self, client: &PooledClient) -> Result<(), tokio_postgres::Error> {
        match client.statements() {
            Some(statements) => {
                let types = self.types().collect();
                statements.prepare_repeated(client, self.sql(), types).await
            }
            None => Ok(()),
        }
    }

    /// Sends the statement and waits for its rows. The statement is sent when the future is first polled.
    pub(crate) async fn run(&self, client: &PooledClient) -> Result<Answer, tokio_postgres::Error> {
        let types: Vec<Type> = self.types().collect();
        let statements = client.statements();
        let prepared = statements.and_then(|known| known.get(self.sql(), &types));
        let rows = match prepared {
            Some(statement) => client.query_raw(&statement, &self.values).await?,
            None => {
                let typed = self.values.iter().zip(types);
                client.query_typed_raw(self.sql(), typed).await?
            }
        };
        let mut rows = std::pin::pin!(rows);
        let mut found = Vec::new();
        while let Some(row) = rows.try_next().await? {
            found.push(PgRow::new(row));
        }
        Ok((found, rows.rows_affected().unwrap_or(0)))
    }
}

/// Queries that are sent together, before the code that uses their rows runs.
pub(crate) struct QueryBatch<'s> {
    translations: &'s TranslationCache,
    requests: Vec<Request>,
}

impl<'s> QueryBatch<'s> {
    /// Creates a batch without a query.
    pub(crate) fn new(translations: &'s TranslationCache) -> Self {
        Self {
            translations,
            requests: Vec::new(),
        }
    }

    /// Adds a query, unless the batch contains it.
    pub(crate) fn add(&mut self, sql: &str, values: impl Values) -> Result<(), SqlError> {
        let translation = self.translations.get(sql);
        let request = values.with(|values| Request::new(&translation, values))?;
        if !self.requests.contains(&request) {
            self.requests.push(request);
        }
        Ok(())
    }

    /// Returns the queries in the order in which they were added.
    pub(crate) fn into_requests(self) -> Vec<Request> {
        self.requests
    }
}
