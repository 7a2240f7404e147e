//! Requests of JSON-RPC as careless clients write them.

use serde_json::{Value, json};

/// A line that is no correct request, and the answer that it needs.
#[derive(Debug, Clone)]
pub struct MalformedRequest {
    /// The line without its line break.
    pub bytes: Vec<u8>,
    /// Name of the fault.
    pub fault: &'static str,
    /// Id of the answer, if the request is readable enough that it must be this one.
    pub id: Option<Value>,
}

/// Generator of numbers (xorshift), so that a run can be repeated.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(usize::MAX) % below.max(1)
    }
}

type Fault = fn(&mut Random, u64) -> (Vec<u8>, Option<Value>);

/// Faults by name. Each line needs an answer.
const FAULTS: &[(&str, Fault)] = &[
    ("half of a character", |random, n| {
        let half = ["\\ud83d", "\\ude80", "\\uD83D x", "\\ud83d\\ud83d"][random.next(4)];
        (
            recall(n, &format!("{{\"query\":\"a {half} b\"}}")),
            Some(json!(n)),
        )
    }),
    ("half of a character in the id", |_, n| {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{n}\\ud83d\",\"method\":\"ping\"}}");
        (line.into_bytes(), Some(json!(format!("{n}\u{fffd}"))))
    }),
    ("no number", |random, n| {
        let word = ["NaN", "Infinity", "-Infinity"][random.next(3)];
        (
            recall(n, &format!("{{\"query\":\"a\",\"min_relevance\":{word}}}")),
            Some(json!(n)),
        )
    }),
    ("invalid UTF-8", |random, n| {
        let mut line = recall(n, "{\"query\":\"caf@ x\"}");
        let bytes: &[u8] = [&b"\xe9"[..], b"\xff\xfe", b"\xc3", b"\xed\xa0\x80"][random.next(4)];
        let at = line
            .iter()
            .position(|byte| *byte == b'@')
            .unwrap_or_default();
        line.splice(at..=at, bytes.iter().copied());
        (line, Some(json!(n)))
    }),
    ("byte order mark", |_, n| {
        let line = String::from_utf8(recall(n, "{\"query\":\"a\"}")).unwrap_or_default();
        (format!("\u{feff}{line}").into_bytes(), Some(json!(n)))
    }),
    ("NUL bytes", |random, n| {
        let mut line = recall(n, "{\"query\":\"a\"}");
        let at = [0, line.len(), line.len() / 2][random.next(3)];
        line.splice(at..at, [0, 0, 0]);
        (line, Some(json!(n)))
    }),
    ("cut", |random, n| {
        let mut line = recall(n, "{\"query\":\"some words\"}");
        let start = 24 + n.to_string().len();
        let end = line.len() - 1;
        line.truncate(start + random.next(end - start));
        (line, None)
    }),
    ("comma at the end", |_, n| {
        (recall(n, "{\"query\":\"a\",}"), Some(json!(n)))
    }),
    ("single quotation marks", |_, n| {
        let line = format!("{{'jsonrpc':'2.0','id':{n},'method':'ping'}}");
        (line.into_bytes(), None)
    }),
    ("names without quotation marks", |_, n| {
        (
            format!("{{jsonrpc:\"2.0\",id:{n},method:\"ping\"}}").into_bytes(),
            None,
        )
    }),
    ("comment", |_, n| {
        (
            format!("{{\"id\":{n}, // note\"method\":\"ping\"}}").into_bytes(),
            Some(json!(n)),
        )
    }),
    ("control characters", |random, n| {
        let control = char::from(u8::try_from(1 + random.next(8)).unwrap_or(1));
        (
            recall(n, &format!("{{\"query\":\"a{control}b\"}}")),
            Some(json!(n)),
        )
    }),
    ("arguments as text", |_, n| {
        (recall(n, "\"{\\\"query\\\":\\\"a\\\"}\""), Some(json!(n)))
    }),
    ("arguments of another type", |random, n| {
        let arguments = [
            "[]",
            "[1]",
            "7",
            "true",
            "\"x\"",
            "null",
            "\"\"",
            "[{\"query\":\"a\"}]",
        ];
        (
            recall(n, arguments[random.next(arguments.len())]),
            Some(json!(n)),
        )
    }),
    ("parameters of another type", |random, n| {
        let params = [
            "[]",
            "[1]",
            "7",
            "false",
            "\"x\"",
            "null",
            "{}",
            "{\"name\":7}",
            "{\"name\":null}",
        ];
        let params = params[random.next(params.len())];
        let method = [
            "tools/call",
            "resources/read",
            "prompts/get",
            "ping",
            "tools/list",
            "initialize",
        ][random.next(6)];
        (request(n, method, params), Some(json!(n)))
    }),
    ("method of another type", |random, n| {
        let method = [
            "7",
            "null",
            "[]",
            "{}",
            "true",
            "\"\"",
            "\"no/such\"",
            "\"\\ud83d\"",
        ];
        let method = method[random.next(method.len())];
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":{method}}}");
        (line.into_bytes(), Some(json!(n)))
    }),
    ("no method", |_, n| {
        (
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{n}}}").into_bytes(),
            Some(json!(n)),
        )
    }),
    ("other version of JSON-RPC", |random, n| {
        let version = [
            "",
            "\"jsonrpc\":\"1.0\",",
            "\"jsonrpc\":2.0,",
            "\"jsonrpc\":null,",
        ][random.next(4)];
        (
            format!("{{{version}\"id\":{n},\"method\":\"ping\"}}").into_bytes(),
            Some(json!(n)),
        )
    }),
    ("id of another type", |random, _| {
        let id = ["null", "true", "[]", "{}", "[1]", "{\"id\":1}"][random.next(6)];
        (
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}").into_bytes(),
            Some(Value::Null),
        )
    }),
    ("unusual number as id", |random, n| {
        let ids = [
            json!(-1),
            json!(1.5),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(0),
            json!(n),
        ];
        let id = ids[random.next(ids.len())].clone();
        (
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}").into_bytes(),
            Some(id),
        )
    }),
    ("member twice", |_, n| {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":{n},\"method\":\"x\",\"method\":\"ping\"}}"
        );
        (line.into_bytes(), None)
    }),
    ("deep nesting", |random, n| {
        let depth = 50 + random.next(2_000);
        let arguments = format!("{{\"query\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        (recall(n, &arguments), Some(json!(n)))
    }),
    ("two objects", |_, n| {
        let one = String::from_utf8(recall(n, "{\"query\":\"a\"}")).unwrap_or_default();
        (format!("{one}{one}").into_bytes(), Some(json!(n)))
    }),
    ("text", |random, _| {
        let texts = [
            "hello",
            "7",
            "null",
            "true",
            "\"x\"",
            "{",
            "}",
            "[",
            "]",
            "{}",
            "[]",
            "[[]]",
            "Content-Length: 10",
        ];
        (
            texts[random.next(texts.len())].as_bytes().to_vec(),
            Some(Value::Null),
        )
    }),
    ("bytes", |random, _| {
        let count = 1 + random.next(200);
        let byte = |random: &mut Random| match random.next(256) {
            // Blank lines need no answer.
            0..=32 => b'x',
            byte => u8::try_from(byte).unwrap_or(b'x'),
        };
        (
            (0..count).map(|_| byte(random)).collect(),
            Some(Value::Null),
        )
    }),
    ("unset arguments", |random, n| {
        let unset = ["\"\"", "null", "\"null\"", "\" \"", "[]"][random.next(5)];
        let name = ["k", "as_of", "kinds", "task", "min_relevance"][random.next(5)];
        (
            recall(n, &format!("{{\"query\":\"a\",\"{name}\":{unset}}}")),
            Some(json!(n)),
        )
    }),
    ("further arguments", |_, n| {
        (
            recall(n, "{\"query\":\"a\",\"reason\":\"x\",\"_meta\":[1]}"),
            Some(json!(n)),
        )
    }),
    ("batch", |random, n| {
        let count = 1 + random.next(4);
        let one =
            |at: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{n}-{at}\",\"method\":\"ping\"}}");
        let mut items: Vec<String> = (0..count).map(one).collect();
        items.extend((0..random.next(3)).map(|_| "7".to_owned()));
        (
            format!("[{}]", items.join(",")).into_bytes(),
            Some(json!(format!("{n}-0"))),
        )
    }),
];

/// Returns this many malformed requests, all faults in turn. The ids begin at `first_id`.
pub fn malformed_requests(count: usize, first_id: u64, seed: u64) -> Vec<MalformedRequest> {
    let mut random = Random(seed | 1);
    let faults = FAULTS.iter().cycle().take(count);
    faults
        .zip(first_id..)
        .map(|((fault, make), id)| {
            let (bytes, id) = make(&mut random, id);
            MalformedRequest { bytes, fault, id }
        })
        .collect()
}

impl MalformedRequest {
    /// Returns true if a message of the server answers the request.
    pub fn is_answered_by(&self, message: &Value) -> bool {
        let batch = message.as_array().map(Vec::as_slice);
        let answers = batch.unwrap_or(std::slice::from_ref(message));
        answers.iter().any(|answer| {
            let is_answer = answer.get("result").is_some() || answer.get("error").is_some();
            let id = answer.get("id").unwrap_or(&Value::Null);
            is_answer && self.id.as_ref().is_none_or(|wanted| wanted == id)
        })
    }
}

fn request(id: u64, method: &str, params: &str) -> Vec<u8> {
    let text =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}");
    text.into_bytes()
}

fn recall(id: u64, arguments: &str) -> Vec<u8> {
    request(
        id,
        "tools/call",
        &format!("{{\"name\":\"recall\",\"arguments\":{arguments}}}"),
    )
}
