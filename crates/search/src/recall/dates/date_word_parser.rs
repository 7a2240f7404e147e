//! Parser of single words in dates.

use heirloom_model::civil::Weekday;

/// Parses a count: `3`, `three`, `a`.
pub(super) fn parse_count(word: &str) -> Option<i64> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let named = WORDS.iter().position(|name| *name == word);
    let number = word.len() <= 4 && word.bytes().all(|b| b.is_ascii_digit());
    named
        .and_then(|n| i64::try_from(n).ok())
        .or_else(|| number.then(|| word.parse().ok()).flatten())
}

/// Parses a day of the month: `3`, `3rd`.
pub(super) fn parse_day(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let rest = &word[digits.len()..];
    let fits = matches!(rest, "" | "st" | "nd" | "rd" | "th") && (1..=2).contains(&digits.len());
    let day: i8 = fits.then(|| digits.parse().ok()).flatten()?;
    (1..=31).contains(&day).then_some(day)
}

/// Parses a four-digit year in a plausible range.
pub(super) fn parse_year(word: &str) -> Option<i16> {
    let fits = word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit());
    let year: i16 = fits.then(|| word.parse().ok()).flatten()?;
    (1970..=2100).contains(&year).then_some(year)
}

/// Parses a month name, in full or its first three letters.
pub(super) fn parse_month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let matches = |name: &&str| **name == *word || (word.len() == 3 && name.starts_with(word));
    let at = MONTHS.iter().position(matches)?;
    i8::try_from(at + 1).ok()
}

/// Parses the full name of a weekday.
pub(super) fn parse_weekday(word: &str) -> Option<Weekday> {
    const DAYS: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    let found = DAYS.iter().find(|(name, _)| *name == word);
    found.map(|(_, day)| *day)
}
