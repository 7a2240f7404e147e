//! Receipts of contexts: kept behind the prompt that they belong to, shown, compared; and how often a record was told.

use super::Engine;
use super::gather::ContextRequest;
use heirloom_model::context::{Context, ReceiptItem};
use heirloom_model::record::Attrs;
use heirloom_model::{Budget, Fault, RecordId, Timestamp, limits, text};
use heirloom_store::{Change, Newest, Receipt, Use};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A receipt that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredReceipt {
    /// Its id.
    pub id: RecordId,
    /// When the context was made.
    pub at: Timestamp,
    /// What the request said, the budget, the size, and section by section every item: the form of
    /// `heirloom context --json` without the text.
    pub body: Attrs,
}

/// The head of a receipt, for lists: sections are most of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiptHead {
    /// It, without its `sections`.
    pub receipt: StoredReceipt,
    /// The session that the context was made for.
    pub session: Option<String>,
    /// The records that were in the context, by id; without those that are purged.
    pub records: Vec<RecordId>,
}

/// One item of a receipt, for comparing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceiptPart {
    /// The section.
    pub section: String,
    /// The record, the file, or the words.
    pub name: String,
    /// The item's text, shortened.
    pub text: String,
}

/// What of two receipts differs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptDiff {
    /// In the second, not in the first.
    pub came: Vec<ReceiptPart>,
    /// In the first, not in the second.
    pub went: Vec<ReceiptPart>,
    /// Items that are in both.
    pub stayed: usize,
}

impl Engine {
    /// Keeps the receipt of a context that was handed out, and counts its records as told; durable when it returns.
    ///
    /// To be called when the text has been given out: nobody waits for it, and if it fails only the receipt is lost.
    /// Nothing for a context without text. Errors: `Refused` when memory is off.
    pub fn keep_receipt(
        &self,
        request: &ContextRequest,
        context: &Context,
        iteration: Option<u32>,
    ) -> Result<Option<RecordId>, Fault> {
        if context.text.is_empty() {
            return Ok(None);
        }
        let items = context.sections.iter().flat_map(|section| &section.items);
        let told = items
            .filter(|item| item.included())
            .filter_map(|item| item.id);
        let mut records: Vec<RecordId> = told.collect();
        records.sort_unstable();
        records.dedup();
        records.truncate(limits::CHANGES_MAX);
        let at = self.now();
        let id = self.ids.next(at);
        let receipt = Receipt {
            id,
            at,
            session: request.session.clone(),
            iteration,
            records,
            body: body(request, context, iteration),
        };
        self.apply_one(Change::Keep(Box::new(receipt)))?;
        Ok(Some(id))
    }

    /// The newest receipts, newest first, at most `limit` of the [`limits::RECEIPTS_KEPT`] that are kept.
    pub fn receipts(&self, limit: usize) -> Result<Vec<StoredReceipt>, Fault> {
        let limit = limit.min(limits::RECEIPTS_KEPT);
        let told = self.store.told(&self.project, Newest::Whole(limit), &[])?;
        let stored = |receipt: Receipt| StoredReceipt {
            id: receipt.id,
            at: receipt.at,
            body: receipt.body,
        };
        Ok(told.receipts.into_iter().map(stored).collect())
    }

    /// The same of which only the heads are read.
    pub fn receipt_heads(&self, limit: usize) -> Result<Vec<ReceiptHead>, Fault> {
        let newest = Newest::Heads(limit.min(limits::RECEIPTS_KEPT));
        let told = self.store.told(&self.project, newest, &[])?;
        let head = |receipt: Receipt| ReceiptHead {
            receipt: StoredReceipt {
                id: receipt.id,
                at: receipt.at,
                body: receipt.body,
            },
            session: receipt.session,
            records: receipt.records,
        };
        Ok(told.receipts.into_iter().map(head).collect())
    }

    /// The receipt whose id begins with `given`. Errors: `Usage` for too few digits or several; `NotFound`.
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
        // A whole id is that of one receipt, and most often of a new one: older ones need not be read.
        let newest = if wanted.len() == 32 {
            &[8, 64][..]
        } else {
            &[]
        };
        for count in newest {
            let known = self.receipts(*count)?.into_iter();
            let mut same = known.filter(|receipt| digits(&receipt.id.to_string()) == wanted);
            if let Some(receipt) = same.next() {
                return Ok(receipt);
            }
        }
        let mut found = self.receipts(limits::RECEIPTS_KEPT)?;
        found.retain(|receipt| digits(&receipt.id.to_string()).starts_with(&wanted));
        match (found.pop(), found.len()) {
            (Some(receipt), 0) => Ok(receipt),
            (None, _) => Err(
                Fault::not_found(format!("no receipt {}", text::excerpt(given, 40)))
                    .hint("`heirloom receipts list` shows those that are kept"),
            ),
            (Some(_), more) => Err(Fault::usage(format!(
                "{} receipts begin with {}",
                more + 1,
                text::excerpt(given, 40)
            ))
            .hint("give more digits")),
        }
    }

    /// What came and what went between two receipts, of what was in the contexts.
    pub fn receipt_diff(&self, first: &str, second: &str) -> Result<ReceiptDiff, Fault> {
        let first = parts(&self.receipt(first)?.body);
        let second = parts(&self.receipt(second)?.body);
        let not_in = |one: &[ReceiptPart], other: &[ReceiptPart]| -> Vec<ReceiptPart> {
            let alone = one.iter().filter(|part| {
                !(other.iter()).any(|o| (&o.section, &o.name) == (&part.section, &part.name))
            });
            alone.cloned().collect()
        };
        let went = not_in(&first, &second);
        Ok(ReceiptDiff {
            came: not_in(&second, &first),
            stayed: first.len() - went.len(),
            went,
        })
    }

    /// How often these records were told in contexts, and when last; those that never were are left out.
    pub fn uses(&self, records: &[RecordId]) -> Result<HashMap<RecordId, Use>, Fault> {
        let mut uses = HashMap::new();
        for part in records.chunks(limits::CHANGES_MAX) {
            let told = self.store.told(&self.project, Newest::Whole(0), part)?;
            uses.extend(told.uses.into_iter().map(|one| (one.record, one)));
        }
        Ok(uses)
    }
}

/// What a receipt says, as JSON.
fn body(request: &ContextRequest, context: &Context, iteration: Option<u32>) -> Attrs {
    let (unit, budget) = match context.budget {
        Budget::Chars(n) => ("chars", n),
        Budget::Tokens(n) => ("tokens", n),
    };
    let item = |item: &ReceiptItem| {
        let mut said = json!({
            "id": item.id.map(|id| id.to_string()),
            "file": item.file,
            "text": item.excerpt,
            "chars": item.chars,
            "tokens": item.chars.div_ceil(limits::CHARS_PER_TOKEN),
            "score": item.score,
            "included": item.included(),
            "reason": item.reason.as_str(),
        });
        if let Value::Object(said) = &mut said {
            said.retain(|_, value| !value.is_null());
        }
        said
    };
    let sections = context.sections.iter().map(|section| {
        let (kept, rest) = kept(&section.items);
        let mut said = json!({
            "name": section.name,
            "chars": section.chars,
            "items": kept.into_iter().map(item).collect::<Vec<_>>(),
        });
        if let (Some((count, chars)), Value::Object(said)) = (rest, &mut said) {
            said.insert("more_left_out".to_owned(), count.into());
            said.insert("more_left_out_chars".to_owned(), chars.into());
        }
        said
    });
    let said = json!({
        "task": request.task,
        "phase": request.phase,
        "agent": request.agent,
        "plan": request.plan,
        "group": request.group,
        "session": request.session,
        "query": request.query,
        "iteration": iteration,
        "unit": unit,
        "budget": budget,
        "chars": text::chars(&context.text),
        "tokens": text::tokens(&context.text),
        "sections": sections.collect::<Vec<_>>(),
        "notes": context.notes,
    });
    let mut said = said.as_object().cloned().unwrap_or_default();
    said.retain(|_, value| !value.is_null());
    said
}

/// The items of a section that its receipt keeps, and of the others how many there are and their characters. Those
/// that were in are all kept; of thousands that did not fit, the first say why.
fn kept(items: &[ReceiptItem]) -> (Vec<&ReceiptItem>, Option<(usize, usize)>) {
    let (mut left_out, mut rest) = (0, None);
    let mut kept = Vec::with_capacity(items.len().min(limits::RECEIPT_LEFT_OUT_MAX));
    for item in items {
        left_out += usize::from(!item.included());
        if item.included() || left_out <= limits::RECEIPT_LEFT_OUT_MAX {
            kept.push(item);
        } else {
            let (count, chars) = rest.get_or_insert((0, 0));
            *count += 1;
            *chars += item.chars;
        }
    }
    (kept, rest)
}

/// The items of a receipt that were in the context.
fn parts(body: &Attrs) -> Vec<ReceiptPart> {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, name: &str| {
        let said = value.get(name).and_then(Value::as_str);
        said.unwrap_or_default().to_owned()
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
mod tests {
    use super::*;
    use heirloom_model::context::Reason;

    #[test]
    fn a_receipt_keeps_all_that_was_in_and_the_first_that_were_not() {
        let item = |n: usize| ReceiptItem {
            id: None,
            file: None,
            score: None,
            excerpt: n.to_string(),
            chars: 10,
            reason: match n % 2 {
                0 => Reason::Included,
                _ => Reason::OverBudget,
            },
        };
        let most = limits::RECEIPT_LEFT_OUT_MAX;
        let items: Vec<ReceiptItem> = (0..4 * most).map(item).collect();
        let (all, none) = kept(&items[..2 * most]);
        assert_eq!((all.len(), none), (2 * most, None));
        let (some, rest) = kept(&items);
        assert_eq!(rest, Some((most, 10 * most)));
        assert_eq!(some.iter().filter(|one| one.included()).count(), 2 * most);
    }
}
