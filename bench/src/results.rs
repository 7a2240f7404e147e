//! Results of a run: printed at once, and written as JSON at the end.
//!
//! A benchmark has many small measurements in nested functions, so they are collected in one list of the process.

use crate::Outcome;
use crate::stats::Times;
use heirloom_model::{Clock, SystemClock};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

static RESULTS: Mutex<Results> = Mutex::new(Results {
    metrics: Vec::new(),
    tables: Vec::new(),
});

#[derive(Debug)]
struct Results {
    metrics: Vec<Value>,
    tables: Vec<Value>,
}

fn results() -> MutexGuard<'static, Results> {
    RESULTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints and records times in milliseconds.
pub(crate) fn times(id: &str, name: &str, times: &Times) {
    times.print(name);
    results().metrics.push(times_value(id, name, times));
}

/// Prints and records times in milliseconds with the median of a yardstick from the same run.
pub(crate) fn times_with_yardstick(id: &str, name: &str, own: &Times, yardstick: (&str, &Times)) {
    own.print(name);
    yardstick.1.print(&format!("  {}", yardstick.0));
    let mut value = times_value(id, name, own);
    value["yardstick"] = json!({"name": yardstick.0, "median": rounded(yardstick.1.p50())});
    results().metrics.push(value);
}

/// Prints and records one value.
pub(crate) fn value(id: &str, name: &str, unit: &str, value: f64) {
    println!("{name:40} {value:12.3} {unit}");
    results().metrics.push(json!({
        "id": id, "name": name, "unit": unit, "n": 1, "median": rounded(value),
    }));
}

/// Prints a table in Markdown and records it.
pub(crate) fn table(id: &str, columns: &[&str], rows: &[Vec<String>]) {
    println!("| {} |", columns.join(" | "));
    println!("|{}", "---|".repeat(columns.len()));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
    println!();
    let table = json!({"id": id, "columns": columns, "rows": rows});
    results().tables.push(table);
}

/// Writes what was recorded, if anything was. The file has no path and no name of the machine.
pub(crate) fn write(file: &Path, group: &str, commit: Option<&str>) -> Outcome<()> {
    let results = results();
    if results.metrics.is_empty() && results.tables.is_empty() {
        println!("{group}: nothing was measured, no results are written");
        return Ok(());
    }
    let now = SystemClock.now().to_string();
    let mut document = Map::new();
    document.insert("group".to_owned(), json!(group));
    document.insert("date".to_owned(), json!(now.split('T').next()));
    document.insert("commit".to_owned(), json!(commit));
    document.insert("machine".to_owned(), json!(machine()));
    document.insert("metrics".to_owned(), json!(results.metrics));
    if !results.tables.is_empty() {
        document.insert("tables".to_owned(), json!(results.tables));
    }
    let text = compact_samples(&format!("{:#}\n", Value::Object(document)));
    heirloom_fs::durable::write_atomic(file, text.as_bytes())?;
    Ok(())
}

fn times_value(id: &str, name: &str, times: &Times) -> Value {
    let mut value = json!({
        "id": id, "name": name, "unit": "ms", "n": times.measured().len(),
        "median": rounded(times.p50()), "p99": rounded(times.p99()),
    });
    if times.measured().len() <= SAMPLES_MAX {
        let samples = times.measured().iter().map(|ms| rounded(*ms));
        value["samples"] = samples.collect();
    }
    value
}

/// The most samples that are written. Loads of a server have some hundred thousand.
const SAMPLES_MAX: usize = 1_000;

/// Rounds to four decimals: a tenth of a microsecond of a time in milliseconds.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Writes each list of numbers on one line.
fn compact_samples(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut is_list = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if is_list {
            is_list = !trimmed.starts_with(']');
            written.push_str(trimmed);
            if trimmed.ends_with(',') && is_list {
                written.push(' ');
            }
        } else {
            written.push_str(line);
            is_list = trimmed == "\"samples\": [";
        }
        if !is_list {
            written.push('\n');
        }
    }
    written
}

/// Describes processor, memory and system, without anything that names the machine.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let field = |name: &str| {
        let line = processors.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(": "))
            .map(|(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = read("/proc/meminfo");
    let kilobytes = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    let release = read("/etc/os-release");
    let system = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let parts = [
        Some(format!("{cores} cores")),
        field("model name"),
        kilobytes.map(|kilobytes| format!("{:.0} GB", kilobytes / 1e6)),
        system.map(|name| name.trim_matches('"').to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn written_results_have_samples_in_one_line_and_no_host() {
        let measured = Times::of(&[3, 1, 2].map(Duration::from_millis));
        times_with_yardstick("a.b", "a name", &measured, ("nothing", &measured));
        value("a.size", "a size", "MB", 1.5);
        table(
            "a.table",
            &["x", "y"],
            &[vec!["1".to_owned(), "2".to_owned()]],
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        write(&file, "a", Some("abc")).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("\"samples\": [3.0, 1.0, 2.0],\n"), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&read["group"], &read["commit"]),
            (&json!("a"), &json!("abc"))
        );
        let metric = &read["metrics"][0];
        assert_eq!(metric["median"], 2.0);
        assert_eq!(
            metric["yardstick"],
            json!({"name": "nothing", "median": 2.0})
        );
        assert_eq!(read["metrics"][1]["unit"], "MB");
        assert_eq!(read["tables"][0]["rows"], json!([["1", "2"]]));
        assert_eq!(read["date"].as_str().map(str::len), Some(10));
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = host.trim();
        assert!(host.is_empty() || !machine().contains(host));
    }
}
