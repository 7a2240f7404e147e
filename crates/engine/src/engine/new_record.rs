//! Input for a new record: its validation, kind, key and merge rule.

use heirloom_model::conflict::can_arbitrate;
use heirloom_model::kinds::{
    Artifact, CATEGORY_FACT, ErrorRecord, Knowledge, Note, Output, Step, StepState, Summary, Task,
};
use heirloom_model::record::{self, Attrs, BadName, check_name};
use heirloom_model::{
    Confidence, ConflictPolicy, Fault, Kind, KindData, MergeRule, PlanName, RecordId, Scope,
    Timestamp, text,
};
use heirloom_store::Verdict;

/// New record. Only the text is required; the rest has defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewRecord {
    /// Text.
    pub text: String,
    /// Kind; knowledge by default.
    pub kind: Option<Kind>,
    /// Category of knowledge and notes; `fact` by default.
    pub category: Option<String>,
    /// Key; derived from the text by default.
    pub key: Option<String>,
    /// Confidence; by default 1.0 for `user` and `orchestrator`, 0.8 for others.
    pub confidence: Option<f64>,
    /// Source; `user` by default.
    pub source: Option<String>,
    /// Reason of a decision.
    pub rationale: Option<String>,
    /// Scope.
    pub scope: Scope,
    /// Start of validity.
    pub true_from: Option<Timestamp>,
    /// End of validity.
    pub true_to: Option<Timestamp>,
    /// True for bookkeeping: data of a program that no prompt and no search shows.
    pub machine: bool,
}

/// Report of a remembered record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberReport {
    /// Id of the new record, or of the current one that was confirmed.
    pub id: RecordId,
    /// Verdict of the store.
    pub verdict: Verdict,
    /// Winner, if it lost a conflict.
    pub winner: Option<RecordId>,
    /// Record that it replaced, or that lost a conflict to it.
    pub replaced: Option<RecordId>,
    /// Kinds of the redacted secrets.
    pub redacted: Vec<String>,
}

/// Refuses invalid names in a scope.
pub(super) fn check_scope(scope: &Scope) -> Result<(), Fault> {
    record::check_scope(scope).map_err(|bad| name_fault(&bad))
}

/// Converts an invalid name into a usage error.
pub(super) fn name_fault(error: &BadName) -> Fault {
    Fault::usage(error.to_string())
}

/// Returns the confidence of a new record, by default that of its source.
pub(super) fn validated_confidence(given: Option<f64>, source: &str) -> Result<Confidence, Fault> {
    let Some(value) = given else {
        return Ok(Confidence::of_source(source));
    };
    Confidence::new(value).ok_or_else(|| {
        Fault::usage(format!("confidence {value} is outside 0..1")).hint("0 = a guess, 1 = certain")
    })
}

/// Kind-specific parts of a new record.
pub(super) struct KindParts {
    pub(super) kind: Kind,
    pub(super) key: Option<String>,
    pub(super) attrs: Attrs,
    pub(super) merge: MergeRule,
}

/// Derives the kind-specific parts of a new record.
pub(super) fn kind_parts(
    new: &NewRecord,
    text: &str,
    source: &str,
    policy: ConflictPolicy,
) -> Result<KindParts, Fault> {
    let kind = new.kind.unwrap_or(Kind::Knowledge);
    let task = new.scope.task.as_deref();
    let given = new
        .key
        .as_deref()
        .map(|key| text::to_composed(key.trim()))
        .filter(|key| !key.is_empty());
    let given = given.as_deref();
    let (key, attrs, merge) = match kind {
        Kind::Knowledge => knowledge(new, text, source, given, policy)?,
        Kind::Task => {
            let id = given.or(task).unwrap_or(text);
            check_name("task", id).map_err(|e| name_fault(&e))?;
            (
                Some(id.to_owned()),
                Task::default().to_attrs(),
                MergeRule::Task,
            )
        }
        Kind::Step => (
            Some(Step::key(text, task)),
            Step::with_state(StepState::Pending).to_attrs(),
            MergeRule::Step,
        ),
        Kind::Error => {
            let key = ErrorRecord::key(text, task, new.scope.phase.as_deref());
            (Some(key), ErrorRecord::open().to_attrs(), MergeRule::Error)
        }
        Kind::Artifact => (
            Some(Artifact::key(text, task)),
            Artifact::file(text).to_attrs(),
            MergeRule::Replace,
        ),
        Kind::Output => {
            let plan = new.scope.plan.as_deref().unwrap_or("");
            let plan = PlanName::parse(plan).plan;
            let agent = new.scope.agent.as_deref().unwrap_or(source);
            (
                Some(Output::key(plan, agent)),
                Output::default().to_attrs(),
                MergeRule::Replace,
            )
        }
        Kind::Note => {
            let category = new.category.clone().unwrap_or_else(|| "Notes".to_owned());
            (
                None,
                Note {
                    category,
                    extra: Attrs::new(),
                }
                .to_attrs(),
                MergeRule::Replace,
            )
        }
        Kind::Summary => (None, Summary::default().to_attrs(), MergeRule::Replace),
        Kind::Episode => {
            return Err(
                Fault::usage("an episode has an action and an approach").hint(
                    "`heirloom episode log` records one, `heirloom outcome` how an iteration ended",
                ),
            );
        }
    };
    Ok(KindParts {
        kind,
        key,
        attrs,
        merge,
    })
}

fn knowledge(
    new: &NewRecord,
    text: &str,
    source: &str,
    given: Option<&str>,
    policy: ConflictPolicy,
) -> Result<(Option<String>, Attrs, MergeRule), Fault> {
    let category = new.category.as_deref().unwrap_or(CATEGORY_FACT);
    check_name("category", category).map_err(|e| name_fault(&e))?;
    let mut knowledge = Knowledge::with_category(category);
    knowledge.rationale = new.rationale.clone().filter(|why| !why.trim().is_empty());
    knowledge.proposal = !can_arbitrate(source);
    let key = given.map_or_else(|| Knowledge::derive_key(text), str::to_owned);
    Ok((
        Some(key),
        knowledge.to_attrs(),
        MergeRule::Knowledge(policy),
    ))
}
