//! Text that a session or a subagent begins with: the standing instructions of people, and a short list from memory.

mod general_rule;
mod last_session;
mod open_work;
mod pitfalls;
mod start_text;

use super::lesson_teaching::LessonTeaching;
use super::session_state::{HookSessionState, ToldStart};
use super::{HookRequest, add_text};
use crate::Hooks;
use general_rule::{is_general_rule, is_lasting_rule};
use heirloom_agents::hooks::{ENVELOPE_CHARS, HookAnswer, wrap_for_hook, wrap_rules_in_envelope};
use heirloom_engine::{ContextRequest, EndedRecords, LessonSource};
use heirloom_model::kinds::{CATEGORY_CONVENTION, Knowledge};
use heirloom_model::permissions::VOUCHED_BY_ATTR;
use heirloom_model::record_meaning::record_meaning_excerpt;
use heirloom_model::{Fault, Record, Session, limits, mark, text};
use start_text::{StartItem, StartSection, StartText};
use std::borrow::Cow;

/// Blank line between the parts of a start.
const GAP: &str = "\n\n";

/// Newest sessions among which the last ones are searched; the others are subagents and the session itself.
const SESSIONS_READ: usize = 20;

/// Attribute of a session that is a subagent of another one.
const PARENT: &str = "parent";

impl Hooks<'_> {
    /// Answers the start of a session with the standing instructions of people, a short list from memory, and how
    /// lessons are left; after a compaction the list begins with the session's goal and files. A conversation that
    /// continues is told only what it has not seen.
    pub(super) fn start_session(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let source = request.event.source.as_deref();
        state.begin(request.event.transcript.as_deref(), source);
        if !request.can_inject() {
            // The records would count as delivered.
            return Ok(HookAnswer::default());
        }
        let seen = match source {
            Some("resume" | "fork") => state.start.clone(),
            _ => None,
        };
        let opening = match source {
            Some("compact") => state.compaction_text(),
            _ => String::new(),
        };
        let teaching = match seen {
            Some(_) => String::new(),
            None => LessonTeaching::new(self.engine).teaching(request),
        };
        let reserved = match teaching.is_empty() {
            true => 0,
            false => text::chars(&teaching) + GAP.len(),
        };
        let ended = EndedRecords::new(self.engine, request.event.session.as_deref())?;
        let start = SessionStart {
            hooks: *self,
            request,
            ended: &ended,
        };
        let mut items = start.start_items()?;
        items.retain(|item| {
            let is_new = seen.as_ref().is_none_or(|seen| item.at > seen.at);
            is_new
                && !item.is_own
                && !state.is_delivered(item.id)
                && !state.has_injected(&item.text)
        });
        let body_max = start.start_room(limits::HOOK_START_CHARS_MAX.saturating_sub(reserved));
        let list = StartText::select(items, body_max);
        let contexts = self.engine.contexts();
        let mut rules = contexts.standing_text(limits::HOOK_STANDING_CHARS_MAX);
        let now = ToldStart {
            at: self.engine.now(),
            rules: text::hash16(&rules),
        };
        if seen.is_some_and(|seen| seen.rules == now.rules) {
            rules.clear();
        }
        let mut answer =
            start.start_answer(&rules, limits::HOOK_STANDING_CHARS_MAX, &opening, &list);
        add_text(&mut answer, &teaching);
        state.mark_delivered(list.told());
        state.add_injected_text(&answer.context);
        state.start = Some(now);
        let asked = ContextRequest {
            session: request.scope().session,
            ..ContextRequest::default()
        };
        let mut receipt = list.receipt(rules);
        receipt.sections.extend(ended.receipt_section());
        // Best effort: the text is valid without its receipt.
        drop(contexts.store_receipt(&asked, &receipt, None));
        Ok(answer)
    }

    /// Answers the start of a subagent, a conversation of its own, with the same text in less space.
    pub(super) fn start_subagent(&self, request: &HookRequest<'_>) -> Result<HookAnswer, Fault> {
        let ended = EndedRecords::new(self.engine, request.event.session.as_deref())?;
        let start = SessionStart {
            hooks: *self,
            request,
            ended: &ended,
        };
        let body_max = start.start_room(limits::HOOK_SUBAGENT_CHARS_MAX);
        let list = StartText::select(start.start_items()?, body_max);
        let rules_max = limits::HOOK_SUBAGENT_STANDING_CHARS_MAX;
        let rules = self.engine.contexts().standing_text(rules_max);
        Ok(start.start_answer(&rules, rules_max, "", &list))
    }
}

/// Start of a session or of a subagent: its items, and the answer with them.
#[derive(Clone, Copy)]
struct SessionStart<'h> {
    hooks: Hooks<'h>,
    request: &'h HookRequest<'h>,
    ended: &'h EndedRecords<'h>,
}

impl SessionStart<'_> {
    /// Returns what the start of a session may tell, each section in the order of importance.
    fn start_items(&self) -> Result<Vec<StartItem>, Fault> {
        let last = self.last_sessions()?;
        let mut items = self.rule_items()?;
        items.extend(self.open_work_items(&last)?);
        items.extend(self.last_session_items(&last)?);
        items.extend(self.pitfall_items(&last)?);
        Ok(items)
    }

    /// Returns the last sessions before this one, newest first, without subagents.
    fn last_sessions(&self) -> Result<Vec<Session>, Fault> {
        let mut found = self
            .hooks
            .engine
            .sessions()
            .sessions_of(None, SESSIONS_READ)?;
        found.retain(|session| {
            !self.hooks.is_session_of(self.request, &session.id)
                && !session.attrs.contains_key(PARENT)
        });
        found.truncate(limits::HOOK_START_SESSIONS);
        Ok(found)
    }

    /// Returns the pinned records and the rules of people that hold for all work.
    fn rule_items(&self) -> Result<Vec<StartItem>, Fault> {
        let records = self.hooks.engine.contexts().standing_records()?;
        let (mut told, said): (Vec<&Record>, Vec<&Record>) = records
            .iter()
            .partition(|record| mark::is_pinned(&record.attrs) || !is_of_conversation(record));
        let general = said.into_iter().filter(|one| is_general_rule(&one.text));
        let (mut said, others): (Vec<_>, Vec<_>) =
            general.partition(|one| is_lasting_rule(&one.text));
        said.extend(others);
        said.truncate(limits::HOOK_START_SAID_RULES_MAX);
        told.extend(said);
        Ok(told
            .into_iter()
            .map(|record| StartItem {
                is_pinned: mark::is_pinned(&record.attrs),
                ..self.start_item(record, StartSection::Rules, &rule_line(record))
            })
            .collect())
    }

    fn start_item(&self, record: &Record, section: StartSection, words: &str) -> StartItem {
        let source = LessonSource::of_record(record);
        StartItem {
            section,
            id: record.id,
            text: words.to_owned(),
            at: source.map_or(record.recorded_at, |source| {
                source.learned_at.max(record.recorded_at)
            }),
            is_own: self.hooks.is_own(record, self.request),
            is_pinned: false,
        }
    }

    /// Returns the characters for the list in an answer of `chars_max` characters, or in a smaller configured budget.
    fn start_room(&self, chars_max: usize) -> usize {
        const BODY: &str = "-";
        let framed = wrap_for_hook(&self.hooks.engine.display_name(), BODY, usize::MAX);
        let frame = text::chars(&framed) - BODY.len();
        let room = chars_max.saturating_sub(frame);
        room.min(self.hooks.engine.settings().context_budget.chars())
    }

    /// Wraps rules in their envelope, within `chars_max`.
    fn wrap_rules(&self, rules: &str, chars_max: usize) -> String {
        let rules = self.hooks.engine.contexts().neutralize_text(rules);
        let room = chars_max.saturating_sub(ENVELOPE_CHARS);
        let rules = cut_rules(rules.trim(), room);
        wrap_rules_in_envelope(&self.hooks.engine.display_name(), &rules, chars_max)
    }

    fn start_answer(
        &self,
        rules: &str,
        rules_max: usize,
        opening: &str,
        list: &StartText,
    ) -> HookAnswer {
        let rules = self.wrap_rules(rules, rules_max);
        let body = format!("{opening}{}", list.text());
        let memory = self
            .hooks
            .build_answer(&body, limits::HOOK_TEXT_CHARS_MAX)
            .context;
        let parts = [&*rules, &memory];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        HookAnswer {
            context: parts.join(GAP),
            ..HookAnswer::default()
        }
    }
}

/// Returns true for a record that was taken from a conversation and that no person confirmed since.
fn is_of_conversation(record: &Record) -> bool {
    LessonSource::of_record(record).is_some() && record.attr_str(VOUCHED_BY_ATTR).is_none()
}

/// Formats a rule with its date; a convention begins with its key, unless the key was derived from the text.
fn rule_line(record: &Record) -> String {
    let date = date_of(record.recorded_at);
    let room = limits::HOOK_START_ITEM_CHARS_MAX.saturating_sub(date.len() + 3);
    let is_convention = record.category() == Some(CATEGORY_CONVENTION);
    let key = record
        .key
        .as_deref()
        .filter(|key| is_convention && !Knowledge::is_derived_key(key));
    let meaning = record_meaning_excerpt(record, limits::HOOK_HIT_CHARS_MAX);
    let words = match key {
        Some(key) => Cow::Owned(format!("{key}: {meaning}")),
        None => Cow::Borrowed(&*meaning),
    };
    format!("{} ({date})", text::excerpt_at_word(&words, room))
}

/// Returns the day of a time.
fn date_of(at: heirloom_model::Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
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
