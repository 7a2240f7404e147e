//! Cursor pagination of the API's lists: page size, cursor, and the page.

use crate::Problem;
use axum::http::StatusCode;
use heirloom_engine::Page;
use heirloom_model::limits::{API_PAGE_DEFAULT, API_PAGE_MAX};
use heirloom_model::{Record, RecordId};
use serde::Serialize;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct List<T> {
    /// The items of this page.
    pub(super) items: Vec<T>,
    /// `cursor` of the next page; `null` on the last page.
    pub(super) next: Option<String>,
}

impl<T> List<T> {
    pub(super) fn complete(items: Vec<T>) -> Self {
        Self { items, next: None }
    }

    pub(super) fn from_page(page: &Page, item: impl Fn(&Record) -> T) -> Self {
        Self {
            items: page.records.iter().map(item).collect(),
            next: page.next.map(|id| id.to_string()),
        }
    }
}

/// Checks the page size. Errors: 400 above [`API_PAGE_MAX`].
pub(super) fn page_size(given: Option<usize>) -> Result<usize, Problem> {
    match given {
        None => Ok(API_PAGE_DEFAULT),
        Some(limit) if (1..=API_PAGE_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            format!("`limit` must be from 1 to {API_PAGE_MAX}"),
        )),
    }
}

/// Parses a cursor: the record after which the page begins. Errors: 400.
pub(super) fn parse_cursor(given: Option<&str>) -> Result<Option<RecordId>, Problem> {
    let parsed = given.map(str::parse::<RecordId>).transpose();
    let bad = || {
        Problem::new(StatusCode::BAD_REQUEST, "`cursor` is not a valid cursor")
            .hint("use `next` of the previous page unchanged")
    };
    let parsed = parsed.map_err(|_| bad())?;
    match parsed.map(|id| id.to_string()).as_deref() == given {
        true => Ok(parsed),
        false => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_size_outside_limits_is_refused() {
        assert_eq!(page_size(None), Ok(API_PAGE_DEFAULT));
        assert_eq!(page_size(Some(API_PAGE_MAX)), Ok(API_PAGE_MAX));
        assert!(page_size(Some(API_PAGE_MAX + 1)).is_err());
        assert!(page_size(Some(0)).is_err());
    }
}
