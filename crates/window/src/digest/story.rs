//! What the agent did and found, told backwards from the newest message.

use super::form::line;
use crate::message::{Call, Message, Output, Part, Role};
use aho_corasick::AhoCorasick;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// Messages that are looked at: what is older stands in names, files and what users said.
const LOOK: usize = 100;
/// Bytes of an output's end, and of its beginning, that are searched for errors.
const ERROR_TAIL: usize = 500;
const ERROR_HEAD: usize = 200;
const COMMAND_CHARS: usize = 160;
const OUTCOME_CHARS: usize = 110;
const SENTENCE_CHARS: usize = 220;
/// Lines of each kind; the budget is what really limits them.
const LINES: usize = 16;

/// Lines for the parts of a summary, newest first.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub(super) decisions: Vec<String>,
    pub(super) commands: Vec<String>,
    pub(super) failed: Vec<String>,
    pub(super) fixed: Vec<String>,
    /// `None` if no plan was seen: one with nothing left is empty.
    pub(super) open: Option<Vec<String>>,
    pub(super) next: Option<String>,
}

/// Words of whatever case; `None` never happens with these lists.
fn words(list: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(list)
        .ok()
}

static ERRORS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    words(&[
        "error:",
        "error[",
        "error) ",
        "exception:",
        "traceback (",
        "failed",
        "failure",
        "panicked at",
        "fatal:",
        "not found",
        "no such file",
        "denied",
        "exit code 1",
        "exit code 2",
        "returncode>1",
        "returncode>2",
        "timed out",
    ])
});
static DECISIONS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    words(&[
        "decide",
        "instead of",
        "issue is",
        "problem is",
        "root cause",
        "because",
        "turns out",
        "the fix",
        "must ",
        "approach",
        "means that",
        "i found",
        "should not",
        "confirm",
    ])
});
static FIXES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    words(&[
        "fixed",
        "resolved",
        "now pass",
        "tests pass",
        "works now",
        "now works",
        "solved",
        "successfully",
    ])
});
static NEXTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    words(&[
        "next",
        "let me",
        "let's",
        "i'll",
        "i will",
        "i need to",
        "remaining",
        "now ",
    ])
});

fn has(list: &LazyLock<Option<AhoCorasick>>, text: &str) -> bool {
    list.as_ref().is_some_and(|words| words.is_match(text))
}

impl Story {
    /// The story of the newest messages.
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut story = Self::default();
        let mut said = Vec::new();
        let mut outputs: HashMap<(usize, usize), &Output> = HashMap::new();
        let from = messages.len().saturating_sub(LOOK);
        for (index, message) in messages.iter().enumerate().skip(from).rev() {
            if message.own.is_some() {
                continue;
            }
            for output in message.outputs() {
                if let Some(call) = output.call {
                    outputs.insert(call, output);
                }
            }
            if message.role != Role::Assistant {
                continue;
            }
            for (at, part) in message.parts.iter().enumerate().rev() {
                if let Part::Call(call) = part {
                    story.call(call, outputs.get(&(index, at)).copied());
                }
            }
            let text = message.text();
            story.sentences(&text, &mut said);
        }
        said.truncate(LINES.saturating_sub(story.decisions.len()));
        story.decisions.append(&mut said);
        for lines in [
            &mut story.decisions,
            &mut story.commands,
            &mut story.failed,
            &mut story.fixed,
        ] {
            distinct(lines);
        }
        story
    }

    fn call(&mut self, call: &Call, output: Option<&Output>) {
        if let Some(plan) = plan(call) {
            self.open.get_or_insert(plan);
            return;
        }
        let text = output.map_or("", |output| output.text.as_str());
        let wrong = error_line(text);
        if wrong.is_none() && self.commands.len() >= LINES || self.failed.len() >= LINES {
            return;
        }
        let does = does(call);
        let reads = is_reading(&call.name, &does);
        let outcome = match (&wrong, output) {
            (Some(wrong), _) if !reads => format!("failed: {wrong}"),
            (_, None) => "no answer".to_owned(),
            (_, Some(_)) if super::files::writes(call) => "done".to_owned(),
            (_, Some(output)) if reads => format!("{} characters", output.chars),
            (_, Some(output)) if output.chars <= OUTCOME_CHARS => line(text, OUTCOME_CHARS),
            (_, Some(_)) => line(last_line(text), OUTCOME_CHARS),
        };
        let outcome = if outcome.is_empty() {
            "no output"
        } else {
            outcome.as_str()
        };
        let done = format!("{}: {does} → {outcome}", line(&call.name, 40));
        let done = line(&done, 400);
        if wrong.is_some() && !reads {
            self.failed.push(done);
        } else if self.commands.len() < LINES {
            self.commands.push(done);
        }
    }

    /// Sorts the sentences of one message of the agent into the parts; the first one goes to `said`
    /// if none was a decision.
    fn sentences(&mut self, text: &str, said: &mut Vec<String>) {
        let full = |lines: &Vec<String>| lines.len() >= LINES;
        if self.next.is_some() && full(&self.decisions) && full(&self.fixed) {
            return;
        }
        let mut decided = false;
        let mut first = None;
        let mut next = None;
        for sentence in sentences(text).take(60) {
            first = first.or(Some(sentence));
            if !decided && !full(&self.decisions) && has(&DECISIONS, sentence) {
                decided = true;
                self.decisions.push(line(sentence, SENTENCE_CHARS));
            } else if !full(&self.fixed) && has(&FIXES, sentence) {
                self.fixed.push(line(sentence, SENTENCE_CHARS));
            }
            if self.next.is_none() && (next.is_none() || has(&NEXTS, sentence)) {
                next = Some(sentence);
            }
        }
        if let (false, Some(first)) = (decided || full(said), first) {
            said.push(line(first, SENTENCE_CHARS));
        }
        if self.next.is_none() {
            self.next = next.map(|next| line(next, SENTENCE_CHARS));
        }
    }
}

/// Leaves the first of lines that are equal.
fn distinct(lines: &mut Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
}

/// The sentences of a text; code in fences is passed over.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines()
        .filter(move |line| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            !fence && !fenced
        })
        .flat_map(|line| line.split_inclusive(". "))
        .map(|sentence| {
            sentence
                .trim()
                .trim_start_matches(['#', '-', '*', '>', ' '])
        })
        .filter(|sentence| sentence.len() > 12)
}

fn last_line(text: &str) -> &str {
    let lines = text.lines().rev().take(20);
    lines
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("")
}

/// The line that says best what went wrong: the last one near the end, else the first near the start.
fn error_line(text: &str) -> Option<String> {
    let errors = ERRORS.as_ref()?;
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(ERROR_TAIL))..];
    let head = &text[..text.floor_char_boundary(ERROR_HEAD.min(text.len() - tail.len()))];
    let found = |text: &str, at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        line(&text[start..end], OUTCOME_CHARS)
    };
    let (mut last, mut named) = (None, None);
    for error in errors.find_iter(tail) {
        last = Some(error.start());
        // The first ones come with what it was.
        if error.pattern().as_usize() < 4 {
            named = last;
        }
    }
    if let Some(last) = named.or(last) {
        return Some(found(tail, last));
    }
    errors.find(head).map(|first| found(head, first.start()))
}

/// What a call does, from its arguments, on one line.
fn does(call: &Call) -> String {
    let Ok(all) = serde_json::from_str::<BTreeMap<String, &RawValue>>(&call.arguments) else {
        return line(&call.arguments, COMMAND_CHARS);
    };
    let value = |raw: &RawValue| -> String {
        serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
    };
    for key in ["command", "cmd", "script", "query", "pattern", "url"] {
        if let Some(raw) = all.get(key) {
            let mut text = value(raw);
            for beside in ["path", "file_path", "file"] {
                if let Some(raw) = all.get(beside) {
                    text = format!("{text} {}", value(raw));
                }
            }
            return line(&text, COMMAND_CHARS);
        }
    }
    let short = all.values().filter(|raw| raw.get().len() <= 400);
    let mut texts: Vec<String> = short
        .filter_map(|raw| serde_json::from_str::<String>(raw.get()).ok())
        .collect();
    if texts.is_empty() {
        return line(&call.arguments, COMMAND_CHARS);
    }
    // A path says most, and a long text least.
    texts.sort_by_key(|text| (!text.contains('/'), text.len()));
    line(&texts.join(" "), COMMAND_CHARS)
}

/// Whether a call only reads, so that an error in what it shows is none of its own.
fn is_reading(tool: &str, does: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    if [
        "read", "view", "open", "grep", "glob", "search", "list", "think",
    ]
    .iter()
    .any(|name| tool.starts_with(name))
    {
        return true;
    }
    let command = match does.split_once(" && ") {
        Some((cd, command)) if cd.starts_with("cd ") => command,
        _ => does,
    };
    let first = command.split_whitespace().next().unwrap_or("");
    matches!(
        first,
        "cat" | "head" | "tail" | "grep" | "rg" | "ls" | "find" | "nl" | "less" | "awk" | "view"
    ) || command.starts_with("sed -n")
        || command.starts_with("git show")
        || command.starts_with("git diff")
        || command.starts_with("git log")
}

/// The keys of a call's arguments.
pub(super) fn keys(call: &Call) -> Vec<String> {
    serde_json::from_str::<BTreeMap<String, &RawValue>>(&call.arguments)
        .map(|all| all.into_keys().take(8).collect())
        .unwrap_or_default()
}

/// The open steps of a call that writes a plan; `None` if it writes none.
fn plan(call: &Call) -> Option<Vec<String>> {
    let name = call.name.to_ascii_lowercase();
    if !name.contains("todo") && !name.contains("plan") {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(&call.arguments).ok()?;
    let steps = ["todos", "plan", "steps", "items"]
        .iter()
        .find_map(|key| value.get(key)?.as_array())?;
    let mut open = Vec::new();
    for step in steps.iter().take(LINES) {
        let text = ["content", "step", "text", "title"]
            .iter()
            .find_map(|key| step.get(key)?.as_str())
            .or(step.as_str());
        let status = step.get("status").and_then(serde_json::Value::as_str);
        match (text, status.unwrap_or("pending")) {
            (None, _) | (_, "completed" | "done" | "cancelled") => {}
            (Some(text), "pending") => open.push(line(text, SENTENCE_CHARS)),
            (Some(text), status) => open.push(line(&format!("{text} ({status})"), SENTENCE_CHARS)),
        }
    }
    Some(open)
}
