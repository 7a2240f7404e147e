//! The editors of the workspace and of groups: a file that changed meanwhile is no loss, but a choice.

mod markdown;

use super::fields::Fields;
use super::look::back;
use super::view::files::{File, Open, Preview, View};
use super::view::knowledge::Overtaken;
use super::view::{Html, bytes, plural};
use super::{Look, Shell, Wrong, answer, html, told};
use crate::App;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_engine::{Engine, PageSaved, PageText, PagesOf, workspace};
use heirloom_model::{Deed, Fault, text};

/// Their addresses.
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

async fn workspace_first(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    shown(app, look, PagesOf::Workspace, None).await
}

async fn workspace_file(
    State(app): State<App>,
    look: Look,
    Path(file): Path<String>,
) -> Result<Response, Wrong> {
    shown(app, look, PagesOf::Workspace, Some(file)).await
}

async fn group_first(
    State(app): State<App>,
    look: Look,
    Path(group): Path<String>,
) -> Result<Response, Wrong> {
    shown(app, look, PagesOf::Group(group), None).await
}

async fn group_file(
    State(app): State<App>,
    look: Look,
    Path((group, file)): Path<(String, String)>,
) -> Result<Response, Wrong> {
    shown(app, look, PagesOf::Group(group), Some(file)).await
}

async fn groups_first(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let of = look.clone();
    let view = app.ask(project, move |engine| {
        match engine.groups()?.into_iter().next() {
            Some(group) => load(engine, &of, &PagesOf::Group(group.name), None),
            None => Ok(View {
                shell: Shell::load(engine, &of, "groups", "Groups")?,
                noun: "Groups",
                headline: "No group yet.".to_owned(),
                sub: "Who a group is, what it remembers, what was said in it.",
                groups: Vec::new(),
                is_empty: true,
                files: Vec::new(),
                open: None,
            }),
        }
    });
    html(&view.await?)
}

async fn shown(app: App, look: Look, of: PagesOf, file: Option<String>) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| {
        load(engine, &look, &of, file.as_deref())
    });
    html(&view.await?)
}

/// Where a file of these is edited.
fn href(of: &PagesOf, file: &str) -> String {
    let file: Vec<_> = file.split('/').map(told::encoded).collect();
    match of {
        PagesOf::Workspace => format!("/workspace/{}", file.join("/")),
        PagesOf::Group(group) => format!("/groups/{}/{}", told::encoded(group), file.join("/")),
    }
}

fn load(engine: &Engine, look: &Look, of: &PagesOf, file: Option<&str>) -> Result<View, Fault> {
    let pages = engine.pages(of)?;
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
        Some(name) => Some(opened(engine, of, name)?),
        None => None,
    };
    let groups = match of {
        PagesOf::Workspace => Vec::new(),
        PagesOf::Group(own) => engine
            .groups()?
            .into_iter()
            .map(|group| {
                let is_own = group.name == *own;
                (
                    group.name.clone(),
                    format!("/groups/{}", told::encoded(&group.name)),
                    is_own,
                )
            })
            .collect(),
    };
    let (at, noun, sub) = match of {
        PagesOf::Workspace => (
            "workspace",
            "Workspace",
            "Markdown that people and agents both edit; contexts carry it, and recall finds its lines.",
        ),
        PagesOf::Group(_) => (
            "groups",
            "Groups",
            "Who a group is, what it remembers, what was said in it.",
        ),
    };
    Ok(View {
        shell: Shell::load(engine, look, at, noun)?,
        noun,
        headline: match of {
            PagesOf::Workspace => format!(
                "{} that every session reads.",
                plural(there, "file", "files")
            ),
            PagesOf::Group(group) => format!(
                "{} of the group {}.",
                plural(there, "file", "files"),
                text::printable(group)
            ),
        },
        sub,
        groups,
        is_empty: false,
        files: pages
            .iter()
            .map(|page| File {
                name: text::printable(&page.name),
                href: href(of, &page.name),
                size: page
                    .size_bytes
                    .map_or_else(|| "not there yet".to_owned(), bytes),
                is_current: Some(&page.name) == name.as_ref(),
            })
            .collect(),
        open,
    })
}

fn opened(engine: &Engine, of: &PagesOf, name: &str) -> Result<Open, Fault> {
    let PageText { text, tag } = engine.page_text(of, name)?;
    let about = match of {
        PagesOf::Workspace => format!(
            "Its lines are records of the category `{}`.",
            workspace::about(name)
        )
        .replace('`', ""),
        PagesOf::Group(_) => String::new(),
    };
    Ok(Open {
        name: name.to_owned(),
        href: href(of, name),
        preview: markdown::shown(&text),
        text,
        tag,
        about,
    })
}

async fn save_workspace(
    State(app): State<App>,
    look: Look,
    Path(file): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    save(app, look, PagesOf::Workspace, file, fields).await
}

async fn save_group(
    State(app): State<App>,
    look: Look,
    Path((group, file)): Path<(String, String)>,
    fields: Fields,
) -> Result<Response, Wrong> {
    save(app, look, PagesOf::Group(group), file, fields).await
}

async fn save(
    app: App,
    look: Look,
    of: PagesOf,
    file: String,
    fields: Fields,
) -> Result<Response, Wrong> {
    let to = href(&of, &file);
    let project = look.project(Deed::Change)?;
    let address = to.clone();
    let saved = app.ask(project, move |engine| {
        let said = fields.raw("text");
        match engine.save_page(&of, &file, said, fields.get("tag"))? {
            PageSaved::Done => Ok(Ok("saved")),
            PageSaved::Same => Ok(Ok("unchanged")),
            PageSaved::Overtaken(theirs) => Ok(Err(Box::new(Overtaken {
                shell: Shell::load(engine, &look, "workspace", "Two versions")?,
                name: text::printable(&file),
                action: address.clone(),
                theirs: markdown::shown(&theirs.text),
                theirs_meta: "on the disk".to_owned(),
                mine: markdown::shown(said),
                fields: vec![
                    ("csrf".to_owned(), look.csrf.clone()),
                    ("tag".to_owned(), theirs.tag),
                    ("text".to_owned(), said.to_owned()),
                ],
                list: address,
            }))),
        }
    });
    match saved.await? {
        Ok("saved") => Ok(back(&to, "written", "")),
        Ok(done) => Ok(back(&to, done, "")),
        Err(view) => answer(StatusCode::CONFLICT, &*view),
    }
}

async fn unsave_workspace(
    State(app): State<App>,
    look: Look,
    Path(file): Path<String>,
    _fields: Fields,
) -> Result<Response, Wrong> {
    unsave(app, look, PagesOf::Workspace, file).await
}

async fn unsave_group(
    State(app): State<App>,
    look: Look,
    Path((group, file)): Path<(String, String)>,
    _fields: Fields,
) -> Result<Response, Wrong> {
    unsave(app, look, PagesOf::Group(group), file).await
}

async fn unsave(app: App, look: Look, of: PagesOf, file: String) -> Result<Response, Wrong> {
    let to = href(&of, &file);
    let project = look.project(Deed::Change)?;
    app.ask(project, move |engine| engine.unsave_page(&of, &file))
        .await?;
    match look.is_part {
        false => Ok(back(&to, "undone", "")),
        true => super::records::undone(&look),
    }
}

/// What a text would look like; nothing is saved.
async fn preview(look: Look, fields: Fields) -> Result<Response, Wrong> {
    look.project(Deed::Read)?;
    let preview: Html = markdown::shown(fields.raw("text"));
    html(&Preview { preview })
}
