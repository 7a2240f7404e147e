//! Machines that share a memory on a database server; the server is the one that `HEIRLOOM_TEST_POSTGRES` names.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "a project is laid out by hand; a child needs our PATH"
)]

#[path = "support/answer_validation.rs"]
mod answer_validation;
#[path = "fleet/claims.rs"]
mod claims;
#[path = "fleet/commands.rs"]
mod commands;
#[path = "fleet/documentation.rs"]
mod documentation;
#[path = "fleet/machine.rs"]
mod machine;
#[path = "fleet/outbox.rs"]
mod outbox;
