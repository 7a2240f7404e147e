//! Calendar dates: `2026-05-01`, `1 May 2026`.

use super::TimeSpan;
use super::date_word_parser::{parse_day, parse_month, parse_year};
use heirloom_model::civil::Date;

/// Parses `2026-05-01`, `2026-05-01t10:00`, `2026/05/01`, `2026-05`.
pub(super) fn parse_iso(word: &str) -> Option<TimeSpan> {
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
            TimeSpan::day(date.ok()?)
        }
        [year, month] if day.len() == word.len() && day.contains('-') => {
            TimeSpan::month(number(year, 4)?, i8::try_from(number(month, 2)?).ok()?)
        }
        _ => None,
    }
}

/// Parses `3 may`, `3rd of may 2025`, `may 3`, `may 3rd, 2025`, `march 2025`.
pub(super) fn parse_calendar(words: &[&str], today: Date) -> Option<(TimeSpan, usize)> {
    if let Some(month) = parse_month(words.first()?) {
        let Some(day) = words.get(1).and_then(|word| parse_day(word)) else {
            let year = words.get(1).and_then(|word| parse_year(word))?;
            return Some((TimeSpan::month(year, month)?, 2));
        };
        return date_with_optional_year(day, month, words.get(2), today)
            .map(|(span, year)| (span, 2 + year));
    }
    let day = parse_day(words.first()?)?;
    let of = usize::from(words.get(1) == Some(&"of"));
    let month = parse_month(words.get(1 + of)?)?;
    date_with_optional_year(day, month, words.get(2 + of), today)
        .map(|(span, year)| (span, 2 + of + year))
}

/// Returns the day, and 1 if the next word is its year.
fn date_with_optional_year(
    day: i8,
    month: i8,
    next: Option<&&str>,
    today: Date,
) -> Option<(TimeSpan, usize)> {
    if let Some(year) = next.and_then(|word| parse_year(word)) {
        return Some((TimeSpan::day(Date::new(year, month, day).ok()?)?, 1));
    }
    // Without a year, the latest such day that is not in the future; 29 February needs a leap year.
    let years = (0..8).filter_map(|back| Date::new(today.year() - back, month, day).ok());
    let date = years.into_iter().find(|date| *date <= today)?;
    Some((TimeSpan::day(date)?, 0))
}
