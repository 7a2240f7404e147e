//! Migration of a database of an older version.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario};
use crate::cargo;
use crate::sandbox::{self, Sandbox};
use std::fs;

/// Records in the old database.
const RECORDS: usize = 3_000;
/// Infix of the names of pre-migration copies.
const COPY: &str = ".before-v";

/// The first command after an update.
#[derive(Default)]
pub(super) struct Migration {
    newest: u64,
    export: String,
}

fn version(desk: &Sandbox) -> Result<u64, String> {
    let status = desk.json(&["status", "--json"])?;
    status["schema_version"]
        .as_u64()
        .ok_or_else(|| "no schema_version".to_owned())
}

/// Returns the pre-migration copies without temporary files.
fn copies(desk: &Sandbox) -> Vec<String> {
    let mut names = sandbox::file_names(&desk.memory());
    names.retain(|name| name.contains(COPY) && !name.starts_with('.'));
    names
}

impl Migration {
    /// Checks that a pre-migration copy is complete.
    fn check_complete(&self, desk: &Sandbox, name: &str) -> Result<(), String> {
        let at = desk.copy_to(&desk.sibling_path("copy"))?;
        for name in ["heirloom.db", "heirloom.db-wal", "heirloom.db-shm"] {
            let path = at.memory().join(name);
            if path.exists() {
                fs::remove_file(&path)
                    .map_err(|error| sandbox::io_error("remove", &path, &error))?;
            }
        }
        let (from, to) = (at.memory().join(name), at.memory().join("heirloom.db"));
        fs::rename(&from, &to).map_err(|error| sandbox::io_error("rename", &from, &error))?;
        let known =
            Export::read(&at).map_err(|error| format!("the copy {name} is torn: {error}"))?;
        let is_same = known.export == self.export;
        at.remove()?;
        ensure(is_same, || {
            format!("the copy {name} holds {} records", known.records().count())
        })
    }
}

impl Scenario for Migration {
    fn name(&self) -> &'static str {
        "migration"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        self.newest = version(desk)?;
        if self.newest == 1 {
            return Ok(Some("the schema has one version".to_owned()));
        }
        let database = desk.memory().join("heirloom.db");
        fs::remove_file(&database)
            .map_err(|error| sandbox::io_error("remove", &database, &error))?;
        let mut make = cargo::command(["run", "--quiet", "--package", "heirloom-store"]);
        make.args(["--example", "old_database", "--"])
            .arg(&database);
        cargo::run(make.args(["campaign", &RECORDS.to_string()]))?;
        let copy = desk.copy_to(&desk.sibling_path("migrated"))?;
        self.export = Export::read(&copy)?.export;
        let count = Export::of(self.export.clone())?.records().count();
        ensure(count == RECORDS, || {
            format!("{count} of {RECORDS} records were migrated")
        })?;
        copy.remove()?;
        Ok(None)
    }

    fn victim(&mut self, _rng: &mut Rng) -> Victim {
        Victim::without_input(&["list", "--json", "-n", "1"])
    }

    fn check(
        &self,
        desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        // The export opened the database and completed the migration.
        let version = version(desk)?;
        ensure(version == self.newest, || {
            format!("the schema has version {version}")
        })?;
        ensure(known.export == self.export, || {
            format!(
                "{} of {RECORDS} records, or others",
                known.records().count()
            )
        })?;
        let copies = copies(desk);
        ensure((1..=2).contains(&copies.len()), || {
            format!("one copy and at most one needless one: {copies:?}")
        })?;
        for copy in &copies {
            self.check_complete(desk, copy)?;
        }
        Ok(Observed {
            acknowledged: usize::from(!said.lines().is_empty()) * RECORDS,
            effect: copies.len() > 1 || !said.stdout.is_empty(),
        })
    }

    fn check_again(
        &self,
        desk: &Sandbox,
        _: &ProcessOutput,
        before: &Export,
        known: &Export,
    ) -> Result<(), String> {
        ensure(known.export == before.export, || {
            "the second opening changed records".to_owned()
        })?;
        let copies = copies(desk);
        ensure(copies.len() <= 2, || format!("copies pile up: {copies:?}"))
    }
}
