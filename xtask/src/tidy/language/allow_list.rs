//! The committed list of places that break the rules of language: it may only become shorter.
//!
//! One line a place, sorted, so that changes of several people merge line by line.

use std::collections::BTreeMap;

/// The file, from the root of the repository.
pub(super) const PATH: &str = "xtask/language.toml";

const HEAD: &str = "\
# Places that do not follow the rules of language in CONTRIBUTING.md yet. Their number may only become smaller.
# Written by `cargo xtask tidy --update-language`; do not edit it by hand.
";

/// Counts by place: a file, or the name of a type.
pub(super) type Counts = BTreeMap<String, usize>;

/// Counts of every rule, by the name of the rule.
pub(super) type Lists = BTreeMap<String, Counts>;

/// Reads the list; the error names the line that is no heading, count or comment.
pub(super) fn parse(text: &str) -> Result<Lists, usize> {
    let mut lists = Lists::new();
    let mut rule = String::new();
    for (number, line) in (1_usize..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.clone_into(&mut rule);
            lists.entry(rule.clone()).or_default();
            continue;
        }
        let (place, count) = line.split_once(" = ").ok_or(number)?;
        let place = place.strip_prefix('"').and_then(|p| p.strip_suffix('"'));
        let count = count.parse().map_err(|_| number)?;
        let counts = lists.get_mut(&rule).ok_or(number)?;
        counts.insert(place.ok_or(number)?.to_owned(), count);
    }
    Ok(lists)
}

/// Writes the list.
pub(super) fn render(lists: &Lists) -> String {
    let mut text = String::from(HEAD);
    for (rule, counts) in lists {
        text.push_str(&format!("\n[{rule}]\n"));
        for (place, count) in counts {
            text.push_str(&format!("\"{place}\" = {count}\n"));
        }
    }
    text
}

/// The sum of the counts of a rule.
pub(super) fn total(counts: &Counts) -> usize {
    counts.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_list_parses_to_same_list() {
        let counts = |place: &str, n| Counts::from([(place.to_owned(), n)]);
        let lists = Lists::from([
            ("house_words".to_owned(), counts("a/b.rs", 3)),
            ("types".to_owned(), counts("Kept", 4)),
            ("modules".to_owned(), Counts::new()),
        ]);
        let text = render(&lists);
        assert!(
            text.ends_with(
                "\n[house_words]\n\"a/b.rs\" = 3\n\n[modules]\n\n[types]\n\"Kept\" = 4\n"
            )
        );
        assert_eq!(parse(&text), Ok(lists));
    }

    #[test]
    fn invalid_line_is_named_in_error() {
        for (text, line) in [
            ("\"a\" = 1", 1),
            ("[x]\n\"a\" 1", 2),
            ("[x]\n\n# y\na = 1", 4),
            ("[x]\n\"a\" = many", 2),
            ("[x]\n<<<<<<< HEAD", 2),
        ] {
            assert_eq!(parse(text), Err(line), "{text}");
        }
    }
}
