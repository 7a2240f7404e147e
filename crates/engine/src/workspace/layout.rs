//! Which files a workspace has.

use heirloom_model::civil::Date;
use heirloom_model::kinds::{CATEGORY_CONVENTION, CATEGORY_FACT, CATEGORY_LEARNING};

/// A file with a fixed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Its path in the workspace.
    pub path: &'static str,
    /// What `init` writes into it: headings and comments.
    pub template: &'static str,
}

/// Facts.
pub const MEMORY: Page = Page {
    path: "MEMORY.md",
    template: "# Memory\n\n<!-- Facts worth keeping, one bullet each. -->\n",
};
/// Learnings.
pub const LEARNINGS: Page = Page {
    path: ".learnings/LEARNINGS.md",
    template: "# Learnings\n\n<!-- What turned out to be so, one bullet each, the newest last. -->\n",
};
/// The folder of old daily logs.
pub const ARCHIVE: &str = "memory/archive";

/// The files with fixed names, in the order in which prompts have them.
pub const PAGES: [Page; 7] = [
    Page {
        path: "SOUL.md",
        template: "# Soul\n\n<!-- Who the agent is here, and the rules that it keeps. -->\n",
    },
    Page {
        path: "TOOLS.md",
        template: "# Tools\n\n<!-- Which tools there are, and how they are used here. -->\n",
    },
    Page {
        path: "AGENTS.md",
        template: "# Agents\n\n<!-- Who does what, and what is handed to whom. -->\n",
    },
    MEMORY,
    LEARNINGS,
    Page {
        path: ".learnings/ERRORS.md",
        template: "# Errors\n\n<!-- What goes wrong, and what helps, one bullet each. -->\n",
    },
    Page {
        path: ".learnings/FEATURE_REQUESTS.md",
        template: "# Feature requests\n\n<!-- What somebody wished for, one bullet each. -->\n",
    },
];

/// The log of a day.
pub fn daily(day: Date) -> String {
    format!("memory/{day}.md")
}

/// The day that the name of a daily log says.
pub fn day_of(name: &str) -> Option<Date> {
    let day = name.strip_suffix(".md")?;
    // Not what else a date may be written as: one day has one file.
    (day.len() == 10).then(|| day.parse().ok()).flatten()
}

/// What the entries of a file are about, as a category of knowledge.
pub fn about(path: &str) -> &'static str {
    let name = path.strip_suffix(".archive.md").map(|n| format!("{n}.md"));
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

/// Where the oldest entries of a file go: beside it.
pub fn archive_of(path: &str) -> String {
    format!("{}.archive.md", path.strip_suffix(".md").unwrap_or(path))
}
