//! Labelled sentences of people: one line of JSON for each turn, as `heirloom-bench --only rule-features` writes them.

use serde_json::Value;
use std::collections::BTreeSet;

/// All turns, and the names of the features.
#[derive(Debug)]
pub(super) struct RuleSentences {
    /// Names of the features, from the first line.
    pub(super) names: Vec<String>,
    pub(super) turns: Vec<LabelledTurn>,
}

/// One turn.
#[derive(Debug)]
pub(super) struct LabelledTurn {
    /// `sessions`, `prompts`, a table (`sentences`, `turns`), or `checks`.
    pub(super) sort: String,
    /// Project, language, or name of a check.
    pub(super) group: String,
    /// `negative` for a turn that only looks like a rule.
    pub(super) kind: String,
    pub(super) sentences: Vec<LabelledSentence>,
}

/// One sentence.
#[derive(Debug)]
pub(super) struct LabelledSentence {
    /// `None` if a reader could not decide.
    pub(super) is_rule: Option<bool>,
    /// Name of its rule; may be empty.
    pub(super) rule: String,
    pub(super) features: Vec<f64>,
    /// Words and pairs of words.
    pub(super) words: Vec<String>,
    pub(super) text: String,
}

impl LabelledTurn {
    /// Returns true for a turn of a recorded session.
    pub(super) fn is_recorded(&self) -> bool {
        self.sort == "sessions"
    }

    /// Returns true for a prompt of a developer.
    pub(super) fn is_prompt(&self) -> bool {
        self.sort == "prompts"
    }

    /// Returns true for a turn that is in no fit.
    pub(super) fn is_check(&self) -> bool {
        self.sort == "checks"
    }

    /// Returns the name of its project or check, or the table of which it is.
    pub(super) fn group_name(&self) -> &str {
        match self.is_recorded() || self.is_prompt() || self.is_check() {
            true => &self.group,
            false => &self.sort,
        }
    }
}

/// Returns the groups: projects, tables, and checks.
pub(super) fn groups(turns: &[LabelledTurn]) -> Vec<&str> {
    let names: BTreeSet<(bool, bool, &str)> = turns
        .iter()
        .map(|turn| (turn.is_check(), !turn.is_recorded(), turn.group_name()))
        .collect();
    names.into_iter().map(|(_, _, name)| name).collect()
}

/// Parses the lines. The first one is `{"features": [names]}`.
pub(super) fn read(bytes: &[u8]) -> Result<RuleSentences, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let mut lines = text.lines().enumerate().map(|(number, line)| {
        serde_json::from_str::<Value>(line)
            .map_err(|error| format!("line {}: {error}", number + 1))
            .map(|value| (number + 1, value))
    });
    let (_, head) = lines.next().ok_or("no lines")??;
    let names = head["features"].as_array().ok_or("line 1: no features")?;
    let names: Vec<String> = names.iter().map(string).collect();
    let mut turns = Vec::new();
    for line in lines {
        let (number, line) = line?;
        let sentences = line["sentences"].as_array();
        let sentences = sentences.ok_or_else(|| format!("line {number}: no sentences"))?;
        let sentences: Vec<LabelledSentence> = sentences.iter().map(sentence).collect();
        if sentences
            .iter()
            .any(|one| one.features.len() != names.len())
        {
            return Err(format!(
                "line {number}: a sentence has not {} features",
                names.len()
            ));
        }
        turns.push(LabelledTurn {
            sort: string(&line["sort"]),
            group: string(&line["group"]),
            kind: string(&line["kind"]),
            sentences,
        });
    }
    match turns.is_empty() {
        true => Err("no turns".to_owned()),
        false => Ok(RuleSentences { names, turns }),
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn sentence(value: &Value) -> LabelledSentence {
    let features = value["features"].as_array();
    LabelledSentence {
        is_rule: value["label"].as_u64().map(|label| label == 1),
        rule: string(&value["rule"]),
        features: (features.into_iter().flatten())
            .filter_map(Value::as_f64)
            .collect(),
        words: (value["words"].as_array().into_iter().flatten())
            .map(string)
            .collect(),
        text: string(&value["text"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_bad_ones_refused() {
        let head = r#"{"features": ["a", "b"]}"#;
        let line = r#"{"sort": "sessions", "group": "x", "kind": "", "sentences": [{"label": null, "rule": "r", "features": [1, 0], "words": ["t"], "text": "t"}]}"#;
        let data = read(format!("{head}\n{line}\n").as_bytes()).unwrap();
        assert_eq!(data.names, ["a", "b"]);
        let turn = &data.turns[0];
        assert!(turn.is_recorded() && turn.sentences[0].is_rule.is_none());
        assert_eq!(turn.sentences[0].features, [1.0, 0.0]);
        assert!(read(head.as_bytes()).is_err());
        assert!(read(line.as_bytes()).is_err());
        let short = line.replace("[1, 0]", "[1]");
        assert!(read(format!("{head}\n{short}\n").as_bytes()).is_err());
    }
}
