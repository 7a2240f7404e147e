//! Inbox: a killed sweep is completed by the next command; each file takes effect once.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario};
use crate::sandbox::{self, Sandbox, io_error};
use serde_json::json;
use std::cell::Cell;
use std::fs;

/// Files that are dropped.
const FILES: usize = 30;

/// A command that finds files in the inbox.
#[derive(Default)]
pub(super) struct Inbox {
    /// Files that the killed process had moved.
    taken: Cell<usize>,
}

impl Inbox {
    fn complete(desk: &Sandbox, known: &Export) -> Result<(), String> {
        let notes = known.records().filter(|record| record["kind"] == "note");
        let texts: Vec<_> = notes.filter_map(|note| note["text"].as_str()).collect();
        let wanted: Vec<_> = (0..FILES).map(text).collect();
        ensure(texts == wanted, || format!("the notes are {texts:?}"))?;
        let path = desk.memory().join("groups/main/MEMORY.md");
        let file = fs::read_to_string(&path).map_err(|error| io_error("read", &path, &error))?;
        let entries = file.lines().filter_map(|line| line.strip_prefix("- "));
        ensure(entries.eq(wanted.iter().map(String::as_str)), || {
            format!("the file says\n{file}")
        })?;
        let inbox = desk.memory().join("inbox");
        let mut left = sandbox::file_names(&inbox);
        left.retain(|name| name.ends_with(".json"));
        ensure(left.is_empty(), || format!("{left:?} are left"))?;
        let done = sandbox::file_names(&inbox.join("done")).len();
        ensure(done >= FILES, || format!("{done} of {FILES} are in done"))
    }
}

fn text(n: usize) -> String {
    format!("note {n} of the campaign")
}

impl Scenario for Inbox {
    fn name(&self) -> &'static str {
        "inbox"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        desk.call_ok(&["remember", "an old fact"])?;
        for n in 0..FILES {
            let ask = json!({"type": "update_memory", "payload": {"content": text(n)}});
            let path = desk.memory().join(format!("inbox/{n:03}.json"));
            desk.write(&path, ask.to_string().as_bytes())?;
        }
        Ok(None)
    }

    fn victim(&mut self, _: &mut Rng) -> Victim {
        Victim::without_input(&["status", "--json"])
    }

    fn inspect(&self, desk: &Sandbox) {
        let done = desk.memory().join("inbox/done");
        let taken = if done.exists() {
            sandbox::file_names(&done).len()
        } else {
            0
        };
        self.taken.set(taken);
    }

    fn check(
        &self,
        desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        Self::complete(desk, known)?;
        Ok(Observed {
            acknowledged: usize::from(!said.lines().is_empty()),
            effect: self.taken.get() > 0,
        })
    }

    fn check_again(
        &self,
        desk: &Sandbox,
        _: &ProcessOutput,
        _: &Export,
        known: &Export,
    ) -> Result<(), String> {
        Self::complete(desk, known)
    }
}
