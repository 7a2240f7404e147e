//! Anchors: reminders of the goal and the open steps after tool calls, because a long conversation moves away from both.

use super::HookRequest;
use super::session_state::HookSessionState;
use crate::Hooks;
use heirloom_agents::hooks::{REMINDER_CHARS, wrap_reminder};
use heirloom_engine::TASK_MAIN;
use heirloom_model::{Fault, limits, mark, text};

/// Length of an anchor without its tags, characters.
const BODY_CHARS_MAX: usize =
    limits::HOOK_ANCHOR_TOKENS_MAX * limits::CHARS_PER_TOKEN - REMINDER_CHARS;

/// First words of the lines of an anchor.
const GOAL: &str = "Goal: ";
const STEPS: &str = "Open steps: ";

impl Hooks<'_> {
    /// Counts a tool call of the main agent and returns the anchor that is due after it; empty if none is.
    pub(super) fn anchor_after_call(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<String, Fault> {
        // The goal of a subagent is another one.
        if request.anchor_every == 0 || request.event.agent_id.is_some() {
            return Ok(String::new());
        }
        let is_due = state.count_call() >= request.anchor_every;
        if !is_due || !request.spec.can_inject {
            return Ok(String::new());
        }
        state.restart_call_count();
        let neutral = |text: &str| self.engine.contexts().neutralize_text(text);
        let goal = state.current_goal().map(neutral);
        let steps = self.pending_steps(request)?;
        let steps: Vec<String> = steps.iter().map(|step| neutral(step)).collect();
        Ok(anchor_text(goal.as_deref(), &steps))
    }

    /// Returns the pending steps of the session's task, by default the main one, oldest first.
    fn pending_steps(&self, request: &HookRequest<'_>) -> Result<Vec<String>, Fault> {
        let session = match request.scope().session {
            Some(id) => self.engine.sessions().find(&id)?,
            None => None,
        };
        let task = session.and_then(|session| session.task);
        let [_, pending] = (self.engine.tasks()).steps(task.as_deref().unwrap_or(TASK_MAIN))?;
        let shown = pending.iter().filter(|step| !mark::is_muted(&step.attrs));
        Ok(shown.map(|step| text::one_line(&step.text)).collect())
    }
}

/// Formats an anchor of at most [`limits::HOOK_ANCHOR_TOKENS_MAX`] tokens; empty without goal and steps.
fn anchor_text(goal: Option<&str>, steps: &[String]) -> String {
    let goal = goal.map(text::one_line).filter(|goal| !goal.is_empty());
    let wanted: usize = steps.iter().map(|step| text::chars(step) + 2).sum();
    let steps_chars = match steps.is_empty() {
        true => 0,
        false => (STEPS.len() + wanted).min(BODY_CHARS_MAX / 2),
    };
    let mut lines = Vec::new();
    if let Some(goal) = goal {
        let room = BODY_CHARS_MAX.saturating_sub(steps_chars + GOAL.len() + 1);
        lines.push(format!("{GOAL}{}", cut_at_word(&goal, room)));
    }
    if !steps.is_empty() {
        let used: usize = lines.iter().map(|line| text::chars(line) + 1).sum();
        let room = BODY_CHARS_MAX.saturating_sub(used + STEPS.len());
        lines.push(format!("{STEPS}{}", list_steps(steps, room)));
    }
    wrap_reminder(&lines.join("\n"))
}

/// Lists the first steps that fit, and the number of the others.
fn list_steps(steps: &[String], chars_max: usize) -> String {
    let more = |count: usize| match count {
        0 => String::new(),
        count => format!("; +{count} more"),
    };
    let whole = steps.join("; ");
    if text::chars(&whole) <= chars_max {
        return whole;
    }
    let mut listed = String::new();
    for (at, step) in steps.iter().enumerate() {
        let rest = more(steps.len() - at - 1);
        let gap = if at == 0 { "" } else { "; " };
        let length = text::chars(&listed) + gap.len() + text::chars(step) + rest.len();
        if length > chars_max {
            if at == 0 {
                let room = chars_max.saturating_sub(rest.len());
                return format!("{}{rest}", cut_at_word(step, room));
            }
            return format!("{listed}{}", more(steps.len() - at));
        }
        listed.push_str(gap);
        listed.push_str(step);
    }
    listed
}

/// Shortens a line to its first words, with `…` if text was left out.
fn cut_at_word(line: &str, chars_max: usize) -> String {
    if text::chars(line) <= chars_max {
        return line.to_owned();
    }
    let head = text::clip(line, chars_max.saturating_sub(1));
    // A script without blanks is cut between any two characters.
    let end = head.rfind(' ').filter(|end| *end > head.len() / 2);
    let head = head.get(..end.unwrap_or(head.len())).unwrap_or(head);
    format!("{}…", head.trim_end_matches([' ', ',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(list: &[&str]) -> Vec<String> {
        list.iter().map(|step| (*step).to_owned()).collect()
    }

    #[test]
    fn anchor_text_has_goal_and_steps() {
        assert_eq!(
            anchor_text(
                Some("add a login\npage"),
                &steps(&["the form", "its tests"])
            ),
            "<heirloom-memory>\nGoal: add a login | page\nOpen steps: the form; its tests\n</heirloom-memory>"
        );
        assert_eq!(
            anchor_text(None, &steps(&["the form"])),
            "<heirloom-memory>\nOpen steps: the form\n</heirloom-memory>"
        );
        assert_eq!(anchor_text(None, &[]), "");
        assert_eq!(anchor_text(Some(" "), &[]), "");
    }

    #[test]
    fn anchor_is_at_most_sixty_tokens() {
        let goal = "make the export of large tables faster without more memory ".repeat(9);
        let goal = goal.trim();
        let many: Vec<String> = (0..30).map(|n| format!("measure part {n}")).collect();
        let long = steps(&["write a test that reads a million rows "; 9]);
        let one = vec![goal.to_owned()];
        for (goal, steps) in [
            (Some(goal), &Vec::new()),
            (Some(goal), &many),
            (Some(goal), &long),
            (Some("fix the build"), &many),
            (None, &one),
            (Some(goal), &one),
            (Some("日本語のとても長い目標".repeat(40).as_str()), &many),
        ] {
            let anchor = anchor_text(goal, steps);
            let tokens = text::tokens(&anchor);
            assert!(
                tokens <= limits::HOOK_ANCHOR_TOKENS_MAX,
                "{tokens}: {anchor}"
            );
            // The budget is used.
            assert!(
                tokens > limits::HOOK_ANCHOR_TOKENS_MAX - 8,
                "{tokens}: {anchor}"
            );
            assert!(steps.is_empty() || anchor.contains(STEPS), "{anchor}");
        }
        let anchor = anchor_text(Some(goal), &many);
        assert!(
            anchor.contains("…\nOpen steps: measure part 0; "),
            "{anchor}"
        );
        assert!(anchor.contains(" more\n</"), "{anchor}");
        // Words stay whole.
        let line = anchor.lines().nth(1).unwrap();
        let kept = line.trim_start_matches(GOAL).trim_end_matches('…');
        assert!(goal.starts_with(&format!("{kept} ")), "{line}");
    }

    #[test]
    fn list_steps_counts_the_ones_left_out() {
        let three = steps(&["one", "two", "three"]);
        assert_eq!(list_steps(&three, 15), "one; two; three");
        assert_eq!(list_steps(&three, 14), "one; +2 more");
        let long = steps(&["write the first part of it", "two"]);
        assert_eq!(list_steps(&long, 26), "write the first…; +1 more");
    }
}
