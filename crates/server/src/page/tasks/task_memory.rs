//! Memory around a task: contexts that it got, records that it taught, and its sessions.

use crate::page::learned_records::{learned_records, learned_row};
use crate::page::receipt_links::{body_text, receipt_links};
use crate::page::record_label;
use crate::page::session_title::session_title;
use crate::page::view::Times;
use crate::page::view::tasks::{LearnedRow, ReceiptLink, SessionLink};
use heirloom_engine::Engine;
use heirloom_model::{Fault, Session, text};

/// Maximum number of sessions that are read, newest first.
const SESSIONS_READ: usize = 50;
/// Maximum number of shown sessions.
const SESSIONS_SHOWN: usize = 6;

/// Contexts, learned records and sessions of a task.
pub(super) struct TaskMemory {
    /// Newest receipts.
    pub(super) receipts: Vec<ReceiptLink>,
    /// Number of all stored receipts of the task.
    pub(super) receipts_all: usize,
    pub(super) learned: Vec<LearnedRow>,
    /// Newest sessions.
    pub(super) sessions: Vec<SessionLink>,
    /// Number of its sessions, up to the number that is read.
    pub(super) sessions_all: usize,
}

impl TaskMemory {
    /// Loads the memory around the task `id`.
    pub(super) fn load(engine: &Engine, id: &str, times: &Times) -> Result<Self, Fault> {
        let sessions = engine.sessions().sessions_of(Some(id), SESSIONS_READ)?;
        let of_task = |body: &_| body_text(body, "task") == Some(id);
        let (receipts, receipts_all) =
            receipt_links(engine, times, |head| of_task(&head.receipt.body))?;
        let learned = learned_records(engine, &sessions, Some(id))?;
        let shown = sessions.iter().take(SESSIONS_SHOWN);
        Ok(Self {
            receipts,
            receipts_all,
            learned: learned.iter().map(|one| learned_row(one, times)).collect(),
            sessions: shown
                .map(|session| session_link(engine, session, times))
                .collect::<Result<_, _>>()?,
            sessions_all: sessions.len(),
        })
    }
}

fn session_link(engine: &Engine, session: &Session, times: &Times) -> Result<SessionLink, Fault> {
    let agent = session.agent.as_deref().map(text::replace_control_chars);
    Ok(SessionLink {
        href: record_label::session_href(&session.id),
        title: session_title(engine, session)?,
        meta: agent
            .into_iter()
            .chain([times.full(session.started_at)])
            .collect(),
    })
}
