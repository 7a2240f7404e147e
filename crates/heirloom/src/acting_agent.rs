//! Actions of a person on the command line, and not of the agent in whose shell the program runs.
//!
//! A shell cannot be fenced off, but an honest agent that follows the README must not speak as its person.

use crate::store_access::CliSession;
use heirloom_model::Fault;

/// Refuses what only a person may do in the shell of an agent, unless someone confirms it at the terminal.
pub(crate) fn require_person(session: &mut CliSession, action: &str) -> Result<(), Fault> {
    let Some(agent) = session.env.acting_agent() else {
        return Ok(());
    };
    let refused = || {
        Fault::refused(format!(
            "only a person may {action}, and this is the shell of an agent ({agent})"
        ))
        .hint("ask the person to run it in a terminal of their own")
    };
    if !session.out.can_ask() {
        return Err(refused());
    }
    let question = format!("This is the shell of {agent}. Are you the person who may {action}?");
    match session.out.ask(&question)? {
        true => Ok(()),
        false => Err(refused()),
    }
}

/// Describes the action of a command that only a person may do; `None` for the others.
pub(crate) fn personal_action(command: &str) -> Option<&'static str> {
    Some(match command {
        "forget" => "forget records",
        "undo" => "revert changes",
        "accept" | "reject" => "decide about proposals",
        "resolve" => "decide conflicts",
        "pin" | "mute" => "mark records",
        "purge" => "delete records for good",
        "restore" => "replace the memory by a backup",
        "share" | "unshare" => "change what the team shares",
        _ => return None,
    })
}
