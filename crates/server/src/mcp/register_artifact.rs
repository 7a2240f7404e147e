//! Tool `register_artifact`: registers a file that a task produced.

use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall};
use super::write_answer::{write_answer, write_schema, write_value};
use heirloom_engine::{NewArtifact, Registrar};
use heirloom_model::kinds::ArtifactType;
use heirloom_model::{Fault, Scope, limits};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "register_artifact",
    title: "Register an artifact",
    about: "Register a file that a task leaves behind; changes of it are noticed later.",
    fields: &[
        ToolArgument::text("path", "From the project's root", limits::PATH_BYTES_MAX).required(),
        ToolArgument::name("task", "").required(),
        ToolArgument::choice(
            "type",
            "file by default",
            &["file", "patch", "test", "document", "config"],
        ),
        ToolArgument::text("description", "", limits::DESCRIPTION_BYTES_MAX),
        ToolArgument::name("agent", "").unlisted(),
    ],
    output,
    effect: Effect::AddsOnce,
    call,
};

fn output() -> Value {
    write_schema(json!({}))
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let args = &call.args;
    let sort = args.text("type").unwrap_or_else(|| "file".to_owned());
    let artifact_type: ArtifactType = (sort.parse())
        .map_err(|_| Fault::usage(format!("`{sort}` is not a type of an artifact")))?;
    let agent = call.agent()?;
    let registrar = Registrar {
        source: agent.clone(),
        holder: call.holder.map(str::to_owned),
    };
    let new = NewArtifact {
        path: args.require("path")?,
        scope: Scope {
            agent: Some(agent),
            ..Scope::of_task(&args.require("task")?)
        },
        artifact_type,
        description: args.text("description"),
        digest: None,
    };
    let registered = call.engine.artifacts().add_by(&new, &registrar)?;
    Ok(write_answer(write_value(&registered)))
}
