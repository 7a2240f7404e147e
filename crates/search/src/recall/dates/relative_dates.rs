//! Dates relative to today: `yesterday`, `last week`, `three days ago`.

use super::TimeSpan;
use super::date_word_parser::{parse_count, parse_month, parse_weekday};
use heirloom_model::ToSpan;
use heirloom_model::civil::{Date, Weekday};

pub(super) fn parse_single_word(word: &str, today: Date) -> Option<(TimeSpan, usize)> {
    let back = match word {
        "today" | "tonight" => 0,
        "yesterday" => 1,
        "tomorrow" => -1,
        _ => return None,
    };
    Some((TimeSpan::day(days_back(today, back)?)?, 1))
}

/// Parses `last week`, `this month`, `last monday`, `the day before yesterday`.
pub(super) fn parse_relative(words: &[&str], today: Date) -> Option<(TimeSpan, usize)> {
    if words.starts_with(&["day", "before", "yesterday"]) {
        return Some((TimeSpan::day(days_back(today, 2)?)?, 3));
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
        "day" | "night" => TimeSpan::day(days_back(today, back)?)?,
        "week" => TimeSpan::week(days_back(today, 7 * back)?)?,
        "month" => {
            let first = today.first_of_month().checked_sub(back.months()).ok()?;
            TimeSpan::month(first.year(), first.month())?
        }
        "year" => TimeSpan::year(i16::try_from(i64::from(today.year()) - back).ok()?)?,
        named => {
            if let Some(day) = parse_weekday(named) {
                let until = if back == 1 {
                    days_back(today, 1)?
                } else {
                    today
                };
                TimeSpan::day(latest_weekday(day, until)?)?
            } else {
                let month = parse_month(named)?;
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

/// Parses `3 days ago`, `a week ago`, `two months ago`.
pub(super) fn parse_ago(words: &[&str], today: Date) -> Option<(TimeSpan, usize)> {
    let [count, unit, "ago", ..] = words else {
        return None;
    };
    let count = parse_count(count)?;
    let span = match unit.trim_end_matches('s') {
        "second" | "minute" | "hour" => TimeSpan::day(today)?,
        "day" => TimeSpan::day(days_back(today, count)?)?,
        "week" => {
            let then = days_back(today, count.checked_mul(7)?)?;
            TimeSpan::days(days_back(then, 3)?, days_back(then, -4)?)?
        }
        "month" => {
            let then = today.first_of_month().checked_sub(count.months()).ok()?;
            TimeSpan::month(then.year(), then.month())?
        }
        "year" => TimeSpan::year(i16::try_from(i64::from(today.year()) - count).ok()?)?,
        _ => return None,
    };
    Some((span, 3))
}

/// Returns the latest such weekday, at most `until`.
pub(super) fn latest_weekday(day: Weekday, until: Date) -> Option<Date> {
    let back =
        i64::from(until.weekday().to_monday_zero_offset()) - i64::from(day.to_monday_zero_offset());
    days_back(until, back.rem_euclid(7))
}

/// Returns the latest such month that began at `until` or before.
pub(super) fn latest_month(month: i8, until: Date) -> Option<TimeSpan> {
    let year = until.year() - i16::from(month > until.month());
    TimeSpan::month(year, month)
}

fn days_back(today: Date, days: i64) -> Option<Date> {
    today.checked_sub(days.days()).ok()
}
