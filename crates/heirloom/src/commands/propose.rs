//! `heirloom propose`.

use crate::open::Session;
use crate::wire;
use heirloom_engine::group::AGENT_DEFAULT;
use heirloom_engine::{Applied, Engine, Filter, NewRecord, Remembered};
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Record, text};

/// Propose something for a person's own memory: it holds nowhere before they accept it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  heirloom propose --user \"They prefer small commits\" --source claude
  heirloom propose --user                 what waits
  heirloom propose --user --accept ID     only you do that; heirloom forget --user ID turns it down")]
pub(crate) struct Args {
    /// What is proposed; without it, what waits is listed
    #[arg(conflicts_with = "accept")]
    text: Option<String>,
    /// For your own memory
    #[arg(long, required = true)]
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
    /// Accept a proposal
    #[arg(long, value_name = "ID", conflicts_with_all = ["source", "category", "key"])]
    accept: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    if let Some(id) = &args.accept {
        return accept(id, session);
    }
    let Some(text) = args.text else {
        return list(session);
    };
    let source = args.source.unwrap_or_else(|| AGENT_DEFAULT.to_owned());
    if may_arbitrate(&source) {
        let name = text::excerpt(&source, 60);
        return Err(Fault::refused(format!("`{name}` does not propose"))
            .hint("say it yourself: heirloom remember --user \"TEXT\""));
    }
    let proposed = session.user_engine()?.remember(NewRecord {
        text,
        category: args.category,
        key: args.key,
        source: Some(source),
        ..NewRecord::default()
    })?;
    let said = "proposed: it holds nowhere before the person accepts it";
    tell(&proposed, said, session);
    Ok(0)
}

fn accept(id: &str, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open_of(true)?;
    let record = engine.get(engine.resolve_id(id)?)?;
    if !is_proposal(&record) {
        return Err(Fault::usage(format!("{} is no proposal", record.id))
            .hint("`heirloom propose --user` lists what waits"));
    }
    // A person who says the same accepts it.
    let accepted = engine.remember(NewRecord {
        category: record.category().map(str::to_owned),
        key: record.key.clone(),
        text: record.text,
        ..NewRecord::default()
    })?;
    tell(&accepted, "accepted: it holds in every project", session);
    Ok(0)
}

fn list(session: &mut Session) -> Result<u8, Fault> {
    let waiting = match session.has_user_memory() {
        true => proposals(&session.user_engine()?)?,
        false => Vec::new(),
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

fn proposals(engine: &Engine) -> Result<Vec<Record>, Fault> {
    let mut records = engine.find(&Filter::current(&[Kind::Knowledge], engine.now()))?;
    records.retain(is_proposal);
    Ok(records)
}

fn is_proposal(record: &Record) -> bool {
    record.retired_at.is_none() && Knowledge::of(record).is_ok_and(|knowledge| knowledge.proposal)
}

fn tell(remembered: &Remembered, said: &str, session: &mut Session) {
    if session.out.json {
        session.out.value(&wire::applied(&Applied {
            id: remembered.id,
            verdict: remembered.verdict,
            other: remembered.winner,
        }));
    } else {
        session.out.line(&format!("{} {said}", remembered.id));
    }
}
