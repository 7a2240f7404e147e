//! Results of the sessions of two days for docs/benchmarks.md.
#![expect(
    clippy::disallowed_methods,
    reason = "a file of the repository, under version control"
)]

use serde_json::{Value, json};

use super::memory_sessions::MemoryRun;
use crate::bench::{self, document::RESULTS, metrics::AGENTS};
use crate::cargo;

/// Unit of the metrics: each counts programs.
const UNIT: &str = "of 5";

/// Writes the results and the tables of docs/benchmarks.md.
pub(crate) fn record(runs: &[MemoryRun]) -> Result<(), String> {
    let path = cargo::root().join(format!("{RESULTS}{AGENTS}.json"));
    let document = json!({
        "group": AGENTS,
        "commit": cargo::commit(),
        "date": cargo::commit_date(),
        "machine": "any: counts of programs",
        "metrics": metrics(runs),
    });
    std::fs::write(&path, format!("{document:#}\n"))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    bench::write_tables()
}

/// Counts the programs for which a finding is true.
fn metrics(runs: &[MemoryRun]) -> Vec<Value> {
    let findings = runs.iter().map(|run| run.findings.named());
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for (name, found, _) in findings.flatten() {
        let is_true = usize::from(found == Some(true));
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += is_true,
            None => counts.push((name, is_true)),
        }
    }
    let metric = |(name, count): (&str, usize)| json!({"id": format!("{AGENTS}.{name}"), "median": count, "unit": UNIT});
    counts.into_iter().map(metric).collect()
}
