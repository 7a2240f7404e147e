//! What in memory deserves a second look: duplicates, contradictions, what is stale, what nobody used.

use heirloom_model::likeness::{Likeness, same_words};
use heirloom_model::{Record, RecordId, Timestamp, mark};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Fewest words of a text that another one can contradict in one of them.
const CONTRADICTED_WORDS: usize = 3;
/// A word that stands in more records than this says nothing of which two belong together.
const COMMON: usize = 50;
/// Days after which a record that nobody confirmed or found useful counts as never used.
const UNUSED_DAYS: i64 = 90;

/// Records that say the same; the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicates {
    /// The one that stays.
    pub keep: RecordId,
    /// The others.
    pub others: Vec<RecordId>,
    /// Whether all of them say it in the same words, up to case, spacing and punctuation, in the same scope:
    /// those others can go without anything being lost.
    pub exact: bool,
}

/// A record that speaks of files that are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The record.
    pub id: RecordId,
    /// The paths.
    pub paths: Vec<String>,
}

/// What a review found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    /// Records that say the same.
    pub duplicates: Vec<Duplicates>,
    /// Pairs in nearly the same words that differ in what they say; the older first.
    pub contradictions: Vec<(RecordId, RecordId)>,
    /// Records that speak of files that are gone.
    pub stale: Vec<Stale>,
    /// Old records that nobody confirmed, pinned or found useful.
    pub unused: Vec<RecordId>,
}

/// Looks through `records`, which stand oldest first; `is_gone` says whether a path of the project is.
pub fn review(records: &[Record], now: Timestamp, is_gone: &dyn Fn(&str) -> bool) -> Review {
    let said: Vec<Likeness> = records
        .iter()
        .map(|record| Likeness::of(&record.text))
        .collect();
    let mut found = Review::default();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let near = neighbours(&said);
    for (at, record) in records.iter().enumerate() {
        let later = near.get(&at).into_iter().flatten().copied();
        let (mut others, mut exact) = (Vec::new(), Vec::new());
        for other in later {
            let theirs = &records[other];
            if theirs.kind != record.kind || theirs.category() != record.category() {
                continue;
            }
            if same_words(&record.text, &theirs.text) && record.scope == theirs.scope {
                exact.push(other);
            } else if said[at].is_near_duplicate(&said[other]) {
                others.push(other);
            } else if contradicts(&said[at], &said[other]) {
                found.contradictions.push((record.id, theirs.id));
            }
        }
        for (list, exact) in [(exact, true), (others, false)] {
            let mut list = list;
            list.retain(|other| !taken.contains(other));
            if taken.contains(&at) || list.is_empty() {
                continue;
            }
            taken.extend(&list);
            found.duplicates.push(Duplicates {
                keep: record.id,
                others: list.iter().map(|other| records[*other].id).collect(),
                exact,
            });
        }
        let mut paths = paths(&record.text);
        paths.retain(|path| is_gone(path));
        if !paths.is_empty() {
            let id = record.id;
            found.stale.push(Stale { id, paths });
        }
        if is_unused(record, now) {
            found.unused.push(record.id);
        }
    }
    found
}

/// For each text the later ones that share one of its rarer words.
fn neighbours(said: &[Likeness]) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut places: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, said) in said.iter().enumerate() {
        for word in said.words() {
            places.entry(word).or_default().insert(at);
        }
    }
    let mut near: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for places in places.values().filter(|places| places.len() <= COMMON) {
        for at in places {
            near.entry(*at).or_default().extend(places.range(at + 1..));
        }
    }
    near
}

/// The paths of files of the project that a text names: with a slash and an ending, no address of the web.
pub fn paths(text: &str) -> Vec<String> {
    let around = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '/'));
    let mut found: Vec<String> = Vec::new();
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ','))
    {
        if word.contains("://") {
            continue;
        }
        let path = word.split(':').next().unwrap_or(word);
        let path = path.trim_matches(around).trim_end_matches('.');
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", ""));
        let inside = !folder.is_empty()
            && !path.starts_with('/')
            && !path.split('/').any(|part| part == "..");
        let has_ending = name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=5).contains(&end.len())
                && end.bytes().all(|b| b.is_ascii_alphanumeric())
        });
        // `1.0/2.0` is no path, nor is `and/or`.
        let is_path = inside && has_ending && path.contains(|c: char| c.is_alphabetic());
        if is_path && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// Whether two texts that are not alike are the same but for one word of each, or one word more.
fn contradicts(one: &Likeness, other: &Likeness) -> bool {
    let set = |said: &Likeness| -> BTreeSet<String> { said.words().iter().cloned().collect() };
    let (one, other) = (set(one), set(other));
    one.len().min(other.len()) >= CONTRADICTED_WORDS
        && one.difference(&other).count() <= 1
        && other.difference(&one).count() <= 1
}

fn is_unused(record: &Record, now: Timestamp) -> bool {
    let count = |name| record.attrs.get(name).and_then(Value::as_u64).unwrap_or(0);
    let days = (now.as_second() - record.recorded_at.as_second()) / 86_400;
    days >= UNUSED_DAYS
        && count("confirmations") == 0
        && mark::useful(&record.attrs) <= 0
        && !mark::is_pinned(&record.attrs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::rank::tests::record;
    use heirloom_model::{Mark, Scope};

    fn check(texts: &[&str], is_gone: &dyn Fn(&str) -> bool) -> Vec<String> {
        let records: Vec<Record> = texts.iter().map(|text| record(text)).collect();
        let now = records
            .first()
            .map_or(Timestamp::UNIX_EPOCH, |record| record.recorded_at);
        let found = review(&records, now, is_gone);
        let at = |id: &RecordId| records.iter().position(|record| record.id == *id).unwrap();
        let mut lines = Vec::new();
        for one in &found.duplicates {
            let others: Vec<_> = one.others.iter().map(at).collect();
            lines.push(format!(
                "{}={others:?}{}",
                at(&one.keep),
                if one.exact { "!" } else { "" }
            ));
        }
        lines.extend(
            found
                .contradictions
                .iter()
                .map(|(a, b)| format!("{}≠{}", at(a), at(b))),
        );
        lines.extend(
            found
                .stale
                .iter()
                .map(|one| format!("{} {:?}", at(&one.id), one.paths)),
        );
        assert!(found.unused.is_empty());
        lines
    }

    #[test]
    fn duplicates_and_contradictions() {
        let texts = [
            "The port of the gateway is 8080",
            "the port of the gateway is 8080.",
            "the port of the gateway is 9090",
            "something else entirely",
            "run every test before you commit",
            "run every single test before you commit",
        ];
        assert_eq!(check(&texts, &|_| false), ["0=[1]!", "4=[5]", "0≠2", "1≠2"]);
        assert_eq!(check(&[], &|_| false), [""; 0]);
    }

    #[test]
    fn files_that_are_gone() {
        let texts = [
            "see src/gone.rs:12 and src/here.rs",
            "https://x.y/gone.html and/or ../gone.rs /etc/gone.rs 1.0/2.0",
        ];
        assert_eq!(
            check(&texts, &|path| path.contains("gone")),
            ["0 [\"src/gone.rs\"]"]
        );
    }

    #[test]
    fn what_nobody_used() {
        let old = record("x");
        let later = |days: i64| {
            Timestamp::from_second(old.recorded_at.as_second() + days * 86_400).unwrap()
        };
        let unused = |record: &Record, days| {
            review(std::slice::from_ref(record), later(days), &|_| false)
                .unused
                .len()
        };
        assert_eq!(
            (unused(&old, UNUSED_DAYS - 1), unused(&old, UNUSED_DAYS)),
            (0, 1)
        );
        let mut pinned = old.clone();
        pinned.attrs = Mark::Pinned(true).laid_over(&pinned.attrs);
        assert_eq!(unused(&pinned, UNUSED_DAYS), 0);
    }

    #[test]
    fn another_scope_is_no_exact_duplicate() {
        let (one, mut other) = (record("a b c"), record("a b c"));
        other.scope = Scope::of_task("7");
        let found = review(&[one, other], Timestamp::UNIX_EPOCH, &|_| false);
        assert_eq!(found.duplicates.len(), 1);
        assert!(!found.duplicates[0].exact);
    }
}
