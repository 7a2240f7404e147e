//! Editors of workspace and group files, with optimistic concurrency: a concurrent change is shown as a choice
//! between versions.

mod markdown;

use super::form_fields::FormFields;
use super::request_context::redirect_back;
use super::view::files::{FileEntry, FilesView, OpenFile, PreviewView};
use super::view::knowledge::EditConflictView;
use super::view::{Html, bytes, line_diff, plural};
use super::{PageError, RequestContext, Shell, record_label, render, render_with_status};
use crate::App;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_engine::{EditableFolder, EditableText, Engine, SaveOutcome};
use heirloom_formats::workspace;
use heirloom_model::{Fault, Permission, text};

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/workspace", get(workspace_first))
        .route(
            "/workspace/{*file}",
            get(workspace_file).post(save_workspace),
        )
        .route("/groups", get(groups_first))
        .route("/groups/{group}", get(group_first))
        .route("/groups/{group}/{file}", get(group_file).post(save_group))
        .route("/preview", post(preview))
        .route("/unsave/workspace/{*file}", post(unsave_workspace))
        .route("/unsave/groups/{group}/{file}", post(unsave_group))
}

async fn workspace_first(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    show(app, context, EditableFolder::Workspace, None).await
}

async fn workspace_file(
    State(app): State<App>,
    context: RequestContext,
    Path(file): Path<String>,
) -> Result<Response, PageError> {
    show(app, context, EditableFolder::Workspace, Some(file)).await
}

async fn group_first(
    State(app): State<App>,
    context: RequestContext,
    Path(group): Path<String>,
) -> Result<Response, PageError> {
    show(app, context, EditableFolder::Group(group), None).await
}

async fn group_file(
    State(app): State<App>,
    context: RequestContext,
    Path((group, file)): Path<(String, String)>,
) -> Result<Response, PageError> {
    show(app, context, EditableFolder::Group(group), Some(file)).await
}

async fn groups_first(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let of = context.clone();
    let view = app.with_engine(project, move |engine| {
        match engine.groups().list()?.into_iter().next() {
            Some(group) => load(engine, &of, &EditableFolder::Group(group.name), None),
            None => Ok(FilesView {
                shell: Shell::load(engine, &of, "groups", "Groups")?,
                noun: "Groups",
                headline: "No group yet.".to_owned(),
                sub: "Files of a group: its description, memory and messages.",
                groups: Vec::new(),
                is_empty: true,
                files: Vec::new(),
                open: None,
            }),
        }
    });
    render(&view.await?)
}

async fn show(
    app: App,
    context: RequestContext,
    of: EditableFolder,
    file: Option<String>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        load(engine, &context, &of, file.as_deref())
    });
    render(&view.await?)
}

/// Returns the path of a file's editor.
fn editor_path(of: &EditableFolder, file: &str) -> String {
    let file: Vec<_> = file.split('/').map(record_label::percent_encode).collect();
    match of {
        EditableFolder::Workspace => format!("/workspace/{}", file.join("/")),
        EditableFolder::Group(group) => format!(
            "/groups/{}/{}",
            record_label::percent_encode(group),
            file.join("/")
        ),
    }
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    of: &EditableFolder,
    file: Option<&str>,
) -> Result<FilesView, Fault> {
    let pages = engine.files().list(of)?;
    let there = pages
        .iter()
        .filter(|page| page.size_bytes.is_some())
        .count();
    let first = pages
        .iter()
        .find(|page| page.name == "MEMORY.md")
        .or(pages.first());
    let name = file
        .map(str::to_owned)
        .or_else(|| first.map(|page| page.name.clone()));
    let open = match &name {
        Some(name) => Some(open_file(engine, of, name)?),
        None => None,
    };
    let groups = match of {
        EditableFolder::Workspace => Vec::new(),
        EditableFolder::Group(own) => engine
            .groups()
            .list()?
            .into_iter()
            .map(|group| {
                let is_own = group.name == *own;
                (
                    group.name.clone(),
                    format!("/groups/{}", record_label::percent_encode(&group.name)),
                    is_own,
                )
            })
            .collect(),
    };
    let (at, noun, sub) = match of {
        EditableFolder::Workspace => (
            "workspace",
            "Workspace",
            "Markdown that people and agents both edit; contexts include it, and recall finds its lines.",
        ),
        EditableFolder::Group(_) => (
            "groups",
            "Groups",
            "Files of a group: its description, memory and messages.",
        ),
    };
    Ok(FilesView {
        shell: Shell::load(engine, context, at, noun)?,
        noun,
        headline: match of {
            EditableFolder::Workspace => format!(
                "{} that every session reads.",
                plural(there, "file", "files")
            ),
            EditableFolder::Group(group) => format!(
                "{} of the group {}.",
                plural(there, "file", "files"),
                text::replace_control_chars(group)
            ),
        },
        sub,
        groups,
        is_empty: false,
        files: pages
            .iter()
            .map(|page| FileEntry {
                name: text::replace_control_chars(&page.name),
                href: editor_path(of, &page.name),
                size: page
                    .size_bytes
                    .map_or_else(|| "not created yet".to_owned(), bytes),
                is_current: Some(&page.name) == name.as_ref(),
            })
            .collect(),
        open,
    })
}

fn open_file(engine: &Engine, of: &EditableFolder, name: &str) -> Result<OpenFile, Fault> {
    let EditableText { text, tag } = engine.files().text(of, name)?;
    let about = match of {
        EditableFolder::Workspace => match workspace::file_category(name) {
            "log" => "Each bullet becomes a log entry.".to_owned(),
            category @ ("tools" | "agents") => {
                format!("Each bullet becomes an entry about {category}.")
            }
            category => format!("Each bullet becomes a {category}."),
        },
        EditableFolder::Group(_) => String::new(),
    };
    Ok(OpenFile {
        name: name.to_owned(),
        href: editor_path(of, name),
        preview: markdown::render(&text),
        text,
        tag,
        about,
    })
}

async fn save_workspace(
    State(app): State<App>,
    context: RequestContext,
    Path(file): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    save(app, context, EditableFolder::Workspace, file, fields).await
}

async fn save_group(
    State(app): State<App>,
    context: RequestContext,
    Path((group, file)): Path<(String, String)>,
    fields: FormFields,
) -> Result<Response, PageError> {
    save(app, context, EditableFolder::Group(group), file, fields).await
}

async fn save(
    app: App,
    context: RequestContext,
    of: EditableFolder,
    file: String,
    fields: FormFields,
) -> Result<Response, PageError> {
    let to = editor_path(&of, &file);
    let project = context.resolve_project(Permission::Change)?;
    let address = to.clone();
    let saved = app.with_engine(project, move |engine| {
        let submitted = fields.raw("text");
        match engine
            .files()
            .save(&of, &file, submitted, fields.get("tag"))?
        {
            SaveOutcome::Done => Ok(Ok("saved")),
            SaveOutcome::Same => Ok(Ok("unchanged")),
            SaveOutcome::Stale(theirs) => Ok(Err(Box::new(EditConflictView {
                shell: Shell::load(engine, &context, "workspace", "Two versions")?,
                name: text::replace_control_chars(&file),
                action: address.clone(),
                what: "The file was changed while you were editing.".to_owned(),
                diff: line_diff(&theirs.text, submitted),
                is_line_diff: true,
                draft: address.clone(),
                theirs: markdown::render(&theirs.text),
                theirs_meta: "on the disk".to_owned(),
                mine: markdown::render(submitted),
                fields: vec![
                    ("csrf".to_owned(), context.csrf.clone()),
                    ("tag".to_owned(), theirs.tag),
                    ("text".to_owned(), submitted.to_owned()),
                ],
                list: address,
            }))),
        }
    });
    match saved.await? {
        Ok("saved") => Ok(redirect_back(&to, "written", "")),
        Ok(done) => Ok(redirect_back(&to, done, "")),
        Err(view) => render_with_status(StatusCode::CONFLICT, &*view),
    }
}

async fn unsave_workspace(
    State(app): State<App>,
    context: RequestContext,
    Path(file): Path<String>,
    _fields: FormFields,
) -> Result<Response, PageError> {
    undo_save(app, context, EditableFolder::Workspace, file).await
}

async fn unsave_group(
    State(app): State<App>,
    context: RequestContext,
    Path((group, file)): Path<(String, String)>,
    _fields: FormFields,
) -> Result<Response, PageError> {
    undo_save(app, context, EditableFolder::Group(group), file).await
}

async fn undo_save(
    app: App,
    context: RequestContext,
    of: EditableFolder,
    file: String,
) -> Result<Response, PageError> {
    let to = editor_path(&of, &file);
    let project = context.resolve_project(Permission::Change)?;
    app.with_engine(project, move |engine| engine.files().undo_save(&of, &file))
        .await?;
    match context.is_part {
        false => Ok(redirect_back(&to, "undone", "")),
        true => super::records::undone_toast(&context),
    }
}

/// Renders a preview without saving.
async fn preview(context: RequestContext, fields: FormFields) -> Result<Response, PageError> {
    context.resolve_project(Permission::Read)?;
    let preview: Html = markdown::render(fields.raw("text"));
    render(&PreviewView { preview })
}
