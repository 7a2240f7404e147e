//! Invalid histories in every wire format, inside a long conversation, at its end, and alone: the result is a valid
//! window, or a refusal with the message's index.

use crate::project::Project;
use crate::window::{anthropic, chat, output, responses};
use heirloom_window::protocol_validation::check;
use heirloom_window::{Conversation, WireFormat};
use serde_json::{Value, json};

const FORMATS: [(WireFormat, &str); 3] = [
    (WireFormat::Openai, "openai"),
    (WireFormat::Anthropic, "anthropic"),
    (WireFormat::Responses, "responses"),
];

/// Returns a valid conversation with this number of turns.
fn valid_history(form: WireFormat, turns: usize) -> Vec<Value> {
    let list = |value: &Value| value.as_array().unwrap().clone();
    match form {
        WireFormat::Openai => chat(turns, 900),
        WireFormat::Anthropic => list(&anthropic(turns, 900)["messages"]),
        WireFormat::Responses => list(&responses(turns, 900)["input"]),
    }
}

/// Defect of a history, in each wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    OrphanedResult,
    DuplicateIdInOneTurn,
    DuplicateIdInLaterTurn,
    Parallel,
    ParallelOutOfOrder,
    ResultWithoutId,
    Empty,
    SystemInTheMiddle,
    Large,
    Image,
    UnknownRole,
    UnknownBlock,
    NotAMessage,
}

const ALL_DEFECTS: [Defect; 13] = [
    Defect::OrphanedResult,
    Defect::DuplicateIdInOneTurn,
    Defect::DuplicateIdInLaterTurn,
    Defect::Parallel,
    Defect::ParallelOutOfOrder,
    Defect::ResultWithoutId,
    Defect::Empty,
    Defect::SystemInTheMiddle,
    Defect::Large,
    Defect::Image,
    Defect::UnknownRole,
    Defect::UnknownBlock,
    Defect::NotAMessage,
];

/// Returns parallel tool calls with these ids.
fn tool_calls(form: WireFormat, ids: &[&str]) -> Vec<Value> {
    let chat = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}});
    let block = |id: &&str| json!({"type": "tool_use", "id": id, "name": "bash", "input": {}});
    let item = |id: &&str| json!({"type": "function_call", "call_id": id, "name": "bash", "arguments": "{}"});
    match form {
        WireFormat::Openai => vec![
            json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(chat).collect::<Vec<_>>()}),
        ],
        WireFormat::Anthropic => {
            vec![json!({"role": "assistant", "content": ids.iter().map(block).collect::<Vec<_>>()})]
        }
        WireFormat::Responses => ids.iter().map(item).collect(),
    }
}

/// Returns the results of these calls.
fn tool_results(form: WireFormat, ids: &[&str]) -> Vec<Value> {
    let result_text = |id: &str| format!("what {id} said");
    match form {
        WireFormat::Openai => ids
            .iter()
            .map(|id| json!({"role": "tool", "tool_call_id": id, "content": result_text(id)}))
            .collect(),
        WireFormat::Anthropic => {
            let block =
                |id: &&str| json!({"type": "tool_result", "tool_use_id": id, "content": result_text(id)});
            vec![json!({"role": "user", "content": ids.iter().map(block).collect::<Vec<_>>()})]
        }
        WireFormat::Responses => ids
            .iter()
            .map(|id| json!({"type": "function_call_output", "call_id": id, "output": result_text(id)}))
            .collect(),
    }
}

fn image(form: WireFormat) -> Value {
    let data = "iVBORw0KGgo".repeat(40_000);
    let url = format!("data:image/png;base64,{data}");
    match form {
        WireFormat::Openai => {
            json!({"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]})
        }
        WireFormat::Anthropic => {
            json!({"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]})
        }
        WireFormat::Responses => {
            json!({"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": url}]})
        }
    }
}

/// Returns messages with this defect, and the index of the one that must be refused, if any.
fn defective_messages(defect: Defect, form: WireFormat) -> (Vec<Value>, Option<usize>) {
    let message = |role: &str, text: &str| match form {
        WireFormat::Openai | WireFormat::Anthropic => json!({"role": role, "content": text}),
        WireFormat::Responses => json!({"type": "message", "role": role, "content": text}),
    };
    let ok = |messages: Vec<Value>| (messages, None);
    let then = |ids: &[&str], answered: &[&str]| {
        [tool_calls(form, ids), tool_results(form, answered)].concat()
    };
    match defect {
        Defect::OrphanedResult => ok(tool_results(form, &["gone"])),
        Defect::ResultWithoutId => match form {
            WireFormat::Openai => (vec![json!({"role": "tool", "content": "x"})], Some(0)),
            WireFormat::Anthropic => ok(vec![
                json!({"role": "user", "content": [{"type": "tool_result", "content": "x"}]}),
            ]),
            WireFormat::Responses => {
                ok(vec![json!({"type": "function_call_output", "output": "x"})])
            }
        },
        Defect::DuplicateIdInOneTurn => {
            let at = usize::from(form == WireFormat::Responses);
            (tool_calls(form, &["d", "d"]), Some(at))
        }
        Defect::DuplicateIdInLaterTurn => {
            let all = [then(&["d"], &["d"]), then(&["d"], &["d"])].concat();
            // Some OpenAI-compatible services restart their ids in every turn.
            (all, (form != WireFormat::Openai).then_some(2))
        }
        Defect::Parallel => ok(then(&["p", "q", "r"], &["p", "q", "r"])),
        Defect::ParallelOutOfOrder => ok(then(&["p", "q", "r"], &["r", "p", "q"])),
        Defect::Empty => ok(vec![
            message("assistant", ""),
            message("user", " \n"),
            message("assistant", ""),
        ]),
        Defect::SystemInTheMiddle => {
            let at = (form == WireFormat::Anthropic).then_some(0);
            (vec![message("system", "be brief from here on")], at)
        }
        Defect::Large => ok(vec![message("user", &output(7, 300_000))]),
        Defect::Image => ok(vec![image(form)]),
        Defect::UnknownRole => (vec![message("wizard", "abracadabra")], Some(0)),
        Defect::UnknownBlock => ok(vec![match form {
            WireFormat::Openai => {
                json!({"role": "user", "content": [{"type": "hologram", "x": [1, {"y": 2.50}]}]})
            }
            WireFormat::Anthropic => {
                json!({"role": "user", "content": [{"type": "hologram", "x": [1, {"y": 2.50}]}]})
            }
            WireFormat::Responses => json!({"type": "hologram", "x": [1, {"y": 2.50}]}),
        }]),
        Defect::NotAMessage => (vec![json!(7)], Some(0)),
    }
}

/// Compacts a history: `refused` is the index that the error must name; without it the window must be valid.
#[track_caller]
fn assert_compact(
    project: &Project,
    case: &str,
    form: (WireFormat, &str),
    messages: &[Value],
    refused: Option<usize>,
) {
    let history = Value::Array(messages.to_vec()).to_string();
    // A session stores every message, which the short histories test sufficiently.
    let session: &[&[&str]] = &[&[], &["--session", "s"]];
    let count = if messages.len() < 20 { 2 } else { 1 };
    for more in &session[..count] {
        let args = [
            "compact",
            "--json",
            "--format",
            form.1,
            "--target-tokens",
            "9000",
        ];
        let answer = project.input(&[&args, *more].concat(), history.as_bytes());
        if let Some(index) = refused {
            assert_eq!(
                (answer.code, answer.stdout.as_str()),
                (2, ""),
                "{case}: {answer:?}"
            );
            let error_message = answer.error()["message"].to_string();
            assert!(
                error_message.contains(&format!("message {index}:")),
                "{case}: {error_message}"
            );
            continue;
        }
        assert_eq!(answer.code, 0, "{case}: {}", answer.stderr);
        let window = Conversation::parse(&answer.stdout, Some(form.0)).unwrap();
        assert_eq!(check(&window), [], "{case}: {}", answer.stdout);
        // Compacting a window again changes nothing.
        let again = project.input(&args, answer.stdout.as_bytes());
        assert!(again.stdout == answer.stdout, "{case}: {}", answer.stdout);
    }
}

#[test]
fn defective_history_gives_a_valid_window_or_a_refusal_with_index() {
    let project = Project::new();
    for form in FORMATS {
        for defect in ALL_DEFECTS {
            let (insert, refused) = defective_messages(defect, form.0);
            let all = valid_history(form.0, 60);
            // After an answered call: every valid turn is two messages.
            let first = all.len() % 2;
            for at in [first + 20, all.len()] {
                let mut messages = all.clone();
                messages.splice(at..at, insert.clone());
                let case = format!("{defect:?} in {} at {at}", form.1);
                assert_compact(
                    &project,
                    &case,
                    form,
                    &messages,
                    refused.map(|index| at + index),
                );
            }
            let alone = format!("{defect:?} in {} alone", form.1);
            assert_compact(&project, &alone, form, &insert, refused);
        }
    }
}

#[test]
fn truncated_json_is_refused_with_the_message_index() {
    let project = Project::new();
    for (form, name) in FORMATS {
        let messages = valid_history(form, 2);
        let whole = Value::Array(messages.clone()).to_string();
        // The position in the text at which each message ends.
        let mut ends = vec![1];
        for message in &messages {
            ends.push(ends[ends.len() - 1] + message.to_string().len() + 1);
        }
        for cut in (1..whole.len()).step_by(whole.len() / 40) {
            let cut = whole.floor_char_boundary(cut);
            let args = ["compact", "--json", "--format", name];
            let answer = project.input(&args, &whole.as_bytes()[..cut]);
            assert_eq!(
                (answer.code, answer.stdout.as_str()),
                (2, ""),
                "{cut}: {answer:?}"
            );
            let index = ends.iter().filter(|end| **end <= cut).count() - 1;
            let error_message = answer.error()["message"].to_string();
            assert!(
                error_message.contains(&format!("message {index}")),
                "{name} {cut}: {error_message}"
            );
        }
    }
}

#[test]
fn large_output_in_every_format_is_shortened_and_expandable() {
    let project = Project::new();
    let huge = "a line of a log that nobody reads\n".repeat(1 << 16);
    for (form, name) in FORMATS {
        let mut messages = valid_history(form, 3);
        let last = messages.len() - 1;
        let text = match form {
            WireFormat::Openai => &mut messages[last]["content"],
            WireFormat::Anthropic => &mut messages[last]["content"][0]["content"],
            WireFormat::Responses => &mut messages[last]["output"],
        };
        *text = json!(huge);
        assert_compact(&project, name, (form, name), &messages, None);
        let id = heirloom_model::text::hash16(&huge);
        assert!(
            project.ok(&["expand", &id]).stdout == huge,
            "{name}: not every byte"
        );
    }
}

#[test]
fn edited_history_compacts_as_without_a_session_in_every_format() {
    let project = Project::new();
    for (form, name) in FORMATS {
        let args = ["compact", "--format", name, "--target-tokens", "9000"];
        let session_args = [&args[..], &["--session", name]].concat();
        let compact = |args: &[&str], messages: &[Value]| {
            let answer =
                project.input(args, Value::Array(messages.to_vec()).to_string().as_bytes());
            assert_eq!(answer.code, 0, "{answer:?}");
            answer.stdout
        };
        let all = valid_history(form, 60);
        compact(&session_args, &all);
        let mut edited = all.clone();
        let content = match form {
            WireFormat::Openai => &mut edited[1]["content"],
            WireFormat::Anthropic => &mut edited[0]["content"],
            WireFormat::Responses => &mut edited[0]["content"],
        };
        *content = json!("write a poem about the deploy of every second Monday, and nothing else");
        let first = all.len() % 2;
        let rewound = &all[..first + 60];
        let without_some = [&all[..first + 10], &all[first + 30..]].concat();
        for history in [&edited[..], rewound, &without_some, &all] {
            assert_eq!(
                compact(&session_args, history),
                compact(&args, history),
                "{name}"
            );
        }
    }
}
