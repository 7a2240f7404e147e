//! Reader of git's config file, for remotes and the work tree.
//!
//! Invalid lines are skipped; includes are not followed.

/// Returns the URL of the remote `origin`, else of the first remote that has one.
pub(super) fn remote_url(config: &str) -> Option<String> {
    let mut first = None;
    for entry in parse_entries(config) {
        if entry.section == "remote" && entry.key == "url" && !entry.value.is_empty() {
            if entry.name.as_deref() == Some("origin") {
                return Some(entry.value);
            }
            first.get_or_insert(entry.value);
        }
    }
    first
}

/// Returns the last value of a key; section and key must be in lower case.
pub(super) fn value(config: &str, section: &str, name: Option<&str>, key: &str) -> Option<String> {
    let matches = |entry: &ConfigEntry| {
        entry.section == section && entry.name.as_deref() == name && entry.key == key
    };
    let found = parse_entries(config).into_iter().rfind(matches)?;
    Some(found.value)
}

/// One `key = value` with its section.
struct ConfigEntry {
    section: String,
    name: Option<String>,
    key: String,
    value: String,
}

fn parse_entries(config: &str) -> Vec<ConfigEntry> {
    let (mut section, mut name) = (String::new(), None);
    let mut entries = Vec::new();
    let mut lines = config.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start_matches(['\u{feff}', ' ', '\t']).to_owned();
        while ends_in_continuation(&line) {
            line.pop();
            line.push_str(lines.next().unwrap_or_default());
        }
        let mut rest = line.as_str();
        if let Some(header) = rest.strip_prefix('[') {
            let Some((found, after)) = read_header(header) else {
                continue;
            };
            (section, name) = found;
            rest = after.trim_start();
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
        entries.push(ConfigEntry {
            section: section.clone(),
            name: name.clone(),
            key: key.trim().to_ascii_lowercase(),
            value: read_value(value),
        });
    }
    entries
}

/// Returns true if a line ends in a backslash that is not itself escaped.
fn ends_in_continuation(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

type Header = (String, Option<String>);

/// Reads a section header `remote "origin"]` or `remote.origin]`; returns it with the text after it.
fn read_header(header: &str) -> Option<(Header, &str)> {
    let end = header.find(['"', ']'])?;
    let section = header[..end].trim();
    if header[end..].starts_with(']') {
        let (section, name) = match section.split_once('.') {
            Some((section, name)) => (section, Some(name.to_ascii_lowercase())),
            None => (section, None),
        };
        return Some(((section.to_ascii_lowercase(), name), &header[end + 1..]));
    }
    let mut name = String::new();
    let mut chars = header[end + 1..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                let after = header[end + 1 + at + 1..].trim_start().strip_prefix(']')?;
                return Some(((section.to_ascii_lowercase(), Some(name)), after));
            }
            '\\' => name.push(chars.next()?.1),
            c => name.push(c),
        }
    }
    None
}

/// Reads a value without quotes, escapes and comment.
fn read_value(text: &str) -> String {
    let (mut value, mut quoted) = (String::new(), false);
    // Trailing blanks outside of quotes do not belong to the value.
    let mut value_end = 0;
    let mut chars = text.trim_start().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                quoted = !quoted;
                value_end = value.len();
                continue;
            }
            '#' | ';' if !quoted => break,
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(c) => value.push(c),
                None => {}
            },
            c => value.push(c),
        }
        if quoted || !c.is_whitespace() {
            value_end = value.len();
        }
    }
    value.truncate(value_end);
    value
}

#[cfg(test)]
mod tests {
    use super::{remote_url, value};

    fn check(config: &str, expected: Option<&str>) {
        assert_eq!(remote_url(config).as_deref(), expected, "{config}");
    }

    #[test]
    fn remote_url_prefers_origin_then_first_remote() {
        let two = "[remote \"up\"]\n\turl = u\n[remote \"origin\"]\n\tfetch = x\n\turl = o\n";
        check(two, Some("o"));
        check(
            "[remote \"up\"]\nurl = u\n[remote \"down\"]\nurl = d\n",
            Some("u"),
        );
        check("[branch \"origin\"]\nurl = no\n", None);
        check("", None);
    }

    #[test]
    fn remote_url_reads_all_syntax_forms() {
        check("[Remote \"origin\"] URL=x", Some("x"));
        check("[remote.origin]\nurl = x", Some("x"));
        check(
            "\u{feff}[remote \"origin\"]\r\n\turl = x ; c\r\n",
            Some("x"),
        );
        check(
            "[remote \"origin\"] # c\n; c\n#c\nurl = \"a b\" # c",
            Some("a b"),
        );
        check("[remote \"origin\"]\nurl = a\\\nb\n", Some("ab"));
        check("[remote \"or\\\"igin\"]\nurl = a\\\\b", Some("a\\b"));
        check("[remote \"origin\"]\nurl = \"a;b\"c  \n", Some("a;bc"));
    }

    #[test]
    fn remote_url_of_broken_file_is_none() {
        for broken in [
            "[",
            "[remote",
            "[remote \"origin",
            "[remote \"o\\",
            "=",
            "\\",
            "[]\n=\n\"",
        ] {
            check(broken, None);
        }
    }

    #[test]
    fn value_returns_last_entry() {
        let config = "[core]\nworktree = a\n[core]\nworkTree = b\n";
        assert_eq!(
            value(config, "core", None, "worktree").as_deref(),
            Some("b")
        );
        assert_eq!(value(config, "core", Some("x"), "worktree"), None);
    }
}
