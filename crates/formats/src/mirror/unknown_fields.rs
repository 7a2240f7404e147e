//! Preservation of mirror content that the store does not have, when the file is rewritten.

use super::{MirrorDecision, MirrorErrorItem, MirrorFile, PrNumber};
use heirloom_model::record::Attrs;
use std::collections::HashMap;

impl MirrorFile {
    /// Copies from `old`, the file that this one replaces, the fields that Heirloom does not know and the JSON type
    /// of PR numbers, if the same task, decision or error still exists.
    ///
    /// A PR number that is new in the file is a number if all others in it are, else text.
    pub fn preserve_unknown_fields(&mut self, old: &Self) {
        copy_missing_fields(&mut self.extra, &old.extra);
        let mut old_numbers = old
            .tasks
            .values()
            .filter_map(|task| task.pr_number.as_ref());
        let is_number = |pr: &PrNumber| matches!(pr, PrNumber::Number(_));
        let has_numbers = old_numbers.clone().next().is_some() && old_numbers.all(is_number);
        for task in self.tasks.values_mut().filter(|_| has_numbers) {
            let number = task.pr_number.as_ref().and_then(PrNumber::number);
            task.pr_number = number.map(PrNumber::Number).or(task.pr_number.take());
        }
        for (id, task) in &mut self.tasks {
            let Some(before) = old.tasks.get(id) else {
                continue;
            };
            copy_missing_fields(&mut task.extra, &before.extra);
            let number = task.pr_number.as_ref().and_then(PrNumber::number);
            if number.is_some() && before.pr_number.as_ref().and_then(PrNumber::number) == number {
                task.pr_number.clone_from(&before.pr_number);
            }
        }
        let decisions = items_with_extra(&old.decisions, decision_key, |d| &d.extra);
        for decision in &mut self.decisions {
            if let Some(extra) = decisions.get(&decision_key(decision)).copied() {
                copy_missing_fields(&mut decision.extra, extra);
            }
        }
        let errors = items_with_extra(&old.errors, error_key, |e| &e.extra);
        for error in &mut self.errors {
            if let Some(extra) = errors.get(&error_key(error)).copied() {
                copy_missing_fields(&mut error.extra, extra);
            }
        }
    }
}

type Key<'k> = (u32, &'k str, &'k str);

fn decision_key(decision: &MirrorDecision) -> Key<'_> {
    (decision.iteration, &decision.task_id, &decision.description)
}

fn error_key(error: &MirrorErrorItem) -> Key<'_> {
    (error.iteration, &error.task_id, &error.error)
}

/// Returns the items with unknown fields, by their identity.
fn items_with_extra<'o, T>(
    items: &'o [T],
    key: impl Fn(&'o T) -> Key<'o>,
    extra: impl Fn(&'o T) -> &'o Attrs,
) -> HashMap<Key<'o>, &'o Attrs> {
    let known = items.iter().map(|item| (key(item), extra(item)));
    known.filter(|(_, extra)| !extra.is_empty()).collect()
}

fn copy_missing_fields(extra: &mut Attrs, old: &Attrs) {
    for (name, value) in old {
        if !extra.contains_key(name) {
            extra.insert(name.clone(), value.clone());
        }
    }
}
