//! Receipts of a task or a session, as rows with links.

use super::record_label;
use super::view::tasks::ReceiptLink;
use super::view::{Times, number, plural};
use heirloom_engine::{Engine, ReceiptHead};
use heirloom_model::record::Attrs;
use heirloom_model::{Fault, limits, text};
use serde_json::Value;

/// Maximum number of shown receipts.
const SHOWN: usize = 8;

/// Returns the newest receipts that match, and the number of all that match.
pub(in crate::page) fn receipt_links(
    engine: &Engine,
    times: &Times,
    fits: impl Fn(&ReceiptHead) -> bool,
) -> Result<(Vec<ReceiptLink>, usize), Fault> {
    let mut heads = engine.contexts().receipt_heads(limits::RECEIPTS_KEPT)?;
    heads.retain(fits);
    let shown = heads.iter().take(SHOWN);
    let link = |head: &ReceiptHead| ReceiptLink {
        href: format!("/receipts/{}", head.receipt.id),
        title: times.full(head.receipt.at),
        meta: meta(head),
    };
    Ok((shown.map(link).collect(), heads.len()))
}

/// Returns the value of a text in the body of a receipt.
pub(in crate::page) fn body_text<'b>(body: &'b Attrs, name: &str) -> Option<&'b str> {
    body.get(name).and_then(Value::as_str)
}

fn meta(head: &ReceiptHead) -> Vec<String> {
    let body = &head.receipt.body;
    let number_of = |name: &str| body.get(name).and_then(Value::as_u64).unwrap_or(0);
    let unit = match body_text(body, "unit") {
        Some("tokens") => "tokens",
        Some(_) | None => "chars",
    };
    let agent = body_text(body, "agent").map(record_label::source_label);
    let size = format!(
        "{} of {} {}",
        number(number_of(unit)),
        number(number_of("budget")),
        if unit == "tokens" { unit } else { "characters" }
    );
    let records = plural(head.records.len(), "record", "records");
    let session =
        body_text(body, "phase").map(|phase| text::replace_control_chars(&phase.to_lowercase()));
    agent
        .into_iter()
        .chain(session)
        .chain([records, size])
        .collect()
}
