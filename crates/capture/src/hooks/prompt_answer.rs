//! Answer to a prompt: the relevant records that the session neither got yet nor taught itself.

use super::failure_warning::is_replaced;
use super::prompt_records::RelevantHit;
use super::session_state::HookSessionState;
use super::{HookRequest, prompt_records};
use crate::Hooks;
use heirloom_agents::hooks::HookAnswer;
use heirloom_engine::{EndedRecords, Engine};
use heirloom_model::{Fault, limits, text};
use heirloom_search::relevance::{Tellable, select_told};
use std::borrow::Cow;

/// Prompts shorter than this many characters are searched with the goal of the session, because `yes, fix all of them` has
/// no subject. Of 61 recorded prompts about new work 8 instead of 10 are told something, of 32 about earlier work 16 with
/// and without it.
const FOLLOW_UP_CHARS_MAX: usize = 80;

/// Mark between the parts of a case.
const PART_MARK: &str = "; ";

impl Hooks<'_> {
    /// Answers a prompt with relevant records that the session did not get yet.
    pub(super) fn answer_prompt(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let Some(prompt) = request.prompt_of_person() else {
            return Ok(HookAnswer::default());
        };
        let clean = self.engine.redaction().redact_input(&prompt);
        let question = with_goal(&clean, state.current_goal());
        state.add_prompt(&clean);
        if !request.can_inject() {
            // The records would count as delivered.
            return Ok(HookAnswer::default());
        }
        let mut near = self.relevant_hits(&question)?;
        near.retain(|one| {
            !state.is_delivered(one.record.id)
                && !state.has_injected(&prompt_records::line_start(&one.record))
                && !self.is_own(&one.record, request)
        });
        let ended = EndedRecords::new(self.engine, request.event.session.as_deref())?;
        let ended = ended.among(near.iter().map(|one| &one.record))?;
        near.retain(|one| !ended.contains(&one.record.id));
        let candidates: Vec<Tellable> = near.iter().map(RelevantHit::tellable).collect();
        let places = select_told(&candidates, limits::HOOK_HITS_MAX);
        let found: Vec<_> = places.iter().filter_map(|n| near.get(*n)).collect();
        let records: Vec<_> = found.iter().map(|one| &one.record).collect();
        let lines = prompt_records::lines(&records);
        if lines.is_empty() {
            return Ok(HookAnswer::default());
        }
        let lines: Result<Vec<String>, Fault> = lines
            .iter()
            .map(|line| without_replaced_values(self.engine, line))
            .collect();
        let lines = lines?;
        let answer = self.build_answer(&lines.join("\n"), limits::HOOK_TEXT_CHARS_MAX);
        state.mark_delivered(found.iter().map(|one| one.record.id));
        state.add_injected_text(&answer.context);
        Ok(answer)
    }
}

/// Returns a line without its parts that set a variable to a value that a rule of a person replaced, such as the command
/// with which a case was verified.
fn without_replaced_values(engine: &Engine, line: &str) -> Result<String, Fault> {
    let mut parts = line.split(PART_MARK);
    let mut kept = vec![parts.next().unwrap_or_default()];
    for part in parts {
        if !is_replaced(engine, Some(part))? {
            kept.push(part);
        }
    }
    Ok(kept.join(PART_MARK))
}

/// Returns the question for a prompt. A short one is about the request before it.
fn with_goal<'p>(prompt: &'p str, goal: Option<&str>) -> Cow<'p, str> {
    match goal {
        Some(goal) if text::chars(prompt.trim()) < FOLLOW_UP_CHARS_MAX => {
            Cow::Owned(format!("{prompt}\n{goal}"))
        }
        Some(_) | None => Cow::Borrowed(prompt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_prompt_is_asked_with_the_goal_of_its_session() {
        let goal = Some("Make the export of tiles faster");
        assert_eq!(
            with_goal("yes, do it", goal),
            "yes, do it\nMake the export of tiles faster"
        );
        assert_eq!(with_goal("yes, do it", None), "yes, do it");
        let long = "x".repeat(FOLLOW_UP_CHARS_MAX);
        assert_eq!(with_goal(&long, goal), long);
    }
}
