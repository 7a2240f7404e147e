//! What only servers ask the store for.

use crate::table::Again::{More, Nothing, Refused};
use crate::table::Leaves::AllOrNothing;
use crate::table::{Operation, filled, row};
use crate::world::World;
use heirloom_engine::{Followed, MemoryCommand};
use heirloom_model::{Fault, Timestamp};

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
        reads("served_at and serve_at", |w| {
            drop(w.engine.serve_at("http://127.0.0.1:1")?);
            w.engine.served_at().map(drop)
        }),
        row(
            "memory_tool: create",
            filled,
            |w| tool(w, "create"),
            AllOrNothing,
            Refused,
        ),
        row(
            "memory_tool: delete",
            |w| tool(w, "create"),
            |w| tool(w, "delete"),
            AllOrNothing,
            Refused,
        ),
        row(
            "memory_tool: insert",
            |w| tool(w, "create"),
            |w| tool(w, "insert"),
            AllOrNothing,
            More("a line that is put in again is another line"),
        ),
    ]
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
