//! Review of the memory: duplicates, contradictions, stale and unused records.

mod sentence_check;

use heirloom_model::similarity::{ComparableText, has_same_words};
use heirloom_model::statement::Statement;
use heirloom_model::{Record, RecordId, mark};
use sentence_check::{is_contradiction_by_vectors, is_same_by_vectors};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Fewest words of a text for which a difference in one word counts as a contradiction.
const CONTRADICTION_WORDS_MIN: usize = 3;
/// A word that occurs in more records than this does not relate two of them.
const COMMON_WORD_RECORDS_MAX: usize = 50;

/// Records with the same meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// The record to keep: of equal texts the oldest, which has the confirmations, of near-duplicates the newest.
    pub keep: RecordId,
    /// The duplicates.
    pub others: Vec<RecordId>,
    /// True if all texts are equal except for case, spacing and punctuation, and the scopes are equal: removing the
    /// duplicates loses nothing.
    pub exact: bool,
}

/// A record that names files that no longer exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleRecord {
    /// The record.
    pub id: RecordId,
    /// The paths.
    pub paths: Vec<String>,
}

/// Result of a review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewReport {
    /// Groups of records with the same meaning.
    pub duplicates: Vec<DuplicateGroup>,
    /// Pairs of statements that contradict each other, and pairs with nearly the same words and a different meaning; the
    /// older first.
    pub contradictions: Vec<(RecordId, RecordId)>,
    /// Records that name files that no longer exist.
    pub stale: Vec<StaleRecord>,
    /// Records without confirmations, pins or useful marks.
    pub unused: Vec<RecordId>,
}

/// Reviews `records`, which are sorted oldest first; `is_gone` returns true if a path of the project no longer
/// exists. Pairs whose records both have a sentence vector in `vectors` are checked by it too.
pub fn review(
    records: &[Record],
    vectors: &HashMap<RecordId, Vec<f32>>,
    is_gone: &dyn Fn(&str) -> bool,
) -> ReviewReport {
    let comparable: Vec<ComparableText> = records
        .iter()
        .map(|record| ComparableText::from_text(&record.text))
        .collect();
    let statements: Vec<Statement> = records
        .iter()
        .map(|record| Statement::from_text(&record.text))
        .collect();
    let mut found = ReviewReport::default();
    let mut grouped: BTreeSet<usize> = BTreeSet::new();
    let nearby = neighbours(&comparable);
    for (at, record) in records.iter().enumerate() {
        let later = nearby.get(&at).into_iter().flatten().copied();
        let (mut others, mut exact) = (Vec::new(), Vec::new());
        for other in later {
            let theirs = &records[other];
            if theirs.kind != record.kind {
                continue;
            }
            let is_same_category = theirs.category() == record.category();
            if statements[other].effect_on(&statements[at]).is_some() {
                found.contradictions.push((record.id, theirs.id));
            } else if !is_same_category {
                continue;
            } else if has_same_words(&record.text, &theirs.text) && record.scope == theirs.scope {
                exact.push(other);
            } else if comparable[at].is_near_duplicate(&comparable[other]) {
                if is_same_by_vectors(record, theirs, vectors) {
                    others.push(other);
                }
            } else if contradicts(&comparable[at], &comparable[other])
                && is_contradiction_by_vectors(record, theirs, vectors)
            {
                found.contradictions.push((record.id, theirs.id));
            }
        }
        for (list, exact) in [(exact, true), (others, false)] {
            let mut list = list;
            list.retain(|other| !grouped.contains(other));
            if grouped.contains(&at) || list.is_empty() {
                continue;
            }
            grouped.extend(&list);
            let newest = list.last_mut().filter(|_| !exact);
            let keep = newest.map_or(at, |newest| std::mem::replace(newest, at));
            list.sort_unstable();
            found.duplicates.push(DuplicateGroup {
                keep: records[keep].id,
                others: list.iter().map(|other| records[*other].id).collect(),
                exact,
            });
        }
        let mut paths = paths(&record.text);
        paths.retain(|path| is_gone(path));
        if !paths.is_empty() {
            let id = record.id;
            found.stale.push(StaleRecord { id, paths });
        }
        if is_unused(record) {
            found.unused.push(record.id);
        }
    }
    found
}

/// Returns for each text the later ones that share one of its rarer words.
fn neighbours(comparable: &[ComparableText]) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut places: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, comparable) in comparable.iter().enumerate() {
        for word in comparable.words() {
            places.entry(word).or_default().insert(at);
        }
    }
    let mut nearby: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for places in places
        .values()
        .filter(|places| places.len() <= COMMON_WORD_RECORDS_MAX)
    {
        for at in places {
            nearby
                .entry(*at)
                .or_default()
                .extend(places.range(at + 1..));
        }
    }
    nearby
}

/// Returns the project paths in a text: with a slash and an extension, and not in a URL.
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
        // Excludes `1.0/2.0` and `and/or`.
        let is_path = inside && has_ending && path.contains(|c: char| c.is_alphabetic());
        if is_path && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// Returns true if two dissimilar texts differ in at most one word on each side.
fn contradicts(one: &ComparableText, other: &ComparableText) -> bool {
    let one: BTreeSet<&str> = one.words().collect();
    let other: BTreeSet<&str> = other.words().collect();
    one.len().min(other.len()) >= CONTRADICTION_WORDS_MIN
        && one.difference(&other).count() <= 1
        && other.difference(&one).count() <= 1
}

fn is_unused(record: &Record) -> bool {
    let count = |name| record.attrs.get(name).and_then(Value::as_u64).unwrap_or(0);
    count("confirmations") == 0
        && mark::useful_count(&record.attrs) <= 0
        && !mark::is_pinned(&record.attrs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::rank::tests::record;
    use heirloom_model::record::Attrs;
    use heirloom_model::{Mark, Scope};

    fn check(texts: &[&str], is_gone: &dyn Fn(&str) -> bool) -> Vec<String> {
        let records: Vec<Record> = texts.iter().map(|text| record(text)).collect();
        let found = review(&records, &HashMap::new(), is_gone);
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
        lines
    }

    #[test]
    fn review_finds_duplicates_and_contradictions() {
        let texts = [
            "The port of the gateway is 8080",
            "the port of the gateway is 8080.",
            "the port of the gateway is 9090",
            "something else entirely",
            "run every test before you commit",
            "please run every test before you commit",
        ];
        assert_eq!(check(&texts, &|_| false), ["0=[1]!", "5=[4]", "0≠2", "1≠2"]);
        let texts = [
            "Nach dem Merge den Cache auf Staging immer sofort von Hand leeren",
            "Nach dem Merge den Cache auf Staging nie immer sofort von Hand leeren",
            "Never use floats for money, always integer cents.",
            "Amounts: from now on use Decimal for money, not integer cents.",
        ];
        assert_eq!(check(&texts, &|_| false), ["0≠1", "2≠3"]);
        assert_eq!(check(&[], &|_| false), [""; 0]);
    }

    #[test]
    fn review_finds_missing_files() {
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
    fn review_finds_unused_records() {
        let unused = |attrs: Attrs| {
            let record = Record {
                attrs,
                ..record("x")
            };
            let found = review(&[record], &HashMap::new(), &|_| false);
            found.unused.len()
        };
        let confirmed = Attrs::from_iter([("confirmations".to_owned(), 1.into())]);
        assert_eq!((unused(Attrs::new()), unused(confirmed)), (1, 0));
        assert_eq!(unused(Mark::Pinned(true).apply_to(&Attrs::new())), 0);
    }

    #[test]
    fn review_other_scope_is_no_exact_duplicate() {
        let (one, mut other) = (record("a b c"), record("a b c"));
        other.scope = Scope::of_task("7");
        let vectors = HashMap::new();
        let found = review(&[one, other], &vectors, &|_| false);
        assert_eq!(found.duplicates.len(), 1);
        assert!(!found.duplicates[0].exact);
    }
}
