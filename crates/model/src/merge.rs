//! What happens when a keyed record meets the current one with the same identity.
//!
//! Pure, so that every store decides alike inside its own transaction.

use crate::conflict::may_arbitrate;
use crate::kinds::{Knowledge, Mistake, Step, StepState, Task};
use crate::record::Attrs;
use crate::{ConflictPolicy, Kind, KindData, Record, likeness, mark};

/// The rule by which a newcomer meets the current record of its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Merge {
    /// The same text and attributes confirm, anything else replaces.
    Replace,
    /// The current record stays whatever the newcomer says.
    Keep,
    /// Knowledge: the same words confirm; the same source replaces; between two sources the policy decides,
    /// and the loser is kept as a conflict.
    Knowledge(ConflictPolicy),
    /// Steps: done completes pending; pending never undoes done.
    Step,
    /// Errors: an open one is counted; a resolved one is opened anew.
    Mistake,
    /// Tasks: what the newcomer says is laid over what is known.
    Task,
}

/// What a store does with the newcomer.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Nothing is written.
    Keep,
    /// The current record stays, with these attributes and this confidence.
    Confirm(Box<Record>),
    /// The newcomer takes the place of the current record.
    Replace {
        /// The newcomer as it is to be written.
        winner: Box<Record>,
        /// The current record, marked if it lost a conflict; retired by the store.
        loser: Box<Record>,
    },
    /// The newcomer is written as history behind the current record.
    Lose(Box<Record>),
    /// The same, and the current record stays with these attributes, which say that it is disputed.
    Dispute {
        /// The current record.
        holder: Box<Record>,
        /// The newcomer, marked.
        loser: Box<Record>,
    },
}

/// Decides between `current` and `incoming`, which have the same identity.
///
/// Attributes that do not fit their kind never fail here: the newcomer then replaces the current record.
pub fn decide(rule: Merge, current: &Record, incoming: Record) -> Decision {
    match rule {
        Merge::Keep => Decision::Keep,
        Merge::Replace
            if current.text == incoming.text
                && mark::without(&current.attrs) == mark::without(&incoming.attrs) =>
        {
            Decision::Keep
        }
        Merge::Replace => replace(current, incoming),
        Merge::Knowledge(policy) => knowledge(policy, current, incoming),
        Merge::Step => step(current, incoming),
        Merge::Mistake => mistake(current, incoming),
        Merge::Task => task(current, incoming),
    }
}

/// The attributes of a retired record that is current again: it no longer counts as the loser of a
/// conflict, whoever brought it back has arbitrated.
pub fn restored(record: &Record) -> Attrs {
    let mut attrs = record.attrs.clone();
    if record.kind == Kind::Knowledge {
        attrs.remove("conflict");
        attrs.remove("arbitrated");
    }
    attrs
}

fn replace(current: &Record, incoming: Record) -> Decision {
    Decision::Replace {
        winner: Box::new(incoming),
        loser: Box::new(current.clone()),
    }
}

fn knowledge(policy: ConflictPolicy, current: &Record, mut incoming: Record) -> Decision {
    let (Ok(known), Ok(mut new)) = (Knowledge::of(current), Knowledge::of(&incoming)) else {
        return replace(current, incoming);
    };
    if says_the_same(current, &incoming) {
        return confirm(current, known, &incoming, new);
    }
    if current.source == incoming.source {
        // What others say against it, they say against what it says now.
        new.disputed = known.disputed;
        incoming.attrs = new.to_attrs();
        return replace(current, incoming);
    }
    let mut loser = incoming.clone();
    new.conflict = true;
    loser.attrs = new.to_attrs();
    match policy {
        ConflictPolicy::HigherConfidence if incoming.confidence < current.confidence => {
            Decision::Lose(Box::new(loser))
        }
        ConflictPolicy::HigherConfidence | ConflictPolicy::Newest => Decision::Replace {
            winner: Box::new(incoming),
            loser: Box::new(lost(current, known)),
        },
        ConflictPolicy::Ask => Decision::Dispute {
            holder: Box::new(disputed(current, known)),
            loser: Box::new(loser),
        },
    }
}

/// The same words, of which nobody says for the first time from when or until when they hold.
fn says_the_same(current: &Record, incoming: &Record) -> bool {
    let holds = |said: Option<_>, known: Option<_>| said.is_none() || said == known;
    holds(incoming.true_from, current.true_from)
        && holds(incoming.true_to, current.true_to)
        && likeness::same_words(&current.text, &incoming.text)
}

/// The current record, said once more: it is surer, never less, and no proposal if a person says it.
fn confirm(current: &Record, mut known: Knowledge, incoming: &Record, new: Knowledge) -> Decision {
    let mut confirmed = current.clone();
    known.confirmations = known.confirmations.saturating_add(1);
    known.confirmed_at = Some(incoming.recorded_at);
    known.rationale = known.rationale.or(new.rationale);
    known.proposal = known.proposal && !may_arbitrate(&incoming.source);
    confirmed.attrs = known.to_attrs();
    if incoming.confidence > confirmed.confidence {
        confirmed.confidence = incoming.confidence;
    }
    Decision::Confirm(Box::new(confirmed))
}

fn lost(current: &Record, mut known: Knowledge) -> Record {
    known.conflict = true;
    known.arbitrated = None;
    known.disputed = false;
    Record {
        attrs: known.to_attrs(),
        ..current.clone()
    }
}

fn disputed(current: &Record, mut known: Knowledge) -> Record {
    known.disputed = true;
    Record {
        attrs: known.to_attrs(),
        ..current.clone()
    }
}

fn step(current: &Record, incoming: Record) -> Decision {
    let (Ok(known), Ok(new)) = (Step::of(current), Step::of(&incoming)) else {
        return replace(current, incoming);
    };
    match (known.state, new.state) {
        (StepState::Pending, StepState::Done) => replace(current, incoming),
        (StepState::Done | StepState::Pending, StepState::Pending)
        | (StepState::Done, StepState::Done) => Decision::Keep,
    }
}

fn mistake(current: &Record, mut incoming: Record) -> Decision {
    let (Ok(mut known), Ok(mut new)) = (Mistake::of(current), Mistake::of(&incoming)) else {
        return replace(current, incoming);
    };
    if known.state == Mistake::OPEN && new.state == Mistake::OPEN {
        let mut counted = current.clone();
        known.repeats = known.repeats.saturating_add(1);
        known.repeated_at = Some(incoming.recorded_at);
        counted.attrs = known.to_attrs();
        return Decision::Confirm(Box::new(counted));
    }
    new.repeats = known
        .repeats
        .saturating_add(u32::from(new.state == Mistake::OPEN));
    incoming.attrs = new.to_attrs();
    replace(current, incoming)
}

fn task(current: &Record, mut incoming: Record) -> Decision {
    let (Ok(known), Ok(new)) = (Task::of(current), Task::of(&incoming)) else {
        return replace(current, incoming);
    };
    let merged = known.clone().overlaid(new);
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
        return Decision::Keep;
    }
    incoming.scope.phase = phase;
    incoming.scope.iteration = iteration;
    incoming.attrs = merged.to_attrs();
    replace(current, incoming)
}
