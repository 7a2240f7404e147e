//! Git's config file, as far as it names remotes and the work tree.
//!
//! Lines that make no sense are skipped; includes are not followed.

/// The URL of the remote `origin`, else of the first remote that has one.
pub(super) fn remote_url(config: &str) -> Option<String> {
    let mut first = None;
    for entry in entries(config) {
        if entry.section == "remote" && entry.key == "url" && !entry.value.is_empty() {
            if entry.name.as_deref() == Some("origin") {
                return Some(entry.value);
            }
            first.get_or_insert(entry.value);
        }
    }
    first
}

/// The last value of a key; section and key in lower case.
pub(super) fn value(config: &str, section: &str, name: Option<&str>, key: &str) -> Option<String> {
    let wanted = |entry: &Entry| {
        entry.section == section && entry.name.as_deref() == name && entry.key == key
    };
    let found = entries(config).into_iter().rfind(wanted)?;
    Some(found.value)
}

/// One `key = value`.
struct Entry {
    section: String,
    name: Option<String>,
    key: String,
    value: String,
}

fn entries(config: &str) -> Vec<Entry> {
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
        entries.push(Entry {
            section: section.clone(),
            name: name.clone(),
            key: key.trim().to_ascii_lowercase(),
            value: read_value(value),
        });
    }
    entries
}

/// Whether a line ends in a backslash that is not itself escaped.
fn ends_in_continuation(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

type Header = (String, Option<String>);

/// `remote "origin"]` and what follows; also the old form `remote.origin]`.
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

/// A value without quotes, escapes and comment.
fn read_value(text: &str) -> String {
    let (mut value, mut quoted) = (String::new(), false);
    // Blanks at the end of what is not quoted do not belong to the value.
    let mut kept = 0;
    let mut chars = text.trim_start().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                quoted = !quoted;
                kept = value.len();
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
            kept = value.len();
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::{remote_url, value};

    fn check(config: &str, expected: Option<&str>) {
        assert_eq!(remote_url(config).as_deref(), expected, "{config}");
    }

    #[test]
    fn origin_wins_then_the_first_remote() {
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
    fn the_forms_of_git_are_read() {
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
    fn broken_files_are_survived() {
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
    fn the_last_value_counts() {
        let config = "[core]\nworktree = a\n[core]\nworkTree = b\n";
        assert_eq!(
            value(config, "core", None, "worktree").as_deref(),
            Some("b")
        );
        assert_eq!(value(config, "core", Some("x"), "worktree"), None);
    }
}
