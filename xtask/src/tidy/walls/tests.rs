//! Breaches of every wall, and the uses beside them that are fine.

use super::super::said;
use super::check;

/// Checks one file and returns how many breaches there are, and what was said.
fn breaches(path: &str, text: &str) -> (usize, Vec<String>) {
    let said = said(check, &[(path, text)]);
    (said.len(), said)
}

fn rows(path: &str, rows: &[(&str, usize)]) {
    for (text, expected) in rows {
        let (count, said) = breaches(path, text);
        assert_eq!(count, *expected, "{path}: {text}: {said:?}");
    }
}

#[test]
fn crates_depend_downwards() {
    for (folder, dependency, count) in [
        ("model", "heirloom-store", 1),
        ("model", "serde", 0),
        ("index", "heirloom-model", 0),
        ("index", "heirloom-store", 1),
        ("store", "heirloom-index", 0),
        ("store", "heirloom-engine", 1),
        ("engine", "heirloom-store", 0),
        ("engine", "heirloom-server", 1),
        ("server", "heirloom-engine", 0),
        ("server", "heirloom-store", 1),
        ("heirloom", "heirloom-store", 0),
        ("heirloom", "heirloom-testkit", 1),
        ("testkit", "heirloom-engine", 0),
    ] {
        let path = format!("crates/{folder}/Cargo.toml");
        let manifest = format!("[dependencies]\n{dependency}.workspace = true\n");
        let (found, said) = breaches(&path, &manifest);
        assert_eq!(found, count, "{folder} on {dependency}: {said:?}");
    }
}

#[test]
fn a_breach_names_its_line_and_the_way_out() {
    let text = "//! Signals.\n\nuse std::fs;\n";
    let (_, said) = breaches("crates/engine/src/signals.rs", text);
    assert_eq!(
        said,
        [
            "crates/engine/src/signals.rs:3: walls: `signals` uses `std::fs`: take the text as an argument"
        ]
    );
}

#[test]
fn pure_rooms_use_the_model_and_themselves() {
    rows(
        "crates/engine/src/context/fit.rs",
        &[
            ("use heirloom_model::Record;", 0),
            ("use crate::context::Section;", 0),
            ("use super::Section;", 0),
            ("use std::time::Duration;", 0),
            ("use heirloom_store::durable::write_atomic;", 1),
            ("use heirloom_store::Store;", 1),
            ("use std::{fmt, fs, process::Command};", 2),
            ("use std::time::{Duration, Instant, SystemTime};", 2),
            ("use std::time;", 1),
            ("use std::*;", 1),
            ("fn f() { std::net::TcpStream::connect(a) }", 1),
            ("async fn f() {}", 1),
            ("use crate::signals::Parser;", 1),
            ("use super::super::signals;", 1),
            ("fn f() { crate::recall::rank() }", 1),
            ("pub use crate::signals::Parser;", 1),
            ("use crate::*;", 1),
            ("use crate::Engine;", 1),
        ],
    );
}

#[test]
fn tests_of_a_room_may_read_files_but_not_its_siblings() {
    rows(
        "crates/engine/src/signals.rs",
        &[
            ("#[cfg(test)]\nmod tests { use std::fs; }", 0),
            ("#[cfg(test)]\nmod tests { use crate::recall; }", 1),
        ],
    );
    rows("crates/engine/src/signals/tests.rs", &[("use std::fs;", 0)]);
}

#[test]
fn other_rooms_have_their_own_walls() {
    rows(
        "crates/engine/src/recall.rs",
        &[
            ("use heirloom_store::Store;", 0),
            ("use heirloom_index::Terms;", 0),
            ("use std::fs;", 1),
        ],
    );
    for room in ["adapters", "places"] {
        rows(
            &format!("crates/engine/src/{room}.rs"),
            &[
                ("use std::fs;", 0),
                ("use std::time::SystemTime;", 0),
                ("use heirloom_store::Store;", 1),
                ("use std::net::TcpStream;", 1),
                ("use crate::run;", 1),
                ("use heirloom_store::durable::write_atomic;", 0),
                ("use heirloom_store::{durable, Store};", 1),
                ("use heirloom_store::*;", 1),
            ],
        );
    }
    rows(
        "crates/engine/src/run/child.rs",
        &[
            ("use crate::engine::Engine;", 0),
            ("use crate::Engine;", 0),
            ("use std::process::Command;", 0),
            ("use crate::adapters::Adapter;", 1),
            ("use heirloom_store::Store;", 1),
            ("use tokio::spawn;", 1),
        ],
    );
}

#[test]
fn the_engine_composes_but_does_not_hand_out_the_store() {
    for path in [
        "crates/engine/src/engine.rs",
        "crates/engine/src/engine/task.rs",
    ] {
        rows(
            path,
            &[
                (
                    "use crate::{context, recall}; use heirloom_store::Store;",
                    0,
                ),
                ("use tokio::spawn;", 1),
                ("pub use heirloom_store::Store;", 1),
                ("pub use heirloom_store;", 1),
                ("pub use heirloom_store::{Filter, *};", 1),
                ("pub use heirloom_store::Filter;", 0),
            ],
        );
    }
}

#[test]
fn a_room_cannot_reach_a_sibling_through_a_re_export() {
    let lib = "crates/engine/src/lib.rs";
    let exports = "pub use signals::Parser; pub use heirloom_model::Record; \
        pub use engine::{Engine, Options as EngineOptions}; pub use heirloom_store::Filter;";
    for (room, name, count) in [
        ("context", "Parser", 1),
        ("signals", "Parser", 0),
        ("context", "Record", 0),
        ("context", "EngineOptions", 1),
        ("run", "EngineOptions", 0),
        ("run", "Parser", 1),
        ("context", "Filter", 1),
        ("recall", "Filter", 0),
    ] {
        let path = format!("crates/engine/src/{room}.rs");
        let text = format!("use crate::{name};");
        let said = said(check, &[(lib, exports), (&path, &text)]);
        assert_eq!(said.len(), count, "{room} {name}: {said:?}");
    }
}

#[test]
fn a_room_that_the_table_does_not_know_is_said() {
    rows("crates/engine/src/cellar.rs", &[("", 1)]);
    rows("crates/engine/src/workspace.rs", &[("", 0)]);
    rows("crates/engine/tests/cellar.rs", &[("", 0)]);
}

#[test]
fn surfaces_call_the_engine() {
    for path in [
        "crates/heirloom/src/commands/list.rs",
        "crates/server/src/api.rs",
    ] {
        rows(
            path,
            &[
                ("use heirloom_engine::Engine; async fn f() {}", 0),
                ("use heirloom_store::Sqlite;", 1),
                ("fn f() { heirloom_store::open() }", 1),
                ("fn f() { heirloom_store::durable::write_atomic() }", 0),
                ("use heirloom_store::*;", 1),
                ("pub use heirloom_store::Store;", 1),
            ],
        );
    }
    rows(
        "crates/heirloom/src/open.rs",
        &[("use heirloom_store::Sqlite;", 0)],
    );
    rows(
        "crates/heirloom/tests/cli.rs",
        &[("use heirloom_store::Sqlite;", 0)],
    );
}

#[test]
fn the_model_does_no_input_or_output() {
    rows(
        "crates/model/src/clock.rs",
        &[
            ("use std::time::SystemTime;", 0),
            ("use std::fs;", 1),
            ("use tokio::sync;", 1),
        ],
    );
}
