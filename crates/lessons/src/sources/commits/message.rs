//! Messages of commits and pull requests, as their commands contain them.

use crate::cues::CommitCues;
use crate::shell_line::SimpleCommand;
use heirloom_model::text;

/// Greatest number of characters of a subject.
const SUBJECT_CHARS_MAX: usize = 120;
/// Greatest number of bytes of a body.
const BODY_BYTES_MAX: usize = 6 << 10;

/// Message of a commit or pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::sources) struct CommitMessage {
    /// First line.
    pub(in crate::sources) subject: String,
    /// The rest, without trailers.
    pub(in crate::sources) body: String,
    /// True for a pull request.
    pub(in crate::sources) is_pull_request: bool,
}

/// Returns the message if the command makes a commit or opens a pull request.
pub(in crate::sources) fn read_commit(
    command: &SimpleCommand,
    cues: &CommitCues,
) -> Option<CommitMessage> {
    let mut words = command
        .words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'));
    let (program, verb, object) = (words.next()?, words.next()?, words.next());
    let (title, body, is_pull_request) = match (program, verb, object) {
        ("git" | "hg" | "sl", "commit", _) | ("jj", "commit" | "describe" | "new", _) => {
            (None, commit_text(command)?, false)
        }
        ("gh", "pr", Some("create"))
        | ("glab", "mr", Some("create"))
        | ("tea", "pr" | "pulls", Some("create")) => {
            let title = command.option_values(&["--title", "-t"]).next()?;
            let body = command
                .option_values(&["--body", "-b", "--description", "-d"])
                .next();
            let here = command.here_document.clone();
            (
                Some(title),
                here.or_else(|| body.map(str::to_owned)).unwrap_or_default(),
                true,
            )
        }
        _ => return None,
    };
    let clipped = body
        .get(..body.floor_char_boundary(BODY_BYTES_MAX))
        .unwrap_or_default();
    let is_trailer = |line: &str| {
        let lower = line.trim().to_lowercase();
        cues.lines
            .trailers
            .iter()
            .any(|start| lower.starts_with(start.as_str()))
    };
    let mut lines = clipped
        .lines()
        .filter(|line| !is_trailer(line))
        .skip_while(|line| line.trim().is_empty());
    let subject = match title {
        Some(title) => title,
        None => lines.next()?,
    };
    let subject = text::excerpt(subject.trim(), SUBJECT_CHARS_MAX);
    (!subject.is_empty()).then(|| CommitMessage {
        subject,
        body: lines.collect::<Vec<_>>().join("\n").trim().to_owned(),
        is_pull_request,
    })
}

/// Returns a subject without symbols and a type such as `feat(api):` before it.
pub(in crate::sources) fn plain_subject(subject: &str) -> &str {
    let bare = subject.trim_start_matches(|c: char| !c.is_ascii_alphanumeric() && c != '`');
    // A subject in another script has no letters of ASCII at its beginning.
    let bare = if bare.is_empty() { subject } else { bare };
    match bare.split_once(": ") {
        Some((kind, rest))
            if kind.len() <= 24 && !kind.contains(' ') && !rest.trim().is_empty() =>
        {
            rest.trim()
        }
        _ => bare,
    }
}

/// Returns the text of a commit's `-m` options or here-document.
fn commit_text(command: &SimpleCommand) -> Option<String> {
    let is_from_input = |value: &str| value.starts_with("$(cat") || value == "-";
    let mut parts: Vec<&str> = Vec::new();
    let mut words = command.words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let is_cluster = word.starts_with('-')
            && !word.starts_with("--")
            && word.len() <= 5
            && word.ends_with(['m', 'F']);
        if is_cluster || matches!(word, "--message" | "--file") {
            parts.extend(words.next());
        } else if let Some(value) = word.strip_prefix("--message=") {
            parts.push(value);
        } else if let Some(value) = word.strip_prefix("-m").filter(|value| !value.is_empty()) {
            parts.push(value);
        }
    }
    match &command.here_document {
        Some(here) if parts.iter().any(|part| is_from_input(part)) => Some(here.clone()),
        _ => {
            parts.retain(|part| !is_from_input(part));
            (!parts.is_empty()).then(|| parts.join("\n\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use crate::shell_line::read_shell_line;

    fn read(line: &str) -> Option<CommitMessage> {
        let commands = read_shell_line(line);
        commands
            .iter()
            .find_map(|command| read_commit(command, &Cues::get().commits))
    }

    #[test]
    fn read_commit_knows_all_forms() {
        for (line, subject, body) in [
            ("git commit -m 'one'", "one", ""),
            ("git add . && git commit -am \"one\" -m 'two'", "one", "two"),
            ("git commit --message=one", "one", ""),
            ("git -c user.name=x commit -m one", "", ""),
            (
                "git commit -m \"$(cat <<'EOF'\nfeat: one\n\nBecause it's so.\n\nCo-Authored-By: X <y>\nEOF\n)\"",
                "feat: one",
                "Because it's so.",
            ),
            ("git commit -F - <<'END'\none\n\ntwo\nEND", "one", "two"),
            (
                "gh pr create --title 'one' --body \"$(cat <<'EOF'\n## Summary\ntwo\nEOF\n)\"",
                "one",
                "## Summary\ntwo",
            ),
            ("jj describe -m one", "one", ""),
        ] {
            let found = read(line);
            if subject.is_empty() {
                assert_eq!(found, None, "{line}");
                continue;
            }
            let found = found.unwrap();
            assert_eq!(
                (found.subject.as_str(), found.body.as_str()),
                (subject, body),
                "{line}"
            );
        }
    }

    #[test]
    fn plain_subject_has_no_type() {
        for (subject, plain) in [
            ("feat(api)!: add a cart", "add a cart"),
            ("🐛 fix(api): keep `x`", "keep `x`"),
            ("Add: a cart", "a cart"),
            ("Add a cart: now", "Add a cart: now"),
            ("`x` is gone", "`x` is gone"),
            ("カート", "カート"),
            ("", ""),
        ] {
            assert_eq!(plain_subject(subject), plain);
        }
    }

    #[test]
    fn read_commit_ignores_other_commands() {
        for line in [
            "git commit",
            "git commit --amend --no-edit",
            "git log",
            "gh pr view 1",
            "echo commit -m x",
            "git commit -m ''",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
