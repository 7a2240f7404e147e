//! Last session at the start of the next one: what changed since, otherwise what it was about.

use super::start_text::{StartItem, StartSection};
use super::{SessionStart, date_of};
use heirloom_model::case::is_case;
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_PREFERENCE, EpisodeAction,
};
use heirloom_model::record_meaning::{known_resolution, record_meaning_excerpt};
use heirloom_model::text::counted;
use heirloom_model::{Authority, Fault, Kind, Record, Scope, Session, limits, mark, text};
use heirloom_store::Filter;
use serde_json::Value;

/// Newest records that are counted as new.
const NEW_MAX: usize = 50;
/// Characters of a request in the line of its case.
const REQUEST_CHARS_MAX: usize = 90;
/// Least number of words of a request that is understood by itself; "q" or "resume please" answer something.
const REQUEST_WORDS_MIN: usize = 4;
/// Files of a case that are named.
const FILES_SHOWN: usize = 3;

impl SessionStart<'_> {
    /// Returns what was learned since the last session ended; then what the last sessions were about, one of the
    /// checked-out branch first.
    pub(super) fn last_session_items(&self, last: &[Session]) -> Result<Vec<StartItem>, Fault> {
        let mut items = Vec::new();
        if let Some(newest) = last.first() {
            items.extend(self.news_since(newest)?);
        }
        let branch = self.branch();
        let is_here = |session: &&Session| {
            let of_session = session.attrs.get("branch").and_then(Value::as_str);
            branch.is_some() && of_session == branch.as_deref()
        };
        let (here, elsewhere): (Vec<_>, Vec<_>) = last.iter().partition(is_here);
        for session in here.into_iter().chain(elsewhere) {
            items.extend(self.case_of(session)?);
        }
        Ok(items)
    }

    /// Returns the newest of the lessons since a session ended that are not of this session or of the last one, with
    /// their number.
    fn news_since(&self, last: &Session) -> Result<Option<StartItem>, Fault> {
        let since = last.ended_at.unwrap_or(last.started_at);
        let filter = Filter {
            recorded_from: Some(since),
            ..Filter::current(&[Kind::Knowledge, Kind::Error], self.hooks.engine.now())
        };
        let mut new = self.hooks.engine.records().find(&filter.limit(NEW_MAX))?;
        new.retain(|record| {
            let is_lesson = record.kind == Kind::Knowledge || known_resolution(record).is_some();
            let is_of_last = record.scope.session.as_deref() == Some(&*last.id);
            is_lesson
                && !is_of_last
                && !self.hooks.is_own(record, self.request)
                && is_told_as_new(record)
        });
        let ended = self.ended.among(&new)?;
        new.retain(|record| !ended.contains(&record.id));
        let Some(newest) = new.first() else {
            return Ok(None);
        };
        let count = counted(new.len(), "new lesson", "new lessons");
        let meaning = record_meaning_excerpt(newest, limits::HOOK_HIT_CHARS_MAX);
        let line = format!("{count} since {}, newest: {meaning}", date_of(since));
        let line = text::excerpt_at_word(&line, limits::HOOK_START_ITEM_CHARS_MAX);
        Ok(Some(self.start_item(
            newest,
            StartSection::LastSession,
            &line,
        )))
    }

    /// Returns the newest case of a session: request, files and result. An attempt that failed on its way comes after it.
    fn case_of(&self, session: &Session) -> Result<Option<StartItem>, Fault> {
        let mut filter = Filter::current(&[Kind::Episode], self.hooks.engine.now());
        filter.scope = Scope {
            session: Some(session.id.clone()),
            ..Scope::default()
        };
        let mut found = self.hooks.engine.records().find(&filter.limit(NEW_MAX))?;
        let is_attempt = |record: &Record| {
            !is_case(record) && record.attr_str("action") == Some(EpisodeAction::Failed.as_str())
        };
        // The sort is stable: the newest stays first.
        found.sort_by_key(is_attempt);
        let mut told = found.iter().filter(|record| !mark::is_muted(&record.attrs));
        Ok(told.find_map(|record| {
            let line = case_line(record)?;
            Some(self.start_item(record, StartSection::LastSession, &line))
        }))
    }
}

/// Returns true for a lesson that is told as new: rules of people are told as rules.
fn is_told_as_new(record: &Record) -> bool {
    let is_rule = matches!(
        record.category(),
        Some(CATEGORY_PREFERENCE | CATEGORY_CONVENTION | CATEGORY_DECISION)
    ) && Authority::of_record(record) == Authority::Person;
    let is_hidden = mark::is_muted(&record.attrs) || record.attrs.contains_key("disputed");
    !is_rule && !is_hidden && !mark::is_pinned(&record.attrs)
}

/// Formats an episode as one line with its id; `None` for one without a request, or with one that only goes on with another.
fn case_line(record: &Record) -> Option<String> {
    let asked = record.attr_str("approach")?;
    if asked.split_whitespace().count() < REQUEST_WORDS_MIN {
        return None;
    }
    let outcome = record.attr_str("outcome").unwrap_or_default();
    let files = record.attrs.get("files").and_then(Value::as_array);
    let files: Vec<&str> = (files.into_iter().flatten())
        .filter_map(Value::as_str)
        .take(FILES_SHOWN)
        .collect();
    let asked = text::excerpt_at_word(asked, REQUEST_CHARS_MAX);
    let asked = asked.trim_end_matches(['.', ':', ' ']);
    let mut parts = vec![format!("{}: {asked}", date_of(record.recorded_at))];
    parts.extend((!files.is_empty()).then(|| files.join(", ")));
    parts.extend((!outcome.trim().is_empty()).then(|| outcome.to_owned()));
    let line = text::excerpt_at_word(&parts.join("; "), limits::HOOK_START_ITEM_CHARS_MAX);
    Some(format!("{line} (heirloom show {})", record.id))
}
