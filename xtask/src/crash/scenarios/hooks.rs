//! Hooks of agent programs, and imports of their transcripts.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario};
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// The conversation, in the project's folder.
const FILE: &str = "talk.jsonl";
/// Its prompts.
const PROMPTS: usize = 5_000;
/// Fact in the transcript.
const LEARNED: &str = "the fixtures are in git";
/// Hook events: name, content, and the record that results.
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
        Box::new(TranscriptImport { by_hook: true }),
        Box::new(TranscriptImport { by_hook: false }),
    ]
}

/// A hook's call.
fn hook(name: &str, more: &str) -> Victim {
    let event = format!(r#"{{"session_id":"s",{more}}}"#);
    Victim {
        input: vec![(Duration::ZERO, event)],
        ..Victim::without_input(&["hook", "claude-code", name])
    }
}

/// Counts the current records with this text.
fn count(known: &Export, text: &str) -> usize {
    let current = known.current();
    let says = |record: &&Value| {
        let is_current = record["id"].as_str().is_some_and(|id| current.contains(id));
        is_current && record["text"] == text
    };
    known.records().filter(says).count()
}

/// A hook call that writes a record.
#[derive(Default)]
struct Hook {
    chosen: usize,
}

impl Scenario for Hook {
    fn name(&self) -> &'static str {
        "hook"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        hook("SessionStart", r#""source":"startup""#).run_to_end(desk)?;
        Ok(None)
    }

    fn victim(&mut self, rng: &mut Rng) -> Victim {
        self.chosen = usize::try_from(rng.below(EVENTS.len() as u64)).unwrap_or(0);
        let (name, more, _) = EVENTS[self.chosen];
        hook(name, more)
    }

    fn check(
        &self,
        _desk: &Sandbox,
        output: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let (name, _, text) = EVENTS[self.chosen];
        let there = count(known, text);
        // A hook prints nothing.
        let reported = !output.was_killed();
        ensure(there == 1 || (there == 0 && !reported), || {
            format!("{name}: `{text}` is there {there} times; ended by itself: {reported}")
        })?;
        Ok(Observed {
            acknowledged: usize::from(reported),
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
        let (name, _, text) = EVENTS[self.chosen];
        let there = count(known, text);
        ensure(there == 1, || {
            format!("{name} once more: `{text}` is there {there} times")
        })
    }
}

/// Import of a transcript by the session-end hook or by the command.
struct TranscriptImport {
    by_hook: bool,
}

impl TranscriptImport {
    /// Counts the imported prompts, which must be a prefix without duplicates, and the episodes.
    fn check_imported(known: &Export) -> Result<usize, String> {
        let texts = known.messages().filter_map(|line| line["text"].as_str());
        let texts: Vec<&str> = texts.filter_map(|text| text.lines().next()).collect();
        let each: BTreeSet<&str> = texts.iter().copied().collect();
        ensure(each.len() == texts.len(), || {
            format!(
                "{} messages, of which {} are different",
                texts.len(),
                each.len()
            )
        })?;
        let first = (0..texts.len()).all(|n| each.contains(prompt(n).as_str()));
        ensure(first, || {
            format!("{} messages, and not the first ones", texts.len())
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
        Ok(texts.len())
    }
}

fn prompt(n: usize) -> String {
    format!("prompt number {n} of the conversation")
}

impl Scenario for TranscriptImport {
    fn name(&self) -> &'static str {
        match self.by_hook {
            true => "archive",
            false => "transcript",
        }
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        let line = |n: usize, kind: &str, content: Value| {
            json!({"type": kind, "uuid": format!("u{n}"), "parentUuid": n.checked_sub(1).map(|n| format!("u{n}")),
                "sessionId": "s", "timestamp": "2026-04-01T10:00:00Z", "message": {"id": format!("m{n}"), "content": content}})
            .to_string()
                + "\n"
        };
        let mut text: String = (0..PROMPTS)
            .map(|n| line(n, "user", json!(prompt(n))))
            .collect();
        let message = format!("{}\nHEIRLOOM_MEMORY: KEY_FACT {LEARNED}", prompt(PROMPTS));
        text += &line(
            PROMPTS,
            "assistant",
            json!([{"type": "text", "text": message}]),
        );
        desk.write(&desk.project().join(FILE), text.as_bytes())?;
        hook("SessionStart", r#""source":"startup""#).run_to_end(desk)?;
        hook("UserPromptSubmit", r#""prompt":"mend the parser""#).run_to_end(desk)?;
        let (name, more, _) = EVENTS[1];
        hook(name, more).run_to_end(desk)?;
        Ok(None)
    }

    fn victim(&mut self, _rng: &mut Rng) -> Victim {
        match self.by_hook {
            true => hook(
                "SessionEnd",
                &format!(r#""reason":"other","transcript_path":"{FILE}""#),
            ),
            false => Victim::without_input(&["import", "claude", FILE, "--json"]),
        }
    }

    fn check(
        &self,
        _desk: &Sandbox,
        output: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let taken = Self::check_imported(known)?;
        let reported = !self.by_hook && !output.lines().is_empty();
        ensure(!reported || taken == PROMPTS + 1, || {
            format!(
                "reported as done, and {taken} of {} messages are there",
                PROMPTS + 1
            )
        })?;
        Ok(Observed {
            acknowledged: if reported { taken } else { 0 },
            effect: taken > 0,
        })
    }

    /// A hook has a deadline: the import reads the rest.
    fn run_again(&self, desk: &Sandbox, victim: &Victim) -> Result<ProcessOutput, String> {
        victim.run_to_end(desk)?;
        Victim::without_input(&["import", "claude", FILE, "--json"]).run_to_end(desk)
    }

    fn check_again(
        &self,
        _: &Sandbox,
        _: &ProcessOutput,
        _: &Export,
        known: &Export,
    ) -> Result<(), String> {
        let taken = Self::check_imported(known)?;
        ensure(taken == PROMPTS + 1, || {
            format!("taken in to the end: {taken} of {} messages", PROMPTS + 1)
        })
    }
}
