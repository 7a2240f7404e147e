//! Labelled features: one line of JSON for each question, as `heirloom-bench --only relevance-features` prints them.

use serde_json::Value;

/// All questions, and the names of the features.
#[derive(Debug)]
pub(crate) struct LabelledFeatures {
    /// Names of the features, from the first line.
    pub(crate) names: Vec<String>,
    /// The questions.
    pub(crate) questions: Vec<LabelledQuestion>,
}

/// One question.
#[derive(Debug, Clone)]
pub(crate) struct LabelledQuestion {
    /// Sort of data: `prompts`, `commits`, `conversations`.
    pub(crate) sort: String,
    /// Project.
    pub(crate) group: String,
    /// Style of a prompt; may be empty.
    pub(crate) style: String,
    /// True if a record answers it.
    pub(crate) is_answered: bool,
    /// True if its project is left out in turn, reported, and decides about thresholds.
    pub(crate) is_reported: bool,
    /// Its candidates in recall's order.
    pub(crate) records: Vec<LabelledRecord>,
}

/// One candidate of a question.
#[derive(Debug, Clone)]
pub(crate) struct LabelledRecord {
    /// 1 for a record that should be told, 0.5 for a harmless and mildly useful one, otherwise 0.
    pub(crate) label: f64,
    /// Its features.
    pub(crate) features: Vec<f64>,
}

/// Parses the lines. The first one is `{"features": [names]}`.
pub(crate) fn read(bytes: &[u8]) -> Result<LabelledFeatures, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let mut names: Vec<String> = Vec::new();
    let mut questions = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let bad = |what: &str| format!("line {}: {what}", number + 1);
        let value: Value = serde_json::from_str(line).map_err(|error| bad(&error.to_string()))?;
        if let Some(list) = value.get("features").and_then(Value::as_array) {
            names = list
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect();
            continue;
        }
        let word = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let records = value.get("records").and_then(Value::as_array);
        let records: Option<Vec<LabelledRecord>> =
            records.into_iter().flatten().map(record).collect();
        let records = records.ok_or_else(|| bad("a record without a label or features"))?;
        if records.iter().any(|one| one.features.len() != names.len()) {
            return Err(bad(&format!("a record has not {} features", names.len())));
        }
        questions.push(LabelledQuestion {
            sort: word("sort").ok_or_else(|| bad("no sort"))?,
            group: word("group").ok_or_else(|| bad("no group"))?,
            style: word("style").unwrap_or_default(),
            is_answered: value
                .get("answered")
                .and_then(Value::as_bool)
                .ok_or_else(|| bad("no answered"))?,
            is_reported: value
                .get("reported")
                .and_then(Value::as_bool)
                .unwrap_or(false),
            records,
        });
    }
    match names.is_empty() || questions.is_empty() {
        true => Err("no features or no questions".to_owned()),
        false => Ok(LabelledFeatures { names, questions }),
    }
}

fn record(value: &Value) -> Option<LabelledRecord> {
    let features = value.get("features")?.as_array()?;
    Some(LabelledRecord {
        label: value.get("label")?.as_f64()?,
        features: features.iter().map(Value::as_f64).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_bad_ones_refused() {
        let head = r#"{"features": ["a", "b"]}"#;
        let line = r#"{"sort": "prompts", "group": "x", "query": "q", "answered": true, "records": [{"id": "r", "label": 0.5, "features": [1, 2.5]}]}"#;
        let data = read(format!("{head}\n{line}\n").as_bytes()).unwrap();
        assert_eq!(data.names, ["a", "b"]);
        assert_eq!(data.questions[0].records[0].features, [1.0, 2.5]);
        assert!((data.questions[0].records[0].label - 0.5).abs() < 1e-9);
        assert!(read(head.as_bytes()).is_err());
        assert!(read(line.as_bytes()).is_err());
        let short = line.replace("[1, 2.5]", "[1]");
        assert!(read(format!("{head}\n{short}\n").as_bytes()).is_err());
    }
}
