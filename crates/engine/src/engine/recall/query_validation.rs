//! Query validation: limits of a recall request, keys named in a query, filters for turns.

use super::{QuerySyntax, RecallRequest};
use heirloom_model::{Fault, Timestamp, limits};
use heirloom_search::index::tokenizer::{self, Term};
use heirloom_search::recall::query::split_filters;
use heirloom_search::recall::{ParsedQuery, RecallItem};
use heirloom_store::{AsOf, Filter};

/// Returns the validated number of hits.
pub(super) fn checked_count(request: &RecallRequest) -> Result<usize, Fault> {
    let most = limits::RECALL_HITS_MAX;
    let k = match (request.k, request.budget_tokens) {
        (Some(k), _) => k,
        (None, Some(_)) => limits::RECALL_POOL_HITS,
        (None, None) => limits::RECALL_HITS_DEFAULT,
    };
    if !(1..=most).contains(&k) {
        return Err(Fault::usage(format!(
            "{k} hits requested; 1 to {most} are possible"
        )));
    }
    match request.budget_tokens {
        Some(0) => Err(Fault::usage(
            "a budget of 0 tokens is too small for an answer",
        )),
        Some(budget) if budget > limits::RECALL_BUDGET_TOKENS_MAX => Err(Fault::usage(format!(
            "a budget of {budget} tokens; at most {} are allowed",
            limits::RECALL_BUDGET_TOKENS_MAX
        ))),
        Some(_) | None => Ok(k),
    }
}

/// Returns the number of candidates to rank for a number of hits.
pub(super) fn candidate_count(hits: usize) -> usize {
    (2 * hits).max(limits::RECALL_CANDIDATES_MIN)
}

pub(super) fn parse_query(
    question: &str,
    reading: QuerySyntax,
    now: Timestamp,
) -> Result<ParsedQuery, Fault> {
    if question.trim().is_empty() {
        return Err(Fault::usage("the question is empty").hint("heirloom recall \"WORDS\""));
    }
    if question.len() > limits::RECALL_QUERY_BYTES_MAX {
        return Err(Fault::usage(format!(
            "the question has {} bytes; at most {} are allowed",
            question.len(),
            limits::RECALL_QUERY_BYTES_MAX
        )));
    }
    Ok(match reading {
        QuerySyntax::Question => ParsedQuery::parse(question, now),
        QuerySyntax::Words => ParsedQuery::parse_as_text(question, now),
    })
}

/// Returns the request without filters in its question, if it has other words: pasted text such as
/// `Execution failed for task:compileJava` has none that anything matches. The second value are the filters.
pub(super) fn without_filters(request: &RecallRequest) -> Option<(RecallRequest, String)> {
    if request.syntax == QuerySyntax::Words {
        return None;
    }
    let (words, filters) = split_filters(&request.question);
    let words_only = RecallRequest {
        syntax: QuerySyntax::Words,
        ..request.clone()
    };
    (!words.is_empty() && !filters.is_empty()).then(|| (words_only, filters.join(" ")))
}

/// Returns true if a turn passes the filter, as far as turns have its fields.
pub(super) fn turn_fits(turn: &RecallItem, filter: &Filter) -> bool {
    let RecallItem::Turn { session, .. } = turn else {
        return true;
    };
    let at = turn.recorded_at();
    let in_time = filter.recorded_from.is_none_or(|from| from <= at)
        && filter.recorded_before.is_none_or(|before| at < before);
    let then = match filter.as_of {
        AsOf::Past(then) => at <= then,
        AsOf::Current(_) | AsOf::Ever => true,
    };
    let by = filter.source.as_deref();
    let of = filter.scope.session.as_deref();
    in_time
        && then
        && by.is_none_or(|source| source == turn.source())
        && of.is_none_or(|wanted| wanted == session)
}

/// Returns the keys that a query may name: the whole query, and its words that are not plain words.
pub(super) fn query_keys(question: &str) -> Vec<&str> {
    let around = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '/'));
    let is_name = |word: &&str| word.contains(|c: char| !c.is_alphabetic()) && word.len() > 1;
    let words = question
        .split_whitespace()
        .take(limits::RECALL_PAIR_WORDS_MAX);
    let mut keys = vec![question.trim()];
    for word in words.map(|word| word.trim_matches(around)).filter(is_name) {
        if !keys.contains(&word) {
            keys.push(word);
        }
        if keys.len() == limits::RECALL_KEYS_MAX {
            break;
        }
    }
    keys.retain(|key| key.len() <= limits::KEY_BYTES_MAX);
    keys
}

/// Returns the stems of a text in order, as the index builds them for a query.
pub(super) fn stems(text: &str) -> Vec<Term> {
    let all = tokenizer::stems(text).into_iter();
    all.filter(|stem| !stem.is_extra)
        .map(|stem| stem.term)
        .take(limits::RECALL_PAIR_WORDS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_keys_are_whole_text_and_names() {
        for (question, expected) in [
            ("indent", &["indent"][..]),
            (
                "where is MAX_SIZE, in src/a.rs?",
                &["where is MAX_SIZE, in src/a.rs?", "MAX_SIZE", "src/a.rs"],
            ),
            ("a1 b2 c3 d4 e5", &["a1 b2 c3 d4 e5", "a1", "b2", "c3"]),
        ] {
            assert_eq!(query_keys(question), expected);
            assert!(query_keys(question).len() <= limits::RECALL_KEYS_MAX);
        }
        let long = "x".repeat(limits::KEY_BYTES_MAX + 1);
        assert!(query_keys(&long).is_empty());
    }

    #[test]
    fn counts_and_budgets_out_of_range_are_refused() {
        let count = |k, budget_tokens| {
            checked_count(&RecallRequest {
                k,
                budget_tokens,
                ..RecallRequest::default()
            })
        };
        assert_eq!(count(None, None), Ok(limits::RECALL_HITS_DEFAULT));
        assert_eq!(count(None, Some(9)), Ok(limits::RECALL_POOL_HITS));
        assert_eq!(
            count(Some(limits::RECALL_HITS_MAX), None),
            Ok(limits::RECALL_HITS_MAX)
        );
        let most = limits::RECALL_BUDGET_TOKENS_MAX;
        assert_eq!(count(Some(3), Some(most)), Ok(3));
        for (k, budget) in [
            (Some(0), None),
            (Some(limits::RECALL_HITS_MAX + 1), None),
            (None, Some(0)),
            (None, Some(most + 1)),
        ] {
            assert!(count(k, budget).is_err(), "{k:?} {budget:?}");
        }
    }

    #[test]
    fn candidate_count_exceeds_requested_hits() {
        let (few, most) = (limits::RECALL_CANDIDATES_MIN, limits::RECALL_HITS_MAX);
        assert_eq!(candidate_count(1), few);
        assert_eq!(candidate_count(limits::RECALL_HITS_DEFAULT), few);
        assert_eq!(candidate_count(few), 2 * few);
        assert_eq!(candidate_count(most), 2 * most);
    }

    #[test]
    fn empty_or_oversized_query_is_refused() {
        let now = Timestamp::UNIX_EPOCH;
        let question =
            |bytes: usize| parse_query(&"a ".repeat(bytes / 2), QuerySyntax::Question, now);
        assert!(question(limits::RECALL_QUERY_BYTES_MAX).is_ok());
        assert!(question(limits::RECALL_QUERY_BYTES_MAX + 2).is_err());
        assert!(question(0).is_err());
        assert!(parse_query("kind:x y", QuerySyntax::Question, now).is_ok());
        assert!(parse_query("kind:x y", QuerySyntax::Words, now).is_ok());
    }
}
