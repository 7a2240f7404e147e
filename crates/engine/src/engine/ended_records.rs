//! Ended records: learned records that are not offered in starts, prompts and contexts any more, each with its reason.
//!
//! They stay stored and current, and recall finds them, so that nothing has to be undone. What a person said,
//! confirmed, pinned or gave a key never ends.

mod known_failure;
mod machine_hosts;
mod machine_paths;
mod one_off_value;
mod replaced_fix;
mod use_days;

use super::Engine;
use super::lessons::LessonSource;
use super::prune::is_of_person;
use heirloom_model::context::{InclusionReason, ReceiptItem, ReceiptSection};
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, ErrorRecord,
    Knowledge,
};
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::{EndReason, Fault, Kind, KindData, Record, RecordId, Timestamp};
use heirloom_model::{limits, mark, text};
pub(super) use known_failure::is_countable_failure;
use known_failure::{has_known_fix, helpful_fix, is_contradicted, is_of_session};
use one_off_value::is_one_off_value;
pub(super) use replaced_fix::is_replaced_fix;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashSet};

/// Name of the section of a receipt with the ended records.
const SECTION: &str = "Ended";
/// Numbers of the newest sessions that are read for the last ones; most can be subagents.
const SESSIONS_READ: [usize; 2] = [20, 500];
/// Attribute of a session that is a subagent of another one.
const PARENT: &str = "parent";
const DAY_SECONDS: i64 = 86_400;

/// Ended records, as one session is told: which ones they are, and which were left out.
pub struct EndedRecords<'e> {
    engine: &'e Engine,
    /// Failures that last occurred before this time are old.
    failures_before: Option<Timestamp>,
    /// Proposals that were known before this time are unconfirmed for too long; read when it is needed first.
    proposals_before: OnceCell<Option<Timestamp>>,
    left_out: RefCell<BTreeMap<RecordId, ReceiptItem>>,
}

impl<'e> EndedRecords<'e> {
    /// Reads when the last sessions began. `session` is the one that is told; by default the newest one if it is not
    /// over.
    pub fn new(engine: &'e Engine, session: Option<&str>) -> Result<Self, Fault> {
        Ok(Self {
            engine,
            failures_before: start_of_told_sessions(engine, session)?,
            proposals_before: OnceCell::new(),
            left_out: RefCell::default(),
        })
    }

    /// Returns those of these records that have ended, and notes them for the receipt.
    pub fn among<'r>(
        &self,
        records: impl IntoIterator<Item = &'r Record>,
    ) -> Result<HashSet<RecordId>, Fault> {
        let mut ended = HashSet::new();
        for record in records {
            if let Some(reason) = self.reason(record)? {
                ended.insert(record.id);
                let mut left_out = self.left_out.borrow_mut();
                left_out
                    .entry(record.id)
                    .or_insert_with(|| receipt_item(record, reason));
            }
        }
        Ok(ended)
    }

    /// Returns why a record has ended; `None` for one that is offered.
    pub fn reason(&self, record: &Record) -> Result<Option<EndReason>, Fault> {
        if is_of_person(record) {
            return Ok(None);
        }
        match record.kind {
            Kind::Error => self.end_of_failure(record),
            Kind::Knowledge => self.end_of_knowledge(record),
            Kind::Task
            | Kind::Step
            | Kind::Artifact
            | Kind::Episode
            | Kind::Output
            | Kind::Note
            | Kind::Summary => Ok(None),
        }
    }

    /// Returns the records that were left out as a section of a receipt; `None` without any.
    pub fn receipt_section(&self) -> Option<ReceiptSection> {
        let items: Vec<ReceiptItem> = self.left_out.borrow().values().cloned().collect();
        (!items.is_empty()).then(|| ReceiptSection {
            name: SECTION.to_owned(),
            chars: 0,
            items,
        })
    }

    fn end_of_failure(&self, record: &Record) -> Result<Option<EndReason>, Fault> {
        if is_contradicted(record) {
            return Ok(Some(EndReason::Contradicted));
        }
        if let Some(fix) = helpful_fix(record)
            && is_replaced_fix(self.engine, fix)?
        {
            return Ok(Some(EndReason::ReplacedFix));
        }
        let is_old = || {
            self.failures_before
                .is_some_and(|before| ErrorRecord::last_failed_at(record) < before)
        };
        let is_old = is_of_session(record) && !has_known_fix(record) && is_old();
        Ok(is_old.then_some(EndReason::OldFailure))
    }

    fn end_of_knowledge(&self, record: &Record) -> Result<Option<EndReason>, Fault> {
        let Ok(knowledge) = Knowledge::from_record(record) else {
            return Ok(None);
        };
        let is_learned = knowledge.proposal || LessonSource::is_in(record);
        let key = record.key.as_deref();
        if !is_learned || !key.is_none_or(Knowledge::is_derived_key) {
            return Ok(None);
        }
        if self.is_about_other_machine(record)? {
            return Ok(Some(EndReason::OtherMachine));
        }
        let category = knowledge.category.as_str();
        let is_value = matches!(category, CATEGORY_FACT | CATEGORY_LEARNING);
        if is_value && self.is_old_value(record) {
            return Ok(Some(EndReason::OneOffValue));
        }
        let is_proposal = knowledge.proposal
            && matches!(
                category,
                CATEGORY_DECISION | CATEGORY_LEARNING | CATEGORY_CONVENTION
            );
        let is_unused = knowledge.confirmations == 0 && mark::useful_count(&record.attrs) <= 0;
        let is_forgotten = is_proposal && is_unused && self.is_long_known(record)?;
        Ok(is_forgotten.then_some(EndReason::UnconfirmedProposal))
    }

    fn is_old_value(&self, record: &Record) -> bool {
        self.is_older_than(
            Knowledge::last_stated_at(record),
            limits::ONE_OFF_VALUE_DAYS_MAX,
        ) && is_one_off_value(&record.text)
    }

    /// Returns true for a record that this store has known for more than the days of use of a proposal.
    pub(super) fn is_long_known(&self, record: &Record) -> Result<bool, Fault> {
        // The record of an old conversation has an old time, but is known since it was learned.
        let learned_at = LessonSource::of_record(record).map(|source| source.learned_at);
        let made_at = learned_at.max(record.id.made_at());
        let known_at = (record.recorded_at).max(made_at.unwrap_or(record.recorded_at));
        let days = i64::try_from(limits::PROPOSAL_USE_DAYS_MAX).unwrap_or(i64::MAX);
        // There are at most as many days of use as days.
        if !self.is_older_than(known_at, days) {
            return Ok(false);
        }
        let before = match self.proposals_before.get() {
            Some(known) => *known,
            None => {
                let read = use_days::start_of_use_days(self.engine, limits::PROPOSAL_USE_DAYS_MAX)?;
                *self.proposals_before.get_or_init(|| read)
            }
        };
        Ok(before.is_some_and(|before| known_at < before))
    }

    fn is_about_other_machine(&self, record: &Record) -> Result<bool, Fault> {
        let Some(home) = &self.engine.settings.home else {
            return Ok(false);
        };
        let home = home.to_string_lossy();
        if machine_paths::names_other_home(&record.text, &home) {
            return Ok(true);
        }
        let names_place = || {
            machine_paths::names_temporary_path(&record.text)
                || machine_hosts::names_private_host(&record.text)
        };
        if !names_place() {
            return Ok(false);
        }
        // The folder of its session tells the machine.
        let source = LessonSource::of_record(record).map(|source| source.session);
        let Some(session) = source.or_else(|| record.scope.session.clone()) else {
            return Ok(false);
        };
        let session = self.engine.sessions().find(&session)?;
        let folder = session.as_ref().and_then(|of| of.attrs.get("cwd"));
        let folder = folder.and_then(serde_json::Value::as_str);
        Ok(folder.is_some_and(|folder| machine_paths::names_other_home(folder, &home)))
    }

    fn is_older_than(&self, at: Timestamp, days: i64) -> bool {
        let now = self.engine.now().as_second();
        now.saturating_sub(at.as_second()) > days * DAY_SECONDS
    }
}

/// Returns the start of the earliest session that, with the later ones, is as many as are told an open failure; `None`
/// if there are fewer sessions before the one that is told.
fn start_of_told_sessions(
    engine: &Engine,
    session: Option<&str>,
) -> Result<Option<Timestamp>, Fault> {
    let stored = session.map(|id| engine.redaction().redact_input(id));
    for most in SESSIONS_READ {
        let found = engine.sessions().sessions_of(None, most)?;
        let is_all = found.len() < most;
        let mut earlier = found
            .iter()
            .filter(|one| !one.attrs.contains_key(PARENT))
            .enumerate()
            .filter(|(age, one)| match (session, &stored) {
                (Some(id), Some(stored)) => one.id != id && one.id != **stored,
                _ => *age > 0 || one.ended_at.is_some(),
            })
            .map(|(_, one)| one.started_at);
        let start = earlier.nth(limits::OPEN_FAILURE_SESSIONS_MAX.saturating_sub(1));
        if start.is_some() || is_all {
            return Ok(start);
        }
    }
    Ok(None)
}

fn receipt_item(record: &Record, reason: EndReason) -> ReceiptItem {
    let meaning = record_meaning(record);
    ReceiptItem {
        id: Some(record.id),
        file: None,
        score: None,
        relevance: None,
        worth: None,
        excerpt: text::excerpt(&meaning, limits::RECEIPT_EXCERPT_CHARS_MAX),
        chars: text::chars(&meaning),
        reason: InclusionReason::Ended(reason),
    }
}
