//! Summary of a session for a compacted conversation, and its files.

use super::HookSessionState;

/// Number of files that are named.
const FILES_SHOWN: usize = 12;

impl HookSessionState {
    /// Returns the files that the session changed, the newest first.
    pub(in crate::hooks) fn newest_files(&self) -> Vec<String> {
        let newest = self.files.iter().rev().take(FILES_SHOWN);
        newest.cloned().collect()
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
    let newest: Vec<&str> = (files.iter().rev())
        .take(FILES_SHOWN)
        .map(String::as_str)
        .collect();
    let more = files.len().saturating_sub(FILES_SHOWN);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", newest.join(", "))
}
