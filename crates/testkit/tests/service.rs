//! The model service over real HTTP: every format, whole and streamed.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use heirloom_testkit::{Api, EXHAUSTED_TEXT, ModelService, Reply, SIDE_TEXT, Turn};
use serde_json::{Value, json};

const ANTHROPIC: &str = "/v1/messages?beta=true";
const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const GEMINI: &str = "/v1beta/models/m-1:generateContent";
const GEMINI_STREAM: &str = "/v1beta/models/m-1:streamGenerateContent?alt=sse";

/// Status, body, and whether the body came to its proper end.
fn send(service: &ModelService, method: &str, path: &str, body: &str) -> (u16, String, bool) {
    let address = service.base_url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).expect("connects");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .expect("sent");
    let mut answer = Vec::new();
    let timeout = Some(Duration::from_millis(1500));
    stream.set_read_timeout(timeout).expect("set");
    let read = stream.read_to_end(&mut answer).is_ok();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head[9..12].parse().expect("a status");
    if head.contains("transfer-encoding: chunked") {
        let (body, complete) = dechunk(body);
        (status, body, read && complete)
    } else {
        (status, body.to_owned(), read)
    }
}

fn dechunk(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            return (body, true);
        }
        body.push_str(&after[..size.min(after.len())]);
        rest = after.get(size + 2..).unwrap_or("");
    }
    (body, false)
}

fn post(service: &ModelService, path: &str, body: &Value) -> Value {
    let (status, text, complete) = send(service, "POST", path, &body.to_string());
    assert!(status == 200 && complete, "{status} {text}");
    serde_json::from_str(&text).expect("JSON")
}

/// The data of each event; checks that `event:` repeats the type.
fn stream(service: &ModelService, path: &str, body: &Value) -> Vec<Value> {
    let (status, text, complete) = send(service, "POST", path, &body.to_string());
    assert!(status == 200 && complete, "{status} {text}");
    assert!(text.ends_with("\n\n"));
    let mut events = Vec::new();
    for block in text.trim_end().split("\n\n") {
        let (name, data) = match block.strip_prefix("event: ") {
            Some(named) => named.split_once('\n').expect("two lines"),
            None => ("", block),
        };
        let data = data.strip_prefix("data: ").expect("data");
        if data != "[DONE]" {
            let data: Value = serde_json::from_str(data).expect("JSON");
            assert!(name.is_empty() || data["type"] == name);
            events.push(data);
        }
    }
    events
}

fn joined(events: &[Value], piece: impl Fn(&Value) -> Option<&str>) -> String {
    events.iter().filter_map(piece).collect()
}

const TEXT: &str = "I look.\nHEIRLOOM_MEMORY: KEY_FACT größer als gedacht";

fn service() -> ModelService {
    let turn = Turn::text(TEXT).and_call("Bash", json!({"command": "cat notes.txt"}));
    ModelService::start(vec![turn, Turn::text("Done.")]).expect("starts")
}

#[test]
fn anthropic_whole() {
    let service = service();
    let body = json!({"model": "m-1", "max_tokens": 9, "messages": []});
    let first = post(&service, ANTHROPIC, &body);
    assert_eq!(first["content"][0], json!({"type": "text", "text": TEXT}));
    assert_eq!(first["content"][1]["type"], "tool_use");
    assert_eq!(first["content"][1]["input"]["command"], "cat notes.txt");
    assert_eq!(first["stop_reason"], "tool_use");
    assert_eq!(first["model"], "m-1");
    assert!(first["usage"]["input_tokens"].as_u64() > Some(0));
    let second = post(&service, ANTHROPIC, &body);
    assert_eq!(second["content"].as_array().map(Vec::len), Some(1));
    assert_eq!(second["stop_reason"], "end_turn");
    let third = post(&service, ANTHROPIC, &body);
    assert_eq!(third["content"][0]["text"], EXHAUSTED_TEXT);
}

#[test]
fn anthropic_streamed() {
    let service = service();
    let events = stream(
        &service,
        ANTHROPIC,
        &json!({"model": "m-1", "stream": true}),
    );
    assert_eq!(events[0]["type"], "message_start");
    assert_eq!(events.last().expect("some")["type"], "message_stop");
    assert_eq!(joined(&events, |e| e["delta"]["text"].as_str()), TEXT);
    let input = joined(&events, |e| e["delta"]["partial_json"].as_str());
    assert_eq!(input, r#"{"command":"cat notes.txt"}"#);
    let count = |kind: &str| events.iter().filter(|e| e["type"] == kind).count();
    assert_eq!(
        (count("content_block_start"), count("content_block_stop")),
        (2, 2)
    );
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert!(end["usage"]["output_tokens"].as_u64() > Some(10));
}

#[test]
fn chat_whole_and_streamed() {
    let service = service();
    let first = post(&service, CHAT, &json!({"model": "m-1", "messages": []}));
    let message = &first["choices"][0]["message"];
    assert_eq!(message["content"], TEXT);
    let function = &message["tool_calls"][0]["function"];
    assert_eq!(function["arguments"], r#"{"command":"cat notes.txt"}"#);
    assert_eq!(first["choices"][0]["finish_reason"], "tool_calls");

    let options = json!({"stream": true, "stream_options": {"include_usage": true}});
    let events = stream(&service, CHAT, &options);
    let text = joined(&events, |e| e["choices"][0]["delta"]["content"].as_str());
    assert_eq!(text, "Done.");
    assert_eq!(
        events[events.len() - 2]["choices"][0]["finish_reason"],
        "stop"
    );
    assert!(events[events.len() - 1]["usage"]["total_tokens"].is_u64());
}

#[test]
fn chat_streams_tool_calls_in_pieces() {
    let events = stream(&service(), CHAT, &json!({"stream": true}));
    let call = |e: &Value| e["choices"][0]["delta"]["tool_calls"][0].clone();
    assert!(events.iter().any(|e| call(e)["function"]["name"] == "Bash"));
    let arguments: String = events
        .iter()
        .filter_map(|e| call(e)["function"]["arguments"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(arguments, r#"{"command":"cat notes.txt"}"#);
}

#[test]
fn responses_whole_and_streamed() {
    let first = post(&service(), RESPONSES, &json!({"model": "m-1", "input": []}));
    assert_eq!(first["output"][0]["content"][0]["text"], TEXT);
    assert_eq!(first["output"][1]["type"], "function_call");

    let events = stream(&service(), RESPONSES, &json!({"stream": true}));
    assert_eq!(events[0]["type"], "response.created");
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let text = joined(&events, |e| {
        let wanted = e["type"] == "response.output_text.delta";
        e["delta"].as_str().filter(|_| wanted)
    });
    assert_eq!(text, TEXT);
    let done = events
        .iter()
        .filter(|e| e["type"] == "response.output_item.done");
    let items: Vec<&Value> = done.map(|e| &e["item"]).collect();
    assert_eq!(items[1]["name"], "Bash");
    let last = &events.last().expect("some")["response"];
    assert_eq!(last["output"], json!(items));
    assert!(last["usage"]["input_tokens_details"]["cached_tokens"].is_u64());
}

#[test]
fn gemini_whole_and_streamed() {
    let service = service();
    let first = post(&service, GEMINI, &json!({"contents": []}));
    let parts = &first["candidates"][0]["content"]["parts"];
    assert_eq!(parts[0]["text"], TEXT);
    assert_eq!(parts[1]["functionCall"]["args"]["command"], "cat notes.txt");
    let events = stream(&service, GEMINI_STREAM, &json!({"contents": []}));
    let part = |e: &Value| e["candidates"][0]["content"]["parts"][0]["text"].clone();
    assert_eq!(part(&events[0]), "Done.");
    assert_eq!(events[0]["candidates"][0]["finishReason"], "STOP");
    assert_eq!(service.requests()[1].model(), "m-1");
}

#[test]
fn side_requests_do_not_use_script() {
    let service = service();
    let small = json!({"model": "claude-haiku-4", "messages": [], "max_tokens": 500});
    let side = post(&service, ANTHROPIC, &small);
    assert_eq!(side["content"][0]["text"], SIDE_TEXT);
    let commit = json!({"messages": [{"role": "system", "content": "write Git commit messages."}]});
    assert_eq!(
        post(&service, CHAT, &commit)["choices"][0]["message"]["content"],
        SIDE_TEXT
    );
    let next = json!({"generationConfig": {"responseMimeType": "application/json"}});
    let next = post(&service, GEMINI, &next);
    let text = next["candidates"][0]["content"]["parts"][0]["text"].as_str();
    let text: Value = serde_json::from_str(text.expect("text")).expect("JSON");
    assert_eq!(text["next_speaker"], "user");

    let count = post(&service, "/v1/messages/count_tokens?beta=true", &small);
    assert!(count["input_tokens"].as_u64() > Some(0));
    for (method, path, status) in [
        ("HEAD", "/", 200),
        ("GET", "/v1/models", 200),
        ("POST", "/api/event_logging/batch", 200),
        ("GET", "/something/else", 404),
    ] {
        assert_eq!(
            send(&service, method, path, "").0,
            status,
            "{method} {path}"
        );
    }
    assert!(service.main_requests().is_empty());
    assert_eq!(service.requests().len(), 8);
    let body = json!({"messages": []});
    assert_eq!(
        post(&service, CHAT, &body)["choices"][0]["message"]["content"],
        TEXT
    );
}

#[test]
fn service_records_requests_and_computes_replies() {
    use heirloom_testkit::Script;
    let service = ModelService::start(Script::function(|request| {
        if request.ends_with_tool_result() {
            Turn::text("I have read it.")
        } else {
            Turn::call(request.tool_names().remove(0), json!({}))
        }
    }))
    .expect("starts");
    let tools = json!([{"name": "Read"}, {"name": "Bash"}]);
    let asked = json!({"tools": tools, "messages": [{"role": "user", "content": "Fix"}]});
    let first = post(&service, ANTHROPIC, &asked);
    assert_eq!(first["content"][0]["name"], "Read");
    let result = json!([{"type": "tool_result", "content": "a \"quoted\" line"}]);
    let told = json!({"tools": tools, "messages": [{"role": "user", "content": result}]});
    let second = post(&service, ANTHROPIC, &told);
    assert_eq!(second["content"][0]["text"], "I have read it.");

    let requests = service.main_requests();
    assert!(requests[1].mentions("a \"quoted\" line") && !requests[0].mentions("quoted"));
    assert!(requests[0].at <= requests[1].at);
    assert_eq!(requests[0].api, Api::AnthropicMessages);
    assert_eq!(requests[0].path, ANTHROPIC);
    assert_eq!(requests[0].body, asked);
}

#[test]
fn tool_results_are_detected_in_every_format() {
    let service = service();
    let ask = |path: &str, body: Value| {
        send(&service, "POST", path, &body.to_string());
        let last = service.requests().pop().expect("recorded");
        last.ends_with_tool_result()
    };
    let call = json!({"role": "tool", "content": "x"});
    assert!(ask(CHAT, json!({"messages": [call]})));
    assert!(!ask(CHAT, json!({"messages": [call, {"role": "user"}]})));
    assert!(ask(
        RESPONSES,
        json!({"input": [{"type": "function_call_output"}]})
    ));
    assert!(!ask(RESPONSES, json!({"input": [{"type": "message"}]})));
    let parts = json!([{"functionResponse": {"name": "read_file"}}]);
    assert!(ask(
        GEMINI,
        json!({"contents": [{"role": "user", "parts": parts}]})
    ));
    assert!(!ask(
        GEMINI,
        json!({"contents": [{"parts": [{"text": "x"}]}]})
    ));
}

#[test]
fn injected_faults_reach_client() {
    let long = Turn::text("words ".repeat(200));
    let service = ModelService::start(vec![
        Reply::Status(529),
        Reply::Status(429),
        Reply::InvalidJson,
        Reply::Cut(long.clone()),
        Reply::Stall(long.clone()),
        Reply::Delayed(long, Duration::from_millis(300)),
    ])
    .expect("starts");
    let body = json!({"stream": true}).to_string();
    let ask = |path: &str| send(&service, "POST", path, &body);

    let (status, text, _) = ask(ANTHROPIC);
    let error: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (status, &error["error"]["type"]),
        (529, &json!("overloaded_error"))
    );
    let (status, text, _) = ask(GEMINI_STREAM);
    assert!(status == 429 && text.contains("RESOURCE_EXHAUSTED"));
    let (status, text, complete) = ask(CHAT);
    assert!(status == 200 && complete && text.contains("no JSON"));

    let (status, text, complete) = ask(ANTHROPIC);
    assert!(status == 200 && !complete, "the cut shows");
    assert!(text.contains("message_start") && !text.contains("message_stop"));
    let (_, text, complete) = ask(RESPONSES);
    assert!(!complete && text.contains("response.created"));

    let before = Instant::now();
    assert!(ask(ANTHROPIC).2);
    assert!(before.elapsed() >= Duration::from_millis(300));
}

#[test]
fn service_stops_on_drop() {
    let service = service();
    let address = service.base_url().replace("http://", "");
    // An idle connection and an unanswered request do not hold it up.
    let _idle = TcpStream::connect(&address).expect("connects");
    let before = Instant::now();
    drop(service);
    assert!(before.elapsed() < Duration::from_secs(2));
    assert!(TcpStream::connect(&address).is_err());
}
