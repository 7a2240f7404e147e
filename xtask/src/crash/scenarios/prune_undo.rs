//! `prune --apply` and `undo`: both are atomic.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario, facts, feed};
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Episodes that are older than their retention.
const EPISODES: usize = 900;
/// Number of undoable records of each sort.
const UNDOABLE: usize = 8;

/// `prune --apply`.
pub(super) struct Prune;

fn current_episodes(known: &Export) -> usize {
    let is_current =
        |record: &&Value| record["kind"] == "episode" && record["retired_at"].is_null();
    known.records().filter(is_current).count()
}

/// Returns an old episode as an export has it: the time in its id tells when it became known.
fn old_episode(number: usize) -> Value {
    let text = format!("attempt {number}");
    json!({
        "id": format!("019b76da-a800-7000-8000-{number:012x}"),
        "kind": "episode",
        "text": text,
        "approach": text,
        "action": "completed",
        "source": "a",
        "agent": "a",
        "task": "t",
        "confidence": 0.8,
        "recorded_at": "2026-01-01T00:00:00Z",
    })
}

impl Scenario for Prune {
    fn name(&self) -> &'static str {
        "prune"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        let lines = (0..EPISODES).map(|number| format!("{}\n", old_episode(number)));
        let file = desk.temp().join("episodes.jsonl");
        desk.write(&file, lines.collect::<String>().as_bytes())?;
        desk.call_ok(&["import", "jsonl", &file.to_string_lossy()])?;
        Ok(None)
    }

    fn victim(&mut self, _rng: &mut Rng) -> Victim {
        Victim::without_input(&["prune", "--apply", "--json"])
    }

    fn check(
        &self,
        _desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let all = known.records().count();
        ensure(all >= EPISODES, || format!("{all} records"))?;
        let left = current_episodes(known);
        let reported = said
            .lines()
            .first()
            .is_some_and(|report| report["applied"] == true);
        ensure(left == 0 || (left == EPISODES && !reported), || {
            format!("{left} of {EPISODES} episodes are left; reported: {reported}")
        })?;
        Ok(Observed {
            acknowledged: usize::from(reported) * EPISODES,
            effect: left == 0,
        })
    }

    fn check_again(
        &self,
        _: &Sandbox,
        _: &ProcessOutput,
        _: &Export,
        known: &Export,
    ) -> Result<(), String> {
        let left = current_episodes(known);
        ensure(left == 0, || {
            format!("pruned again to the end: {left} episodes")
        })
    }
}

/// `undo` of a creation, a replacement or a retirement.
#[derive(Default)]
pub(super) struct Undo {
    before: BTreeSet<String>,
    /// Undoable ids, each with the id that is current afterwards.
    targets: Vec<(String, BTreeSet<String>)>,
    chosen: usize,
}

impl Scenario for Undo {
    fn name(&self) -> &'static str {
        "undo"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        let texts = (0..2 * UNDOABLE).map(|n| format!("a fact, number {n}"));
        let made = feed(desk, &["remember", "--stdin"], facts(texts))?;
        let value = |n: usize| {
            let key = format!("k{}", n % UNDOABLE);
            let line = json!({"text": format!("value {n}"), "key": key, "category": "convention"});
            format!("{line}\n")
        };
        let values = (0..2 * UNDOABLE).map(value).collect();
        let replaced = feed(desk, &["remember", "--stdin"], values)?;
        let id = |answer: &Value| answer["id"].as_str().unwrap_or_default().to_owned();
        let created: Vec<String> = made.lines().iter().map(id).collect();
        for forgotten in &created[..UNDOABLE] {
            desk.call_ok(&["forget", forgotten])?;
        }
        let winners = replaced.lines().iter().skip(UNDOABLE).map(id).collect();
        self.before = Export::read(desk)?.current();
        for target in [created, winners].concat() {
            let copy = desk.copy_to(&desk.sibling_path("undone"))?;
            copy.call_ok(&["undo", &target])?;
            let after = Export::read(&copy)?.current();
            ensure(after != self.before, || {
                format!("undoing {target} changes nothing")
            })?;
            self.targets.push((target, after));
            copy.remove()?;
        }
        Ok(None)
    }

    fn victim(&mut self, rng: &mut Rng) -> Victim {
        self.chosen = usize::try_from(rng.below(self.targets.len() as u64)).unwrap_or(0);
        let target = self.targets.get(self.chosen);
        Victim::without_input(&["undo", target.map_or("", |(id, _)| id), "--json"])
    }

    fn check(
        &self,
        _desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let current = known.current();
        let happened = current == self.targets[self.chosen].1;
        let reported = !said.lines().is_empty();
        ensure(happened || (current == self.before && !reported), || {
            format!(
                "{} records are current; reported: {reported}",
                current.len()
            )
        })?;
        Ok(Observed {
            acknowledged: usize::from(reported),
            effect: happened,
        })
    }

    fn check_again(
        &self,
        _: &Sandbox,
        _: &ProcessOutput,
        before: &Export,
        known: &Export,
    ) -> Result<(), String> {
        // A second undo restores the previous state.
        let after = &self.targets[self.chosen].1;
        let wanted = if before.current() == self.before {
            after
        } else {
            &self.before
        };
        ensure(known.current() == *wanted, || {
            "undone again: neither the one state nor the other".to_owned()
        })
    }
}
