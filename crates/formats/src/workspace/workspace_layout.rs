//! Layout of a workspace: file names and templates.

use heirloom_model::civil::Date;
use heirloom_model::kinds::{CATEGORY_CONVENTION, CATEGORY_FACT, CATEGORY_LEARNING};

/// A file with a fixed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedFile {
    /// Path in the workspace.
    pub path: &'static str,
    /// Template that `init` writes: headings and comments.
    pub template: &'static str,
}

/// File for facts.
pub const MEMORY_FILE: FixedFile = FixedFile {
    path: "MEMORY.md",
    template: "# Memory\n\n<!-- Facts worth keeping, one bullet each. -->\n",
};
/// File for learnings.
pub const LEARNINGS_FILE: FixedFile = FixedFile {
    path: ".learnings/LEARNINGS.md",
    template: "# Learnings\n\n<!-- What turned out to be so, one bullet each, the newest last. -->\n",
};
/// Folder of old daily logs.
pub const ARCHIVE_FOLDER: &str = "memory/archive";

/// Files with fixed names, in the order of prompts.
pub const FIXED_FILES: [FixedFile; 7] = [
    FixedFile {
        path: "SOUL.md",
        template: "# Soul\n\n<!-- Who the agent is here, and the rules that it keeps. -->\n",
    },
    FixedFile {
        path: "TOOLS.md",
        template: "# Tools\n\n<!-- Which tools there are, and how they are used here. -->\n",
    },
    FixedFile {
        path: "AGENTS.md",
        template: "# Agents\n\n<!-- Who does what, and what is handed to whom. -->\n",
    },
    MEMORY_FILE,
    LEARNINGS_FILE,
    FixedFile {
        path: ".learnings/ERRORS.md",
        template: "# Errors\n\n<!-- What goes wrong, and what helps, one bullet each. -->\n",
    },
    FixedFile {
        path: ".learnings/FEATURE_REQUESTS.md",
        template: "# Feature requests\n\n<!-- What somebody wished for, one bullet each. -->\n",
    },
];

/// Returns the path of the log of a day.
pub fn daily_log_path(day: Date) -> String {
    format!("memory/{day}.md")
}

/// Returns the day of a daily log from its file name.
pub fn daily_log_date(name: &str) -> Option<Date> {
    let day = name.strip_suffix(".md")?;
    // Only the canonical form of a date: one day has one file.
    (day.len() == 10).then(|| day.parse().ok()).flatten()
}

/// Returns the category of the entries of a file.
pub fn file_category(path: &str) -> &'static str {
    let name = archived_path(path);
    match name.as_deref().unwrap_or(path) {
        "SOUL.md" => CATEGORY_CONVENTION,
        "TOOLS.md" => "tools",
        "AGENTS.md" => "agents",
        ".learnings/LEARNINGS.md" | ".learnings/ERRORS.md" => CATEGORY_LEARNING,
        ".learnings/FEATURE_REQUESTS.md" => "feature request",
        path if path.starts_with("memory/") => "log",
        _ => CATEGORY_FACT,
    }
}

/// Returns the path of the file that an archive belongs to; `None` for another path.
pub fn archived_path(archive: &str) -> Option<String> {
    let name = archive.strip_suffix(".archive.md")?;
    Some(format!("{name}.md"))
}

/// Returns the path of the archive of a file, next to it.
pub fn archive_path(path: &str) -> String {
    format!("{}.archive.md", path.strip_suffix(".md").unwrap_or(path))
}
