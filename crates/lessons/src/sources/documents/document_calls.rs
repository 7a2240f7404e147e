//! Calls that read an issue, a plan, a specification, or a package file.

use crate::cues::{Cues, DocumentCues};
use crate::shell_line::{SimpleCommand, read_shell_line};
use serde::{Deserialize, Serialize};

/// Subcommands of trackers that print an issue.
const SHOW_VERBS: [&str; 7] = ["show", "view", "get", "read", "info", "details", "describe"];
/// Programs that print a file.
const PRINTERS: [&str; 8] = ["cat", "sed", "head", "less", "more", "bat", "nl", "tail"];
/// Files that agents read by themselves.
const STANDING_FILES: [&str; 6] = [
    "claude.md",
    "agents.md",
    "gemini.md",
    "readme.md",
    "claude.local.md",
    "memory.md",
];
/// Greatest number of characters of a file's name.
const NAME_CHARS_MAX: usize = 80;

/// Kind of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DocumentKind {
    /// Issue of a tracker.
    #[default]
    Issue,
    /// Plan or specification, with the file's name.
    File(String),
    /// File with the scripts of a package.
    Package,
}

/// Returns the kind of document that a command line prints.
pub(super) fn document_kind(line: &str, cues: &Cues) -> Option<DocumentKind> {
    read_shell_line(line).iter().find_map(|command| {
        let program = command.word(0);
        if is_issue_view(command, cues) {
            return Some(DocumentKind::Issue);
        }
        if !PRINTERS.contains(&program) {
            return None;
        }
        let path = command
            .words
            .iter()
            .skip(1)
            .rev()
            .find(|word| word.contains('.') && !word.starts_with('-'))?;
        file_kind(path, &cues.documents)
    })
}

fn is_issue_view(command: &SimpleCommand, cues: &Cues) -> bool {
    cues.commands.tracker.programs.iter().any(|program| {
        let length = program.split(' ').count();
        let is_program = program
            .split(' ')
            .enumerate()
            .all(|(at, part)| command.word(at) == part);
        let verb = command.word(length);
        is_program
            && (SHOW_VERBS.contains(&verb)
                || (verb == "issue" && SHOW_VERBS.contains(&command.word(length + 1))))
    })
}

/// Returns the kind of document that a tool other than a shell reads.
pub(super) fn is_document_tool(
    tool: &str,
    input: &str,
    cues: &DocumentCues,
) -> Option<DocumentKind> {
    let lower = tool.to_lowercase();
    let is_issue = lower.contains("issue") || lower.contains("ticket");
    let is_get = ["get", "read", "view", "fetch", "show"]
        .iter()
        .any(|verb| lower.contains(verb));
    if is_issue && is_get {
        return Some(DocumentKind::Issue);
    }
    if !lower.contains("read") && !lower.contains("view") && !lower.contains("cat") {
        return None;
    }
    let path = [
        "\"file_path\"",
        "\"path\"",
        "\"absolute_path\"",
        "\"filePath\"",
        "\"target_file\"",
    ]
    .iter()
    .find_map(|name| input.split_once(name))
    .and_then(|(_, rest)| rest.split('"').nth(1))?;
    file_kind(path, cues)
}

/// Returns the kind of a file by its path.
fn file_kind(path: &str, cues: &DocumentCues) -> Option<DocumentKind> {
    let lower = path.to_lowercase();
    let mut parts = lower.rsplit('/');
    let name = parts.next()?;
    if name == "package.json" {
        let is_dependency = lower.contains("node_modules/");
        return (!is_dependency).then_some(DocumentKind::Package);
    }
    let is_text = [".md", ".txt", ".rst", ".adoc", ".mdx"]
        .iter()
        .any(|end| name.ends_with(end));
    if !is_text || STANDING_FILES.contains(&name) || name.chars().count() > NAME_CHARS_MAX {
        return None;
    }
    let folder = parts.next().unwrap_or_default();
    let is_known = cues.phrases.files.begins(name)
        || cues.phrases.files.begins(folder)
        || name.contains("plan")
        || name.contains("spec");
    let shown = path.rsplit('/').next().unwrap_or(path);
    is_known.then(|| DocumentKind::File(format!("file `{shown}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_kind_knows_trackers_and_files() {
        let cues = Cues::get();
        let file = |name: &str| Some(DocumentKind::File(format!("file `{name}`")));
        for (line, expected) in [
            ("bd show x-1 2>/dev/null", Some(DocumentKind::Issue)),
            ("gh issue view 12 --comments", Some(DocumentKind::Issue)),
            ("jira issue view AB-1", Some(DocumentKind::Issue)),
            ("cd a && cat docs/spec.md", file("spec.md")),
            ("sed -n '1,200p' plans/next.md", file("next.md")),
            ("cat packages/a/package.json", Some(DocumentKind::Package)),
            ("cat README.md", None),
            ("cat CLAUDE.md", None),
            ("cat node_modules/x/package.json", None),
            ("bd ready", None),
            ("cat src/main.rs", None),
        ] {
            assert_eq!(document_kind(line, cues), expected, "{line}");
        }
        let cues = &cues.documents;
        assert_eq!(
            is_document_tool("Read", "{\"file_path\":\"/a/PLAN.md\"}", cues),
            file("PLAN.md")
        );
        assert_eq!(
            is_document_tool("mcp__linear__get_issue", "{}", cues),
            Some(DocumentKind::Issue)
        );
        assert_eq!(
            is_document_tool("Read", "{\"file_path\":\"/a/b.rs\"}", cues),
            None
        );
        assert_eq!(
            is_document_tool("Glob", "{\"path\":\"plan.md\"}", cues),
            None
        );
    }
}
