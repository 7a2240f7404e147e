//! Settings pages: effective settings with their layers, health checks, hook calls, and preferences of the browser.

mod health_checks;
mod hook_calls;
mod preferences;

use super::view::plural;
use super::view::settings::{SettingRow, SettingsView};
use super::{PageError, RequestContext, Shell, render};
use crate::App;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_model::{Permission, text};

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/settings", get(show))
        .route("/settings/health", get(health_checks::show))
        .route("/settings/hooks", get(hook_calls::show))
        .route("/settings/theme", post(preferences::theme))
        .route("/settings/keys", post(preferences::keys))
}

async fn show(State(app): State<App>, context: RequestContext) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let known = app.options().settings.clone();
    let view = app.with_engine(project, move |engine| {
        let mut groups: Vec<(String, Vec<SettingRow>)> = Vec::new();
        let own = known.iter().filter(|one| one.origin != "default").count();
        for one in &known {
            let part = one.key.split_once('.').map_or("", |(part, _)| part);
            if groups.last().is_none_or(|(name, _)| name != part) {
                groups.push((part.to_owned(), Vec::new()));
            }
            if let Some((_, list)) = groups.last_mut() {
                list.push(SettingRow {
                    key: one.key.clone(),
                    value: text::excerpt(&text::replace_control_chars(&one.value), 400),
                    origin: text::replace_control_chars(&one.origin),
                    is_own: one.origin != "default",
                });
            }
        }
        Ok(SettingsView {
            shell: Shell::load(engine, &context, "settings", "Settings")?,
            headline: match own {
                0 => "All values are defaults.".to_owned(),
                n => format!(
                    "{} from the default.",
                    plural(n, "value differs", "values differ")
                ),
            },
            groups,
        })
    });
    render(&view.await?)
}
