//! PostgreSQL implementation of the store.

pub(crate) mod dialect;
pub(crate) mod pool;
mod project_numbers;
pub(crate) mod session;
pub(crate) mod values;
