//! Answers of the commands with `--json`, from which the schemas are generated.
//!
//! A field that may be left out has `skip_serializing_if`; every other field is always there, with `null` for what is
//! not known.

#[path = "answers/context.rs"]
mod context;
#[path = "answers/files.rs"]
mod files;
#[path = "answers/fleet.rs"]
mod fleet;
#[path = "answers/imports.rs"]
mod imports;
#[path = "answers/memory.rs"]
mod memory;
#[path = "answers/project.rs"]
mod project;
#[path = "answers/record.rs"]
mod record;
#[path = "answers/server.rs"]
mod server;
#[path = "answers/sessions.rs"]
mod sessions;
#[path = "answers/tasks.rs"]
mod tasks;

use crate::schema_files::AnswerSchema;

/// Returns every schema.
pub(crate) fn all() -> Vec<AnswerSchema> {
    [
        context::schemas(),
        files::schemas(),
        fleet::schemas(),
        imports::schemas(),
        memory::schemas(),
        project::schemas(),
        record::schemas(),
        server::schemas(),
        sessions::schemas(),
        tasks::schemas(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
