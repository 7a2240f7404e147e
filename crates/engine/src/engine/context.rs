//! Context assembly: loads the records of a prompt and renders them.

mod echoes;
mod eligible_records;
mod envelope;
pub(super) mod item_text;
mod outdated_records;
pub(super) mod past_attempts;
mod pinned_records;
mod standing_rules;

use super::Engine;
use super::ended_records::EndedRecords;
use super::new_record::check_scope;
use super::tasks::TASK_MAIN;
pub(super) use echoes::Echoes;
pub(super) use eligible_records::{is_eligible, is_valid_at};
use heirloom_fs::project_fs::{is_derived_name, is_path_name, project_name};
use heirloom_model::context::{Context, MemoryView, TaskView};
use heirloom_model::kinds::{CATEGORY_DECISION, Task};
use heirloom_model::settings::ContextSelection;
use heirloom_model::{Budget, Fault, Record, RecordId, Scope, limits};
use heirloom_prompt::context;
use item_text::{error_item, fact_item, meaning_item, plain_item};
pub(super) use outdated_records::outdated_records;
pub(super) use standing_rules::{RULE_CATEGORIES, is_standing_rule};
use std::borrow::Cow;
use std::collections::HashSet;

/// Parameters of a context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextRequest {
    /// The current task.
    pub task: Option<String>,
    /// The current phase; the last phase of the task by default.
    pub phase: Option<String>,
    /// The budget; the configured one by default.
    pub budget: Option<Budget>,
    /// The agent that gets the prompt.
    pub agent: Option<String>,
    /// The plan, `PLAN` or `STAGE/PLAN`.
    pub plan: Option<String>,
    /// The group.
    pub group: Option<String>,
    /// The session that continues.
    pub session: Option<String>,
    /// Additional query to the memory.
    pub query: Option<String>,
    /// Prompt to which the context is added. Texts that only repeat it are left out.
    pub prompt: Option<String>,
    /// The agent with directives: `coder[input:a.md][tail:50]`.
    pub invocation: Option<String>,
    /// Returns the standing instructions (persona, SOUL.md, AGENTS.md) as [`Context::rules`] instead of in the text,
    /// because people wrote them as rules and the text is data.
    pub separate_rules: bool,
}

impl ContextRequest {
    /// Returns the plan without its stage.
    pub(super) fn plan(&self) -> Option<&str> {
        let plan = self.plan.as_deref()?;
        Some(heirloom_model::PlanName::parse(plan).plan)
    }

    /// Returns true for an invocation for a purpose; such contexts also describe the project itself.
    pub(super) fn is_invocation(&self) -> bool {
        [&self.agent, &self.plan, &self.group, &self.query]
            .iter()
            .any(|value| value.is_some())
    }
}

/// Assembly of contexts, injection of files, and receipts of what was sent.
#[derive(Clone, Copy)]
pub struct Contexts<'e> {
    pub(super) engine: &'e Engine,
}

impl Contexts<'_> {
    /// Builds the context of the next prompt, with a receipt and within the budget. Empty when memory is off.
    ///
    /// Session Memory comes first, then what the directives of the invocation name, which is guaranteed up to the
    /// budget, then the configured sources. A source that fails becomes a note.
    ///
    /// The budget is the smaller one of the request and its invocation, otherwise the configured one. Errors: `Usage`
    /// for a budget over its limit or an invalid plan name; those of [`Self::inject`].
    pub fn build(&self, request: &ContextRequest) -> Result<Context, Fault> {
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
        let budget = budget.unwrap_or(self.engine.settings.context_budget);
        if budget.chars() > limits::CONTEXT_BUDGET_CHARS_MAX {
            return Err(Fault::usage(format!(
                "a budget of {} characters; at most {} are allowed",
                budget.chars(),
                limits::CONTEXT_BUDGET_CHARS_MAX
            )));
        }
        if !self.engine.settings.enabled {
            return Ok(Context {
                text: String::new(),
                rules: String::new(),
                budget,
                sections: Vec::new(),
                notes: Vec::new(),
            });
        }
        let ended = EndedRecords::new(self.engine, request.session.as_deref())?;
        let injected = injected.as_ref();
        let mut context = match self.engine.settings.context_selection {
            ContextSelection::Worth => {
                let is_explicit =
                    self.engine.settings.has_own_budget || budgets.iter().any(Option::is_some);
                self.build_by_worth(&request, injected, budget, is_explicit, &ended)?
            }
            ContextSelection::Priority => {
                let view = self.memory_view(&request, budget, &ended)?;
                let prefixes = self.signal_prefixes();
                let mut sections = self.directive_sections(&request, injected);
                let memory = context::render_with_named(&sections, &view, budget, &prefixes);
                sections.extend(self.sections(&request, injected, &view, &memory, &ended));
                context::add_sources(memory, &sections, &prefixes)
            }
        };
        context.sections.extend(ended.receipt_section());
        Ok(context)
    }

    /// Returns all prefixes of signals and status lines.
    pub fn signal_prefixes(&self) -> Vec<String> {
        let settings = &self.engine.settings;
        settings
            .memory_prefixes
            .iter()
            .chain(&settings.status_prefixes)
            .cloned()
            .collect()
    }

    fn memory_view(
        &self,
        request: &ContextRequest,
        budget: Budget,
        ended: &EndedRecords<'_>,
    ) -> Result<MemoryView, Fault> {
        let task = request.task.as_deref();
        let entries = self.engine.settings.max_entries;
        let pinned = self.pinned_records(task.unwrap_or(TASK_MAIN))?;
        let pins: HashSet<RecordId> = pinned.iter().map(|record| record.id).collect();
        let rest = |record: &Record| is_eligible(record) && !pins.contains(&record.id);
        let errors = self.newest_open_errors(task, entries, &rest, ended)?;
        let (mut decisions, decisions_go_on) =
            self.newest_knowledge(Some(CATEGORY_DECISION), entries)?;
        let (mut facts, facts_go_on) = self.newest_facts(budget.chars())?;
        let outdated = outdated_records(pinned.iter().chain(&decisions).chain(&facts));
        let ended = ended.among(decisions.iter().chain(&facts))?;
        let rest = |record: &Record| {
            rest(record) && !outdated.contains(&record.id) && !ended.contains(&record.id)
        };
        decisions.retain(rest);
        facts.retain(rest);
        let id = task.unwrap_or(TASK_MAIN);
        let (described, files): (Vec<_>, Vec<_>) =
            (self.engine.tasks().artifacts_of(id)?.into_iter())
                .partition(past_attempts::is_described);
        Ok(MemoryView {
            task: task_view(self.engine, id, request.phase.as_deref(), files)?,
            pinned: pinned.into_iter().map(fact_item).collect(),
            errors: errors.into_iter().map(error_item).collect(),
            decisions: decisions.iter().map(meaning_item).collect(),
            has_more_decisions: decisions_go_on,
            facts: facts.into_iter().map(fact_item).collect(),
            has_more_facts: facts_go_on,
            attempts: past_attempts::attempt_items(self.engine, id, &Echoes::of_request(request))?,
            artifacts: past_attempts::artifact_items(&described),
        })
    }

    /// Returns the address of the project's repository if it is known, otherwise the project's name. A remote may be
    /// newer than the name.
    pub fn repository_name(&self) -> String {
        let name = self.engine.project.as_str();
        let remote = is_derived_name(name).then(|| project_name(&self.engine.root, None));
        let remote = remote.filter(|remote| !is_path_name(remote));
        remote.unwrap_or_else(|| name.to_owned())
    }
}

/// Returns a task with its steps and files; `None` if nothing is known of it.
pub(super) fn task_view(
    engine: &Engine,
    id: &str,
    phase: Option<&str>,
    files: Vec<Record>,
) -> Result<Option<TaskView>, Fault> {
    let record = engine.tasks().task_record(id)?;
    let [mut completed, mut pending] = engine.tasks().steps(id)?;
    let mut files = files;
    for list in [&mut completed, &mut pending, &mut files] {
        list.retain(is_eligible);
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
        title: match (attr("type").as_deref(), attr("title")) {
            // Its name has no meaning.
            (None, title) if id == TASK_MAIN => title.unwrap_or_default(),
            (task_type, None) => Task::title(id, task_type),
            (task_type, Some(title)) => format!("{}: {title}", Task::title(id, task_type)),
        },
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
