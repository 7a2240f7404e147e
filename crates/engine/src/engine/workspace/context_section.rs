//! Section of a context with the workspace files: their order, the newest part of long ones, and standing text.

use super::Workspaces;
use super::workspace_files::{WorkspaceKind, WorkspaceRoot};
use crate::engine::markdown_cleanup::prompt_text;
use heirloom_formats::workspace::{self, FIXED_FILES, LEARNINGS_FILE};
use heirloom_model::limits;
use heirloom_model::section::{Frame, Layout, Offer, Origin, Section, StandingRank};

impl Workspaces<'_> {
    /// Returns the section of the workspaces, the person's first: SOUL, TOOLS, AGENTS, MEMORY, today's log and the
    /// last learnings. Reads the files at each call; writes nothing.
    pub fn section(&self) -> Section {
        self.section_of(false)
    }

    /// Returns the section as [`Self::section`]; SOUL, AGENTS and MEMORY are whole and marked as standing text.
    pub(in crate::engine) fn section_with_standing(&self) -> Section {
        self.section_of(true)
    }

    fn section_of(&self, has_standing: bool) -> Section {
        let mut section = Section {
            name: "workspace".to_owned(),
            heading: "=== WORKSPACE KNOWLEDGE ===".to_owned(),
            closing: "=== END OF WORKSPACE KNOWLEDGE ===".to_owned(),
            layout: Layout::Blocks,
            ..Section::default()
        };
        let today = workspace::daily_log_path(self.today());
        for root in [WorkspaceKind::User, WorkspaceKind::Project] {
            let Some(root) = WorkspaceRoot::open(self.engine, root).filter(WorkspaceRoot::is_there)
            else {
                continue;
            };
            for page in FIXED_FILES.iter().take(4) {
                let standing = has_standing.then(|| standing_rank(page.path)).flatten();
                self.offer(&root, page.path, standing, &mut section);
            }
            self.offer(&root, &today, None, &mut section);
            self.offer(&root, LEARNINGS_FILE.path, None, &mut section);
        }
        section
    }

    fn offer(
        &self,
        root: &WorkspaceRoot,
        path: &str,
        standing: Option<StandingRank>,
        section: &mut Section,
    ) {
        let shown = root.shown(path);
        let page = match root.read(path) {
            Ok(Some(page)) => page.text,
            Ok(None) => return,
            Err(problem) => {
                section.notes.push(format!("{shown}: {problem}"));
                return;
            }
        };
        // Comments and headings without content are for the authors of the file.
        let page = prompt_text(&page);
        if page.trim().is_empty() {
            return;
        }
        let page = self.engine.redaction().redact_input(&page).into_owned();
        let page = match path == LEARNINGS_FILE.path {
            true => last_lines(&page, limits::WORKSPACE_LEARNING_LINES),
            false => page,
        };
        // Standing text has an allowance of its own.
        let most = match standing {
            Some(_) => usize::MAX,
            None => self.engine.settings.workspace.file_chars,
        };
        let (text, is_cut) = workspace::newest_part(&page, most);
        if is_cut {
            let note = format!("{shown}: only the newest {most} characters");
            section.notes.push(note);
        }
        if text.trim().is_empty() {
            return;
        }
        let title = format!("--- {shown}\n");
        let frame = Frame {
            head_bytes: title.len(),
            tail_bytes: 0,
            keeps_last_lines: standing.is_none(),
        };
        section.offers.push(Offer {
            frame: Some(frame),
            standing,
            origin: Origin::File {
                path: shown.clone(),
                line: None,
            },
            text: format!("{title}{}\n", text.trim_end()),
            ..Offer::default()
        });
    }
}

fn last_lines(page: &str, most: usize) -> String {
    let lines: Vec<_> = page.trim_end().lines().collect();
    let from = lines.len().saturating_sub(most);
    lines.get(from..).unwrap_or_default().join("\n")
}

/// Returns the importance of a file that people wrote to be read every time.
fn standing_rank(path: &str) -> Option<StandingRank> {
    match path {
        "SOUL.md" => Some(StandingRank::Soul),
        "AGENTS.md" => Some(StandingRank::Agents),
        "MEMORY.md" => Some(StandingRank::Memory),
        _ => None,
    }
}
