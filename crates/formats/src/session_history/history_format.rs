//! Format of `history.json`: `[{timestamp, goal, plan, output, metadata}]`, or the same as `{session: [...]}`.

use heirloom_model::limits::{DIAGNOSTICS_MAX, HISTORY_INTERACTIONS_MAX};
use heirloom_model::record::Attrs;
use heirloom_model::{clock, text};
use serde_json::{Map, Value, json};

/// One interaction of a history file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryEntry {
    /// Time, in seconds since 1970.
    pub timestamp: Option<i64>,
    /// Goal.
    pub goal: String,
    /// Plan, as any JSON value; `null` if unknown.
    pub plan: Value,
    /// Output.
    pub output: String,
    /// Metadata; `null` if missing.
    pub metadata: Value,
    /// Unknown fields, which are preserved.
    pub extra: Attrs,
}

/// Parsed history file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryFile {
    /// Interactions, in the order of the file.
    pub interactions: Vec<HistoryEntry>,
    /// Diagnostics of skipped interactions.
    pub diagnostics: Vec<String>,
}

/// Error of a file that is not a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryProblem {
    /// The file is not JSON; it may be truncated.
    #[error("it is not JSON: {0}")]
    NoJson(String),
    /// The file is JSON of another format.
    #[error("it is neither a list of interactions nor an object with such a list as `session`")]
    NoList,
}

/// Parses a history file. Invalid interactions are skipped with a diagnostic.
pub fn parse(bytes: &[u8]) -> Result<HistoryFile, HistoryProblem> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| HistoryProblem::NoJson(error.to_string()))?;
    let list = match value {
        Value::Array(list) => list,
        Value::Object(mut map) => match map.remove("session") {
            Some(Value::Array(list)) => list,
            _ => return Err(HistoryProblem::NoList),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(HistoryProblem::NoList);
        }
    };
    let mut file = HistoryFile::default();
    let beyond = list.len().saturating_sub(HISTORY_INTERACTIONS_MAX);
    let mut unreported_count = 0;
    // The newest interactions are at the end.
    for (n, value) in list.into_iter().enumerate().skip(beyond) {
        match parse_interaction(value) {
            Ok(interaction) => file.interactions.push(interaction),
            Err(_) if file.diagnostics.len() >= DIAGNOSTICS_MAX => unreported_count += 1,
            Err(problem) => (file.diagnostics).push(format!("interaction {}: {problem}", n + 1)),
        }
    }
    if unreported_count > 0 {
        (file.diagnostics).push(format!(
            "{unreported_count} more interactions could not be read"
        ));
    }
    if beyond > 0 {
        let most = HISTORY_INTERACTIONS_MAX;
        (file.diagnostics).push(format!(
            "{beyond} interactions at the beginning were left out: at most {most} are read"
        ));
    }
    Ok(file)
}

fn parse_interaction(value: Value) -> Result<HistoryEntry, String> {
    let Value::Object(mut map) = value else {
        return Err("it is not an object; skipped".to_owned());
    };
    let mut text_field = |name: &str| match map.remove(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(value)) => Ok(value),
        Some(_) => Err(format!("`{name}` is not a text; skipped")),
    };
    let (goal, output) = (text_field("goal")?, text_field("output")?);
    let plan = map.remove("plan").unwrap_or_default();
    let timestamp = match map.remove("timestamp") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let seconds = clock::parse_seconds(&value);
            let shown = || text::excerpt(&value.to_string(), 60);
            Some(
                seconds
                    .ok_or_else(|| format!("`timestamp` is not a time: {}; skipped", shown()))?,
            )
        }
    };
    let has_plan = !matches!(&plan, Value::Null) && plan.as_str() != Some("");
    if goal.trim().is_empty() && output.trim().is_empty() && !has_plan {
        return Err("it has neither goal nor plan nor output; skipped".to_owned());
    }
    Ok(HistoryEntry {
        timestamp,
        goal,
        plan,
        output,
        metadata: map.remove("metadata").unwrap_or_default(),
        extra: map,
    })
}

/// Renders a history as a JSON list.
pub fn render(interactions: &[HistoryEntry]) -> Value {
    let one = |interaction: &HistoryEntry| {
        let mut map = Map::new();
        map.insert("timestamp".to_owned(), json!(interaction.timestamp));
        map.insert("goal".to_owned(), json!(interaction.goal));
        map.insert("plan".to_owned(), interaction.plan.clone());
        map.insert("output".to_owned(), json!(interaction.output));
        if !interaction.metadata.is_null() {
            map.insert("metadata".to_owned(), interaction.metadata.clone());
        }
        for (name, value) in &interaction.extra {
            map.entry(name).or_insert_with(|| value.clone());
        }
        Value::Object(map)
    };
    Value::Array(interactions.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parse_reads_all_three_formats() {
        let of = |time: &str| {
            format!(
                r#"{{"timestamp":{time},"goal":"g","plan":"p","output":"o","metadata":{{"k":1}},"x":[2]}}"#
            )
        };
        let list = format!("[{}]", of("1777629600"));
        let object = format!(r#"{{"session":[{}],"version":2}}"#, of("1777629600"));
        let epoch = of(r#"{"secs_since_epoch":1777629600,"nanos_since_epoch":5}"#);
        let read = parse(list.as_bytes()).unwrap();
        assert_eq!(read.interactions[0].timestamp, Some(1_777_629_600));
        assert_eq!(read.interactions[0].extra["x"], json!([2]));
        assert_eq!(parse(object.as_bytes()), Ok(read.clone()));
        assert_eq!(parse(format!("[{epoch}]").as_bytes()), Ok(read.clone()));
        let rendered = render(&read.interactions).to_string();
        assert_eq!(parse(rendered.as_bytes()), Ok(read));
    }

    #[test]
    fn parse_skips_and_reports_invalid_interactions() {
        let text = r#"[5, {"goal":"a","output":"b"}, {"goal":3}, {}, {"goal":"x","timestamp":"soon"},
            {"goal":"c","plan":{"steps":[1]}}]"#;
        let read = parse(text.as_bytes()).unwrap();
        assert_eq!(read.interactions.len(), 2);
        assert_eq!(read.interactions[1].plan, json!({"steps": [1]}));
        assert_eq!(
            read.diagnostics,
            [
                "interaction 1: it is not an object; skipped",
                "interaction 3: `goal` is not a text; skipped",
                "interaction 4: it has neither goal nor plan nor output; skipped",
                "interaction 5: `timestamp` is not a time: \"soon\"; skipped",
            ]
        );
        for none in ["", "[{\"goal\":", "\u{feff}[]"] {
            assert!(
                matches!(parse(none.as_bytes()), Err(HistoryProblem::NoJson(_))),
                "{none}"
            );
        }
        for other in ["5", "{}", r#"{"session":5}"#, "null"] {
            assert_eq!(
                parse(other.as_bytes()),
                Err(HistoryProblem::NoList),
                "{other}"
            );
        }
    }

    #[test]
    fn parse_limits_interactions_and_diagnostics() {
        let list = |count: usize, one: &str| format!("[{}]", vec![one; count].join(","));
        let most = parse(list(HISTORY_INTERACTIONS_MAX, r#"{"goal":"g"}"#).as_bytes()).unwrap();
        assert_eq!(
            (most.interactions.len(), most.diagnostics.len()),
            (HISTORY_INTERACTIONS_MAX, 0)
        );
        let over = parse(list(HISTORY_INTERACTIONS_MAX + 1, r#"{"goal":"g"}"#).as_bytes()).unwrap();
        assert_eq!(over.interactions.len(), HISTORY_INTERACTIONS_MAX);
        assert!(over.diagnostics[0].starts_with("1 interactions at the beginning"));
        let bad = parse(list(DIAGNOSTICS_MAX + 3, "0").as_bytes()).unwrap();
        assert_eq!(bad.diagnostics.len(), DIAGNOSTICS_MAX + 1);
        assert!(bad.diagnostics[DIAGNOSTICS_MAX].starts_with("3 more"));
    }

    proptest! {
        #[test]
        fn parse_any_bytes_round_trips(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(read) = parse(&bytes) {
                let rendered = parse(render(&read.interactions).to_string().as_bytes()).unwrap();
                prop_assert_eq!(rendered.interactions, read.interactions);
            }
        }
    }
}
