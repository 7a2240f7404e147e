//! What people and agents say, redacted before anything is made of it: a key must not be the hash of a secret.

use super::{Engine, NewRecord};
use crate::mirror::{MirrorFile, MirrorTask, PrNumber};
use crate::redact::Redactor;
use heirloom_model::Scope;
use heirloom_model::record::Attrs;
use std::borrow::Cow;

impl Engine {
    /// What finds secrets, by this project's settings.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// A text without its secrets.
    pub(super) fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.redact(text)
    }

    /// A scope without secrets in its names.
    pub(super) fn clean_scope(&self, mut scope: Scope) -> Scope {
        for name in scope.names_mut().into_iter().flatten() {
            self.redactor.redact_in_place(name, &mut Vec::new());
        }
        scope
    }

    /// What is to be remembered without its secrets; their kinds go to `kinds`.
    pub(super) fn clean_new(&self, mut new: NewRecord, kinds: &mut Vec<String>) -> NewRecord {
        self.redactor.redact_in_place(&mut new.text, kinds);
        let named = [
            new.category.as_mut(),
            new.key.as_mut(),
            new.source.as_mut(),
            new.rationale.as_mut(),
        ];
        for text in named
            .into_iter()
            .flatten()
            .chain(new.scope.names_mut().into_iter().flatten())
        {
            self.redactor.redact_in_place(text, kinds);
        }
        new
    }

    /// Takes the secrets out of a mirror: another program may have written them there.
    pub(super) fn clean_mirror(&self, file: &mut MirrorFile) {
        self.clean_all([&mut file.session_id, &mut file.repository]);
        for (mut id, mut task) in std::mem::take(&mut file.tasks) {
            self.clean_all([&mut id]);
            self.clean_task(&mut task);
            file.tasks.insert(id, task);
        }
        for decision in &mut file.decisions {
            self.clean_all([
                &mut decision.task_id,
                &mut decision.description,
                &mut decision.rationale,
            ]);
            self.clean_attrs(&mut decision.extra);
        }
        for error in &mut file.errors {
            self.clean_all([
                &mut error.task_id,
                &mut error.phase,
                &mut error.error,
                &mut error.resolution,
            ]);
            self.clean_attrs(&mut error.extra);
        }
        self.clean_all(&mut file.key_facts);
        self.clean_all([&mut file.last_checkpoint]);
        self.clean_attrs(&mut file.extra);
    }

    fn clean_task(&self, task: &mut MirrorTask) {
        self.clean_all([
            &mut task.id,
            &mut task.task_type,
            &mut task.phase,
            &mut task.branch,
            &mut task.blocked_reason,
        ]);
        self.clean_all(&mut task.completed_steps);
        self.clean_all(&mut task.pending_steps);
        self.clean_all(&mut task.files_modified);
        if let Some(PrNumber::Text(number)) = &mut task.pr_number {
            self.clean_all([number]);
        }
        self.clean_attrs(&mut task.extra);
    }

    fn clean_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            self.redactor.redact_in_place(text, &mut Vec::new());
        }
    }

    fn clean_attrs(&self, attrs: &mut Attrs) {
        self.redactor.redact_map(attrs, &mut Vec::new());
    }
}
