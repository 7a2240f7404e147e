//! Atomic commands: after a kill the state is either the one before or the one after.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario};
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::cell::Cell;
use std::collections::HashMap;
use std::time::Duration;

/// Maximum number of events of a query; all are compared.
const EVENTS: &str = "10000";

/// One invocation of the command.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    args: Vec<String>,
    input: Option<String>,
}

/// Creates the project that each run copies, and lists the invocations.
type Prepare = fn(&Sandbox) -> Result<Vec<Choice>, String>;
/// Additional check after a complete run.
type FinalCheck = fn(&Sandbox) -> Result<(), String>;

/// A family of atomic commands.
pub(super) struct Atomic {
    name: &'static str,
    prepare: Prepare,
    last: FinalCheck,
    before: String,
    rehearsed: Vec<Rehearsed>,
    chosen: usize,
    /// True if the command completed before the kill.
    had_happened: Cell<bool>,
}

/// Invocation with its result without a kill.
struct Rehearsed {
    choice: Choice,
    after: String,
    /// State and exit status of a repetition.
    twice: String,
    twice_code: Option<i32>,
}

/// A call without input.
pub(super) fn call(args: &[&str]) -> Choice {
    Choice {
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        input: None,
    }
}

/// A call that reads `input`.
pub(super) fn call_with(args: &[&str], input: String) -> Choice {
    Choice {
        input: Some(input),
        ..call(args)
    }
}

impl Choice {
    fn victim(&self) -> Victim {
        let input = self.input.iter().cloned();
        let mut args = self.args.clone();
        args.push("--json".to_owned());
        Victim {
            args,
            input: input.map(|text| (Duration::ZERO, text)).collect(),
        }
    }
}

impl Atomic {
    /// The scenario `name`.
    pub(super) fn new(name: &'static str, prepare: Prepare, last: FinalCheck) -> Self {
        Self {
            name,
            prepare,
            last,
            before: String::new(),
            rehearsed: Vec::new(),
            chosen: 0,
            had_happened: Cell::new(false),
        }
    }

    fn rehearse(&self, desk: &Sandbox, choice: Choice) -> Result<Rehearsed, String> {
        let copy = desk.copy_to(&desk.sibling_path("rehearsal"))?;
        choice.victim().run_to_end(&copy)?;
        let after = state(&copy)?;
        ensure(after != self.before, || {
            format!("`{}` changes nothing", choice.args.join(" "))
        })?;
        let again = choice.victim().run(&copy, None)?;
        let twice = state(&copy)?;
        copy.remove()?;
        Ok(Rehearsed {
            choice,
            after,
            twice,
            twice_code: again.status.code(),
        })
    }

    fn now(&self) -> &Rehearsed {
        &self.rehearsed[self.chosen]
    }
}

impl Scenario for Atomic {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        let choices = (self.prepare)(desk)?;
        self.before = state(desk)?;
        let rehearsed = choices.into_iter();
        let rehearsed = rehearsed.map(|choice| self.rehearse(desk, choice));
        self.rehearsed = rehearsed.collect::<Result<_, _>>()?;
        Ok(None)
    }

    fn victim(&mut self, rng: &mut Rng) -> Victim {
        self.chosen = usize::try_from(rng.below(self.rehearsed.len() as u64)).unwrap_or(0);
        self.now().choice.victim()
    }

    fn check(
        &self,
        desk: &Sandbox,
        output: &ProcessOutput,
        _: &Export,
    ) -> Result<Observed, String> {
        let found = state(desk)?;
        let happened = found == self.now().after;
        let reported = !output.lines().is_empty();
        ensure(happened || (found == self.before && !reported), || {
            let problem = difference(&found, &self.now().after);
            format!("half of it, or lost; reported: {reported}; {problem}")
        })?;
        Ok(Observed {
            acknowledged: usize::from(reported),
            effect: happened,
        })
    }

    fn run_again(&self, desk: &Sandbox, victim: &Victim) -> Result<ProcessOutput, String> {
        let had_happened = state(desk)? == self.now().after;
        self.had_happened.set(had_happened);
        let output = victim.run(desk, None)?;
        let code = output.status.code();
        let wanted = if had_happened {
            self.now().twice_code
        } else {
            Some(0)
        };
        ensure(code == wanted, || {
            format!(
                "ended with {code:?} instead of {wanted:?}: {}",
                output.stderr
            )
        })?;
        Ok(output)
    }

    fn check_again(
        &self,
        desk: &Sandbox,
        _: &ProcessOutput,
        _: &Export,
        _: &Export,
    ) -> Result<(), String> {
        let found = state(desk)?;
        let wanted = if self.had_happened.get() {
            &self.now().twice
        } else {
            &self.now().after
        };
        ensure(found == *wanted, || {
            format!("not to the end; {}", difference(&found, wanted))
        })?;
        (self.last)(desk)
    }
}

/// Returns the records and events of the project with ids and times masked.
fn state(desk: &Sandbox) -> Result<String, String> {
    let export = desk.call_ok(&["export", "--format", "jsonl", "--all"])?;
    let events = desk.json(&["history", "-n", EVENTS, "--json"])?;
    let mut names = IdNames::default();
    let mut state = names.all(export.lines());
    let mut events = events["events"].as_array().cloned().unwrap_or_default();
    events.reverse();
    for mut event in events {
        names.mask(&mut event);
        state.push_str(&format!("{event}\n"));
    }
    Ok(state)
}

/// Returns the first differing line.
fn difference(found: &str, wanted: &str) -> String {
    let pair = (found.lines().zip(wanted.lines())).find(|(a, b)| a != b);
    let (a, b) = (found.lines().count(), wanted.lines().count());
    match pair {
        Some((found, wanted)) => format!("`{found}` where `{wanted}` was wanted"),
        None => format!("{a} lines instead of {b}"),
    }
}

/// Placeholder names for ids, in order of occurrence.
#[derive(Default)]
struct IdNames(HashMap<String, usize>);

impl IdNames {
    fn all<'a>(&mut self, lines: impl Iterator<Item = &'a str>) -> String {
        let mut all = String::new();
        for line in lines {
            let mut value: Value = serde_json::from_str(line).unwrap_or_default();
            self.mask(&mut value);
            all.push_str(&format!("{value}\n"));
        }
        all
    }

    fn mask(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if is_id(text) => {
                let next = self.0.len();
                let name = self.0.entry(text.clone()).or_insert(next);
                *text = format!("#{name}");
            }
            Value::String(text) if is_time(text) => "T".clone_into(text),
            Value::Array(all) => all.iter_mut().for_each(|one| self.mask(one)),
            Value::Object(all) => all.values_mut().for_each(|one| self.mask(one)),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn is_id(text: &str) -> bool {
    let dashes: Vec<usize> = text.match_indices('-').map(|(at, _)| at).collect();
    text.len() == 36 && dashes == [8, 13, 18, 23]
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.len() >= 20 && text.ends_with('Z') && bytes[4] == b'-' && bytes[10] == b'T'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_times_are_masked_in_order_of_occurrence() {
        let id = |n: u8| format!("01a1ff80-c4aa-7669-ac44-77d97b4f1b9{n}");
        let line = |a, b| format!("{{\"a\":\"{}\",\"b\":\"{}\"}}", id(a), id(b));
        let (one, other) = ([line(1, 2), line(2, 1)], [line(5, 3), line(3, 5)]);
        let named = |lines: &[String]| IdNames::default().all(lines.iter().map(String::as_str));
        assert_eq!(named(&one), named(&other));
        assert_ne!(named(&one), named(&[line(1, 2), line(1, 2)]));
        let times = ["2026-11-21T19:06:31Z", "2025-01-02T03:04:05.678Z"];
        let times = times.map(|time| format!("[\"{time}\"]"));
        assert_eq!(named(&times[..1]), named(&times[1..]));
        assert!(!is_time("2026-11-21 is a day, and so on Z"));
        assert!(!is_id("a text of thirty-six letters or so.."));
    }

    #[test]
    fn difference_returns_first_differing_line() {
        assert!(difference("a\nb\n", "a\nc\n").contains("`b` where `c`"));
        assert!(difference("a\n", "a\nc\n").contains("1 lines instead of 2"));
    }
}
