//! Page of open errors, and their resolution.

use super::task_rows::open_error_row;
use crate::App;
use crate::page::form_fields::FormFields;
use crate::page::request_context::{redirect_back, times};
use crate::page::view::plural;
use crate::page::view::tasks::{ErrorListView, ResolvedErrorRow};
use crate::page::{PageError, RequestContext, Shell, Toast, render};
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_engine::Filter;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{Kind, Permission, text};

/// Maximum number of shown errors, newest first.
const SHOWN: usize = 60;
/// Maximum number of counted errors.
const COUNTED: usize = 1_000;

pub(super) async fn list(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        let times = times(engine);
        let filter = Filter::current(&[Kind::Error], engine.now()).state(ErrorRecord::OPEN);
        let found = engine.records().find(&filter.clone().limit(SHOWN))?;
        let all = match found.len() {
            SHOWN => engine.records().count(&filter.limit(COUNTED))?,
            n => n,
        };
        let headline = match all {
            0 => "No error is open.".to_owned(),
            COUNTED => format!("At least {COUNTED} errors are open; the newest {SHOWN}:"),
            n if n > SHOWN => format!("{n} errors are open; the newest {SHOWN}:"),
            n => format!("{} open.", plural(n, "error is", "errors are")),
        };
        Ok(ErrorListView {
            headline,
            errors: found
                .iter()
                .map(|one| open_error_row(one, &context, &times))
                .collect(),
            shell: Shell::load(engine, &context, "errors", "Open errors")?,
        })
    });
    render(&view.await?)
}

/// Resolves an error.
pub(super) async fn resolve(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let with = fields.get("with").to_owned();
    let project = context.resolve_project(Permission::Change)?;
    let resolved = app.with_engine(project, move |engine| {
        let name = text::excerpt(
            &text::replace_control_chars(
                &engine
                    .records()
                    .get(engine.records().resolve_id(&id)?)?
                    .text,
            ),
            60,
        );
        let applied = engine.errors().resolve(&id, &with, "user")?;
        Ok((applied.id.to_string(), name))
    });
    let (id, name) = resolved.await?;
    if !context.is_part {
        return Ok(redirect_back(
            &fields.return_path("/errors"),
            "resolved",
            &id,
        ));
    }
    render(&ResolvedErrorRow {
        toast: Toast::of(
            &context,
            "Resolved. The next agent with this error gets the resolution.",
            &id,
        ),
        id,
        name,
        what: "Resolved.".to_owned(),
    })
}
