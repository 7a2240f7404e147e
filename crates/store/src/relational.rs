//! Operations of the store in SQL, written once for all databases.
//!
//! Everything here reads and writes through [`crate::sql::Connection`] inside a transaction of the caller. SQLite and
//! PostgreSQL differ in their connections, transactions and schemas, and in a few statements.

pub(crate) mod audit_events;
pub(crate) mod index;
pub(crate) mod receipts;
pub(crate) mod record_history;
pub(crate) mod record_lookup;
pub(crate) mod record_query;
pub(crate) mod row_codec;
pub(crate) mod sessions;
pub(crate) mod write;
