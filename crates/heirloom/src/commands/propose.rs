//! `heirloom propose`.

use crate::open::Session;
use crate::{proposals, wire};
use heirloom_engine::NewRecord;
use heirloom_engine::group::AGENT_DEFAULT;
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::{Fault, text};

/// Propose something that a person accepts or rejects
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  heirloom propose \"The API is versioned by path\" --source claude    it is used, and marked as a proposal
  heirloom propose --user \"They prefer small commits\"               it holds nowhere before the person accepts it
  heirloom propose                                                  what waits; --user, for your own memory
  heirloom accept ID")]
pub(crate) struct Args {
    /// What is proposed; without it, what waits is listed
    text: Option<String>,
    /// For the person's own memory, which holds in every project
    #[arg(long)]
    user: bool,
    /// Who proposes it: an agent's id; unknown
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Its category
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Its key
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let Some(text) = args.text else {
        return list(args.user, session);
    };
    let source = args.source.unwrap_or_else(|| AGENT_DEFAULT.to_owned());
    if may_arbitrate(&source) {
        let name = text::excerpt(&source, 60);
        return Err(Fault::refused(format!("`{name}` does not propose"))
            .hint("say it yourself: heirloom remember \"TEXT\", with --user for every project"));
    }
    let engine = match args.user {
        true => session.user_engine()?,
        false => session.open()?,
    };
    let proposed = engine.remember(NewRecord {
        text,
        category: args.category,
        key: args.key,
        source: Some(source),
        ..NewRecord::default()
    })?;
    let said = match args.user {
        true => "proposed: it holds nowhere before the person accepts it",
        false => "proposed: it is used, and marked as a proposal",
    };
    proposals::tell(&proposed, said, session);
    Ok(0)
}

fn list(of_user: bool, session: &mut Session) -> Result<u8, Fault> {
    let waiting = match of_user {
        true if !session.has_user_memory() => Vec::new(),
        true => proposals::waiting(&session.user_engine()?)?,
        false => proposals::waiting(&session.open()?)?,
    };
    if session.out.json {
        session.out.value(&wire::list("records", &waiting));
        return Ok(0);
    }
    if waiting.is_empty() {
        session.out.talk("no proposal waits");
    }
    for record in waiting {
        let words = text::excerpt(&record.text, 90);
        let line = format!("{}  {}: {words}", record.id, record.source);
        session.out.line(&line);
    }
    Ok(0)
}
