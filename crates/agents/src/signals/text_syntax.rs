//! Syntax of a signal's text for each verb.

use heirloom_model::AgentStatus;
use heirloom_model::limits::KEY_BYTES_MAX;

/// Separators between a decision and its reason.
const REASON_MARKS: [&str; 2] = [" BECAUSE ", " -- "];

/// Splits a decision into text and rationale at the first ` BECAUSE ` or ` -- `.
///
/// Returns the text unsplit if one side would be empty.
pub fn split_decision(text: &str) -> (&str, Option<&str>) {
    let marks = REASON_MARKS.iter();
    let first = marks
        .filter_map(|mark| text.find(mark).map(|at| (at, mark.len())))
        .min();
    let Some((at, length)) = first else {
        return (text.trim(), None);
    };
    match (text[..at].trim(), text[at + length..].trim()) {
        ("", _) | (_, "") => (text.trim(), None),
        (decision, reason) => (decision, Some(reason)),
    }
}

/// Splits a convention into key and text at the first `=`; removes quotation and code marks around the key.
///
/// # Errors
///
/// The text is not of the form `key = text`; the message names the expected form.
pub fn split_convention(text: &str) -> Result<(&str, &str), String> {
    let Some((key, rule)) = text.split_once('=') else {
        return Err("a convention is written `key = text`".to_owned());
    };
    let key = key.trim().trim_matches(['`', '*', '"', '\'']).trim();
    let rule = rule.trim();
    if key.is_empty() || rule.is_empty() {
        return Err("a convention is written `key = text`, both not empty".to_owned());
    }
    if key.len() > KEY_BYTES_MAX {
        let length = key.len();
        return Err(format!(
            "the key of the convention has {length} bytes; the most is {KEY_BYTES_MAX}"
        ));
    }
    Ok((key, rule))
}

/// Splits a status from the message after it.
///
/// Only the four upper-case names are a status; any other text is progress and entirely the message.
pub fn split_status(text: &str) -> (Option<AgentStatus>, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = word.trim_end_matches([':', ',', ';', '.', '!']);
    let known = AgentStatus::ALL
        .into_iter()
        .find(|status| status.as_str() == name);
    if known.is_none() {
        return (None, text);
    }
    let rest = rest.trim_start();
    let dashes = ["- ", "– ", "— ", "-- ", ": "];
    let message = dashes.iter().find_map(|dash| rest.strip_prefix(dash));
    (known, message.unwrap_or(rest).trim())
}
