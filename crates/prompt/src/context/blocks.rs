//! Blocks of a memory view: lines and lists whose size is known before anything is written.

use super::sanitize::Sanitizer;
use heirloom_model::context::{ContextItem, ErrorItem, InclusionReason, MemoryView, TaskView};
use heirloom_model::rating::Rating;
use heirloom_model::{RecordId, limits, text};
use std::borrow::Cow;

/// The first line of every context.
pub(super) const OPENING: &str = "## Session Memory\n";

/// Section of pinned records.
pub(super) const PINNED: &str = "Pinned";

/// Hint at the end of an omission notice.
const RECALL_HINT: &str = ": heirloom recall";

/// One line or list of the context. Blocks are stored in the order in which they are written.
pub(super) struct ContextBlock<'v> {
    /// Section of the block.
    pub(super) section: &'static str,
    /// Layout of the block.
    pub(super) layout: BlockLayout,
    /// Candidates for the block, the most important first.
    pub(super) entries: Vec<BlockEntry<'v>>,
    /// Number of entries that have the rank of the block; those after them have the lowest rank.
    pub(super) recent: usize,
    /// True if the store has older entries, whose number is unknown.
    pub(super) has_older: bool,
    /// Selected entries.
    pub(super) shown: ShownEntries,
}

/// Layout of a block.
pub(super) enum BlockLayout {
    /// Heading of the task.
    Title,
    /// One value, such as `Branch: x`.
    Line(&'static str),
    /// Values on one line, such as `Pending: a, b`; the last ones are omitted first.
    Steps(&'static str),
    /// Values on one line, the newest last, such as `Completed: a, b`; the first ones are omitted first.
    Past(&'static str),
    /// A heading, then one line for each entry, newest first. Contains the plural noun of the entries.
    Bullets(&'static str),
    /// The same, in the order of the view.
    Ranked(&'static str),
}

/// One candidate of a block.
pub(super) struct BlockEntry<'v> {
    pub(super) id: Option<RecordId>,
    pub(super) text: Cow<'v, str>,
    /// Characters of the entry with its line prefix and line break, without the separator of a comma list.
    pub(super) chars: usize,
    /// Reason for which the entry can never be included: `Empty` or `TooLarge`.
    pub(super) exclusion: Option<InclusionReason>,
    /// Importance in the selection by worth.
    pub(super) rating: Rating,
    /// True for a learning among the facts.
    pub(super) is_learning: bool,
}

/// Selected part of a block.
#[derive(Clone, Copy, Default)]
pub(super) struct ShownEntries {
    /// Number of included eligible entries, from the first.
    pub(super) count: usize,
    /// Characters of these entries.
    pub(super) chars: usize,
    /// Number of omitted entries in the notice; 0 = no notice.
    pub(super) omitted: usize,
    /// True if an omitted entry is newer than an included one.
    pub(super) scattered: bool,
}

impl<'v> ContextBlock<'v> {
    fn new(section: &'static str, layout: BlockLayout, entries: Vec<BlockEntry<'v>>) -> Self {
        Self {
            section,
            layout,
            entries,
            recent: usize::MAX,
            has_older: false,
            shown: ShownEntries::default(),
        }
    }

    /// Returns true if an entry has text after sanitizing.
    fn has_text(&self) -> bool {
        self.entries.iter().any(|entry| !entry.text.is_empty())
    }

    /// Returns the characters of the block with the selection `shown`. `opened` is true if the context already has
    /// text.
    pub(super) fn cost(&self, shown: ShownEntries, opened: bool) -> usize {
        let notice = self.notice_chars(shown);
        let pieces = shown.count + usize::from(notice > 0);
        if pieces == 0 {
            return 0;
        }
        let opening = if opened { 0 } else { text::chars(OPENING) };
        opening
            + match self.layout {
                BlockLayout::Title => 1 + shown.chars,
                BlockLayout::Line(_) => shown.chars,
                BlockLayout::Steps(label) | BlockLayout::Past(label) => {
                    label.len() + 2 + shown.chars + notice + 2 * (pieces - 1) + 1
                }
                BlockLayout::Bullets(_) | BlockLayout::Ranked(_) if shown.count > 0 => {
                    self.section.len() + 6 + shown.chars + notice
                }
                BlockLayout::Bullets(_) | BlockLayout::Ranked(_) => usize::from(!opened) + notice,
            }
    }

    /// Returns the omission notice: a word of the list or a line of its own. Empty if nothing was omitted.
    pub(super) fn notice(&self, shown: ShownEntries) -> String {
        let omitted = shown.omitted;
        if omitted == 0 {
            return String::new();
        }
        let word = self.notice_word(shown);
        match self.layout {
            BlockLayout::Bullets(nouns) | BlockLayout::Ranked(nouns) => {
                let noun = &nouns[..nouns.len() - usize::from(self.is_singular(omitted))];
                let plus = if self.has_older { "+" } else { "" };
                format!("… {omitted}{plus} {word} {noun}{RECALL_HINT}\n")
            }
            BlockLayout::Steps(_) | BlockLayout::Past(_) => format!("… {omitted} {word}"),
            BlockLayout::Title | BlockLayout::Line(_) => String::new(),
        }
    }

    /// Returns the length of [`ContextBlock::notice`] without allocating: it is computed once for each entry.
    fn notice_chars(&self, shown: ShownEntries) -> usize {
        let Some(digits) = shown.omitted.checked_ilog10() else {
            return 0;
        };
        let words = 3 + digits as usize + 1 + self.notice_word(shown).len();
        match self.layout {
            BlockLayout::Bullets(nouns) | BlockLayout::Ranked(nouns) => {
                let singular = usize::from(self.is_singular(shown.omitted));
                let plus = usize::from(self.has_older);
                words + plus + 1 + nouns.len() - singular + RECALL_HINT.len() + 1
            }
            BlockLayout::Steps(_) | BlockLayout::Past(_) => words,
            BlockLayout::Title | BlockLayout::Line(_) => 0,
        }
    }

    fn is_singular(&self, omitted: usize) -> bool {
        omitted == 1 && !self.has_older
    }

    fn notice_word(&self, shown: ShownEntries) -> &'static str {
        match self.layout {
            BlockLayout::Bullets(_) | BlockLayout::Past(_) if !shown.scattered => "older",
            BlockLayout::Bullets(_)
            | BlockLayout::Past(_)
            | BlockLayout::Steps(_)
            | BlockLayout::Ranked(_) => "more",
            BlockLayout::Title | BlockLayout::Line(_) => "",
        }
    }
}

/// Returns the blocks of a view in the order of the context. A block may have no entries.
pub(super) fn from_view<'v>(
    view: &'v MemoryView,
    sanitizer: &Sanitizer,
    chars_max: usize,
) -> Vec<ContextBlock<'v>> {
    let build = Builder {
        sanitizer,
        chars_max,
    };
    let mut blocks = match &view.task {
        Some(task) => build.task(task),
        None => Vec::new(),
    };
    let errors = view.errors.iter().rev().map(|e| build.error(e)).collect();
    let decisions = build.bullets(&view.decisions);
    let facts = build.bullets(&view.facts);
    let pinned = ContextBlock::new(
        PINNED,
        BlockLayout::Bullets("pins"),
        build.bullets(&view.pinned),
    );
    let errors = ContextBlock::new("Unresolved Errors", BlockLayout::Bullets("errors"), errors);
    let mut decisions = ContextBlock::new(
        "Key Decisions",
        BlockLayout::Bullets("decisions"),
        decisions,
    );
    let mut facts = ContextBlock::new("Key Facts", BlockLayout::Bullets("facts"), facts);
    decisions.has_older = view.has_more_decisions && decisions.has_text();
    facts.has_older = view.has_more_facts && facts.has_text();
    let tried = build.ranked(&view.attempts);
    let artifacts = build.ranked(&view.artifacts);
    let tried = ContextBlock::new("Tried Before", BlockLayout::Ranked("episodes"), tried);
    let artifacts = ContextBlock::new("Artifacts", BlockLayout::Ranked("artifacts"), artifacts);
    blocks.extend([pinned, errors, decisions, facts, tried, artifacts]);
    blocks
}

/// Sanitizes and measures stored text, and marks entries that can never be included.
struct Builder<'c> {
    sanitizer: &'c Sanitizer<'c>,
    chars_max: usize,
}

impl Builder<'_> {
    fn task<'v>(&self, task: &'v TaskView) -> Vec<ContextBlock<'v>> {
        let pr_number = task.pr_number.map(|number| format!("#{number}"));
        let past = |label, items: &'v [ContextItem]| ContextBlock {
            recent: limits::CONTEXT_TASK_RECENT,
            ..ContextBlock::new(
                "Task",
                BlockLayout::Past(label),
                self.words(items.iter().rev()),
            )
        };
        let lines = [
            self.line(
                "Branch",
                task.branch.as_deref().map(|b| self.sanitizer.one_line(b)),
            ),
            self.line("PR", pr_number.map(Cow::Owned)),
            self.line(
                "Blocked",
                task.blocked_reason
                    .as_deref()
                    .map(|b| self.sanitizer.one_line(b)),
            ),
            past("Completed", &task.completed),
            ContextBlock::new(
                "Task",
                BlockLayout::Steps("Pending"),
                self.words(task.pending.iter()),
            ),
            past("Files modified", &task.files),
        ];
        let something = lines.iter().any(ContextBlock::has_text);
        let title = self.title(task, something);
        let mut blocks = vec![ContextBlock::new("Task", BlockLayout::Title, title)];
        blocks.extend(lines);
        blocks
    }

    /// Returns the heading of the task, or of work without a task; empty if nothing is known of it.
    fn title<'v>(&self, task: &'v TaskView, something: bool) -> Vec<BlockEntry<'v>> {
        let title = self.sanitizer.one_line(&task.title);
        let phase = self.sanitizer.one_line(task.phase.as_deref().unwrap_or(""));
        if title.is_empty() && phase.is_empty() && !something {
            return Vec::new();
        }
        let mut heading = match title.is_empty() {
            true => "### Progress".to_owned(),
            false => format!("### Task: {}", text::clip(&title, limits::NAME_BYTES_MAX)),
        };
        if !phase.is_empty() {
            let phase = text::clip(&phase, limits::NAME_BYTES_MAX);
            heading.push_str(&format!(" (Phase: {phase})"));
        }
        vec![self.entry(task.id, Cow::Owned(heading), 1)]
    }

    fn line<'v>(&self, label: &'static str, value: Option<Cow<'v, str>>) -> ContextBlock<'v> {
        let entry = value.map(|value| self.entry(None, value, label.len() + 3));
        ContextBlock::new(
            "Task",
            BlockLayout::Line(label),
            entry.into_iter().collect(),
        )
    }

    fn words<'v>(&self, items: impl Iterator<Item = &'v ContextItem>) -> Vec<BlockEntry<'v>> {
        let entry =
            |item: &'v ContextItem| self.entry(item.id, self.sanitizer.one_line(&item.text), 0);
        items.map(entry).collect()
    }

    fn bullets<'v>(&self, items: &'v [ContextItem]) -> Vec<BlockEntry<'v>> {
        items.iter().rev().map(|item| self.bullet(item)).collect()
    }

    fn ranked<'v>(&self, items: &'v [ContextItem]) -> Vec<BlockEntry<'v>> {
        items.iter().map(|item| self.bullet(item)).collect()
    }

    fn bullet<'v>(&self, item: &'v ContextItem) -> BlockEntry<'v> {
        BlockEntry {
            rating: item.rating,
            is_learning: item.is_learning,
            ..self.entry(item.id, self.sanitizer.one_line(&item.text), 3)
        }
    }

    /// Returns the entry of an error, with iteration and phase first: `[Iteration 2, TEST] …`.
    fn error<'v>(&self, error: &'v ErrorItem) -> BlockEntry<'v> {
        let words = self.sanitizer.one_line(&error.text);
        let phase = self
            .sanitizer
            .one_line(error.phase.as_deref().unwrap_or(""));
        let phase = text::clip(&phase, limits::NAME_BYTES_MAX);
        let label = match error.iteration {
            Some(iteration) if phase.is_empty() => format!("[Iteration {iteration}] "),
            Some(iteration) => format!("[Iteration {iteration}, {phase}] "),
            None if phase.is_empty() => String::new(),
            None => format!("[{phase}] "),
        };
        let text = if label.is_empty() || words.is_empty() {
            words
        } else {
            Cow::Owned(label + &words)
        };
        BlockEntry {
            rating: error.rating,
            ..self.entry(error.id, text, 3)
        }
    }

    /// Creates an entry of `text`. `around` is the length of the line prefix and the line break.
    fn entry<'v>(&self, id: Option<RecordId>, text: Cow<'v, str>, around: usize) -> BlockEntry<'v> {
        let chars = text::chars(&text) + around;
        let exclusion = if text.is_empty() {
            Some(InclusionReason::Empty)
        } else {
            (chars > self.chars_max).then_some(InclusionReason::TooLarge)
        };
        BlockEntry {
            id,
            text,
            chars,
            exclusion,
            rating: Rating::default(),
            is_learning: false,
        }
    }
}
