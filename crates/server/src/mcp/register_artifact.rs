//! `register_artifact`: a file that a task leaves behind.

use super::shape::Field;
use super::tool::{Answer, Call, Effect, Tool, applied, written, written_schema};
use heirloom_engine::NewArtifact;
use heirloom_model::kinds::ArtifactType;
use heirloom_model::{Fault, Scope, limits};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "register_artifact",
    title: "Register an artifact",
    about: "Register a file of the project that a task leaves behind, with its size and checksum; `heirloom artifact \
            verify` says later whether it is still the same.",
    fields: &[
        Field::text(
            "path",
            "The file, relative to the project's root",
            limits::PATH_BYTES_MAX,
        )
        .required(),
        Field::name("task", "The task").required(),
        Field::choice(
            "type",
            "file (the default), patch, test, document or config",
            &["file", "patch", "test", "document", "config"],
        ),
        Field::text("description", "What it is", limits::DESCRIPTION_BYTES_MAX),
        Field::name("agent", "The agent that made it; you, if it is not said"),
    ],
    output,
    effect: Effect::AddsOnce,
    call,
};

fn output() -> Value {
    written_schema(json!({}))
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let args = &call.args;
    let sort = args.text("type").unwrap_or_else(|| "file".to_owned());
    let artifact_type: ArtifactType = (sort.parse())
        .map_err(|_| Fault::usage(format!("`{sort}` is not a type of an artifact")))?;
    let registered = call.engine.add_artifact(&NewArtifact {
        path: args.needed("path")?,
        scope: Scope {
            agent: Some(call.agent()?),
            ..Scope::of_task(&args.needed("task")?)
        },
        artifact_type,
        description: args.text("description"),
        digest: None,
    })?;
    Ok(written(applied(&registered)))
}
