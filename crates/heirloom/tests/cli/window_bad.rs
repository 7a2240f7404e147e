//! Histories that no provider would take, in every form, in the middle of a long conversation and at its end: a window
//! that may be sent, or a refusal with the message's index.

use crate::project::Project;
use crate::window::{anthropic, chat, output, responses};
use heirloom_window::check::check;
use heirloom_window::{Conversation, Form};
use serde_json::{Value, json};

const FORMS: [(Form, &str); 3] = [
    (Form::Openai, "openai"),
    (Form::Anthropic, "anthropic"),
    (Form::Responses, "responses"),
];

/// The messages of a sound conversation of so many turns.
fn sound(form: Form, turns: usize) -> Vec<Value> {
    let list = |value: &Value| value.as_array().unwrap().clone();
    match form {
        Form::Openai => chat(turns, 900),
        Form::Anthropic => list(&anthropic(turns, 900)["messages"]),
        Form::Responses => list(&responses(turns, 900)["input"]),
    }
}

/// What is wrong, in each form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bad {
    OrphanedResult,
    DoubleIdAtOnce,
    DoubleIdLater,
    Parallel,
    ParallelOutOfOrder,
    ResultOfNobody,
    Empty,
    SystemInTheMiddle,
    Large,
    Image,
    UnknownRole,
    UnknownBlock,
    NoMessage,
}

const ALL: [Bad; 13] = [
    Bad::OrphanedResult,
    Bad::DoubleIdAtOnce,
    Bad::DoubleIdLater,
    Bad::Parallel,
    Bad::ParallelOutOfOrder,
    Bad::ResultOfNobody,
    Bad::Empty,
    Bad::SystemInTheMiddle,
    Bad::Large,
    Bad::Image,
    Bad::UnknownRole,
    Bad::UnknownBlock,
    Bad::NoMessage,
];

/// Calls of these ids, as the model makes them at once.
fn calls(form: Form, ids: &[&str]) -> Vec<Value> {
    let chat = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}});
    let block = |id: &&str| json!({"type": "tool_use", "id": id, "name": "bash", "input": {}});
    let item = |id: &&str| json!({"type": "function_call", "call_id": id, "name": "bash", "arguments": "{}"});
    match form {
        Form::Openai => vec![
            json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(chat).collect::<Vec<_>>()}),
        ],
        Form::Anthropic => {
            vec![json!({"role": "assistant", "content": ids.iter().map(block).collect::<Vec<_>>()})]
        }
        Form::Responses => ids.iter().map(item).collect(),
    }
}

/// Their answers.
fn answers(form: Form, ids: &[&str]) -> Vec<Value> {
    let said = |id: &str| format!("what {id} said");
    match form {
        Form::Openai => ids
            .iter()
            .map(|id| json!({"role": "tool", "tool_call_id": id, "content": said(id)}))
            .collect(),
        Form::Anthropic => {
            let block =
                |id: &&str| json!({"type": "tool_result", "tool_use_id": id, "content": said(id)});
            vec![json!({"role": "user", "content": ids.iter().map(block).collect::<Vec<_>>()})]
        }
        Form::Responses => ids
            .iter()
            .map(|id| json!({"type": "function_call_output", "call_id": id, "output": said(id)}))
            .collect(),
    }
}

fn image(form: Form) -> Value {
    let data = "iVBORw0KGgo".repeat(40_000);
    let url = format!("data:image/png;base64,{data}");
    match form {
        Form::Openai => {
            json!({"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]})
        }
        Form::Anthropic => {
            json!({"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]})
        }
        Form::Responses => {
            json!({"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": url}]})
        }
    }
}

/// The messages that are wrong, and which of them is refused, if one is.
fn wrong(bad: Bad, form: Form) -> (Vec<Value>, Option<usize>) {
    let said = |role: &str, text: &str| match form {
        Form::Openai | Form::Anthropic => json!({"role": role, "content": text}),
        Form::Responses => json!({"type": "message", "role": role, "content": text}),
    };
    let ok = |messages: Vec<Value>| (messages, None);
    let then =
        |ids: &[&str], answered: &[&str]| [calls(form, ids), answers(form, answered)].concat();
    match bad {
        Bad::OrphanedResult => ok(answers(form, &["gone"])),
        Bad::ResultOfNobody => match form {
            Form::Openai => (vec![json!({"role": "tool", "content": "x"})], Some(0)),
            Form::Anthropic => ok(vec![
                json!({"role": "user", "content": [{"type": "tool_result", "content": "x"}]}),
            ]),
            Form::Responses => ok(vec![json!({"type": "function_call_output", "output": "x"})]),
        },
        Bad::DoubleIdAtOnce => {
            let at = usize::from(form == Form::Responses);
            (calls(form, &["d", "d"]), Some(at))
        }
        Bad::DoubleIdLater => {
            let all = [then(&["d"], &["d"]), then(&["d"], &["d"])].concat();
            // Some services of the first form count anew in every turn.
            (all, (form != Form::Openai).then_some(2))
        }
        Bad::Parallel => ok(then(&["p", "q", "r"], &["p", "q", "r"])),
        Bad::ParallelOutOfOrder => ok(then(&["p", "q", "r"], &["r", "p", "q"])),
        Bad::Empty => ok(vec![
            said("assistant", ""),
            said("user", " \n"),
            said("assistant", ""),
        ]),
        Bad::SystemInTheMiddle => {
            let at = (form == Form::Anthropic).then_some(0);
            (vec![said("system", "be brief from here on")], at)
        }
        Bad::Large => ok(vec![said("user", &output(7, 300_000))]),
        Bad::Image => ok(vec![image(form)]),
        Bad::UnknownRole => (vec![said("wizard", "abracadabra")], Some(0)),
        Bad::UnknownBlock => ok(vec![match form {
            Form::Openai => {
                json!({"role": "user", "content": [{"type": "hologram", "x": [1, {"y": 2.50}]}]})
            }
            Form::Anthropic => {
                json!({"role": "user", "content": [{"type": "hologram", "x": [1, {"y": 2.50}]}]})
            }
            Form::Responses => json!({"type": "hologram", "x": [1, {"y": 2.50}]}),
        }]),
        Bad::NoMessage => (vec![json!(7)], Some(0)),
    }
}

/// What the program makes of it: `refused` is the index that it has to name.
#[track_caller]
fn judge(
    project: &Project,
    case: &str,
    form: (Form, &str),
    messages: &[Value],
    refused: Option<usize>,
) {
    let history = Value::Array(messages.to_vec()).to_string();
    // A session stores every turn: the short cases are enough of that.
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
            let said = answer.error()["message"].to_string();
            assert!(
                said.contains(&format!("message {index}:")),
                "{case}: {said}"
            );
            continue;
        }
        assert_eq!(answer.code, 0, "{case}: {}", answer.stderr);
        let window = Conversation::parse(&answer.stdout, Some(form.0)).unwrap();
        assert_eq!(check(&window), [], "{case}: {}", answer.stdout);
        // A window of a window is the same one.
        let again = project.input(&args, answer.stdout.as_bytes());
        assert!(again.stdout == answer.stdout, "{case}: {}", answer.stdout);
    }
}

#[test]
fn every_bad_input_is_a_sound_window_or_a_refusal_with_its_index() {
    let project = Project::new();
    for form in FORMS {
        for bad in ALL {
            let (insert, refused) = wrong(bad, form.0);
            let all = sound(form.0, 60);
            // Behind an answered call; the sound ones are two messages each.
            let first = all.len() % 2;
            for at in [first + 20, all.len()] {
                let mut messages = all.clone();
                messages.splice(at..at, insert.clone());
                let case = format!("{bad:?} in {} at {at}", form.1);
                judge(
                    &project,
                    &case,
                    form,
                    &messages,
                    refused.map(|index| at + index),
                );
            }
            let alone = format!("{bad:?} in {} alone", form.1);
            judge(&project, &alone, form, &insert, refused);
        }
    }
}

#[test]
fn json_that_ends_anywhere_is_refused() {
    let project = Project::new();
    for (form, name) in FORMS {
        let messages = sound(form, 2);
        let whole = Value::Array(messages.clone()).to_string();
        // Where each message ends in the text.
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
            let said = answer.error()["message"].to_string();
            assert!(
                said.contains(&format!("message {index}")),
                "{name} {cut}: {said}"
            );
        }
    }
}

#[test]
fn a_large_output_of_every_form_is_shortened_and_kept() {
    let project = Project::new();
    let huge = "a line of a log that nobody reads\n".repeat(1 << 16);
    for (form, name) in FORMS {
        let mut messages = sound(form, 3);
        let last = messages.len() - 1;
        let text = match form {
            Form::Openai => &mut messages[last]["content"],
            Form::Anthropic => &mut messages[last]["content"][0]["content"],
            Form::Responses => &mut messages[last]["output"],
        };
        *text = json!(huge);
        judge(&project, name, (form, name), &messages, None);
        let id = heirloom_model::text::hash16(&huge);
        assert!(
            project.ok(&["expand", &id]).stdout == huge,
            "{name}: not every byte"
        );
    }
}

#[test]
fn a_history_that_was_edited_between_calls_goes_on_in_every_form() {
    let project = Project::new();
    for (form, name) in FORMS {
        let args = ["compact", "--format", name, "--target-tokens", "9000"];
        let of_session = [&args[..], &["--session", name]].concat();
        let give = |args: &[&str], messages: &[Value]| {
            let answer =
                project.input(args, Value::Array(messages.to_vec()).to_string().as_bytes());
            assert_eq!(answer.code, 0, "{answer:?}");
            answer.stdout
        };
        let all = sound(form, 60);
        give(&of_session, &all);
        let mut edited = all.clone();
        let said = match form {
            Form::Openai => &mut edited[1]["content"],
            Form::Anthropic => &mut edited[0]["content"],
            Form::Responses => &mut edited[0]["content"],
        };
        *said = json!("write a poem about the deploy of every second Monday, and nothing else");
        let first = all.len() % 2;
        let rewound = &all[..first + 60];
        let without_some = [&all[..first + 10], &all[first + 30..]].concat();
        for history in [&edited[..], rewound, &without_some, &all] {
            assert_eq!(give(&of_session, history), give(&args, history), "{name}");
        }
    }
}
