//! List of tasks, with filters by state, agent and words.

use super::TaskStatus;
use super::task_state::FailingTasks;
use crate::App;
use crate::page::filter_links::{self, contains_words, count_values, list_address};
use crate::page::request_context::times;
use crate::page::view::filters::FilterLink;
use crate::page::view::tasks::{TaskListView, TaskRow};
use crate::page::view::{Times, number, plural};
use crate::page::{PageError, RequestContext, Shell, record_label, render, task_title};
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_engine::{Engine, Filter};
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::{Fault, Kind, Permission, Record, RecordId, Session, text};
use serde::Deserialize;
use std::collections::HashMap;

/// Page size.
const PAGE: usize = 40;
/// Maximum number of tasks that are read and counted, newest first.
const READ: usize = 10_000;
/// Maximum number of sessions that are searched for the agents and the first session of tasks, newest first.
const SESSIONS_READ: usize = 10_000;
/// Maximum number of tasks without a given title whose first prompt is read to search for words, newest first.
const PROMPTS_READ: usize = 500;
/// Maximum number of agents with a filter, most frequent first.
const AGENTS: usize = 8;
/// Maximum number of characters of the words to search for.
const QUERY_CHARS: usize = 200;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TaskListParams {
    state: String,
    agent: String,
    q: String,
    after: String,
}

impl TaskListParams {
    /// Returns the address of the list with another state and agent.
    fn address(&self, state: &str, agent: &str) -> String {
        list_address(
            "/tasks",
            &[("q", &self.q), ("state", state), ("agent", agent)],
        )
    }
}

/// Shows the list.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(mut params): Query<TaskListParams>,
) -> Result<Response, PageError> {
    params.q = text::clip(params.q.trim(), QUERY_CHARS).to_owned();
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| load(engine, &context, &params));
    render(&view.await?)
}

/// Task with what the filters compare.
struct ListedTask {
    record: Record,
    status: TaskStatus,
    /// Agents of its sessions and of its last change.
    agents: Vec<String>,
    /// Its given title, or the first prompt of its first session.
    title: Option<String>,
    first_session: Option<Session>,
}

impl ListedTask {
    /// Returns true if the task has no given title, and a session whose first prompt was not read.
    fn has_unread_prompt(&self) -> bool {
        self.title.is_none() && self.first_session.is_some()
    }

    fn has_words(&self, query: &str) -> bool {
        let record = &self.record;
        let branch = record.attr_str("branch").unwrap_or_default();
        let key = record.key.as_deref().unwrap_or_default();
        let title = self.title.as_deref().unwrap_or_default();
        let phase = record.scope.phase.as_deref().unwrap_or_default();
        let reason = record.attr_str("blocked_reason").unwrap_or_default();
        let all = [key, &record.text, title, branch, phase, reason].join("\n");
        contains_words(&all, query)
    }

    fn has_agent(&self, agent: &str) -> bool {
        agent.is_empty() || self.agents.iter().any(|one| one == agent)
    }

    fn has_state(&self, state: &str) -> bool {
        state.is_empty() || self.status.key() == state
    }
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    params: &TaskListParams,
) -> Result<TaskListView, Fault> {
    let times = times(engine);
    let after = match params.after.as_str() {
        "" => None,
        given => Some(engine.records().resolve_id(given)?),
    };
    let (records, is_all) = read_window(engine, after)?;
    let mut tasks = listed_tasks(engine, records)?;
    let window_end = tasks.last().map(|task| task.record.id);
    let headline = headline(&tasks, is_all);
    let is_empty = tasks.is_empty() && after.is_none();
    let mut is_cut = false;
    if !params.q.is_empty() {
        let untitled = tasks.iter_mut().filter(|task| task.has_unread_prompt());
        for task in untitled.take(PROMPTS_READ) {
            load_title(engine, task)?;
        }
        is_cut = tasks.iter().any(ListedTask::has_unread_prompt);
        tasks.retain(|task| task.has_words(&params.q));
    }
    let (states, agents) = (state_links(&tasks, params), agent_links(&tasks, params));
    let shown = tasks
        .iter_mut()
        .filter(|task| task.has_state(&params.state) && task.has_agent(&params.agent))
        .skip_while(|task| after.is_some_and(|after| task.record.id >= after));
    let mut shown = shown.peekable();
    let mut rows = Vec::new();
    let mut last = None;
    while let Some(task) = shown.next_if(|_| rows.len() < PAGE) {
        load_title(engine, task)?;
        last = Some(task.record.id);
        rows.push(task_row(task, &times));
    }
    let next = match (shown.peek(), is_all) {
        (Some(_), _) => last,
        (None, false) => window_end,
        (None, true) => None,
    };
    Ok(TaskListView {
        shell: Shell::load(engine, context, "tasks", "Tasks")?,
        headline,
        query: params.q.clone(),
        state: params.state.clone(),
        agent: params.agent.clone(),
        nothing: nothing_found(params, is_all),
        note: match (is_cut, is_all) {
            (true, _) => format!(
                "Titles that are first prompts were searched in the newest {} tasks that have one.",
                number(PROMPTS_READ as u64)
            ),
            (false, false) => format!(
                "The filters count {} tasks; the pages go on with older ones.",
                number(READ as u64)
            ),
            (false, true) => String::new(),
        },
        is_empty,
        states,
        agents,
        rows,
        newest: match after {
            Some(_) => params.address(&params.state, &params.agent),
            None => String::new(),
        },
        next: next.map_or_else(String::new, |id| {
            let address = params.address(&params.state, &params.agent);
            let joint = if address.contains('?') { '&' } else { '?' };
            format!("{address}{joint}after={id}")
        }),
    })
}

/// Reads the newest tasks, or those after this one if it is not among them; the flag is true if there are no older ones.
fn read_window(engine: &Engine, after: Option<RecordId>) -> Result<(Vec<Record>, bool), Fault> {
    let filter = Filter::current(&[Kind::Task], engine.now()).limit(READ);
    let newest = engine.records().find(&filter)?;
    let is_beyond = |last: &Record| after.is_some_and(|after| after <= last.id);
    let found = match newest.last().is_some_and(is_beyond) && newest.len() == READ {
        true => engine.records().find(&Filter { after, ..filter })?,
        false => newest,
    };
    let is_all = found.len() < READ;
    Ok((found, is_all))
}

fn listed_tasks(engine: &Engine, records: Vec<Record>) -> Result<Vec<ListedTask>, Fault> {
    let mut sessions: HashMap<String, Vec<Session>> = HashMap::new();
    for session in engine.sessions().sessions_of(None, SESSIONS_READ)? {
        if let Some(task) = session.task.clone() {
            sessions.entry(task).or_default().push(session);
        }
    }
    let failing = FailingTasks::load(engine)?;
    let mut tasks = Vec::with_capacity(records.len());
    for record in records {
        let mut own = sessions
            .remove(record.key.as_deref().unwrap_or_default())
            .unwrap_or_default();
        let by_source = (!can_arbitrate(&record.source)).then(|| record.source.clone());
        let by_session = own.iter().filter_map(|session| session.agent.clone());
        let mut agents: Vec<String> = by_session
            .chain(record.scope.agent.clone())
            .chain(by_source)
            .map(|agent| record_label::source_label(&agent))
            .collect();
        agents.sort_unstable();
        agents.dedup();
        tasks.push(ListedTask {
            status: failing.status(engine, &record)?,
            title: task_title::given_title(&record),
            first_session: own.pop(),
            agents,
            record,
        });
    }
    Ok(tasks)
}

/// Loads the title of a task without a given one.
fn load_title(engine: &Engine, task: &mut ListedTask) -> Result<(), Fault> {
    if task.title.is_none() {
        let first = task.first_session.take();
        task.title = task_title::title_of_session(engine, first.as_ref())?;
    }
    Ok(())
}

fn headline(tasks: &[ListedTask], is_all: bool) -> String {
    let of_group = |(key, label): (&str, &str)| {
        let n = tasks.iter().filter(|task| task.status.key() == key).count();
        (n > 0).then(|| format!("{} {}", number(n as u64), label.to_lowercase()))
    };
    let groups: Vec<String> = TaskStatus::GROUPS
        .into_iter()
        .filter_map(of_group)
        .collect();
    match (tasks.len(), is_all) {
        (0, _) => "No task yet.".to_owned(),
        (n, true) => format!("{}: {}.", plural(n, "task", "tasks"), groups.join(", ")),
        (n, false) => format!("Of {} tasks: {}.", number(n as u64), groups.join(", ")),
    }
}

fn state_links(tasks: &[ListedTask], params: &TaskListParams) -> Vec<FilterLink> {
    let of_agent = || tasks.iter().filter(|task| task.has_agent(&params.agent));
    let all = FilterLink {
        label: "All".to_owned(),
        href: params.address("", &params.agent),
        count: of_agent().count(),
        is_selected: params.state.is_empty(),
    };
    let link = |(key, label): (&'static str, &'static str)| FilterLink {
        label: label.to_owned(),
        href: params.address(key, &params.agent),
        count: of_agent().filter(|task| task.status.key() == key).count(),
        is_selected: params.state == key,
    };
    let links = TaskStatus::GROUPS.into_iter().map(link);
    filter_links::keep_useful_links(std::iter::once(all).chain(links).collect())
}

fn agent_links(tasks: &[ListedTask], params: &TaskListParams) -> Vec<FilterLink> {
    let of_state = tasks.iter().filter(|task| task.has_state(&params.state));
    let names = of_state.clone().flat_map(|task| &task.agents);
    let mut counts = count_values(names.map(String::as_str));
    counts.truncate(AGENTS);
    if !params.agent.is_empty() && !counts.iter().any(|(name, _)| *name == params.agent) {
        counts.push((params.agent.clone(), 0));
    }
    let all = FilterLink {
        label: "All agents".to_owned(),
        href: params.address(&params.state, ""),
        count: of_state.count(),
        is_selected: params.agent.is_empty(),
    };
    let link = |(name, count): (String, usize)| FilterLink {
        href: params.address(&params.state, &name),
        is_selected: name == params.agent,
        label: text::replace_control_chars(&name),
        count,
    };
    let links = std::iter::once(all).chain(counts.into_iter().map(link));
    filter_links::keep_useful_links(links.collect())
}

/// Returns the sentence for a list that is empty because of its filters.
fn nothing_found(params: &TaskListParams, is_all: bool) -> String {
    let mut what = match params.state.as_str() {
        "" => "No task".to_owned(),
        "phase" => "No task in progress".to_owned(),
        state => format!("No {} task", text::replace_control_chars(state)),
    };
    if !params.agent.is_empty() {
        what.push_str(&format!(
            " of {}",
            text::replace_control_chars(&params.agent)
        ));
    }
    if !params.q.is_empty() {
        what.push_str(&format!(
            " with “{}”",
            text::replace_control_chars(&params.q)
        ));
    }
    match is_all {
        true => format!("{what}."),
        false => format!("{what} among {} tasks.", number(READ as u64)),
    }
}

fn task_row(task: &ListedTask, times: &Times) -> TaskRow {
    let record = &task.record;
    let (class, icon) = task.status.style();
    let mut meta = Vec::new();
    if task.title.is_some() {
        meta.push(text::replace_control_chars(&record.text));
    }
    match task.agents.as_slice() {
        [] => meta.push(record_label::source_label(&record.source)),
        agents => meta.push(agents.join(", ")),
    }
    let branch = record.attr_str("branch").filter(|name| !name.is_empty());
    meta.extend(branch.map(text::replace_control_chars));
    if let TaskStatus::Blocked(why) = &task.status {
        meta.push(text::excerpt(why, 160));
    }
    TaskRow {
        id: record.id.to_string(),
        href: record_label::task_href(record.key.as_deref().unwrap_or_default()),
        title: task_title::labelled_title(record, task.title.as_deref()),
        meta,
        state: task.status.label(),
        class,
        icon,
        at: times.brief(record.recorded_at),
    }
}
