//! Violations of each dependency rule, and permitted uses.

use super::super::run_rule;
use super::table::Cycles;
use super::{check, cycles};

/// Checks one file and returns the number of violations and their messages.
fn violations(path: &str, text: &str) -> (usize, Vec<String>) {
    let report = run_rule(check, &[(path, text)]);
    (report.len(), report)
}

fn rows(path: &str, rows: &[(&str, usize)]) {
    for (text, expected) in rows {
        let (count, report) = violations(path, text);
        assert_eq!(count, *expected, "{path}: {text}: {report:?}");
    }
}

#[test]
fn dependency_on_higher_crate_is_violation() {
    for (folder, dependency, count) in [
        ("model", "heirloom-store", 1),
        ("model", "serde", 0),
        ("search", "heirloom-model", 0),
        ("search", "heirloom-store", 1),
        ("store", "heirloom-search", 0),
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
        let (found, report) = violations(&path, &manifest);
        assert_eq!(found, count, "{folder} on {dependency}: {report:?}");
    }
}

#[test]
fn opening_files_by_name_elsewhere_is_violation() {
    let opens = [
        ("use std::fs; fn f() { fs::read(path); }", 1),
        ("use std::fs::{self, read_to_string};", 1),
        ("use std::fs::File; fn f() { File::open(path); }", 1),
        ("use std::fs::OpenOptions;", 1),
        ("fn f() { rustix::fs::openat(a, b, c, d); }", 1),
        ("use std::fs; fn f() { fs::read_dir(path); }", 0),
        (
            "#[cfg(test)] mod tests { fn f() { std::fs::read(path); } }",
            0,
        ),
        ("fn f() { format!(\"{}\", path.display()); }", 1),
        ("#[cfg(test)]\nmod tests { fn f() { path.display(); } }", 0),
    ];
    rows("crates/heirloom/src/commands/show.rs", &opens);
    rows("crates/engine/src/engine/tasks.rs", &opens);
    for path in [
        "crates/fs/src/durable.rs",
        "crates/fs/src/durable/regular_file.rs",
    ] {
        rows(path, &[("use std::fs::OpenOptions;", 0)]);
    }
}

#[test]
fn violation_names_line_and_remedy() {
    let text = "//! Signals.\n\nuse std::fs;\n";
    let (_, report) = violations("crates/agents/src/signals.rs", text);
    assert_eq!(
        report,
        [
            "crates/agents/src/signals.rs:3: dependencies: `signals` uses `std::fs`: take the text as an argument"
        ]
    );
}

#[test]
fn pure_module_with_effect_or_sibling_is_violation() {
    rows(
        "crates/prompt/src/context/fit.rs",
        &[
            ("use heirloom_model::Record;", 0),
            ("use crate::context::Section;", 0),
            ("use super::Section;", 0),
            ("use std::time::Duration;", 0),
            ("use heirloom_fs::durable::write_atomic;", 1),
            ("use std::{fmt, fs, process::Command};", 2),
            ("use std::time::{Duration, Instant, SystemTime};", 2),
            ("use std::time;", 1),
            ("use std::*;", 1),
            ("fn f() { std::net::TcpStream::connect(a) }", 1),
            ("async fn f() {}", 1),
            ("use crate::custom_commands::Template;", 1),
            ("use super::super::directives;", 1),
            ("pub use crate::custom_commands::Template;", 1),
        ],
    );
}

#[test]
fn module_tests_may_read_files_but_not_use_siblings() {
    rows(
        "crates/agents/src/signals.rs",
        &[
            ("#[cfg(test)]\nmod tests { use std::fs; }", 0),
            ("#[cfg(test)]\nmod tests { use crate::streams::Parser; }", 1),
        ],
    );
    rows("crates/agents/src/signals/tests.rs", &[("use std::fs;", 0)]);
}

#[test]
fn modules_have_individual_rules() {
    rows(
        "crates/agents/src/adapters.rs",
        &[
            ("use std::fs;", 0),
            ("use std::time::SystemTime;", 0),
            ("use std::net::TcpStream;", 1),
            ("use crate::process::Child;", 1),
            ("use heirloom_fs::durable::write_atomic;", 0),
        ],
    );
    rows(
        "crates/agents/src/process/child_process.rs",
        &[
            ("use std::process::Command;", 0),
            ("use crate::adapters::Adapter;", 1),
            ("use tokio::spawn;", 1),
        ],
    );
}

#[test]
fn engine_exposing_store_is_violation() {
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
fn surface_using_store_is_violation() {
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
                ("fn f() { heirloom_fs::durable::write_atomic() }", 0),
                ("use heirloom_store::*;", 1),
                ("pub use heirloom_store::Store;", 1),
            ],
        );
    }
    for opens in [
        "crates/heirloom/src/store_access.rs",
        "crates/heirloom/src/store_access/project_identity.rs",
    ] {
        rows(opens, &[("use heirloom_store::Sqlite;", 0)]);
    }
    rows(
        "crates/heirloom/tests/cli.rs",
        &[("use heirloom_store::Sqlite;", 0)],
    );
}

#[test]
fn model_with_io_is_violation() {
    rows(
        "crates/model/src/clock.rs",
        &[
            ("use std::time::SystemTime;", 0),
            ("use std::fs;", 1),
            ("use tokio::sync;", 1),
        ],
    );
}

/// Returns the reported cycles among files of the crate `formats`.
fn reported_cycles(files: &[(&str, &str)]) -> Vec<String> {
    let paths: Vec<(String, &str)> = files
        .iter()
        .map(|(file, text)| (format!("crates/formats/src/{file}"), *text))
        .collect();
    let files: Vec<(&str, &str)> = paths
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    let reported = run_rule(check, &files).into_iter();
    reported
        .filter(|line| line.contains("use each other"))
        .collect()
}

#[test]
fn cycle_of_siblings_is_violation() {
    let report = reported_cycles(&[
        ("x.rs", "mod a; mod b; mod c;"),
        ("x/a.rs", "use super::b::B;"),
        ("x/b.rs", "\nfn f() { crate::x::c::g() }"),
        ("x/c.rs", "use super::a::{A, C};"),
        ("x/c/inner.rs", "use super::super::d::D;"),
        ("x/d.rs", "fn d() {}"),
    ]);
    assert_eq!(
        report,
        [
            "crates/formats/src/x/a.rs:1: dependencies: modules of `formats::x` use each other: a, b, c; \
             `a` uses `b` (crates/formats/src/x/a.rs:1), `b` uses `c` (crates/formats/src/x/b.rs:2), \
             `c` uses `a` (crates/formats/src/x/c.rs:1): move what they share to a module that uses neither"
        ]
    );
}

#[test]
fn use_through_file_of_folder_counts_for_folder() {
    let report = reported_cycles(&[
        ("x.rs", "mod a; mod b;"),
        ("x/a.rs", "mod inner;"),
        ("x/a/inner.rs", "use crate::x::b::B;"),
        ("x/b.rs", "mod deep;"),
        ("x/b/deep.rs", "use super::super::a::A;"),
    ]);
    assert_eq!(report.len(), 1, "{report:?}");
    assert!(
        report[0].contains("of `formats::x` use each other: a, b;"),
        "{report:?}"
    );
}

#[test]
fn re_export_counts_for_defining_module() {
    let report = reported_cycles(&[
        (
            "lib.rs",
            "mod a; mod b; pub use b::Deep as Shown; pub use heirloom_model::Kind;",
        ),
        ("a.rs", "use crate::{Kind, Shown};"),
        ("b.rs", "mod inner; pub use inner::Deep;"),
        ("b/inner.rs", "use crate::a::A;"),
    ]);
    assert_eq!(report.len(), 1, "{report:?}");
    assert!(
        report[0].contains("of `formats` use each other: a, b;"),
        "{report:?}"
    );
}

#[test]
fn parents_and_tests_form_no_cycle() {
    let files = [
        ("x.rs", "mod a; mod b; use a::A; pub struct X;"),
        ("x/a.rs", "use super::X; use super::b::B;"),
        (
            "x/b.rs",
            "#[cfg(test)] mod tests { use super::super::a::A; }",
        ),
        ("x/b/tests.rs", "use crate::x::a::A;"),
    ];
    assert_eq!(reported_cycles(&files), Vec::<String>::new());
}

#[test]
fn listed_number_of_cycles_must_match() {
    let listed = |modules| Cycles {
        parent: "formats",
        modules,
    };
    let ring = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")];
    let uses: cycles::Siblings<'_> = ring
        .iter()
        .map(|(from, to)| (((*from).to_owned(), (*to).to_owned()), ("a.rs", 1)))
        .collect();
    let report = |uses: &cycles::Siblings<'_>, modules| {
        let found = cycles::violation("formats", uses, Some(&listed(modules)));
        found.map(|violation| violation.to_string())
    };
    assert_eq!(report(&uses, 3), None);
    for modules in [2, 4] {
        let found = report(&uses, modules).unwrap();
        assert!(
            found.contains(&format!(
                "3 modules of `formats` are in cycles and `CYCLES` of table.rs lists {modules}"
            )),
            "{found}"
        );
    }
    let straight: cycles::Siblings<'_> = uses
        .into_iter()
        .filter(|((from, _), _)| from != "c")
        .collect();
    let found = report(&straight, 3).unwrap();
    assert!(found.contains("has no cycles any more"), "{found}");
}
