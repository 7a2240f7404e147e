//! Episodes: what was tried for a task, and how it went. They are appended, never changed.

use super::Engine;
use super::new_record::check_scope;
use super::outcome::end_of;
use super::records::USER;
use super::tasks::{TaskChange, last};
use crate::analytics::{self, Analytics, Episodic};
use heirloom_model::kinds::{Episode, EpisodeAction, TaskState};
use heirloom_model::{
    AgentStatus, Fault, Kind, KindData, Merge, Outcome, Record, RecordId, Scope, Timestamp, limits,
};
use heirloom_store::{Applied, Change, Filter};
use std::collections::BTreeMap;

/// What somebody did about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEpisode {
    /// Where it belongs; the task must be named.
    pub scope: Scope,
    /// Who says so; the agent, else `user`, if it is not said.
    pub source: Option<String>,
    /// What was done.
    pub action: EpisodeAction,
    /// What was tried.
    pub approach: Option<String>,
    /// How it went.
    pub outcome: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Tokens read.
    pub tokens_in: Option<u64>,
    /// Tokens written.
    pub tokens_out: Option<u64>,
}

impl NewEpisode {
    /// An episode of a task of which nothing but the action is known.
    pub fn of(task: &str, action: EpisodeAction) -> Self {
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

/// Which episodes are asked for; every part that is given narrows the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeFilter {
    /// Of this task.
    pub task: Option<String>,
    /// By this agent.
    pub agent: Option<String>,
    /// With this action.
    pub action: Option<EpisodeAction>,
    /// Told at this time or later.
    pub since: Option<Timestamp>,
    /// Told at this time or earlier.
    pub until: Option<Timestamp>,
    /// At most this many; `None` = all.
    pub limit: Option<usize>,
}

impl Engine {
    /// Appends an episode; a task that is not known yet is created in the same step.
    ///
    /// Errors: `Usage` without a task, for a bad name, or for an approach or outcome over the cap.
    pub fn log_episode(&self, new: NewEpisode) -> Result<Applied, Fault> {
        let Some(task) = new.scope.task.clone() else {
            return Err(Fault::usage("the episode names no task").hint("--task ID says which"));
        };
        let source = source_of(&new);
        let known = self.known_task(&task, &source)?;
        let put = self.episode_change(new)?;
        last(&self.apply(&[known, put])?)
    }

    /// Says that a task is finished or given up, and writes the episode. Returns the episode's id.
    ///
    /// Errors: `Usage` for the state `Open`, which ends nothing; those of [`Engine::log_episode`].
    pub fn finish_task(
        &self,
        id: &str,
        state: TaskState,
        agent: Option<String>,
        approach: Option<String>,
        outcome: Option<String>,
    ) -> Result<RecordId, Fault> {
        let action = match state {
            TaskState::Done => EpisodeAction::Completed,
            TaskState::Failed => EpisodeAction::Failed,
            TaskState::Open => return Err(Fault::usage("a task that is open has not ended")),
        };
        let said = TaskChange {
            state: Some(state),
            blocked_reason: (state == TaskState::Done).then(String::new),
            ..TaskChange::default()
        };
        let mut new = NewEpisode::of(id, action);
        new.scope.agent = agent;
        new.approach = approach;
        new.outcome = outcome;
        let task = self.task_change(id, &said, &source_of(&new))?;
        let put = self.episode_change(new)?;
        Ok(last(&self.apply(&[task, put])?)?.id)
    }

    /// The change that writes the episode of one iteration: told again it changes nothing, told otherwise the
    /// new words take the place of the old ones.
    pub(super) fn iteration_change(
        &self,
        task: &str,
        scope: &Scope,
        outcome: &Outcome,
        source: &str,
    ) -> Result<Change, Fault> {
        let action = action_of(outcome);
        let approach = said("approach", outcome.approach.clone())?;
        let approach = approach.map(|approach| self.clean(&approach).into_owned());
        let why = outcome.error.as_deref().or(outcome.message.as_deref());
        let why = why.map(str::trim).filter(|why| !why.is_empty());
        let why = why.map(|why| self.clean(&end_of(why)).into_owned());
        let scope = self.clean_scope(scope.clone());
        let begin = match scope.iteration {
            Some(n) => format!("iteration {n} of {task} {}", action.as_str()),
            None => format!("{} {task}", action.as_str()),
        };
        // An approach comes first: it is what `tried` looks for.
        let parts = [approach.as_deref(), Some(begin.as_str()), why.as_deref()];
        let words = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
        let key = scope.iteration.map(|n| Episode::key(&scope, n));
        let mut record = self.draft(Kind::Episode, &words, scope, source);
        record.key = key;
        record.attrs = Episode {
            approach,
            outcome: why,
            duration_ms: outcome.duration_ms,
            tokens_in: outcome.tokens_in,
            tokens_out: outcome.tokens_out,
            ..Episode::of_action(action)
        }
        .to_attrs();
        Ok(Change::Put {
            record: Box::new(record),
            merge: Merge::Replace,
        })
    }

    /// Checks an approach before it is gone by. Errors: `Usage` for one over the cap.
    pub(super) fn check_approach(approach: Option<&str>) -> Result<(), Fault> {
        said("approach", approach.map(str::to_owned)).map(drop)
    }

    fn episode_change(&self, new: NewEpisode) -> Result<Change, Fault> {
        check_scope(&new.scope)?;
        let source = source_of(&new);
        let approach = said("approach", new.approach)?;
        let outcome = said("outcome", new.outcome)?;
        let task = new.scope.task.as_deref().unwrap_or_default();
        let words = match (&approach, &outcome) {
            (Some(approach), Some(outcome)) => format!("{approach}: {outcome}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => format!("{} {task}", new.action.as_str()),
        };
        let mut record = self.draft(Kind::Episode, &words, new.scope, &source);
        record.attrs = Episode {
            approach,
            outcome,
            duration_ms: new.duration_ms,
            tokens_in: new.tokens_in,
            tokens_out: new.tokens_out,
            ..Episode::of_action(new.action)
        }
        .to_attrs();
        Ok(Change::Put {
            record: Box::new(record),
            merge: Merge::Replace,
        })
    }

    /// The episodes that `filter` asks for, newest first.
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

    /// What worked and what did not, over the episodes of `task` or over all.
    pub fn analytics(&self, task: Option<&str>) -> Result<Analytics, Fault> {
        let filter = EpisodeFilter {
            task: task.map(str::to_owned),
            ..EpisodeFilter::default()
        };
        let mut episodes = Vec::new();
        self.each_episode(&filter, &mut |record| {
            episodes.extend(Episodic::of(&record));
            true
        })?;
        let typed = |task: &Record| Some((task.key.clone()?, task.attr_str("type")?.to_owned()));
        let tasks = match task {
            Some(task) => self.task_record(task)?.into_iter().collect(),
            None => self.tasks()?,
        };
        let types: BTreeMap<_, _> = tasks.iter().filter_map(typed).collect();
        Ok(analytics::analyse(&episodes, &types))
    }

    /// The same over the newest episodes since a time, at most so many; and these, newest first.
    pub fn analytics_since(
        &self,
        since: Timestamp,
        most: usize,
    ) -> Result<(Analytics, Vec<Record>), Fault> {
        let filter = Filter {
            recorded_from: Some(since),
            ..Filter::current(&[Kind::Episode], self.now())
        };
        let found = self.find(&filter.limit(most))?;
        let episodes: Vec<_> = found.iter().filter_map(Episodic::of).collect();
        Ok((analytics::analyse(&episodes, &BTreeMap::new()), found))
    }

    /// Calls `each` with every episode that `filter` asks for, newest first, until it says `false`.
    fn each_episode(
        &self,
        filter: &EpisodeFilter,
        each: &mut dyn FnMut(Record) -> bool,
    ) -> Result<(), Fault> {
        let mut question = Filter::current(&[Kind::Episode], self.now())
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
            let page = self.find(&question)?;
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

    /// Episodes that are older than they are kept, oldest first: but for failures of tasks that no later
    /// success made up for.
    pub(super) fn old_episodes(&self) -> Result<Vec<RecordId>, Fault> {
        let Some(border) = self.border(self.settings.retention.episodes_days) else {
            return Ok(Vec::new());
        };
        // From the newest to the oldest, so that a success is seen before the failures that it made up for.
        let mut succeeded = std::collections::HashSet::new();
        let mut old = Vec::new();
        let mut all = Vec::new();
        self.each_episode(&EpisodeFilter::default(), &mut |record| {
            all.extend(Episodic::of(&record));
            true
        })?;
        all.sort_by_key(|one| std::cmp::Reverse((one.at, one.id)));
        for one in all {
            if one.action == Some(EpisodeAction::Completed) {
                succeeded.insert(one.task.clone());
            }
            let is_lesson =
                one.action == Some(EpisodeAction::Failed) && !succeeded.contains(&one.task);
            if one.at < border && !is_lesson {
                old.push(one.id);
            }
        }
        old.reverse();
        Ok(old)
    }

    /// The time before which something is older than `days`; `None` if it is kept for good.
    pub(super) fn border(&self, days: u32) -> Option<Timestamp> {
        let kept_s = i64::from(days) * 86_400;
        let border_s = self.now().as_second().saturating_sub(kept_s);
        (days > 0).then(|| heirloom_model::clock::from_micros(border_s.saturating_mul(1_000_000)))
    }
}

/// What an iteration did, as an episode says it.
fn action_of(outcome: &Outcome) -> EpisodeAction {
    match (outcome.status, outcome.success) {
        (AgentStatus::Complete, true) => EpisodeAction::Completed,
        (AgentStatus::Partial, true) => EpisodeAction::Attempted,
        // Interrupted: nobody says that it failed.
        (AgentStatus::Partial, false) if outcome.error.is_none() => EpisodeAction::Attempted,
        (AgentStatus::Complete | AgentStatus::Partial, false)
        | (AgentStatus::Blocked | AgentStatus::Failed, _) => EpisodeAction::Failed,
    }
}

fn source_of(new: &NewEpisode) -> String {
    let said = new.source.clone().or_else(|| new.scope.agent.clone());
    said.unwrap_or_else(|| USER.to_owned())
}

/// A text that somebody gave, if there is anything in it.
fn said(what: &str, text: Option<String>) -> Result<Option<String>, Fault> {
    let text = text.map(|text| text.trim().to_owned());
    let text = text.filter(|text| !text.is_empty());
    let most = limits::EPISODE_TEXT_BYTES_MAX;
    match text {
        Some(text) if text.len() > most => Err(Fault::usage(format!(
            "the {what} has {} bytes; at most {most} are allowed",
            text.len()
        ))
        .hint(
            "say it in a sentence; what is long belongs into a file, see `heirloom artifact add`",
        )),
        text => Ok(text),
    }
}
