//! Hooks of agent programs, and conversations that these wrote down.

use super::super::known::{Known, ensure};
use super::super::rng::Rng;
use super::super::victim::{Said, Victim};
use super::{Found, Scenario};
use crate::desk::Desk;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// The conversation, in the project's folder.
const FILE: &str = "talk.jsonl";
/// Its prompts.
const PROMPTS: usize = 5_000;
/// What is learned from it.
const LEARNED: &str = "the fixtures are in git";
/// What a hook may be told of: the event, what it says, and the record that comes of it.
const EVENTS: [(&str, &str, &str); 3] = [
    (
        "PostToolUseFailure",
        r#""tool_name":"Bash","tool_input":{"command":"make"},"error":"Exit code 2\nerror: no rule""#,
        "`make` failed: error: no rule",
    ),
    (
        "PostToolUse",
        r#""tool_name":"Write","tool_input":{"file_path":"src/a.rs"},"tool_response":{}"#,
        "src/a.rs",
    ),
    (
        "Stop",
        r#""last_assistant_message":"HEIRLOOM_MEMORY: KEY_FACT ports clash""#,
        "ports clash",
    ),
];

/// Every scenario of these.
pub(super) fn all() -> Vec<Box<dyn Scenario>> {
    vec![
        Box::new(Hook::default()),
        Box::new(Talk { by_hook: true }),
        Box::new(Talk { by_hook: false }),
    ]
}

/// A hook's call.
fn hook(name: &str, more: &str) -> Victim {
    let event = format!(r#"{{"session_id":"s",{more}}}"#);
    Victim {
        input: vec![(Duration::ZERO, event)],
        ..Victim::silent(&["hook", "claude-code", name])
    }
}

/// How many current records say this.
fn count(known: &Known, text: &str) -> usize {
    let current = known.current();
    let says = |record: &&Value| {
        let is_current = record["id"].as_str().is_some_and(|id| current.contains(id));
        is_current && record["text"] == text
    };
    known.records().filter(says).count()
}

/// A hook that learns something.
#[derive(Default)]
struct Hook {
    chosen: usize,
}

impl Scenario for Hook {
    fn name(&self) -> &'static str {
        "hook"
    }

    fn prepare(&mut self, desk: &Desk) -> Result<Option<String>, String> {
        hook("SessionStart", r#""source":"startup""#).done(desk)?;
        Ok(None)
    }

    fn victim(&mut self, rng: &mut Rng) -> Victim {
        self.chosen = usize::try_from(rng.below(EVENTS.len() as u64)).unwrap_or(0);
        let (name, more, _) = EVENTS[self.chosen];
        hook(name, more)
    }

    fn check(&self, _desk: &Desk, said: &Said, known: &Known) -> Result<Found, String> {
        let (name, _, text) = EVENTS[self.chosen];
        let there = count(known, text);
        // It ends with nothing said.
        let reported = !said.was_killed();
        ensure(there == 1 || (there == 0 && !reported), || {
            format!("{name}: `{text}` is there {there} times; ended by itself: {reported}")
        })?;
        Ok(Found {
            acknowledged: usize::from(reported),
            effect: there > 0,
        })
    }

    fn check_again(&self, _: &Desk, _: &Said, _: &Known, known: &Known) -> Result<(), String> {
        let (name, _, text) = EVENTS[self.chosen];
        let there = count(known, text);
        ensure(there == 1, || {
            format!("{name} once more: `{text}` is there {there} times")
        })
    }
}

/// A conversation that is taken in: by the hook of the session that ends, or by an import.
struct Talk {
    by_hook: bool,
}

impl Talk {
    /// The prompts that are here, which must be the first ones and each once, and how many episodes there are.
    fn taken(known: &Known) -> Result<usize, String> {
        let said = known.messages().filter_map(|line| line["text"].as_str());
        let said: Vec<&str> = said.filter_map(|text| text.lines().next()).collect();
        let each: BTreeSet<&str> = said.iter().copied().collect();
        ensure(each.len() == said.len(), || {
            format!(
                "{} messages, of which {} are different",
                said.len(),
                each.len()
            )
        })?;
        let first = (0..said.len()).all(|n| each.contains(prompt(n).as_str()));
        ensure(first, || {
            format!("{} messages, and not the first ones", said.len())
        })?;
        for (kind, text) in [("knowledge", LEARNED), ("episode", "")] {
            let current = known.current();
            let is_it = |record: &&Value| {
                let is_current = record["id"].as_str().is_some_and(|id| current.contains(id));
                is_current && record["kind"] == kind && (text.is_empty() || record["text"] == text)
            };
            let there = known.records().filter(is_it).count();
            ensure(there <= 1, || format!("{there} times {kind} {text}"))?;
        }
        Ok(said.len())
    }
}

fn prompt(n: usize) -> String {
    format!("prompt number {n} of the conversation")
}

impl Scenario for Talk {
    fn name(&self) -> &'static str {
        match self.by_hook {
            true => "archive",
            false => "transcript",
        }
    }

    fn prepare(&mut self, desk: &Desk) -> Result<Option<String>, String> {
        let line = |n: usize, kind: &str, content: Value| {
            json!({"type": kind, "uuid": format!("u{n}"), "parentUuid": n.checked_sub(1).map(|n| format!("u{n}")),
                "sessionId": "s", "timestamp": "2026-04-01T10:00:00Z", "message": {"id": format!("m{n}"), "content": content}})
            .to_string()
                + "\n"
        };
        let mut text: String = (0..PROMPTS)
            .map(|n| line(n, "user", json!(prompt(n))))
            .collect();
        let said = format!("{}\nHEIRLOOM_MEMORY: KEY_FACT {LEARNED}", prompt(PROMPTS));
        text += &line(
            PROMPTS,
            "assistant",
            json!([{"type": "text", "text": said}]),
        );
        desk.write(&desk.project().join(FILE), text.as_bytes())?;
        hook("SessionStart", r#""source":"startup""#).done(desk)?;
        hook("UserPromptSubmit", r#""prompt":"mend the parser""#).done(desk)?;
        let (name, more, _) = EVENTS[1];
        hook(name, more).done(desk)?;
        Ok(None)
    }

    fn victim(&mut self, _rng: &mut Rng) -> Victim {
        match self.by_hook {
            true => hook(
                "SessionEnd",
                &format!(r#""reason":"other","transcript_path":"{FILE}""#),
            ),
            false => Victim::silent(&["import", "claude", FILE, "--json"]),
        }
    }

    fn check(&self, _desk: &Desk, said: &Said, known: &Known) -> Result<Found, String> {
        let taken = Self::taken(known)?;
        let reported = !self.by_hook && !said.lines().is_empty();
        ensure(!reported || taken == PROMPTS + 1, || {
            format!(
                "reported as done, and {taken} of {} messages are there",
                PROMPTS + 1
            )
        })?;
        Ok(Found {
            acknowledged: if reported { taken } else { 0 },
            effect: taken > 0,
        })
    }

    /// A hook has little time: what it left the import takes in.
    fn again(&self, desk: &Desk, victim: &Victim) -> Result<Said, String> {
        victim.done(desk)?;
        Victim::silent(&["import", "claude", FILE, "--json"]).done(desk)
    }

    fn check_again(&self, _: &Desk, _: &Said, _: &Known, known: &Known) -> Result<(), String> {
        let taken = Self::taken(known)?;
        ensure(taken == PROMPTS + 1, || {
            format!("taken in to the end: {taken} of {} messages", PROMPTS + 1)
        })
    }
}
