//! Text that a session or a subagent begins with: the rules of people, and what was learned.

use super::lesson_teaching::LessonTeaching;
use super::session_state::HookSessionState;
use super::{HookRequest, add_text};
use crate::Hooks;
use heirloom_agents::hooks::{ENVELOPE_CHARS, HookAnswer, wrap_for_hook, wrap_rules_in_envelope};
use heirloom_engine::ContextRequest;
use heirloom_model::context::Context;
use heirloom_model::{Budget, Fault, limits, text};
use std::borrow::Cow;

/// Blank line between the envelopes of the rules and of the context.
const GAP: &str = "\n\n";

/// Text that a session begins with.
pub(super) struct SessionContext {
    /// Rules of people, in their envelope; empty without rules.
    rules: String,
    /// Records that were learned.
    context: Context,
    /// Space for the context with its envelope, characters.
    room: usize,
}

impl Hooks<'_> {
    /// Answers the start of a session with rules, a context, and how lessons are left; after a compaction the context
    /// begins with the session's goal and files.
    pub(super) fn start_session(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let source = request.event.source.as_deref();
        let goes_on = matches!(source, Some("resume" | "fork"));
        state.begin(request.event.transcript.as_deref(), source);
        let opening = match source {
            Some("compact") => self
                .engine
                .contexts()
                .neutralize_text(&state.compaction_text()),
            _ => String::new(),
        };
        let has_context = goes_on && state.context.is_some();
        let teaching = match has_context {
            true => String::new(),
            false => LessonTeaching::new(self.engine).teaching(request),
        };
        let reserved = match teaching.is_empty() {
            true => 0,
            false => text::chars(&teaching) + GAP.len(),
        };
        let most = limits::HOOK_TEXT_CHARS_MAX - reserved;
        let made = self.session_context(most, text::chars(&opening))?;
        let hash = made.hash(&opening);
        // A conversation that continues has the same text already.
        if goes_on && state.context.as_deref() == Some(hash.as_str()) {
            return Ok(HookAnswer::default());
        }
        let mut answer = self.build_session_answer(&made, &opening);
        let is_empty = answer.context.is_empty();
        add_text(&mut answer, &teaching);
        if is_empty {
            state.add_injected_text(&answer.context);
            state.context = Some(hash);
            return Ok(answer);
        }
        let sections = &made.context.sections;
        let items = sections.iter().flat_map(|section| &section.items);
        state.mark_delivered(
            items
                .filter(|item| item.is_included())
                .filter_map(|item| item.id),
        );
        state.add_injected_text(&answer.context);
        state.context = Some(hash);
        let asked = ContextRequest {
            session: request.scope().session,
            ..ContextRequest::default()
        };
        // Best effort: the context is valid without its receipt.
        let contexts = self.engine.contexts();
        drop(contexts.store_receipt(&asked, &made.context, None));
        Ok(answer)
    }

    /// Answers the start of a subagent with rules and a shorter context.
    pub(super) fn start_subagent(&self) -> Result<HookAnswer, Fault> {
        let made = self.session_context(limits::HOOK_SUBAGENT_CHARS_MAX, 0)?;
        Ok(self.build_session_answer(&made, ""))
    }

    /// Builds the rules, at most half of `chars_max`, and a context that fits into the rest together with its envelope
    /// and `reserved` characters.
    fn session_context(&self, chars_max: usize, reserved: usize) -> Result<SessionContext, Fault> {
        let configured = self.engine.settings().context_budget.chars();
        let most = chars_max.saturating_sub(ENVELOPE_CHARS + reserved);
        // Standing text has its allowance in addition to a configured budget, but is part of a requested one.
        let budget = (configured > most).then_some(Budget::Chars(most));
        let context = self.build_context(budget)?;
        let rules = self.wrap_rules(&context.rules, chars_max / 2);
        let used = match rules.is_empty() {
            true => 0,
            false => text::chars(&rules) + GAP.len(),
        };
        let left = most.saturating_sub(used);
        let context = if text::chars(&context.text) > left {
            self.build_context(Some(Budget::Chars(left)))?
        } else {
            context
        };
        Ok(SessionContext {
            rules,
            context,
            room: chars_max.saturating_sub(used),
        })
    }

    fn build_context(&self, budget: Option<Budget>) -> Result<Context, Fault> {
        self.engine.contexts().build(&ContextRequest {
            budget,
            separate_rules: true,
            ..ContextRequest::default()
        })
    }

    /// Wraps rules in their envelope, within `chars_max`.
    fn wrap_rules(&self, rules: &str, chars_max: usize) -> String {
        let rules = self.engine.contexts().neutralize_text(rules);
        let room = chars_max.saturating_sub(ENVELOPE_CHARS);
        let rules = cut_rules(rules.trim(), room);
        wrap_rules_in_envelope(&self.engine.display_name(), &rules, chars_max)
    }

    fn build_session_answer(&self, made: &SessionContext, opening: &str) -> HookAnswer {
        let contexts = self.engine.contexts();
        let body = format!("{opening}{}", contexts.neutralize_text(&made.context.text));
        let memory = wrap_for_hook(&self.engine.display_name(), &body, made.room);
        let parts = [made.rules.as_str(), &memory];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        HookAnswer {
            context: parts.join(GAP),
            ..HookAnswer::default()
        }
    }
}

impl SessionContext {
    /// Returns a hash of the text, to recognise the same one.
    fn hash(&self, opening: &str) -> String {
        if self.rules.is_empty() {
            return text::hash16(&format!("{opening}{}", self.context.text));
        }
        text::hash_parts(&[&self.rules, opening, &self.context.text])
    }
}

/// Returns the leading whole lines of rules that fit `chars_max`, with the number of missing characters on a last line.
fn cut_rules(rules: &str, chars_max: usize) -> Cow<'_, str> {
    let total = text::chars(rules);
    if total <= chars_max {
        return Cow::Borrowed(rules);
    }
    let note = |missing: usize| {
        format!(
            "\n[… {missing} of {total} characters of these rules are missing here; `heirloom context` prints all of them]"
        )
    };
    let room = chars_max.saturating_sub(text::chars(&note(total)));
    let head = text::clip(rules, room);
    let kept = match head.rfind('\n') {
        Some(end) => &head[..end],
        None => head,
    };
    let kept = kept.trim_end();
    Cow::Owned(format!("{kept}{}", note(total - text::chars(kept))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_over_the_limit_end_with_the_number_of_missing_characters() {
        let rules = "a rule of twenty-one.\n".repeat(100);
        let rules = rules.trim();
        let total = text::chars(rules);
        assert_eq!(cut_rules(rules, total), rules);
        let cut = cut_rules(rules, total - 1);
        assert!(text::chars(&cut) < total);
        let (kept, note) = cut.rsplit_once('\n').unwrap();
        assert!(rules.starts_with(kept) && kept.ends_with("one."), "{kept}");
        let missing = total - text::chars(kept);
        assert!(
            note.starts_with(&format!(
                "[… {missing} of {total} characters of these rules"
            )),
            "{note}"
        );
        let long = "x".repeat(5_000);
        let cut = cut_rules(&long, 3_600);
        assert_eq!(text::chars(&cut), 3_600);
        assert!(cut.contains("x\n[… "), "{cut}");
    }
}
