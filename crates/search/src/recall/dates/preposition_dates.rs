//! Dates after a preposition: `in May`, `since 2024`, `on Monday`.

use super::TimeSpan;
use super::calendar_dates::parse_calendar;
use super::date_word_parser::{parse_day, parse_month, parse_weekday, parse_year};
use super::relative_dates::{latest_month, latest_weekday};
use heirloom_model::civil::Date;

/// Parses a date after a preposition: `in march`, `since 2024`, `on monday`.
pub(super) fn parse_introduced(words: &[&str], today: Date) -> Option<(TimeSpan, usize)> {
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
        && let Some(day) = parse_weekday(next)
    {
        return Some((TimeSpan::day(latest_weekday(day, today)?)?, 2));
    }
    if !matches!(*word, "on" | "the")
        && let Some(year) = parse_year(next)
    {
        return Some((TimeSpan::year(year)?, 2));
    }
    let month = parse_month(next).filter(|_| !matches!(*word, "on" | "the"))?;
    let day = words.get(2).and_then(|word| parse_day(word));
    let year = words.get(2).and_then(|word| parse_year(word));
    if day.is_some() || year.is_some() {
        return parse_calendar(&words[1..], today).map(|(span, words_used)| (span, words_used + 1));
    }
    Some((latest_month(month, today)?, 2))
}
