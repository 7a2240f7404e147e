//! Prompts about a repository, about other ones, and about nothing in particular, over 1,200 commits.

use super::percent;
use crate::commit_memory::{self, FITTED_QUESTIONS, Repository};
use crate::stats::Times;
use crate::{Outcome, results};
use heirloom_capture::{Hooks, RelevantHit};
use heirloom_model::limits;
use heirloom_search::relevance::{Tellable, select_told};
use std::path::Path;
use std::time::{Duration, Instant};

/// Sort of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptKind {
    Own,
    Foreign,
    Plain,
}

/// Result of one prompt.
struct PromptResult {
    repository: String,
    kind: PromptKind,
    /// For each record that is told, true if it is the right one.
    told: Vec<bool>,
    took: Duration,
}

pub(super) fn measure(folder: &Path) -> Outcome<()> {
    let repositories = commit_memory::read(folder)?;
    let mut all = Vec::new();
    for repository in &repositories {
        add_repository(repository, &mut all)?;
    }
    let columns = [
        "prompts over 1,200 commits",
        "number",
        "get something, %",
        "the right record, %",
        "only others, %",
    ];
    let mut rows = Vec::new();
    for (title, kind) in [
        ("about the repository", PromptKind::Own),
        ("about another repository", PromptKind::Foreign),
        ("about nothing in particular", PromptKind::Plain),
    ] {
        let names = repositories.iter().map(|one| one.name.as_str());
        for name in std::iter::once("all").chain(names) {
            let of: Vec<&PromptResult> = (all.iter())
                .filter(|one| one.kind == kind && (name == "all" || one.repository == name))
                .collect();
            let some = of.iter().filter(|one| !one.told.is_empty()).count();
            let right = of.iter().filter(|one| one.told.contains(&true)).count();
            let mut row = vec![format!("{title}, {name}"), of.len().to_string()];
            let counts = [some, right, some - right];
            row.extend(counts.map(|count| format!("{:.1}", percent(count, of.len()))));
            rows.push(row);
        }
    }
    results::table("prompts-commits", &columns, &rows);
    let took: Vec<Duration> = all.iter().map(|one| one.took).collect();
    let name = "the nearest records of a prompt, in process";
    results::times("prompts.nearest", name, &Times::of(&took));
    Ok(())
}

fn add_repository(repository: &Repository, all: &mut Vec<PromptResult>) -> Outcome<()> {
    let filled = repository.fill()?;
    let mut add = |kind: PromptKind, text: &str, gold: &[&String]| -> Outcome<()> {
        let start = Instant::now();
        let near = Hooks::new(&filled.engine).relevant_hits(text)?;
        let took = start.elapsed();
        let candidates: Vec<Tellable> = near.iter().map(RelevantHit::tellable).collect();
        let is_right = |one: &RelevantHit| gold.iter().any(|text| **text == one.record.text);
        let told = select_told(&candidates, limits::HOOK_HITS_MAX);
        all.push(PromptResult {
            repository: repository.name.clone(),
            kind,
            told: told
                .iter()
                .filter_map(|place| near.get(*place).map(is_right))
                .collect(),
            took,
        });
        Ok(())
    };
    for query in repository.own_questions(FITTED_QUESTIONS) {
        add(PromptKind::Own, &query.text, &repository.gold_of(query))?;
    }
    for query in repository.foreign_questions(FITTED_QUESTIONS) {
        add(PromptKind::Foreign, &query.text, &[])?;
    }
    for text in commit_memory::PLAIN {
        add(PromptKind::Plain, text, &[])?;
    }
    Ok(())
}
