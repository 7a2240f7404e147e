//! Every operation of the engine over a store that fails: at every call, before and after its effect.
//!
//! The promise: the whole effect or none, always an error that says what happened, and the same call again
//! reaches the end. `faults/table.rs` is the list of operations.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "faults/agents.rs"]
mod agents;
#[path = "faults/hooks.rs"]
mod hooks;
#[path = "faults/served.rs"]
mod served;
#[path = "faults/table.rs"]
mod table;
#[path = "faults/world.rs"]
mod world;

use heirloom_model::{ErrorKind, Fault};
use heirloom_store::{Complaint, FaultPlan, Mishap};
use table::{Again, Leaves, Operation};
use world::World;

const MISHAPS: [Mishap; 4] = [
    Mishap::Before(Complaint::DiskFull),
    Mishap::Before(Complaint::Busy),
    Mishap::After(Complaint::Io),
    Mishap::After(Complaint::DiskFull),
];

/// What an operation does when nothing fails.
struct Plain {
    before: String,
    end: String,
    calls: u64,
    writes: u64,
    mirror: Option<String>,
}

fn ready(operation: &Operation) -> World {
    let world = World::new();
    (operation.setup)(&world).unwrap();
    world.later();
    world.faulty.set_plan(None);
    world
}

fn plain(operation: &Operation) -> Plain {
    let world = ready(operation);
    let before = world.dump(operation.past());
    let done = (operation.act)(&world);
    assert_eq!(done, Ok(()), "{}: without any fault", operation.name);
    Plain {
        before,
        end: world.dump(operation.past()),
        calls: world.faulty.calls().len() as u64,
        writes: world.faulty.writes(),
        mirror: world.mirror(),
    }
}

/// The states between the steps of an operation: after each of its writes, when nothing works any more.
fn between(operation: &Operation, plain: &Plain) -> Vec<String> {
    let after_write = |nth| {
        let world = ready(operation);
        let dead = FaultPlan::once(nth, Mishap::Before(Complaint::DiskFull));
        world.faulty.set_plan(Some(dead.of_writes().lasting()));
        drop((operation.act)(&world));
        world.dump(operation.past())
    };
    (2..=plain.writes).map(after_write).collect()
}

/// Runs `operation` with every plan, and holds it to its promise.
fn check(operation: &Operation) {
    let plain = plain(operation);
    let is_asked = plain.calls > 0 || operation.name.contains("without");
    assert!(is_asked, "{} calls no store", operation.name);
    let steps = matches!(operation.leaves, Leaves::Steps(_));
    let between = if steps {
        between(operation, &plain)
    } else {
        Vec::new()
    };
    let once = |mishap| (1..=plain.calls).map(move |nth| FaultPlan::once(nth, mishap));
    let lasting = once(MISHAPS[0]).map(FaultPlan::lasting);
    for plan in MISHAPS.into_iter().flat_map(once).chain(lasting) {
        strike(operation, &plain, &between, plan);
    }
}

/// One plan. What fails prints the operation, the plan and the call that it struck.
fn strike(operation: &Operation, plain: &Plain, between: &[String], plan: FaultPlan) {
    let world = ready(operation);
    let mirror = world.mirror();
    world.faulty.set_plan(Some(plan));
    let done = (operation.act)(&world);
    let struck = world.faulty.struck();
    world.faulty.set_plan(None);
    let left = world.dump(operation.past());
    let what = format!("`{}` with {plan:?}, struck {struck:?}", operation.name);
    assert!(!struck.is_empty(), "{what}: nothing was struck");
    world.sound();
    match &done {
        Ok(()) => assert_eq!(left, plain.end, "{what}: succeeded, but not to the end"),
        Err(fault) => says_what_happened(&what, fault),
    }
    let known = left == plain.before || left == plain.end || between.contains(&left);
    assert!(
        known,
        "{what}: left something in between\n--- before\n{}--- left\n{left}--- end\n{}",
        plain.before, plain.end
    );
    let whole = [&mirror, &plain.mirror].contains(&&world.mirror());
    assert!(whole || operation.name == "run", "{what}: half a mirror");
    again(operation, plain, &world, &left, &what);
}

fn says_what_happened(what: &str, fault: &Fault) {
    assert_eq!(fault.kind, ErrorKind::Failed, "{what}: {fault:?}");
    let words = ["injected on purpose", "held the database"];
    let told = words.iter().any(|words| fault.message.contains(words));
    assert!(told, "{what}: the error hides what happened: {fault:?}");
}

/// The same call once more reaches the end, wherever it is meant to be repeated.
fn again(operation: &Operation, plain: &Plain, world: &World, left: &str, what: &str) {
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

// One table in four tests, so that they run beside each other.
#[test]
fn records_are_written_whole_or_not() {
    table::records().iter().for_each(check);
    table::removals().iter().for_each(check);
}

#[test]
fn what_is_purged_goes_whole_or_not() {
    table::purges().iter().for_each(check);
}

#[test]
fn conflicts_are_decided_whole_or_not() {
    table::conflicts().iter().for_each(check);
}

#[test]
fn tasks_are_written_whole_or_not() {
    table::tasks().iter().for_each(check);
}

#[test]
fn runs_are_written_step_by_step() {
    table::runs().iter().for_each(check);
}

#[test]
fn vectors_are_made_step_by_step() {
    table::vectors().iter().for_each(check);
}

#[test]
fn hooks_of_agent_programs() {
    hooks::hooks().iter().for_each(check);
    hooks::more_hooks().iter().for_each(check);
}

#[test]
fn what_servers_do_is_whole_or_not_there() {
    served::served().iter().for_each(check);
}

#[test]
fn what_agents_write_is_whole_or_not_there() {
    agents::writes().iter().for_each(check);
}

#[test]
fn windows_are_whole_or_not_at_all() {
    table::windows().iter().for_each(check);
}

#[test]
fn workspaces_are_whole_or_not_there() {
    table::workspaces().iter().for_each(check);
}

#[test]
fn imports_are_written_whole_or_not() {
    table::imports().iter().for_each(check);
}

#[test]
fn every_failed_read_is_told_and_changes_nothing() {
    let all = table::reading().into_iter();
    for operation in all
        .chain(table::counting())
        .chain(table::hearing())
        .chain(table::prompting())
        .chain(agents::reads())
    {
        let plain = plain(&operation);
        assert_eq!(plain.writes, 0, "{} writes", operation.name);
        assert_eq!(plain.before, plain.end, "{}", operation.name);
        check(&operation);
    }
}

#[test]
fn an_undo_is_one_write() {
    let undos: Vec<_> = table::records()
        .into_iter()
        .filter(|row| row.name.contains("undo"))
        .collect();
    assert!(undos.len() >= 3, "{}", undos.len());
    for operation in undos {
        assert_eq!(plain(&operation).writes, 1, "{}", operation.name);
    }
}
