//! `resolve`: resolving a conflict is atomic.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario, feed};
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Number of keys in conflict.
const KEYS: usize = 8;
/// Sources with a value for each key; the first wins.
const SOURCES: [&str; 4] = ["user", "ann", "bob", "eve"];

/// `resolve` for a winner or a loser.
#[derive(Default)]
pub(super) struct Resolve {
    /// For each key, the ids of the values.
    sides: Vec<Vec<String>>,
    key: usize,
    keep: usize,
}

impl Resolve {
    fn winner(&self) -> &str {
        &self.sides[self.key][self.keep]
    }

    /// Returns the expected current values and open conflicts, before or after the decision.
    fn expected_ids(&self, decided: bool) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut current, mut open) = (BTreeSet::new(), BTreeSet::new());
        for (key, sides) in self.sides.iter().enumerate() {
            if decided && key == self.key {
                current.insert(sides[self.keep].clone());
            } else {
                current.insert(sides[0].clone());
                open.extend(sides[1..].iter().cloned());
            }
        }
        (current, open)
    }
}

/// Returns the current records and the losing records of open conflicts.
fn state(known: &Export) -> (BTreeSet<String>, BTreeSet<String>) {
    let is_open = |record: &&Value| {
        record["conflict"] == true
            && record["arbitrated"].is_null()
            && !record["retired_at"].is_null()
    };
    let open = known.records().filter(is_open);
    let open = open.filter_map(|record| record["id"].as_str().map(str::to_owned));
    (known.current(), open.collect())
}

impl Scenario for Resolve {
    fn name(&self) -> &'static str {
        "resolve"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        let line = |key: usize, source: &str| {
            let text = format!("{source} says this of {key}");
            let line = json!({"text": text, "key": format!("k{key}"), "source": source});
            format!("{line}\n")
        };
        let lines = (0..KEYS).flat_map(|key| SOURCES.map(|source| line(key, source)));
        let output = feed(desk, &["remember", "--stdin"], lines.collect())?;
        let id = |answer: &Value| answer["id"].as_str().unwrap_or_default().to_owned();
        let ids: Vec<String> = output.lines().iter().map(id).collect();
        self.sides = ids.chunks(SOURCES.len()).map(<[_]>::to_vec).collect();
        let found = state(&Export::read(desk)?);
        ensure(found == self.expected_ids(false), || {
            "the sources are not in conflict".to_owned()
        })?;
        Ok(None)
    }

    fn victim(&mut self, rng: &mut Rng) -> Victim {
        let below = |rng: &mut Rng, n: usize| usize::try_from(rng.below(n as u64)).unwrap_or(0);
        self.key = below(rng, KEYS);
        self.keep = below(rng, SOURCES.len());
        let conflict = &self.sides[self.key][0];
        let words = ["resolve", conflict, "--keep", self.winner(), "--as", "user"];
        Victim::without_input(&[&words[..], &["--json"]].concat())
    }

    fn check(
        &self,
        _desk: &Sandbox,
        output: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let found = state(known);
        let happened = found == self.expected_ids(true);
        let reported = !output.lines().is_empty();
        ensure(
            happened || (found == self.expected_ids(false) && !reported),
            || format!("half a decision: {found:?}; reported: {reported}"),
        )?;
        Ok(Observed {
            acknowledged: usize::from(reported),
            effect: happened,
        })
    }

    fn prepare_again(&self, desk: &Sandbox) -> Result<(), String> {
        if state(&Export::read(desk)?) == self.expected_ids(true) {
            desk.call_ok(&["undo", self.winner()])?;
        }
        let found = state(&Export::read(desk)?);
        ensure(found == self.expected_ids(false), || {
            format!("the decision is not taken back: {found:?}")
        })
    }

    fn check_again(
        &self,
        _: &Sandbox,
        _: &ProcessOutput,
        _: &Export,
        known: &Export,
    ) -> Result<(), String> {
        ensure(state(known) == self.expected_ids(true), || {
            "decided again, but not to the end".to_owned()
        })
    }
}
