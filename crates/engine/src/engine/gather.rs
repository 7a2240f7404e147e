//! From the store to a context: loads what Session Memory may say, and lets the context room render it.

mod past;

use super::Engine;
use super::new_record::check_scope;
use super::tasks::TASK_MAIN;
use crate::context;
use heirloom_model::context::{Context, ErrorItem, Item, MemoryView, TaskView};
use heirloom_model::kinds::{CATEGORY_DECISION, Knowledge, Mistake, Task};
use heirloom_model::{Budget, Fault, Kind, Record, RecordId, Scope, Timestamp, limits, mark, text};
use heirloom_store::Filter;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Which context is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextRequest {
    /// The current task.
    pub task: Option<String>,
    /// The current phase, if it is not the one that the task was last in.
    pub phase: Option<String>,
    /// The budget; the configured one if it is not said.
    pub budget: Option<Budget>,
    /// The agent that is asked.
    pub agent: Option<String>,
    /// The plan that it works on, `PLAN` or `STAGE/PLAN`.
    pub plan: Option<String>,
    /// The group that it belongs to.
    pub group: Option<String>,
    /// The session that goes on.
    pub session: Option<String>,
    /// What memory is asked for besides.
    pub query: Option<String>,
    /// The agent that is asked, with directives: `coder[input:a.md][tail:50]`.
    pub invocation: Option<String>,
}

impl ContextRequest {
    /// The plan without its stage.
    pub(super) fn plan(&self) -> Option<&str> {
        let plan = self.plan.as_deref()?;
        Some(plan.rsplit_once('/').map_or(plan, |(_, plan)| plan))
    }

    /// Whether somebody is called for something: then the project itself is told of, not only what is remembered.
    pub(super) fn is_invocation(&self) -> bool {
        [&self.agent, &self.plan, &self.group, &self.query]
            .iter()
            .any(|said| said.is_some())
    }
}

impl Engine {
    /// The context for the next prompt: never over its budget, with a receipt. Empty when memory is off.
    ///
    /// Session Memory comes first; behind it the sources of the settings' table. A source that fails is a note.
    ///
    /// Of the budgets of the request and of its invocation the smaller one holds; without both that of the settings.
    /// Errors: `Usage` for a budget over its cap, or a plan whose name cannot be one; those of [`Engine::inject`].
    pub fn context(&self, request: &ContextRequest) -> Result<Context, Fault> {
        check_scope(&Scope {
            plan: request.plan.clone(),
            ..Scope::default()
        })?;
        let injected = match &request.invocation {
            Some(invocation) => Some(self.inject(invocation)?),
            None => None,
        };
        let mut request = Cow::Borrowed(request);
        if let (Some(injected), None) = (&injected, &request.agent) {
            request.to_mut().agent = Some(injected.agent.clone());
        }
        let budgets = [request.budget, injected.as_ref().and_then(|of| of.budget)];
        let budget = budgets.into_iter().flatten().min_by_key(|of| of.chars());
        let budget = budget.unwrap_or(self.settings.context_budget);
        if budget.chars() > limits::CONTEXT_BUDGET_CHARS_MAX {
            return Err(Fault::usage(format!(
                "a budget of {} characters; at most {} are allowed",
                budget.chars(),
                limits::CONTEXT_BUDGET_CHARS_MAX
            )));
        }
        if !self.settings.enabled {
            return Ok(Context {
                text: String::new(),
                budget,
                sections: Vec::new(),
                notes: Vec::new(),
            });
        }
        let view = self.memory_view(&request, budget)?;
        let prefixes = self.signal_prefixes();
        let memory = context::render(&view, budget, &prefixes);
        let sections = self.sections(&request, injected.as_ref(), &view, &memory);
        Ok(context::add_sources(memory, &sections, &prefixes))
    }

    /// Every prefix that begins a signal or a status line.
    pub(super) fn signal_prefixes(&self) -> Vec<String> {
        let settings = &self.settings;
        settings
            .memory_prefixes
            .iter()
            .chain(&settings.status_prefixes)
            .cloned()
            .collect()
    }

    fn memory_view(&self, request: &ContextRequest, budget: Budget) -> Result<MemoryView, Fault> {
        let task = request.task.as_deref();
        let entries = self.settings.max_entries;
        let mut pinned = self.pinned(task.unwrap_or(TASK_MAIN))?;
        pinned.retain(|record| is_heard(record) && holds(record, self.now()));
        let pins: HashSet<RecordId> = pinned.iter().map(|record| record.id).collect();
        let rest = |record: &Record| is_heard(record) && !pins.contains(&record.id);
        let errors = self.newest_open_errors(task, entries, &rest)?;
        let (mut decisions, decisions_go_on) =
            self.newest_knowledge(Some(CATEGORY_DECISION), entries)?;
        let (mut facts, facts_go_on) = self.newest_facts(budget.chars())?;
        decisions.retain(rest);
        facts.retain(rest);
        let id = task.unwrap_or(TASK_MAIN);
        let (described, files): (Vec<_>, Vec<_>) =
            (self.artifacts_of(id)?.into_iter()).partition(past::is_described);
        Ok(MemoryView {
            task: self.task_view(id, request.phase.as_deref(), files)?,
            pinned: pinned.into_iter().map(fact_item).collect(),
            errors: errors.into_iter().map(error_item).collect(),
            decisions: decisions.into_iter().map(plain_item).collect(),
            decisions_go_on,
            facts: facts.into_iter().map(fact_item).collect(),
            facts_go_on,
            tried: self.tried_items(id)?,
            artifacts: past::artifact_items(&described),
        })
    }

    /// The newest open errors that are to be told, oldest first: all, or those of `task` together with those of no
    /// task among the newest of all. However many are open, few are read.
    fn newest_open_errors(
        &self,
        task: Option<&str>,
        limit: usize,
        is_told: &dyn Fn(&Record) -> bool,
    ) -> Result<Vec<Record>, Fault> {
        let newest = Filter::current(&[Kind::Error], self.now())
            .state(Mistake::OPEN)
            .limit(limit.max(limits::CONTEXT_ERRORS_MIN));
        let mut errors = self.find(&newest)?;
        if let Some(task) = task {
            errors.retain(|error| error.scope.task.is_none());
            errors.extend(self.find(&newest.scope(Scope::of_task(task)))?);
            errors.sort_by_key(|error| Reverse(error.id));
        }
        errors.retain(is_told);
        errors.truncate(limit);
        errors.reverse();
        Ok(errors)
    }

    /// As many of the newest facts as may fit into so many characters, and whether there are more. They are read for
    /// their usual length first: that is enough, unless they are short.
    fn newest_facts(&self, chars: usize) -> Result<(Vec<Record>, bool), Fault> {
        let within = |each: usize| {
            (chars / each).clamp(limits::CONTEXT_FACTS_MIN, limits::CONTEXT_FACTS_MAX)
        };
        let (facts, go_on) = self.newest_knowledge(None, within(limits::CONTEXT_CHARS_PER_FACT))?;
        let known: usize = facts.iter().map(|fact| text::chars(&fact.text)).sum();
        let most = within(limits::CONTEXT_CHARS_PER_SHORT_FACT);
        if !go_on || known >= chars || facts.len() >= most {
            return Ok((facts, go_on));
        }
        self.newest_knowledge(None, most)
    }

    /// The newest knowledge of one category, or of every category but decisions, that holds now and is not
    /// disputed; oldest first. Also whether there is more of it than `limit`.
    fn newest_knowledge(
        &self,
        category: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Record>, bool), Fault> {
        let now = self.now();
        let filter = Filter::current(&[Kind::Knowledge], now)
            .holds_at(now)
            .limit(limit + 1);
        let mut found = self.find(&match category {
            Some(category) => filter.category(category),
            None => filter.except_category(CATEGORY_DECISION),
        })?;
        let goes_on = found.len() > limit;
        found.truncate(limit);
        found.reverse();
        Ok((found, goes_on))
    }

    fn task_view(
        &self,
        id: &str,
        phase: Option<&str>,
        files: Vec<Record>,
    ) -> Result<Option<TaskView>, Fault> {
        let record = self.task_record(id)?;
        let [mut completed, mut pending] = self.steps(id)?;
        let mut files = files;
        for list in [&mut completed, &mut pending, &mut files] {
            list.retain(is_heard);
        }
        let nothing_known = completed.is_empty() && pending.is_empty() && files.is_empty();
        if record.is_none() && nothing_known {
            return Ok(None);
        }
        let attr = |name| {
            record
                .as_ref()
                .and_then(|r| r.attr_str(name))
                .map(str::to_owned)
        };
        Ok(Some(TaskView {
            id: record.as_ref().map(|r| r.id),
            title: Task::title(id, attr("type").as_deref()),
            phase: phase
                .map(str::to_owned)
                .or_else(|| record.as_ref().and_then(|r| r.scope.phase.clone())),
            branch: attr("branch"),
            pr_number: record
                .as_ref()
                .and_then(|r| r.attrs.get("pr_number"))
                .and_then(serde_json::Value::as_u64),
            blocked_reason: attr("blocked_reason"),
            completed: completed.into_iter().map(plain_item).collect(),
            pending: pending.into_iter().map(plain_item).collect(),
            files: files.into_iter().map(plain_item).collect(),
        }))
    }
}

/// Whether nobody muted it.
fn is_heard(record: &Record) -> bool {
    !mark::is_muted(&record.attrs)
}

/// Whether it holds at `now`, as far as it says when it does.
fn holds(record: &Record, now: Timestamp) -> bool {
    record.true_from.is_none_or(|from| from <= now) && record.true_to.is_none_or(|to| to > now)
}

fn plain_item(record: Record) -> Item {
    Item {
        id: Some(record.id),
        text: record.text,
    }
}

fn fact_item(record: Record) -> Item {
    let named = record.category() == Some(heirloom_model::kinds::CATEGORY_CONVENTION);
    let text = match &record.key {
        Some(key) if named && !Knowledge::is_made_key(key) => format!("{key}: {}", record.text),
        Some(_) | None => record.text,
    };
    Item {
        id: Some(record.id),
        text,
    }
}

fn error_item(record: Record) -> ErrorItem {
    ErrorItem {
        id: Some(record.id),
        iteration: record.scope.iteration,
        phase: record.scope.phase,
        text: record.text,
    }
}
