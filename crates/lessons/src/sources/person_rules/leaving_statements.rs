//! Statements about what is used now, if the same turn asks to leave it: "this project uses structlog. Let's switch the
//! entire project to logging." makes the first sentence untrue.

use super::scored_sentence::Scored;
use crate::cues::{PersonRuleCues, contains_phrase};
use crate::rule_model::is_description;

/// Smallest number of letters of a word that names what is left.
const WORD_LETTERS_MIN: usize = 4;
/// Greatest number of words between the verb of a change and the name of what is left.
const OBJECT_WORDS_MAX: usize = 5;

/// Marks the statements of a turn that a later sentence of it makes untrue.
pub(super) fn mark_leaving(lines: &mut [(&str, Vec<Scored<'_>>)], cues: &PersonRuleCues) {
    let mut objects: Vec<Vec<String>> = Vec::new();
    for (_, sentences) in lines.iter_mut().rev() {
        for sentence in sentences.iter_mut().rev() {
            let states_use = is_description(&sentence.classes)
                && (cues.turns.descriptions.iter())
                    .any(|word| contains_phrase(&sentence.normal, word));
            sentence.is_leaving = states_use
                && (objects.iter()).any(|object| is_about(object, &sentence.normal, cues));
            objects.extend(left_objects(&sentence.normal, cues));
        }
    }
}

/// Returns the words after each verb of a change, up to what comes instead.
fn left_objects(normal: &str, cues: &PersonRuleCues) -> Vec<Vec<String>> {
    let words: Vec<&str> = words(normal).collect();
    let is_departure = |word: &&str| cues.turns.departures.contains(word);
    let object = |(at, _): (usize, &&str)| -> Vec<String> {
        let after = words.iter().skip(at + 1).take(OBJECT_WORDS_MAX);
        after
            .take_while(|word| !cues.turns.arrivals.contains(word))
            .map(|word| (*word).to_owned())
            .collect()
    };
    let verbs = words
        .iter()
        .enumerate()
        .filter(|(_, word)| is_departure(word));
    verbs.map(object).collect()
}

/// Returns true if the object names a word of the statement, refers to it, or is all of the project.
fn is_about(object: &[String], statement: &str, cues: &PersonRuleCues) -> bool {
    object.iter().any(|word| {
        let is_named = word.chars().count() >= WORD_LETTERS_MIN
            && !cues.turns.places.contains(&word.as_str())
            && words(statement).any(|other| other == word);
        is_named || cues.turns.wholes.contains(&word.as_str())
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '\'');
    text.split(move |c: char| !is_inner(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::rule_finder::find_rules;
    use crate::cues::Cues;
    use crate::rule_model::SentencePlace;

    fn rules(turn: &str) -> Vec<String> {
        let cues = &Cues::get().person_rules;
        let found = find_rules(turn, SentencePlace::default(), cues);
        found.into_iter().map(|rule| rule.text).collect()
    }

    #[test]
    fn statement_that_the_same_turn_ends_is_no_rule() {
        for turn in [
            "In this project we use moment for dates. Please migrate from moment to date-fns.",
            "In this repo we use yarn everywhere. lets replace it with pnpm",
            "Here we use requests in this project. However, we dont want that dependency here. Let's switch the whole project to httpx.",
        ] {
            let found = rules(turn);
            let is_old = |text: &String| text.contains("we use");
            assert!(!found.iter().any(is_old), "{turn}: {found:?}");
        }
    }

    #[test]
    fn statement_that_a_change_agrees_with_stays() {
        for turn in [
            "In this project we use vitest everywhere. Please migrate the jest tests to vitest.",
            "In this repo we use pnpm, never npm. Replace the npm calls in ci.",
        ] {
            let found = rules(turn);
            assert!(
                found.iter().any(|text| text.contains("we use")),
                "{turn}: {found:?}"
            );
        }
    }
}
