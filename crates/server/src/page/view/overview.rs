//! View of the overview.

use super::Html;
use super::setup::FirstSteps;
use crate::page::Shell;
use askama::Template;

/// Overview page.
#[derive(Template)]
#[template(path = "overview.html")]
pub(crate) struct OverviewView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) sub: String,
    /// True if the store is empty.
    pub(crate) is_empty: bool,
    pub(crate) lesson: Option<LessonSection>,
    /// Checklist, shown while the store is empty or no lesson exists.
    pub(crate) first_steps: FirstSteps,
    pub(crate) waiting: Vec<PendingItem>,
    pub(crate) latest: Vec<EventRow>,
    pub(crate) tasks: Vec<OpenTaskRow>,
    pub(crate) tasks_all: String,
    pub(crate) records: String,
    pub(crate) kinds: Vec<KindRow>,
}

/// One lesson with its sessions, and links to the others.
pub(crate) struct LessonSection {
    /// Id of the record.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) kind: &'static str,
    pub(crate) words: Html,
    /// Time, source and cost of the lesson.
    pub(crate) cost: String,
    /// Result of the lesson as one sentence.
    pub(crate) result: String,
    /// True if the failure came again.
    pub(crate) is_repeated: bool,
    pub(crate) svg: Html,
    pub(crate) rows: Vec<DeliveryRow>,
    /// Position among the lessons.
    pub(crate) place: String,
    pub(crate) previous: String,
    pub(crate) next: String,
    pub(crate) others: Vec<LessonLink>,
}

/// Session that a lesson concerned.
pub(crate) struct DeliveryRow {
    pub(crate) at: String,
    pub(crate) mark: Html,
    pub(crate) agent: String,
    /// Path of the session.
    pub(crate) session: String,
    pub(crate) title: String,
    /// Path of the receipt; may be empty.
    pub(crate) receipt: String,
    pub(crate) told: &'static str,
    pub(crate) told_class: &'static str,
    /// Course of the session.
    pub(crate) then: Html,
    pub(crate) class: &'static str,
}

/// Small chart of a lesson, with a link to it.
pub(crate) struct LessonLink {
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) detail: String,
    pub(crate) svg: Html,
    pub(crate) is_current: bool,
    pub(crate) is_repeated: bool,
}

/// Item that needs a decision.
pub(crate) struct PendingItem {
    pub(crate) href: &'static str,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

/// Event of a record.
pub(crate) struct EventRow {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) what: String,
    pub(crate) by: String,
    pub(crate) at: String,
    pub(crate) key: String,
    pub(crate) words: Html,
    pub(crate) href: String,
    /// Id of the record whose last change can be undone; may be empty.
    pub(crate) undo: String,
}

/// Open task.
pub(crate) struct OpenTaskRow {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) state: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

/// Number of records of a kind.
pub(crate) struct KindRow {
    pub(crate) kind: &'static str,
    pub(crate) count: String,
    pub(crate) new: String,
    pub(crate) spark: Html,
}
