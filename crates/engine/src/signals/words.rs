//! The syntax of a signal's text, verb by verb.

use heirloom_model::AgentStatus;
use heirloom_model::limits::KEY_BYTES_MAX;

/// What stands between a decision and its reason.
const REASON_MARKS: [&str; 2] = [" BECAUSE ", " -- "];

/// A decision's text and its rationale, split at the first ` BECAUSE ` or ` -- `.
///
/// Unsplit when one of the sides would be empty.
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

/// A convention's key and text, split at the first `=`; quotation and code marks around the key are dropped.
///
/// # Errors
/// What to write instead, when the text is not `key = text`.
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

/// A status and the message after it.
///
/// Only the four names in capitals are a status; any other text is progress, all of it the message.
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
