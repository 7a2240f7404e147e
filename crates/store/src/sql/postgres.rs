//! Connection to PostgreSQL: addresses, the pool, sessions with pipelined statements, and the dialect.

pub(crate) mod address;
pub(crate) mod blocking;
mod dialect;
mod nul_encoding;
pub(crate) mod plan_log;
pub(crate) mod pool;
mod prepared_statements;
mod project_numbers;
pub(crate) mod request;
pub(crate) mod session;
pub(crate) mod tls;
pub(crate) mod values;
