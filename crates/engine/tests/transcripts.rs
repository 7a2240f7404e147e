//! Tests of transcript parsers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{
    EventBody, HeaderReader, SupersededLineScan, ToolAction, ToolOutcome, TranscriptEvent,
    TranscriptHeader, TranscriptLines, call_line, preview,
};
use heirloom_model::event_stream::Usage;
use heirloom_model::limits;
use proptest::prelude::*;
use std::io::{BufReader, Read};

/// Returns all events of a file.
fn read_events(agent: AgentProgram, file: &str) -> Vec<TranscriptEvent> {
    let mut survey = SupersededLineScan::new(agent);
    each(file, &mut |at, line| survey.read_line(at, line));
    let mut reader = survey.into_reader();
    let mut out = Vec::new();
    each(file, &mut |at, line| {
        reader.read_line(at, line, &mut |one| out.push(one));
    });
    reader.finish(&mut |one| out.push(one));
    out
}

fn each(file: &str, on: &mut dyn FnMut(u64, &[u8])) {
    let mut lines = TranscriptLines::new(file.as_bytes(), 0);
    while let Some(line) = lines.next_line().unwrap() {
        on(line.at, line.bytes.unwrap());
    }
}

/// Returns the events in a short notation.
fn short(agent: AgentProgram, file: &str) -> Vec<String> {
    let reported = read_events(agent, file).into_iter();
    reported
        .map(|one| {
            let who = one
                .agent
                .map(|agent| format!("{agent}: "))
                .unwrap_or_default();
            let what = match one.body {
                EventBody::ConversationStart(name) => format!("begins {name}"),
                EventBody::Prompt(rendered) => format!("prompt {rendered}"),
                EventBody::AbandonedPrompt(rendered) => format!("abandoned {rendered}"),
                EventBody::AssistantText(rendered) => format!("said {rendered}"),
                EventBody::Summary(rendered) => format!("summary {rendered}"),
                EventBody::Call { call, tool, action } => match action {
                    ToolAction::Command(command) => format!("{call} {tool} runs {command}"),
                    ToolAction::Edit(edits) => {
                        let paths: Vec<&str> = edits.iter().map(|edit| &*edit.path).collect();
                        format!("{call} {tool} edits {}", paths.join(" "))
                    }
                    ToolAction::Plan(items) => format!("{call} {tool} plans {}", items.len()),
                    ToolAction::Other(rendered) => format!("{call} {tool} {rendered}"),
                },
                EventBody::Result {
                    call,
                    outcome,
                    text,
                } => format!("{call} {outcome:?} {text}"),
                EventBody::FileChanged(file) => format!("changed {file}"),
                EventBody::TokenUsage(Usage {
                    input,
                    cached,
                    output,
                }) => format!("used {input} {cached} {output}"),
            };
            format!("{who}{what}")
        })
        .collect()
}

fn head(agent: AgentProgram, file: &str) -> Option<TranscriptHeader> {
    let mut reader = HeaderReader::new(agent);
    file.split('\n')
        .all(|line| reader.read_line(line.as_bytes()));
    reader.finish()
}

/// Builds a line of Claude Code: id, parent, type, and further fields.
fn claude(name: &str, parent: &str, kind: &str, rest: &str) -> String {
    let parent = match parent {
        "" => "null".to_owned(),
        parent => format!("\"{parent}\""),
    };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"cwd\":\"/p\",\"sessionId\":\"s\",\"type\":\"{kind}\",\"uuid\":\"{name}\",\"timestamp\":\"2026-05-01T10:00:00.000Z\",{rest}}}\n"
    )
}

fn user(name: &str, parent: &str, rendered: &str) -> String {
    let content = serde_json::to_string(rendered).unwrap();
    claude(
        name,
        parent,
        "user",
        &format!("\"message\":{{\"role\":\"user\",\"content\":{content}}}"),
    )
}

fn answer(name: &str, parent: &str, id: &str, block: &str) -> String {
    let message = format!(
        "\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"content\":[{block}],\"usage\":{{\"input_tokens\":1,\"cache_creation_input_tokens\":2,\"cache_read_input_tokens\":10,\"output_tokens\":5}}}}"
    );
    claude(name, parent, "assistant", &message)
}

fn text(rendered: &str) -> String {
    format!(
        "{{\"type\":\"text\",\"text\":{}}}",
        serde_json::to_string(rendered).unwrap()
    )
}

fn bash(call: &str, command: &str) -> String {
    format!(
        "{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{command}\"}}}}"
    )
}

fn result(name: &str, parent: &str, call: &str, rendered: &str, failed: bool) -> String {
    let content = format!(
        "\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{call}\",\"content\":\"{rendered}\",\"is_error\":{failed}}}]}},\"toolUseResult\":\"{rendered}\""
    );
    claude(name, parent, "user", &content)
}

#[test]
fn claude_lines_of_one_answer_are_joined() {
    let file = [
        user("u1", "", "do it"),
        answer("a1", "u1", "m1", &text("First.")),
        answer("a2", "a1", "m1", &text("Second.")),
        answer("a3", "a2", "m1", &bash("c1", "make")),
        result("r1", "a3", "c1", "Exit code 2\\nerror: x", true),
        answer("a4", "r1", "m2", &text("Done.")),
    ]
    .concat();
    assert_eq!(
        short(AgentProgram::ClaudeCode, &file),
        [
            "prompt do it",
            "said First.\nSecond.",
            "c1 Bash runs make",
            "used 3 10 5",
            "c1 Failed Exit code 2\nerror: x",
            "said Done.",
            "used 3 10 5",
        ]
    );
}

#[test]
fn claude_abandoned_branches_are_left_out() {
    let file = [
        user("u1", "", "one"),
        answer("a1", "u1", "m1", &text("wrong way")),
        user("u2", "a1", "that is wrong"),
        // Back to the prompt of the first answer.
        answer("a2", "u1", "m2", &text("right way")),
        answer("a3", "a2", "m2", &bash("c1", "one")),
        answer("a4", "a3", "m2", &bash("c2", "two")),
        // Results of parallel tools follow their own calls.
        result("r1", "a3", "c1", "1", false),
        result("r2", "a4", "c2", "2", false),
        user("u3", "r2", "go on"),
    ]
    .concat();
    let rendered = short(AgentProgram::ClaudeCode, &file);
    assert_eq!(
        rendered
            .iter()
            .filter(|one| !one.starts_with("used"))
            .collect::<Vec<_>>(),
        [
            "prompt one",
            "abandoned that is wrong",
            "said right way",
            "c1 Bash runs one",
            "c2 Bash runs two",
            "c1 Succeeded 1",
            "c2 Succeeded 2",
            "prompt go on",
        ]
    );
}

#[test]
fn claude_lines_before_compaction_stay() {
    let boundary = claude(
        "b",
        "",
        "system",
        "\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"u1\"",
    );
    let summary = claude(
        "s",
        "b",
        "user",
        "\"isCompactSummary\":true,\"message\":{\"role\":\"user\",\"content\":\"we did much\"}",
    );
    // Without a logical parent it is a separate tree.
    for boundary in [
        boundary.clone(),
        boundary.replace("logicalParentUuid", "other"),
    ] {
        let file = [
            user("u1", "", "one"),
            boundary,
            summary.clone(),
            user("u2", "s", "two"),
        ]
        .concat();
        assert_eq!(
            short(AgentProgram::ClaudeCode, &file),
            ["prompt one", "summary we did much", "prompt two"]
        );
    }
}

#[test]
fn claude_prompts_are_only_from_persons() {
    for injected in [
        "<command-name>/clear</command-name>",
        "<local-command-stdout></local-command-stdout>",
        "<system-reminder>x</system-reminder>",
        "<task-notification>x",
        "Caveat: The messages below were generated by the user while running local commands.",
        "[Request interrupted by user]",
    ] {
        assert_eq!(
            short(AgentProgram::ClaudeCode, &user("u", "", injected)),
            Vec::<String>::new(),
            "{injected}"
        );
    }
    let meta = claude(
        "u",
        "",
        "user",
        "\"isMeta\":true,\"message\":{\"content\":\"x\"}",
    );
    assert_eq!(short(AgentProgram::ClaudeCode, &meta), Vec::<String>::new());
    let stopped = result(
        "r",
        "",
        "c",
        "The user doesn't want to proceed with this",
        true,
    );
    assert!(matches!(
        &read_events(AgentProgram::ClaudeCode, &stopped)[0].body,
        EventBody::Result {
            outcome: ToolOutcome::Rejected,
            ..
        }
    ));
}

#[test]
fn claude_subagents_have_names() {
    let line = user("u", "", "look").replace("\"cwd\"", "\"agentId\":\"a7\",\"cwd\"");
    assert_eq!(short(AgentProgram::ClaudeCode, &line), ["a7: prompt look"]);
    let found = head(AgentProgram::ClaudeCode, &line).unwrap();
    assert_eq!(
        (found.agent.as_deref(), found.folder.as_deref()),
        (Some("a7"), Some("/p"))
    );
    let aside = user("u", "", "look").replace("\"isSidechain\":false", "\"isSidechain\":true");
    assert_eq!(
        short(AgentProgram::ClaudeCode, &aside),
        ["subagent: prompt look"]
    );
}

/// Builds a line of Codex.
fn codex(kind: &str, payload: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-05-01T10:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
    )
}

#[test]
fn codex_rollout_is_parsed() {
    let file = [
        codex("session_meta", r#"{"id":"x","timestamp":"2026-05-01T09:59:00Z","cwd":"/p"}"#),
        codex("response_item", r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#),
        codex("event_msg", r##"{"type":"user_message","message":"# Context from my IDE setup:\n\n## My request for Codex:\nhi\n"}"##),
        codex("response_item", r#"{"type":"reasoning","summary":[]}"#),
        codex("response_item", r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"make\"]}","call_id":"c1"}"#),
        codex("response_item", r#"{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"no rule\",\"metadata\":{\"exit_code\":2}}"}"#),
        codex("response_item", r#"{"type":"custom_tool_call","name":"apply_patch","call_id":"c2","input":"*** Begin Patch\n*** Update File: a.rs\n*** Add File: b.rs\n"}"#),
        codex("response_item", r#"{"type":"custom_tool_call_output","call_id":"c2","output":"Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess"}"#),
        codex("response_item", r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c3"}"#),
        codex("response_item", r#"{"type":"function_call_output","call_id":"c3","output":"Process exited with code 1\nOutput:\nnothing"}"#),
        codex("event_msg", r#"{"type":"agent_message","message":"Done."}"#),
        codex("response_item", r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}"#),
        codex("event_msg", r#"{"type":"token_count","info":{"last_token_usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}}"#),
        codex("compacted", r#"{"message":"so far"}"#),
    ]
    .concat();
    assert_eq!(
        short(AgentProgram::Codex, &file),
        [
            "prompt hi",
            "c1 shell runs make",
            "c1 Failed no rule",
            "c2 apply_patch edits a.rs b.rs",
            "c2 Succeeded Success",
            "c3 exec_command runs ls",
            "c3 Failed nothing",
            "said Done.",
            "used 5 4 2",
            "summary so far",
        ]
    );
    let found = head(AgentProgram::Codex, &file).unwrap();
    assert_eq!(
        (found.session.as_deref(), found.folder.as_deref()),
        (Some("x"), Some("/p"))
    );
}

#[test]
fn codex_rolled_back_turns_are_left_out() {
    let prompt = |rendered: &str| {
        codex(
            "event_msg",
            &format!(r#"{{"type":"user_message","message":"{rendered}"}}"#),
        )
    };
    let file = [
        prompt("one"),
        prompt("two"),
        prompt("three"),
        codex(
            "event_msg",
            r#"{"type":"thread_rolled_back","num_turns":2}"#,
        ),
        prompt("four"),
    ]
    .concat();
    assert_eq!(
        short(AgentProgram::Codex, &file),
        [
            "prompt one",
            "abandoned two",
            "abandoned three",
            "prompt four"
        ]
    );
}

#[test]
fn gemini_chat_as_lines_and_as_one_object() {
    let first =
        r#"{"id":"m2","timestamp":"2026-05-01T10:00:01Z","type":"gemini","content":"I look."}"#;
    let call = r#"{"id":"t1","name":"run_shell_command","args":{"command":"npm test"},"status":"success","result":[{"functionResponse":{"id":"t1","name":"run_shell_command","response":{"output":"Output: failing\nExit Code: 1"}}}]},{"id":"t2","name":"replace","args":{"file_path":"a.ts"},"status":"error","result":[{"functionResponse":{"response":{"error":"no match"}}}]}"#;
    let updated = first.replace(
        '}',
        &format!(",\"toolCalls\":[{call}],\"tokens\":{{\"input\":7,\"cached\":2,\"output\":3}}}}"),
    );
    let lines = [
        r#"{"sessionId":"g","projectHash":"ab","startTime":"2026-05-01T10:00:00Z"}"#,
        r#"{"id":"m0","type":"user","content":"/help"}"#,
        r#"{"id":"m1","type":"user","content":[{"text":"fix it"}]}"#,
        first,
        r#"{"$set":{"lastUpdated":"x"}}"#,
        &updated,
        r#"{"id":"m3","type":"user","content":"no"}"#,
        r#"{"$rewindTo":"m3"}"#,
        r#"{"id":"m4","type":"info","content":"cancelled"}"#,
    ];
    let expected = [
        "prompt fix it",
        "said I look.",
        "t1 run_shell_command runs npm test",
        "t1 Failed Output: failing\nExit Code: 1",
        "t2 replace edits a.ts",
        "t2 Failed no match",
        "used 5 2 3",
    ];
    let mut of_lines = short(AgentProgram::Gemini, &lines.join("\n"));
    assert_eq!(of_lines.pop().as_deref(), Some("abandoned no"));
    assert_eq!(of_lines, expected);
    let whole = format!(
        "{{\"sessionId\":\"g\",\"projectHash\":\"ab\",\"messages\":[{},{updated}]}}",
        lines[2]
    );
    assert_eq!(short(AgentProgram::Gemini, &whole), expected);
    let set = [
        lines[2],
        &format!("{{\"$set\":{{\"messages\":[{},{updated}]}}}}", lines[2]),
    ]
    .join("\n");
    assert_eq!(short(AgentProgram::Gemini, &set), expected);
    let found = head(AgentProgram::Gemini, &lines.join("\n")).unwrap();
    assert_eq!(
        (found.session.as_deref(), found.folder_hash.as_deref()),
        (Some("g"), Some("ab"))
    );
}

#[test]
fn aider_history_is_parsed() {
    let file = "\n# aider chat started at 2026-05-01 10:00:00\n\n> Aider v0.86\n> Main model: x\n\n#### fix the test  \n#### please\n\nI will change it.\n\n> not really\n\n> Applied edit to src/a.py\n\n#### /run pytest\n\n> 1 failed\n\n#### /add x.py\n\n# aider chat started at 2026-05-02 10:00:00\n\n#### again\n";
    assert_eq!(
        short(AgentProgram::Aider, file),
        [
            "begins aider-2026-05-01-10-00-00",
            "prompt fix the test\nplease",
            "said I will change it.",
            "changed src/a.py",
            "19 run runs pytest"
                .replace("19", &file.find("#### /run").unwrap().to_string())
                .as_str(),
            format!("{} Rejected 1 failed", file.find("#### /run").unwrap()).as_str(),
            "begins aider-2026-05-02-10-00-00",
            "prompt again",
        ]
    );
}

#[test]
fn any_input_is_accepted() {
    let odd = [
        "",
        "null\n[]\n1\n\"x\"\n{}\n{",
        "{\"type\":\"user\"}\n{\"type\":\"user\",\"message\":7}\n{\"type\":\"assistant\",\"message\":{\"content\":7}}",
        "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"a\",\"message\":{\"content\":\"\\ud83d cut\"}}",
        "{\"id\":7}\n{\"id\":\"a\"}\n{\"$rewindTo\":\"b\"}\n{\"$set\":{\"messages\":[7,{}]}}",
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"arguments\":7}}",
        "{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\",\"num_turns\":99}}",
        "#### \u{fffd}\n> \n>\n####",
    ];
    for agent in AgentProgram::ALL {
        for file in odd {
            read_events(agent, file);
            head(agent, file);
        }
    }
    // A lone surrogate does not lose the rest.
    let cut = "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"\\ud83d cut\"}}";
    assert!(short(AgentProgram::ClaudeCode, cut)[0].ends_with(" cut"));
}

/// Found by fuzzing: an answer without an id had a usage event without an id.
#[test]
fn every_event_has_id() {
    let nameless = answer("a1", "", "", "{}").replace("\"uuid\":\"a1\",", "");
    let all = read_events(AgentProgram::ClaudeCode, &nameless);
    assert_eq!(all.len(), 1);
    assert!(!all[0].id.is_empty());
}

#[test]
fn lines_over_limit_are_skipped_without_buffering() {
    let most = limits::TRANSCRIPT_LINE_BYTES_MAX as u64;
    let mut file = Vec::new();
    std::io::repeat(b'a')
        .take(most)
        .read_to_end(&mut file)
        .unwrap();
    file.push(b'\n');
    let long = std::io::repeat(b'b').take(most + 1);
    let bytes = file.as_slice().chain(long).chain("\nc\nd".as_bytes());
    let mut lines = TranscriptLines::new(BufReader::new(bytes), 0);
    let mut seen = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        seen.push((line.at, line.bytes.map(<[u8]>::len), line.is_whole));
    }
    assert_eq!(
        seen,
        [
            (0, Some(most as usize), true),
            (most + 1, None, true),
            (2 * most + 3, Some(1), true),
            (2 * most + 5, Some(1), false),
        ]
    );
}

#[test]
fn header_search_is_limited() {
    let most = limits::TRANSCRIPT_HEAD_BYTES_MAX;
    let line = user("u", "", "x");
    let filler = |bytes: usize| format!("{{\"type\":\"summary\",\"x\":\"{}\"}}", "y".repeat(bytes));
    let before = filler(most / 2);
    assert!(head(AgentProgram::ClaudeCode, &format!("{before}\n{line}")).is_some());
    assert!(
        head(
            AgentProgram::ClaudeCode,
            &format!("{before}\n{before}\n{line}")
        )
        .is_none()
    );
}

#[test]
fn preview_keeps_both_ends() {
    let most = limits::TRANSCRIPT_RESULT_CHARS_MAX;
    assert_eq!(preview(&"x".repeat(most), most).len(), most);
    let long = format!("first{}last", "x".repeat(most * 2));
    let retained = preview(&long, most);
    assert!(
        retained.starts_with("first")
            && retained.ends_with("last")
            && retained.contains("are not kept")
    );
    assert!(retained.chars().count() <= most + 60, "{}", retained.len());
    let called = call_line(&"y".repeat(1 << 20));
    assert_eq!(called.chars().count(), limits::TRANSCRIPT_CALL_CHARS_MAX);
}

/// Fragments of lines that resemble those of a program.
const PIECES: [&str; 16] = [
    "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"b\",\"sessionId\":\"s\",\"message\":{\"content\":\"x\"}}",
    "{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"y\"}]}}",
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"x\"}}",
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\",\"num_turns\":1}}",
    "{\"id\":\"a\",\"type\":\"user\",\"content\":\"x\"}",
    "{\"$rewindTo\":\"a\"}",
    "{\"$set\":{\"messages\":[{\"id\":\"b\",\"type\":\"user\",\"content\":\"x\"}]}}",
    "# aider chat started at 2026-05-01 10:00:00",
    "#### x",
    "> Applied edit to a",
    "words",
    "\n",
    "\n",
    "{",
    "\"",
    "\u{fffd}",
];

proptest! {
    /// Any content, read in any chunks, gives the same events and no panic.
    #[test]
    fn events_are_independent_of_read_sizes(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24),
        size in 1_usize..64,
    ) {
        let file = pieces.concat();
        for agent in AgentProgram::ALL {
            let whole = read_events(agent, &file);
            let mut lines = TranscriptLines::new(BufReader::with_capacity(size, file.as_bytes()), 0);
            let mut joined = String::new();
            while let Some(line) = lines.next_line().unwrap() {
                prop_assert_eq!(line.at, joined.len() as u64);
                joined.push_str(std::str::from_utf8(line.bytes.unwrap()).unwrap());
                joined.extend(line.is_whole.then_some('\n'));
            }
            prop_assert_eq!(&joined, &file);
            prop_assert!(whole.iter().all(|one| !one.id.is_empty()));
        }
    }
}
