//! Memory that reaches a prompt: developers' prompts to projects that have grown, through the prompt hook, a context of
//! 3,000 characters, and recall.

mod commit_prompts;

use crate::developer_prompts::{FilledProject, Prompt, data_folder, read_projects};
use crate::stats::Times;
use crate::{Outcome, results};
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::read_event;
use heirloom_capture::{HookRequest, Hooks};
use heirloom_engine::{ContextRequest, Engine, RecallRequest};
use heirloom_model::Budget;
use heirloom_search::recall::RecallItem;
use heirloom_transformer::SentenceEmbedder;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Size of a context in characters.
const CONTEXT_CHARS: usize = 3_000;
/// Number of recall's hits that are compared.
const HITS: usize = 5;
/// Time that a hook may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// Variant of the measurement.
struct Variant {
    /// First part of the ids of its metrics.
    id: &'static str,
    /// End of the names of its metrics.
    note: &'static str,
    has_sentences: bool,
}

const WITHOUT_SENTENCES: Variant = Variant {
    id: "prompts",
    note: "",
    has_sentences: false,
};
const WITH_SENTENCES: Variant = Variant {
    id: "prompts.sentences",
    note: ", with the transformer",
    has_sentences: true,
};

/// Sums over the prompts of a style.
#[derive(Debug, Clone, Copy, Default)]
struct PromptCounts {
    prompts: usize,
    answered: usize,
    /// Answered prompts that are told a relevant record.
    told_right: usize,
    /// Records that are told, and those of them that are relevant or harmless.
    told_records: usize,
    useful_records: usize,
    /// Prompts without a relevant record that are told something.
    told_falsely: usize,
    /// Answered prompts with a relevant record in the context, and among the first of recall.
    in_context: usize,
    in_first: usize,
    in_first_five: usize,
    /// Prompts without a relevant record for which recall has a hit above its floor.
    recalled_falsely: usize,
}

pub(crate) fn measure(folder: Option<&Path>) -> Outcome<()> {
    let Some(folder) = folder else {
        println!("prompts: skipped, no --data FOLDER and no HEIRLOOM_BENCH_DATA");
        return Ok(());
    };
    let data = data_folder(folder, "prompts");
    measure_projects(&data, &WITHOUT_SENTENCES)?;
    if SentenceEmbedder::new().is_some() {
        measure_projects(&data, &WITH_SENTENCES)?;
    }
    commit_prompts::measure(&data_folder(folder, "recall"))
}

/// Plays the prompts of all projects.
fn measure_projects(data: &Path, variant: &Variant) -> Outcome<()> {
    let mut styles: BTreeMap<String, PromptCounts> = BTreeMap::new();
    let mut took = Vec::new();
    for project in read_projects(data)?.values() {
        let mut filled = FilledProject::of(project)?;
        if variant.has_sentences {
            filled = filled.with_sentences()?;
        }
        for (number, prompt) in project.prompts.iter().enumerate() {
            let counts = styles.entry(prompt.style.clone()).or_default();
            took.push(count_prompt(&filled, number, prompt, counts)?);
        }
    }
    print(&styles, variant);
    let name = format!("prompt hook, 60 records, in process{}", variant.note);
    let id = format!("{}.hook", variant.id);
    results::times(&id, &name, &Times::of(&took));
    Ok(())
}

/// Plays one prompt and returns the time of its hook.
fn count_prompt(
    filled: &FilledProject,
    number: usize,
    prompt: &Prompt,
    counts: &mut PromptCounts,
) -> Outcome<Duration> {
    let start = Instant::now();
    let answer = told_text(&filled.engine, number, &prompt.text)?;
    let took = start.elapsed();
    let told = filled.found_in(&answer);
    let is_gold = |id: &&str| prompt.label(id) >= 1.0;
    counts.prompts += 1;
    counts.told_records += told.len();
    counts.useful_records += told.iter().filter(|id| prompt.label(id) > 0.0).count();
    if prompt.gold.is_empty() {
        counts.told_falsely += usize::from(!told.is_empty());
        counts.recalled_falsely += usize::from(!recalled(filled, prompt, None)?.is_empty());
        return Ok(took);
    }
    let context = filled.engine.contexts().build(&ContextRequest {
        task: Some(format!("W{number}")),
        query: Some(prompt.text.clone()),
        budget: Some(Budget::Chars(CONTEXT_CHARS)),
        ..ContextRequest::default()
    })?;
    counts.answered += 1;
    counts.told_right += usize::from(told.iter().any(is_gold));
    counts.in_context += usize::from(filled.found_in(&context.text).iter().any(is_gold));
    let hits = recalled(filled, prompt, Some(0.0))?;
    let rank = hits.iter().position(|id| prompt.label(id) >= 1.0);
    counts.in_first += usize::from(rank == Some(0));
    counts.in_first_five += usize::from(rank.is_some());
    Ok(took)
}

/// Returns what the prompt hook tells, in a session of its own.
pub(crate) fn told_text(engine: &Engine, number: usize, prompt: &str) -> Outcome<String> {
    let host = AgentProgram::ClaudeCode;
    let event = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": format!("s{number}"), "transcript_path": "",
        "cwd": engine.root(), "prompt": prompt,
    });
    let answer = Hooks::new(engine).handle(&HookRequest {
        host,
        spec: host.hook_spec("UserPromptSubmit").ok_or("no prompt hook")?,
        event: &read_event(host, event.to_string().as_bytes()),
        shorten: None,
        anchor_every: 0,
        teach: false,
        ask: false,
        deadline: Instant::now() + DEADLINE,
    })?;
    Ok(answer.context)
}

/// Returns the names of recall's first hits, above its floor or above `min_relevance`.
fn recalled(
    filled: &FilledProject,
    prompt: &Prompt,
    min_relevance: Option<f64>,
) -> Outcome<Vec<String>> {
    let report = filled.engine.recall().search(&RecallRequest {
        question: prompt.text.clone(),
        k: Some(HITS),
        min_relevance,
        ..RecallRequest::default()
    })?;
    let name = |item: &RecallItem| {
        let ids = filled.found_in(item.text());
        let best = ids
            .into_iter()
            .max_by(|a, b| prompt.label(a).total_cmp(&prompt.label(b)));
        best.unwrap_or_default().to_owned()
    };
    Ok(report.hits.iter().map(|hit| name(&hit.item)).collect())
}

impl PromptCounts {
    fn add(&mut self, other: &Self) {
        self.prompts += other.prompts;
        self.answered += other.answered;
        self.told_right += other.told_right;
        self.told_records += other.told_records;
        self.useful_records += other.useful_records;
        self.told_falsely += other.told_falsely;
        self.in_context += other.in_context;
        self.in_first += other.in_first;
        self.in_first_five += other.in_first_five;
        self.recalled_falsely += other.recalled_falsely;
    }

    fn without_answer(&self) -> usize {
        self.prompts - self.answered
    }
}

/// Returns a share in percent; 0 of nothing.
fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

fn print(styles: &BTreeMap<String, PromptCounts>, variant: &Variant) {
    let mut all = PromptCounts::default();
    styles.values().for_each(|one| all.add(one));
    let columns = [
        "prompts",
        "number",
        "told a relevant record, %",
        "useful of told, %",
        "told without a relevant record, %",
        "relevant record in the context, %",
        "in recall's first, %",
        "in recall's first five, %",
        "recalled without a relevant record, %",
    ];
    let cell = |part: usize, all: usize| match all {
        0 => "–".to_owned(),
        _ => format!("{:.1}", percent(part, all)),
    };
    let row = |name: &str, of: &PromptCounts| {
        vec![
            name.to_owned(),
            of.prompts.to_string(),
            cell(of.told_right, of.answered),
            cell(of.useful_records, of.told_records),
            cell(of.told_falsely, of.without_answer()),
            cell(of.in_context, of.answered),
            cell(of.in_first, of.answered),
            cell(of.in_first_five, of.answered),
            cell(of.recalled_falsely, of.without_answer()),
        ]
    };
    let mut rows: Vec<_> = styles.iter().map(|(name, of)| row(name, of)).collect();
    rows.push(row("all", &all));
    results::table(variant.id, &columns, &rows);
    let value = |id: &str, name: &str, part: usize, of: usize| {
        let id = format!("{}.{id}", variant.id);
        let name = format!("{name}{}", variant.note);
        results::value(&id, &name, "%", percent(part, of));
    };
    let name = "prompts with a relevant record that are told one";
    value("told", name, all.told_right, all.answered);
    let name = "records told that are useful";
    value("useful", name, all.useful_records, all.told_records);
    let name = "prompts without a relevant record that are told something";
    value("false", name, all.told_falsely, all.without_answer());
    let name = "relevant record in a context of 3,000 characters";
    value("in_context", name, all.in_context, all.answered);
    let name = "relevant record is recall's first";
    value("first", name, all.in_first, all.answered);
    let name = "relevant record is among recall's first five";
    value("first_five", name, all.in_first_five, all.answered);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_prompt_are_of_hook_context_and_recall() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/prompts-extra");
        let projects = read_projects(&folder).unwrap();
        let project = &projects["atlas"];
        let filled = FilledProject::of(project).unwrap();
        let mut counts = PromptCounts::default();
        let first = &project.prompts[0];
        count_prompt(&filled, 0, first, &mut counts).unwrap();
        assert_eq!(
            (counts.prompts, counts.answered, counts.in_first),
            (1, 1, 1)
        );
        let mut twice = counts;
        twice.add(&counts);
        assert_eq!((twice.prompts, twice.in_first), (2, 2));
        let plain = project.prompts.iter().find(|one| one.style == "smalltalk");
        let mut counts = PromptCounts::default();
        count_prompt(&filled, 1, plain.unwrap(), &mut counts).unwrap();
        assert_eq!((counts.answered, counts.without_answer()), (0, 1));
    }

    #[test]
    fn percent_of_nothing_is_zero() {
        assert!(percent(0, 0).abs() < f64::EPSILON);
        assert!((percent(1, 4) - 25.0).abs() < f64::EPSILON);
    }
}
