//! Lessons of the week: what was learned at which cost, which sessions were told, and what happened in them.

use super::session_receipts::{ReceiptsOfSessions, cut_by_session, records_by_session};
use super::{DAYS, Week};
use crate::records_by_id::{RecordsById, find_any};
use heirloom_engine::{Engine, analytics, is_same_approach};
use heirloom_model::kinds::{Episode, EpisodeAction, ErrorRecord};
use heirloom_model::{Fault, Kind, KindData, Record, RecordId, Session, Timestamp, limits};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of sessions of the week that are read.
const SESSIONS: usize = 200;
/// Maximum number of records that are considered of each session.
const OLDEST: usize = 40;
/// Maximum number of attempts of the week that are read.
const ATTEMPTS: usize = 400;
/// Maximum number of later failures that are compared with a failed attempt, newest first.
const COMPARED: usize = 40;
/// Maximum number of lessons.
const LESSONS: usize = 12;

/// Record that was learned once and given to later sessions.
pub(super) struct LessonOutcome {
    pub(super) record: Record,
    /// Failed attempts that taught it.
    pub(super) cost: LessonCost,
    /// Later sessions that it concerned, oldest first.
    pub(super) deliveries: Vec<Delivery>,
}

/// Failed attempts that taught a lesson.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LessonCost {
    pub(super) attempts: usize,
    pub(super) duration_ms: u64,
    pub(super) tokens: u64,
}

impl LessonCost {
    fn add(&mut self, episode: &Episode) {
        self.attempts += 1;
        self.duration_ms += episode.duration_ms.unwrap_or(0);
        self.tokens += episode.tokens_in.unwrap_or(0) + episode.tokens_out.unwrap_or(0);
    }
}

/// Later session that a lesson concerned.
pub(super) struct Delivery {
    pub(super) session: Session,
    /// Receipt of the context that contained the lesson, or left it out.
    pub(super) receipt: Option<RecordId>,
    pub(super) told: Told,
    pub(super) then: Then,
}

/// State of a lesson in the context of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The context contained it.
    Yes,
    /// A context of the session was built without it.
    Cut,
    /// The session had no context.
    NoContext,
}

/// Course of a session after its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Then {
    /// The failure of the lesson came again.
    Repeated(String, LessonCost),
    /// An attempt completed.
    Completed(String),
    /// Other attempts failed.
    Failed(String),
    /// No attempt with a known result was recorded.
    Unknown,
}

impl LessonOutcome {
    /// Counts the sessions that were told.
    pub(super) fn told(&self) -> usize {
        self.count(|one| one.told == Told::Yes)
    }

    /// Counts the told sessions in which an attempt completed.
    pub(super) fn completed(&self) -> usize {
        self.count(|one| one.told == Told::Yes && matches!(one.then, Then::Completed(_)))
    }

    /// Counts the sessions in which the failure came again.
    pub(super) fn repeated(&self) -> usize {
        self.count(|one| matches!(one.then, Then::Repeated(..)))
    }

    fn count(&self, has: impl Fn(&Delivery) -> bool) -> usize {
        self.deliveries.iter().filter(|one| has(one)).count()
    }

    /// Returns the order of the lesson among others: those that cost something and held come first, because a rule that
    /// every session receives shows little; then those that were used most.
    fn worth(&self) -> (bool, usize) {
        let uses = match self.told() {
            0 => 0,
            told => (told + 2 * self.completed()).saturating_sub(4 * self.repeated()),
        };
        (uses > 0 && self.cost.attempts > 0, uses)
    }
}

/// Lessons of the week, and how many sessions they reached.
#[derive(Default)]
pub(super) struct LessonReport {
    /// The lesson with most evidence first.
    pub(super) lessons: Vec<LessonOutcome>,
    /// Sessions of the week.
    pub(super) sessions: Vec<Session>,
    /// Number of sessions that received something of an earlier one.
    pub(super) heirs: usize,
    /// Number of known failures that came again.
    pub(super) repeated: usize,
}

/// Attempt of the week.
struct WeekAttempt {
    record: Record,
    episode: Episode,
}

impl WeekAttempt {
    fn is_failure(&self) -> bool {
        self.episode.action == EpisodeAction::Failed.as_str()
    }

    fn is_in(&self, session: &str) -> bool {
        self.record.scope.session.as_deref() == Some(session)
    }

    fn approach(&self) -> &str {
        self.episode
            .approach
            .as_deref()
            .unwrap_or(&self.record.text)
    }
}

/// Loads the lessons of the week.
pub(super) fn load(engine: &Engine, week: &Week) -> Result<LessonReport, Fault> {
    let from = week.times.midnight(DAYS - 1);
    let mut sessions = engine.sessions().sessions_of(None, SESSIONS)?;
    sessions.retain(|session| session.started_at >= from && session.started_at <= week.times.now());
    sessions.sort_by_key(|session| session.started_at);
    let heads = engine.contexts().receipt_heads(limits::RECEIPTS_KEPT)?;
    let told = records_by_session(heads, from);
    let attempts = load_attempts(engine, from)?;
    let failures = attempts.iter().filter(|one| one.is_failure());
    let mut ids: BTreeSet<RecordId> = failures.map(|one| one.record.id).collect();
    // The oldest records of a context are most likely from another session.
    ids.extend(told.values().flat_map(|ids| ids.keys().take(OLDEST)));
    let records = find_any(engine, ids.into_iter().take(limits::PAGE_RECORDS))?;
    let mut report = LessonReport::default();
    for session in &sessions {
        let ids = told.get(&session.id).into_iter().flatten();
        let mut inherited = ids.filter_map(|(id, _)| records.get(id));
        report.heirs += usize::from(inherited.any(|record| is_inherited(record, session)));
    }
    let sources = Sources {
        engine,
        from,
        sessions: &sessions,
        told: &told,
        attempts: &attempts,
        cut: OnceCell::new(),
    };
    let mut lessons: Vec<LessonOutcome> = Vec::new();
    for group in group_repeats(records) {
        lessons.extend(sources.lesson(group)?);
    }
    lessons.sort_by_key(|one| (std::cmp::Reverse(one.worth()), one.record.id));
    report.repeated = count_repeats(&lessons);
    let mut place = 0;
    // The headline counts the failures that came again, so their lessons are in the list however little they were used.
    lessons.retain(|lesson| {
        place += 1;
        place <= LESSONS || lesson.repeated() > 0
    });
    lessons.truncate(2 * LESSONS);
    report.lessons = lessons;
    report.sessions = sessions;
    Ok(report)
}

/// Counts the failures that came again; one of two lessons counts once.
fn count_repeats(lessons: &[LessonOutcome]) -> usize {
    let deliveries = lessons.iter().flat_map(|lesson| &lesson.deliveries);
    let repeats = deliveries.filter_map(|one| match &one.then {
        Then::Repeated(approach, _) => Some((&one.session.id, approach)),
        Then::Completed(_) | Then::Failed(_) | Then::Unknown => None,
    });
    repeats.collect::<BTreeSet<_>>().len()
}

/// Groups failed attempts of one approach; every other record is a group of its own. Each group is oldest first.
fn group_repeats(records: RecordsById) -> Vec<Vec<Record>> {
    let mut groups: BTreeMap<(Option<String>, RecordId), Vec<Record>> = BTreeMap::new();
    let mut records: Vec<Record> = records.into_values().collect();
    records.sort_by_key(|record| record.id);
    let mut first: HashMap<String, RecordId> = HashMap::new();
    for record in records {
        let key = failed_approach(&record).map(|approach| analytics::approach_key(&approach));
        let id = match &key {
            Some(key) => *first.entry(key.clone()).or_insert(record.id),
            None => record.id,
        };
        groups.entry((key, id)).or_default().push(record);
    }
    groups.into_values().collect()
}

/// Sources of lessons, read once.
struct Sources<'a> {
    engine: &'a Engine,
    /// Beginning of the week.
    from: Timestamp,
    sessions: &'a [Session],
    told: &'a ReceiptsOfSessions,
    /// Records that contexts left out; read when a failure came again in a session that was not told.
    cut: OnceCell<ReceiptsOfSessions>,
    attempts: &'a [WeekAttempt],
}

impl Sources<'_> {
    /// Returns the lesson of a group of records; `None` if no later session was told or repeated the failure.
    fn lesson(&self, group: Vec<Record>) -> Result<Option<LessonOutcome>, Fault> {
        let ids: Vec<RecordId> = group.iter().map(|record| record.id).collect();
        let Some(record) = group.into_iter().next() else {
            return Ok(None);
        };
        let repeats = self.repeats(&record, &ids);
        let later = self
            .sessions
            .iter()
            .filter(|one| is_inherited(&record, one));
        let mut deliveries: Vec<Delivery> = Vec::new();
        for session in later {
            deliveries.extend(self.delivery(&ids, session, &repeats)?);
        }
        Ok((!deliveries.is_empty()).then(|| LessonOutcome {
            cost: self.cost(&record),
            record,
            deliveries,
        }))
    }

    /// Returns the later failures that are the same attempt as a failed one: those of its group, and similar ones of
    /// the sessions that were told.
    fn repeats(&self, record: &Record, group: &[RecordId]) -> Vec<&WeekAttempt> {
        let Some(first) = failed_approach(record) else {
            return Vec::new();
        };
        let later = self.attempts.iter().rev();
        let later: Vec<&WeekAttempt> = later
            .filter(|one| one.is_failure() && one.record.recorded_at > record.recorded_at)
            .take(COMPARED)
            .collect();
        let approaches: Vec<&str> = later.iter().map(|one| one.approach()).collect();
        let is_told = |one: &WeekAttempt| {
            let session = one.record.scope.session.as_deref().unwrap_or_default();
            let known = self.told.get(session);
            known.is_some_and(|ids| group.iter().any(|id| ids.contains_key(id)))
        };
        let same = match later.iter().any(|one| is_told(one)) {
            true => is_same_approach(&first, &approaches),
            false => vec![false; later.len()],
        };
        let pairs = later.into_iter().zip(same);
        pairs
            .filter(|(one, same)| *same || group.contains(&one.record.id))
            .map(|(one, _)| one)
            .collect()
    }

    fn delivery(
        &self,
        group: &[RecordId],
        session: &Session,
        repeats: &[&WeekAttempt],
    ) -> Result<Option<Delivery>, Fault> {
        let find = |all: &ReceiptsOfSessions| {
            let known = all.get(&session.id)?;
            group.iter().find_map(|id| known.get(id)).copied()
        };
        let repeat = repeats.iter().find(|one| one.is_in(&session.id));
        let (told, receipt) = match (find(self.told), repeat) {
            (Some(receipt), _) => (Told::Yes, Some(receipt)),
            (None, None) => return Ok(None),
            (None, Some(_)) => match find(self.cut()?) {
                Some(receipt) => (Told::Cut, Some(receipt)),
                None if self.told.contains_key(&session.id) => (Told::Cut, None),
                None => (Told::NoContext, None),
            },
        };
        let then = match repeat {
            Some(repeat) => {
                let mut cost = LessonCost::default();
                cost.add(&repeat.episode);
                Then::Repeated(repeat.approach().to_owned(), cost)
            }
            None => self.course(session),
        };
        Ok(Some(Delivery {
            session: session.clone(),
            receipt,
            told,
            then,
        }))
    }

    /// Returns the records that contexts left out, read once.
    fn cut(&self) -> Result<&ReceiptsOfSessions, Fault> {
        if let Some(cut) = self.cut.get() {
            return Ok(cut);
        }
        let cut = cut_by_session(self.engine, self.from)?;
        Ok(self.cut.get_or_init(|| cut))
    }

    /// Returns the last attempt of a session, a completed one before others.
    fn course(&self, session: &Session) -> Then {
        let own = || {
            self.attempts
                .iter()
                .rev()
                .filter(|one| one.is_in(&session.id))
        };
        let done = own().find(|one| one.episode.action == EpisodeAction::Completed.as_str());
        match (done, own().find(|one| one.is_failure())) {
            (Some(done), _) => Then::Completed(done.approach().to_owned()),
            (None, Some(failed)) => Then::Failed(failed.approach().to_owned()),
            (None, None) => Then::Unknown,
        }
    }

    /// Sums the failed attempts that taught a record: itself, otherwise those of its session before it.
    fn cost(&self, record: &Record) -> LessonCost {
        let mut cost = LessonCost::default();
        if let (Kind::Episode, Ok(episode)) = (record.kind, Episode::from_record(record)) {
            cost.add(&episode);
            return cost;
        }
        let Some(session) = record.scope.session.as_deref() else {
            return cost;
        };
        let own = self.attempts.iter().filter(|one| one.is_in(session));
        let before = own.filter(|one| one.record.recorded_at <= record.recorded_at);
        for attempt in before.filter(|one| one.is_failure()) {
            cost.add(&attempt.episode);
        }
        cost
    }
}

/// Returns the approach of a failed attempt.
fn failed_approach(record: &Record) -> Option<String> {
    let episode = (record.kind == Kind::Episode).then(|| Episode::from_record(record).ok())??;
    let is_failure = episode.action == EpisodeAction::Failed.as_str();
    is_failure.then(|| episode.approach.unwrap_or_else(|| record.text.clone()))
}

/// Returns true if a session received, or could have received, a record that it did not learn itself.
fn is_inherited(record: &Record, session: &Session) -> bool {
    let is_lasting = match record.kind {
        Kind::Knowledge | Kind::Note | Kind::Summary => true,
        Kind::Error => record.state() == Some(ErrorRecord::RESOLVED),
        Kind::Episode => failed_approach(record).is_some(),
        Kind::Task | Kind::Step | Kind::Artifact | Kind::Output => false,
    };
    is_lasting
        && record.scope.session.as_deref() != Some(session.id.as_str())
        && record.recorded_at <= session.started_at
}

/// Loads the attempts of the week, oldest first.
fn load_attempts(engine: &Engine, from: Timestamp) -> Result<Vec<WeekAttempt>, Fault> {
    let (_, mut found) = engine.tasks().analytics_since(from, ATTEMPTS)?;
    found.reverse();
    let attempts = found.into_iter().filter_map(|record| {
        let episode = Episode::from_record(&record).ok()?;
        Some(WeekAttempt { record, episode })
    });
    Ok(attempts.collect())
}
