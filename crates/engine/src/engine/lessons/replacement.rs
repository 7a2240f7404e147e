//! Replacement of stored statements by later ones: changed minds, and proposals that a person rejects.

use super::lesson_drafts::LessonDraft;
use heirloom_model::kinds::Knowledge;
use heirloom_model::similarity::{ComparableText, has_same_words};
use heirloom_model::statement::{Statement, StatementEffect};
use heirloom_model::{Authority, Kind, Record, mark};
use std::collections::BTreeSet;

/// Returns true if a later statement takes the place of a stored one. Nothing that a person pinned, or that has a key
/// of its own, is replaced; the review shows such a pair.
pub(super) fn is_replaced(known: &Record, later: &Record) -> bool {
    let has_own_key = known
        .key
        .as_deref()
        .is_none_or(|key| !Knowledge::is_derived_key(key));
    if has_own_key || mark::is_pinned(&known.attrs) || !is_later(known, later) {
        return false;
    }
    if is_correction_of(known, later) {
        return true;
    }
    match effect(known, later) {
        Some(StatementEffect::Replaces) => true,
        // A person need not be sure to reject what only an agent proposed.
        Some(StatementEffect::Contradicts) => {
            is_agent_proposal(known) && Authority::of_record(later) > Authority::Agent
        }
        None => false,
    }
}

/// Returns the identities of lessons that a later lesson of the same conversation replaces.
pub(super) fn replaced_drafts(drafts: &[LessonDraft]) -> BTreeSet<String> {
    let is_statement = |draft: &&LessonDraft| draft.record.kind == Kind::Knowledge;
    let read: Vec<(&LessonDraft, Statement)> = (drafts.iter().filter(is_statement))
        .map(|draft| (draft, Statement::from_text(&draft.record.text)))
        .collect();
    let is_replaced = |(draft, statement): &&(&LessonDraft, Statement)| {
        read.iter().any(|(other, later)| {
            draft.record.recorded_at < other.record.recorded_at
                && is_later(&draft.record, &other.record)
                && later.effect_on(statement) == Some(StatementEffect::Replaces)
        })
    };
    let replaced = read.iter().filter(is_replaced);
    replaced.map(|(draft, _)| draft.identity.clone()).collect()
}

/// Returns true if a record is not older than a known one and its last confirmation, and has at least its authority.
fn is_later(known: &Record, record: &Record) -> bool {
    Knowledge::last_stated_at(known) <= record.recorded_at
        && Authority::of_record(known) <= Authority::of_record(record)
}

fn effect(known: &Record, later: &Record) -> Option<StatementEffect> {
    Statement::from_text(&later.text).effect_on(&Statement::from_text(&known.text))
}

fn is_agent_proposal(record: &Record) -> bool {
    record.attrs.get("proposal") == Some(&true.into())
        && Authority::of_record(record) == Authority::Agent
}

/// Returns true if a person's correction names the proposal of an agent as wrong.
fn is_correction_of(proposal: &Record, statement: &Record) -> bool {
    if !is_agent_proposal(proposal) || statement.category() != Some("correction") {
        return false;
    }
    let Some(wrong) = statement.attr_str("rationale") else {
        return false;
    };
    let wrong_words = ComparableText::from_text(wrong);
    let proposed = ComparableText::from_text(&proposal.text);
    has_same_words(wrong, &proposal.text) || wrong_words.is_near_duplicate(&proposed)
}
