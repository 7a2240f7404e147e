//! `resolve`: a conflict is decided as a whole or not at all.

use super::super::known::{Known, ensure};
use super::super::rng::Rng;
use super::super::victim::{Said, Victim};
use super::{Found, Scenario, feed};
use crate::desk::Desk;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Keys about which sources say different things.
const KEYS: usize = 8;
/// What each of them says of a key; the first wins.
const SOURCES: [&str; 4] = ["user", "ann", "bob", "eve"];

/// `resolve` for a winner or a loser.
#[derive(Default)]
pub(super) struct Resolve {
    /// For each key the ids of what the sources say.
    sides: Vec<Vec<String>>,
    key: usize,
    keep: usize,
}

impl Resolve {
    fn kept(&self) -> &str {
        &self.sides[self.key][self.keep]
    }

    /// What is current and what is open, of each key: as the sources said it, but where it was decided.
    fn wanted(&self, decided: bool) -> (BTreeSet<String>, BTreeSet<String>) {
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

/// What is current, and what lost a conflict that is open.
fn state(known: &Known) -> (BTreeSet<String>, BTreeSet<String>) {
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

    fn prepare(&mut self, desk: &Desk) -> Result<Option<String>, String> {
        let line = |key: usize, source: &str| {
            let text = format!("{source} says this of {key}");
            let line = json!({"text": text, "key": format!("k{key}"), "source": source});
            format!("{line}\n")
        };
        let lines = (0..KEYS).flat_map(|key| SOURCES.map(|source| line(key, source)));
        let said = feed(desk, &["remember", "--stdin"], lines.collect())?;
        let id = |answer: &Value| answer["id"].as_str().unwrap_or_default().to_owned();
        let ids: Vec<String> = said.lines().iter().map(id).collect();
        self.sides = ids.chunks(SOURCES.len()).map(<[_]>::to_vec).collect();
        let found = state(&Known::read(desk)?);
        ensure(found == self.wanted(false), || {
            "the sources are not in conflict".to_owned()
        })?;
        Ok(None)
    }

    fn victim(&mut self, rng: &mut Rng) -> Victim {
        let below = |rng: &mut Rng, n: usize| usize::try_from(rng.below(n as u64)).unwrap_or(0);
        self.key = below(rng, KEYS);
        self.keep = below(rng, SOURCES.len());
        let conflict = &self.sides[self.key][0];
        let words = ["resolve", conflict, "--keep", self.kept(), "--as", "user"];
        Victim::silent(&[&words[..], &["--json"]].concat())
    }

    fn check(&self, _desk: &Desk, said: &Said, known: &Known) -> Result<Found, String> {
        let found = state(known);
        let happened = found == self.wanted(true);
        let reported = !said.lines().is_empty();
        ensure(
            happened || (found == self.wanted(false) && !reported),
            || format!("half a decision: {found:?}; reported: {reported}"),
        )?;
        Ok(Found {
            acknowledged: usize::from(reported),
            effect: happened,
        })
    }

    fn before_again(&self, desk: &Desk) -> Result<(), String> {
        if state(&Known::read(desk)?) == self.wanted(true) {
            desk.done(&["undo", self.kept()])?;
        }
        let found = state(&Known::read(desk)?);
        ensure(found == self.wanted(false), || {
            format!("the decision is not taken back: {found:?}")
        })
    }

    fn check_again(&self, _: &Desk, _: &Said, _: &Known, known: &Known) -> Result<(), String> {
        ensure(state(known) == self.wanted(true), || {
            "decided again, but not to the end".to_owned()
        })
    }
}
