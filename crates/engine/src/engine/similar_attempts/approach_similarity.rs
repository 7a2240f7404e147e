//! Similarity of approaches: the same attempt in other words, and not only on the same subject.
//!
//! Each word of an approach is compared with the most similar word of the other one. A word counts by its rarity, among
//! the compared approaches and in general language, so that words of most approaches (`fix the failing test by …`) count
//! almost nothing. Both directions are computed, because a different method is a part that the other approach lacks.

use heirloom_search::index::tokenizer::{QueryTerms, Term, stems};
use heirloom_search::index::vector::Vector;
use heirloom_search::index::word_pieces::{self, PIECES, UNKNOWN};
use std::collections::HashSet;

/// Similarity from which two approaches are the same attempt: 41 of the 48 pairs below are then on their side.
pub(super) const SIMILAR_MIN: f64 = 0.365;

/// Words without information about the method of an approach in software development.
const GENERIC_WORDS: &str = "add again attempt broken bug build change class code correct create delete error fail \
     failing feature file first fix flaky function get handle implement improve install instead issue make method \
     missing module new pass problem project refactor remove rename replace run script service set so solve test that \
     try unit update use way work write";
/// Weight of such a word in relation to others.
const GENERIC_WEIGHT: f64 = 0.06;
/// Number of words of an approach that are compared.
const WORDS_COMPARED: usize = 48;
/// Number of approaches by which document frequencies are smoothed.
const SMOOTHING: f64 = 10.0;
/// Smallest weight of a frequent word, nats.
const FREQUENT_NATS: f64 = 0.05;
/// Exponent of a word's rank in the vocabulary, which is ordered by frequency.
const RANK_EXPONENT: f64 = 0.75;
/// Cosine of two words below which they have nothing in common.
const COSINE_MIN: f64 = 0.3;
/// Cosine of two words from which they count as the same.
const COSINE_SAME: f64 = 0.7;

/// Word of an approach.
struct Word {
    term: Term,
    /// Rarity in general language, 0 to 1.
    rarity: f64,
    vector: Option<Vector>,
}

/// Returns the similarity of each earlier approach to the planned one, 0 to 1.
pub(super) fn similarities(planned: &str, earlier: &[&str]) -> Vec<f64> {
    let generic: HashSet<Term> = stems(GENERIC_WORDS).iter().map(|stem| stem.term).collect();
    let planned = words(planned, &generic);
    let earlier: Vec<Vec<Word>> = earlier.iter().map(|text| words(text, &generic)).collect();
    let all = count(earlier.len());
    let weight = |word: &Word| {
        let has = |words: &&Vec<Word>| words.iter().any(|one| one.term == word.term);
        let frequency = count(earlier.iter().filter(has).count());
        let nats = ((all + SMOOTHING) / (frequency + 0.5)).ln();
        nats.max(FREQUENT_NATS) * word.rarity
    };
    let coverage = |of: &[Word], by: &[Word]| {
        let (mut covered, mut total) = (0.0, 0.0);
        for word in of {
            let best = by.iter().map(|other| likeness(word, other));
            let weight = weight(word);
            covered += best.fold(0.0, f64::max) * weight;
            total += weight;
        }
        if total > 0.0 { covered / total } else { 0.0 }
    };
    let similarity = |one: &Vec<Word>| coverage(&planned, one).min(coverage(one, &planned));
    earlier.iter().map(similarity).collect()
}

/// Returns the distinct words of a text without stop words.
fn words(text: &str, generic: &HashSet<Term>) -> Vec<Word> {
    let stems = stems(text);
    let word = |term: Term| {
        let at = stems.iter().find(|stem| stem.term == term)?.at;
        let rest = text.get(at..)?;
        let end = rest.find(|c: char| !c.is_alphanumeric());
        let word = rest.get(..end.unwrap_or(rest.len()))?;
        let generic = if generic.contains(&term) {
            GENERIC_WEIGHT
        } else {
            1.0
        };
        Some(Word {
            term,
            rarity: rarity(word) * generic,
            vector: Vector::of_document(word),
        })
    };
    let terms = QueryTerms::of(text).terms.into_iter();
    terms.filter_map(word).take(WORDS_COMPARED).collect()
}

/// Returns the rarity of a word in general language, 0 to 1, from its rank in the vocabulary. A word that is not in
/// the vocabulary is rare.
fn rarity(word: &str) -> f64 {
    match word_pieces::pieces(word, 2).as_slice() {
        [piece] if *piece != UNKNOWN => (f64::from(*piece) / count(PIECES)).powf(RANK_EXPONENT),
        _ => 1.0,
    }
}

/// Returns the likeness of two words, 0 to 1.
fn likeness(one: &Word, other: &Word) -> f64 {
    if one.term == other.term {
        return 1.0;
    }
    match (&one.vector, &other.vector) {
        (Some(a), Some(b)) => {
            let cosine = f64::from(a.cosine(b));
            ((cosine - COSINE_MIN) / (COSINE_SAME - COSINE_MIN)).clamp(0.0, 1.0)
        }
        _ => 0.0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a small count")]
fn count(value: usize) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Planned and earlier approaches that are the same in other words.
    const SAME: [(&str, &str); 24] = [
        (
            "mock the clock in the token test",
            "replace real time with a fake clock in the token expiry test",
        ),
        (
            "retry the upload with exponential backoff",
            "retry failed uploads and wait longer each time",
        ),
        (
            "raise the connection pool size to 50",
            "increase the number of pooled database connections",
        ),
        (
            "pin the openssl version in the Dockerfile",
            "lock openssl to 3.0 in the docker image",
        ),
        (
            "generate the parser from the grammar",
            "use a parser generator with the grammar file",
        ),
        (
            "fix the failing test by freezing the clock",
            "fix the failing test by mocking the clock",
        ),
        (
            "delete the cache directory and rebuild",
            "clear the build cache, then compile again",
        ),
        (
            "add an index on orders.customer_id",
            "create a database index for customer_id of the orders table",
        ),
        (
            "run the migrations in a transaction",
            "wrap the schema migration in a single transaction",
        ),
        (
            "switch from npm to pnpm",
            "use pnpm instead of npm for installing",
        ),
        (
            "sort the rows before comparing them",
            "compare snapshots after sorting the rows",
        ),
        (
            "increase the timeout of the integration test",
            "give the integration test a longer timeout",
        ),
        (
            "cache the parsed config in memory",
            "keep the configuration in an in-memory cache after parsing",
        ),
        (
            "skip the flaky browser test on CI",
            "disable the unstable browser test in the pipeline",
        ),
        ("downgrade tokio to 1.38", "go back to tokio 1.38"),
        (
            "split the request into batches of 100 rows",
            "send the rows in batches of 100",
        ),
        (
            "replace the mutex with a channel",
            "use a channel instead of a mutex",
        ),
        (
            "parse dates with chrono instead of a regular expression",
            "use chrono to parse the dates",
        ),
        (
            "escape quotes in the CSV writer",
            "fix the csv export by escaping quotation marks",
        ),
        (
            "fix the failing test by sorting the output",
            "fix the failing test: sort the output before the comparison",
        ),
        (
            "set SO_REUSEADDR on the listening socket",
            "enable SO_REUSEADDR before bind",
        ),
        (
            "vendor the dependencies",
            "commit the vendored dependencies to the repository",
        ),
        (
            "use a read-only replica for reports",
            "run the reports on a read replica",
        ),
        ("patch the parser by hand", "patch parser by hand"),
    ];

    /// Approaches that share only words of many approaches, or the subject.
    const DIFFERENT: [(&str, &str); 24] = [
        (
            "fix the failing test by freezing the clock",
            "fix the failing test by raising the timeout",
        ),
        (
            "fix the failing test by rewriting the parser",
            "fix the failing test by deleting the fixture",
        ),
        (
            "fix the build by pinning the compiler",
            "fix the build by clearing the cache",
        ),
        ("add a retry to the upload", "add a test to the upload"),
        (
            "update the login handler to use bcrypt",
            "update the login handler to log errors",
        ),
        (
            "implement the feature with a background worker",
            "implement the feature with a database trigger",
        ),
        (
            "change the config so that the server uses TLS",
            "change the config so that the server logs JSON",
        ),
        (
            "refactor the module into smaller functions",
            "refactor the module to use async",
        ),
        (
            "try to solve the deadlock with a timeout",
            "try to solve the deadlock with lock ordering",
        ),
        (
            "use a regular expression to parse the header",
            "use a cache for the header",
        ),
        (
            "write a script that deploys the service",
            "write a script that restores the database backup",
        ),
        (
            "make the tests pass by skipping the flaky one",
            "make the tests pass by upgrading the library",
        ),
        (
            "fix the failing test by adding a sleep",
            "fix the failing test by mocking the network",
        ),
        (
            "fix the bug in the parser by adding a check",
            "fix the bug in the lexer by adding a test",
        ),
        (
            "improve the performance of the query with an index",
            "improve the performance of the page with a cache",
        ),
        (
            "run the tests with the new compiler",
            "run the tests with more memory",
        ),
        (
            "add error handling to the payment service",
            "add logging to the mail service",
        ),
        (
            "rename the function and update the callers",
            "delete the function and update the docs",
        ),
        ("install the missing package", "remove the unused package"),
        (
            "use the library function for hashing",
            "use the library function for sorting",
        ),
        (
            "write unit tests for the scheduler",
            "write unit tests for the importer",
        ),
        (
            "create a new table for invoices",
            "create a new branch for the release",
        ),
        (
            "check the input for null bytes",
            "check the input for the maximum length",
        ),
        (
            "fix the flaky test by resetting the database",
            "fix the flaky test by pinning the time zone",
        ),
    ];

    /// Returns the pairs whose similarity is at least the threshold; `pool` are the approaches of the same project.
    fn similar<'p>(pairs: &[(&'p str, &'p str)], pool: &[&str]) -> Vec<(&'p str, &'p str)> {
        let is_similar = |(planned, earlier): &&(&str, &str)| {
            let mut all = vec![*earlier];
            all.extend(pool.iter().filter(|one| *one != earlier));
            similarities(planned, &all)[0] >= SIMILAR_MIN
        };
        pairs.iter().filter(is_similar).copied().collect()
    }

    #[test]
    fn similarity_separates_same_approach_from_shared_vocabulary() {
        let pool: Vec<&str> = SAME.iter().chain(&DIFFERENT).map(|pair| pair.1).collect();
        // A young memory with one episode, and one with all of them.
        for pool in [&[][..], &pool] {
            let found = similar(&SAME, pool);
            let missed: Vec<_> = SAME.iter().filter(|pair| !found.contains(pair)).collect();
            let wrong = similar(&DIFFERENT, pool);
            // The pairs that are wrong share a rare subject: one upload, one login handler, one deadlock.
            assert!(missed.len() <= 3, "{missed:#?}");
            assert!(wrong.len() <= 4, "{wrong:#?}");
        }
    }

    #[test]
    fn similarity_of_generic_words_alone_is_low() {
        let earlier = ["fix the failing test by updating the snapshot"; 1];
        let [shared] = similarities("fix the failing test by pinning tokio", &earlier)[..] else {
            panic!("one similarity for one approach");
        };
        assert!(shared < SIMILAR_MIN, "{shared}");
        assert_eq!(similarities("fix it", &["", "the of and"]), [0.0, 0.0]);
        assert_eq!(similarities("", &["fix it"]), [0.0]);
        assert_eq!(similarities("fix it", &["fix it"]), [1.0]);
        assert_eq!(similarities("x", &[]), [0.0; 0]);
    }
}
