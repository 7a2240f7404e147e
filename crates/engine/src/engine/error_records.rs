//! Errors: logging, counting of repetitions, resolution.

use super::Engine;
use super::ended_records::{is_countable_failure, is_replaced_fix};
use super::new_record::check_scope;
use super::redaction::Redacted;
use super::tasks::{agent_of_file_name, last};
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{
    ErrorKind, Fault, Kind, KindData, MergeRule, Record, RecordId, Scope, Timestamp, text,
};
use heirloom_store::{AppliedChange, Change, Filter};

/// Report of a logged error.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedError {
    /// Answer of the store.
    pub applied: AppliedChange,
    /// Earlier resolution of the same error, if there is one.
    pub resolved_before: Option<EarlierResolution>,
}

/// Earlier resolution of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierResolution {
    /// Id of the resolved error.
    pub id: RecordId,
    /// Text of the resolution.
    pub resolution: String,
}

/// Errors that agents and people logged, and their resolutions.
#[derive(Clone, Copy)]
pub struct Errors<'e> {
    pub(super) engine: &'e Engine,
}

impl Errors<'_> {
    /// Logs an error: opens a new one, counts an open one with the same identity in the same task and phase, or reopens
    /// a resolved one. An identity ignores line numbers and addresses. Returns an earlier resolution of an error with
    /// the same signature in any task; signatures ignore paths, numbers, times, colours and quotes too.
    pub fn log(&self, error: &str, scope: Scope, source: &str) -> Result<LoggedError, Fault> {
        let error = error.trim();
        if error.is_empty() {
            return Err(Fault::usage("the error has no text"));
        }
        let resolved_before = self.resolved_before(error, &scope)?;
        let mut changes = Vec::new();
        if let Some(task) = scope.task.clone() {
            changes.extend(self.engine.tasks().known_task(&task, source)?);
        }
        let error = self.engine.redaction().redact_text(error);
        changes.push(self.error_change(
            error.as_text(),
            self.engine.redaction().redact_scope(scope),
            source,
        )?);
        let applied = last(&self.engine.apply(&changes)?)?;
        Ok(LoggedError {
            applied,
            resolved_before,
        })
    }

    /// Returns the change that opens or counts an error.
    pub fn error_change(
        &self,
        error: Redacted<&str>,
        scope: Redacted<Scope>,
        source: &str,
    ) -> Result<Change, Fault> {
        check_scope(&scope)?;
        let mut scope = scope.into_inner();
        scope.agent = scope.agent.or_else(|| agent_of_file_name(source));
        let key = ErrorRecord::key(&error, scope.task.as_deref(), scope.phase.as_deref());
        let mut record = self
            .engine
            .records()
            .draft(Kind::Error, &error, scope, source);
        record.key = Some(key);
        record.attrs = ErrorRecord::open().to_attrs();
        Ok(Change::Put {
            record: Box::new(record),
            merge: MergeRule::Error,
        })
    }

    /// Returns the current error with the same signature in the same task and phase.
    pub fn error_like(&self, error: &str, scope: &Scope) -> Result<Option<Record>, Fault> {
        let scope = self.engine.redaction().redact_scope(scope.clone());
        let error = self.engine.redaction().redact_input(error);
        let key = ErrorRecord::key(&error, scope.task.as_deref(), scope.phase.as_deref());
        let filter = Filter::current(&[Kind::Error], self.engine.now());
        Ok(self
            .engine
            .records()
            .find(&filter.key(&key).limit(1))?
            .pop())
    }

    /// Returns the newest open errors of exactly this task, or of none.
    pub fn newest_open(&self, task: Option<&str>, limit: usize) -> Result<Vec<Record>, Fault> {
        let filter = Filter::current(&[Kind::Error], self.engine.now())
            .state(ErrorRecord::OPEN)
            .limit(limit);
        self.engine.records().find(&match task {
            Some(task) => filter.scope(Scope::of_task(task)),
            None => Filter {
                no_task: true,
                ..filter
            },
        })
    }

    /// Returns open errors, oldest first: all, or those of `task` together with those without a task.
    pub fn open(&self, task: Option<&str>) -> Result<Vec<Record>, Fault> {
        let filter = Filter::current(&[Kind::Error], self.engine.now())
            .state(ErrorRecord::OPEN)
            .oldest_first();
        let Some(task) = task else {
            return self.engine.records().find(&filter);
        };
        let mut errors = self
            .engine
            .records()
            .find(&filter.clone().scope(Scope::of_task(task)))?;
        errors.extend(self.engine.records().find(&Filter {
            no_task: true,
            ..filter
        })?);
        errors.sort_by_key(|error| error.id);
        Ok(errors)
    }

    /// Resolves the open error that `given` names: its id, or a text that it contains.
    ///
    /// Errors: `NotFound`; `Usage` if several open errors contain the text (they are listed) or the resolution is
    /// empty.
    pub fn resolve(
        &self,
        given: &str,
        resolution: &str,
        source: &str,
    ) -> Result<AppliedChange, Fault> {
        let resolution = resolution.trim();
        if resolution.is_empty() {
            return Err(Fault::usage("the resolution is empty")
                .hint("heirloom error resolve ID --with \"RESOLUTION\""));
        }
        last(&self.engine.apply_decided(|| {
            let error = self
                .engine
                .records()
                .get(self.open_error_named(given, None)?)?;
            Ok(vec![self.resolve_change(&error, resolution, source)])
        })?)
    }

    /// Finds the open error that `given` names: by id, by the same signature, or by a text that it contains.
    pub fn open_error_named(&self, given: &str, task: Option<&str>) -> Result<RecordId, Fault> {
        if given.trim().is_empty() {
            return Err(Fault::usage("the error to resolve is not named")
                .hint("`heirloom list --kind error` shows the open ones"));
        }
        let given = &*self.engine.redaction().redact_input(given);
        let open = self.open(task)?;
        if let Some(id) = self.id_of_error(given)? {
            let record = self.engine.records().get(id)?;
            if record.kind == Kind::Error && open.iter().any(|error| error.id == id) {
                return Ok(id);
            }
            return Err(
                Fault::not_found(format!("record {id} is not an open error"))
                    .hint("`heirloom list --kind error` shows the open ones"),
            );
        }
        let identity = text::error_identity(given);
        let mut matching: Vec<_> = open
            .iter()
            .filter(|error| text::error_identity(&error.text) == identity)
            .collect();
        if matching.is_empty() {
            matching = open
                .iter()
                .filter(|error| names_error(&error.text, given))
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

    /// Parses `given` as an id or its prefix; `None` if it is text.
    fn id_of_error(&self, given: &str) -> Result<Option<RecordId>, Fault> {
        if let Ok(id) = given.parse() {
            return Ok(Some(id));
        }
        if given.len() < 8 || !given.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
            return Ok(None);
        }
        match self.engine.records().resolve_id(given) {
            Ok(id) => Ok(Some(id)),
            // A word may look like an id; failures of the store are returned.
            Err(fault) if matches!(fault.kind, ErrorKind::NotFound | ErrorKind::Usage) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Returns the change that resolves an open error.
    pub fn resolve_change(&self, error: &Record, resolution: &str, source: &str) -> Change {
        let mut typed = typed_error(error);
        typed.resolution = Some(resolution.to_owned());
        self.close_change(error, typed, source)
    }

    /// Returns the change that closes an open error because what failed passed later, at `at`. `change` names what was changed
    /// in between; without it the fix of an earlier occurrence counts, and without one the error is no lesson.
    pub fn pass_change(
        &self,
        error: &Record,
        change: Option<&str>,
        at: Timestamp,
        source: &str,
    ) -> Change {
        let mut typed = typed_error(error);
        let helped = error.attr_str(ErrorRecord::HELPED);
        typed.resolution = change.or(helped).map(str::to_owned);
        typed.extra.insert(
            ErrorRecord::CLOSED_BY.to_owned(),
            ErrorRecord::PASSED.into(),
        );
        set_passed_at(&mut typed, at);
        self.close_change(error, typed, source)
    }

    /// Returns true if a rule of a person gives a variable of a fix another value: the fix is not told any more.
    pub fn is_replaced_fix(&self, fix: &str) -> Result<bool, Fault> {
        is_replaced_fix(self.engine, fix)
    }

    /// Returns the change that counts a further success of the command of a closed failure at `at`; `None` if it is not
    /// counted, because a fix is known, nothing closed it, or it has ended.
    pub fn pass_again_change(&self, error: &Record, at: Timestamp, source: &str) -> Option<Change> {
        // The same report again, or a copy of a conversation, is no further success.
        let is_later = at > ErrorRecord::last_passed_at(error);
        if !is_later || !is_countable_failure(error) {
            return None;
        }
        let mut typed = typed_error(error);
        let name = ErrorRecord::PASSED_AGAIN;
        let count = typed.extra.get(name).and_then(serde_json::Value::as_u64);
        let count = count.unwrap_or_default().saturating_add(1);
        typed.extra.insert(name.to_owned(), count.into());
        set_passed_at(&mut typed, at);
        Some(self.close_change(error, typed, source))
    }

    fn close_change(&self, error: &Record, mut typed: ErrorRecord, source: &str) -> Change {
        typed.state = ErrorRecord::RESOLVED.to_owned();
        let mut record =
            self.engine
                .records()
                .draft(Kind::Error, &error.text, error.scope.clone(), source);
        record.key.clone_from(&error.key);
        record.attrs = typed.to_attrs();
        record.confidence = error.confidence;
        // Validity starts at the first occurrence, regardless of the time of resolution.
        record.true_from = error.true_from.or(Some(error.recorded_at));
        Change::Revise {
            id: error.id,
            record: Box::new(record),
        }
    }
}

/// Returns the attributes of an error. Invalid ones are dropped, so that they do not keep the error open for ever.
fn typed_error(error: &Record) -> ErrorRecord {
    ErrorRecord::from_record(error).unwrap_or_else(|_| ErrorRecord::open())
}

fn set_passed_at(typed: &mut ErrorRecord, at: Timestamp) {
    let name = ErrorRecord::PASSED_AT.to_owned();
    typed.extra.insert(name, at.to_string().into());
}

/// Returns true if `named` names an error: both have the same identity, or it is a part of the error's text.
pub fn names_error(error: &str, named: &str) -> bool {
    text::error_identity(error) == text::error_identity(named)
        || contains_whole_numbers(&text::normalize(error), &text::normalize(named))
}

/// Returns true if `text` contains `wanted`, but not within a longer number: `test_1` is not part of `test_10`.
fn contains_whole_numbers(text: &str, wanted: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let begins_with_digit = is_digit(wanted.chars().next());
    let ends_with_digit = is_digit(wanted.chars().next_back());
    text.match_indices(wanted).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + found.len()..)
            .and_then(|after| after.chars().next());
        let continues_number =
            begins_with_digit && is_digit(before) || ends_with_digit && is_digit(after);
        !continues_number
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_whole_numbers_does_not_split_numbers() {
        for (text, wanted, is_contained) in [
            ("test_1 failed", "test_1", true),
            ("test_10 failed", "test_1", false),
            ("test_10 and test_1 failed", "test_1", true),
            ("testtokenexpiry: got nil", "tokenexpiry", true),
            ("case 12", "2", false),
            ("case 2", "2", true),
            ("x", "", true),
        ] {
            assert_eq!(
                contains_whole_numbers(text, wanted),
                is_contained,
                "{text} {wanted}"
            );
        }
    }
}
