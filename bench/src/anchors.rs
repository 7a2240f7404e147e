//! Anchors of the hooks in recorded conversations: how many there are, and their length.

use crate::developer_prompts::data_folder;
use crate::{Outcome, fixture, results};
use flate2::read::GzDecoder;
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::read_event;
use heirloom_agents::transcripts::{EventBody, SupersededLineScan, TranscriptEvent};
use heirloom_capture::{HookRequest, Hooks};
use heirloom_engine::Engine;
use heirloom_model::text;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Tool calls between two anchors, as configured by default.
const ANCHOR_EVERY: u32 = 5;
/// Deadline of a hook: no transcript is read, so it does not matter.
const DEADLINE: Duration = Duration::from_secs(600);

/// Moment of a conversation at which a hook is called.
enum Moment {
    Prompt(String),
    ToolCall,
    Compaction,
}

/// Figures of one conversation.
#[derive(Debug, Default)]
struct Counts {
    prompts: usize,
    calls: usize,
    /// Tokens of each anchor.
    anchors: Vec<usize>,
}

pub(crate) fn measure(data: Option<&Path>) -> Outcome<()> {
    let Some(data) = data else {
        println!("anchors: skipped, no --data FOLDER of recorded conversations");
        return Ok(());
    };
    let mut files = Vec::new();
    list_files(&data_folder(data, "window"), &mut files)?;
    files.sort();
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let (mut rows, mut all, mut sessions) = (Vec::new(), Counts::default(), 0);
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let counts = replay(&engine, &name, &read_moments(&file)?)?;
        if counts.calls == 0 {
            continue;
        }
        sessions += 1;
        rows.push(vec![
            text::clip(&name, 40).to_owned(),
            counts.prompts.to_string(),
            counts.calls.to_string(),
            counts.anchors.len().to_string(),
            counts.anchors.iter().sum::<usize>().to_string(),
        ]);
        all.calls += counts.calls;
        all.anchors.extend(counts.anchors);
    }
    results::table(
        "anchors",
        &["conversation", "prompts", "tool calls", "anchors", "tokens"],
        &rows,
    );
    let number = all.anchors.len().max(1) as f64;
    let total = all.anchors.iter().sum::<usize>() as f64;
    let longest = all.anchors.iter().max().copied().unwrap_or(0) as f64;
    let in_all = format!(
        "anchors of {sessions} conversations with {} tool calls",
        all.calls
    );
    results::value(
        "anchors.count",
        &in_all,
        "anchors",
        all.anchors.len() as f64,
    );
    let per_session = all.anchors.len() as f64 / f64::from(sessions.max(1));
    results::value(
        "anchors.each",
        "anchors of a conversation",
        "anchors",
        per_session,
    );
    results::value(
        "anchors.mean",
        "tokens of an anchor",
        "tokens",
        total / number,
    );
    results::value(
        "anchors.longest",
        "tokens of the longest anchor",
        "tokens",
        longest,
    );
    results::value(
        "anchors.per_call",
        "tokens of anchors for each tool call",
        "tokens",
        total / all.calls.max(1) as f64,
    );
    Ok(())
}

/// Lists the conversations in a folder and in the folders in it.
fn list_files(folder: &Path, found: &mut Vec<PathBuf>) -> Outcome<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        let bare = name.strip_suffix(".gz").unwrap_or(&name);
        if path.is_dir() {
            list_files(&path, found)?;
        } else if bare.ends_with(".jsonl") || bare.ends_with(".json") {
            found.push(path);
        }
    }
    Ok(())
}

/// Reads the moments of a conversation: a chat in one JSON object, or a transcript of Claude Code or Codex.
fn read_moments(path: &Path) -> Outcome<Vec<Moment>> {
    let mut bytes = std::fs::read(path)?;
    if path.extension().is_some_and(|extension| extension == "gz") {
        let packed = std::mem::take(&mut bytes);
        GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes)?;
    }
    if let Ok(chat) = serde_json::from_slice::<Value>(&bytes) {
        return Ok(chat_moments(&chat));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let program = if name.starts_with("rollout-") {
        AgentProgram::Codex
    } else {
        AgentProgram::ClaudeCode
    };
    let mut at = 0;
    let lines: Vec<(u64, &[u8])> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            let start = at;
            at += line.len() as u64;
            (start, line)
        })
        .collect();
    let mut scan = SupersededLineScan::new(program);
    for (at, line) in &lines {
        scan.read_line(*at, line);
    }
    let mut moments = Vec::new();
    let mut reader = scan.into_reader();
    let mut take = |event: TranscriptEvent| {
        let is_main = event.agent.is_none();
        match event.body {
            EventBody::Prompt(prompt) if is_main => moments.push(Moment::Prompt(prompt)),
            EventBody::Result { .. } if is_main => moments.push(Moment::ToolCall),
            EventBody::Summary(_) if is_main => moments.push(Moment::Compaction),
            EventBody::Prompt(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::Result { .. }
            | EventBody::Summary(_)
            | EventBody::ConversationStart(_)
            | EventBody::AssistantText(_)
            | EventBody::Call { .. }
            | EventBody::FileChanged(_)
            | EventBody::TokenUsage(_) => {}
        }
    };
    for (at, line) in &lines {
        reader.read_line(*at, line, &mut take);
    }
    reader.finish(&mut take);
    Ok(moments)
}

fn chat_moments(chat: &Value) -> Vec<Moment> {
    let messages = chat["messages"].as_array().into_iter().flatten();
    let moment = |message: &Value| match message["role"].as_str() {
        Some("user") => Some(Moment::Prompt(message["content"].as_str()?.to_owned())),
        Some("tool") => Some(Moment::ToolCall),
        _ => None,
    };
    messages.filter_map(moment).collect()
}

/// Calls the hooks as Claude Code would.
fn replay(engine: &Engine, session: &str, moments: &[Moment]) -> Outcome<Counts> {
    let mut counts = Counts::default();
    for moment in moments {
        let (event, more) = match moment {
            Moment::Prompt(prompt) => ("UserPromptSubmit", json!({"prompt": prompt})),
            Moment::ToolCall => (
                "PostToolUse",
                json!({"tool_name": "Read", "tool_input": {}, "tool_response": {}}),
            ),
            Moment::Compaction => ("SessionStart", json!({"source": "compact"})),
        };
        let told = answer(engine, session, event, more)?;
        match moment {
            Moment::Prompt(_) => counts.prompts += 1,
            Moment::ToolCall => {
                counts.calls += 1;
                if !told.is_empty() {
                    counts.anchors.push(text::tokens(&told));
                }
            }
            Moment::Compaction => {}
        }
    }
    Ok(counts)
}

fn answer(engine: &Engine, session: &str, name: &str, mut event: Value) -> Outcome<String> {
    let host = AgentProgram::ClaudeCode;
    event["session_id"] = json!(session);
    event["cwd"] = json!(engine.root());
    let answer = Hooks::new(engine).handle(&HookRequest {
        host,
        spec: host.hook_spec(name).ok_or("no such hook")?,
        event: &read_event(host, event.to_string().as_bytes()),
        shorten: None,
        anchor_every: ANCHOR_EVERY,
        teach: false,
        ask: false,
        deadline: Instant::now() + DEADLINE,
    })?;
    Ok(answer.context)
}
