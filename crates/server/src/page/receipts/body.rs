//! Body of a stored receipt: request, budget, sections and items.

use crate::page::json_items::list;
use crate::page::record_label;
use heirloom_model::context::InclusionReason;
use heirloom_model::record::Attrs;
use heirloom_model::{RecordId, limits, text};
use serde_json::Value;

/// JSON body of a receipt.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceiptBody<'a>(pub(super) &'a Attrs);

/// Section of a receipt.
pub(super) struct ReceiptSection {
    /// Stored name, such as `Key Facts`.
    pub(super) name: String,
    /// Size in the text, characters.
    pub(super) chars: usize,
    /// Size in the text, in the unit of the budget.
    pub(super) size: u64,
    pub(super) items: Vec<ReceiptItem>,
    /// Number of omitted items that are not listed one by one.
    pub(super) more: usize,
    /// Size of these items, in the unit of the budget.
    pub(super) more_size: u64,
    /// Part of them that only lacked space; `None` in a receipt of an earlier version.
    pub(super) more_unfit: Option<ItemTotal>,
}

/// Item of a receipt.
pub(super) struct ReceiptItem {
    pub(super) id: Option<RecordId>,
    pub(super) file: Option<String>,
    /// Beginning of its text.
    pub(super) excerpt: String,
    pub(super) chars: usize,
    /// Size in the unit of the budget.
    pub(super) size: u64,
    pub(super) relevance: Option<f64>,
    pub(super) is_in: bool,
    /// Stored reason.
    pub(super) reason: String,
}

/// Number and size of items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ItemTotal {
    pub(super) count: usize,
    /// Size in the unit of the budget.
    pub(super) size: u64,
}

/// Number of items of a section, from the head of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SectionCount {
    pub(super) name: String,
    pub(super) included: usize,
    pub(super) left_out: ItemTotal,
    /// Omitted items that only lacked space.
    pub(super) did_not_fit: ItemTotal,
}

impl<'a> ReceiptBody<'a> {
    /// Returns a text field without control characters.
    pub(super) fn text(self, name: &str) -> Option<String> {
        Some(text::replace_control_chars(self.raw(name)?))
    }

    /// Returns a text field as it is stored.
    pub(super) fn raw(self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str()
    }

    fn number(self, name: &str) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    pub(super) fn is_tokens(self) -> bool {
        self.raw("unit") == Some("tokens")
    }

    /// Returns the unit of the budget.
    pub(super) fn unit(self) -> &'static str {
        if self.is_tokens() {
            "tokens"
        } else {
            "characters"
        }
    }

    /// Returns a number of characters in the unit of the budget.
    pub(super) fn in_unit(self, chars: u64) -> u64 {
        match self.is_tokens() {
            true => chars.div_ceil(limits::CHARS_PER_TOKEN as u64),
            false => chars,
        }
    }

    /// Returns the used size, in the unit of the budget.
    pub(super) fn used(self) -> u64 {
        self.number(if self.is_tokens() { "tokens" } else { "chars" })
    }

    /// Returns the size of the text, characters.
    pub(super) fn chars(self) -> usize {
        usize::try_from(self.number("chars")).unwrap_or(usize::MAX)
    }

    pub(super) fn budget(self) -> u64 {
        self.number("budget")
    }

    /// Returns the part of the budget that was left.
    pub(super) fn free(self) -> u64 {
        self.budget().saturating_sub(self.used())
    }

    /// Returns the task and the phase; `None` for a context without a task.
    pub(super) fn task(self) -> Option<String> {
        let task = self.text("task")?;
        let task = record_label::task_label(record_label::named_task(Some(&task))?);
        let phase = self.text("phase").map(|phase| phase.to_lowercase());
        Some(match phase {
            Some(phase) => format!("task {task}, {phase}"),
            None => format!("task {task}"),
        })
    }

    /// Returns the name of the context: the words of its question, otherwise its task, otherwise its session.
    pub(super) fn title(self) -> String {
        let words = self.text("query").map(|query| text::excerpt(&query, 90));
        let words = words.filter(|words| !words.trim().is_empty());
        words
            .or_else(|| self.task().map(capitalize))
            .unwrap_or_else(|| match self.raw("session") {
                Some(id) => format!("Start of session {}", record_label::short_id(id)),
                None => "No question and no task".to_owned(),
            })
    }

    pub(super) fn notes(self) -> Vec<String> {
        let notes = self.list("notes").iter().filter_map(Value::as_str);
        notes.map(text::replace_control_chars).collect()
    }

    fn list(self, name: &str) -> &'a [Value] {
        list(self.0.get(name))
    }

    /// Returns the number of items of each section; empty for a receipt of an earlier version.
    pub(super) fn counts(self) -> Vec<SectionCount> {
        let count = |value: &Value| SectionCount {
            name: text_of(value, "name").unwrap_or_default(),
            included: size_of(value, "included"),
            left_out: ItemTotal {
                count: size_of(value, "left_out"),
                size: self.in_unit(number_of(value, "left_out_chars")),
            },
            did_not_fit: ItemTotal {
                count: size_of(value, "did_not_fit"),
                size: self.in_unit(number_of(value, "did_not_fit_chars")),
            },
        };
        self.list("counts").iter().map(count).collect()
    }

    /// Returns the sections with their items.
    pub(super) fn sections(self) -> Vec<ReceiptSection> {
        let counts = self.counts();
        let section = |(at, value): (usize, &Value)| {
            let items = list(value.get("items"));
            let chars = number_of(value, "chars");
            let items: Vec<ReceiptItem> = items.iter().map(|item| self.item(item)).collect();
            let listed = total(items.iter().filter(|item| is_lack_of_space(item)));
            ReceiptSection {
                name: text_of(value, "name").unwrap_or_default(),
                chars: usize::try_from(chars).unwrap_or(usize::MAX),
                size: self.in_unit(chars),
                more_unfit: counts.get(at).map(|count| ItemTotal {
                    count: count.did_not_fit.count.saturating_sub(listed.count),
                    size: count.did_not_fit.size.saturating_sub(listed.size),
                }),
                items,
                more: size_of(value, "more_left_out"),
                more_size: self.in_unit(number_of(value, "more_left_out_chars")),
            }
        };
        let sections = self.list("sections").iter().enumerate();
        sections.map(section).collect()
    }

    fn item(self, value: &Value) -> ReceiptItem {
        let chars = number_of(value, "chars");
        let id = value.get("id").and_then(Value::as_str);
        ReceiptItem {
            id: id.and_then(|id| id.parse().ok()),
            file: text_of(value, "file"),
            excerpt: text_of(value, "text").unwrap_or_default(),
            chars: usize::try_from(chars).unwrap_or(usize::MAX),
            size: self.in_unit(chars),
            relevance: value.get("relevance").and_then(Value::as_f64),
            is_in: value.get("included") == Some(&Value::Bool(true)),
            reason: text_of(value, "reason").unwrap_or_default(),
        }
    }
}

impl ReceiptSection {
    /// Returns the included items.
    pub(super) fn included(&self) -> ItemTotal {
        total(self.items.iter().filter(|item| item.is_in))
    }

    /// Returns all omitted items, also those that are not listed.
    pub(super) fn left_out(&self) -> ItemTotal {
        let listed = total(self.items.iter().filter(|item| !item.is_in));
        ItemTotal {
            count: listed.count + self.more,
            size: listed.size + self.more_size,
        }
    }
}

/// Returns true for an omitted item that only lacked space, by its stored reason.
fn is_lack_of_space(item: &ReceiptItem) -> bool {
    let reasons = [
        InclusionReason::OverBudget,
        InclusionReason::TooLarge,
        InclusionReason::OverShare,
        InclusionReason::DidNotFit,
    ];
    !item.is_in && reasons.iter().any(|reason| reason.text() == item.reason)
}

/// Adds items.
pub(super) fn total<'i>(items: impl Iterator<Item = &'i ReceiptItem>) -> ItemTotal {
    items.fold(ItemTotal::default(), |sum, item| ItemTotal {
        count: sum.count + 1,
        size: sum.size + item.size,
    })
}

/// Adds the items of all sections.
pub(super) fn sum(totals: impl Iterator<Item = ItemTotal>) -> ItemTotal {
    totals.fold(ItemTotal::default(), |sum, one| ItemTotal {
        count: sum.count + one.count,
        size: sum.size + one.size,
    })
}

/// Makes the first letter upper case.
pub(super) fn capitalize(words: impl AsRef<str>) -> String {
    let mut letters = words.as_ref().chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(text::replace_control_chars)
}

fn number_of(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or(0)
}

fn size_of(value: &Value, name: &str) -> usize {
    usize::try_from(number_of(value, name)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn receipt_body_counts_unlisted_items_in_the_unit_of_the_budget() {
        let Value::Object(body) = json!({
            "unit": "tokens", "budget": 520, "tokens": 500, "chars": 2000,
            "sections": [{"name": "Key Facts", "chars": 41, "more_left_out": 3, "more_left_out_chars": 4001,
                "items": [{"text": "a", "chars": 9, "included": true, "reason": "by worth"},
                          {"text": "b", "chars": 8, "included": false, "reason": "did not fit"}]}],
            "counts": [{"name": "Key Facts", "included": 1, "left_out": 4, "left_out_chars": 4009,
                        "did_not_fit": 3, "did_not_fit_chars": 2008}],
        }) else {
            unreachable!()
        };
        let body = ReceiptBody(&body);
        assert_eq!((body.used(), body.free(), body.unit()), (500, 20, "tokens"));
        let sections = body.sections();
        let of = |count, size| ItemTotal { count, size };
        assert_eq!(sections[0].size, 11);
        assert_eq!(sections[0].included(), of(1, 3));
        assert_eq!(sections[0].left_out(), of(4, 2 + 1001));
        assert_eq!(sections[0].more_unfit, Some(of(2, 500)));
        assert_eq!(body.counts()[0].left_out, of(4, 1003));
        assert_eq!(body.counts()[0].did_not_fit, of(3, 502));
    }

    #[test]
    fn receipt_title_is_question_then_task_then_session() {
        let title = |value: Value| {
            let Value::Object(body) = value else {
                unreachable!()
            };
            ReceiptBody(&body).title()
        };
        let mut of = json!({"query": "port?", "task": "42", "phase": "TEST", "session": "s1"});
        assert_eq!(title(of.clone()), "port?");
        of["query"] = json!(" ");
        assert_eq!(title(of.clone()), "Task #42, test");
        of["task"] = Value::Null;
        assert_eq!(title(of.clone()), "Start of session s1");
        of["session"] = Value::Null;
        assert_eq!(title(of), "No question and no task");
    }
}
