//! Date parser: "last week", "on 3 May", "in March", "2026-05-01", "3 days ago".
//!
//! Days are in UTC; other time zones are not supported.

mod calendar_dates;
mod date_word_parser;
mod preposition_dates;
mod relative_dates;
mod span;

pub use span::TimeSpan;

use calendar_dates::{parse_calendar, parse_iso};
use date_word_parser::{parse_month, parse_year};
use heirloom_model::civil::Date;
use heirloom_model::{Timestamp, tz};
use preposition_dates::parse_introduced;
use relative_dates::{parse_ago, parse_relative, parse_single_word};

/// Finds the dates in a text, at most `max`, in order.
pub(super) fn find_dates(text: &str, now: Timestamp, max: usize) -> Vec<TimeSpan> {
    let today = today(now);
    let words: Vec<String> = text.split_whitespace().map(normalize_word).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() && found.len() < max {
        match parse_prefix(&words[at..], today) {
            Some((span, words_used)) => {
                found.push(span);
                at += words_used;
            }
            None => at += 1,
        }
    }
    found
}

/// Returns the start of the first date in `text`: for dates in the formats of other programs.
pub fn first_date(text: &str, now: Timestamp) -> Option<Timestamp> {
    find_dates(text, now, 1).first().map(|span| span.from)
}

/// Parses a text that is one date: an RFC 3339 time, a day, a month, a year, or a date in words.
pub(super) fn parse_date(text: &str, now: Timestamp) -> Option<TimeSpan> {
    if let Ok(time) = text.trim().parse::<Timestamp>() {
        return Some(TimeSpan {
            from: time,
            to: time,
        });
    }
    let text = text.trim();
    if let Some(year) = parse_year(text) {
        return TimeSpan::year(year);
    }
    let spaced = if parse_iso(text).is_some() {
        text.to_owned()
    } else {
        text.replace(['-', '_'], " ")
    };
    let words: Vec<String> = spaced.split_whitespace().map(normalize_word).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let month = words.first().and_then(|word| parse_month(word));
    if month.is_some() {
        // A month at the beginning needs no preposition here.
        words.insert(0, "in");
    }
    let (span, words_used) = parse_prefix(&words, today(now)).or_else(|| {
        parse_prefix(&words[1.min(words.len())..], today(now))
            .map(|(span, words_used)| (span, words_used + 1))
    })?;
    (words_used == words.len()).then_some(span)
}

fn today(now: Timestamp) -> Date {
    now.to_zoned(tz::TimeZone::UTC).date()
}

/// Returns a word in lower case without surrounding punctuation.
fn normalize_word(word: &str) -> String {
    let around = |c: char| !c.is_alphanumeric();
    word.trim_matches(around).to_lowercase()
}

/// Parses a date at the beginning of these words; returns it and the number of words used.
fn parse_prefix(words: &[&str], today: Date) -> Option<(TimeSpan, usize)> {
    let first = *words.first()?;
    if let Some(span) = parse_iso(first) {
        return Some((span, 1));
    }
    parse_single_word(first, today)
        .or_else(|| parse_relative(words, today))
        .or_else(|| parse_ago(words, today))
        .or_else(|| parse_calendar(words, today))
        .or_else(|| parse_introduced(words, today))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Wednesday.
    const NOW: &str = "2026-05-20T15:00:00Z";

    fn shown(span: TimeSpan) -> String {
        let day = |time: Timestamp| today(time).to_string();
        format!("{}..{}", day(span.from), day(span.to))
    }

    fn check(text: &str, expected: &[&str]) {
        let found = find_dates(text, NOW.parse().unwrap(), 9);
        let found: Vec<String> = found.into_iter().map(shown).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn find_dates_in_words() {
        for (text, expected) in [
            ("what broke yesterday?", "2026-05-19..2026-05-20"),
            ("the day before yesterday", "2026-05-18..2026-05-19"),
            ("today", "2026-05-20..2026-05-21"),
            ("last week", "2026-05-11..2026-05-18"),
            ("This week", "2026-05-18..2026-05-25"),
            ("decided last month", "2026-04-01..2026-05-01"),
            ("last year", "2025-01-01..2026-01-01"),
            ("last monday", "2026-05-18..2026-05-19"),
            ("on wednesday", "2026-05-20..2026-05-21"),
            ("last wednesday", "2026-05-13..2026-05-14"),
            ("last May", "2025-05-01..2025-06-01"),
            ("3 days ago", "2026-05-17..2026-05-18"),
            ("an hour ago", "2026-05-20..2026-05-21"),
            ("two weeks ago", "2026-05-03..2026-05-10"),
            ("2 months ago", "2026-03-01..2026-04-01"),
            ("on 3 May", "2026-05-03..2026-05-04"),
            ("on 3 June", "2025-06-03..2025-06-04"),
            ("the 3rd of May 2024", "2024-05-03..2024-05-04"),
            ("May 3rd, 2024.", "2024-05-03..2024-05-04"),
            ("29 feb", "2024-02-29..2024-03-01"),
            ("in March", "2026-03-01..2026-04-01"),
            ("in December", "2025-12-01..2026-01-01"),
            ("March 2024", "2024-03-01..2024-04-01"),
            ("since 2024", "2024-01-01..2025-01-01"),
            ("2026-05-01", "2026-05-01..2026-05-02"),
            ("at 2026-05-01T10:00", "2026-05-01..2026-05-02"),
            ("2026-05", "2026-05-01..2026-06-01"),
        ] {
            check(text, &[expected]);
        }
    }

    #[test]
    fn find_dates_ignores_other_words() {
        for text in [
            "",
            "it may fail",
            "march on",
            "the sun",
            "port 2024",
            "3 days",
            "2026-13-01",
            "2026-02-30",
            "31 june",
            "99999 days ago",
            "second time",
            "v1-2",
            "this is",
            "in may",
        ] {
            let months = text == "in may";
            let found = find_dates(text, NOW.parse().unwrap(), 9);
            assert_eq!(found.len(), usize::from(months), "{text}: {found:?}");
        }
        check(
            "yesterday and last week",
            &["2026-05-19..2026-05-20", "2026-05-11..2026-05-18"],
        );
        assert_eq!(
            find_dates("today today today", NOW.parse().unwrap(), 2).len(),
            2
        );
    }

    #[test]
    fn parse_date_values_of_filters() {
        for (text, expected) in [
            ("2026-05-01", Some("2026-05-01..2026-05-02")),
            ("2026-05", Some("2026-05-01..2026-06-01")),
            ("2026", Some("2026-01-01..2027-01-01")),
            ("2026-05-01T10:00:00Z", Some("2026-05-01..2026-05-01")),
            ("yesterday", Some("2026-05-19..2026-05-20")),
            ("last-week", Some("2026-05-11..2026-05-18")),
            ("last week", Some("2026-05-11..2026-05-18")),
            ("monday", None),
            ("may", Some("2026-05-01..2026-06-01")),
            ("3 May", Some("2026-05-03..2026-05-04")),
            ("may 3", Some("2026-05-03..2026-05-04")),
            ("soon", None),
            ("", None),
            ("2026-05-01 and more", None),
            ("2026-99-01", None),
        ] {
            let found = parse_date(text, NOW.parse().unwrap()).map(shown);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
