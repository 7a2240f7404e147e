//! From what somebody says to a record: defaults, checks, keys, and the rule for meeting what is there.

use super::Engine;
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::kinds::{
    Artifact, CATEGORY_FACT, Knowledge, Mistake, Note, Output, Step, StepState, Summary, Task,
};
use heirloom_model::record::{Attrs, BadName, check_name};
use heirloom_model::{
    Confidence, ConflictPolicy, Fault, Kind, KindData, Merge, Record, RecordId, Scope, Timestamp,
    text,
};
use heirloom_store::{Change, Verdict};

/// What is to be remembered. Only the text is needed; the rest has defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewRecord {
    /// What is to be remembered.
    pub text: String,
    /// Its kind; knowledge if it is not said.
    pub kind: Option<Kind>,
    /// Its category (knowledge, notes); `fact` if it is not said.
    pub category: Option<String>,
    /// Its key; made from the text if it is not said.
    pub key: Option<String>,
    /// How sure the source is; 1.0 for `user` and `orchestrator`, 0.8 for anybody else, if it is not said.
    pub confidence: Option<f64>,
    /// Who says so; `user` if it is not said.
    pub source: Option<String>,
    /// Why, for decisions.
    pub rationale: Option<String>,
    /// Where it belongs.
    pub scope: Scope,
    /// From when on it holds.
    pub true_from: Option<Timestamp>,
    /// Until when it holds.
    pub true_to: Option<Timestamp>,
}

/// What became of something that was to be remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The record: the new one, or the current one that was confirmed.
    pub id: RecordId,
    /// What became of it.
    pub verdict: Verdict,
    /// Who won, if it lost a conflict.
    pub winner: Option<RecordId>,
    /// The kinds of the secrets without which it was kept.
    pub redacted: Vec<String>,
}

impl Engine {
    /// Remembers one thing; durable when it returns.
    ///
    /// Errors: `Usage` for an empty or over-long text, a bad name, a confidence outside 0 to 1 or a
    /// `true_to` before `true_from`; `Refused` when memory is off.
    pub fn remember(&self, new: NewRecord) -> Result<Remembered, Fault> {
        let mut remembered = self.remember_all(vec![new])?;
        remembered
            .pop()
            .ok_or_else(|| Fault::failed("the store did not answer a write"))
    }

    /// Remembers several things as one durable, atomic step; one answer each, in order.
    pub fn remember_all(&self, news: Vec<NewRecord>) -> Result<Vec<Remembered>, Fault> {
        let mut changes = Vec::with_capacity(news.len());
        let mut redacted = Vec::with_capacity(news.len());
        for new in news {
            let mut kinds = Vec::new();
            let new = self.clean_new(new, &mut kinds);
            changes.push(self.change_of_clean(&new)?);
            redacted.push(kinds);
        }
        let applied = self.apply(&changes)?;
        let answers = applied.into_iter().zip(redacted);
        let remembered = answers.map(|(one, redacted)| Remembered {
            id: one.id,
            verdict: one.verdict,
            winner: if one.verdict == Verdict::Conflict {
                one.other
            } else {
                None
            },
            redacted,
        });
        Ok(remembered.collect())
    }

    /// Redacts and checks what somebody says and makes it a change.
    pub fn change_of(&self, new: &NewRecord) -> Result<Change, Fault> {
        self.change_of_clean(&self.clean_new(new.clone(), &mut Vec::new()))
    }

    fn change_of_clean(&self, new: &NewRecord) -> Result<Change, Fault> {
        let said = new.text.trim();
        if said.is_empty() {
            return Err(
                Fault::usage("there is no text to remember").hint("heirloom remember \"TEXT\"")
            );
        }
        check_scope(&new.scope)?;
        let source = new.source.clone().unwrap_or_else(|| "user".to_owned());
        check_name("source", &source).map_err(|e| bad_name(&e))?;
        let confidence = checked_confidence(new.confidence, &source)?;
        if let (Some(from), Some(to)) = (new.true_from, new.true_to)
            && to < from
        {
            return Err(Fault::usage(format!(
                "true-to {to} lies before true-from {from}"
            )));
        }
        let typed = typed(new, said, &source, self.settings.conflict_policy)?;
        let mut record = self.draft(typed.kind, said, new.scope.clone(), &source);
        record.key = typed.key;
        record.attrs = typed.attrs;
        record.confidence = confidence;
        record.true_from = new.true_from;
        record.true_to = new.true_to;
        if record.kind == Kind::Task {
            record.scope.task.clone_from(&record.key);
        }
        Ok(Change::Put {
            record: Box::new(record),
            merge: typed.merge,
        })
    }

    /// A record with this text, an id and the current time; everything else at its default.
    pub(super) fn draft(&self, kind: Kind, said: &str, scope: Scope, source: &str) -> Record {
        let now = self.now();
        Record {
            project: self.project.clone(),
            id: self.ids.next(now),
            kind,
            key: None,
            text: said.to_owned(),
            attrs: Attrs::new(),
            scope,
            source: source.to_owned(),
            confidence: Confidence::of_source(source),
            tokens: u32::try_from(text::tokens(said)).unwrap_or(u32::MAX),
            recorded_at: now,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }
}

/// Refuses names in a scope that cannot be used.
pub(super) fn check_scope(scope: &Scope) -> Result<(), Fault> {
    for (what, name) in scope.names() {
        if let Some(name) = name {
            check_name(what, name).map_err(|e| bad_name(&e))?;
        }
    }
    Ok(())
}

/// A bad name as a usage error.
pub(super) fn bad_name(error: &BadName) -> Fault {
    Fault::usage(error.to_string())
}

fn checked_confidence(given: Option<f64>, source: &str) -> Result<Confidence, Fault> {
    let Some(value) = given else {
        return Ok(Confidence::of_source(source));
    };
    Confidence::new(value).ok_or_else(|| {
        Fault::usage(format!("confidence {value} is outside 0..1")).hint("0 = a guess, 1 = certain")
    })
}

/// What a kind adds to a plain text.
struct Typed {
    kind: Kind,
    key: Option<String>,
    attrs: Attrs,
    merge: Merge,
}

fn typed(
    new: &NewRecord,
    said: &str,
    source: &str,
    policy: ConflictPolicy,
) -> Result<Typed, Fault> {
    let kind = new.kind.unwrap_or(Kind::Knowledge);
    let task = new.scope.task.as_deref();
    let given = new
        .key
        .as_deref()
        .map(str::trim)
        .filter(|key| !key.is_empty());
    let (key, attrs, merge) = match kind {
        Kind::Knowledge => knowledge(new, said, source, given, policy)?,
        Kind::Task => {
            let id = given.or(task).unwrap_or(said);
            check_name("task", id).map_err(|e| bad_name(&e))?;
            (Some(id.to_owned()), Task::default().to_attrs(), Merge::Task)
        }
        Kind::Step => (
            Some(Step::key(said, task)),
            Step::in_state(StepState::Pending).to_attrs(),
            Merge::Step,
        ),
        Kind::Error => {
            let key = Mistake::key(said, task, new.scope.phase.as_deref());
            (Some(key), Mistake::open().to_attrs(), Merge::Mistake)
        }
        Kind::Artifact => (
            Some(Artifact::key(said, task)),
            Artifact::file(said).to_attrs(),
            Merge::Replace,
        ),
        Kind::Output => {
            let plan = new.scope.plan.as_deref().unwrap_or("");
            let agent = new.scope.agent.as_deref().unwrap_or(source);
            (
                Some(Output::key(plan, agent)),
                Output::default().to_attrs(),
                Merge::Replace,
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
                Merge::Replace,
            )
        }
        Kind::Summary => (None, Summary::default().to_attrs(), Merge::Replace),
        Kind::Episode => {
            return Err(
                Fault::usage("an episode has an action and an approach").hint(
                    "`heirloom episode log` records one, `heirloom outcome` how an iteration ended",
                ),
            );
        }
    };
    Ok(Typed {
        kind,
        key,
        attrs,
        merge,
    })
}

fn knowledge(
    new: &NewRecord,
    said: &str,
    source: &str,
    given: Option<&str>,
    policy: ConflictPolicy,
) -> Result<(Option<String>, Attrs, Merge), Fault> {
    let category = new.category.as_deref().unwrap_or(CATEGORY_FACT);
    check_name("category", category).map_err(|e| bad_name(&e))?;
    let mut knowledge = Knowledge::of_category(category);
    knowledge.rationale = new.rationale.clone().filter(|why| !why.trim().is_empty());
    knowledge.proposal = !may_arbitrate(source);
    let key = given.map_or_else(|| Knowledge::key(said), str::to_owned);
    Ok((Some(key), knowledge.to_attrs(), Merge::Knowledge(policy)))
}
