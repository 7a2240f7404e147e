//! Content of a project's memory, read with `heirloom export`.

use crate::sandbox::Sandbox;
use serde_json::Value;
use std::collections::BTreeSet;

/// All records, sessions and messages, current or retired.
pub(super) struct Export {
    /// Lines of the export, unparsed.
    pub(super) export: String,
    lines: Vec<Value>,
}

impl Export {
    /// Exports the project of `desk`.
    pub(super) fn read(desk: &Sandbox) -> Result<Self, String> {
        Self::of(desk.call_ok(&["export", "--format", "jsonl", "--all"])?)
    }

    /// Parses an export.
    pub(super) fn of(export: String) -> Result<Self, String> {
        let lines: Result<Vec<Value>, _> = export.lines().map(serde_json::from_str).collect();
        let lines = lines.map_err(|error| format!("an export is no JSONL: {error}"))?;
        Ok(Self { export, lines })
    }

    /// The records.
    pub(super) fn records(&self) -> impl Iterator<Item = &Value> {
        let others = ["session", "message", "lapse"];
        let is_record = move |line: &&Value| !others.iter().any(|kind| line["kind"] == *kind);
        self.lines.iter().filter(is_record)
    }

    /// The messages of sessions.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(|line| line["kind"] == "message")
    }

    /// The ids of all lines in order.
    pub(super) fn ids(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter_map(|line| line["id"].as_str())
            .collect()
    }

    /// The ids of the records that are current.
    pub(super) fn current(&self) -> BTreeSet<String> {
        let current = self
            .records()
            .filter(|record| record["retired_at"].is_null());
        current
            .filter_map(|record| record["id"].as_str().map(str::to_owned))
            .collect()
    }

    /// The texts of the records.
    pub(super) fn texts(&self) -> BTreeSet<&str> {
        self.records()
            .filter_map(|record| record["text"].as_str())
            .collect()
    }

    /// Returns how many texts of `wanted`, written in this order, are present; a gap is an error.
    pub(super) fn prefix_of(&self, wanted: &[String]) -> Result<usize, String> {
        let texts = self.texts();
        let there = |text: &String| texts.contains(text.as_str());
        let prefix = wanted.iter().take_while(|text| there(text)).count();
        match wanted[prefix..].iter().find(|text| there(text)) {
            None => Ok(prefix),
            Some(later) => Err(format!(
                "`{}` is lost, `{later}`, which came later, is there",
                wanted[prefix]
            )),
        }
    }
}

/// Returns an error unless the condition holds.
pub(super) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_text_before_present_one_is_error() {
        let known = |texts: &[&str]| {
            let line = |text: &&str| {
                format!("{{\"kind\":\"note\",\"id\":\"{text}\",\"text\":\"{text}\"}}\n")
            };
            Export::of(texts.iter().map(line).collect()).unwrap()
        };
        let wanted = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(known(&[]).prefix_of(&wanted), Ok(0));
        assert_eq!(known(&["b", "a", "x"]).prefix_of(&wanted), Ok(2));
        assert!(
            known(&["a", "c"])
                .prefix_of(&wanted)
                .unwrap_err()
                .contains("`b` is lost")
        );
        assert!(Export::of("{".to_owned()).is_err());
    }
}
