//! Signals inside injection envelopes, quotations, blocks of code and diffs: they are ignored, whatever the source of the text.
#![expect(
    clippy::disallowed_methods,
    reason = "transcripts as agent programs write them"
)]

use crate::hooks::{CLAUDE, call};
use crate::project::{Project, string};
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::HookEventKind;
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Returns a text with a signal in each form of the envelope, and the signal `open` outside.
fn text_with_envelopes(open: &str) -> String {
    format!(
        "I was told:\n<heirloom-memory project=\"x\">\nHEIRLOOM_MEMORY: KEY_FACT fenced\n</heirloom-memory>\n\
         &lt;heirloom-memory project=\"x\"&gt;\nHEIRLOOM_MEMORY: KEY_FACT fenced\n&lt;/heirloom-memory&gt;\n\
         > HEIRLOOM_MEMORY: KEY_FACT fenced\n```\nHEIRLOOM_MEMORY: KEY_FACT fenced\n```\n```text\nHEIRLOOM_MEMORY: KEY_FACT fenced\n```\n\
         @@ -1,2 +1,3 @@\n HEIRLOOM_MEMORY: KEY_FACT fenced\n+ HEIRLOOM_MEMORY: KEY_FACT fenced\n\n\
         HEIRLOOM_MEMORY: KEY_FACT {open}\nand <heirloom-memory>\nHEIRLOOM_MEMORY: ERROR fenced\n"
    )
}

/// Returns a transcript of this agent program with one assistant message.
fn transcript_text(host: AgentProgram, root: &Path, session: &str, text: &str) -> String {
    let at = "2026-04-01T10:00:00Z";
    let lines = match host {
        AgentProgram::ClaudeCode => vec![
            json!({"type": "user", "uuid": format!("{session}-0"), "cwd": root, "sessionId": session, "timestamp": at, "message": {"role": "user", "content": "go"}}),
            json!({"type": "assistant", "uuid": format!("{session}-1"), "parentUuid": format!("{session}-0"), "cwd": root, "sessionId": session, "timestamp": at,
                "message": {"id": format!("{session}m"), "role": "assistant", "content": [{"type": "text", "text": text}]}}),
        ],
        AgentProgram::Codex => vec![
            json!({"timestamp": at, "type": "session_meta", "payload": {"id": session, "cwd": root, "timestamp": at}}),
            json!({"timestamp": at, "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}}),
        ],
        AgentProgram::Gemini => vec![
            json!({"sessionId": session, "projectHash": "x", "startTime": at}),
            json!({"id": format!("{session}1"), "type": "gemini", "timestamp": at, "content": text}),
        ],
        AgentProgram::Opencode => vec![json!({
            "info": {"id": session, "directory": root, "time": {"created": 1_775_037_600_000_u64}},
            "messages": [{"info": {"id": format!("{session}m"), "role": "assistant"},
                "parts": [{"id": format!("{session}p"), "type": "text", "text": text}]}],
        })],
        AgentProgram::Copilot => vec![
            json!({"type": "session.start", "id": format!("{session}0"), "data": {"sessionId": session, "startTime": at, "context": {"cwd": root}}}),
            json!({"type": "assistant.message", "id": format!("{session}1"), "timestamp": at, "data": {"content": text, "toolRequests": []}}),
        ],
        AgentProgram::Aider
        | AgentProgram::Cursor
        | AgentProgram::Windsurf
        | AgentProgram::Vscode
        | AgentProgram::Command => unreachable!("{host} has no transcript"),
    };
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the path at which this agent program stores a transcript.
fn transcript_path(project: &Project, host: AgentProgram, session: &str) -> PathBuf {
    let name = match host {
        AgentProgram::ClaudeCode => format!(".claude/projects/x/{session}.jsonl"),
        AgentProgram::Codex => format!(".codex/sessions/2026/04/01/rollout-{session}.jsonl"),
        AgentProgram::Gemini => format!(".gemini/tmp/named/chats/session-{session}.jsonl"),
        AgentProgram::Opencode => format!(".local/share/opencode/heirloom/ses_{session}.json"),
        AgentProgram::Copilot => format!(".copilot/session-state/{session}/events.jsonl"),
        AgentProgram::Aider
        | AgentProgram::Cursor
        | AgentProgram::Windsurf
        | AgentProgram::Vscode
        | AgentProgram::Command => unreachable!("{host} has no transcript"),
    };
    let root = ".gemini/tmp/named/.project_root";
    project
        .home
        .write(root, project.path().to_str().unwrap())
        .unwrap();
    project.home.path().join(name)
}

/// Returns the name of an event in this agent program.
fn event_of(host: AgentProgram, kind: HookEventKind) -> &'static str {
    let mut specs = host.hook_specs().iter();
    specs.find(|spec| spec.kind == kind).unwrap().event
}

#[track_caller]
fn assert_only_open_signal_learned(project: &Project, open: &str, case: &str) {
    for kind in ["knowledge", "error"] {
        let texts: Vec<String> = project
            .list(kind)
            .iter()
            .map(|one| string(&one["text"]))
            .collect();
        assert!(
            !texts.iter().any(|text| text.contains("fenced")),
            "{case}: {texts:?}"
        );
        let learned = texts.iter().any(|text| text == open);
        assert_eq!(learned, kind == "knowledge", "{case}: {texts:?}");
    }
}

#[test]
fn signals_in_envelopes_of_hook_events_are_ignored() {
    for host in AgentProgram::with_hooks().filter(|host| host.transcripts().is_some()) {
        let project = Project::new();
        for (n, hook_spec) in host.hook_specs().iter().enumerate() {
            for by_transcript in [false, true] {
                let case = format!("{host:?} {} {by_transcript}", hook_spec.event);
                let open = format!("open {n} {by_transcript}");
                let session = format!("s{n}{by_transcript}");
                let path = transcript_path(&project, host, &session);
                call(
                    &project,
                    host.as_str(),
                    event_of(host, HookEventKind::SessionStart),
                    &session,
                    json!({"source": "startup", "transcript_path": path}),
                );
                let mut more = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x"});
                if by_transcript {
                    let transcript = transcript_text(
                        host,
                        project.path(),
                        &session,
                        &text_with_envelopes(&open),
                    );
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(&path, transcript).unwrap();
                    more["transcript_path"] = json!(path);
                } else {
                    more["last_assistant_message"] = json!(text_with_envelopes(&open));
                    more["prompt_response"] = json!(text_with_envelopes(&open));
                }
                call(
                    &project,
                    host.as_str(),
                    hook_spec.event,
                    &session,
                    more.clone(),
                );
                let end_event =
                    json!({"transcript_path": more["transcript_path"].clone(), "reason": "x"});
                let end = event_of(host, HookEventKind::SessionEnd);
                call(&project, host.as_str(), end, &session, end_event);
                let texts = project.list("knowledge");
                assert!(
                    !Value::from(texts.clone()).to_string().contains("fenced"),
                    "{case}"
                );
                let is_learned = texts.iter().any(|one| one["text"] == *open);
                assert!(is_learned || !by_transcript, "{case}: {texts:?}");
                assert_eq!(project.list("error"), Vec::<Value>::new(), "{case}");
            }
        }
    }
}

#[test]
fn signals_in_envelopes_of_imported_transcripts_are_ignored() {
    for (host, format) in [
        (AgentProgram::ClaudeCode, "claude"),
        (AgentProgram::Codex, "codex"),
        (AgentProgram::Gemini, "gemini"),
        (AgentProgram::Opencode, "opencode"),
    ] {
        let project = Project::new();
        let path = transcript_path(&project, host, "s");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(
            &path,
            transcript_text(host, project.path(), "s", &text_with_envelopes("open")),
        )
        .unwrap();
        project.ok(&["import", format]);
        assert_only_open_signal_learned(&project, "open", format);
    }
    let project = Project::new();
    let aider = format!(
        "# aider chat started at 2026-04-01 10:00:00\n\n#### ask aider\n\n{}\n",
        text_with_envelopes("open")
    );
    project
        .folder
        .write(".aider.chat.history.md", aider)
        .unwrap();
    project.ok(&["import", "aider"]);
    assert_only_open_signal_learned(&project, "open", "aider");
}

#[test]
fn signals_in_envelopes_of_observed_output_are_ignored() {
    let text = text_with_envelopes("open");
    let rows = [
        ("text", text.clone()),
        ("auto", text.clone()),
        (
            "claude-stream",
            json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": text}]}}).to_string(),
        ),
        (
            "codex-json",
            json!({"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": text}}).to_string(),
        ),
        (
            "gemini-stream",
            json!({"type": "message", "role": "assistant", "content": text}).to_string(),
        ),
    ];
    for (format, output) in rows {
        let project = Project::new();
        let answer = project.input(
            &["observe", "--format", format],
            format!("{output}\n").as_bytes(),
        );
        assert_eq!(answer.code, 0, "{format} {answer:?}");
        assert_only_open_signal_learned(&project, "open", format);
        let project = Project::new();
        project.folder.write("said", format!("{output}\n")).unwrap();
        if format == "text" {
            project.ok(&sh("run --iterations 1 -- cat said"));
            assert_only_open_signal_learned(&project, "open", "run");
        }
    }
}

#[test]
fn signals_after_a_sidechain_belong_to_the_main_agent() {
    let project = Project::new();
    let line = |n: usize, is_sidechain: bool, text: &str| {
        json!({"type": "assistant", "uuid": format!("u{n}"), "isSidechain": is_sidechain, "cwd": project.path(), "sessionId": "s",
            "timestamp": "2026-04-01T10:00:00Z",
            "message": {"role": "assistant", "content": [{"type": "text", "text": format!("HEIRLOOM_MEMORY: KEY_FACT {text}")}]}})
        .to_string()
            + "\n"
    };
    let text = line(0, false, "of main")
        + &line(1, true, "of the subagent")
        + &line(2, false, "of main again");
    let path = transcript_path(&project, AgentProgram::ClaudeCode, "s");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    project.ok(&["import", "claude"]);
    let list = project.list("knowledge");
    assert_eq!(list.len(), 3, "{list:?}");
    for record in &list {
        let is_subagent = record["text"] == "of the subagent";
        assert_eq!(record["agent"] == "subagent", is_subagent, "{record}");
    }
    assert_eq!(CLAUDE, "claude-code");
}
