//! Tables of docs/benchmarks.md, rendered from the results in `bench/results`.
//!
//! A table is between `<!-- bench: NAME -->` and `<!-- end -->`.

use super::metrics::{COMPARISONS, GROUPS, Goal, METRICS, Row, UNLISTED};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The document.
pub(crate) const DOCUMENT: &str = "docs/benchmarks.md";

/// The folder of the results.
pub(crate) const RESULTS: &str = "bench/results/";

const BEGIN: &str = "<!-- bench: ";
const BEGIN_END: &str = " -->";
const END: &str = "<!-- end -->";

/// Returns the ids of the metrics of the former results of a group that the new ones lack.
pub(crate) fn missing_metrics(before: &str, after: &str) -> Vec<String> {
    let ids = |text: &str| -> BTreeSet<String> {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let ids = items(&value["metrics"]).filter_map(|metric| metric["id"].as_str());
        ids.map(str::to_owned).collect()
    };
    let after = ids(after);
    let before = ids(before).into_iter();
    before.filter(|id| !after.contains(id)).collect()
}

/// Results of all groups.
#[derive(Debug, Default)]
pub(crate) struct Results {
    groups: BTreeMap<String, Value>,
}

impl Results {
    /// Parses results, given as path and text; the error names the file.
    pub(crate) fn parse<'t>(
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<Self, String> {
        let mut groups = BTreeMap::new();
        for (path, text) in files {
            let Some(name) = path
                .strip_prefix(RESULTS)
                .and_then(|name| name.strip_suffix(".json"))
            else {
                continue;
            };
            let value: Value =
                serde_json::from_str(text).map_err(|error| format!("{path}: {error}"))?;
            if value["group"] != name {
                return Err(format!("{path}: the group is {}", value["group"]));
            }
            groups.insert(name.to_owned(), value);
        }
        let results = Self { groups };
        results.check_ids()?;
        Ok(results)
    }

    /// Fails for a metric with another unit than its row, or without a row.
    fn check_ids(&self) -> Result<(), String> {
        for (group, value) in &self.groups {
            for metric in items(&value["metrics"]) {
                let id = metric["id"].as_str().unwrap_or_default();
                let mut rows = METRICS.iter().chain(COMPARISONS);
                let problem = match rows.find(|row| row.id == id) {
                    Some(row) if metric["unit"] == row.unit => continue,
                    Some(row) => format!("`{id}` has not the unit `{}`", row.unit),
                    None if UNLISTED.contains(&id) => continue,
                    None => format!("`{id}` has no row in xtask/src/bench/metrics.rs"),
                };
                return Err(format!("{RESULTS}{group}.json: {problem}"));
            }
        }
        Ok(())
    }

    fn metric(&self, id: &str) -> Option<&Value> {
        let mut metrics = self
            .groups
            .values()
            .flat_map(|group| items(&group["metrics"]));
        metrics.find(|metric| metric["id"] == id)
    }

    fn table(&self, id: &str) -> Option<&Value> {
        let mut tables = self
            .groups
            .values()
            .flat_map(|group| items(&group["tables"]));
        tables.find(|table| table["id"] == id)
    }

    /// Renders the table of a name.
    fn render(&self, name: &str) -> Result<String, String> {
        match name {
            "metrics" => Ok(self.render_rows(METRICS)),
            "comparisons" => Ok(self.render_rows(COMPARISONS)),
            "runs" => Ok(self.render_runs()),
            other => match self.table(other) {
                Some(table) => Ok(render_table(table)),
                None => Err(format!("no file in {RESULTS} has a table `{other}`")),
            },
        }
    }

    fn render_rows(&self, rows: &[Row]) -> String {
        let mut lines = vec![
            "| Metric | Median | p99 | Goal | Pass |".to_owned(),
            "|---|---|---|---|---|".to_owned(),
        ];
        for row in rows {
            let measured = self.metric(row.id);
            // A goal that was not measured stays visible.
            if measured.is_some() || row.goal.has_bound() {
                lines.push(render_row(row, measured));
            }
        }
        lines.join("\n")
    }

    /// Renders the date, commit and machine of each group.
    fn render_runs(&self) -> String {
        let mut lines = vec![
            "| Group | Date | Commit | Machine |".to_owned(),
            "|---|---|---|---|".to_owned(),
        ];
        let order = |name: &str| GROUPS.iter().position(|group| *group == name);
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|(name, _)| (order(name).unwrap_or(GROUPS.len()), *name));
        for (name, value) in groups {
            let field = |field: &str| value[field].as_str().unwrap_or("–").to_owned();
            lines.push(format!(
                "| `{name}` | {} | {} | {} |",
                field("date"),
                field("commit"),
                field("machine")
            ));
        }
        lines.join("\n")
    }

    /// Returns the document with every table rendered; the error names the table.
    pub(crate) fn fill(&self, document: &str) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = document;
        while let Some((before, from)) = rest.split_once(BEGIN) {
            let (name, after) = from
                .split_once(BEGIN_END)
                .ok_or_else(|| format!("{DOCUMENT}: a marker has no end"))?;
            let (_, after) = after
                .split_once(END)
                .ok_or_else(|| format!("{DOCUMENT}: the table `{name}` has no `{END}`"))?;
            let table = self.render(name)?;
            filled.push_str(before);
            filled.push_str(&format!("{BEGIN}{name}{BEGIN_END}\n\n{table}\n\n{END}"));
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

impl Goal {
    fn has_bound(&self) -> bool {
        self.most.is_some() || self.most_p99.is_some() || self.least.is_some()
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn render_row(row: &Row, measured: Option<&Value>) -> String {
    let number = |name: &str| measured.and_then(|metric| metric[name].as_f64());
    let cell = |name: &str| number(name).map_or_else(|| "–".to_owned(), |n| with_unit(n, row.unit));
    let yardstick = measured.and_then(|metric| metric["yardstick"]["median"].as_f64());
    let base = match row.goal.is_over_yardstick {
        true => yardstick,
        false => Some(0.0),
    };
    let passes = base.and_then(|base| {
        let most = |bound: Option<f64>, name: &str| match (bound, number(name)) {
            (Some(bound), Some(value)) => Some(value <= bound + base),
            (Some(_), None) => None,
            (None, _) => Some(true),
        };
        let least = match (row.goal.least, number("median")) {
            (Some(bound), Some(value)) => Some(value >= bound),
            (Some(_), None) => None,
            (None, _) => Some(true),
        };
        Some(most(row.goal.most, "median")? && most(row.goal.most_p99, "p99")? && least?)
    });
    let verdict = match passes {
        _ if !row.goal.has_bound() => "",
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "–",
    };
    let name = measured.and_then(|metric| metric["yardstick"]["name"].as_str());
    // A share that a person judged is as good as its sample.
    let sample = measured.and_then(|metric| metric["sample"].as_u64());
    let sample = sample.map_or_else(String::new, |count| format!(", {count} of them"));
    format!(
        "| {}{sample} | {} | {} | {} | {verdict} |",
        row.title,
        cell("median"),
        cell("p99"),
        render_goal(row, name.zip(yardstick))
    )
}

fn render_goal(row: &Row, yardstick: Option<(&str, f64)>) -> String {
    let (goal, unit) = (&row.goal, row.unit);
    let bound = |bound: f64| match (goal.is_over_yardstick, yardstick) {
        (true, Some((name, base))) => format!(
            "{} ({name} {} + {})",
            with_unit(base + bound, unit),
            plain(base),
            plain(bound)
        ),
        (true, None) => format!("yardstick + {}", with_unit(bound, unit)),
        (false, _) => with_unit(bound, unit),
    };
    let parts = [
        goal.most.map(|most| format!("≤ {}", bound(most))),
        goal.most_p99.map(|most| format!("p99 ≤ {}", bound(most))),
        goal.least.map(|least| format!("≥ {}", bound(least))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Formats a value; large times in seconds.
fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "ms" if value >= 1_000.0 => format!("{} s", plain(value / 1_000.0)),
        "us" => format!("{} µs", plain(value)),
        unit if unit.starts_with('/') => format!("{}{unit}", plain(value)),
        unit => format!("{} {unit}", plain(value)),
    }
}

/// Formats a number with about three digits.
fn plain(value: f64) -> String {
    let size = value.abs();
    if value == value.round() || size >= 100.0 {
        let digits = format!("{:.0}", size);
        let mut written = if value < 0.0 {
            "−".to_owned()
        } else {
            String::new()
        };
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                written.push(',');
            }
            written.push(digit);
        }
        return written;
    }
    let decimals = match size {
        10.0.. => 1,
        0.1.. => 2,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.replacen('-', "−", 1)
}

fn render_table(table: &Value) -> String {
    let cells = |row: &Value| {
        let cells: Vec<&str> = items(row).filter_map(Value::as_str).collect();
        format!("| {} |", cells.join(" | "))
    };
    let columns = items(&table["columns"]).count();
    let mut lines = vec![
        cells(&table["columns"]),
        format!("|{}", "---|".repeat(columns)),
    ];
    lines.extend(items(&table["rows"]).map(cells));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::metrics::{AGENTS, FLEET, JUDGED};
    use super::*;
    use serde_json::json;

    fn results(metrics: &Value) -> Results {
        let text = json!({"group": "context", "metrics": metrics}).to_string();
        Results::parse([("bench/results/context.json", text.as_str())]).unwrap()
    }

    #[test]
    fn metrics_of_former_results_are_missed() {
        let text = |metrics: Value| json!({"group": "context", "metrics": metrics}).to_string();
        let before = text(json!([{"id": "a", "unit": "ms"}, {"id": "b", "unit": "ms"}]));
        let after = text(json!([{"id": "b", "unit": "ms"}, {"id": "c", "unit": "ms"}]));
        assert_eq!(missing_metrics(&before, &after), ["a"]);
        assert!(missing_metrics("", &after).is_empty());
    }

    fn line(metric: &Value, unit: &'static str, goal: Goal) -> String {
        let row = Row {
            id: "a",
            title: "t",
            unit,
            goal,
        };
        render_row(&row, Some(metric))
    }

    #[test]
    fn goals_pass_at_their_bound_and_fail_beyond_it() {
        let goal = Goal {
            most: Some(3.0),
            most_p99: Some(4.0),
            ..Goal::default()
        };
        for (median, p99, verdict) in [
            (3.0, 4.0, "yes"),
            (3.1, 4.0, "**no**"),
            (3.0, 4.1, "**no**"),
        ] {
            let metric = json!({"unit": "ms", "median": median, "p99": p99});
            let line = line(&metric, "ms", goal);
            assert!(
                line.ends_with(&format!("| ≤ 3 ms, p99 ≤ 4 ms | {verdict} |")),
                "{line}"
            );
        }
        let least = Goal {
            least: Some(500.0),
            ..Goal::default()
        };
        let line = line(&json!({"median": 499.0}), "/s", least);
        assert_eq!(line, "| t | 499/s | – | ≥ 500/s | **no** |");
    }

    #[test]
    fn goal_over_yardstick_adds_its_median() {
        let goal = Goal {
            most: Some(0.3),
            is_over_yardstick: true,
            ..Goal::default()
        };
        let yardstick = json!({"name": "a sync", "median": 0.1});
        let metric = json!({"unit": "ms", "median": 0.4, "p99": 1.0, "yardstick": yardstick});
        assert_eq!(
            line(&metric, "ms", goal),
            "| t | 0.4 ms | 1 ms | ≤ 0.4 ms (a sync 0.1 + 0.3) | yes |"
        );
        let without = line(&json!({"median": 0.2}), "ms", goal);
        assert!(
            without.ends_with("| ≤ yardstick + 0.3 ms | – |"),
            "{without}"
        );
    }

    #[test]
    fn numbers_have_about_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.0512, "0.0512"),
            (0.276, "0.28"),
            (3.84, "3.84"),
            (43.91, "43.9"),
            (41_234.4, "41,234"),
            (1_000_000.0, "1,000,000"),
            (-12.72, "−12.7"),
            (19.96, "20"),
        ] {
            assert_eq!(plain(value), text);
        }
        assert_eq!(with_unit(1_800.0, "ms"), "1.8 s");
    }

    #[test]
    fn document_is_filled_between_markers() {
        let results = results(
            &json!([{"id": "context.in_process", "unit": "ms", "median": 0.66, "p99": 0.88}]),
        );
        let document = "# Title\n\n<!-- bench: metrics -->\nearlier\n<!-- end -->\n\nafter\n";
        let filled = results.fill(document).unwrap();
        assert!(
            filled.starts_with("# Title\n\n<!-- bench: metrics -->\n\n| Metric |"),
            "{filled}"
        );
        assert!(filled.ends_with("<!-- end -->\n\nafter\n"), "{filled}");
        assert!(
            filled.contains("in a process | 0.66 ms | 0.88 ms | ≤ 3 ms | yes |"),
            "{filled}"
        );
        assert!(
            filled.contains(
                "| context from 10,000 records, from process start | – | – | ≤ 6 ms | – |"
            ),
            "{filled}"
        );
        assert!(!filled.contains("earlier"));
        assert_eq!(results.fill(&filled).unwrap(), filled);
        assert!(results.fill("<!-- bench: gone --><!-- end -->").is_err());
        assert!(results.fill("<!-- bench: metrics -->").is_err());
    }

    #[test]
    fn unknown_metric_or_group_is_error() {
        let text = json!({"group": "context", "metrics": [{"id": "context.gone"}]}).to_string();
        let error = Results::parse([("bench/results/context.json", text.as_str())]).unwrap_err();
        assert!(error.contains("context.gone"), "{error}");
        let other = Results::parse([("bench/results/start.json", text.as_str())]).unwrap_err();
        assert!(other.contains("start.json"), "{other}");
    }

    #[test]
    fn every_row_is_of_a_group_and_unique() {
        let mut ids: Vec<&str> = METRICS
            .iter()
            .chain(COMPARISONS)
            .map(|row| row.id)
            .collect();
        ids.extend(UNLISTED);
        for id in &ids {
            let group = id.split('.').next().unwrap_or_default();
            let is_known = GROUPS.contains(&group) || FLEET.contains(&group);
            assert!(is_known || [AGENTS, JUDGED].contains(&group), "{id}");
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
