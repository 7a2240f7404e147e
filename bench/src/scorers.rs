//! Scorers that are part of the data: Python programs that play recorded work through the binary.
//!
//! Each writes its figures as JSON, of which the metrics of a group are read here.

use crate::developer_prompts::data_folder;
use crate::{Outcome, Request, results};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Metric: its id, its name, its unit, and its value.
type Metric = (&'static str, &'static str, &'static str, f64);

/// Runs the scorers of a group and records their figures; other groups have none.
pub(crate) fn measure(group: &str, request: &Request) -> Outcome<()> {
    let (name, script) = match group {
        "replay" => ("replay", "replay.py"),
        "real" => ("real", "score_real.py"),
        "prompts-program" => ("prompts", "score.py"),
        _ => return Ok(()),
    };
    let (Some(heirloom), Some(data)) = (&request.heirloom, &request.data) else {
        println!(
            "{group}: skipped, no --heirloom BINARY, or no --data FOLDER and no HEIRLOOM_BENCH_DATA"
        );
        return Ok(());
    };
    let folder = data_folder(data, name);
    let script = folder.join(script);
    if !script.is_file() {
        println!("{group}: skipped, {} is missing", script.display());
        return Ok(());
    }
    let scorer = Scorer {
        script: &script,
        heirloom,
    };
    match group {
        "replay" => record("replay", "", &replay_metrics(&scorer.run(&folder, &[])?)?),
        "real" => {
            let sessions = folder.join("sessions");
            let sessions = request.real_sessions.as_ref().unwrap_or(&sessions);
            return measure_real(&scorer, &folder, sessions);
        }
        _ => {
            let figures = scorer.run(&folder, &[])?;
            record(group, "", &prompt_metrics(&figures)?);
            let conversations = data_folder(data, "lessons");
            let options = [
                OsStr::new("--with-conversations"),
                conversations.as_os_str(),
            ];
            let figures = scorer.run(&folder, &options)?;
            let id = format!("{group}.conversations");
            record(&id, ", with conversations", &prompt_metrics(&figures)?);
        }
    }
    Ok(())
}

/// Measures what later prompts of real sessions are told, and which lessons of the sessions are stored.
fn measure_real(scorer: &Scorer<'_>, folder: &Path, sessions: &Path) -> Outcome<()> {
    if !sessions.is_dir() {
        println!(
            "real: skipped, the recorded sessions are not in {}: `layout.py` in {} extracts them, `--real-sessions FOLDER` names them",
            sessions.display(),
            folder.display()
        );
        return Ok(());
    }
    let labels = folder.join("prompts_real.jsonl");
    let prompts = [OsStr::new("--prompts"), labels.as_os_str()];
    let figures = scorer.run(sessions, &prompts)?;
    record("real", "", &told_metrics(&figures)?);
    let records_only = [prompts[0], prompts[1], OsStr::new("--records-only")];
    let figures = scorer.run(sessions, &records_only)?;
    record("real.records", ", records only", &told_metrics(&figures)?);
    let summary = &scorer.run(sessions, &[])?["summary"];
    let kept = 100.0 * number(summary, "kept_weighted")?;
    let stored = number(summary, "records_per_ten_prompts")?;
    let lessons = [
        ("kept", "lessons that are kept, weighted", "%", kept),
        ("stored", "records for ten prompts", "records", stored),
    ];
    record("real", "", &lessons);
    Ok(())
}

/// A scorer and the binary that it plays.
struct Scorer<'a> {
    script: &'a Path,
    heirloom: &'a Path,
}

impl Scorer<'_> {
    /// Runs the scorer on a folder and returns the figures that it writes.
    fn run(&self, folder: &Path, options: &[&OsStr]) -> Outcome<Value> {
        let place = tempfile::tempdir()?;
        let figures = place.path().join("figures.json");
        let mut python = Command::new("python3");
        python.arg(self.script).arg(folder).args(options);
        python.arg("--bin").arg(self.heirloom);
        let status = python.arg("--json").arg(&figures).status();
        let status = status.map_err(|error| format!("cannot start python3: {error}"))?;
        if !status.success() {
            return Err(format!("{}: {status}", self.script.display()).into());
        }
        Ok(serde_json::from_slice(&std::fs::read(&figures)?)?)
    }
}

fn record(group: &str, note: &str, metrics: &[Metric]) {
    for (id, name, unit, value) in metrics {
        results::value(
            &format!("{group}.{id}"),
            &format!("{name}{note}"),
            unit,
            *value,
        );
    }
}

/// Reads the metrics of the replay, of all projects together.
fn replay_metrics(figures: &Value) -> Outcome<Vec<Metric>> {
    let is_present = |row: &Value, list: &str| items(&row[list]).next().is_some();
    // Prompts that lead to an edit and have enough words to say something.
    let edits: Vec<&Value> = replay_rows(figures, "prompts")
        .filter(|row| row["short"] == false && is_present(row, "files"))
        .collect();
    let (known, new): (Vec<&Value>, Vec<&Value>) =
        edits.into_iter().partition(|row| is_present(row, "gold"));
    if known.is_empty() || new.is_empty() {
        return Err(
            "the replay needs prompts about known files and prompts about new files".into(),
        );
    }
    let sum = |field: &str| {
        known
            .iter()
            .filter_map(|row| row[field].as_f64())
            .sum::<f64>()
    };
    let among = |ranking: &str, first: usize| {
        share_of(&known, |row| {
            let mut ranked = items(&row[ranking]).take(first);
            ranked.any(|session| items(&row["gold"]).any(|right| right == session))
        })
    };
    let is_told = |row: &Value| row["told"].as_str().is_some_and(|text| !text.is_empty());
    let told = share_of(&known, is_told);
    let hit = share_of(&known, |row| row["told_hits"].as_f64() > Some(0.0));
    let useful = percent(sum("told_hits"), sum("told_n"));
    let new_told = share_of(&new, is_told);
    let start_useful = percent(sum("start_hits"), sum("start_n"));
    let percentages = [
        ("told", "prompts about known files, told something", told),
        ("hit", "prompts about known files, told a hit", hit),
        ("useful", "hits among the records told", useful),
        (
            "new_told",
            "prompts about new files, told something",
            new_told,
        ),
        ("first", "right session first in recall", among("recall", 1)),
        ("first_three", "among the first three", among("recall", 3)),
        ("first_five", "among the first five", among("recall", 5)),
        (
            "bm25_first",
            "right session first in BM25",
            among("bm25", 1),
        ),
        (
            "bm25_first_three",
            "among the first three",
            among("bm25", 3),
        ),
        ("bm25_first_five", "among the first five", among("bm25", 5)),
        (
            "start_useful",
            "useful records of a session start",
            start_useful,
        ),
    ];
    let percentages = percentages.map(|(id, name, value)| (id, name, "%", value));
    Ok(percentages
        .into_iter()
        .chain(session_metrics(figures))
        .collect())
}

/// Reads the sizes and the repetitions of what sessions of the replay were told.
fn session_metrics(figures: &Value) -> [Metric; 4] {
    let mut starts: Vec<usize> = replay_rows(figures, "told")
        .filter(|told| told["where"] == "SessionStart" && told["compact"] == false)
        .filter_map(|told| Some(told["text"].as_str()?.chars().count()))
        .collect();
    starts.sort_unstable();
    let start = |at: usize| starts.get(at).map_or(0.0, |chars| *chars as f64);
    let (median, largest) = (
        start(starts.len() / 2),
        start(starts.len().saturating_sub(1)),
    );
    let cost = |field: &'static str| {
        items(&figures["projects"]).filter_map(move |project| project["cost"][field].as_f64())
    };
    let again = 100.0 * cost("told_again_in_the_same_session").fold(0.0, f64::max);
    let own = cost("own_words_told_back").sum();
    [
        ("start_chars", "session start, median", "characters", median),
        (
            "start_chars_most",
            "session start, largest",
            "characters",
            largest,
        ),
        (
            "told_again",
            "told again in a session, worst project",
            "%",
            again,
        ),
        (
            "own_records",
            "records told to their own session",
            "records",
            own,
        ),
    ]
}

/// Returns the rows of a list of the replay, of all projects.
fn replay_rows<'v>(figures: &'v Value, list: &'static str) -> impl Iterator<Item = &'v Value> {
    let projects = figures["rows"].as_object().into_iter().flatten();
    projects.flat_map(move |(_, rows)| items(&rows[list]))
}

/// Returns the share of the rows for which a condition holds, in per cent.
fn share_of(rows: &[&Value], holds: impl Fn(&Value) -> bool) -> f64 {
    let count = rows.iter().filter(|row| holds(row)).count();
    percent(count as f64, rows.len() as f64)
}

/// Reads the metrics of developers' prompts.
fn prompt_metrics(figures: &Value) -> Outcome<Vec<Metric>> {
    let share = |field: &str| number(&figures["summary"], field).map(|share| 100.0 * share);
    let answered = share("recall_answers_without_gold")?;
    Ok(vec![
        (
            "told",
            "prompts with a relevant record that are told one",
            "%",
            share("told_gold")?,
        ),
        (
            "useful",
            "records told that are useful",
            "%",
            share("useful_of_told")?,
        ),
        (
            "false",
            "prompts without a relevant record, told something",
            "%",
            share("spoke_without_gold")?,
        ),
        (
            "in_context",
            "relevant record in a context of 3,000 characters",
            "%",
            share("gold_in_context")?,
        ),
        (
            "first",
            "relevant record is recall's first",
            "%",
            share("r1")?,
        ),
        (
            "first_five",
            "relevant record is among recall's first five",
            "%",
            share("r5")?,
        ),
        (
            "silent",
            "prompts without a relevant record, no record in recall",
            "%",
            100.0 - answered,
        ),
    ])
}

/// Reads the metrics of what real prompts are told.
fn told_metrics(figures: &Value) -> Outcome<Vec<Metric>> {
    let told_gold = 100.0 * number(&figures["summary"], "told_gold")?;
    let verdicts: Vec<&str> = items(&figures["rows"])
        .flat_map(|row| items(&row["told"]))
        .filter_map(|item| item[0].as_str())
        .collect();
    let count = |kinds: &[&str]| verdicts.iter().filter(|kind| kinds.contains(kind)).count() as f64;
    Ok(vec![
        (
            "useful",
            "items told: useful",
            "items",
            count(&["gold", "ok"]),
        ),
        (
            "beside",
            "items told: beside the point",
            "items",
            count(&["beside"]),
        ),
        ("wrong", "items told: wrong", "items", count(&["wrong"])),
        (
            "told_lesson",
            "prompts worth something that are told a lesson for them",
            "%",
            told_gold,
        ),
    ])
}

fn number(figures: &Value, field: &str) -> Outcome<f64> {
    let number = figures[field].as_f64();
    Ok(number.ok_or_else(|| format!("the scorer wrote no `{field}`"))?)
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns a share in per cent, and 0 of nothing.
fn percent(part: f64, of: f64) -> f64 {
    match of > 0.0 {
        true => 100.0 * part / of,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(metrics: &[Metric], id: &str) -> f64 {
        let found = metrics.iter().find(|metric| metric.0 == id);
        found.unwrap().3
    }

    /// Returns figures of two projects: two prompts about files of earlier sessions, one of a new file, one that edits
    /// nothing and one of too few words.
    fn replay() -> Value {
        let first = json!([
            {"short": false, "files": ["a.rs"], "gold": ["s1"], "told": "- a", "told_n": 2, "told_hits": 1,
             "start_n": 4, "start_hits": 1, "recall": ["s2", "s1"], "bm25": ["s1"]},
            {"short": false, "files": ["new.rs"], "gold": [], "told": "- b", "told_n": 1, "told_hits": 0,
             "start_n": 4, "start_hits": 0, "recall": ["s2"], "bm25": ["s2"]},
            {"short": false, "files": [], "gold": [], "told": "- c", "told_n": 9, "told_hits": 0},
            {"short": true, "files": ["a.rs"], "gold": ["s1"], "told": "", "told_n": 0, "told_hits": 0},
        ]);
        let second = json!([
            {"short": false, "files": ["b.rs"], "gold": ["s4"], "told": "", "told_n": 0, "told_hits": 0,
             "start_n": 4, "start_hits": 3, "recall": [], "bm25": ["s5", "s6", "s7", "s4"]},
        ]);
        let told = json!([
            {"where": "SessionStart", "text": "äöü", "compact": false},
            {"where": "SessionStart", "text": "12345", "compact": false},
            {"where": "SessionStart", "text": "1234567", "compact": true},
            {"where": "UserPromptSubmit", "text": "123456789", "compact": false},
        ]);
        let cost = |again: f64, own: u64| json!({"cost": {"told_again_in_the_same_session": again, "own_words_told_back": own}});
        json!({
            "projects": [cost(0.04, 1), cost(0.08, 2)],
            "rows": {"one": {"prompts": first, "told": told}, "two": {"prompts": second, "told": []}},
        })
    }

    #[test]
    fn replay_counts_prompts_of_all_projects() {
        let metrics = replay_metrics(&replay()).unwrap();
        for (id, expected) in [
            ("told", 50.0),
            ("hit", 50.0),
            ("useful", 50.0),
            ("new_told", 100.0),
            ("first", 0.0),
            ("first_three", 50.0),
            ("first_five", 50.0),
            ("bm25_first", 50.0),
            ("bm25_first_three", 50.0),
            ("bm25_first_five", 100.0),
            ("start_useful", 50.0),
            ("start_chars", 5.0),
            ("start_chars_most", 5.0),
            ("told_again", 8.0),
            ("own_records", 3.0),
        ] {
            assert_eq!(value(&metrics, id), expected, "{id}");
        }
        assert_eq!(metrics.len(), 15);
        assert!(replay_metrics(&json!({"projects": [], "rows": {}})).is_err());
    }

    #[test]
    fn prompts_have_shares_in_per_cent() {
        let mut figures = json!({"summary": {
            "told_gold": 0.5, "useful_of_told": 0.75, "spoke_without_gold": 0.25, "gold_in_context": 1.0,
            "r1": 0.125, "r5": 0.625, "recall_answers_without_gold": 0.875,
        }});
        let metrics = prompt_metrics(&figures).unwrap();
        let values: Vec<f64> = metrics.iter().map(|metric| metric.3).collect();
        assert_eq!(values, [50.0, 75.0, 25.0, 100.0, 12.5, 62.5, 12.5]);
        figures["summary"]["r5"] = Value::Null;
        let error = prompt_metrics(&figures).unwrap_err().to_string();
        assert!(error.contains("no `r5`"), "{error}");
    }

    #[test]
    fn items_told_to_real_prompts_are_counted_by_verdict() {
        let figures = json!({
            "summary": {"told_gold": 0.25},
            "rows": [
                {"told": [["gold", "a"], ["beside", "b"]]},
                {"told": []},
                {"told": [["ok", "c"], ["beside", "d"], ["beside", "e"], ["wrong", "f"]]},
            ],
        });
        let metrics = told_metrics(&figures).unwrap();
        let values: Vec<f64> = metrics.iter().map(|metric| metric.3).collect();
        assert_eq!(values, [2.0, 3.0, 1.0, 25.0]);
    }

    #[test]
    fn group_without_its_data_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        for data in [None, Some(folder.path().to_owned())] {
            let request = Request {
                heirloom: Some("heirloom".into()),
                data,
                ..Request::default()
            };
            for group in ["replay", "real", "prompts-program"] {
                assert!(measure(group, &request).is_ok(), "{group}");
            }
        }
        // The scorer is there, the recorded sessions are not.
        std::fs::create_dir(folder.path().join("real")).unwrap();
        let script = folder.path().join("real/score_real.py");
        heirloom_fs::durable::write_atomic(&script, b"raise SystemExit(1)").unwrap();
        let request = Request {
            heirloom: Some("heirloom".into()),
            data: Some(folder.path().to_owned()),
            ..Request::default()
        };
        assert!(measure("real", &request).is_ok());
        let request = Request {
            real_sessions: Some(folder.path().to_owned()),
            ..request
        };
        let error = measure("real", &request).unwrap_err().to_string();
        assert!(error.contains("score_real.py"), "{error}");
    }
}
