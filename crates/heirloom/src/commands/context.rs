//! `heirloom context`.

use crate::open::Session;
use crate::{output, wire};
use heirloom_engine::{ContextRequest, InjectedContext};
use heirloom_model::context::Context;
use heirloom_model::{Budget, Fault};

/// Print the context for the next prompt: what is known, inside a budget
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: heirloom context --task 42 --phase TEST --budget-chars 3000\n         heirloom context --for 'coder[input:docs/*.md,src/lib.rs:10-40][recall:why mocks]'"
)]
pub(crate) struct Args {
    /// The current task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The current phase
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// At most this many characters
    #[arg(long, value_name = "N", conflicts_with = "budget_tokens")]
    budget_chars: Option<usize>,
    /// At most this many tokens, at four characters each
    #[arg(long, value_name = "N")]
    budget_tokens: Option<usize>,
    /// Put behind it what the directives of an agent's invocation inject: files, recalled records, last lines
    #[arg(long = "for", value_name = "INVOCATION")]
    invocation: Option<String>,
    /// Say item by item what got in, what did not, and why
    #[arg(long)]
    receipt: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let budget = args
        .budget_chars
        .map(Budget::Chars)
        .or(args.budget_tokens.map(Budget::Tokens));
    let request = ContextRequest {
        task: args.task,
        phase: args.phase,
        budget,
    };
    let (context, injected) = match &args.invocation {
        Some(said) => {
            let InjectedContext {
                agent,
                context,
                notes,
            } = engine.context_for(&request, said)?;
            (context, Some((agent, notes)))
        }
        None => (engine.context(&request)?, None),
    };
    if session.out.json {
        let mut value = wire::context(&context);
        if let Some((agent, notes)) = injected {
            value["agent"] = agent.into();
            value["notes"] = notes.into();
        }
        session.out.value(&value);
        return Ok(0);
    }
    session.out.data(&context.text);
    for note in injected.into_iter().flat_map(|(_, notes)| notes) {
        session.out.talk(&note);
    }
    if args.receipt {
        for line in receipt(&context) {
            session.out.talk(&line);
        }
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
                    item.id.map(|id| id.to_string()).unwrap_or_default(),
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
    lines
}
