//! What only servers ask the store for.

use crate::table::Again::{More, Nothing, Refused};
use crate::table::Leaves::AllOrNothing;
use crate::table::{Operation, filled, row};
use crate::world::World;
use heirloom_engine::{Followed, MemoryCommand, PagesOf, Revision};
use heirloom_model::{Fault, Mark, Timestamp};

/// What only servers do.
pub(crate) fn served() -> Vec<Operation> {
    let reads = |name, act| row(name, filled, act, AllOrNothing, Nothing);
    vec![
        reads("changes", |w| {
            let mut followed = Followed::from(Timestamp::UNIX_EPOCH);
            w.engine.changes(&mut followed).map(drop)
        }),
        reads("page", |w| {
            let filter = heirloom_engine::Filter::current(&[], w.engine.now());
            w.engine.page(&filter.limit(2), None).map(drop)
        }),
        reads("projects", |w| w.engine.projects().map(drop)),
        reads("sessions_of", |w| w.engine.sessions_of(None, 5).map(drop)),
        reads("session_page", |w| {
            match w.engine.session_page("s1", 0, 5) {
                Err(fault) if fault.kind == heirloom_model::ErrorKind::NotFound => Ok(()),
                found => found.map(drop),
            }
        }),
        row(
            "memory_tool: create, without a store",
            filled,
            |w| tool(w, "create"),
            AllOrNothing,
            Refused,
        ),
        row(
            "memory_tool: delete, without a store",
            |w| tool(w, "create"),
            |w| tool(w, "delete"),
            AllOrNothing,
            Refused,
        ),
        row(
            "memory_tool: insert, without a store",
            |w| tool(w, "create"),
            |w| tool(w, "insert"),
            AllOrNothing,
            More("a line that is put in again is another line"),
        ),
    ]
    .into_iter()
    .chain(paged())
    .collect()
}

/// What only the page does.
fn paged() -> Vec<Operation> {
    let reads = |name, act| row(name, filled, act, AllOrNothing, Nothing);
    vec![
        reads("analytics_since", |w| {
            w.engine.analytics_since(Timestamp::UNIX_EPOCH, 5).map(drop)
        }),
        reads("pages and page_text, without a store", |w| {
            w.engine.pages(&PagesOf::Workspace)?;
            w.engine
                .page_text(&PagesOf::Workspace, "MEMORY.md")
                .map(drop)
        }),
        reads("window_story, without a store", |w| {
            w.engine.window_story(&[]).map(drop)
        }),
        row("save_page", filled, save, AllOrNothing, Nothing),
        row(
            "unsave_page",
            save,
            |w| w.engine.unsave_page(&PagesOf::Workspace, "MEMORY.md"),
            AllOrNothing,
            More("taking back twice brings the second text back"),
        ),
        row(
            "revise",
            filled,
            |w| {
                let revision = Revision {
                    text: "said better".to_owned(),
                    category: None,
                    confidence: None,
                    true_from: None,
                };
                w.engine.revise(w.named("old"), &revision, "user").map(drop)
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "mark_for",
            filled,
            |w| {
                let pin = Mark::Pinned(true);
                w.engine.mark_for(w.named("old"), pin, "token 1").map(drop)
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "undo_for",
            filled,
            |w| w.engine.undo_for(w.named("old"), "token 1").map(drop),
            AllOrNothing,
            More("undoing twice brings the second state back"),
        ),
        row(
            "bring_back",
            |w| {
                filled(w)?;
                w.engine.forget(w.named("old")).map(drop)
            },
            |w| w.engine.bring_back(w.named("old")).map(drop),
            AllOrNothing,
            Refused,
        ),
    ]
}

fn save(w: &World) -> Result<(), Fault> {
    let of = PagesOf::Workspace;
    let seen = w.engine.page_text(&of, "MEMORY.md")?;
    w.engine
        .save_page(&of, "MEMORY.md", "- a line\n", &seen.tag)
        .map(drop)
}

fn tool(w: &World, which: &str) -> Result<(), Fault> {
    let path = "/memories/plan.md".to_owned();
    let text = "- a line\n".to_owned();
    let command = match which {
        "create" => MemoryCommand::Create { path, text },
        "insert" => MemoryCommand::Insert {
            path,
            line: 0,
            text,
        },
        _ => MemoryCommand::Delete { path },
    };
    w.engine.memory_tool(&command).map(drop)
}
