//! Each compaction rule on a history made for it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_model::limits::{WINDOW_PLAN_CHARS_MAX, WINDOW_SUMMARY_IDS_MAX};
use heirloom_window::{
    CompactedWindow, Conversation, Policy, PolicyKeys, Profile, WindowState, WireFormat, compact,
};
use serde_json::{Value, json};

const GOAL: &str = "Find out why the parser loses the last line of a file.";

/// A chat that grows call by call.
struct Chat {
    messages: Vec<Value>,
    state: WindowState,
    policy: Policy,
}

impl Chat {
    fn new(policy: Policy) -> Self {
        Self {
            messages: vec![json!({"role": "user", "content": GOAL})],
            state: WindowState::default(),
            policy,
        }
    }

    fn call(&mut self, tool: &str, arguments: &str, output: &str) {
        let id = format!("call_{}", self.messages.len());
        self.messages
            .push(json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}]}));
        self.messages
            .push(json!({"role": "tool", "tool_call_id": id, "content": output}));
    }

    fn history(&self) -> Conversation {
        Conversation::parse(&Value::from(self.messages.clone()).to_string(), None).unwrap()
    }

    fn window(&mut self) -> CompactedWindow {
        let history = self.history();
        compact(&history, &self.policy, &mut self.state)
    }
}

fn content(message: &str) -> String {
    let message: Value = serde_json::from_str(message).unwrap();
    message["content"].as_str().unwrap_or_default().to_owned()
}

fn keys(toml: &str) -> Policy {
    toml::from_str::<PolicyKeys>(toml)
        .unwrap()
        .policy()
        .unwrap()
}

#[test]
fn anchor_follows_every_fifth_call_and_stays() {
    let mut chat = Chat::new(Policy::default());
    chat.messages.push(
        json!({"role": "assistant", "content": format!("My plan:\n{}", "look. ".repeat(200))}),
    );
    chat.messages.push(json!({"role": "user", "content": "ok"}));
    let mut before: Vec<String> = Vec::new();
    for nth in 1..=11 {
        chat.call("bash", "{}", "fine");
        let made = chat.window();
        assert!(made.messages.starts_with(&before), "{nth}");
        let anchors = made
            .messages
            .iter()
            .filter(|message| message.contains("TASK ANCHOR"))
            .count();
        assert_eq!(anchors, nth / 5);
        before = made.messages;
    }
    let anchor = content(&before[13]);
    let said = format!(
        "[TASK ANCHOR — Reminder] Your CURRENT GOAL is: \"{GOAL}\"\nYou have made 5 tool calls. \
         Stay focused. What is the next step?\nYour first plan: My plan: | look. look."
    );
    assert!(anchor.starts_with(&said), "{anchor}");
    let plan = anchor.split("first plan: ").nth(1).unwrap();
    assert_eq!(plan.chars().count(), WINDOW_PLAN_CHARS_MAX);
}

#[test]
fn injected_and_short_messages_do_not_set_goal() {
    for (said, is_goal) in [
        ("continue", false),
        (
            "<system-reminder>You have not used the todo list for a while now.</system-reminder>",
            false,
        ),
        (
            "This session is being continued from a previous conversation that ran out of context.",
            false,
        ),
        (
            "Now look at the printer instead of the parser, if you please.",
            true,
        ),
    ] {
        let mut chat = Chat::new(Policy::default());
        chat.messages
            .push(json!({"role": "assistant", "content": "ok"}));
        chat.messages.push(json!({"role": "user", "content": said}));
        for _ in 0..5 {
            chat.call("bash", "{}", "fine");
        }
        let anchor = chat.window().messages.pop().unwrap();
        assert_eq!(anchor.contains(GOAL), !is_goal, "{said}");
        assert_eq!(anchor.contains("printer"), is_goal, "{said}");
    }
}

#[test]
fn long_output_becomes_preview_by_tool_rule() {
    let policy = keys("[tools.'log_*']\nmax_length = 1000\npreview_length = 500");
    let mut chat = Chat::new(policy);
    for (tool, chars, most) in [
        ("bash", 4_000, None),
        ("bash", 4_001, Some(2_000)),
        ("Read", 8_000, None),
        ("cat", 8_001, Some(4_000)),
        ("db_query", 8_000, None),
        ("db_query", 9_000, Some(4_000)),
        ("log_tail", 1_001, Some(500)),
    ] {
        chat.call(tool, "{}", &"word ".repeat(2_000)[..chars]);
        let made = chat.window();
        let last = made
            .messages
            .iter()
            .rfind(|message| message.contains("tool_call_id"))
            .unwrap();
        let length = content(last).chars().count();
        match most {
            None => assert_eq!(length, chars, "{tool}"),
            Some(most) => assert!(length <= most && length > most / 2, "{tool}: {length}"),
        }
        if most.is_some() {
            let one = made.report.shortened.last().unwrap();
            let path = format!(
                "[full output: {}, {chars} chars, id {}]",
                one.name.as_ref().unwrap(),
                one.id
            );
            assert!(content(last).ends_with(&path), "{last}");
        }
    }
    assert_eq!(Policy::profile(Profile::Seed).lengths("bash"), (2_000, 400));
    assert_eq!(
        Policy::profile(Profile::Seed).lengths("db_query"),
        (8_000, 4_000)
    );
}

#[test]
fn old_outputs_become_stubs_except_critical() {
    let mut chat = Chat::new(Policy::default());
    chat.call("db_query", "{}", &"rows ".repeat(1_000));
    let (mut before, mut steps): (Vec<String>, usize) = (Vec::new(), 0);
    for nth in 0..30 {
        chat.call(
            "bash",
            "{}",
            &format!("{nth} error: none\n{}", "row ".repeat(900)),
        );
        let made = chat.window();
        let kept = before
            .iter()
            .zip(&made.messages)
            .take_while(|(a, b)| a == b)
            .count();
        assert_eq!(kept < before.len(), made.report.is_rewritten, "{nth}");
        if made.report.is_rewritten {
            steps += 1;
            assert_eq!(made.report.first_changed, Some(kept), "{nth}");
        }
        before = made.messages;
    }
    assert!((1..=4).contains(&steps), "{steps}");
    assert!(before[2].contains(&"rows ".repeat(1_000)));
    let stub = content(&before[4]);
    assert!(
        stub.starts_with("[Stale output from bash — compressed] 0 error: none"),
        "{stub}"
    );
    assert!(stub.contains(" chars, use bash if needed, id "), "{stub}");
    // The last message is whole.
    assert!(
        before
            .iter()
            .rev()
            .take(4)
            .any(|message| message.contains(&"row ".repeat(900)))
    );
}

/// Counts the stubs in a window.
fn stub_count(made: &CompactedWindow) -> usize {
    let stubs = made.messages.iter();
    stubs
        .filter(|one| one.contains("[Stale output from"))
        .count()
}

#[test]
fn profile_seed_makes_each_old_output_a_stub() {
    let window_of = |policy: &Policy, model: Option<&str>, rows: usize| {
        let output = |n: usize| format!("row {n} of the table\n").repeat(rows);
        let mut chat = Chat::new(policy.for_model(model).into_owned());
        let mut made = None;
        for n in 0..25 {
            chat.call("search", &json!({ "n": n }).to_string(), &output(n));
            made = Some(chat.window());
        }
        let input: usize = chat.messages.iter().map(|one| one.to_string().len()).sum();
        (made.unwrap(), input)
    };
    let seed = keys("profile = 'seed'");
    for model in [None, Some("claude-sonnet-4-5"), Some("gpt-5")] {
        // Outputs of 1,800 characters that are sent whole at first, and of 3,200 that are previews.
        for rows in [90, 160] {
            let (made, input) = window_of(&seed, model, rows);
            let length: usize = made.messages.iter().map(String::len).sum();
            assert!(length < input, "{length} of {input}");
            // 50 messages follow the goal: the outputs before the last 15 messages are stubs.
            assert_eq!(stub_count(&made), 17, "{model:?}");
        }
    }
    // A key that a person sets has precedence.
    let (made, _) = window_of(&keys("profile = 'seed'\nstep_min_tokens = 90000"), None, 90);
    assert_eq!(stub_count(&made), 0);
    let set = keys("profile = 'seed'\ncache_write = 1.25\nprices = ['gpt-5* 2 0.1 300 prefix']");
    assert_eq!((set.cache_write_mils, set.cache_read_mils), (1_250, 1_000));
    assert_eq!(set.for_model(Some("gpt-5")).cache_write_mils, 2_000);
}

#[test]
fn only_last_read_of_file_stays_whole() {
    let mut chat = Chat::new(Policy::default());
    for _ in 0..12 {
        chat.call(
            "Read",
            "{\"file_path\":\"/a/b.rs\"}",
            &"let a = b;\n".repeat(700),
        );
    }
    let made = chat.window();
    assert!(
        made.report
            .actions
            .iter()
            .any(|action| action.as_str() == "repeat"),
        "{:?}",
        made.report.actions
    );
    let whole = made
        .messages
        .iter()
        .filter(|message| content(message).len() > 7_000)
        .count();
    let stubs = made
        .messages
        .iter()
        .filter(|message| content(message).starts_with("[Stale"))
        .count();
    assert!(stubs >= 6 && whole + stubs == 12, "{whole} {stubs}");
}

#[test]
fn cold_cache_makes_step_free() {
    let run = |gap_s: i64| {
        let mut chat = Chat::new(Policy::default());
        for nth in 0..12_i64 {
            chat.call("bash", "{}", &"row ".repeat(300));
            let count = chat.messages.len();
            chat.messages[count - 2]["timestamp"] = json!(1_700_000_000 + nth);
        }
        chat.messages.push(
            json!({"role": "user", "content": "and now?", "timestamp": 1_700_000_011 + gap_s}),
        );
        let made = chat.window();
        (made.report.is_rewritten, made.report.shortened.len())
    };
    assert_eq!(run(299), (false, 0));
    let (stepped, stubs) = run(301);
    assert!(stepped && stubs >= 4, "{stubs}");
}

#[test]
fn summary_keeps_user_text_and_archive_ids() {
    let mut chat = Chat::new(Policy::default().with_target(6_000));
    for nth in 0..120 {
        chat.call(
            "bash",
            &format!("{{\"command\":\"sed -n 1p src/part_{nth}.rs\"}}"),
            &"row ".repeat(300),
        );
        if nth == 40 {
            chat.messages
                .push(json!({"role": "assistant", "content": "Which one?"}));
            chat.messages.push(json!({"role": "user", "content": "Take the second parser, the one in src/second.rs, please."}));
        }
        let made = chat.window();
        assert!(made.report.over_budget_reason.is_none());
        assert!(made.report.tokens_after <= 6_000);
    }
    let made = chat.window();
    let summary = content(&made.messages[0]);
    assert!(
        summary.starts_with("[CONVERSATION SUMMARY — Heirloom]"),
        "{summary}"
    );
    assert!(
        summary.contains(GOAL) && summary.contains("Tool calls so far: "),
        "{summary}"
    );
    assert!(
        made.messages[1].contains("src/second.rs"),
        "the goal stands verbatim"
    );
    assert_eq!(summary.matches("arc-").count(), WINDOW_SUMMARY_IDS_MAX);
    let history = chat.history();
    let dropped: usize = made
        .report
        .dropped
        .iter()
        .map(|one| one.to - one.from)
        .sum();
    assert_eq!(dropped, made.report.boundary);
    assert!(made.report.dropped.len() > WINDOW_SUMMARY_IDS_MAX);
    let first: Vec<Value> =
        serde_json::from_str(&history.archive(&made.report.dropped[0])).unwrap();
    assert_eq!(first[0], chat.messages[0]);
    assert!(made.report.cost_window < made.report.cost_none);
    assert!(made.report.breakpoints.len() <= 4);
}

#[test]
fn external_summary_replaces_ours() {
    let mut chat = Chat::new(Policy::default().with_target(6_000));
    for _ in 0..40 {
        chat.call("bash", "{}", &"row ".repeat(300));
    }
    let made = chat.window();
    let id = made.report.summary.clone().unwrap().id;
    chat.state
        .summaries
        .insert(id, "The parser forgets what no newline ends.".to_owned());
    let json = serde_json::to_string(&chat.state).unwrap();
    chat.state = serde_json::from_str(&json).unwrap();
    let made = chat.window();
    assert!(content(&made.messages[0]).contains("The parser forgets what no newline ends."));
}

#[test]
fn fallback_keeps_last_messages() {
    let policy = keys(
        "summary_threshold = 0\nfallback_tokens = 6000\nfallback_messages = 10\nstep_min_tokens = 100000",
    );
    let mut chat = Chat::new(policy);
    for _ in 0..60 {
        chat.call("bash", "{}", &"row ".repeat(300));
        let made = chat.window();
        assert!(made.report.tokens_after <= 6_000);
    }
    let made = chat.window();
    assert!(
        made.report
            .actions
            .iter()
            .any(|action| action.as_str() == "fallback")
    );
    assert!(made.messages.iter().any(|message| message.contains(GOAL)));
}

#[test]
fn thinking_after_change_is_omitted() {
    let mut messages = vec![json!({"role": "user", "content": GOAL})];
    let policy = Policy::default().with_target(6_000);
    let mut state = WindowState::default();
    let mut dropped = 0;
    for nth in 0..40 {
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("hm {nth}"), "signature": "c2ln"},
            {"type": "tool_use", "id": format!("t{nth}"), "name": "bash", "input": {}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("t{nth}"), "content": "row ".repeat(300)}]}));
        let history =
            Conversation::parse(&Value::from(messages.clone()).to_string(), None).unwrap();
        assert_eq!(history.format, WireFormat::Anthropic);
        let made = compact(&history, &policy, &mut state);
        let thoughts = made
            .messages
            .iter()
            .filter(|message| message.contains("thinking"))
            .count();
        if made.report.is_rewritten {
            assert_eq!(
                thoughts, 0,
                "everything behind the summary changed its place"
            );
        }
        dropped += made.report.thinking_dropped;
    }
    assert!(dropped > 0);
}

#[test]
fn usage_calibrates_tokens() {
    let mut chat = Chat::new(Policy::default());
    let mut chars = 60;
    for _ in 0..12 {
        chars += 2_100;
        chat.call("bash", "{}", &"row ".repeat(520));
        let count = chat.messages.len();
        chat.messages[count - 2]["usage"] = json!({"prompt_tokens": chars * 2 / 5});
    }
    let made = chat.window();
    assert!(made.report.is_calibrated);
    assert!(
        (2_300..2_700).contains(&made.report.chars_per_token_mils),
        "{}",
        made.report.chars_per_token_mils
    );
}
