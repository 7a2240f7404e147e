//! Change of several selected entries by one form, with one undo.

use crate::App;
use crate::page::form_fields::FormFields;
use crate::page::request_context::redirect_back;
use crate::page::toast::{done_message, with_refresh_trigger};
use crate::page::view::knowledge::ToastView;
use crate::page::view::plural;
use crate::page::{PageError, RequestContext, Toast, render};
use axum::extract::State;
use axum::response::Response;
use heirloom_engine::BulkChange;
use heirloom_model::{Fault, Mark, Permission, RecordId};

/// Applies the change of the pressed button to all selected entries.
pub(super) async fn change(
    State(app): State<App>,
    context: RequestContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let (change, done) = match fields.get("do") {
        "retire" => (BulkChange::Retire, "all-retired"),
        "pin" => (BulkChange::Mark(Mark::Pinned(true)), "all-pinned"),
        "unpin" => (BulkChange::Mark(Mark::Pinned(false)), "all-unpinned"),
        "mute" => (BulkChange::Mark(Mark::Muted(true)), "all-muted"),
        "unmute" => (BulkChange::Mark(Mark::Muted(false)), "all-unmuted"),
        "move" => {
            let category = fields.non_empty("category");
            let category = category.ok_or_else(|| Fault::usage("choose a category"))?;
            (BulkChange::Move(category), "all-moved")
        }
        _ => return Err(Fault::usage("choose what to do with the selected entries").into()),
    };
    let given: Vec<String> = fields.values("id").map(str::to_owned).collect();
    if given.is_empty() {
        return Err(Fault::usage("no entry is selected").into());
    }
    let by = context.actor_name();
    let project = context.resolve_project(Permission::Change)?;
    let changed = app.with_engine(project, move |engine| {
        let ids = given.iter().map(|id| engine.records().resolve_id(id));
        let ids: Vec<RecordId> = ids.collect::<Result<_, _>>()?;
        engine.records().change_all(&ids, &change, &by)
    });
    let changed = changed.await?;
    let undo: Vec<String> = changed.iter().map(ToString::to_string).collect();
    let (done, undo) = match changed.is_empty() {
        true => ("unchanged", String::new()),
        false => (done, undo.join(",")),
    };
    if !context.is_part {
        return Ok(redirect_back(
            &fields.return_path("/knowledge"),
            done,
            &undo,
        ));
    }
    let words = match changed.len() {
        0 => done_message(done).to_owned(),
        n => format!("{}: {}", plural(n, "entry", "entries"), done_message(done)),
    };
    Ok(with_refresh_trigger(render(&ToastView {
        toast: Toast::of(&context, words, &undo),
        is_target: false,
    })?))
}
