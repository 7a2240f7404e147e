//! Answers that a person typed to questions of the agent. An answer that the agent offered is the agent's words.

use crate::json_fields::{Field, as_nonblank_string, as_object, for_each_element};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Greatest number of labels of offered answers that are read.
const LABELS_MAX: usize = 100;

/// The result of a tool, as the program keeps it for itself.
#[derive(Deserialize)]
struct QuestionResult<'a> {
    #[serde(borrow)]
    questions: Field<'a>,
    #[serde(borrow)]
    answers: Field<'a>,
}

/// A question.
#[derive(Deserialize)]
struct Question<'a> {
    #[serde(borrow)]
    options: Field<'a>,
}

/// An offered answer.
#[derive(Deserialize)]
struct Offer<'a> {
    #[serde(borrow)]
    label: Field<'a>,
}

/// Returns the typed answers in the result of a tool, a line each; empty without any.
pub(super) fn typed_answers(result: Field<'_>) -> String {
    let Some(result) = as_object::<QuestionResult<'_>>(result) else {
        return String::new();
    };
    let answers: BTreeMap<String, String> = (result.answers)
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let mut labels: Vec<String> = Vec::new();
    for_each_element(result.questions, &mut |raw| {
        let options = as_object::<Question<'_>>(Some(raw)).and_then(|one| one.options);
        for_each_element(options, &mut |raw| {
            let label =
                as_object::<Offer<'_>>(Some(raw)).and_then(|one| as_nonblank_string(one.label));
            labels.extend(label.filter(|_| labels.len() < LABELS_MAX));
        });
    });
    // A label may be a part of another one.
    labels.sort_by_key(|label| std::cmp::Reverse(label.len()));
    let typed = answers
        .into_values()
        .filter(|answer| !is_offered(answer, &labels));
    typed.collect::<Vec<_>>().join("\n")
}

/// Returns true if an answer has only offered ones, as in `Search, Filters`.
fn is_offered(answer: &str, labels: &[String]) -> bool {
    let mut rest = answer.to_owned();
    for label in labels {
        rest = rest.replace(label, "");
    }
    rest.trim_matches([',', ' ']).is_empty()
}
