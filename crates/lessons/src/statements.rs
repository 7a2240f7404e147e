//! Statements: sentences without beginnings that have no content, completed to whole sentences.

use crate::sentences::capitalize;

/// Beginnings that are removed one after the other.
const LEAD_INS_MAX: usize = 3;

/// Removes beginnings without content. The list has them in lower case.
pub(crate) fn without_lead_in<'s>(sentence: &'s str, lead_ins: &[String]) -> &'s str {
    let mut rest = sentence;
    for _ in 0..LEAD_INS_MAX {
        let lead = lead_ins.iter().find(|lead| {
            let head = rest.get(..lead.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(lead))
        });
        match lead {
            Some(lead) => rest = rest.get(lead.len()..).unwrap_or_default().trim_start(),
            None => break,
        }
    }
    rest
}

/// Returns a statement with a capital and a full stop.
pub(crate) fn finish_statement(statement: &str) -> String {
    let mut text = capitalize(statement.trim());
    let inner = text.trim_end_matches(['"', '\'', ')', '”', '’', '»']);
    let is_finished = inner.ends_with(['.', '!', '?', '…', '。']);
    if !text.is_empty() && !is_finished {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_no_lead_in_and_end_with_a_full_stop() {
        let lead_ins = [
            "so ".to_owned(),
            "the issue is that ".to_owned(),
            "i see — ".to_owned(),
        ];
        for (sentence, expected) in [
            (
                "So the issue is that the port is taken",
                "The port is taken.",
            ),
            ("I see — `x` is unset.", "`x` is unset."),
            ("It ends with \"done.\"", "It ends with \"done.\""),
            ("İt is", "İt is."),
            ("", ""),
        ] {
            assert_eq!(
                finish_statement(without_lead_in(sentence, &lead_ins)),
                expected
            );
        }
    }
}
