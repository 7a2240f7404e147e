//! Errors that nobody has resolved, and saying what helped.

use super::one::open_error;
use crate::App;
use crate::page::fields::Fields;
use crate::page::look::{back, times};
use crate::page::view::plural;
use crate::page::view::tasks::{Errors, Gone};
use crate::page::{Look, Shell, Toast, Wrong, html};
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_engine::Filter;
use heirloom_model::kinds::Mistake;
use heirloom_model::{Deed, Kind, text};

/// Errors that are shown, the newest.
const SHOWN: usize = 60;

pub(super) async fn list(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| {
        let times = times(engine);
        let filter = Filter::current(&[Kind::Error], engine.now()).state(Mistake::OPEN);
        let found = engine.find(&filter.limit(SHOWN))?;
        let headline = match found.len() {
            0 => "No error is open.".to_owned(),
            SHOWN => format!("The newest {SHOWN} open errors."),
            n => format!("{} open.", plural(n, "error is", "errors are")),
        };
        Ok(Errors {
            headline,
            errors: found
                .iter()
                .map(|one| open_error(one, &look, &times))
                .collect(),
            shell: Shell::load(engine, &look, "errors", "Open errors")?,
        })
    });
    html(&view.await?)
}

/// Says what helped.
pub(super) async fn resolve(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    let with = fields.get("with").to_owned();
    let project = look.project(Deed::Change)?;
    let resolved = app.ask(project, move |engine| {
        let name = text::excerpt(
            &text::printable(&engine.get(engine.resolve_id(&id)?)?.text),
            60,
        );
        let applied = engine.resolve_error(&id, &with, "user")?;
        Ok((applied.id.to_string(), name))
    });
    let (id, name) = resolved.await?;
    if !look.is_part {
        return Ok(back(&fields.back("/errors"), "resolved", &id));
    }
    html(&Gone {
        toast: Toast::of(&look, "Resolved. The next who meets it is told.", &id),
        id,
        name,
        what: "Resolved.".to_owned(),
    })
}
