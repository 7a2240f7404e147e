//! Read operations: faults are reported and change nothing.

use crate::table::Again::Nothing;
use crate::table::Leaves::AllOrNothing;
use crate::table::{
    Act, FACTS, Operation, create_conflict, fill_outputs_and_history, output_sources, proposed,
    row, scope, start_task,
};
use heirloom_agents::StreamFormat;
use heirloom_capture::Runs;
use heirloom_engine::{ArtifactFilter, EpisodeFilter, Filter, PurgeTarget, RecallRequest};

/// Read operations on records.
pub(crate) fn record_reads() -> Vec<Operation> {
    let reads = |name, act| row(name, start_task as Act, act, AllOrNothing, Nothing);
    let reads_of_proposal = |name, act| row(name, proposed as Act, act, AllOrNothing, Nothing);
    vec![
        reads("recall", |w| {
            let request = RecallRequest {
                question: "what is k".to_owned(),
                ..RecallRequest::default()
            };
            w.engine.recall().search(&request).map(drop)
        }),
        reads("recall_with", |w| {
            let request = RecallRequest {
                question: "what is k".to_owned(),
                ..RecallRequest::default()
            };
            w.engine.recall().search_with(&w.engine, &request).map(drop)
        }),
        reads("recall_with_question", |w| {
            let request = RecallRequest {
                question: "what is k".to_owned(),
                ..RecallRequest::default()
            };
            let recalled = w.engine.recall().search_with_question(&request);
            recalled.map(drop)
        }),
        reads("explain an absence", |w| {
            let request = RecallRequest {
                question: "what is k kind:error".to_owned(),
                ..RecallRequest::default()
            };
            let record = w.engine.records().get(w.named("it broke"))?;
            let explained = w.engine.recall().explain_absence(&request, &record);
            explained.map(drop)
        }),
        reads_of_proposal("pending proposals", |w| {
            w.engine.records().proposals().pending().map(drop)
        }),
        reads_of_proposal("proposal", |w| {
            let proposals = w.engine.records().proposals();
            proposals.get(w.named("proposed")).map(drop)
        }),
        reads("other project with a key", |w| {
            w.engine.recall().other_project_with("k", 9).map(drop)
        }),
        reads("recall without words", |w| {
            let request = RecallRequest {
                question: "kind:error task:7".to_owned(),
                ..RecallRequest::default()
            };
            w.engine.recall().search(&request).map(drop)
        }),
        reads("review", |w| w.engine.conflicts().review().map(drop)),
        reads("list", |w| {
            let filter = Filter::current(&[], w.engine.now());
            w.engine.records().find(&filter).map(drop)
        }),
        reads("history", |w| {
            w.engine.records().history(w.named("it broke")).map(drop)
        }),
        reads("show by a beginning", |w| {
            let id = w.named("it broke").to_string();
            let id = w.engine.records().resolve_id(&id[..30])?;
            w.engine.records().get(id).map(drop)
        }),
        row(
            "conflicts",
            create_conflict,
            |w| w.engine.conflicts().list().map(drop),
            AllOrNothing,
            Nothing,
        ),
        reads("heads of receipts", |w| {
            w.engine.contexts().receipt_heads(9).map(drop)
        }),
    ]
}

/// Read operations on tasks, their episodes, errors and artifacts.
pub(crate) fn task_reads() -> Vec<Operation> {
    let reads = |name, act| row(name, start_task as Act, act, AllOrNothing, Nothing);
    vec![
        reads("similar_attempts", |w| {
            w.engine.tasks().similar_attempts("by hand", None).map(drop)
        }),
        reads("episode list", |w| {
            w.engine
                .tasks()
                .episodes(&EpisodeFilter::default())
                .map(drop)
        }),
        reads("analytics", |w| w.engine.tasks().analytics(None).map(drop)),
        reads("analytics of a task", |w| {
            w.engine.tasks().analytics(Some("7")).map(drop)
        }),
        reads("artifact list", |w| {
            w.engine
                .artifacts()
                .list(&ArtifactFilter::default())
                .map(drop)
        }),
        reads("artifact verify", |w| {
            let all = ArtifactFilter::default();
            w.engine.artifacts().verify_all(&all).map(drop)
        }),
        reads("task record", |w| {
            w.engine.tasks().task_record("7").map(drop)
        }),
        reads("task show", |w| w.engine.tasks().get("7").map(drop)),
        reads("task list", |w| w.engine.tasks().list().map(drop)),
        // Errors::newest_open
        reads("newest open errors", |w| {
            w.engine.errors().newest_open(None, 10).map(drop)
        }),
        reads("open errors", |w| w.engine.errors().open(None).map(drop)),
        reads("a fix with a value that a rule replaced", |w| {
            let fix = "set `DB_URL=sqlite:///:memory:`, then it passed";
            w.engine.errors().is_replaced_fix(fix).map(drop)
        }),
        reads("observe without recording", |w| {
            let mut observer = Runs::new(&w.engine).observer(scope(), StreamFormat::Text, true)?;
            observer.push(FACTS.as_bytes(), &mut |_| {})?;
            observer.finish(&mut |_| {})
        }),
    ]
}

/// Read operations on the whole store: exports, audits, checks and previews of removals.
pub(crate) fn store_reads() -> Vec<Operation> {
    let reads = |name, act| row(name, start_task as Act, act, AllOrNothing, Nothing);
    vec![
        reads("latest session", |w| {
            w.engine.sessions().latest_session().map(drop)
        }),
        reads("export of records", |w| {
            w.engine
                .imports()
                .export_records(true, &mut |_, _| {})
                .map(drop)
        }),
        reads("export of sessions", |w| {
            w.engine.imports().export_sessions(&mut |_, _| {})
        }),
        reads("export of a mirror", |w| {
            w.engine.mirror().bytes().map(drop)
        }),
        reads("purgeable", |w| {
            w.engine
                .maintenance()
                .purgeable(&PurgeTarget::Project)
                .map(drop)
        }),
        reads("backup", |w| {
            w.engine
                .maintenance()
                .backup(&w.root().join("copy.db"))
                .map(drop)
        }),
        reads("audit", |w| w.engine.records().audit(10).map(drop)),
        reads("audit of a record", |w| {
            w.engine
                .records()
                .record_audit(w.named("it broke"))
                .map(drop)
        }),
        reads("prunable", |w| {
            w.engine.maintenance().prunable(usize::MAX).map(drop)
        }),
        reads("last_write", |w| w.engine.records().last_write().map(drop)),
        reads("describe", |w| {
            w.engine.maintenance().describe_store().map(drop)
        }),
        reads("check", |w| w.engine.maintenance().check_store().map(drop)),
    ]
}

/// Read operations that count.
pub(crate) fn count_reads() -> Vec<Operation> {
    let counts = |name, act| row(name, start_task as Act, act, AllOrNothing, Nothing);
    vec![
        counts("counts", |w| w.engine.records().counts().map(drop)),
        counts("count", |w| {
            let all = Filter::current(&[], w.engine.now());
            w.engine.records().count(&all).map(drop)
        }),
        counts("task progress", |w| {
            w.engine.tasks().progress("7").map(drop)
        }),
    ]
}

/// Read operations on outputs and histories.
pub(crate) fn output_reads() -> Vec<Operation> {
    let output_read = |name, act| {
        row(
            name,
            fill_outputs_and_history as Act,
            act,
            AllOrNothing,
            Nothing,
        )
    };
    vec![
        output_read("output", |w| {
            w.engine.outputs().get("REQ-1", "coder").map(drop)
        }),
        output_read("outputs", |w| w.engine.outputs().list(None).map(drop)),
        output_read("own_output_section", |w| {
            w.engine
                .outputs()
                .own_output_section(None, "coder")
                .map(drop)
        }),
        output_read("other_outputs_section", |w| {
            w.engine
                .outputs()
                .other_outputs_section("REQ-1", None)
                .map(drop)
        }),
        output_read("output_files without the store", |w| {
            w.engine.outputs().output_files("wip", "REQ-1").map(drop)?;
            w.engine.outputs().output_sources(None).map(drop)
        }),
        output_read("export_outputs", |w| {
            w.engine.outputs().export_outputs(None).map(drop)
        }),
        output_read("import of outputs, dry", |w| {
            w.engine
                .sessions()
                .import_histories(&[], &output_sources(), "radium", true)
                .map(drop)
        }),
        output_read("session", |w| {
            w.engine.sessions().get("talk", None).map(drop)
        }),
        output_read("session_interactions", |w| {
            w.engine.sessions().session_interactions("talk").map(drop)
        }),
        output_read("session_summary", |w| {
            w.engine.sessions().session_summary("talk").map(drop)
        }),
        output_read("search_sessions", |w| {
            w.engine
                .sessions()
                .search_sessions("hello", None, 3)
                .map(drop)
        }),
        output_read("history_section", |w| {
            w.engine.sessions().history_section("talk", None).map(drop)
        }),
    ]
}
