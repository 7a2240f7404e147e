//! What a question asks, checked: how many hits, which text, which keys it names.

use super::{Reading, RecallRequest};
use crate::recall::{Asked, Item};
use heirloom_index::words::{self, Term};
use heirloom_model::{Fault, Timestamp, limits};
use heirloom_store::{Filter, When};

/// How many hits are asked for, checked.
pub(super) fn checked_count(request: &RecallRequest) -> Result<usize, Fault> {
    let most = limits::RECALL_HITS_MAX;
    let k = match (request.k, request.budget_tokens) {
        (Some(k), _) => k,
        (None, Some(_)) => limits::RECALL_HITS_MANY,
        (None, None) => limits::RECALL_HITS_DEFAULT,
    };
    if !(1..=most).contains(&k) {
        return Err(Fault::usage(format!(
            "{k} hits are asked for; 1 to {most} are possible"
        )));
    }
    match request.budget_tokens {
        Some(0) => Err(Fault::usage(
            "a budget of 0 tokens has no room for an answer",
        )),
        Some(budget) if budget > limits::RECALL_BUDGET_TOKENS_MAX => Err(Fault::usage(format!(
            "a budget of {budget} tokens; at most {} are allowed",
            limits::RECALL_BUDGET_TOKENS_MAX
        ))),
        Some(_) | None => Ok(k),
    }
}

/// How many candidates are ranked for so many hits.
pub(super) fn candidates(hits: usize) -> usize {
    (2 * hits).max(limits::RECALL_CANDIDATES_MIN)
}

pub(super) fn ask(question: &str, reading: Reading, now: Timestamp) -> Result<Asked, Fault> {
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
    let asked = match reading {
        Reading::Question => Asked::of(question, now),
        Reading::Words => Asked::words(question, now),
    };
    match asked.errors.first() {
        Some(error) => {
            Err(Fault::usage(error.clone())
                .hint("in backticks it is a word and no filter: `kind:x`"))
        }
        None => Ok(asked),
    }
}

/// Whether a turn is what the filter asks for, as far as a turn can tell.
pub(super) fn turn_fits(turn: &Item, filter: &Filter) -> bool {
    let Item::Turn { session, .. } = turn else {
        return true;
    };
    let at = turn.recorded_at();
    let in_time = filter.recorded_from.is_none_or(|from| from <= at)
        && filter.recorded_before.is_none_or(|before| at < before);
    let then = match filter.when {
        When::AsOf(then) => at <= then,
        When::Current(_) | When::Ever => true,
    };
    let by = filter.source.as_deref();
    let of = filter.scope.session.as_deref();
    in_time
        && then
        && by.is_none_or(|source| source == turn.source())
        && of.is_none_or(|wanted| wanted == session)
}

/// Keys that a question may name: the whole of it, and its words that are no plain words.
pub(super) fn keys(question: &str) -> Vec<&str> {
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

/// The stems of a text in its order, as the index makes them of a question.
pub(super) fn stems(text: &str) -> Vec<Term> {
    let all = words::stems(text).into_iter();
    all.filter(|stem| !stem.is_extra)
        .map(|stem| stem.term)
        .take(limits::RECALL_PAIR_WORDS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_question() {
        for (question, expected) in [
            ("indent", &["indent"][..]),
            (
                "where is MAX_SIZE, in src/a.rs?",
                &["where is MAX_SIZE, in src/a.rs?", "MAX_SIZE", "src/a.rs"],
            ),
            ("a1 b2 c3 d4 e5", &["a1 b2 c3 d4 e5", "a1", "b2", "c3"]),
        ] {
            assert_eq!(keys(question), expected);
            assert!(keys(question).len() <= limits::RECALL_KEYS_MAX);
        }
        let long = "x".repeat(limits::KEY_BYTES_MAX + 1);
        assert!(keys(&long).is_empty());
    }

    #[test]
    fn numbers_over_their_caps_are_refused() {
        let count = |k, budget_tokens| {
            checked_count(&RecallRequest {
                k,
                budget_tokens,
                ..RecallRequest::default()
            })
        };
        assert_eq!(count(None, None), Ok(limits::RECALL_HITS_DEFAULT));
        assert_eq!(count(None, Some(9)), Ok(limits::RECALL_HITS_MANY));
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
    fn more_are_ranked_than_are_asked_for() {
        let (few, most) = (limits::RECALL_CANDIDATES_MIN, limits::RECALL_HITS_MAX);
        assert_eq!(candidates(1), few);
        assert_eq!(candidates(limits::RECALL_HITS_DEFAULT), few);
        assert_eq!(candidates(few), 2 * few);
        assert_eq!(candidates(most), 2 * most);
    }

    #[test]
    fn a_question_has_a_size() {
        let now = Timestamp::UNIX_EPOCH;
        let question = |bytes: usize| ask(&"a ".repeat(bytes / 2), Reading::Question, now);
        assert!(question(limits::RECALL_QUERY_BYTES_MAX).is_ok());
        assert!(question(limits::RECALL_QUERY_BYTES_MAX + 2).is_err());
        assert!(question(0).is_err());
        assert!(ask("kind:x y", Reading::Question, now).is_err());
        assert!(ask("kind:x y", Reading::Words, now).is_ok());
    }
}
