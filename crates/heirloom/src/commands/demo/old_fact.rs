//! Part of the demo that shows a context with an old fact, which the task needs, and its receipt.

use super::example_recorder::ScriptedClock;
use super::print_lines;
use crate::store_access::{self, CliSession};
use heirloom_engine::{ContextRequest, Engine, NewRecord};
use heirloom_model::context::{Context, ReceiptItem};
use heirloom_model::{Budget, Fault};
use std::sync::Arc;

const DAY_S: i64 = 86_400;
/// Age of the fact that the task needs, days.
const OLD_DAYS: i64 = 150;
/// The fact that the task needs.
const OLD_FACT: &str = "The staging database accepts only TLS connections; the client certificate is config/staging.pem";
/// The next task.
const TASK: &str = "connect the nightly report to the staging database";
/// Budget that holds a few of the facts.
const BUDGET_CHARS: usize = 600;
/// Newer facts, one every six days.
const NEWER_FACTS: [&str; 24] = [
    "Thumbnails are made by the media worker, never in a request",
    "The invoice numbers of a year begin with its last two digits",
    "Run `make seed` before the end-to-end tests",
    "The mobile team reviews changes of the public API",
    "Dates in exports are ISO 8601 in UTC",
    "Feature flags live in flags.toml and are read at the start",
    "The search index is rebuilt every Sunday at 03:00",
    "Prices are integers in cents, never floats",
    "The linter ignores generated/ on purpose",
    "Translations come from the spreadsheet of the support team",
    "A release needs two approvals and a green pipeline",
    "The payment provider retries a webhook for three days",
    "Uploads above 20 MB go to the object store by a signed URL",
    "Log lines carry the request id in the field `rid`",
    "The queue drops messages older than a week",
    "CSV imports accept a semicolon as separator too",
    "The login page is cached for ten minutes",
    "Mail templates are tested with the snapshot runner",
    "The admin pages need the role `operator`",
    "Old sessions are removed by the job `sweep-sessions`",
    "The currency table is refreshed at noon",
    "Use the builder in tests/factories for orders",
    "The rate limit of the partner API is 40 requests a minute",
    "Error pages are static files in public/errors",
];

/// Shows the context of the task and why it holds the old fact.
pub(super) fn demonstrate(session: &mut CliSession) -> Result<bool, Fault> {
    let folder = store_access::temporary_folder("heirloom-demo-")?;
    let clock = Arc::new(ScriptedClock::default());
    let now = session.clock()?.now().as_second();
    super::write_config(&folder.path().join(".heirloom"))?;
    let engine = session.demo_engine(folder.path(), clock.clone())?;
    clock.set(now - OLD_DAYS * DAY_S);
    remember(&engine, OLD_FACT)?;
    for (days, text) in (1_i64..).zip(NEWER_FACTS) {
        clock.set(now - (OLD_DAYS - 6 * days) * DAY_S);
        remember(&engine, text)?;
    }
    clock.set(now);
    let context = engine.contexts().build(&ContextRequest {
        query: Some(TASK.to_owned()),
        budget: Some(Budget::Chars(BUDGET_CHARS)),
        ..ContextRequest::default()
    })?;
    let told = find_old_fact(&context);
    let count = NEWER_FACTS.len();
    print_lines(
        session,
        &[
            "",
            &format!(
                "A fact is five months old, and {count} others are newer. The next task needs it:"
            ),
            &format!(
                "  heirloom context --query \"{TASK}\" --budget-chars {BUDGET_CHARS} --explain"
            ),
            super::render_framed(&context.text).trim_end(),
            &told.map_or_else(|| "the fact was not told".to_owned(), describe),
        ],
    );
    Ok(told.is_some_and(ReceiptItem::is_included))
}

fn remember(engine: &Engine, text: &str) -> Result<(), Fault> {
    let new = NewRecord {
        text: text.to_owned(),
        source: Some("claude-code".to_owned()),
        ..NewRecord::default()
    };
    engine.records().remember(new).map(drop)
}

fn find_old_fact(context: &Context) -> Option<&ReceiptItem> {
    let mut items = context.sections.iter().flat_map(|section| &section.items);
    items.find(|item| OLD_FACT.starts_with(item.excerpt.trim_end_matches('…')))
}

/// Returns the line of the receipt.
fn describe(item: &ReceiptItem) -> String {
    let relevance = item.relevance.unwrap_or(0.0) * 100.0;
    format!(
        "The receipt: {}, {relevance:.0} % relevant, {OLD_DAYS} days old: {}",
        item.reason.text(),
        item.excerpt
    )
}
