//! `heirloom trust`.

mod claims;

use crate::acting_agent::require_person;
use crate::store_access::CliSession;
use claims::{Claim, ClaimKind, ClaimState, find_claims};
use heirloom_model::text::counted;
use heirloom_model::{Fault, text};
use serde_json::json;

/// Show what a project brings that is not from you, and let it be used
///
/// A memory that came with a clone, an archive or a copy is not opened, and standing text, shared files and commands of
/// a repository are not used, before you have said so. What you write yourself needs no trust.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  heirloom trust                 shows everything and asks
  heirloom trust memory --yes    lets the memory be used
  heirloom trust .heirloom/workspace/SOUL.md --off")]
pub(crate) struct Args {
    /// Only these: memory, or paths as they are shown
    #[arg(value_name = "WHAT")]
    names: Vec<String>,
    /// Withdraw the trust
    #[arg(long)]
    off: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Characters of a text that are shown before the question.
const SHOWN_CHARS: usize = 2_000;

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    // The next command asks for the identity of a copy.
    session.suppress_questions();
    let found = session.find_project()?;
    let mut decided = Vec::new();
    // The files can only be read through the memory, so it is decided about first.
    loop {
        let mut claims = find_claims(session, &found)?;
        check_names(&args.names, &claims)?;
        claims.retain(|claim| args.names.is_empty() || args.names.contains(&claim.name));
        let wanted = match args.off {
            true => ClaimState::Trusted,
            false => ClaimState::Undecided,
        };
        let is_open = |claim: &Claim| {
            let is_wanted = claim.state == wanted
                || !args.off && claim.state == ClaimState::Revoked && !args.names.is_empty();
            is_wanted && !decided.contains(&claim.name)
        };
        let open: Vec<Claim> = claims
            .iter()
            .filter(|claim| is_open(claim))
            .cloned()
            .collect();
        // Without a name `--off` would also revert decisions that were not meant.
        let is_listing = args.off && args.names.is_empty() || open.is_empty();
        if is_listing {
            print_claims(&claims, &decided, session);
            return Ok(0);
        }
        if !args.off {
            require_person(session, "trust what a project brings")?;
        }
        for claim in open {
            if confirm(&claim, &args, session)? {
                claim.decide(session, &found, !args.off)?;
            }
            decided.push(claim.name.clone());
        }
        if args.off {
            let claims = decided_claims(session, &found, &decided)?;
            print_claims(&claims, &decided, session);
            return Ok(0);
        }
    }
}

/// Returns the decided claims with their new state; a memory that is not used any more hides the others.
fn decided_claims(
    session: &mut CliSession,
    found: &crate::store_access::FoundProject,
    decided: &[String],
) -> Result<Vec<Claim>, Fault> {
    let mut claims = find_claims(session, found)?;
    claims.retain(|claim| decided.contains(&claim.name));
    Ok(claims)
}

fn check_names(names: &[String], claims: &[Claim]) -> Result<(), Fault> {
    let is_known = |name: &&String| claims.iter().any(|claim| claim.name == **name);
    let Some(unknown) = names.iter().find(|name| !is_known(name)) else {
        return Ok(());
    };
    // The files of a memory that is not open yet are unknown.
    if claims
        .iter()
        .any(|claim| claim.kind == ClaimKind::Memory && claim.state == ClaimState::Undecided)
    {
        return Err(Fault::refused(format!(
            "`{}` can be trusted after the memory",
            text::excerpt(unknown, 200)
        ))
        .hint("`heirloom trust memory` first"));
    }
    let known: Vec<&str> = claims.iter().map(|claim| claim.name.as_str()).collect();
    Err(Fault::not_found(format!(
        "the project brings no `{}`",
        text::excerpt(unknown, 200)
    ))
    .hint(format!("it brings: {}", known.join(", "))))
}

fn confirm(claim: &Claim, args: &Args, session: &mut CliSession) -> Result<bool, Fault> {
    if args.yes || args.off {
        return Ok(true);
    }
    let out = &mut session.out;
    out.talk(&format!("{}: {}", claim.name, claim.summary));
    if !claim.text.is_empty() {
        out.talk(text::clip(&claim.text, SHOWN_CHARS));
        let more = text::chars(&claim.text).saturating_sub(SHOWN_CHARS);
        if more > 0 {
            out.talk(&format!(
                "… {}",
                counted(more as u64, "more character", "more characters")
            ));
        }
    }
    let asked = out.ask(&format!("Use {}?", claim.name));
    asked.map_err(|fault| fault.hint("read it, then repeat with --yes"))
}

fn print_claims(claims: &[Claim], decided: &[String], session: &mut CliSession) {
    if session.out.json {
        let items: Vec<_> = claims
            .iter()
            .map(|claim| {
                json!({
                    "name": claim.name,
                    "kind": claim.kind.as_str(),
                    "state": claim.state.as_str(),
                    "summary": claim.summary,
                    "decided": decided.contains(&claim.name),
                })
            })
            .collect();
        session.out.value(&json!({ "items": items }));
        return;
    }
    if claims.is_empty() {
        session
            .out
            .line("this project brings nothing that is not from you");
    }
    for claim in claims {
        let (state, name, summary) = (claim.state.as_str(), &claim.name, &claim.summary);
        session.out.line(&format!("{state:<9} {name}  {summary}"));
    }
}
