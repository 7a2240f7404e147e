//! Text of a summary without its analysis and the program's notes around it.

/// Tag of Gemini CLI's summaries.
const SNAPSHOT: &str = "<state_snapshot>";
/// Beginnings of the notes that Claude Code and Codex add after a summary.
const NOTES: [&str; 3] = [
    "If you need specific details from before compaction",
    "Please continue the conversation from where we left off",
    "Continue the conversation from where",
];

/// Returns true if a message is a summary, although the transcript does not mark it as one.
pub(super) fn is_summary(text: &str) -> bool {
    let head = text
        .get(..text.floor_char_boundary(2_000))
        .unwrap_or_default();
    head.contains(SNAPSHOT)
}

/// Returns the summary itself.
pub(super) fn summary_body(text: &str) -> &str {
    let mut body = text;
    // Claude Code writes an analysis first, in tags or under a heading.
    for mark in ["<summary>", "\nSummary:\n"] {
        if let Some((_, rest)) = body.split_once(mark) {
            body = rest;
            break;
        }
    }
    body = body
        .split_once("</summary>")
        .map_or(body, |(summary, _)| summary);
    for note in NOTES {
        body = body.split_once(note).map_or(body, |(summary, _)| summary);
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_body_leaves_analysis_and_notes_out() {
        for (text, body) in [
            (
                "Intro\n\nAnalysis:\n1. x\n\nSummary:\n1. Errors:\n   - a\n\nIf you need specific details from before compaction, read",
                "1. Errors:\n   - a\n\n",
            ),
            (
                "<analysis>x</analysis>\n<summary>\na\n</summary>\nPlease continue",
                "\na\n",
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(summary_body(text), body);
        }
        assert!(is_summary("<state_snapshot>\n<overall_goal>"));
        assert!(!is_summary("a snapshot"));
    }
}
