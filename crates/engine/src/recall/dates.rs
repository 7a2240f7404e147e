//! Dates in words: "last week", "on 3 May", "in March", "2026-05-01", "3 days ago".
//!
//! Days are days of UTC: the library knows no other zone.

mod names;
mod span;

pub use span::Span;

use heirloom_model::civil::{Date, Weekday};
use heirloom_model::{Timestamp, ToSpan, tz};
use names::{count_of, day_of, month_of, weekday_of, year_of};

/// The dates that a text names, at most `max`, in order.
pub(super) fn spans(text: &str, now: Timestamp, max: usize) -> Vec<Span> {
    let today = today(now);
    let words: Vec<String> = text.split_whitespace().map(bare).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() && found.len() < max {
        match begins(&words[at..], today) {
            Some((span, taken)) => {
                found.push(span);
                at += taken;
            }
            None => at += 1,
        }
    }
    found
}

/// When the first date that `text` names begins: for dates that other programs wrote in their own way.
pub fn first(text: &str, now: Timestamp) -> Option<Timestamp> {
    spans(text, now, 1).first().map(|span| span.from)
}

/// The one date that `text` is: a time of RFC 3339, a day, a month, a year, or a date in words.
pub(super) fn one(text: &str, now: Timestamp) -> Option<Span> {
    if let Ok(time) = text.trim().parse::<Timestamp>() {
        return Some(Span {
            from: time,
            to: time,
        });
    }
    let text = text.trim();
    if let Some(year) = year_of(text) {
        return Span::year(year);
    }
    let spaced = if iso(text).is_some() {
        text.to_owned()
    } else {
        text.replace(['-', '_'], " ")
    };
    let words: Vec<String> = spaced.split_whitespace().map(bare).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let month = words.first().and_then(|word| month_of(word));
    if month.is_some() {
        // Alone or before a year a month needs no word before it.
        words.insert(0, "in");
    }
    let (span, taken) = begins(&words, today(now)).or_else(|| {
        begins(&words[1.min(words.len())..], today(now)).map(|(span, taken)| (span, taken + 1))
    })?;
    (taken == words.len()).then_some(span)
}

fn today(now: Timestamp) -> Date {
    now.to_zoned(tz::TimeZone::UTC).date()
}

/// A word in small letters without what stands around it.
fn bare(word: &str) -> String {
    let around = |c: char| !c.is_alphanumeric();
    word.trim_matches(around).to_lowercase()
}

/// The date that these words begin with, and how many of them it takes.
fn begins(words: &[&str], today: Date) -> Option<(Span, usize)> {
    let first = *words.first()?;
    if let Some(span) = iso(first) {
        return Some((span, 1));
    }
    single(first, today)
        .or_else(|| relative(words, today))
        .or_else(|| ago(words, today))
        .or_else(|| calendar(words, today))
        .or_else(|| introduced(words, today))
}

/// `2026-05-01`, `2026-05-01t10:00`, `2026/05/01`, `2026-05`.
fn iso(word: &str) -> Option<Span> {
    let day = word.split(['t', 'T']).next().unwrap_or(word);
    let parts: Vec<&str> = day.split(['-', '/']).collect();
    let number = |text: &str, digits: usize| -> Option<i16> {
        let fits = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse().ok()).flatten()
    };
    match parts.as_slice() {
        [year, month, day] => {
            let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
            let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
            Span::day(date.ok()?)
        }
        [year, month] if day.len() == word.len() && day.contains('-') => {
            Span::month(number(year, 4)?, i8::try_from(number(month, 2)?).ok()?)
        }
        _ => None,
    }
}

fn single(word: &str, today: Date) -> Option<(Span, usize)> {
    let back = match word {
        "today" | "tonight" => 0,
        "yesterday" => 1,
        "tomorrow" => -1,
        _ => return None,
    };
    Some((Span::day(days_back(today, back)?)?, 1))
}

fn days_back(today: Date, days: i64) -> Option<Date> {
    today.checked_sub(days.days()).ok()
}

/// `last week`, `this month`, `last monday`, `the day before yesterday`.
fn relative(words: &[&str], today: Date) -> Option<(Span, usize)> {
    if words.starts_with(&["day", "before", "yesterday"]) {
        return Some((Span::day(days_back(today, 2)?)?, 3));
    }
    let [which, what, ..] = words else {
        return None;
    };
    let back: i64 = match *which {
        "last" | "past" | "previous" => 1,
        "this" => 0,
        "next" => -1,
        _ => return None,
    };
    let span = match *what {
        "day" | "night" => Span::day(days_back(today, back)?)?,
        "week" => Span::week(days_back(today, 7 * back)?)?,
        "month" => {
            let first = today.first_of_month().checked_sub(back.months()).ok()?;
            Span::month(first.year(), first.month())?
        }
        "year" => Span::year(i16::try_from(i64::from(today.year()) - back).ok()?)?,
        named => {
            if let Some(day) = weekday_of(named) {
                let until = if back == 1 {
                    days_back(today, 1)?
                } else {
                    today
                };
                Span::day(latest(day, until)?)?
            } else {
                let month = month_of(named)?;
                let until = if back == 1 {
                    today.first_of_month().checked_sub(1.day()).ok()?
                } else {
                    today
                };
                latest_month(month, until)?
            }
        }
    };
    Some((span, 2))
}

/// The latest such day up to and with `until`.
fn latest(day: Weekday, until: Date) -> Option<Date> {
    let back =
        i64::from(until.weekday().to_monday_zero_offset()) - i64::from(day.to_monday_zero_offset());
    days_back(until, back.rem_euclid(7))
}

/// The latest such month that began before or on `until`.
fn latest_month(month: i8, until: Date) -> Option<Span> {
    let year = until.year() - i16::from(month > until.month());
    Span::month(year, month)
}

/// `3 days ago`, `a week ago`, `two months ago`.
fn ago(words: &[&str], today: Date) -> Option<(Span, usize)> {
    let [count, unit, "ago", ..] = words else {
        return None;
    };
    let count = count_of(count)?;
    let span = match unit.trim_end_matches('s') {
        "second" | "minute" | "hour" => Span::day(today)?,
        "day" => Span::day(days_back(today, count)?)?,
        "week" => {
            let then = days_back(today, count.checked_mul(7)?)?;
            Span::days(days_back(then, 3)?, days_back(then, -4)?)?
        }
        "month" => {
            let then = today.first_of_month().checked_sub(count.months()).ok()?;
            Span::month(then.year(), then.month())?
        }
        "year" => Span::year(i16::try_from(i64::from(today.year()) - count).ok()?)?,
        _ => return None,
    };
    Some((span, 3))
}

/// `3 may`, `3rd of may 2025`, `may 3`, `may 3rd, 2025`, `march 2025`.
fn calendar(words: &[&str], today: Date) -> Option<(Span, usize)> {
    if let Some(month) = month_of(words.first()?) {
        let Some(day) = words.get(1).and_then(|word| day_of(word)) else {
            let year = words.get(1).and_then(|word| year_of(word))?;
            return Some((Span::month(year, month)?, 2));
        };
        return dated(day, month, words.get(2), today).map(|(span, year)| (span, 2 + year));
    }
    let day = day_of(words.first()?)?;
    let of = usize::from(words.get(1) == Some(&"of"));
    let month = month_of(words.get(1 + of)?)?;
    dated(day, month, words.get(2 + of), today).map(|(span, year)| (span, 2 + of + year))
}

/// The day, and 1 if the next word was its year.
fn dated(day: i8, month: i8, next: Option<&&str>, today: Date) -> Option<(Span, usize)> {
    if let Some(year) = next.and_then(|word| year_of(word)) {
        return Some((Span::day(Date::new(year, month, day).ok()?)?, 1));
    }
    // Without a year the latest one that is not ahead; 29 February needs a leap year.
    let years = (0..8).filter_map(|back| Date::new(today.year() - back, month, day).ok());
    let date = years.into_iter().find(|date| *date <= today)?;
    Some((Span::day(date)?, 0))
}

/// Behind a word that says that a date follows: `in march`, `since 2024`, `on monday`.
fn introduced(words: &[&str], today: Date) -> Option<(Span, usize)> {
    let [word, next, ..] = words else { return None };
    let introduces = matches!(
        *word,
        "in" | "on"
            | "during"
            | "since"
            | "from"
            | "of"
            | "by"
            | "until"
            | "before"
            | "after"
            | "the"
    );
    if !introduces {
        return None;
    }
    if *word != "the"
        && let Some(day) = weekday_of(next)
    {
        return Some((Span::day(latest(day, today)?)?, 2));
    }
    if !matches!(*word, "on" | "the")
        && let Some(year) = year_of(next)
    {
        return Some((Span::year(year)?, 2));
    }
    let month = month_of(next).filter(|_| !matches!(*word, "on" | "the"))?;
    let day = words.get(2).and_then(|word| day_of(word));
    let year = words.get(2).and_then(|word| year_of(word));
    if day.is_some() || year.is_some() {
        return calendar(&words[1..], today).map(|(span, taken)| (span, taken + 1));
    }
    Some((latest_month(month, today)?, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Wednesday.
    const NOW: &str = "2026-05-20T15:00:00Z";

    fn shown(span: Span) -> String {
        let day = |time: Timestamp| today(time).to_string();
        format!("{}..{}", day(span.from), day(span.to))
    }

    fn check(text: &str, expected: &[&str]) {
        let found = spans(text, NOW.parse().unwrap(), 9);
        let found: Vec<String> = found.into_iter().map(shown).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn dates_in_words() {
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
    fn what_is_no_date() {
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
            let found = spans(text, NOW.parse().unwrap(), 9);
            assert_eq!(found.len(), usize::from(months), "{text}: {found:?}");
        }
        check(
            "yesterday and last week",
            &["2026-05-19..2026-05-20", "2026-05-11..2026-05-18"],
        );
        assert_eq!(spans("today today today", NOW.parse().unwrap(), 2).len(), 2);
    }

    #[test]
    fn values_of_filters() {
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
            let found = one(text, NOW.parse().unwrap()).map(shown);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
