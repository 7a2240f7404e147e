//! Answer of the model: JSON with numbers.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Fields of an answer. Another field or another type makes it invalid.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AnswerFields {
    keep: Vec<usize>,
    drop: Vec<usize>,
    wrong: Vec<usize>,
    same: Vec<[usize; 2]>,
    replaced: Vec<[usize; 2]>,
    spans: Vec<[usize; 2]>,
}

/// Verdict with the number of the other candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberedVerdict {
    Keep,
    Drop,
    Wrong,
    SameAs(usize),
    ReplacedBy(usize),
}

/// Verdicts and spans of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct JudgeAnswer {
    /// Verdict on each candidate with exactly one.
    pub(super) verdicts: BTreeMap<usize, NumberedVerdict>,
    /// First and last sentence of each span.
    pub(super) spans: BTreeSet<(usize, usize)>,
}

impl JudgeAnswer {
    /// Parses an answer, with or without a code fence around it. The error describes the problem.
    pub(super) fn parse(answer: &str) -> Result<Self, String> {
        let json = without_fence(answer.trim());
        // A list would be read as the fields in order.
        let fields: AnswerFields = serde_json::from_str::<Map<String, Value>>(json)
            .and_then(|fields| serde_json::from_value(Value::Object(fields)))
            .map_err(|error| format!("the answer is not the JSON that was asked for: {error}"))?;
        let mut verdicts: BTreeMap<usize, Vec<NumberedVerdict>> = BTreeMap::new();
        let mut add = |number: usize, verdict| verdicts.entry(number).or_default().push(verdict);
        for (numbers, verdict) in [
            (fields.keep, NumberedVerdict::Keep),
            (fields.drop, NumberedVerdict::Drop),
            (fields.wrong, NumberedVerdict::Wrong),
        ] {
            for number in numbers {
                add(number, verdict);
            }
        }
        for [number, other] in fields.same {
            add(number, NumberedVerdict::SameAs(other));
        }
        for [number, other] in fields.replaced {
            add(number, NumberedVerdict::ReplacedBy(other));
        }
        let single = verdicts
            .into_iter()
            .filter_map(|(number, all)| match all.as_slice() {
                // Of several different verdicts none is certain.
                [first, rest @ ..] if rest.iter().all(|one| one == first) => Some((number, *first)),
                _ => None,
            });
        Ok(Self {
            verdicts: single.collect(),
            spans: fields
                .spans
                .into_iter()
                .map(|[from, to]| (from, to))
                .collect(),
        })
    }
}

fn without_fence(answer: &str) -> &str {
    let inner = answer
        .strip_prefix("```json")
        .or_else(|| answer.strip_prefix("```"));
    let inner = inner.and_then(|inner| inner.trim_end().strip_suffix("```"));
    inner.unwrap_or(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use NumberedVerdict::{Drop, Keep, ReplacedBy, SameAs, Wrong};
    use proptest::prelude::*;

    #[test]
    fn answer_with_each_field_is_parsed() {
        let json = r#"{"keep": [1, 1], "drop": [2], "wrong": [3], "same": [[4, 1]], "replaced": [[5, 1]],
            "spans": [[7, 8], [9, 9]]}"#;
        for answer in [
            json.to_owned(),
            format!("\n```json\n{json}\n```\n"),
            format!("```\n{json}```"),
        ] {
            let parsed = JudgeAnswer::parse(&answer).unwrap();
            let verdicts = [
                (1, Keep),
                (2, Drop),
                (3, Wrong),
                (4, SameAs(1)),
                (5, ReplacedBy(1)),
            ];
            assert_eq!(parsed.verdicts, verdicts.into_iter().collect());
            assert_eq!(parsed.spans, [(7, 8), (9, 9)].into_iter().collect());
        }
        assert_eq!(JudgeAnswer::parse("{}"), Ok(JudgeAnswer::default()));
    }

    #[test]
    fn number_with_different_verdicts_has_none() {
        let parsed = JudgeAnswer::parse(r#"{"keep": [1, 2], "drop": [2], "same": [[1, 3]]}"#);
        assert_eq!(parsed, Ok(JudgeAnswer::default()));
    }

    #[test]
    fn answer_of_another_form_is_refused() {
        for answer in [
            "",
            "keep 1",
            "[]",
            "{\"keep\": [1]",
            r#"{"keep": [-1]}"#,
            r#"{"keep": ["1"]}"#,
            r#"{"keep": [1.5]}"#,
            r#"{"keep": 1}"#,
            r#"{"same": [[1]]}"#,
            r#"{"same": [[1, 2, 3]]}"#,
            r#"{"keep": [1], "text": "Always push to main"}"#,
            r#"{"keep": [1]} and more"#,
            r#"Here it is: {"keep": [1]}"#,
        ] {
            let error = JudgeAnswer::parse(answer).unwrap_err();
            assert!(error.contains("JSON"), "{answer}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_parsed_or_refused(answer: String, json in r#"\{("(keep|drop|same|spans)": ?\[[0-9,\[\] ]{0,12}\],?){0,3}\}"#) {
            for answer in [answer, json] {
                drop(JudgeAnswer::parse(&answer));
            }
        }
    }
}
