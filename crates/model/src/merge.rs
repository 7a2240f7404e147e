//! Merge rules: decide between a new record and the current one with the same identity.
//!
//! Pure functions, so that every store decides alike inside its own transaction.

use crate::conflict::can_arbitrate;
use crate::kinds::{ErrorRecord, Knowledge, Step, StepState, Task};
use crate::permissions::Authority;
use crate::record::Attrs;
use crate::record_meaning::known_resolution;
use crate::{ConflictPolicy, Kind, KindData, Record, mark, similarity};
use std::cmp::Ordering;

/// Rule for merging a new record with the current record of its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MergeRule {
    /// Equal text and attributes change nothing; anything else replaces the current record.
    Replace,
    /// The current record always stays.
    Keep,
    /// Knowledge: the same words confirm; the same source replaces; a higher authority replaces a lower one and is
    /// never replaced by it; between two sources of one authority the policy decides. The loser is stored as a
    /// conflict.
    Knowledge(ConflictPolicy),
    /// Steps: done completes pending; pending never undoes done.
    Step,
    /// Errors: a repeated open error is counted; a resolved error is reopened and keeps its known fix.
    Error,
    /// Tasks: fields of the new record overwrite known ones; absent fields stay.
    Task,
}

/// Result of a merge: the change that the store applies.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeDecision {
    /// Writes nothing.
    Keep,
    /// Updates the attributes and the confidence of the current record.
    Confirm(Box<Record>),
    /// Replaces the current record by the new one.
    Replace {
        /// The new record in its final form.
        winner: Box<Record>,
        /// The current record, marked if it lost a conflict. The store retires it.
        loser: Box<Record>,
    },
    /// Stores the new record as retired history of the current one.
    StoreRetired(Box<Record>),
    /// Stores the new record as retired history and marks the current one as disputed.
    Dispute {
        /// The current record.
        holder: Box<Record>,
        /// The new record, marked as conflict.
        loser: Box<Record>,
    },
}

/// Decides between two records with the same identity.
///
/// Never fails: if attributes cannot be read, the new record replaces the current one, unless its authority is lower.
pub fn decide(rule: MergeRule, current: &Record, incoming: Record) -> MergeDecision {
    match rule {
        MergeRule::Keep => MergeDecision::Keep,
        MergeRule::Replace
            if current.text == incoming.text
                && mark::strip_marks(&current.attrs) == mark::strip_marks(&incoming.attrs) =>
        {
            MergeDecision::Keep
        }
        MergeRule::Replace => replace(current, incoming),
        MergeRule::Knowledge(policy) => knowledge(policy, current, incoming),
        MergeRule::Step => step(current, incoming),
        MergeRule::Error => error_record(current, incoming),
        MergeRule::Task => task(current, incoming),
    }
}

/// Returns the attributes of a restored record: it is no longer the loser of a conflict, because restoring it
/// resolves the conflict.
pub fn restored_attrs(record: &Record) -> Attrs {
    let mut attrs = record.attrs.clone();
    if record.kind == Kind::Knowledge {
        attrs.remove("conflict");
        attrs.remove("arbitrated");
    }
    attrs
}

fn replace(current: &Record, incoming: Record) -> MergeDecision {
    MergeDecision::Replace {
        winner: Box::new(incoming),
        loser: Box::new(current.clone()),
    }
}

fn knowledge(policy: ConflictPolicy, current: &Record, mut incoming: Record) -> MergeDecision {
    let (current_authority, incoming_authority) = (
        Authority::of_record(current),
        Authority::of_record(&incoming),
    );
    let (Ok(known), Ok(mut new)) = (
        Knowledge::from_record(current),
        Knowledge::from_record(&incoming),
    ) else {
        return match incoming_authority < current_authority {
            true => MergeDecision::StoreRetired(Box::new(incoming)),
            false => replace(current, incoming),
        };
    };
    if is_confirmation(current, &incoming) {
        return confirm(current, known, &incoming, new);
    }
    if current.source == incoming.source && incoming_authority >= current_authority {
        // A dispute is about the value of this source, so it continues with the new value.
        new.disputed = known.disputed;
        incoming.attrs = new.to_attrs();
        return replace(current, incoming);
    }
    let mut loser = incoming.clone();
    new.conflict = true;
    loser.attrs = new.to_attrs();
    match (incoming_authority.cmp(&current_authority), policy) {
        // A dispute would remove the value of the higher authority from contexts.
        (Ordering::Less, _) => MergeDecision::StoreRetired(Box::new(loser)),
        (Ordering::Equal, ConflictPolicy::Ask) => MergeDecision::Dispute {
            holder: Box::new(mark_disputed(current, known)),
            loser: Box::new(loser),
        },
        (Ordering::Equal, ConflictPolicy::HigherConfidence)
            if incoming.confidence < current.confidence =>
        {
            MergeDecision::StoreRetired(Box::new(loser))
        }
        (Ordering::Equal | Ordering::Greater, _) => MergeDecision::Replace {
            winner: Box::new(incoming),
            loser: Box::new(mark_lost(current, known)),
        },
    }
}

/// Returns true if the new record has the same words and adds no valid time.
fn is_confirmation(current: &Record, incoming: &Record) -> bool {
    let holds = |incoming: Option<_>, known: Option<_>| incoming.is_none() || incoming == known;
    holds(incoming.true_from, current.true_from)
        && holds(incoming.true_to, current.true_to)
        && similarity::has_same_words(&current.text, &incoming.text)
}

/// Confirms the current record: its confidence never falls, and it is no proposal any more if a person confirms it. A
/// lower authority is only counted; a higher one is stored as vouching for the record.
fn confirm(
    current: &Record,
    mut known: Knowledge,
    incoming: &Record,
    new: Knowledge,
) -> MergeDecision {
    let mut confirmed = current.clone();
    let (current_authority, incoming_authority) = (
        Authority::of_record(current),
        Authority::of_record(incoming),
    );
    known.confirmations = known.confirmations.saturating_add(1);
    known.confirmed_at = Some(incoming.recorded_at);
    if incoming_authority >= current_authority {
        known.rationale = known.rationale.or(new.rationale);
        if incoming.confidence > confirmed.confidence {
            confirmed.confidence = incoming.confidence;
        }
    }
    if incoming_authority > current_authority {
        known.vouched_by = Some(incoming.source.clone());
    }
    known.proposal = known.proposal && !can_arbitrate(&incoming.source);
    confirmed.attrs = known.to_attrs();
    MergeDecision::Confirm(Box::new(confirmed))
}

fn mark_lost(current: &Record, mut known: Knowledge) -> Record {
    known.conflict = true;
    known.arbitrated = None;
    known.disputed = false;
    Record {
        attrs: known.to_attrs(),
        ..current.clone()
    }
}

fn mark_disputed(current: &Record, mut known: Knowledge) -> Record {
    known.disputed = true;
    Record {
        attrs: known.to_attrs(),
        ..current.clone()
    }
}

fn step(current: &Record, incoming: Record) -> MergeDecision {
    let (Ok(known), Ok(new)) = (Step::from_record(current), Step::from_record(&incoming)) else {
        return replace(current, incoming);
    };
    match (known.state, new.state) {
        (StepState::Pending, StepState::Done) => replace(current, incoming),
        (StepState::Done | StepState::Pending, StepState::Pending)
        | (StepState::Done, StepState::Done) => MergeDecision::Keep,
    }
}

fn error_record(current: &Record, mut incoming: Record) -> MergeDecision {
    let (Ok(mut known), Ok(mut new)) = (
        ErrorRecord::from_record(current),
        ErrorRecord::from_record(&incoming),
    ) else {
        return replace(current, incoming);
    };
    if known.state == ErrorRecord::OPEN && new.state == ErrorRecord::OPEN {
        let mut counted = current.clone();
        known.repeats = known.repeats.saturating_add(1);
        known.repeated_at = Some(incoming.recorded_at);
        counted.attrs = known.to_attrs();
        return MergeDecision::Confirm(Box::new(counted));
    }
    let is_reopened = new.state == ErrorRecord::OPEN;
    new.repeats = known.repeats.saturating_add(u32::from(is_reopened));
    if is_reopened && !new.extra.contains_key(ErrorRecord::HELPED) {
        // A failure that comes back keeps its known fix.
        let helped = known_resolution(current).map(Into::into);
        let helped = helped.or_else(|| known.extra.remove(ErrorRecord::HELPED));
        let helped = helped.map(|helped| (ErrorRecord::HELPED.to_owned(), helped));
        new.extra.extend(helped);
    }
    incoming.attrs = new.to_attrs();
    replace(current, incoming)
}

fn task(current: &Record, mut incoming: Record) -> MergeDecision {
    let (Ok(known), Ok(new)) = (Task::from_record(current), Task::from_record(&incoming)) else {
        return replace(current, incoming);
    };
    let merged = known.clone().merged_with(new);
    let phase = incoming
        .scope
        .phase
        .take()
        .or_else(|| current.scope.phase.clone());
    let iteration = incoming.scope.iteration.max(current.scope.iteration);
    let says_nothing_new = merged == known
        && phase == current.scope.phase
        && iteration == current.scope.iteration
        && current.text == incoming.text;
    if says_nothing_new {
        return MergeDecision::Keep;
    }
    incoming.scope.phase = phase;
    incoming.scope.iteration = iteration;
    incoming.attrs = merged.to_attrs();
    replace(current, incoming)
}
