//! Changes of a habit in two sentences: "stop running the tests with sqlite. The tests must run with postgres now." The
//! "now" of the second sentence is lasting, although it alone would be about this moment.

use super::scored_sentence::{Scored, score};
use crate::cues::{PersonRuleCues, contains_phrase, starts_with_word};
use crate::rule_model::SentencePlace;

/// Returns true if the sentence ends a habit. "Stop the server" ends none.
fn ends_habit(sentence: &Scored<'_>, cues: &PersonRuleCues) -> bool {
    let skipped = cues.lead_in_length(&sentence.normal);
    let body = sentence.normal.get(skipped..).unwrap_or_default();
    let words = &cues.turns;
    let is_gerund = |word: &&str| {
        let rest = body.get(word.len()..).unwrap_or_default();
        let next = rest.split_whitespace().next().unwrap_or_default();
        starts_with_word(body, word) && next.ends_with("ing")
    };
    let is_phrase = |word: &&str| contains_phrase(body, word);
    !sentence.is_question
        && (words.stops.iter().any(is_gerund) || words.habit_ends.iter().any(is_phrase))
}

/// Returns the sentence without its word for "now"; `None` if it has none.
fn without_now(text: &str, cues: &PersonRuleCues) -> Option<String> {
    let bare = |word: &str| {
        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
        letters.to_lowercase()
    };
    let is_now = |word: &&str| cues.turns.nows.contains(&bare(word).as_str());
    let words: Vec<&str> = text.split_whitespace().collect();
    let left: Vec<&str> = words.iter().copied().filter(|word| !is_now(word)).collect();
    (left.len() < words.len()).then(|| left.join(" "))
}

/// Evaluates a sentence as a lasting one if the sentence before it ends a habit.
pub(super) fn read_change(
    before: Option<&mut Scored<'_>>,
    sentence: &mut Scored<'_>,
    place: SentencePlace,
    cues: &PersonRuleCues,
) {
    let Some(before) = before.filter(|before| ends_habit(before, cues)) else {
        return;
    };
    let Some(text) = without_now(sentence.text, cues) else {
        return;
    };
    // A habit was there before: the sentence is no task that the session begins with.
    let place = SentencePlace {
        is_first_prompt: false,
        ..place
    };
    let lasting = score(&text, place, cues);
    if lasting.probability <= sentence.probability {
        return;
    }
    sentence.probability = lasting.probability;
    sentence.features = lasting.features;
    before.is_changed = sentence.is_rule(cues);
}

#[cfg(test)]
mod tests {
    use super::super::rule_finder::find_rules;
    use crate::cues::Cues;
    use crate::rule_model::SentencePlace;

    fn rules(turn: &str, is_first_prompt: bool) -> Vec<String> {
        let place = SentencePlace {
            is_first_prompt,
            ..SentencePlace::default()
        };
        let found = find_rules(turn, place, &Cues::get().person_rules);
        found.into_iter().map(|rule| rule.text).collect()
    }

    #[test]
    fn changed_habit_is_two_rules_also_in_the_first_prompt() {
        for (turn, expected) in [
            (
                "No, stop running the tests with sqlite. The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.",
                [
                    "Stop running the tests with sqlite.",
                    "The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.",
                ],
            ),
            (
                "Stop calling the live API in tests. Tests must use the recorded answers in tests/cassettes now.",
                [
                    "Stop calling the live API in tests.",
                    "Tests must use the recorded answers in tests/cassettes now.",
                ],
            ),
            (
                "We don't build images with Docker any more. All images must be built with Buildah now.",
                [
                    "We don't build images with Docker any more.",
                    "All images must be built with Buildah now.",
                ],
            ),
            (
                "Wir bauen die Images nicht mehr mit Docker. Alle Images müssen jetzt mit Buildah gebaut werden.",
                [
                    "Wir bauen die Images nicht mehr mit Docker.",
                    "Alle Images müssen jetzt mit Buildah gebaut werden.",
                ],
            ),
        ] {
            for is_first_prompt in [true, false] {
                assert_eq!(rules(turn, is_first_prompt), expected);
            }
        }
    }

    #[test]
    fn request_of_this_moment_is_no_changed_habit() {
        for turn in [
            "No, stop the server. The tests must run now.",
            "Stop retrying. The deploy must go out now.",
            "Stop working on that. The page must load now.",
            "Stop waiting for me. Fix the login now.",
            "Stop running the migration. It must finish now.",
            "Stop adding features. The build must pass now.",
        ] {
            for is_first_prompt in [true, false] {
                assert_eq!(rules(turn, is_first_prompt), [""; 0], "{turn}");
            }
        }
    }
}
