//! Reading of a statement: its clauses, what each affirms, and what it drops.

use super::statement_words::{
    CHANGE_PHRASES, CHOOSING_WORDS, DROPPED_PHRASES, DROPPING_PHRASES, ENDING_PHRASES,
    GENERAL_WORDS, MOVE_VERBS, REASON_WORDS, TOOL_PREPOSITIONS, TOPIC_PREPOSITIONS, USE_WORDS,
};
use super::{DroppedThing, Statement, WORDS_MAX};
use crate::similarity::is_content_word;
use crate::text::to_composed;
use std::collections::BTreeSet;
use waken_snowball::{Algorithm, stem};

/// Content words behind a use word that count as what is used.
const USED_WORDS_MAX: usize = 3;

/// Reads a statement.
pub(super) fn read(text: &str) -> Statement {
    let text = &*to_composed(text);
    let mut statement = Statement::default();
    let clauses = split_clauses(text, &mut statement);
    let words: Vec<&str> = clauses.iter().flatten().map(String::as_str).collect();
    let begins_with_stop = |clause: &Vec<String>| clause.first().is_some_and(|word| word == "stop");
    statement.is_change = contains_phrase(&words, CHANGE_PHRASES)
        || begins_with_refusal(&clauses)
        || clauses.iter().any(begins_with_stop);
    statement.is_of_now = statement.is_change || words.contains(&"now");
    for clause in &clauses {
        let words: Vec<&str> = clause.iter().map(String::as_str).collect();
        let end = words.iter().position(|word| REASON_WORDS.contains(word));
        read_clause(
            words.get(..end.unwrap_or(words.len())).unwrap_or_default(),
            &mut statement,
        );
    }
    statement
}

/// Splits a text into clauses of folded words, and reads assignments such as `DB_URL=…`.
fn split_clauses(text: &str, statement: &mut Statement) -> Vec<Vec<String>> {
    let mut clauses = vec![Vec::new()];
    let mut last = Vec::new();
    for chunk in text.split_whitespace().take(WORDS_MAX) {
        let bare = chunk.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        if let Some((name, value)) = bare.split_once('=').filter(|(name, _)| is_setting(name)) {
            statement.settings.insert(name.to_owned(), value.to_owned());
        }
        if bare.is_empty() || chunk.starts_with('(') {
            clauses.push(std::mem::take(&mut last));
        }
        let folded = chunk.to_lowercase().replace(['\'', '’'], "");
        let parts = folded.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        last.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        let is_end = |c: char| matches!(c, ',' | ';' | '.' | ':' | '!' | '?' | ')');
        if chunk
            .trim_end_matches(['"', '`', '\'', '*', '”'])
            .ends_with(is_end)
        {
            clauses.push(std::mem::take(&mut last));
        }
    }
    clauses.push(last);
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

/// Returns true for the name of a variable or an option before `=`.
fn is_setting(name: &str) -> bool {
    let is_variable = name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable || name.len() > 2 && name.starts_with('-')
}

/// Returns true for `No, …`, `Nein, …` and `Non, …` before the rest of the statement.
fn begins_with_refusal(clauses: &[Vec<String>]) -> bool {
    let first = clauses.first().map(Vec::as_slice).unwrap_or_default();
    clauses.len() > 1
        && matches!(first, [word] if matches!(&**word, "no" | "nope" | "nein" | "non" | "нет"))
}

fn read_clause(words: &[&str], statement: &mut Statement) {
    if let Some([before, from, to]) = read_move(words) {
        statement.is_change = true;
        statement.is_of_now = true;
        let left = read_dropped(from);
        let topic = left.topic.into_iter().chain(content(before)).collect();
        statement.add_dropped(DroppedThing {
            topic,
            is_ended: true,
            ..left
        });
        statement.add_affirmed(to);
        statement.add_affirmed(before);
        return;
    }
    if let Some((at, length)) = find_phrase(words, DROPPED_PHRASES) {
        let before = words.get(..at).unwrap_or_default();
        let after = words.get(at + length..).unwrap_or_default();
        let begins_dropped = find_phrase(before, DROPPING_PHRASES).is_some();
        let is_last = content(after).next().is_none();
        if !begins_dropped && is_last && content(before).next().is_some() {
            statement.add_dropped(DroppedThing {
                is_ended: true,
                ..read_dropped(before)
            });
            return;
        }
    }
    let Some((at, length)) = find_phrase(words, DROPPING_PHRASES) else {
        statement.add_affirmed(words);
        return;
    };
    let (before, after) = (words.get(..at), words.get(at + length..));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let is_ended = contains_phrase(words, ENDING_PHRASES);
    statement.is_negated = true;
    let end = (0..after.len()).find(|at| {
        let is_choosing = after
            .get(*at)
            .is_some_and(|word| CHOOSING_WORDS.contains(word));
        is_choosing
            && after
                .get(..*at)
                .is_some_and(|dropped| content(dropped).next().is_some())
    });
    let dropped = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
    let chosen = end.and_then(|end| after.get(end + 1..)).unwrap_or_default();
    match content(dropped).next() {
        Some(_) => {
            statement.add_affirmed(before);
            statement.add_dropped(DroppedThing {
                is_ended,
                ..read_dropped(dropped)
            });
        }
        None => statement.add_dropped(DroppedThing {
            is_ended,
            ..read_dropped(before)
        }),
    }
    statement.add_affirmed(chosen);
}

/// Returns what is before, what is left and what is chosen in `we switched from X to Y` and `replace X with Y`.
fn read_move<'w>(words: &'w [&'w str]) -> Option<[&'w [&'w str]; 3]> {
    let moves = words.iter().any(|word| MOVE_VERBS.contains(word));
    let (starts, ends): (&[&str], &[&str]) = match moves {
        true => (&["from", "von"], &["to", "zu", "auf"]),
        false => (&["replace", "replaced", "replacing"], &["with", "by"]),
    };
    let from = words.iter().position(|word| starts.contains(word))?;
    let (before, rest) = (words.get(..from)?, words.get(from + 1..)?);
    let to = rest.iter().position(|word| ends.contains(word))?;
    let (left, chosen) = (rest.get(..to)?, rest.get(to + 1..)?);
    let has_both = content(left).next().is_some() && content(chosen).next().is_some();
    has_both.then_some([before, left, chosen])
}

/// Reads what is dropped: the tool, or what is before the subject. `running the tests with sqlite` drops sqlite for
/// tests, `floats for money` drops floats for money.
fn read_dropped(words: &[&str]) -> DroppedThing {
    let position = |list: &[&str]| words.iter().position(|word| list.contains(word));
    let (thing, topic): (Vec<&str>, Vec<&str>) = if let Some(at) = position(TOOL_PREPOSITIONS) {
        let (before, after) = words.split_at(at);
        let end = after
            .iter()
            .position(|word| TOPIC_PREPOSITIONS.contains(word));
        let (tool, rest) = after.split_at(end.unwrap_or(after.len()));
        (tool.to_vec(), [before, rest].concat())
    } else {
        let at = position(TOPIC_PREPOSITIONS).filter(|at| *at > 0);
        let (thing, topic) = words.split_at(at.unwrap_or(words.len()));
        (thing.to_vec(), topic.to_vec())
    };
    let (thing, topic): (BTreeSet<_>, BTreeSet<_>) =
        (content(&thing).collect(), content(&topic).collect());
    match thing.is_empty() {
        true => DroppedThing {
            thing: topic,
            ..DroppedThing::default()
        },
        false => DroppedThing {
            thing,
            topic,
            is_ended: false,
        },
    }
}

impl Statement {
    fn add_affirmed(&mut self, words: &[&str]) {
        self.affirmed.extend(content(words));
        self.all.extend(content(words));
        for (at, _) in words
            .iter()
            .enumerate()
            .filter(|(_, word)| USE_WORDS.contains(word))
        {
            let rest = words.get(at + 1..).unwrap_or_default();
            let end = rest
                .iter()
                .position(|word| TOPIC_PREPOSITIONS.contains(word));
            let used = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            self.used.extend(content(used).take(USED_WORDS_MAX));
            let topic = end.and_then(|end| rest.get(end..)).unwrap_or_default();
            self.topic.extend(content(topic));
        }
    }

    fn add_dropped(&mut self, dropped: DroppedThing) {
        self.all.extend(dropped.thing.iter().cloned());
        self.all.extend(dropped.topic.iter().cloned());
        self.is_negated = true;
        if !dropped.thing.is_empty() {
            self.dropped.push(dropped);
        }
    }
}

/// Returns the stem of a word; `None` for a stop word.
pub(super) fn stem_of(word: &str) -> Option<String> {
    content(&[word]).next()
}

/// Returns the stems of the words that are a subject.
fn content(words: &[&str]) -> impl Iterator<Item = String> {
    let is_subject = |word: &&&str| {
        let lists = [
            GENERAL_WORDS,
            MOVE_VERBS,
            TOOL_PREPOSITIONS,
            TOPIC_PREPOSITIONS,
        ];
        is_content_word(word) && !lists.iter().any(|list| list.contains(word)) && !is_marker(word)
    };
    words
        .iter()
        .filter(is_subject)
        .map(|word| stem(Algorithm::English, word).into_owned())
        .filter(|stem| !GENERAL_WORDS.contains(&&**stem))
        .collect::<Vec<_>>()
        .into_iter()
}

fn is_marker(word: &str) -> bool {
    let is_alone = |phrase: &&[&str]| matches!(phrase, [one] if *one == word);
    DROPPING_PHRASES.iter().any(&is_alone) || CHANGE_PHRASES.iter().any(is_alone)
}

fn contains_phrase(words: &[&str], phrases: &[&[&str]]) -> bool {
    find_phrase(words, phrases).is_some()
}

/// Returns the place and the length of the first phrase of a list, the longest one there.
fn find_phrase(words: &[&str], phrases: &[&[&str]]) -> Option<(usize, usize)> {
    (0..words.len()).find_map(|at| {
        let rest = words.get(at..)?;
        let here = phrases.iter().filter(|phrase| rest.starts_with(phrase));
        let longest = here.map(|phrase| phrase.len()).max()?;
        Some((at, longest))
    })
}
