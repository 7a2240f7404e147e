//! Summaries of a session: one line for its episode, and a block for a compacted conversation.

use super::HookSessionState;
use heirloom_model::text::counted;

impl HookSessionState {
    /// Summarises the session on one line.
    pub(in crate::hooks) fn summary(&self) -> String {
        let mut text = counted(self.prompts, "prompt", "prompts");
        if !self.files.is_empty() {
            text.push_str(&format!(", changed {}", shown(&self.files)));
        }
        if self.failed > 0 {
            let failures = counted(self.failed, "failure", "failures");
            let open = u32::try_from(self.failures.len()).unwrap_or(u32::MAX);
            let state = match open.min(self.failed) {
                0 => "mended".to_owned(),
                open if open == self.failed => "not mended".to_owned(),
                open => format!("{open} of them not mended"),
            };
            text.push_str(&format!(", {failures}, {state}"));
        }
        text
    }

    /// Returns what a compacted conversation has to know again.
    pub(in crate::hooks) fn compaction_text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(goal) = &self.goal {
            lines.push(format!("- The session began with: {goal}"));
        }
        if let Some(prompt) = self
            .prompt
            .as_ref()
            .filter(|prompt| self.goal.as_ref() != Some(prompt))
        {
            lines.push(format!("- Asked last: {prompt}"));
        }
        if !self.files.is_empty() {
            lines.push(format!("- Files changed so far: {}", shown(&self.files)));
        }
        if lines.is_empty() {
            return String::new();
        }
        format!("## This Session\n{}\n\n", lines.join("\n"))
    }
}

/// Lists the newest files.
fn shown(files: &[String]) -> String {
    const FILES: usize = 12;
    let newest: Vec<&str> = (files.iter().rev())
        .take(FILES)
        .map(String::as_str)
        .collect();
    let more = files.len().saturating_sub(FILES);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", newest.join(", "))
}
