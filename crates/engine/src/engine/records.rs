//! Access to records: list, show, forget, history.

use super::Engine;
use super::new_record::name_fault;
use super::redaction::Redacted;
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::permissions::VOUCHED_BY_ATTR;
use heirloom_model::record::check_name;
use heirloom_model::{Authority, Fault, Record, RecordId, Timestamp, limits, text};
use heirloom_store::{AppliedChange, AsOf, Change, Filter, KindCounts, StoreError};

/// Source of actions by the user.
pub(super) const USER: &str = "user";

/// Hex digits of the time at the beginning of an id.
const ID_TIME_DIGITS: usize = 12;

/// Records that are listed for an ambiguous id.
const LISTED_CANDIDATES: usize = 6;

/// Prefix of the end of an id.
const ELLIPSIS: char = '…';

/// Records of every kind: writes, reads, past versions, undo, marks and the audit log.
#[derive(Clone, Copy)]
pub struct Records<'e> {
    pub(super) engine: &'e Engine,
}

impl Records<'_> {
    /// Writes one change.
    pub(super) fn apply_one(&self, change: Change) -> Result<AppliedChange, Fault> {
        let engine = self.engine;
        engine.require_memory()?;
        let applied = engine.store.apply_owned(&engine.project, vec![change])?;
        applied
            .first()
            .copied()
            .ok_or_else(|| Fault::failed("the store did not answer a write"))
    }

    /// Writes redacted changes as one durable, atomic step, also while memory is switched off.
    ///
    /// Errors: those of the store, so that a caller can repeat a decision after [`StoreError::Stale`].
    pub fn store_redacted(
        &self,
        changes: Vec<Redacted<Change>>,
    ) -> Result<Vec<AppliedChange>, StoreError> {
        self.engine
            .store
            .apply_redacted(&self.engine.project, changes)
    }

    /// Resolves a complete id, or the unique beginning or end of one (at least 4 hex digits).
    ///
    /// Ids begin with a time, so those of one minute differ only at their ends.
    ///
    /// Errors: `NotFound`; `Usage` if it is not an id or ambiguous, with the candidates.
    pub fn resolve_id(&self, given: &str) -> Result<RecordId, Fault> {
        if let Ok(id) = given.parse() {
            return Ok(id);
        }
        let bare = given.trim().trim_start_matches(ELLIPSIS);
        let hex = bare.replace('-', "").to_ascii_lowercase();
        if hex.len() < limits::ID_PREFIX_MIN
            || hex.len() > 32
            || !hex.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return Err(
                Fault::usage(format!("`{}` is not an id", text::excerpt(given, 60))).hint(
                    "ids are shown by `heirloom list`; a unique beginning or end of one is enough",
                ),
            );
        }
        let find = |part: &str| {
            let (store, project) = (&self.engine.store, &self.engine.project);
            store.ids_with_prefix(project, part, LISTED_CANDIDATES)
        };
        let mut found = match given.trim().starts_with(ELLIPSIS) {
            true => Vec::new(),
            false => find(&hex)?,
        };
        // A beginning with the whole time means one record; the ends are scanned for shorter ones only.
        if found.len() != 1 || hex.len() <= ID_TIME_DIGITS {
            found.extend(find(&format!("{ELLIPSIS}{hex}"))?);
            found.sort_unstable();
            found.dedup();
        }
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(Fault::not_found(format!(
                "no record whose id begins or ends with `{given}`"
            ))
            .hint("`heirloom list` shows the records")),
            several => Err(describe_candidates(*self, given, several)),
        }
    }

    /// Returns the record `id`, current or not.
    pub fn get(&self, id: RecordId) -> Result<Record, Fault> {
        let mut record = self.engine.store.get(&self.engine.project, id)?;
        self.engine
            .workspace()
            .with_lines(std::iter::once(&mut record));
        Ok(record)
    }

    /// Returns the records that match `filter`.
    pub fn find(&self, filter: &Filter) -> Result<Vec<Record>, Fault> {
        let mut found = self.engine.store.find(&self.engine.project, filter)?;
        self.engine.workspace().with_lines(found.iter_mut());
        Ok(found)
    }

    /// Returns the number of records that match `filter`, up to its limit.
    pub fn count(&self, filter: &Filter) -> Result<usize, Fault> {
        let count = self.engine.store.count(&self.engine.project, filter)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Returns the number of current records by kind.
    pub fn counts(&self) -> Result<KindCounts, Fault> {
        Ok(self
            .engine
            .store
            .counts(&self.engine.project, self.engine.now())?)
    }

    /// Returns the time of the project's last write.
    pub fn last_write(&self) -> Result<Option<Timestamp>, Fault> {
        let newest = Filter {
            as_of: AsOf::Ever,
            ..Filter::current(&[], self.engine.now()).limit(1)
        };
        let newest = self.engine.store.find(&self.engine.project, &newest)?;
        Ok(newest.first().map(|record| record.recorded_at))
    }

    /// Retires a current record; `undo` restores it.
    ///
    /// Errors: `NotFound`; `Failed` if it is not current.
    pub fn forget(&self, id: RecordId) -> Result<RecordId, Fault> {
        self.retire_by(id, USER)
    }

    pub(super) fn retire_by(&self, id: RecordId, by: &str) -> Result<RecordId, Fault> {
        let retire = Change::Retire {
            id,
            at: self.engine.now(),
            by: by.to_owned(),
        };
        Ok(self.engine.records().apply_one(retire)?.id)
    }

    /// Retires a current record in the name of `by`; `undo` restores it.
    ///
    /// Errors: `NotFound`; `Failed` if it is not current; `Refused` if an agent would retire a record of a person or
    /// the orchestrator.
    pub fn forget_as(&self, id: RecordId, by: &str) -> Result<RecordId, Fault> {
        check_name("source", by).map_err(|error| name_fault(&error))?;
        let record = self.get(id)?;
        check_may_retire(&record, by)?;
        let retire = Change::Retire {
            id,
            at: self.engine.now(),
            by: self.engine.redaction().redact_input(by).into_owned(),
        };
        Ok(self.engine.records().apply_one(retire)?.id)
    }

    /// Returns the predecessors and successors of a record with it, in chronological order.
    pub fn history(&self, id: RecordId) -> Result<Vec<Record>, Fault> {
        let mut chain = self.engine.store.history(&self.engine.project, id)?;
        // The store sorts by id, which depends on the writers' clocks.
        chain.sort_by_key(|record| (record.recorded_at, record.id));
        Ok(chain)
    }
}

/// Refuses an agent that would retire a record of a person, the orchestrator or the team.
pub(super) fn check_may_retire(record: &Record, by: &str) -> Result<(), Fault> {
    if can_arbitrate(by) || Authority::of_source(by) >= Authority::of_record(record) {
        return Ok(());
    }
    let id = record.id;
    let source = record.attr_str(VOUCHED_BY_ATTR).unwrap_or(&record.source);
    Err(Fault::refused(format!(
        "{id} was written by `{source}`; an agent may not retire it"
    ))
    .hint(format!(
        "the person can: `heirloom forget {id}`; or remember a better value in addition"
    )))
}

/// Describes the records whose ids `given` may mean.
fn describe_candidates(records: Records<'_>, given: &str, ids: &[RecordId]) -> Fault {
    let mut lines = vec!["the last eight characters of one are enough:".to_owned()];
    for id in ids.iter().take(LISTED_CANDIDATES) {
        // A record that was purged in the meantime is listed without its text.
        let words = records
            .get(*id)
            .map_or_else(|_| String::new(), |record| text::excerpt(&record.text, 60));
        lines.push(format!("  {id}  {words}").trim_end().to_owned());
    }
    Fault::usage(format!("`{given}` fits several ids")).hint(lines.join("\n"))
}
