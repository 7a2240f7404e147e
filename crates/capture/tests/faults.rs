//! Fault injection for every operation of the engine: the store fails at each call, before and after its effect.
//!
//! Requirement: the whole effect or none, always an error that explains what happened, and a retry succeeds.
//! `faults/table.rs` lists the operations.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "faults/agents.rs"]
mod agents;
#[path = "faults/hooks.rs"]
mod hooks;
#[path = "faults/reads.rs"]
mod reads;
#[path = "faults/server.rs"]
mod server;
#[path = "faults/table.rs"]
mod table;
#[path = "faults/windows.rs"]
mod windows;
#[path = "faults/world.rs"]
mod world;

use heirloom_model::{ErrorKind, Fault};
use heirloom_store::{FaultPlan, InjectedError, InjectedFault};
use table::{Again, Leaves, Operation};
use world::World;

const MISHAPS: [InjectedFault; 4] = [
    InjectedFault::Before(InjectedError::DiskFull),
    InjectedFault::Before(InjectedError::Busy),
    InjectedFault::After(InjectedError::Io),
    InjectedFault::After(InjectedError::DiskFull),
];

/// Result of an operation without faults.
struct FaultFreeResult {
    before: String,
    end: String,
    calls: u64,
    writes: u64,
    mirror: Option<String>,
}

fn prepare_world(operation: &Operation) -> World {
    let world = World::new();
    (operation.setup)(&world).unwrap();
    world.advance_minute();
    world.faulty.set_plan(None);
    world
}

fn plain(operation: &Operation) -> FaultFreeResult {
    let world = prepare_world(operation);
    let before = world.dump(operation.past());
    let done = (operation.act)(&world);
    assert_eq!(done, Ok(()), "{}: without any fault", operation.name);
    FaultFreeResult {
        before,
        end: world.dump(operation.past()),
        calls: world.faulty.calls().len() as u64,
        writes: world.faulty.writes(),
        mirror: world.mirror(),
    }
}

/// Returns the states between the steps of an operation: after each of its writes, when all later calls fail.
fn intermediate_states(operation: &Operation, plain: &FaultFreeResult) -> Vec<String> {
    let after_write = |nth| {
        let world = prepare_world(operation);
        let dead = FaultPlan::once(nth, InjectedFault::Before(InjectedError::DiskFull));
        world
            .faulty
            .set_plan(Some(dead.counting_writes().lasting()));
        drop((operation.act)(&world));
        world.dump(operation.past())
    };
    (2..=plain.writes).map(after_write).collect()
}

/// Runs `operation` with every fault plan and checks the requirement.
fn check(operation: &Operation) {
    let plain = plain(operation);
    let is_asked = plain.calls > 0 || operation.name.contains("without");
    assert!(is_asked, "{} calls no store", operation.name);
    let steps = matches!(operation.leaves, Leaves::Steps(_));
    let between = if steps {
        intermediate_states(operation, &plain)
    } else {
        Vec::new()
    };
    let once = |mishap| (1..=plain.calls).map(move |nth| FaultPlan::once(nth, mishap));
    let lasting = once(MISHAPS[0]).map(FaultPlan::lasting);
    for plan in MISHAPS.into_iter().flat_map(once).chain(lasting) {
        run_with_fault(operation, &plain, &between, plan);
    }
}

/// Runs one fault plan. A failure prints the operation, the plan and the affected call.
fn run_with_fault(
    operation: &Operation,
    plain: &FaultFreeResult,
    between: &[String],
    plan: FaultPlan,
) {
    let world = prepare_world(operation);
    let mirror = world.mirror();
    world.faulty.set_plan(Some(plan));
    let done = (operation.act)(&world);
    let struck = world.faulty.faulted_calls();
    world.faulty.set_plan(None);
    let left = world.dump(operation.past());
    let what = format!("`{}` with {plan:?}, struck {struck:?}", operation.name);
    assert!(!struck.is_empty(), "{what}: nothing was struck");
    world.check_integrity();
    match &done {
        Ok(()) => assert_eq!(left, plain.end, "{what}: succeeded, but not to the end"),
        Err(fault) => explains_error(&what, fault),
    }
    let known = left == plain.before || left == plain.end || between.contains(&left);
    assert!(
        known,
        "{what}: left something in between\n--- before\n{}--- left\n{left}--- end\n{}",
        plain.before, plain.end
    );
    let whole = [&mirror, &plain.mirror].contains(&&world.mirror());
    assert!(whole || operation.name == "run", "{what}: half a mirror");
    check_retry(operation, plain, &world, &left, &what);
}

fn explains_error(what: &str, fault: &Fault) {
    assert_eq!(fault.kind, ErrorKind::Failed, "{what}: {fault:?}");
    let words = ["injected on purpose", "held the database"];
    let reported = words.iter().any(|words| fault.message.contains(words));
    assert!(reported, "{what}: the error hides what happened: {fault:?}");
}

/// Checks that a retry succeeds, if the operation is meant to be repeated.
fn check_retry(
    operation: &Operation,
    plain: &FaultFreeResult,
    world: &World,
    left: &str,
    what: &str,
) {
    let repeatable = match operation.again {
        Again::Nothing => true,
        Again::Refused => {
            if left == plain.end {
                drop((operation.act)(world));
                assert_eq!(
                    world.dump(operation.past()),
                    plain.end,
                    "{what}: refused, but not left alone"
                );
                return;
            }
            true
        }
        Again::More(_) => left == plain.before,
    };
    if repeatable {
        let done = (operation.act)(world);
        assert_eq!(done, Ok(()), "{what}: the same call again");
        assert_eq!(
            world.dump(operation.past()),
            plain.end,
            "{what}: the same call again"
        );
    }
}

// One table in several tests, so that they run in parallel.
#[test]
fn faults_record_writes_are_atomic() {
    table::records().iter().for_each(check);
    table::removals().iter().for_each(check);
}

#[test]
fn faults_purges_are_atomic() {
    table::purges().iter().for_each(check);
}

#[test]
fn faults_conflict_resolution_is_atomic() {
    table::conflicts().iter().for_each(check);
}

#[test]
fn faults_task_writes_are_atomic() {
    table::tasks().iter().for_each(check);
}

#[test]
fn faults_runs_leave_whole_steps() {
    table::runs().iter().for_each(check);
}

#[test]
fn faults_vectors_leave_whole_steps() {
    table::vectors().iter().for_each(check);
}

#[test]
fn faults_hooks() {
    hooks::hooks().iter().for_each(check);
    hooks::more_hooks().iter().for_each(check);
}

#[test]
fn faults_server_writes_are_atomic() {
    server::server_operations().iter().for_each(check);
}

#[test]
fn faults_agent_writes_are_atomic() {
    agents::writes().iter().for_each(check);
}

#[test]
fn faults_windows_are_atomic() {
    windows::windows().iter().for_each(check);
}

#[test]
fn faults_workspace_writes_are_atomic() {
    table::workspaces().iter().for_each(check);
}

#[test]
fn faults_imports_are_atomic() {
    table::imports().iter().for_each(check);
}

#[test]
fn faults_reads_report_error_and_change_nothing() {
    let all = reads::record_reads().into_iter();
    for operation in all
        .chain(reads::task_reads())
        .chain(reads::store_reads())
        .chain(reads::count_reads())
        .chain(reads::output_reads())
        .chain(table::context_operations())
        .chain(agents::reads())
    {
        let plain = plain(&operation);
        assert_eq!(plain.writes, 0, "{} writes", operation.name);
        assert_eq!(plain.before, plain.end, "{}", operation.name);
        check(&operation);
    }
}

#[test]
fn undo_is_one_write() {
    let undos: Vec<_> = table::records()
        .into_iter()
        .filter(|row| row.name.contains("undo"))
        .collect();
    assert!(undos.len() >= 3, "{}", undos.len());
    for operation in undos {
        assert_eq!(plain(&operation).writes, 1, "{}", operation.name);
    }
}
