//! A migration: the database of an older version, opened by this one.

use super::super::known::{Known, ensure};
use super::super::rng::Rng;
use super::super::victim::{Said, Victim};
use super::{Found, Scenario};
use crate::cargo;
use crate::desk::{self, Desk};
use std::fs;

/// Records in the old database.
const RECORDS: usize = 3_000;
/// What a copy that was made before a migration has in its name.
const COPY: &str = ".before-v";

/// The first command after an update.
#[derive(Default)]
pub(super) struct Migration {
    newest: u64,
    export: String,
}

fn version(desk: &Desk) -> Result<u64, String> {
    let status = desk.json(&["status", "--json"])?;
    status["schema_version"]
        .as_u64()
        .ok_or_else(|| "no schema_version".to_owned())
}

/// The copies that were made before a migration; temporary files are no copies.
fn copies(desk: &Desk) -> Vec<String> {
    let mut names = desk::names(&desk.memory());
    names.retain(|name| name.contains(COPY) && !name.starts_with('.'));
    names
}

impl Migration {
    /// A copy that was made before the migration holds everything: whoever needs it takes it for whole.
    fn is_whole(&self, desk: &Desk, name: &str) -> Result<(), String> {
        let at = desk.copy_to(&desk.beside("copy"))?;
        for name in ["heirloom.db", "heirloom.db-wal", "heirloom.db-shm"] {
            let path = at.memory().join(name);
            if path.exists() {
                fs::remove_file(&path).map_err(|error| desk::about("remove", &path, &error))?;
            }
        }
        let (from, to) = (at.memory().join(name), at.memory().join("heirloom.db"));
        fs::rename(&from, &to).map_err(|error| desk::about("rename", &from, &error))?;
        let known =
            Known::read(&at).map_err(|error| format!("the copy {name} is torn: {error}"))?;
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

    fn prepare(&mut self, desk: &Desk) -> Result<Option<String>, String> {
        self.newest = version(desk)?;
        if self.newest == 1 {
            return Ok(Some("the schema has one version".to_owned()));
        }
        let database = desk.memory().join("heirloom.db");
        fs::remove_file(&database).map_err(|error| desk::about("remove", &database, &error))?;
        let mut make = cargo::command(["run", "--quiet", "--package", "heirloom-store"]);
        make.args(["--example", "old_database", "--"])
            .arg(&database);
        cargo::run(make.args(["campaign", &RECORDS.to_string()]))?;
        let copy = desk.copy_to(&desk.beside("migrated"))?;
        self.export = Known::read(&copy)?.export;
        let count = Known::of(self.export.clone())?.records().count();
        ensure(count == RECORDS, || {
            format!("{count} of {RECORDS} records were migrated")
        })?;
        copy.remove()?;
        Ok(None)
    }

    fn victim(&mut self, _rng: &mut Rng) -> Victim {
        Victim::silent(&["list", "--json", "-n", "1"])
    }

    fn check(&self, desk: &Desk, said: &Said, known: &Known) -> Result<Found, String> {
        // Reading what is known was the next open, which finished it.
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
            self.is_whole(desk, copy)?;
        }
        Ok(Found {
            acknowledged: usize::from(!said.lines().is_empty()) * RECORDS,
            effect: copies.len() > 1 || !said.stdout.is_empty(),
        })
    }

    fn check_again(
        &self,
        desk: &Desk,
        _: &Said,
        before: &Known,
        known: &Known,
    ) -> Result<(), String> {
        ensure(known.export == before.export, || {
            "the second opening changed records".to_owned()
        })?;
        let copies = copies(desk);
        ensure(copies.len() <= 2, || format!("copies pile up: {copies:?}"))
    }
}
