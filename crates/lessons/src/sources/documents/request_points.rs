//! Requirements and facts in a person's request.

use crate::cues::DocumentCues;
use crate::outline::{OutlineSection, read_outline};
use crate::sentences::{capitalize, is_question, sentences, without_quoted_or_code};
use serde::{Deserialize, Serialize};

/// Smallest number of words of a sentence that states something.
const WORDS_MIN: usize = 5;
/// Greatest number of characters of a sentence.
const SENTENCE_CHARS_MAX: usize = 280;
/// Number of characters at the beginning of a request that its episode contains.
const SHOWN_CHARS: usize = 340;
/// Greatest number of bytes of a request that are read; longer ones contain logs or documents.
const REQUEST_BYTES_MAX: usize = 4 << 10;

/// A point of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RequestPoint {
    /// The person's words.
    pub(super) text: String,
    /// True for a fact about the project, false for requirements.
    pub(super) is_fact: bool,
}

/// Returns the requirements of a request as one point, and its facts.
pub(super) fn read_request(
    request: &str,
    cues: &DocumentCues,
    chars_max: usize,
) -> Vec<RequestPoint> {
    if request.len() > REQUEST_BYTES_MAX {
        return Vec::new();
    }
    let own = without_quoted_or_code(request);
    let sections = read_outline(&own);
    let mut requirements: Vec<String> = Vec::new();
    let mut facts: Vec<RequestPoint> = Vec::new();
    let mut read = 0;
    for section in &sections {
        let list = list_text(section, chars_max);
        read += list.as_ref().map_or(0, |list| list.chars().count());
        requirements.extend(list);
        for item in section.items.iter().filter(|item| !item.is_listed) {
            let mut run = String::new();
            for sentence in sentences(&item.text) {
                let lower = sentence.to_lowercase();
                read += sentence.chars().count();
                let is_statement = sentence.split_whitespace().count() >= WORDS_MIN
                    && sentence.chars().count() <= SENTENCE_CHARS_MAX
                    && !is_question(sentence);
                if is_statement
                    && cues.request.fact.is_in(&lower)
                    && !cues.request.supposition.begins(&lower)
                {
                    if !run.is_empty() {
                        run.push(' ');
                    }
                    run.push_str(sentence);
                } else {
                    push_fact(&mut facts, &mut run, chars_max);
                    // The episode's request contains the beginning.
                    let is_shown = read <= SHOWN_CHARS;
                    if is_statement && !is_shown && cues.request.requirement.is_in(&lower) {
                        requirements.push(capitalize(sentence));
                    }
                }
            }
            push_fact(&mut facts, &mut run, chars_max);
        }
    }
    let mut points: Vec<RequestPoint> = requirement_point(&requirements, chars_max)
        .into_iter()
        .collect();
    points.append(&mut facts);
    points
}

/// Returns a section's list with its heading.
fn list_text(section: &OutlineSection, chars_max: usize) -> Option<String> {
    let items: Vec<String> = section
        .items
        .iter()
        .filter(|item| item.is_listed)
        .map(|item| {
            item.full_text()
                .trim_end_matches(['.', ';', ','])
                .to_owned()
        })
        .collect();
    if section.heading.is_empty() || items.len() < 2 {
        return None;
    }
    let text = format!("{}: {}.", capitalize(&section.heading), items.join("; "));
    (text.chars().count() <= chars_max).then_some(text)
}

fn push_fact(facts: &mut Vec<RequestPoint>, run: &mut String, chars_max: usize) {
    let text = capitalize(std::mem::take(run).trim());
    if !text.is_empty() && text.chars().count() <= chars_max {
        facts.push(RequestPoint {
            text: with_end(text),
            is_fact: true,
        });
    }
}

/// Returns all requirements that fit into one record.
fn requirement_point(requirements: &[String], chars_max: usize) -> Option<RequestPoint> {
    let mut text = String::from("The request requires:");
    let start = text.len();
    let mut used = text.chars().count();
    for requirement in requirements {
        let requirement = with_end(requirement.clone());
        let chars = requirement.chars().count() + 1;
        if used + chars <= chars_max {
            text.push(' ');
            text.push_str(&requirement);
            used += chars;
        }
    }
    (text.len() > start).then_some(RequestPoint {
        text,
        is_fact: false,
    })
}

fn with_end(mut text: String) -> String {
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    #[test]
    fn read_request_finds_requirements_and_facts() {
        let request = "Write a client for orders.\nIt should be a drop-in replacement for the old one. Can we do that?\n\nPage filters:\n- Date range\n- Customer (one or many)\n\nOrders are connected to invoices through the customer. We don't have a direct link in the database.\n";
        let points = read_request(request, &Cues::get().documents, 390);
        assert_eq!(points.len(), 2, "{points:?}");
        assert_eq!(
            points[0].text,
            "The request requires: Page filters: Date range; Customer (one or many)."
        );
        assert_eq!(
            points[1].text,
            "Orders are connected to invoices through the customer. We don't have a direct link in the database."
        );
        assert!(points[1].is_fact && !points[0].is_fact);
    }

    #[test]
    fn read_request_ignores_questions_and_quotations() {
        assert!(
            read_request(
                "Should we use it? \"We have a long quoted passage that states something.\"",
                &Cues::get().documents,
                390
            )
            .is_empty()
        );
    }
}
