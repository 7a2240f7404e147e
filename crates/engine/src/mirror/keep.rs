//! What a mirror holds that the store does not: taken over from the file that is rewritten.

use super::{MirrorDecision, MirrorFile, MirrorMistake, PrNumber};
use heirloom_model::record::Attrs;
use std::collections::HashMap;

impl MirrorFile {
    /// Takes over from `old`, the file that this one replaces, the fields that Heirloom does not know and the
    /// spelling of PR numbers, wherever the same task, decision or error is still there.
    pub fn keep_from(&mut self, old: &Self) {
        keep(&mut self.extra, &old.extra);
        for (id, task) in &mut self.tasks {
            let Some(before) = old.tasks.get(id) else {
                continue;
            };
            keep(&mut task.extra, &before.extra);
            let number = task.pr_number.as_ref().and_then(PrNumber::number);
            if number.is_some() && before.pr_number.as_ref().and_then(PrNumber::number) == number {
                task.pr_number.clone_from(&before.pr_number);
            }
        }
        let decisions = foreign(&old.decisions, decision_key, |d| &d.extra);
        for decision in &mut self.decisions {
            if let Some(extra) = decisions.get(&decision_key(decision)).copied() {
                keep(&mut decision.extra, extra);
            }
        }
        let errors = foreign(&old.errors, mistake_key, |e| &e.extra);
        for error in &mut self.errors {
            if let Some(extra) = errors.get(&mistake_key(error)).copied() {
                keep(&mut error.extra, extra);
            }
        }
    }
}

type Key<'k> = (u32, &'k str, &'k str);

fn decision_key(decision: &MirrorDecision) -> Key<'_> {
    (decision.iteration, &decision.task_id, &decision.description)
}

fn mistake_key(error: &MirrorMistake) -> Key<'_> {
    (error.iteration, &error.task_id, &error.error)
}

/// The items with unknown fields, by what identifies them.
fn foreign<'o, T>(
    items: &'o [T],
    key: impl Fn(&'o T) -> Key<'o>,
    extra: impl Fn(&'o T) -> &'o Attrs,
) -> HashMap<Key<'o>, &'o Attrs> {
    let known = items.iter().map(|item| (key(item), extra(item)));
    known.filter(|(_, extra)| !extra.is_empty()).collect()
}

fn keep(extra: &mut Attrs, old: &Attrs) {
    for (name, value) in old {
        if !extra.contains_key(name) {
            extra.insert(name.clone(), value.clone());
        }
    }
}
