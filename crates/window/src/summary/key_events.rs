//! Extraction of events from the newest messages: decisions, commands, failures, fixes, open steps.

use super::SummaryMessage;
use super::summary_format::single_line;
use crate::message::{ChatRole, MessagePart, ToolCall, ToolOutput};
use aho_corasick::AhoCorasick;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// Number of newest messages examined; older ones count through identifiers, files and user text.
const LOOK: usize = 100;
/// Number of bytes at an output's end, and at its beginning, that are searched for errors.
const ERROR_TAIL: usize = 500;
const ERROR_HEAD: usize = 200;
const COMMAND_CHARS: usize = 160;
const OUTCOME_CHARS: usize = 110;
const SENTENCE_CHARS: usize = 220;
/// Maximum number of lines of each kind; the budget is the effective limit.
const LINES: usize = 16;

/// Extracted lines per section of a summary, newest first.
#[derive(Debug, Default)]
pub(super) struct SessionEvents {
    pub(super) decisions: Vec<String>,
    pub(super) commands: Vec<String>,
    pub(super) failed: Vec<String>,
    pub(super) fixed: Vec<String>,
    /// `None` if no plan was found; a finished plan is empty.
    pub(super) open: Option<Vec<String>>,
    pub(super) next: Option<String>,
}

/// Builds a case-insensitive matcher; `None` never happens with these lists.
fn word_matcher(list: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(list)
        .ok()
}

static ERRORS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    word_matcher(&[
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
    word_matcher(&[
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
    word_matcher(&[
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
    word_matcher(&[
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

fn contains_any(list: &LazyLock<Option<AhoCorasick>>, text: &str) -> bool {
    list.as_ref().is_some_and(|words| words.is_match(text))
}

impl SessionEvents {
    /// Extracts the events of the newest messages.
    pub(super) fn from_messages(messages: &[SummaryMessage]) -> Self {
        let mut story = Self::default();
        let mut first_sentences = Vec::new();
        let mut outputs: HashMap<(usize, usize), &ToolOutput> = HashMap::new();
        let from = messages.len().saturating_sub(LOOK);
        for (index, message) in messages.iter().enumerate().skip(from).rev() {
            if message.inserted.is_some() {
                continue;
            }
            for output in message.outputs() {
                if let Some(call) = output.call {
                    outputs.insert(call, output);
                }
            }
            if message.role != ChatRole::Assistant {
                continue;
            }
            for (at, part) in message.parts.iter().enumerate().rev() {
                if let MessagePart::Call(call) = part {
                    story.add_call(call, outputs.get(&(index, at)).copied());
                }
            }
            let text = message.text();
            story.sentences(&text, &mut first_sentences);
        }
        first_sentences.truncate(LINES.saturating_sub(story.decisions.len()));
        story.decisions.append(&mut first_sentences);
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

    fn add_call(&mut self, call: &ToolCall, output: Option<&ToolOutput>) {
        if let Some(plan) = open_plan_steps(call) {
            self.open.get_or_insert(plan);
            return;
        }
        let text = output.map_or("", |output| output.text.as_str());
        let failure = error_line(text);
        if failure.is_none() && self.commands.len() >= LINES || self.failed.len() >= LINES {
            return;
        }
        let does = describe_call(call);
        let reads = is_reading(&call.name, &does);
        let outcome = match (&failure, output) {
            (Some(failure), _) if !reads => format!("failed: {failure}"),
            (_, None) => "no answer".to_owned(),
            (_, Some(_)) if super::touched_files::is_write_call(call) => "done".to_owned(),
            (_, Some(output)) if reads => format!("{} characters", output.chars),
            (_, Some(output)) if output.chars <= OUTCOME_CHARS => single_line(text, OUTCOME_CHARS),
            (_, Some(_)) => single_line(last_line(text), OUTCOME_CHARS),
        };
        let outcome = if outcome.is_empty() {
            "no output"
        } else {
            outcome.as_str()
        };
        let done = format!("{}: {does} → {outcome}", single_line(&call.name, 40));
        let done = single_line(&done, 400);
        if failure.is_some() && !reads {
            self.failed.push(done);
        } else if self.commands.len() < LINES {
            self.commands.push(done);
        }
    }

    /// Assigns the sentences of an agent message to sections. The first sentence goes to `first_sentences` if none is
    /// a decision.
    fn sentences(&mut self, text: &str, first_sentences: &mut Vec<String>) {
        let full = |lines: &Vec<String>| lines.len() >= LINES;
        if self.next.is_some() && full(&self.decisions) && full(&self.fixed) {
            return;
        }
        let mut decided = false;
        let mut first = None;
        let mut next = None;
        for sentence in sentences(text).take(60) {
            first = first.or(Some(sentence));
            if !decided && !full(&self.decisions) && contains_any(&DECISIONS, sentence) {
                decided = true;
                self.decisions.push(single_line(sentence, SENTENCE_CHARS));
            } else if !full(&self.fixed) && contains_any(&FIXES, sentence) {
                self.fixed.push(single_line(sentence, SENTENCE_CHARS));
            }
            if self.next.is_none() && (next.is_none() || contains_any(&NEXTS, sentence)) {
                next = Some(sentence);
            }
        }
        if let (false, Some(first)) = (decided || full(first_sentences), first) {
            first_sentences.push(single_line(first, SENTENCE_CHARS));
        }
        if self.next.is_none() {
            self.next = next.map(|next| single_line(next, SENTENCE_CHARS));
        }
    }
}

/// Removes duplicate lines, keeping the first.
fn distinct(lines: &mut Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
}

/// Splits a text into sentences; fenced code is skipped.
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

/// Returns the most informative error line: the last one near the end, else the first near the start.
fn error_line(text: &str) -> Option<String> {
    let errors = ERRORS.as_ref()?;
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(ERROR_TAIL))..];
    let head = &text[..text.floor_char_boundary(ERROR_HEAD.min(text.len() - tail.len()))];
    let found = |text: &str, at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        single_line(&text[start..end], OUTCOME_CHARS)
    };
    let (mut last, mut named) = (None, None);
    for error in errors.find_iter(tail) {
        last = Some(error.start());
        // The first four patterns precede the cause.
        if error.pattern().as_usize() < 4 {
            named = last;
        }
    }
    if let Some(last) = named.or(last) {
        return Some(found(tail, last));
    }
    errors.find(head).map(|first| found(head, first.start()))
}

/// Describes a call by its arguments on one line.
fn describe_call(call: &ToolCall) -> String {
    let Ok(all) = serde_json::from_str::<BTreeMap<String, &RawValue>>(&call.arguments) else {
        return single_line(&call.arguments, COMMAND_CHARS);
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
            return single_line(&text, COMMAND_CHARS);
        }
    }
    let short = all.values().filter(|raw| raw.get().len() <= 400);
    let mut texts: Vec<String> = short
        .filter_map(|raw| serde_json::from_str::<String>(raw.get()).ok())
        .collect();
    if texts.is_empty() {
        return single_line(&call.arguments, COMMAND_CHARS);
    }
    // Paths are most informative, long texts least.
    texts.sort_by_key(|text| (!text.contains('/'), text.len()));
    single_line(&texts.join(" "), COMMAND_CHARS)
}

/// Returns true if a call only reads, so that an error in its output is not its own failure.
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

/// Returns the names of a call's arguments.
pub(super) fn argument_keys(call: &ToolCall) -> Vec<String> {
    serde_json::from_str::<BTreeMap<String, &RawValue>>(&call.arguments)
        .map(|all| all.into_keys().take(8).collect())
        .unwrap_or_default()
}

/// Returns the open steps of a call that writes a plan; `None` for other calls.
fn open_plan_steps(call: &ToolCall) -> Option<Vec<String>> {
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
            (Some(text), "pending") => open.push(single_line(text, SENTENCE_CHARS)),
            (Some(text), status) => {
                open.push(single_line(&format!("{text} ({status})"), SENTENCE_CHARS))
            }
        }
    }
    Some(open)
}
