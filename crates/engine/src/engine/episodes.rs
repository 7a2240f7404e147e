//! Episodes: attempts at tasks and their outcomes. They are appended and never changed.

use super::new_record::check_scope;
use super::outcome::shorten_error;
use super::tasks::{TaskChange, last, named_task};
use crate::analytics::{self, AnalyticsReport, EpisodeRow};
use crate::engine::Tasks;
use heirloom_model::kinds::{Episode, EpisodeAction, TaskState};
use heirloom_model::record_meaning::is_exit_status;
use heirloom_model::{
    AgentStatus, Case, CaseState, Fault, IterationOutcome, Kind, KindData, MergeRule, Record,
    RecordId, Scope, Timestamp, limits,
};
use heirloom_store::{AppliedChange, Change, Filter};
use std::collections::BTreeMap;

/// New episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEpisode {
    /// Scope with a task.
    pub scope: Scope,
    /// Source; the agent by default, otherwise `user`.
    pub source: Option<String>,
    /// Action.
    pub action: EpisodeAction,
    /// Approach.
    pub approach: Option<String>,
    /// Outcome.
    pub outcome: Option<String>,
    /// Duration in milliseconds.
    pub duration_ms: Option<u64>,
    /// Input tokens.
    pub tokens_in: Option<u64>,
    /// Output tokens.
    pub tokens_out: Option<u64>,
}

impl NewEpisode {
    /// Creates an episode of a task with only an action.
    pub fn new(task: &str, action: EpisodeAction) -> Self {
        Self {
            scope: Scope::of_task(task),
            source: None,
            action,
            approach: None,
            outcome: None,
            duration_ms: None,
            tokens_in: None,
            tokens_out: None,
        }
    }
}

/// Filter of episodes; all given fields must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeFilter {
    /// Of this task.
    pub task: Option<String>,
    /// By this agent.
    pub agent: Option<String>,
    /// With this action.
    pub action: Option<EpisodeAction>,
    /// Recorded at this time or later.
    pub since: Option<Timestamp>,
    /// Recorded at this time or earlier.
    pub until: Option<Timestamp>,
    /// Maximum number; `None` means all.
    pub limit: Option<usize>,
}

impl Tasks<'_> {
    /// Appends an episode; a missing task is created in the same transaction.
    ///
    /// Errors: `Usage` without a task, for an invalid name, or for a too long approach or outcome.
    pub fn log_episode(&self, new: NewEpisode) -> Result<AppliedChange, Fault> {
        let Some(task) = new.scope.task.clone() else {
            return Err(Fault::usage("the episode names no task").hint("name it with --task ID"));
        };
        let source = self.source_of(&new);
        let known = self.known_task(&task, &source)?;
        let put = self.episode_change(new)?;
        let changes: Vec<Change> = known.into_iter().chain([put]).collect();
        last(&self.engine.apply(&changes)?)
    }

    /// Returns the record of a case, which is not stored yet.
    pub(super) fn case_draft(
        &self,
        case: &Case,
        state: CaseState,
        scope: Scope,
        source: &str,
    ) -> Record {
        let records = self.engine.records();
        let mut record = records.draft(Kind::Episode, &case.text(), scope, source);
        record.attrs = case.episode(state).to_attrs();
        record
    }

    /// Appends a case whose end is unknown; a missing task is created in the same transaction.
    ///
    /// Errors: `Usage` without a task, or for an invalid name.
    pub fn log_case(
        &self,
        case: &Case,
        scope: Scope,
        source: &str,
    ) -> Result<AppliedChange, Fault> {
        let Some(task) = scope.task.clone() else {
            return Err(Fault::usage("the case names no task").hint("name it with --task ID"));
        };
        check_scope(&scope)?;
        let known = self.known_task(&task, source)?;
        let record = Box::new(self.case_draft(case, CaseState::Unknown, scope, source));
        let merge = MergeRule::Replace;
        let put = Change::Put { record, merge };
        let changes: Vec<Change> = known.into_iter().chain([put]).collect();
        last(&self.engine.apply(&changes)?)
    }

    /// Checks an approach before it is used. Errors: `Usage` for a too long one.
    pub fn check_approach(&self, approach: Option<&str>) -> Result<(), Fault> {
        validated_text("approach", approach.map(str::to_owned)).map(drop)
    }

    /// Finishes or fails a task and writes the episode. Returns the episode's id.
    ///
    /// Errors: `Usage` for the state `Open`; those of [`Self::log_episode`].
    pub fn finish_task(
        &self,
        id: &str,
        state: TaskState,
        agent: Option<String>,
        approach: Option<String>,
        outcome: Option<String>,
    ) -> Result<RecordId, Fault> {
        let mut new = NewEpisode::new(id, EpisodeAction::Completed);
        new.scope.agent = agent;
        new.approach = approach;
        new.outcome = outcome;
        self.end_task(state, new)
    }

    /// Ends a task as [`Self::finish_task`], with all fields of the last attempt; the action follows from `state`.
    pub fn end_task(&self, state: TaskState, mut new: NewEpisode) -> Result<RecordId, Fault> {
        new.action = match state {
            TaskState::Done => EpisodeAction::Completed,
            TaskState::Failed => EpisodeAction::Failed,
            TaskState::Open => return Err(Fault::usage("the state `open` does not end a task")),
        };
        let Some(id) = new.scope.task.clone() else {
            return Err(Fault::usage("the end names no task").hint("name it with --task ID"));
        };
        let change = TaskChange {
            state: Some(state),
            blocked_reason: (state == TaskState::Done).then(String::new),
            ..TaskChange::default()
        };
        let task = self.task_change(&id, &change, &self.source_of(&new))?;
        let put = self.episode_change(new)?;
        Ok(last(&self.engine.apply(&[task, put])?)?.id)
    }

    /// Returns the change that writes the episode of an iteration. A repetition changes nothing; different text
    /// replaces the former one.
    pub(super) fn iteration_change(
        &self,
        task: &str,
        scope: &Scope,
        outcome: &IterationOutcome,
        source: &str,
    ) -> Result<Change, Fault> {
        let action = action_of(outcome);
        let approach = validated_text("approach", outcome.approach.clone())?;
        let approach =
            approach.map(|approach| self.engine.redaction().redact_input(&approach).into_owned());
        let why = outcome.error.as_deref().or(outcome.message.as_deref());
        let why = why.map(str::trim).filter(|why| !why.is_empty());
        let why = why.map(|why| {
            self.engine
                .redaction()
                .redact_input(&shorten_error(why))
                .into_owned()
        });
        let scope = self
            .engine
            .redaction()
            .redact_scope(scope.clone())
            .into_inner();
        let begin = match (scope.iteration, named_task(Some(task))) {
            (Some(n), Some(task)) => format!("iteration {n} of {task} {}", action.as_str()),
            (Some(n), None) => format!("iteration {n} {}", action.as_str()),
            (None, _) => format!("{} {task}", action.as_str()),
        };
        // The approach comes first because similar attempts are searched by it. An exit status adds nothing.
        let told = why.as_deref().filter(|why| !is_exit_status(why));
        let parts = [approach.as_deref(), Some(begin.as_str()), told];
        let words = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
        let key = scope.iteration.map(|n| Episode::key(&scope, n));
        let mut record = self
            .engine
            .records()
            .draft(Kind::Episode, &words, scope, source);
        record.key = key;
        record.attrs = Episode {
            approach,
            outcome: why,
            duration_ms: outcome.duration_ms,
            tokens_in: outcome.tokens_in,
            tokens_out: outcome.tokens_out,
            ..Episode::with_action(action)
        }
        .to_attrs();
        Ok(Change::Put {
            record: Box::new(record),
            merge: MergeRule::Replace,
        })
    }

    fn episode_change(&self, new: NewEpisode) -> Result<Change, Fault> {
        check_scope(&new.scope)?;
        let source = self.source_of(&new);
        let approach = validated_text("approach", new.approach)?;
        let outcome = validated_text("outcome", new.outcome)?;
        let task = new.scope.task.as_deref().unwrap_or_default();
        let words = match (&approach, &outcome) {
            (Some(approach), Some(outcome)) => format!("{approach}: {outcome}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => format!("{} {task}", new.action.as_str()),
        };
        let mut record = self
            .engine
            .records()
            .draft(Kind::Episode, &words, new.scope, &source);
        record.attrs = Episode {
            approach,
            outcome,
            duration_ms: new.duration_ms,
            tokens_in: new.tokens_in,
            tokens_out: new.tokens_out,
            ..Episode::with_action(new.action)
        }
        .to_attrs();
        Ok(Change::Put {
            record: Box::new(record),
            merge: MergeRule::Replace,
        })
    }

    /// Returns the episodes that match `filter`, newest first.
    pub fn episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Record>, Fault> {
        let mut found = Vec::new();
        let most = filter.limit.unwrap_or(usize::MAX);
        self.each_episode(filter, &mut |record| {
            found.push(record);
            found.len() < most
        })?;
        found.truncate(most);
        Ok(found)
    }

    /// Analyses the episodes of `task`, or of all tasks.
    pub fn analytics(&self, task: Option<&str>) -> Result<AnalyticsReport, Fault> {
        let filter = EpisodeFilter {
            task: task.map(str::to_owned),
            ..EpisodeFilter::default()
        };
        let mut episodes = Vec::new();
        self.each_episode(&filter, &mut |record| {
            episodes.extend(EpisodeRow::from_record(&record));
            true
        })?;
        let typed = |task: &Record| Some((task.key.clone()?, task.attr_str("type")?.to_owned()));
        let tasks = match task {
            Some(task) => self.task_record(task)?.into_iter().collect(),
            None => self.list()?,
        };
        let types: BTreeMap<_, _> = tasks.iter().filter_map(typed).collect();
        Ok(analytics::analyse(&episodes, &types))
    }

    /// Analyses at most `most` of the newest episodes since a time; also returns them, newest first.
    pub fn analytics_since(
        &self,
        since: Timestamp,
        most: usize,
    ) -> Result<(AnalyticsReport, Vec<Record>), Fault> {
        let filter = Filter {
            recorded_from: Some(since),
            ..Filter::current(&[Kind::Episode], self.engine.now())
        };
        let found = self.engine.records().find(&filter.limit(most))?;
        let episodes: Vec<_> = found.iter().filter_map(EpisodeRow::from_record).collect();
        Ok((analytics::analyse(&episodes, &BTreeMap::new()), found))
    }

    /// Calls `each` with every episode that matches `filter`, newest first, until it returns false.
    fn each_episode(
        &self,
        filter: &EpisodeFilter,
        each: &mut dyn FnMut(Record) -> bool,
    ) -> Result<(), Fault> {
        let mut question = Filter::current(&[Kind::Episode], self.engine.now())
            .scope(Scope {
                task: filter.task.clone(),
                agent: filter.agent.clone(),
                ..Scope::default()
            })
            .limit(limits::PAGE_RECORDS);
        let is_whole = filter.action.is_none() && filter.since.is_none() && filter.until.is_none();
        if let (true, Some(most)) = (is_whole, filter.limit) {
            question.limit = most.clamp(1, limits::PAGE_RECORDS);
        }
        let wanted = |record: &Record| {
            let at = record.recorded_at;
            filter
                .action
                .is_none_or(|action| record.attr_str("action") == Some(action.as_str()))
                && filter.since.is_none_or(|since| at >= since)
                && filter.until.is_none_or(|until| at <= until)
        };
        loop {
            let page = self.engine.records().find(&question)?;
            let is_last = page.len() < question.limit;
            question.after = page.last().map(|last| last.id);
            for record in page.into_iter().filter(wanted) {
                if !each(record) {
                    return Ok(());
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Returns episodes beyond their retention, oldest first, except failures of tasks without a later success.
    pub(super) fn old_episodes(&self) -> Result<Vec<Record>, Fault> {
        let Some(cutoff) = self.retention_cutoff(self.engine.settings.retention.episodes_days)
        else {
            return Ok(Vec::new());
        };
        // Newest first, so that a success is seen before the failures that preceded it.
        let mut succeeded = std::collections::HashSet::new();
        let mut old = Vec::new();
        let mut all = Vec::new();
        self.each_episode(&EpisodeFilter::default(), &mut |record| {
            all.extend(EpisodeRow::from_record(&record).map(|row| (row, record)));
            true
        })?;
        all.sort_by_key(|(one, _)| std::cmp::Reverse((one.at, one.id)));
        for (one, record) in all {
            if one.action == Some(EpisodeAction::Completed) {
                succeeded.insert(one.task.clone());
            }
            let is_lesson =
                one.action == Some(EpisodeAction::Failed) && !succeeded.contains(&one.task);
            // A conversation of last year that is imported today was not known until today.
            let is_new = record.id >= RecordId::min_at(cutoff);
            if one.at < cutoff && !is_lesson && !is_new {
                old.push(record);
            }
        }
        old.reverse();
        Ok(old)
    }

    /// Returns the retention cutoff for `days`; `None` if there is no limit.
    pub(super) fn retention_cutoff(&self, days: u32) -> Option<Timestamp> {
        let kept_s = i64::from(days) * 86_400;
        let border_s = self.engine.now().as_second().saturating_sub(kept_s);
        (days > 0).then(|| heirloom_model::clock::from_micros(border_s.saturating_mul(1_000_000)))
    }

    fn source_of(&self, new: &NewEpisode) -> String {
        let source = new.source.clone().or_else(|| new.scope.agent.clone());
        source.unwrap_or_else(|| self.engine.actor.to_string())
    }
}

/// Maps an outcome to the action of an episode.
fn action_of(outcome: &IterationOutcome) -> EpisodeAction {
    match (outcome.status, outcome.success) {
        (AgentStatus::Complete, true) => EpisodeAction::Completed,
        (AgentStatus::Partial, true) => EpisodeAction::Attempted,
        // Interrupted, which is not a failure.
        (AgentStatus::Partial, false) if outcome.error.is_none() => EpisodeAction::Attempted,
        (AgentStatus::Complete | AgentStatus::Partial, false)
        | (AgentStatus::Blocked | AgentStatus::Failed, _) => EpisodeAction::Failed,
    }
}

/// Trims and validates a text; `None` if it is empty.
fn validated_text(what: &str, text: Option<String>) -> Result<Option<String>, Fault> {
    let text = text.map(|text| text.trim().to_owned());
    let text = text.filter(|text| !text.is_empty());
    let most = limits::EPISODE_TEXT_BYTES_MAX;
    match text {
        Some(text) if text.len() > most => Err(Fault::usage(format!(
            "the {what} has {} bytes; at most {most} are allowed",
            text.len()
        ))
        .hint("use one sentence; register a longer text as a file with `heirloom artifact add`")),
        text => Ok(text),
    }
}
