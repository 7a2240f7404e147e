//! Operations that only servers use.

use crate::table::Again::{More, Nothing, Refused};
use crate::table::Leaves::{AllOrNothing, Steps};
use crate::table::{Operation, REVERTED, filled, row};
use crate::world::World;
use heirloom_engine::{
    ChangeAuthor, ChangeCursor, EditableFolder, Engine, MemoryToolCommand, NewArtifact, NewEpisode,
    NewRecord, Registrar, Revision, Workspace, WorkspaceEntry,
};
use heirloom_fs::project_fs::FileDigest;
use heirloom_model::kinds::{ArtifactType, EpisodeAction, TaskState};
use heirloom_model::{Fault, Mark, ProjectName, Scope, Timestamp};

/// Operations that only servers use.
pub(crate) fn server_operations() -> Vec<Operation> {
    let reads = |name, act| row(name, filled, act, AllOrNothing, Nothing);
    vec![
        reads("changes", |w| {
            let mut followed = ChangeCursor::from(Timestamp::UNIX_EPOCH);
            w.engine.records().changes(&mut followed).map(drop)
        }),
        reads("page", |w| {
            let filter = heirloom_engine::Filter::current(&[], w.engine.now());
            w.engine.records().page(&filter.limit(2), None).map(drop)
        }),
        reads("projects", |w| w.engine.records().projects().map(drop)),
        reads("sessions_of", |w| {
            w.engine.sessions().sessions_of(None, 5).map(drop)
        }),
        reads("session_page", |w| {
            match w.engine.sessions().session_page("s1", 0, 5) {
                Err(fault) if fault.kind == heirloom_model::ErrorKind::NotFound => Ok(()),
                found => found.map(drop),
            }
        }),
        row(
            "workspace_add",
            filled,
            |w| {
                let entry = WorkspaceEntry::Fact("x".to_owned());
                let whose = Workspace::Project;
                w.engine.workspace().add(whose, &entry, "coder").map(drop)
            },
            Steps("the change is recorded, then the file is written, then its records"),
            More("each change of a file is recorded separately"),
        ),
        row(
            "add_artifact_by",
            filled,
            |w| {
                let by = Registrar {
                    source: "coder".to_owned(),
                    holder: Some("token 1".to_owned()),
                };
                w.engine.artifacts().add_by(&artifact(), &by).map(drop)
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "end_task",
            filled,
            |w| {
                let mut end = NewEpisode::new("7", EpisodeAction::Completed);
                end.source = Some("coder".to_owned());
                w.engine.tasks().end_task(TaskState::Done, end).map(drop)
            },
            AllOrNothing,
            More("each end is an episode"),
        ),
    ]
    .into_iter()
    .chain(memory_tool_operations())
    .chain(page_operations())
    .chain([row(
        "import_project",
        second_project,
        |w| {
            w.engine
                .imports()
                .import_project(&other_project(w))
                .map(drop)
        },
        Steps(REVERTED),
        Nothing,
    )])
    .collect()
}

/// Operations of the memory tool.
fn memory_tool_operations() -> Vec<Operation> {
    vec![
        row(
            "memory_tool: create, without a store",
            filled,
            |w| tool(w, "create"),
            AllOrNothing,
            More("each change of a file is recorded separately"),
        ),
        row(
            "memory_tool: delete, without a store",
            |w| tool(w, "create"),
            |w| tool(w, "delete"),
            AllOrNothing,
            More("each change of a file is recorded separately"),
        ),
        row(
            "memory_tool: insert, without a store",
            |w| tool(w, "create"),
            |w| tool(w, "insert"),
            AllOrNothing,
            More("an inserted line is a new line"),
        ),
        row(
            "undo_for: a workspace file",
            |w| tool(w, "create"),
            undo_file,
            AllOrNothing,
            More("a second undo restores the second state"),
        ),
        row(
            "undo_own: a workspace file",
            |w| create_file(w, Some("token 1")),
            |w| {
                let id = w.named("created .heirloom/workspace/plan.md");
                w.engine.records().undo_own(id, "token 1").map(drop)
            },
            AllOrNothing,
            Nothing,
        ),
    ]
}

/// Another project of the same store.
fn other_project(w: &World) -> Engine {
    w.engine
        .for_project(ProjectName::new("/x/other/.git").unwrap())
}

/// Fills the project, and another one with a record.
fn second_project(w: &World) -> Result<(), Fault> {
    filled(w)?;
    // Ids of two sources are ordered only if their times differ.
    w.advance_minute();
    let other = other_project(w);
    for n in 0..3 {
        other.records().remember(NewRecord {
            text: format!("of the other project {n}"),
            ..NewRecord::default()
        })?;
    }
    Ok(())
}

/// Operations that never call the store: `require_files`, `require_memory` and `take_newest_working_memory`.
#[test]
fn operations_without_store_ignore_faults() {
    let w = World::new();
    filled(&w).unwrap();
    w.engine.require_files().unwrap();
    w.engine.require_memory().unwrap();
    let (path, range) = ("/memories".to_owned(), None);
    let view = MemoryToolCommand::View { path, range };
    w.engine.memory_tool().run(&view).unwrap();
    assert_eq!(
        w.engine.sessions().take_newest_working_memory("token 1"),
        Ok(None)
    );
}

fn undo_file(w: &World) -> Result<(), Fault> {
    let id = w.named("created .heirloom/workspace/plan.md");
    w.engine.records().undo_as(id, "user").map(drop)
}

fn artifact() -> NewArtifact {
    NewArtifact {
        path: "docs/a.md".to_owned(),
        scope: Scope {
            agent: Some("coder".to_owned()),
            ..Scope::of_task("7")
        },
        artifact_type: ArtifactType::Document,
        description: None,
        digest: Some(FileDigest {
            size_bytes: 1,
            checksum: "a".repeat(64),
        }),
    }
}

/// Operations that only the page uses.
fn page_operations() -> Vec<Operation> {
    let reads = |name, act| row(name, filled, act, AllOrNothing, Nothing);
    vec![
        reads("analytics_since", |w| {
            w.engine
                .tasks()
                .analytics_since(Timestamp::UNIX_EPOCH, 5)
                .map(drop)
        }),
        reads("pages and page_text, without a store", |w| {
            w.engine.files().list(&EditableFolder::Workspace)?;
            w.engine
                .files()
                .text(&EditableFolder::Workspace, "MEMORY.md")
                .map(drop)
        }),
        reads("window_timeline, without a store", |w| {
            w.engine.window().timeline(&[]).map(drop)
        }),
        row("save_editable_file", filled, save, AllOrNothing, Nothing),
        row(
            "undo_file_save",
            save,
            |w| {
                w.engine
                    .files()
                    .undo_save(&EditableFolder::Workspace, "MEMORY.md")
            },
            AllOrNothing,
            More("a second undo restores the second text"),
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
                w.engine
                    .records()
                    .revise(w.named("old"), &revision, "user")
                    .map(drop)
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "mark_as",
            filled,
            |w| {
                let pin = Mark::Pinned(true);
                w.engine
                    .records()
                    .mark_as(w.named("old"), pin, "token 1")
                    .map(drop)
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "undo_as",
            filled,
            |w| {
                w.engine
                    .records()
                    .undo_as(w.named("old"), "token 1")
                    .map(drop)
            },
            AllOrNothing,
            More("a second undo restores the second state"),
        ),
        row(
            "restore_record",
            |w| {
                filled(w)?;
                w.engine.records().forget(w.named("old")).map(drop)
            },
            |w| w.engine.records().restore_record(w.named("old")).map(drop),
            AllOrNothing,
            Refused,
        ),
    ]
}

fn save(w: &World) -> Result<(), Fault> {
    let of = EditableFolder::Workspace;
    let seen = w.engine.files().text(&of, "MEMORY.md")?;
    w.engine
        .files()
        .save(&of, "MEMORY.md", "- a line\n", &seen.tag)
        .map(drop)
}

fn create_file(w: &World, holder: Option<&str>) -> Result<(), Fault> {
    let path = "/memories/plan.md".to_owned();
    let text = "- a line\n".to_owned();
    let source = "coder";
    let author = ChangeAuthor { source, holder };
    let command = MemoryToolCommand::Create { path, text };
    w.engine.memory_tool().run_as(&command, author).map(drop)
}

fn tool(w: &World, which: &str) -> Result<(), Fault> {
    let path = "/memories/plan.md".to_owned();
    let text = "- a line\n".to_owned();
    let command = match which {
        "create" => MemoryToolCommand::Create { path, text },
        "insert" => MemoryToolCommand::Insert {
            path,
            line: 0,
            text,
        },
        _ => MemoryToolCommand::Delete { path },
    };
    w.engine.memory_tool().run_as(&command, "coder").map(drop)
}
