//! A memory view as parts: lines and lists whose size is known before anything is written.

use super::clean::Cleaner;
use heirloom_model::context::{ErrorItem, Item, MemoryView, Reason, TaskView};
use heirloom_model::{RecordId, limits, text};
use std::borrow::Cow;

/// The first line of every context.
pub(super) const OPENING: &str = "## Session Memory\n";

/// The section of what somebody pinned.
pub(super) const PINNED: &str = "Pinned";

/// What a cut list of lines says after its number.
const RECALL: &str = ": heirloom recall";

/// One line or list of the context. Parts are held in the order in which they are written.
pub(super) struct Part<'v> {
    /// The section that it belongs to.
    pub(super) section: &'static str,
    /// How it looks.
    pub(super) shape: Shape,
    /// What it may say, the most important first.
    pub(super) entries: Vec<Entry<'v>>,
    /// Entries that come at the part's own rank; those after them come last of all.
    pub(super) recent: usize,
    /// There are older entries than these, nobody counted how many.
    pub(super) goes_on: bool,
    /// What was chosen.
    pub(super) shown: Shown,
}

/// How a part looks.
pub(super) enum Shape {
    /// The heading of the task.
    Title,
    /// One value: `Branch: x`.
    Line(&'static str),
    /// Values on one line: `Pending: a, b`; cut at its end.
    Steps(&'static str),
    /// Values on one line, the newest last: `Completed: a, b`; cut at its beginning.
    Past(&'static str),
    /// A heading, then one line an entry, newest first; with the word for several of them.
    Bullets(&'static str),
    /// The same in an order of its own.
    Ranked(&'static str),
}

/// One thing that a part may say.
pub(super) struct Entry<'v> {
    pub(super) id: Option<RecordId>,
    pub(super) text: Cow<'v, str>,
    /// Characters that it takes where it stands, the separator of a comma list aside.
    pub(super) chars: usize,
    /// Why it cannot be said at all: `Empty` or `TooLarge`.
    pub(super) unfit: Option<Reason>,
}

/// How much of a part is said.
#[derive(Clone, Copy, Default)]
pub(super) struct Shown {
    /// Fit entries in, counted from the first.
    pub(super) count: usize,
    /// Their characters.
    pub(super) chars: usize,
    /// Entries out that a notice tells of; 0 = no notice.
    pub(super) omitted: usize,
    /// Some entry that is out is newer than one that is in.
    pub(super) scattered: bool,
}

impl<'v> Part<'v> {
    fn new(section: &'static str, shape: Shape, entries: Vec<Entry<'v>>) -> Self {
        Self {
            section,
            shape,
            entries,
            recent: usize::MAX,
            goes_on: false,
            shown: Shown::default(),
        }
    }

    /// Whether anything is left of its entries once they are cleaned.
    fn says_something(&self) -> bool {
        self.entries.iter().any(|entry| !entry.text.is_empty())
    }

    /// Characters that the part takes with `shown`; `opened` when something stands before it.
    pub(super) fn cost(&self, shown: Shown, opened: bool) -> usize {
        let notice = self.notice_chars(shown);
        let pieces = shown.count + usize::from(notice > 0);
        if pieces == 0 {
            return 0;
        }
        let opening = if opened { 0 } else { text::chars(OPENING) };
        opening
            + match self.shape {
                Shape::Title => 1 + shown.chars,
                Shape::Line(_) => shown.chars,
                Shape::Steps(label) | Shape::Past(label) => {
                    label.len() + 2 + shown.chars + notice + 2 * (pieces - 1) + 1
                }
                Shape::Bullets(_) | Shape::Ranked(_) if shown.count > 0 => {
                    self.section.len() + 6 + shown.chars + notice
                }
                Shape::Bullets(_) | Shape::Ranked(_) => usize::from(!opened) + notice,
            }
    }

    /// What the part says of the entries that are out: a word of its list, or a line of its own;
    /// empty if nothing is to be told.
    pub(super) fn notice(&self, shown: Shown) -> String {
        let omitted = shown.omitted;
        if omitted == 0 {
            return String::new();
        }
        let word = self.notice_word(shown);
        match self.shape {
            Shape::Bullets(nouns) | Shape::Ranked(nouns) => {
                let noun = &nouns[..nouns.len() - usize::from(self.is_singular(omitted))];
                let plus = if self.goes_on { "+" } else { "" };
                format!("… {omitted}{plus} {word} {noun}{RECALL}\n")
            }
            Shape::Steps(_) | Shape::Past(_) => format!("… {omitted} {word}"),
            Shape::Title | Shape::Line(_) => String::new(),
        }
    }

    /// The length of [`Part::notice`], without writing it: it is asked for once an entry.
    fn notice_chars(&self, shown: Shown) -> usize {
        let Some(digits) = shown.omitted.checked_ilog10() else {
            return 0;
        };
        let words = 3 + digits as usize + 1 + self.notice_word(shown).len();
        match self.shape {
            Shape::Bullets(nouns) | Shape::Ranked(nouns) => {
                let singular = usize::from(self.is_singular(shown.omitted));
                let plus = usize::from(self.goes_on);
                words + plus + 1 + nouns.len() - singular + RECALL.len() + 1
            }
            Shape::Steps(_) | Shape::Past(_) => words,
            Shape::Title | Shape::Line(_) => 0,
        }
    }

    fn is_singular(&self, omitted: usize) -> bool {
        omitted == 1 && !self.goes_on
    }

    fn notice_word(&self, shown: Shown) -> &'static str {
        match self.shape {
            Shape::Bullets(_) | Shape::Past(_) if !shown.scattered => "older",
            Shape::Bullets(_) | Shape::Past(_) | Shape::Steps(_) | Shape::Ranked(_) => "more",
            Shape::Title | Shape::Line(_) => "",
        }
    }
}

/// The parts of a view, in the order of the context; a part may be without entries.
pub(super) fn of<'v>(view: &'v MemoryView, cleaner: &Cleaner, chars_max: usize) -> Vec<Part<'v>> {
    let build = Builder { cleaner, chars_max };
    let mut parts = match &view.task {
        Some(task) => build.task(task),
        None => Vec::new(),
    };
    let errors = view.errors.iter().rev().map(|e| build.error(e)).collect();
    let decisions = build.bullets(&view.decisions);
    let facts = build.bullets(&view.facts);
    let pinned = Part::new(PINNED, Shape::Bullets("pins"), build.bullets(&view.pinned));
    let errors = Part::new("Unresolved Errors", Shape::Bullets("errors"), errors);
    let mut decisions = Part::new("Key Decisions", Shape::Bullets("decisions"), decisions);
    let mut facts = Part::new("Key Facts", Shape::Bullets("facts"), facts);
    decisions.goes_on = view.decisions_go_on && decisions.says_something();
    facts.goes_on = view.facts_go_on && facts.says_something();
    let tried = build.ranked(&view.tried);
    let artifacts = build.ranked(&view.artifacts);
    let tried = Part::new("Tried Before", Shape::Ranked("episodes"), tried);
    let artifacts = Part::new("Artifacts", Shape::Ranked("artifacts"), artifacts);
    parts.extend([pinned, errors, decisions, facts, tried, artifacts]);
    parts
}

/// Makes entries of stored text: cleans, measures, and marks what can never be said.
struct Builder<'c> {
    cleaner: &'c Cleaner<'c>,
    chars_max: usize,
}

impl Builder<'_> {
    fn task<'v>(&self, task: &'v TaskView) -> Vec<Part<'v>> {
        let pr_number = task.pr_number.map(|number| format!("#{number}"));
        let past = |label, items: &'v [Item]| Part {
            recent: limits::CONTEXT_TASK_RECENT,
            ..Part::new("Task", Shape::Past(label), self.words(items.iter().rev()))
        };
        let lines = [
            self.line(
                "Branch",
                task.branch.as_deref().map(|b| self.cleaner.clean(b)),
            ),
            self.line("PR", pr_number.map(Cow::Owned)),
            self.line(
                "Blocked",
                task.blocked_reason
                    .as_deref()
                    .map(|b| self.cleaner.clean(b)),
            ),
            past("Completed", &task.completed),
            Part::new(
                "Task",
                Shape::Steps("Pending"),
                self.words(task.pending.iter()),
            ),
            past("Files modified", &task.files),
        ];
        let something = lines.iter().any(Part::says_something);
        let title = self.title(task, something);
        let mut parts = vec![Part::new("Task", Shape::Title, title)];
        parts.extend(lines);
        parts
    }

    /// The heading of the task; none if nothing is known of it.
    fn title<'v>(&self, task: &'v TaskView, something: bool) -> Vec<Entry<'v>> {
        let title = self.cleaner.clean(&task.title);
        let phase = self.cleaner.clean(task.phase.as_deref().unwrap_or(""));
        if title.is_empty() && phase.is_empty() && !something {
            return Vec::new();
        }
        let mut heading = "### Task".to_owned();
        if !title.is_empty() {
            heading.push_str(": ");
            heading.push_str(text::clip(&title, limits::NAME_BYTES_MAX));
        }
        if !phase.is_empty() {
            let phase = text::clip(&phase, limits::NAME_BYTES_MAX);
            heading.push_str(&format!(" (Phase: {phase})"));
        }
        vec![self.entry(task.id, Cow::Owned(heading), 1)]
    }

    fn line<'v>(&self, label: &'static str, value: Option<Cow<'v, str>>) -> Part<'v> {
        let entry = value.map(|value| self.entry(None, value, label.len() + 3));
        Part::new("Task", Shape::Line(label), entry.into_iter().collect())
    }

    fn words<'v>(&self, items: impl Iterator<Item = &'v Item>) -> Vec<Entry<'v>> {
        let entry = |item: &'v Item| self.entry(item.id, self.cleaner.clean(&item.text), 0);
        items.map(entry).collect()
    }

    fn bullets<'v>(&self, items: &'v [Item]) -> Vec<Entry<'v>> {
        let entry = |item: &'v Item| self.entry(item.id, self.cleaner.clean(&item.text), 3);
        items.iter().rev().map(entry).collect()
    }

    fn ranked<'v>(&self, items: &'v [Item]) -> Vec<Entry<'v>> {
        let entry = |item: &'v Item| self.entry(item.id, self.cleaner.clean(&item.text), 3);
        items.iter().map(entry).collect()
    }

    /// An error behind where it happened: `[Iteration 2, TEST] …`.
    fn error<'v>(&self, error: &'v ErrorItem) -> Entry<'v> {
        let words = self.cleaner.clean(&error.text);
        let phase = self.cleaner.clean(error.phase.as_deref().unwrap_or(""));
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
        self.entry(error.id, text, 3)
    }

    /// An entry of `text`, with the characters around it that it brings along.
    fn entry<'v>(&self, id: Option<RecordId>, text: Cow<'v, str>, around: usize) -> Entry<'v> {
        let chars = text::chars(&text) + around;
        let unfit = if text.is_empty() {
            Some(Reason::Empty)
        } else {
            (chars > self.chars_max).then_some(Reason::TooLarge)
        };
        Entry {
            id,
            text,
            chars,
            unfit,
        }
    }
}
