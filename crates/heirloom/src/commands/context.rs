//! `heirloom context`.

use crate::open::Session;
use crate::{output, wire};
use heirloom_engine::ContextRequest;
use heirloom_model::context::Context;
use heirloom_model::{Budget, Fault};

/// Print the context for the next prompt: what is known, inside a budget
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: heirloom context --task 42 --phase TEST --budget-chars 3000\n         heirloom context 'coder[input:docs/*.md,src/lib.rs:10-40][recall:why mocks]'"
)]
pub(crate) struct Args {
    /// The agent that is asked, with directives: what they inject stands behind Session Memory
    invocation: Option<String>,
    /// The current task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The current phase
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// The agent that is asked
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The plan that it works on: PLAN or STAGE/PLAN
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// The group that it belongs to
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// The session that goes on
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Words to ask memory with besides
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// At most this many characters
    #[arg(long, value_name = "N", conflicts_with = "budget_tokens")]
    budget_chars: Option<usize>,
    /// At most this many tokens, at four characters each
    #[arg(long, value_name = "N")]
    budget_tokens: Option<usize>,
    /// Say item by item what got in, what did not, and why
    #[arg(long)]
    receipt: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    session.is_waited_for();
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
        invocation: args.invocation,
    };
    let context = engine.context(&request)?;
    if session.out.json {
        session.out.value(&wire::context(&context));
    } else {
        session.out.data(&context.text);
    }
    if args.receipt && !session.out.json {
        for line in receipt(&context) {
            session.out.talk(&line);
        }
    }
    session.out.flush();
    // Behind the text: whoever waits for a prompt has it, and goes on without a receipt if need be.
    let kept = engine.keep_receipt(&request, &context, None);
    if let (Err(fault), true) = (kept, args.receipt) {
        let said = format!("heirloom: the receipt was not kept: {}", fault.message);
        session.out.talk(&said);
    }
    Ok(0)
}

/// The receipt as lines for a person.
fn receipt(context: &Context) -> Vec<String> {
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
        let inside = section.items.iter().filter(|item| item.included()).count();
        lines.push(format!(
            "{}: {} of {} items, {} characters",
            section.name,
            inside,
            section.items.len(),
            section.chars
        ));
        let rows: Vec<_> = section
            .items
            .iter()
            .map(|item| {
                vec![
                    if item.included() { "in" } else { "out" }.to_owned(),
                    item.chars.to_string(),
                    item.chars
                        .div_ceil(heirloom_model::limits::CHARS_PER_TOKEN)
                        .to_string(),
                    item.id
                        .map(|id| id.to_string())
                        .or_else(|| item.file.clone())
                        .unwrap_or_default(),
                    item.score
                        .map(|score| format!("{score:.2}"))
                        .unwrap_or_default(),
                    if item.included() {
                        String::new()
                    } else {
                        item.reason.as_str().to_owned()
                    },
                    heirloom_model::text::excerpt(&item.excerpt, 60),
                ]
            })
            .collect();
        let table = output::table(&rows);
        lines.extend(table.lines().map(|line| format!("  {line}")));
    }
    lines.extend(context.notes.iter().map(|note| format!("note: {note}")));
    lines
}
