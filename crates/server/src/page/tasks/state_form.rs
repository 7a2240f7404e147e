//! Forms that set the state and the title of a task.

use crate::App;
use crate::page::form_fields::FormFields;
use crate::page::request_context::redirect_back;
use crate::page::toast::toast_and_refresh;
use crate::page::{PageError, RequestContext, record_label};
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_engine::TaskChange;
use heirloom_model::Permission;
use heirloom_model::kinds::TaskState;

/// Sets the state of a task, or its title.
pub(super) async fn set(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let mut change = TaskChange::default();
    let done = match (fields.get("set"), fields.get("state")) {
        ("title", _) => {
            change.title = Some(fields.get("title").to_owned());
            "saved"
        }
        (_, "done") => {
            change.state = Some(TaskState::Done);
            "done"
        }
        _ => {
            change.state = Some(TaskState::Open);
            "reopened"
        }
    };
    let to = record_label::task_href(&id);
    let project = context.resolve_project(Permission::Change)?;
    let undo = app.with_engine(project, move |engine| {
        engine.tasks().get(&id)?;
        Ok(engine.tasks().set(&id, &change, "user")?.id.to_string())
    });
    let undo = undo.await?;
    match context.is_part {
        false => Ok(redirect_back(&to, done, &undo)),
        true => toast_and_refresh(&context, done, &undo),
    }
}
