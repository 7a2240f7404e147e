//! Answer to a prompt: the relevant records that the session neither got yet nor taught itself.

use super::session_state::HookSessionState;
use super::{HookRequest, prompt_records};
use crate::Hooks;
use heirloom_agents::hooks::{HookAnswer, without_envelopes};
use heirloom_model::{Fault, limits};
use heirloom_search::relevance::select_told;

impl Hooks<'_> {
    /// Answers a prompt with relevant records that the session did not get yet.
    pub(super) fn answer_prompt(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let Some(prompt) = request.event.prompt.as_deref() else {
            return Ok(HookAnswer::default());
        };
        let by_person = matches!(request.event.source.as_deref(), None | Some("user" | "sdk"));
        let prompt = without_envelopes(prompt);
        if !by_person || prompt.trim().is_empty() {
            return Ok(HookAnswer::default());
        }
        let clean = self.engine.redaction().redact_input(&prompt);
        state.add_prompt(&clean);
        if !request.can_inject() {
            // The records would count as delivered.
            return Ok(HookAnswer::default());
        }
        let mut near = self.relevant_hits(&clean)?;
        near.retain(|one| !state.is_delivered(one.record.id) && !self.is_own(&one.record, request));
        let relevance: Vec<f64> = near.iter().map(|one| one.relevance).collect();
        let places = select_told(&relevance, limits::HOOK_HITS_MAX);
        let found: Vec<_> = places.iter().filter_map(|n| near.get(*n)).collect();
        let records: Vec<_> = found.iter().map(|one| &one.record).collect();
        let lines = prompt_records::lines(&records);
        if lines.is_empty() {
            return Ok(HookAnswer::default());
        }
        let answer = self.build_answer(&lines.join("\n"), limits::HOOK_TEXT_CHARS_MAX);
        state.mark_delivered(found.iter().map(|one| one.record.id));
        state.add_injected_text(&answer.context);
        Ok(answer)
    }
}
