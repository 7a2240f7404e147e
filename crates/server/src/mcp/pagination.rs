//! Cursor pagination of MCP lists.

use heirloom_model::{limits, text};
use rmcp::model::{ErrorData, PaginatedRequestParams};

/// Prefix of a cursor, so that clients do not treat cursors as numbers.
const CURSOR_PREFIX: &str = "after-";

/// Returns the requested page of a list and the cursor of the next page. Errors: invalid cursor.
pub(super) fn paginate<T>(
    items: Vec<T>,
    request: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let cursor = request.and_then(|request| request.cursor.as_deref());
    let start = match cursor {
        None => 0,
        Some(cursor) => parse_cursor(cursor).ok_or_else(|| {
            let message = format!(
                "`{}` is not a cursor of this list",
                text::excerpt(cursor, 60)
            );
            ErrorData::invalid_params(message, None)
        })?,
    };
    let all = items.len();
    let page: Vec<_> = items
        .into_iter()
        .skip(start)
        .take(limits::MCP_PAGE_ITEMS)
        .collect();
    let end = start.saturating_add(page.len());
    let next = (end < all && !page.is_empty()).then(|| format!("{CURSOR_PREFIX}{end}"));
    Ok((page, next))
}

fn parse_cursor(cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix(CURSOR_PREFIX)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(cursor: &str) -> PaginatedRequestParams {
        PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned()))
    }

    #[test]
    fn pagination_covers_all_items() {
        let items = 2 * limits::MCP_PAGE_ITEMS + 1;
        let all: Vec<usize> = (0..items).collect();
        let (first, next) = paginate(all.clone(), None).unwrap();
        assert_eq!(first, all[..limits::MCP_PAGE_ITEMS]);
        let (second, next) = paginate(all.clone(), Some(&ask(&next.unwrap()))).unwrap();
        assert_eq!(second.len(), limits::MCP_PAGE_ITEMS);
        let (third, end) = paginate(all.clone(), Some(&ask(&next.unwrap()))).unwrap();
        assert_eq!((third, end), (vec![items - 1], None));
        assert_eq!(
            paginate(all[..limits::MCP_PAGE_ITEMS].to_vec(), None)
                .unwrap()
                .1,
            None
        );
        assert_eq!(
            paginate(all, Some(&ask("after-9999"))).unwrap(),
            (Vec::new(), None)
        );
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for bad in [
            "",
            "1",
            "after-",
            "after--1",
            "after-x",
            "after-99999999999999999999999",
        ] {
            let refused = paginate(vec![1], Some(&ask(bad)));
            assert_eq!(refused.unwrap_err().code.0, -32602, "{bad}");
        }
    }
}
