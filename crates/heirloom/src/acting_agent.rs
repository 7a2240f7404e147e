//! Who acts on the command line: a person, or the agent in whose shell the program runs.
//!
//! A shell cannot be fenced off, but an honest agent that follows the README must not speak as its person.

use crate::config::Environment;
use crate::store_access::CliSession;
use heirloom_agents::AgentProgram;
use heirloom_model::{Authority, Fault};

/// Source of an agent without a name of its own.
const AGENT: &str = "agent";

/// Variable that `heirloom run` sets for its agents.
const RUN_VARIABLE: &str = "HEIRLOOM_ITERATION";
/// Variable with the name of an agent program, for those without a row in the table.
const COMMON_VARIABLE: &str = "AI_AGENT";

/// Returns the name of the agent in whose shell the program runs; `None` in the shell of a person.
pub(crate) fn acting_agent(env: &Environment) -> Option<String> {
    let has = |name: &&str| env.get(name).is_some();
    let program = AgentProgram::ALL
        .into_iter()
        .find(|program| program.shell_variables().iter().any(|name| has(name)));
    if let Some(program) = program {
        return Some(program.as_str().to_owned());
    }
    if let Some(name) = env.get(COMMON_VARIABLE) {
        return Some(Authority::agent_source(name).to_owned());
    }
    has(&RUN_VARIABLE).then(|| AGENT.to_owned())
}

impl CliSession {
    /// Refuses what only a person may do in the shell of an agent, unless someone confirms it at the terminal.
    pub(crate) fn require_person(&mut self, action: &str) -> Result<(), Fault> {
        let Some(agent) = acting_agent(&self.env) else {
            return Ok(());
        };
        let refused = || {
            Fault::refused(format!(
                "only a person may {action}, and this is the shell of an agent ({agent})"
            ))
            .hint("ask the person to run it in a terminal of their own")
        };
        if !self.out.can_ask() {
            return Err(refused());
        }
        let question =
            format!("This is the shell of {agent}. Are you the person who may {action}?");
        match self.out.ask(&question)? {
            true => Ok(()),
            false => Err(refused()),
        }
    }
}

/// Describes what a command does that only a person may do; `None` for the others.
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
