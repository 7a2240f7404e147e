//! Results: printed, and recorded for docs/benchmarks.md.
#![expect(
    clippy::disallowed_methods,
    reason = "a file of the repository, under version control"
)]

use crate::cargo;
use serde_json::{Value, json};
use std::fs;

/// Results of a run.
#[derive(Debug)]
pub(super) struct Report {
    group: String,
    metrics: Vec<Value>,
}

impl Report {
    /// Creates the results of a group of docs/benchmarks.md.
    pub(super) fn new(group: &str) -> Self {
        Self {
            group: group.to_owned(),
            metrics: Vec::new(),
        }
    }

    /// Adds a value.
    pub(super) fn value(&mut self, id: &str, unit: &str, value: f64) {
        self.add(id, json!({"unit": unit, "median": rounded(value)}));
    }

    /// Adds a latency in milliseconds: median and 99th percentile.
    pub(super) fn latency(&mut self, id: &str, median: f64, p99: f64) {
        let metric = json!({"unit": "ms", "median": rounded(median), "p99": rounded(p99)});
        self.add(id, metric);
    }

    /// Adds a latency in milliseconds that is compared with another one of the same run.
    pub(super) fn compared(&mut self, id: &str, median: f64, yardstick: (&str, f64)) {
        let yardstick = json!({"name": yardstick.0, "median": rounded(yardstick.1)});
        let metric = json!({"unit": "ms", "median": rounded(median), "yardstick": yardstick});
        self.add(id, metric);
    }

    fn add(&mut self, id: &str, mut metric: Value) {
        println!("{id:<22} {metric}");
        metric["id"] = json!(format!("{}.{id}", self.group));
        self.metrics.push(metric);
    }

    /// Replaces the recorded results of the group.
    pub(super) fn record(self) -> Result<(), String> {
        let path = cargo::root().join(format!("bench/results/{}.json", self.group));
        let document = json!({
            "group": self.group,
            "commit": cargo::commit(),
            "date": cargo::commit_date(),
            "machine": machine(),
            "metrics": self.metrics,
        });
        fs::write(&path, format!("{document:#}\n"))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Rounds to about three digits.
fn rounded(value: f64) -> f64 {
    match value.abs() {
        large if large >= 100.0 => value.round(),
        middle if middle >= 10.0 => (value * 10.0).round() / 10.0,
        _ => (value * 100.0).round() / 100.0,
    }
}

/// Describes the machine, on which clients, servers and the database share all cores.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{cores} cores for clients, servers and database together; fsync on")
}
