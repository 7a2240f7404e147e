//! Receipts of contexts: stored after the prompt, listed and compared; delivery counts of records.

use super::context::ContextRequest;
use crate::engine::Contexts;
use heirloom_model::context::{Context, ReceiptItem, ReceiptSection};
use heirloom_model::record::Attrs;
use heirloom_model::{Budget, Fault, RecordId, Timestamp, limits, text};
use heirloom_store::{Change, Receipt, RecentReceipts, RecordUsage};
use serde_json::Value;
use std::collections::HashMap;

/// Stored receipt of a context.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredReceipt {
    /// Id.
    pub id: RecordId,
    /// Time of the context.
    pub at: Timestamp,
    /// Request, budget, size, the items of each section, and the text that was sent unless it is over
    /// [`limits::RECEIPT_TEXT_BYTES_MAX`], in the form of `heirloom context --json`.
    pub body: Attrs,
}

/// Receipt without its sections and texts, for lists.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiptHead {
    /// The receipt without its `sections`, `text` and `rules`; `counts` has the number of items of each section.
    pub receipt: StoredReceipt,
    /// Session of the context.
    pub session: Option<String>,
    /// Ids of the records in the context, without purged ones.
    pub records: Vec<RecordId>,
}

/// Item of a receipt, for comparisons.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceiptPart {
    /// Section.
    pub section: String,
    /// Record id, file or text.
    pub name: String,
    /// Shortened text.
    pub text: String,
}

/// Difference between two receipts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptDiff {
    /// Items only in the second one.
    pub added: Vec<ReceiptPart>,
    /// Items only in the first one.
    pub removed: Vec<ReceiptPart>,
    /// Number of items in both.
    pub common: usize,
}

impl Contexts<'_> {
    /// Stores the receipt of a delivered context, and counts its records as delivered; durable when it returns.
    ///
    /// Call it after the text was delivered: it adds no latency, and a failure only loses the receipt. Returns `None`
    /// for an empty context. Errors: `Refused` when memory is off.
    pub fn store_receipt(
        &self,
        request: &ContextRequest,
        context: &Context,
        iteration: Option<u32>,
    ) -> Result<Option<RecordId>, Fault> {
        if context.text.is_empty() {
            return Ok(None);
        }
        let items = context.sections.iter().flat_map(|section| &section.items);
        let delivered = items
            .filter(|item| item.is_included())
            .filter_map(|item| item.id);
        let mut records: Vec<RecordId> = delivered.collect();
        records.sort_unstable();
        records.dedup();
        records.truncate(limits::CHANGES_MAX);
        let at = self.engine.now();
        let id = self.engine.ids.next(at);
        let receipt = Receipt {
            id,
            at,
            session: request.session.clone(),
            iteration,
            records,
            body: body(request, context, iteration, self.keeps_texts()),
        };
        self.engine
            .records()
            .apply_one(Change::StoreReceipt(Box::new(receipt)))?;
        Ok(Some(id))
    }

    /// Returns true if receipts keep the texts that were sent: the texts can contain the person's own memory, which must
    /// not get into the database of a team.
    fn keeps_texts(&self) -> bool {
        self.engine.store.shared().is_none()
    }

    /// Returns the newest receipts, newest first, at most `limit` of the retained [`limits::RECEIPTS_KEPT`].
    pub fn receipts(&self, limit: usize) -> Result<Vec<StoredReceipt>, Fault> {
        self.stored_receipts(RecentReceipts::Full(limit.min(limits::RECEIPTS_KEPT)))
    }

    fn stored_receipts(&self, selection: RecentReceipts) -> Result<Vec<StoredReceipt>, Fault> {
        let stats = self
            .engine
            .store
            .delivery_stats(&self.engine.project, selection, &[])?;
        let stored = |receipt: Receipt| StoredReceipt {
            id: receipt.id,
            at: receipt.at,
            body: receipt.body,
        };
        Ok(stats.receipts.into_iter().map(stored).collect())
    }

    /// Returns receipts as [`Self::receipts`], without their sections and texts.
    pub fn receipt_heads(&self, limit: usize) -> Result<Vec<ReceiptHead>, Fault> {
        let newest = RecentReceipts::Headers(limit.min(limits::RECEIPTS_KEPT));
        let stats = self
            .engine
            .store
            .delivery_stats(&self.engine.project, newest, &[])?;
        let head = |receipt: Receipt| ReceiptHead {
            receipt: StoredReceipt {
                id: receipt.id,
                at: receipt.at,
                body: receipt.body,
            },
            session: receipt.session,
            records: receipt.records,
        };
        Ok(stats.receipts.into_iter().map(head).collect())
    }

    /// Returns the receipt whose id begins with `given`. Errors: `Usage` if it is too short or ambiguous; `NotFound`.
    pub fn receipt(&self, given: &str) -> Result<StoredReceipt, Fault> {
        let digits = |id: &str| id.replace('-', "").to_ascii_lowercase();
        let wanted = digits(given.trim());
        if wanted.len() < limits::ID_PREFIX_MIN {
            let least = limits::ID_PREFIX_MIN;
            return Err(Fault::usage(format!(
                "`{}` is too short for an id: at least {least} digits",
                text::excerpt(given, 40)
            )));
        }
        let complete = (wanted.len() == 32).then(|| given.trim().parse().ok());
        let mut found = match complete.flatten() {
            Some(id) => self.stored_receipts(RecentReceipts::One(id))?,
            None => self.receipts(limits::RECEIPTS_KEPT)?,
        };
        found.retain(|receipt| digits(&receipt.id.to_string()).starts_with(&wanted));
        match (found.pop(), found.len()) {
            (Some(receipt), 0) => Ok(receipt),
            (None, _) => Err(
                Fault::not_found(format!("no receipt {}", text::excerpt(given, 40)))
                    .hint("`heirloom receipts list` lists the stored ones"),
            ),
            (Some(_), more) => Err(Fault::usage(format!(
                "{} receipts begin with {}",
                more + 1,
                text::excerpt(given, 40)
            ))
            .hint("give more digits")),
        }
    }

    /// Compares the included items of two receipts.
    pub fn receipt_diff(&self, first: &str, second: &str) -> Result<ReceiptDiff, Fault> {
        let first = included_items(&self.receipt(first)?.body);
        let second = included_items(&self.receipt(second)?.body);
        let not_in = |one: &[ReceiptPart], other: &[ReceiptPart]| -> Vec<ReceiptPart> {
            let alone = one.iter().filter(|part| {
                !(other.iter()).any(|o| (&o.section, &o.name) == (&part.section, &part.name))
            });
            alone.cloned().collect()
        };
        let removed = not_in(&first, &second);
        Ok(ReceiptDiff {
            added: not_in(&second, &first),
            common: first.len() - removed.len(),
            removed,
        })
    }

    /// Returns the delivery counts of records and their last deliveries; without records that were never delivered.
    pub fn delivery_counts(
        &self,
        records: &[RecordId],
    ) -> Result<HashMap<RecordId, RecordUsage>, Fault> {
        let mut uses = HashMap::new();
        for part in records.chunks(limits::CHANGES_MAX) {
            let stats = self.engine.store.delivery_stats(
                &self.engine.project,
                RecentReceipts::Full(0),
                part,
            )?;
            uses.extend(stats.usage.into_iter().map(|one| (one.record, one)));
        }
        Ok(uses)
    }
}

/// Rounds a number for receipts.
fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Returns the JSON body of a receipt.
fn body(
    request: &ContextRequest,
    context: &Context,
    iteration: Option<u32>,
    keeps_texts: bool,
) -> Attrs {
    let (unit, budget) = match context.budget {
        Budget::Chars(n) => ("chars", n),
        Budget::Tokens(n) => ("tokens", n),
    };
    let sections = context.sections.iter().map(|section| {
        let (stored, rest) = stored_items(&section.items);
        object([
            ("name", section.name.as_str().into()),
            ("chars", section.chars.into()),
            ("items", stored.into_iter().map(item_json).collect()),
            ("more_left_out", rest.map(|(count, _)| count).into()),
            ("more_left_out_chars", rest.map(|(_, chars)| chars).into()),
        ])
    });
    let text = |text: &Option<String>| Value::from(text.as_deref());
    let (sent, rules) = match keeps_texts {
        true => kept_texts(context),
        false => (None, None),
    };
    object([
        ("task", text(&request.task)),
        ("phase", text(&request.phase)),
        ("agent", text(&request.agent)),
        ("plan", text(&request.plan)),
        ("group", text(&request.group)),
        ("session", text(&request.session)),
        ("query", text(&request.query)),
        ("iteration", iteration.into()),
        ("unit", unit.into()),
        ("budget", budget.into()),
        ("chars", text::chars(&context.text).into()),
        ("tokens", text::tokens(&context.text).into()),
        ("sections", sections.collect()),
        ("counts", context.sections.iter().map(count_json).collect()),
        ("notes", context.notes.as_slice().into()),
        ("text", sent.into()),
        ("rules", rules.into()),
    ])
}

/// Returns the text of the context and its separate rules as a receipt keeps them; neither if they are together over
/// [`limits::RECEIPT_TEXT_BYTES_MAX`].
fn kept_texts(context: &Context) -> (Option<&str>, Option<&str>) {
    if context.text.len() + context.rules.len() > limits::RECEIPT_TEXT_BYTES_MAX {
        return (None, None);
    }
    let rules = Some(context.rules.as_str()).filter(|rules| !rules.is_empty());
    (Some(&context.text), rules)
}

/// Returns the number of included and omitted items of a section, with the characters of the omitted ones: of all, and
/// of those that only lacked space.
fn count_json(section: &ReceiptSection) -> Attrs {
    let total = |is_counted: &dyn Fn(&ReceiptItem) -> bool| {
        let counted = section.items.iter().filter(|item| is_counted(item));
        counted.fold((0, 0), |(n, chars), item| (n + 1, chars + item.chars))
    };
    let (left_out, left_out_chars) = total(&|item| !item.is_included());
    let (did_not_fit, did_not_fit_chars) = total(&|item| item.reason.is_lack_of_space());
    object([
        ("name", section.name.as_str().into()),
        ("included", (section.items.len() - left_out).into()),
        ("left_out", left_out.into()),
        ("left_out_chars", left_out_chars.into()),
        ("did_not_fit", did_not_fit.into()),
        ("did_not_fit_chars", did_not_fit_chars.into()),
    ])
}

fn item_json(item: &ReceiptItem) -> Attrs {
    object([
        ("id", item.id.map(|id| id.to_string()).into()),
        ("file", item.file.as_deref().into()),
        ("text", item.excerpt.as_str().into()),
        ("chars", item.chars.into()),
        (
            "tokens",
            item.chars.div_ceil(limits::CHARS_PER_TOKEN).into(),
        ),
        ("score", item.score.into()),
        ("included", item.is_included().into()),
        ("reason", item.reason.text().into()),
        ("relevance", item.relevance.map(round).into()),
        ("worth", item.worth.map(round).into()),
    ])
}

/// Returns an object of the fields that are not null. The values are moved into it: `json!` would copy them.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Attrs {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Returns the items that a receipt stores, and the number and characters of the others. All included items are
/// stored, but only the first of those that did not fit.
fn stored_items(items: &[ReceiptItem]) -> (Vec<&ReceiptItem>, Option<(usize, usize)>) {
    let (mut left_out, mut rest) = (0, None);
    let mut stored = Vec::with_capacity(items.len().min(limits::RECEIPT_LEFT_OUT_MAX));
    for item in items {
        left_out += usize::from(!item.is_included());
        if item.is_included() || left_out <= limits::RECEIPT_LEFT_OUT_MAX {
            stored.push(item);
        } else {
            let (count, chars) = rest.get_or_insert((0, 0));
            *count += 1;
            *chars += item.chars;
        }
    }
    (stored, rest)
}

/// Returns the included items of a receipt.
fn included_items(body: &Attrs) -> Vec<ReceiptPart> {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, name: &str| {
        let text = value.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let mut found = Vec::new();
    for section in list(body.get("sections")) {
        for item in list(section.get("items")) {
            if item.get("included") != Some(&Value::Bool(true)) {
                continue;
            }
            let words = text(&item, "text");
            let name = [text(&item, "id"), text(&item, "file"), words.clone()];
            found.push(ReceiptPart {
                section: text(&section, "name"),
                name: name.into_iter().find(|n| !n.is_empty()).unwrap_or_default(),
                text: words,
            });
        }
    }
    found
}

#[cfg(test)]
mod stored_form_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::context::InclusionReason;

    #[test]
    fn receipt_stores_all_included_and_first_excluded_items() {
        let item = |n: usize| ReceiptItem {
            id: None,
            file: None,
            score: None,
            relevance: None,
            worth: None,
            excerpt: n.to_string(),
            chars: 10,
            reason: match n % 2 {
                0 => InclusionReason::Included,
                _ => InclusionReason::OverBudget,
            },
        };
        let most = limits::RECEIPT_LEFT_OUT_MAX;
        let items: Vec<ReceiptItem> = (0..4 * most).map(item).collect();
        let (all, none) = stored_items(&items[..2 * most]);
        assert_eq!((all.len(), none), (2 * most, None));
        let (some, rest) = stored_items(&items);
        assert_eq!(rest, Some((most, 10 * most)));
        assert_eq!(
            some.iter().filter(|one| one.is_included()).count(),
            2 * most
        );
    }

    #[test]
    fn receipt_keeps_texts_up_to_the_limit() {
        let mut context = Context {
            text: "a".repeat(limits::RECEIPT_TEXT_BYTES_MAX - 2),
            rules: "bb".to_owned(),
            budget: Budget::Chars(10),
            sections: Vec::new(),
            notes: Vec::new(),
        };
        assert_eq!(
            kept_texts(&context),
            (Some(context.text.as_str()), Some("bb"))
        );
        context.text.push('a');
        assert_eq!(kept_texts(&context), (None, None));
        context.rules.clear();
        assert_eq!(kept_texts(&context), (Some(context.text.as_str()), None));
    }
}
