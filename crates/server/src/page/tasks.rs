//! Task pages: the list, one task with its attempts, and open errors.

mod attempt_timeline;
mod detail;
mod error_list;
mod state_form;
mod task_list;
mod task_memory;
mod task_rows;
mod task_state;

pub(super) use task_rows::open_error_row;
pub(in crate::page) use task_state::TaskStatus;

use crate::App;
use axum::Router;
use axum::routing::{get, post};

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/tasks", get(task_list::show))
        .route("/tasks/{id}", get(detail::show).post(state_form::set))
        .route("/errors", get(error_list::list))
        .route("/errors/{id}", post(error_list::resolve))
}
