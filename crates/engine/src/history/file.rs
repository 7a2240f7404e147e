//! `history.json`: `[{timestamp, goal, plan, output, metadata}]`, or the same as `{session: [...]}`.

use heirloom_model::limits::{DIAGNOSTICS_MAX, HISTORY_INTERACTIONS_MAX};
use heirloom_model::record::Attrs;
use heirloom_model::{clock, text};
use serde_json::{Map, Value, json};

/// One interaction as a file has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FiledInteraction {
    /// When, in seconds since 1970.
    pub timestamp: Option<i64>,
    /// What was wanted.
    pub goal: String,
    /// How it was to be done, in whatever form; `null` if nobody says.
    pub plan: Value,
    /// What came of it.
    pub output: String,
    /// What else is known of it; `null` if nothing.
    pub metadata: Value,
    /// Fields that are not known here, which are kept.
    pub extra: Attrs,
}

/// What a file of a history says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryFile {
    /// Its interactions, in the file's order.
    pub interactions: Vec<FiledInteraction>,
    /// What could not be read.
    pub diagnostics: Vec<String>,
}

/// Why a file is no history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryProblem {
    /// It is no JSON: half of it may be missing.
    #[error("it is no JSON: {0}")]
    NoJson(String),
    /// It is JSON of another form.
    #[error("it is neither a list of interactions nor an object with such a list as `session`")]
    NoList,
}

/// Reads a file of a history. What is no interaction is left out, which is told.
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
    let mut untold = 0;
    // The newest are at the end.
    for (n, value) in list.into_iter().enumerate().skip(beyond) {
        match interaction(value) {
            Ok(interaction) => file.interactions.push(interaction),
            Err(_) if file.diagnostics.len() >= DIAGNOSTICS_MAX => untold += 1,
            Err(problem) => (file.diagnostics).push(format!("interaction {}: {problem}", n + 1)),
        }
    }
    if untold > 0 {
        (file.diagnostics).push(format!("{untold} more interactions could not be read"));
    }
    if beyond > 0 {
        let most = HISTORY_INTERACTIONS_MAX;
        (file.diagnostics).push(format!(
            "{beyond} interactions at the beginning were left out: at most {most} are read"
        ));
    }
    Ok(file)
}

fn interaction(value: Value) -> Result<FiledInteraction, String> {
    let Value::Object(mut map) = value else {
        return Err("it is no object; skipped".to_owned());
    };
    let mut said = |name: &str| match map.remove(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(said)) => Ok(said),
        Some(_) => Err(format!("`{name}` is no text; skipped")),
    };
    let (goal, output) = (said("goal")?, said("output")?);
    let plan = map.remove("plan").unwrap_or_default();
    let timestamp = match map.remove("timestamp") {
        None | Some(Value::Null) => None,
        Some(said) => {
            let seconds = clock::seconds(&said);
            let shown = || text::excerpt(&said.to_string(), 60);
            Some(seconds.ok_or_else(|| format!("`timestamp` is no time: {}; skipped", shown()))?)
        }
    };
    let has_plan = !matches!(&plan, Value::Null) && plan.as_str() != Some("");
    if goal.trim().is_empty() && output.trim().is_empty() && !has_plan {
        return Err("it has neither goal nor plan nor output; skipped".to_owned());
    }
    Ok(FiledInteraction {
        timestamp,
        goal,
        plan,
        output,
        metadata: map.remove("metadata").unwrap_or_default(),
        extra: map,
    })
}

/// The list form of a history.
pub fn render(interactions: &[FiledInteraction]) -> Value {
    let one = |interaction: &FiledInteraction| {
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
    fn the_three_forms_say_the_same() {
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
        let again = render(&read.interactions).to_string();
        assert_eq!(parse(again.as_bytes()), Ok(read));
    }

    #[test]
    fn what_is_wrong_is_said_and_the_rest_is_read() {
        let text = r#"[5, {"goal":"a","output":"b"}, {"goal":3}, {}, {"goal":"x","timestamp":"soon"},
            {"goal":"c","plan":{"steps":[1]}}]"#;
        let read = parse(text.as_bytes()).unwrap();
        assert_eq!(read.interactions.len(), 2);
        assert_eq!(read.interactions[1].plan, json!({"steps": [1]}));
        assert_eq!(
            read.diagnostics,
            [
                "interaction 1: it is no object; skipped",
                "interaction 3: `goal` is no text; skipped",
                "interaction 4: it has neither goal nor plan nor output; skipped",
                "interaction 5: `timestamp` is no time: \"soon\"; skipped",
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
    fn a_file_has_a_cap_and_so_have_its_diagnostics() {
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
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(read) = parse(&bytes) {
                let again = parse(render(&read.interactions).to_string().as_bytes()).unwrap();
                prop_assert_eq!(again.interactions, read.interactions);
            }
        }
    }
}
