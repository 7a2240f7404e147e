//! Reader of the messages on a line, as clients write them.

use heirloom_model::limits::MCP_MESSAGE_BYTES_MAX;
use heirloom_model::text_decoding::{decode_text, repair_json};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use serde_json::{Map, Value, json};

/// Codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;
/// Methods whose parameters the library checks; with others it takes a request for one of another method.
const METHODS: [&str; 17] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tools/call",
    "tools/list",
];

/// Content of a line.
#[derive(Debug)]
pub(super) enum ReadLine {
    /// A blank line, or a notification that cannot be read.
    Nothing,
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// The answer to a line that is not a message.
    Problem(Value),
    /// Messages of protocol 2025-03-26 that are answered together, and answers to the rest.
    Batch {
        messages: Vec<ClientJsonRpcMessage>,
        problems: Vec<Value>,
    },
}

/// Reads a line.
pub(super) fn read_line(line: &[u8]) -> ReadLine {
    let text = decode_text(line);
    if text.trim().is_empty() {
        return ReadLine::Nothing;
    }
    let value = match serde_json::from_str(&text) {
        Ok(value) => value,
        Err(error) => match serde_json::from_str(&repair_json(&text)) {
            Ok(value) => value,
            Err(_) => {
                let message = format!("the message is no JSON: {error}");
                return ReadLine::Problem(problem(&find_id(&text), PARSE_ERROR, &message));
            }
        },
    };
    let Value::Array(items) = value else {
        return match read_message(value) {
            Ok(Some(message)) => ReadLine::Message(message),
            Ok(None) => ReadLine::Nothing,
            Err(problem) => ReadLine::Problem(problem),
        };
    };
    if items.is_empty() {
        let message = "a batch has at least one message";
        return ReadLine::Problem(problem(&Value::Null, INVALID_REQUEST, message));
    }
    let (mut messages, mut problems) = (Vec::new(), Vec::new());
    for item in items {
        match read_message(item) {
            Ok(message) => messages.extend(message.map(|message| *message)),
            Err(problem) => problems.push(problem),
        }
    }
    ReadLine::Batch { messages, problems }
}

/// Returns the answer to a message that is too long, by its start.
pub(super) fn too_long(start: &[u8]) -> Value {
    let message = format!("the message has more than {MCP_MESSAGE_BYTES_MAX} bytes");
    problem(&find_id(&decode_text(start)), INVALID_REQUEST, &message)
}

/// Returns the body of an HTTP request with the slips of clients repaired; `None` if it has no slips.
pub(in crate::mcp) fn lenient_body(body: &[u8]) -> Option<Vec<u8>> {
    let text = decode_text(body);
    let text = repair_json(&text);
    let mut value: Value = serde_json::from_str(&text).ok()?;
    let is_changed = match &mut value {
        Value::Object(fields) => parse_text_params(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            false
        }
    };
    (is_changed || text.as_bytes() != body).then(|| value.to_string().into_bytes())
}

/// Reads a message; `None` for a notification that cannot be read. Errors: the answer to the sender.
fn read_message(value: Value) -> Result<Option<Box<ClientJsonRpcMessage>>, Value> {
    let Value::Object(mut fields) = value else {
        let message = "a message is an object";
        return Err(problem(&Value::Null, INVALID_REQUEST, message));
    };
    let id = fields.get("id").cloned();
    let has_method = fields.get("method").is_some_and(Value::is_string);
    fields.insert("jsonrpc".to_owned(), json!("2.0"));
    parse_text_params(&mut fields);
    let read = serde_json::from_value::<ClientJsonRpcMessage>(Value::Object(fields));
    match (read, id) {
        (Ok(JsonRpcMessage::Request(request)), Some(id)) => {
            if let ClientRequest::CustomRequest(custom) = &request.request
                && METHODS.contains(&&*custom.method)
            {
                let message = format!("the parameters of `{}` cannot be read", custom.method);
                return Err(problem(&id, INVALID_PARAMS, &message));
            }
            Ok(Some(Box::new(JsonRpcMessage::Request(request))))
        }
        // Without the check a request with an invalid id would be a notification.
        (Ok(JsonRpcMessage::Notification(_)), Some(id)) if has_method => Err(problem(
            &echoed_id(id),
            INVALID_REQUEST,
            "the id is no string and no number",
        )),
        (Ok(message), _) => Ok(Some(Box::new(message))),
        (Err(_), None) if has_method => Ok(None),
        (Err(error), id) => {
            let message = format!("the message is no request: {error}");
            let id = echoed_id(id.unwrap_or_default());
            Err(problem(&id, INVALID_REQUEST, &message))
        }
    }
}

/// Returns an id as it is repeated in an answer: that of a request is a string or a number.
fn echoed_id(id: Value) -> Value {
    match id {
        Value::String(_) | Value::Number(_) => id,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Value::Null,
    }
}

/// Parses parameters and arguments that are JSON in a text. Returns true if there are any.
fn parse_text_params(fields: &mut Map<String, Value>) -> bool {
    let mut is_changed = fields.get_mut("params").is_some_and(parse_text_object);
    if let Some(Value::Object(params)) = fields.get_mut("params") {
        match params.get_mut("arguments") {
            Some(Value::String(text)) if text.trim().is_empty() => {
                params.remove("arguments");
                is_changed = true;
            }
            Some(arguments) => is_changed |= parse_text_object(arguments),
            None => {}
        }
    }
    is_changed
}

/// Replaces a text with an object in JSON by the object.
fn parse_text_object(value: &mut Value) -> bool {
    let Value::String(text) = value else {
        return false;
    };
    match serde_json::from_str::<Value>(&repair_json(text)) {
        Ok(object @ Value::Object(_)) => {
            *value = object;
            true
        }
        Ok(_) | Err(_) => false,
    }
}

fn problem(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// Returns the id in an object that cannot be read as a whole, `null` without one: the member of the object itself, not one
/// of its members' members.
fn find_id(text: &str) -> Value {
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match c {
            '"' => {
                let Some(length) = string_length(rest) else {
                    return Value::Null;
                };
                let (string, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
                let value = after.trim_start().strip_prefix(':');
                if depth == 1
                    && string == "\"id\""
                    && let Some(value) = value
                {
                    return id_value(value.trim_start());
                }
                rest = after;
                continue;
            }
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    Value::Null
}

/// Returns the length of the string at the beginning of a text, with its quotation marks.
fn string_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the string or the number at the beginning of a text.
fn id_value(text: &str) -> Value {
    let length = match text.starts_with('"') {
        true => string_length(text),
        false => text.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')),
    };
    let value = length.and_then(|length| text.get(..length));
    let value = value.and_then(|value| serde_json::from_str(value).ok());
    echoed_id(value.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_of_an_unreadable_message_is_found() {
        for (text, id) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaNa}}"#,
                json!(1),
            ),
            (r#"{"id":"a\"b","method":"#, json!("a\"b")),
            (r#"{"params":{"id":2},"id":3,,}"#, json!(3)),
            (r#"{"params":{"id":2"#, Value::Null),
            (r#"{"id" : -7 }}"#, json!(-7)),
            (r#"{"id":{"id":1}"#, Value::Null),
            (r#"{"text":"\"id\":4","id":5"#, Value::Null),
            ("no JSON", Value::Null),
            ("[{\"id\":1},", Value::Null),
        ] {
            assert_eq!(find_id(text), id, "{text}");
        }
    }

    #[test]
    fn messages_are_read_as_clients_write_them() {
        let call = |arguments: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"recall","arguments":{arguments}}}}}"#
            );
            match read_line(text.as_bytes()) {
                ReadLine::Message(message) => {
                    serde_json::to_value(message).unwrap()["params"]["arguments"].clone()
                }
                ReadLine::Problem(problem) => problem["error"]["code"].clone(),
                other @ (ReadLine::Nothing | ReadLine::Batch { .. }) => panic!("{other:?}"),
            }
        };
        assert_eq!(
            call(r#"{"query":"a \ud83d b"}"#),
            json!({"query": "a \u{fffd} b"})
        );
        assert_eq!(call(r#""{\"query\":\"x\"}""#), json!({"query": "x"}));
        assert_eq!(
            call(r#"{"query":"x","min_relevance":NaN}"#),
            json!({"query": "x", "min_relevance": null})
        );
        assert_eq!(call("\"\""), Value::Null);
        assert_eq!(call("[1]"), json!(INVALID_PARAMS));
        assert_eq!(call("7"), json!(INVALID_PARAMS));
        let is_problem = |text: &str, id: Value| match read_line(text.as_bytes()) {
            ReadLine::Problem(problem) => assert_eq!(problem["id"], id, "{text}"),
            other @ (ReadLine::Nothing | ReadLine::Message(_) | ReadLine::Batch { .. }) => {
                panic!("{text}: {other:?}")
            }
        };
        is_problem(r#"{"id":1.5,"method":"ping"}"#, json!(1.5));
        is_problem(r#"{"id":null,"method":"ping"}"#, Value::Null);
        is_problem(r#"{"id":true,"method":"ping"}"#, Value::Null);
        is_problem(r#"{"id":4}"#, json!(4));
        is_problem("7", Value::Null);
        is_problem("[]", Value::Null);
        assert!(matches!(read_line(b" \r"), ReadLine::Nothing));
        assert!(matches!(
            read_line(b"{\"id\":1,\"method\":\"ping\"}"),
            ReadLine::Message(_)
        ));
    }
}
