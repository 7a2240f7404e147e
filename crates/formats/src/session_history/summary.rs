//! Summaries of interactions in their own words, one line each.

use super::Interaction;
use heirloom_model::limits::{HISTORY_EXCERPT_CHARS_MAX, HISTORY_OLDER_MAX};
use heirloom_model::text;

/// Renders one line for each interaction that has a text, oldest first: its goal, and the end of its output.
pub fn render_recent(interactions: &[Interaction]) -> Vec<String> {
    interactions.iter().filter_map(render_line).collect()
}

/// Renders interactions that are no longer in a prompt, oldest first; those before the newest fifty are only counted.
pub fn render_older(interactions: &[Interaction]) -> Vec<String> {
    let beyond = interactions.len().saturating_sub(HISTORY_OLDER_MAX);
    let mut lines = Vec::new();
    if beyond > 0 {
        lines.push(format!("- {beyond} interactions before these"));
    }
    lines.extend(interactions[beyond..].iter().filter_map(render_line));
    lines
}

/// Returns the line of an interaction; `None` if it has neither a goal nor an output.
fn render_line(interaction: &Interaction) -> Option<String> {
    let entry = &interaction.entry;
    let goal = text::excerpt(&entry.goal, HISTORY_EXCERPT_CHARS_MAX);
    let outcome = outcome_excerpt(&entry.output);
    match (goal.is_empty(), outcome.is_empty()) {
        (false, false) => Some(format!("- {goal} → {outcome}")),
        (false, true) => Some(format!("- {goal} → no answer")),
        (true, false) => Some(format!("- {outcome}")),
        (true, true) => None,
    }
}

/// Returns the last paragraph of an output, which has the result; a short output is returned whole.
fn outcome_excerpt(output: &str) -> String {
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
