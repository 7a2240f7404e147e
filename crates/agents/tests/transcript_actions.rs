//! Tests of what transcripts show about edits, plans, queued prompts and summaries.
#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, and looks at one kind of event"
)]

use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{
    EventBody, FileEdit, PlanItem, SupersededLineScan, ToolAction, ToolOutcome, TranscriptLines,
};
use serde_json::{Value, json};

/// Returns the events of a file.
fn events(program: AgentProgram, file: &str) -> Vec<EventBody> {
    let mut scan = SupersededLineScan::new(program);
    each_line(file, &mut |at, line| scan.read_line(at, line));
    let mut reader = scan.into_reader();
    let mut events = Vec::new();
    each_line(file, &mut |at, line| {
        reader.read_line(at, line, &mut |event| events.push(event.body));
    });
    reader.finish(&mut |event| events.push(event.body));
    events
}

fn each_line(file: &str, on: &mut dyn FnMut(u64, &[u8])) {
    let mut lines = TranscriptLines::new(file.as_bytes(), 0);
    while let Some(line) = lines.next_line().unwrap() {
        on(line.at, line.bytes.unwrap());
    }
}

fn file_of(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the actions of all calls.
fn actions(program: AgentProgram, lines: &[Value]) -> Vec<ToolAction> {
    let calls = events(program, &file_of(lines)).into_iter();
    calls
        .filter_map(|body| match body {
            EventBody::Call { action, .. } => Some(action),
            _ => None,
        })
        .collect()
}

fn edit(path: &str, removed: &str, added: &str) -> ToolAction {
    ToolAction::Edit(vec![FileEdit {
        path: path.to_owned(),
        removed: removed.to_owned(),
        added: added.to_owned(),
    }])
}

fn plan(items: &[(&str, bool)]) -> ToolAction {
    let item = |(text, is_done): &(&str, bool)| PlanItem {
        text: (*text).to_owned(),
        is_done: *is_done,
    };
    ToolAction::Plan(items.iter().map(item).collect())
}

fn claude_call(call: &str, tool: &str, input: Value) -> Value {
    json!({"type": "assistant", "uuid": format!("a{call}"), "sessionId": "s", "message": {
        "id": format!("m{call}"), "content": [{"type": "tool_use", "id": call, "name": tool, "input": input}]}})
}

fn claude_result(call: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": format!("r{call}"), "sessionId": "s", "message": {
        "content": [{"type": "tool_result", "tool_use_id": call, "content": text}]}})
}

fn claude_prompt(text: &str) -> Value {
    json!({"type": "user", "uuid": text, "sessionId": "s", "message": {"content": text}})
}

#[test]
fn claude_edits_have_changed_lines() {
    let found = actions(
        AgentProgram::ClaudeCode,
        &[
            claude_call(
                "1",
                "Edit",
                json!({"file_path": "a.toml", "old_string": "[x]\na = 1", "new_string": "[x]\na = 2\nb = 3"}),
            ),
            claude_call(
                "2",
                "Write",
                json!({"file_path": "b.txt", "content": "one\ntwo\n"}),
            ),
            claude_call(
                "3",
                "MultiEdit",
                json!({"file_path": "c.rs", "edits": [
                {"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]}),
            ),
            claude_call(
                "4",
                "NotebookEdit",
                json!({"notebook_path": "n.ipynb", "new_source": "x = 1"}),
            ),
            claude_call(
                "5",
                "TodoWrite",
                json!({"todos": [
                {"content": "write the parser", "status": "completed", "activeForm": "Writing"},
                {"content": "run the tests", "status": "in_progress", "activeForm": "Running"}]}),
            ),
        ],
    );
    assert_eq!(
        found,
        [
            edit("a.toml", "a = 1", "a = 2\nb = 3"),
            edit("b.txt", "", "one\ntwo"),
            edit("c.rs", "a\nc", "b\nd"),
            edit("n.ipynb", "", "x = 1"),
            plan(&[("write the parser", true), ("run the tests", false)]),
        ]
    );
}

#[test]
fn claude_task_list_is_whole_after_each_change() {
    let lines = [
        claude_call(
            "1",
            "TaskCreate",
            json!({"subject": "first", "description": "x"}),
        ),
        claude_result("1", "Task #1 created successfully: first"),
        claude_call("2", "TaskCreate", json!({"subject": "second"})),
        claude_result("2", "Task #2 created successfully: second"),
        claude_call(
            "3",
            "TaskUpdate",
            json!({"taskId": "1", "status": "completed"}),
        ),
        claude_call(
            "4",
            "TaskUpdate",
            json!({"taskId": "2", "subject": "third"}),
        ),
        claude_call(
            "5",
            "TaskUpdate",
            json!({"taskId": "1", "status": "deleted"}),
        ),
    ];
    let expected = [
        plan(&[("first", false)]),
        plan(&[("first", false), ("second", false)]),
        plan(&[("first", true), ("second", false)]),
        plan(&[("first", true), ("third", false)]),
        plan(&[("third", false)]),
    ];
    assert_eq!(actions(AgentProgram::ClaudeCode, &lines), expected);

    // An import that continues in the middle of the file knows the earlier items.
    let file = file_of(&lines);
    let mut scan = SupersededLineScan::new(AgentProgram::ClaudeCode);
    each_line(&file, &mut |at, line| scan.read_line(at, line));
    let mut reader = scan.into_reader();
    let mut last = None;
    each_line(&file, &mut |at, line| {
        if line.starts_with(lines[6].to_string().as_bytes()) {
            reader.read_line(at, line, &mut |event| last = Some(event.body));
        }
    });
    assert!(
        matches!(&last, Some(EventBody::Call { action, .. }) if *action == expected[4]),
        "{last:?}"
    );
}

#[test]
fn claude_answers_that_a_person_typed_are_prompts() {
    let answer = |answers: Value| {
        let mut line = claude_result("1", "User has answered your questions");
        line["toolUseResult"] = json!({"answers": answers, "questions": [
            {"options": [{"label": "Yes"}, {"label": "Only the index"}, {"label": "Only"}]}]});
        events(AgentProgram::ClaudeCode, &file_of(&[line]))
            .into_iter()
            .filter_map(|body| match body {
                EventBody::Prompt(text) => Some(text),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    for (answers, typed) in [
        (json!({"Go on?": "Yes"}), vec![]),
        (json!({"Go on?": "Yes, Only the index"}), vec![]),
        (
            json!({"Go on?": "never drop the index"}),
            vec!["never drop the index"],
        ),
        (
            json!({"a": "no", "b": "Yes", "c": "use b"}),
            vec!["no\nuse b"],
        ),
        (json!("Yes"), vec![]),
    ] {
        assert_eq!(answer(answers.clone()), typed, "{answers}");
    }
}

#[test]
fn claude_commands_for_the_shell_are_calls() {
    let mut output = claude_prompt("<bash-stdout>on main</bash-stdout><bash-stderr></bash-stderr>");
    output["parentUuid"] = json!("in");
    let mut input = claude_prompt("<bash-input>git switch main</bash-input>");
    input["uuid"] = json!("in");
    let found = events(AgentProgram::ClaudeCode, &file_of(&[input, output]));
    let [
        EventBody::Call { call, action, .. },
        EventBody::Result {
            call: answered,
            text,
            ..
        },
    ] = found.as_slice()
    else {
        panic!("{found:?}");
    };
    assert_eq!((call, text.as_str()), (answered, "on main"));
    assert_eq!(*action, ToolAction::Command("git switch main".to_owned()));
}

#[test]
fn gemini_answers_to_calls_are_no_prompts() {
    let line = |content: Value, display: Value| json!({"id": "a", "type": "user", "content": content, "displayContent": display});
    let response =
        json!({"functionResponse": {"name": "write_file", "response": {"output": "ok"}}});
    for (content, display, count) in [
        (json!([{"text": "Fix it"}]), Value::Null, 1),
        (
            json!([response.clone(), {"text": "Successfully modified file: a.py"}]),
            Value::Null,
            0,
        ),
        (
            json!([{"text": "Successfully modified file: a.py"}]),
            json!([response.clone()]),
            0,
        ),
        (json!([response]), Value::Null, 0),
    ] {
        let found = events(
            AgentProgram::Gemini,
            &file_of(&[line(content.clone(), display)]),
        );
        assert_eq!(found.len(), count, "{content}");
    }
}

#[test]
fn claude_queued_prompts_are_read_once() {
    let queue = |operation: &str, text: &str| {
        json!({"type": "queue-operation", "operation": operation, "content": text,
            "timestamp": "2026-05-01T10:00:00Z", "sessionId": "s"})
    };
    let attached = json!({"type": "attachment", "uuid": "q", "sessionId": "s",
        "attachment": {"type": "queued_command", "prompt": "attached", "commandMode": "prompt"}});
    let prompts = |lines: &[Value]| {
        let all = events(AgentProgram::ClaudeCode, &file_of(lines)).into_iter();
        all.filter_map(|body| match body {
            EventBody::Prompt(text) => Some(text),
            _ => None,
        })
        .collect::<Vec<_>>()
    };
    for (lines, expected) in [
        (
            vec![queue("enqueue", "use tabs"), queue("remove", "")],
            vec!["use tabs"],
        ),
        (
            vec![
                queue("enqueue", "use tabs"),
                queue("dequeue", ""),
                claude_prompt("use tabs"),
            ],
            vec!["use tabs"],
        ),
        (
            vec![
                claude_prompt("go on"),
                queue("enqueue", "go on"),
                queue("remove", ""),
            ],
            vec!["go on", "go on"],
        ),
        (
            vec![
                queue("enqueue", "draft"),
                queue("popAll", ""),
                claude_prompt("final"),
            ],
            vec!["final"],
        ),
        (vec![queue("enqueue", "waits")], vec![]),
        (
            vec![
                queue("enqueue", "<task-notification>x"),
                queue("remove", ""),
            ],
            vec![],
        ),
        (
            vec![queue("enqueue", "attached"), queue("remove", ""), attached],
            vec!["attached"],
        ),
    ] {
        assert_eq!(prompts(&lines), expected, "{lines:?}");
    }
}

#[test]
fn codex_patches_and_plans_have_content() {
    let item = |payload: Value| json!({"type": "response_item", "payload": payload});
    let patch = "*** Begin Patch\n*** Update File: a.toml\n@@\n-a = 1\n+a = 2\n*** End Patch";
    let shell = json!({"command": ["bash", "-lc", format!("apply_patch <<'EOF'\n{patch}\nEOF")]});
    let plan_call = json!({"explanation": "x", "plan": [
        {"step": "find the cause", "status": "completed"}, {"step": "fix it", "status": "pending"}]});
    let found = actions(
        AgentProgram::Codex,
        &[
            item(
                json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "1", "input": patch}),
            ),
            item(
                json!({"type": "function_call", "name": "shell", "call_id": "2", "arguments": shell.to_string()}),
            ),
            item(
                json!({"type": "function_call", "name": "update_plan", "call_id": "3", "arguments": plan_call.to_string()}),
            ),
        ],
    );
    assert_eq!(
        found,
        [
            edit("a.toml", "a = 1", "a = 2"),
            edit("a.toml", "a = 1", "a = 2"),
            plan(&[("find the cause", true), ("fix it", false)]),
        ]
    );
    let handover = "Another language model started to solve this problem and produced a summary.\nThe port was taken.";
    let lines = [
        json!({"type": "compacted", "payload": {"message": "", "replacement_history": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": handover}]}]}}),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs"}}),
    ];
    assert_eq!(
        events(AgentProgram::Codex, &file_of(&lines)),
        [EventBody::Summary("The port was taken.".to_owned())]
    );
}

#[test]
fn gemini_edits_plans_and_snapshots_are_read() {
    let calls = json!([
        {"id": "1", "name": "replace", "args": {"file_path": "a.ts", "old_string": "x", "new_string": "y"}, "status": "success"},
        {"id": "2", "name": "write_file", "args": {"file_path": "b.ts", "content": "z"}, "status": "success"},
        {"id": "3", "name": "write_todos", "args": {"todos": [
            {"description": "one", "status": "completed"}, {"description": "two", "status": "cancelled"}]}, "status": "success"},
    ]);
    let lines = [
        json!({"id": "m1", "type": "user", "content": "<state_snapshot>\ngoal\n</state_snapshot>"}),
        json!({"id": "m2", "type": "gemini", "content": "", "toolCalls": calls}),
    ];
    assert_eq!(
        actions(AgentProgram::Gemini, &lines),
        [
            edit("a.ts", "x", "y"),
            edit("b.ts", "", "z"),
            plan(&[("one", true)])
        ]
    );
    let first = events(AgentProgram::Gemini, &file_of(&lines)).remove(0);
    assert!(matches!(first, EventBody::Summary(_)), "{first:?}");
}

#[test]
fn aider_edits_and_test_outcomes_are_read() {
    let block = "I fix it.\n\nsrc/a.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n";
    let file = format!(
        "# aider chat started at 2026-05-01 10:00:00\n\n#### /test pytest\n\n> 1 failed\n> Added 1 lines of output to the chat.\n\n#### fix it\n\n{block}\n> Applied edit to src/a.py\n> Applied edit to src/b.py\n\n#### /test pytest\n\n> 1 passed\n"
    );
    let found = events(AgentProgram::Aider, &file);
    let outcomes: Vec<ToolOutcome> = (found.iter())
        .filter_map(|body| match body {
            EventBody::Result { outcome, .. } => Some(*outcome),
            _ => None,
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ToolOutcome::Failed,
            ToolOutcome::Succeeded,
            ToolOutcome::Succeeded
        ]
    );
    assert!(found.iter().any(
        |body| matches!(body, EventBody::Call { action, .. } if *action == edit("src/a.py", "x = 1", "x = 2"))
    ));
    assert!(found.contains(&EventBody::FileChanged("src/b.py".to_owned())));
}

#[test]
fn gemini_results_of_tools_are_no_prompts() {
    let result = json!({"functionResponse": {"name": "replace", "response": {"output": "Successfully modified file: a.py"}}});
    let lines = [
        json!({"sessionId": "s", "projectHash": "p", "startTime": "2026-03-01T10:00:00Z", "lastUpdated": "2026-03-01T10:00:00Z"}),
        json!({"id": "m1", "type": "user", "content": [{"text": "Fix a.py"}]}),
        json!({"id": "m2", "type": "user", "content": [result]}),
    ];
    let prompts: Vec<String> = events(AgentProgram::Gemini, &file_of(&lines))
        .into_iter()
        .filter_map(|body| match body {
            EventBody::Prompt(prompt) => Some(prompt),
            _ => None,
        })
        .collect();
    assert_eq!(prompts, ["Fix a.py"]);
}
