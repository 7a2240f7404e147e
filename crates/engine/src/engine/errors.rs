//! Errors: open, counted when they happen again, resolved.

use super::Engine;
use super::new_record::check_scope;
use super::tasks::{agent_of, last};
use crate::recall::trace;
use heirloom_model::kinds::Mistake;
use heirloom_model::{
    ErrorKind, Fault, Kind, KindData, Merge, Record, RecordId, Scope, limits, text,
};
use heirloom_store::{Applied, Change, Filter};

/// What became of a logged error.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorLogged {
    /// What the store did.
    pub applied: Applied,
    /// How the same error was resolved earlier, if it was.
    pub resolved_before: Option<ResolvedBefore>,
}

/// How an error was resolved earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedBefore {
    /// The record of that error.
    pub id: RecordId,
    /// How.
    pub resolution: String,
}

impl Engine {
    /// Logs an error: a new one is opened, an open one with the same signature in the same task and phase is
    /// counted, a resolved one is opened anew. How the same error was resolved before is told, wherever that
    /// was: the same up to paths, numbers, addresses, times, colours and quotes.
    pub fn log_error(&self, error: &str, scope: Scope, source: &str) -> Result<ErrorLogged, Fault> {
        let error = error.trim();
        if error.is_empty() {
            return Err(Fault::usage("the error has no text"));
        }
        let resolved_before = self.resolved_before(error, &scope)?;
        let mut changes = Vec::new();
        if let Some(task) = scope.task.clone() {
            changes.push(self.known_task(&task, source)?);
        }
        changes.push(self.error_change(error, scope, source)?);
        let applied = last(&self.apply(&changes)?)?;
        Ok(ErrorLogged {
            applied,
            resolved_before,
        })
    }

    /// The change that opens or counts an error.
    pub(super) fn error_change(
        &self,
        error: &str,
        mut scope: Scope,
        source: &str,
    ) -> Result<Change, Fault> {
        check_scope(&scope)?;
        let error = &*self.clean(error);
        scope = self.clean_scope(scope);
        scope.agent = scope.agent.or_else(|| agent_of(source));
        let key = Mistake::key(error, scope.task.as_deref(), scope.phase.as_deref());
        let mut record = self.draft(Kind::Error, error, scope, source);
        record.key = Some(key);
        record.attrs = Mistake::open().to_attrs();
        Ok(Change::Put {
            record: Box::new(record),
            merge: Merge::Mistake,
        })
    }

    /// How the same error was resolved: in the same task and phase, else the newest one elsewhere.
    pub(super) fn resolved_before(
        &self,
        error: &str,
        scope: &Scope,
    ) -> Result<Option<ResolvedBefore>, Fault> {
        let told = |record: &Record| {
            let resolution = record.attr_str("resolution")?.to_owned();
            Some(ResolvedBefore {
                id: record.id,
                resolution,
            })
        };
        if let Some(here) = self.error_like(error, scope)?.as_ref().and_then(told) {
            return Ok(Some(here));
        }
        let resolved = Filter::current(&[Kind::Error], self.now())
            .state(Mistake::RESOLVED)
            .limit(limits::ERRORS_COMPARED_MAX);
        let wanted = trace::signature(&self.clean(error));
        if wanted.is_empty() {
            return Ok(None);
        }
        let found = self.find(&resolved)?;
        let same = found
            .iter()
            .find(|record| trace::signature(&record.text) == wanted);
        Ok(same.and_then(told))
    }

    /// The current error with the same signature in the same task and phase.
    pub(super) fn error_like(&self, error: &str, scope: &Scope) -> Result<Option<Record>, Fault> {
        let scope = self.clean_scope(scope.clone());
        let key = Mistake::key(
            &self.clean(error),
            scope.task.as_deref(),
            scope.phase.as_deref(),
        );
        Ok(self
            .find(
                &Filter::current(&[Kind::Error], self.now())
                    .key(&key)
                    .limit(1),
            )?
            .pop())
    }

    /// Open errors, oldest first: all, or those of `task` together with those of no task.
    pub fn open_errors(&self, task: Option<&str>) -> Result<Vec<Record>, Fault> {
        let filter = Filter::current(&[Kind::Error], self.now())
            .state(Mistake::OPEN)
            .oldest_first();
        let Some(task) = task else {
            return self.find(&filter);
        };
        let mut errors = self.find(&filter.clone().scope(Scope::of_task(task)))?;
        errors.extend(self.find(&Filter {
            no_task: true,
            ..filter
        })?);
        errors.sort_by_key(|error| error.id);
        Ok(errors)
    }

    /// Resolves the open error that `given` names: its id, or a text that it contains.
    ///
    /// Errors: `NotFound`; `Usage` if several open errors contain the text (they are listed) or the
    /// resolution is empty.
    pub fn resolve_error(
        &self,
        given: &str,
        resolution: &str,
        source: &str,
    ) -> Result<Applied, Fault> {
        let resolution = resolution.trim();
        if resolution.is_empty() {
            return Err(Fault::usage("how was it resolved?")
                .hint("heirloom error resolve ID --with \"RESOLUTION\""));
        }
        last(&self.apply_decided(|| {
            let error = self.get(self.open_error_named(given, None)?)?;
            Ok(vec![self.resolve_change(&error, resolution, source)])
        })?)
    }

    /// The open error that `given` names: by id, by the same signature, or by a text that it contains.
    pub(super) fn open_error_named(
        &self,
        given: &str,
        task: Option<&str>,
    ) -> Result<RecordId, Fault> {
        if given.trim().is_empty() {
            return Err(Fault::usage("which error? an empty text names none")
                .hint("`heirloom list --kind error` shows the open ones"));
        }
        let given = &*self.clean(given);
        let open = self.open_errors(task)?;
        if let Some(id) = self.id_of_error(given)? {
            let record = self.get(id)?;
            if record.kind == Kind::Error && open.iter().any(|error| error.id == id) {
                return Ok(id);
            }
            return Err(
                Fault::not_found(format!("record {id} is not an open error"))
                    .hint("`heirloom list --kind error` shows the open ones"),
            );
        }
        let signature = text::signature(given);
        let mut matching: Vec<_> = open
            .iter()
            .filter(|error| text::signature(&error.text) == signature)
            .collect();
        if matching.is_empty() {
            let wanted = text::normal(given);
            matching = open
                .iter()
                .filter(|error| text::normal(&error.text).contains(&wanted))
                .collect();
        }
        match matching.as_slice() {
            [] => Err(Fault::not_found(format!(
                "no open error contains `{}`",
                text::excerpt(given, 80)
            ))
            .hint("`heirloom list --kind error` shows the open ones")),
            [one] => Ok(one.id),
            several => {
                let lines: Vec<_> = several
                    .iter()
                    .take(10)
                    .map(|e| format!("{} {}", e.id, text::excerpt(&e.text, 60)))
                    .collect();
                Err(
                    Fault::usage(format!("{} open errors contain this text", several.len()))
                        .hint(format!("name one by its id: {}", lines.join("; "))),
                )
            }
        }
    }

    /// The id that `given` is, or is the beginning of; none if it is words.
    fn id_of_error(&self, given: &str) -> Result<Option<RecordId>, Fault> {
        if let Ok(id) = given.parse() {
            return Ok(Some(id));
        }
        if given.len() < 8 || !given.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
            return Ok(None);
        }
        match self.resolve_id(given) {
            Ok(id) => Ok(Some(id)),
            // A word may look like an id; a store that cannot be asked is another matter.
            Err(fault) if matches!(fault.kind, ErrorKind::NotFound | ErrorKind::Usage) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The change that resolves an open error.
    pub(super) fn resolve_change(&self, error: &Record, resolution: &str, source: &str) -> Change {
        // Attributes that do not fit stay in the past; they do not keep an error open for ever.
        let mut typed = Mistake::of(error).unwrap_or_else(|_| Mistake::open());
        typed.state = Mistake::RESOLVED.to_owned();
        typed.resolution = Some(resolution.to_owned());
        let mut record = self.draft(Kind::Error, &error.text, error.scope.clone(), source);
        record.key.clone_from(&error.key);
        record.attrs = typed.to_attrs();
        record.confidence = error.confidence;
        // An error stays as old as its first time, however late it is resolved.
        record.true_from = error.true_from.or(Some(error.recorded_at));
        Change::Revise {
            id: error.id,
            record: Box::new(record),
        }
    }
}
