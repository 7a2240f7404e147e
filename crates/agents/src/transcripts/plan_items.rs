//! Items of plans and to-do lists in tool calls.

use super::PlanItem;
use crate::json_fields::{Field, as_keyword, as_nonblank_string, as_object, for_each_element};
use heirloom_model::limits::{TRANSCRIPT_CALL_CHARS_MAX, TRANSCRIPT_PLAN_ITEMS_MAX};
use heirloom_model::text;
use serde::Deserialize;

/// An item as the programs write it; each names the text differently.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    step: Field<'a>,
    #[serde(borrow)]
    description: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
}

/// Returns the items of an array, without cancelled ones; `None` if the field is not an array.
pub(crate) fn plan_items(field: Field<'_>) -> Option<Vec<PlanItem>> {
    field.filter(|raw| raw.get().starts_with('['))?;
    let mut items = Vec::new();
    for_each_element(field, &mut |raw| {
        let Some(item) = as_object::<Item<'_>>(Some(raw)) else {
            return;
        };
        let text = [item.content, item.step, item.description]
            .into_iter()
            .find_map(as_nonblank_string);
        let status = as_keyword(item.status);
        if let Some(text) = text
            && status != "cancelled"
            && items.len() < TRANSCRIPT_PLAN_ITEMS_MAX
        {
            items.push(PlanItem {
                text: item_text(&text),
                is_done: status == "completed",
            });
        }
    });
    Some(items)
}

/// Returns the text of an item on one short line.
pub(crate) fn item_text(text: &str) -> String {
    text::excerpt(text.trim(), TRANSCRIPT_CALL_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_items_stop_at_maximum() {
        for (given, kept) in [
            (TRANSCRIPT_PLAN_ITEMS_MAX, TRANSCRIPT_PLAN_ITEMS_MAX),
            (TRANSCRIPT_PLAN_ITEMS_MAX + 1, TRANSCRIPT_PLAN_ITEMS_MAX),
        ] {
            let item = r#"{"content":"one step","status":"pending"}"#;
            let text = format!("[{}]", vec![item; given].join(","));
            let raw = serde_json::value::RawValue::from_string(text).unwrap();
            assert_eq!(plan_items(Some(&raw)).unwrap().len(), kept);
        }
    }
}
