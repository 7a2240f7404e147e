//! Lists page by page.

use heirloom_model::{limits, text};
use rmcp::model::{ErrorData, PaginatedRequestParams};

/// What stands before the number in a cursor: clients are not to make their own.
const MARK: &str = "after-";

/// The page of a list that a client asks for, and the cursor of the next one. Errors: a cursor that is none of ours.
pub(super) fn page<T>(
    items: Vec<T>,
    request: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let cursor = request.and_then(|request| request.cursor.as_deref());
    let start = match cursor {
        None => 0,
        Some(cursor) => read(cursor).ok_or_else(|| {
            let said = format!("`{}` is no cursor of this list", text::excerpt(cursor, 60));
            ErrorData::invalid_params(said, None)
        })?,
    };
    let all = items.len();
    let page: Vec<_> = items
        .into_iter()
        .skip(start)
        .take(limits::MCP_PAGE_ITEMS)
        .collect();
    let end = start.saturating_add(page.len());
    let next = (end < all && !page.is_empty()).then(|| format!("{MARK}{end}"));
    Ok((page, next))
}

fn read(cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix(MARK)?;
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
    fn pages_follow_each_other_to_the_end() {
        let items = 2 * limits::MCP_PAGE_ITEMS + 1;
        let all: Vec<usize> = (0..items).collect();
        let (first, next) = page(all.clone(), None).unwrap();
        assert_eq!(first, all[..limits::MCP_PAGE_ITEMS]);
        let (second, next) = page(all.clone(), Some(&ask(&next.unwrap()))).unwrap();
        assert_eq!(second.len(), limits::MCP_PAGE_ITEMS);
        let (third, end) = page(all.clone(), Some(&ask(&next.unwrap()))).unwrap();
        assert_eq!((third, end), (vec![items - 1], None));
        assert_eq!(
            page(all[..limits::MCP_PAGE_ITEMS].to_vec(), None)
                .unwrap()
                .1,
            None
        );
        assert_eq!(
            page(all, Some(&ask("after-9999"))).unwrap(),
            (Vec::new(), None)
        );
    }

    #[test]
    fn cursors_of_somebody_else_are_refused() {
        for bad in [
            "",
            "1",
            "after-",
            "after--1",
            "after-x",
            "after-99999999999999999999999",
        ] {
            let refused = page(vec![1], Some(&ask(bad)));
            assert_eq!(refused.unwrap_err().code.0, -32602, "{bad}");
        }
    }
}
