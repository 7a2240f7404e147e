//! `heirloom context`.

use crate::json_output;
use crate::receipt_table::{self, ReceiptRow};
use crate::store_access::CliSession;
use heirloom_engine::ContextRequest;
use heirloom_model::context::{Context, ReceiptItem};
use heirloom_model::text::counted;
use heirloom_model::{Budget, Fault};
use heirloom_prompt::context::NOTHING_ASKED;

/// Print the context for the next prompt: what is known, within a budget
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: heirloom context --task 42 --phase TEST --budget-chars 3000\n         heirloom context 'coder[input:docs/*.md,src/lib.rs:10-40][recall:why mocks]'"
)]
pub(crate) struct Args {
    /// The agent to prompt, with directives: what they inject comes after Session Memory
    invocation: Option<String>,
    /// The current task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The current phase
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// The agent to prompt
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The plan that it works on: PLAN or STAGE/PLAN
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// The group that it belongs to
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// The session to continue
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Additional words to search memory for
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// At most this many characters
    #[arg(long, value_name = "N", conflicts_with = "budget_tokens")]
    budget_chars: Option<usize>,
    /// At most this many tokens, at four characters each
    #[arg(long, value_name = "N")]
    budget_tokens: Option<usize>,
    /// Show item by item what is included, what is not, and why
    #[arg(long, visible_alias = "explain")]
    receipt: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    session.set_short_lived();
    let engine = session.open()?;
    let engine = engine.with_user(session.user_memory());
    let budget = args
        .budget_chars
        .map(Budget::Chars)
        .or(args.budget_tokens.map(Budget::Tokens));
    let request = ContextRequest {
        task: args.task,
        phase: args.phase,
        budget,
        agent: args.agent,
        plan: args.plan,
        group: args.group,
        session: args.session,
        query: args.query,
        prompt: None,
        invocation: args.invocation,
        separate_rules: false,
    };
    let context = engine.contexts().build(&request)?;
    if !session.out.json && !args.receipt {
        // Without these notes, a reader of the text alone would not notice that a part is missing.
        let all = context.notes.iter();
        for note in all.filter(|note| note.as_str() != NOTHING_ASKED) {
            session.out.talk(&format!("heirloom: {note}"));
        }
    }
    if session.out.json {
        session.out.value(&json_output::context(&context));
    } else {
        session.out.data(&context.text);
    }
    if args.receipt && !session.out.json {
        for line in receipt_lines(&context) {
            session.out.talk(&line);
        }
    }
    session.out.flush();
    // The receipt is stored after the text is printed, so that a failure or delay does not affect the prompt.
    let stored = engine.contexts().store_receipt(&request, &context, None);
    if let (Err(fault), true) = (stored, args.receipt) {
        let message = format!("heirloom: the receipt was not stored: {}", fault.message);
        session.out.talk(&message);
    }
    Ok(0)
}

/// Formats the receipt as lines for a person.
fn receipt_lines(context: &Context) -> Vec<String> {
    let used = match context.budget {
        Budget::Chars(n) => format!(
            "{} of {n} characters",
            heirloom_model::text::chars(&context.text)
        ),
        Budget::Tokens(n) => format!(
            "{} of {n} tokens",
            heirloom_model::text::tokens(&context.text)
        ),
    };
    let mut lines = vec![format!("receipt: {used}")];
    for section in &context.sections {
        let included_count = section
            .items
            .iter()
            .filter(|item| item.is_included())
            .count();
        lines.push(format!(
            "{}: {} of {}, {}",
            section.name,
            included_count,
            counted(section.items.len(), "item", "items"),
            counted(section.chars, "character", "characters")
        ));
        let row = |item: &ReceiptItem| ReceiptRow {
            is_included: item.is_included(),
            reason: item.reason.text().into_owned(),
            relevance: item.relevance,
            worth: item.worth,
            chars: item.chars as u64,
            origin: item
                .id
                .map(|id| id.to_string())
                .or_else(|| item.file.clone())
                .unwrap_or_default(),
            text: item.excerpt.clone(),
        };
        let rows = section.items.iter().map(row).collect();
        lines.extend(receipt_table::item_lines(rows));
    }
    lines.extend(context.notes.iter().map(|note| format!("note: {note}")));
    lines
}
