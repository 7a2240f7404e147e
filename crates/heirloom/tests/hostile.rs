//! Every command in hostile repositories: pipes, devices, endless, huge and packed files, links, deep folders and
//! names with escapes at every name that Heirloom reads.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "hostile/commands.rs"]
mod commands;
#[path = "hostile/file_names.rs"]
mod file_names;
#[path = "hostile/named_files.rs"]
mod named_files;
#[path = "hostile/repository.rs"]
mod repository;
