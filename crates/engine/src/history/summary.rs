//! What interactions come to, in their own words: one line each.

use super::Interaction;
use heirloom_model::limits::{HISTORY_EXCERPT_CHARS_MAX, HISTORY_OLDER_MAX};
use heirloom_model::text;

/// One line for each interaction, oldest first: its goal, and the end of what came of it.
pub fn recent(interactions: &[Interaction]) -> Vec<String> {
    interactions.iter().map(line).collect()
}

/// The goals of interactions that are no longer told, oldest first; those before the newest fifty are counted.
pub fn older(interactions: &[Interaction]) -> Vec<String> {
    let beyond = interactions.len().saturating_sub(HISTORY_OLDER_MAX);
    let mut lines = Vec::new();
    if beyond > 0 {
        lines.push(format!("- {beyond} interactions before these"));
    }
    lines.extend(interactions[beyond..].iter().map(line));
    lines
}

fn line(interaction: &Interaction) -> String {
    let said = &interaction.said;
    let goal = text::excerpt(&said.goal, HISTORY_EXCERPT_CHARS_MAX);
    let outcome = outcome(&said.output);
    match (goal.is_empty(), outcome.is_empty()) {
        (false, false) => format!("- {goal} → {outcome}"),
        (false, true) => format!("- {goal} → no answer"),
        (true, false) => format!("- {outcome}"),
        (true, true) => "- nothing was said".to_owned(),
    }
}

/// The last paragraph says how it ended; a short answer is told whole.
fn outcome(output: &str) -> String {
    let whole = text::one_line(output.trim());
    if text::chars(&whole) <= HISTORY_EXCERPT_CHARS_MAX {
        return whole;
    }
    let paragraphs = output.trim().replace("\r\n", "\n");
    let last = paragraphs.rsplit("\n\n").find(|part| {
        let part = part.trim();
        !part.is_empty() && !part.starts_with("```")
    });
    text::excerpt(last.unwrap_or(output), HISTORY_EXCERPT_CHARS_MAX)
}
