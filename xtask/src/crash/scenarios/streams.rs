//! `remember --stdin` and `observe`: streams whose lines become durable one by one.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario, facts, feed};
use crate::sandbox::Sandbox;
use std::time::Duration;

/// Texts of one run.
const TEXTS: usize = 500;
/// Facts stored in advance.
const OLD: usize = 200;
/// Maximum number of texts in a burst.
const BURST_MAX: u64 = 24;
/// Longest pause between two bursts.
const PAUSE_US_MAX: u64 = 1_500;

fn texts() -> Vec<String> {
    (0..TEXTS)
        .map(|n| format!("word {n} of the campaign, to be kept"))
        .collect()
}

fn old_facts(desk: &Sandbox) -> Result<(), String> {
    let old = (0..OLD).map(|n| format!("an old fact, number {n}"));
    feed(desk, &["remember", "--stdin"], facts(old)).map(drop)
}

/// The lines in bursts of random length with random pauses.
fn bursts(lines: &[String], rng: &mut Rng) -> Vec<(Duration, String)> {
    let mut rest = lines;
    let mut bursts = Vec::new();
    while !rest.is_empty() {
        let size = usize::try_from(rng.below(BURST_MAX)).unwrap_or(0) + 1;
        let (now, later) = rest.split_at(size.min(rest.len()));
        bursts.push((Duration::from_micros(rng.below(PAUSE_US_MAX)), now.concat()));
        rest = later;
    }
    bursts
}

/// Checks that all texts are present.
fn check_all(known: &Export, texts: &[String]) -> Result<(), String> {
    let there = known.prefix_of(texts)?;
    ensure(there == texts.len(), || {
        format!(
            "said again to the end, {there} of {} are there",
            texts.len()
        )
    })?;
    let count = known.records().count();
    ensure(count == OLD + texts.len(), || {
        format!("{count} records instead of {}", OLD + texts.len())
    })
}

/// `remember --stdin`.
pub(super) struct Remember {
    texts: Vec<String>,
}

impl Remember {
    pub(super) fn new() -> Self {
        Self { texts: texts() }
    }
}

impl Scenario for Remember {
    fn name(&self) -> &'static str {
        "remember"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        old_facts(desk)?;
        Ok(None)
    }

    fn victim(&mut self, rng: &mut Rng) -> Victim {
        let lines: Vec<String> = self
            .texts
            .iter()
            .map(|text| facts([text.clone()]))
            .collect();
        Victim {
            input: bursts(&lines, rng),
            ..Victim::without_input(&["remember", "--stdin"])
        }
    }

    fn check(
        &self,
        _desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let there = known.prefix_of(&self.texts)?;
        let answers = said.lines();
        for (answer, text) in answers.iter().zip(&self.texts) {
            let is_it = |record: &&serde_json::Value| record["id"] == answer["id"];
            let record = known.records().find(is_it);
            ensure(
                record.is_some_and(|record| record["text"] == **text),
                || format!("acknowledged as {answer} and lost: `{text}`"),
            )?;
        }
        ensure(answers.len() <= there, || {
            format!("{} acknowledged, {there} there", answers.len())
        })?;
        Ok(Observed {
            acknowledged: answers.len(),
            effect: there > 0,
        })
    }

    fn check_again(
        &self,
        _: &Sandbox,
        said: &ProcessOutput,
        _: &Export,
        known: &Export,
    ) -> Result<(), String> {
        ensure(said.lines().len() == TEXTS, || {
            "not every line was answered".to_owned()
        })?;
        check_all(known, &self.texts)
    }
}

/// `observe`.
pub(super) struct Observe {
    texts: Vec<String>,
}

impl Observe {
    pub(super) fn new() -> Self {
        Self { texts: texts() }
    }
}

impl Scenario for Observe {
    fn name(&self) -> &'static str {
        "observe"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        old_facts(desk)?;
        Ok(None)
    }

    fn victim(&mut self, rng: &mut Rng) -> Victim {
        let line = |text: &String| format!("compiling…\nHEIRLOOM_MEMORY: KEY_FACT {text}\n");
        let lines: Vec<String> = self.texts.iter().map(line).collect();
        Victim {
            input: bursts(&lines, rng),
            ..Victim::without_input(&["observe", "--json", "--format", "text"])
        }
    }

    fn check(
        &self,
        _desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let there = known.prefix_of(&self.texts)?;
        // It reports once, at its end.
        let told = said.lines();
        let signals = told.first().and_then(|report| report["signals"].as_array());
        let acknowledged = signals.map_or(0, Vec::len);
        ensure(acknowledged <= there, || {
            format!("{acknowledged} acknowledged, {there} there")
        })?;
        Ok(Observed {
            acknowledged,
            effect: there > 0,
        })
    }

    fn check_again(
        &self,
        _: &Sandbox,
        _: &ProcessOutput,
        _: &Export,
        known: &Export,
    ) -> Result<(), String> {
        check_all(known, &self.texts)
    }
}
