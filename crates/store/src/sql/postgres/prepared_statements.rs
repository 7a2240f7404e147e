//! Statements that a connection has prepared, so that the server parses and plans each of them once.
//!
//! They are used only where the address asks for them with `prepared_statements=on`: a pooler that hands the transactions
//! of a client to different connections does not have the statements that the client prepared on another one.

use heirloom_model::limits;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};

/// Prepared statements of one connection.
#[derive(Debug, Default)]
pub(crate) struct PreparedStatements(Mutex<HashMap<String, Vec<KnownStatement>>>);

/// Statement with the types of its parameters.
#[derive(Debug)]
struct KnownStatement {
    types: Vec<Type>,
    /// `None` after the first use: a command uses most statements once.
    prepared: Option<Statement>,
}

impl PreparedStatements {
    /// Returns the statement if it is prepared.
    pub(super) fn get(&self, sql: &str, types: &[Type]) -> Option<Statement> {
        let known = self.lock();
        let same_text = known.get(sql)?;
        let found = same_text.iter().find(|one| one.types == types)?;
        found.prepared.clone()
    }

    /// Counts a use of a statement; prepares it at the second one. Does nothing once the connection has as many
    /// statements as it may have.
    pub(super) async fn prepare_repeated(
        &self,
        client: &Client,
        sql: &str,
        types: Vec<Type>,
    ) -> Result<(), tokio_postgres::Error> {
        if !self.is_repeated(sql, &types) {
            return Ok(());
        }
        let prepared = client.prepare_typed(sql, &types).await?;
        let mut known = self.lock();
        let same_text = known.get_mut(sql).into_iter().flatten();
        for one in same_text.filter(|one| one.types == types) {
            one.prepared = Some(prepared.clone());
        }
        Ok(())
    }

    /// Returns true for a statement that was used before and is not prepared.
    fn is_repeated(&self, sql: &str, types: &[Type]) -> bool {
        let mut known = self.lock();
        if let Some(same_text) = known.get(sql)
            && let Some(found) = same_text.iter().find(|one| one.types == types)
        {
            return found.prepared.is_none();
        }
        if known.len() < limits::POSTGRES_PREPARED_MAX {
            let first = KnownStatement {
                types: types.to_vec(),
                prepared: None,
            };
            known.entry(sql.to_owned()).or_default().push(first);
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<KnownStatement>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_is_prepared_at_second_use_up_to_limit() {
        let statements = PreparedStatements::default();
        let types = [Type::INT8];
        for number in 0..=limits::POSTGRES_PREPARED_MAX {
            assert!(!statements.is_repeated(&format!("SELECT {number}"), &types));
        }
        let is_repeated =
            |number: usize| statements.is_repeated(&format!("SELECT {number}"), &types);
        assert!(is_repeated(limits::POSTGRES_PREPARED_MAX - 1));
        assert!(!is_repeated(limits::POSTGRES_PREPARED_MAX));
        assert!(
            statements.get("SELECT 0", &types).is_none(),
            "not prepared yet"
        );
        assert!(
            !statements.is_repeated("SELECT 0", &[Type::TEXT]),
            "of other types"
        );
    }
}
