//! The inbox: a sweep is killed, and the next command finishes it; each file has its effect once.

use super::super::known::{Known, ensure};
use super::super::rng::Rng;
use super::super::victim::{Said, Victim};
use super::{Found, Scenario};
use crate::desk::{self, Desk, about};
use serde_json::json;
use std::cell::Cell;
use std::fs;

/// Files that are dropped.
const FILES: usize = 30;

/// A command that finds files in the inbox.
#[derive(Default)]
pub(super) struct Inbox {
    /// Files that the killed process had put away.
    taken: Cell<usize>,
}

impl Inbox {
    fn complete(desk: &Desk, known: &Known) -> Result<(), String> {
        let notes = known.records().filter(|record| record["kind"] == "note");
        let texts: Vec<_> = notes.filter_map(|note| note["text"].as_str()).collect();
        let wanted: Vec<_> = (0..FILES).map(text).collect();
        ensure(texts == wanted, || format!("the notes are {texts:?}"))?;
        let path = desk.memory().join("groups/main/MEMORY.md");
        let file = fs::read_to_string(&path).map_err(|error| about("read", &path, &error))?;
        let entries = file.lines().filter_map(|line| line.strip_prefix("- "));
        ensure(entries.eq(wanted.iter().map(String::as_str)), || {
            format!("the file says\n{file}")
        })?;
        let inbox = desk.memory().join("inbox");
        let mut left = desk::names(&inbox);
        left.retain(|name| name.ends_with(".json"));
        ensure(left.is_empty(), || format!("{left:?} are left"))?;
        let done = desk::names(&inbox.join("done")).len();
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

    fn prepare(&mut self, desk: &Desk) -> Result<Option<String>, String> {
        desk.done(&["remember", "an old fact"])?;
        for n in 0..FILES {
            let ask = json!({"type": "update_memory", "payload": {"content": text(n)}});
            let path = desk.memory().join(format!("inbox/{n:03}.json"));
            desk.write(&path, ask.to_string().as_bytes())?;
        }
        Ok(None)
    }

    fn victim(&mut self, _: &mut Rng) -> Victim {
        Victim::silent(&["status", "--json"])
    }

    fn look(&self, desk: &Desk) {
        let done = desk.memory().join("inbox/done");
        let taken = if done.exists() {
            desk::names(&done).len()
        } else {
            0
        };
        self.taken.set(taken);
    }

    fn check(&self, desk: &Desk, said: &Said, known: &Known) -> Result<Found, String> {
        Self::complete(desk, known)?;
        Ok(Found {
            acknowledged: usize::from(!said.lines().is_empty()),
            effect: self.taken.get() > 0,
        })
    }

    fn check_again(&self, desk: &Desk, _: &Said, _: &Known, known: &Known) -> Result<(), String> {
        Self::complete(desk, known)
    }
}
