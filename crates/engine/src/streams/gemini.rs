//! Gemini CLI `--output-format stream-json`.

use super::dialect::{Dialect, Out, SessionName, Spoken, shown, tool_call};
use super::json::{Field, count, is_true, object, object_of, string, word};
use heirloom_model::limits::STREAM_LINE_BYTES_MAX;
use heirloom_model::stream::{StreamEvent, Usage};
use serde::Deserialize;

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    session: SessionName,
    spoken: Spoken,
    /// The message whose deltas are arriving, and the line of the first.
    message: Option<(String, u64)>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    delta: Field<'a>,
    #[serde(borrow)]
    tool_name: Field<'a>,
    #[serde(borrow)]
    parameters: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
    #[serde(borrow)]
    stats: Field<'a>,
    #[serde(borrow)]
    response: Field<'a>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct Stats<'a> {
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    cached: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
}

impl Dialect for Gemini {
    fn line(&mut self, text: &str, number: u64, out: Out<'_>) -> Result<(), serde_json::Error> {
        let line: Line<'_> = object_of(text)?;
        match word(line.kind) {
            "init" => {
                self.end_message(out);
                self.session.tell(line.session_id, out);
            }
            "message" if word(line.role) == "assistant" => self.assistant(&line, number, out),
            "message" => self.end_message(out),
            "tool_use" => {
                self.end_message(out);
                let parameters = line.parameters.map_or("", |raw| raw.get());
                out(tool_call(
                    string(line.tool_name).unwrap_or_default(),
                    parameters,
                ));
            }
            "tool_result" => {
                self.end_message(out);
                let failed = word(line.status) != "success";
                out(StreamEvent::ToolResult { failed });
            }
            "error" => {
                self.end_message(out);
                let message = string(line.message);
                message
                    .into_iter()
                    .for_each(|message| out(StreamEvent::Error(message)));
            }
            "result" => self.result(&line, number, out),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, out: Out<'_>) {
        self.end_message(out);
    }
}

impl Gemini {
    fn assistant(&mut self, line: &Line<'_>, number: u64, out: Out<'_>) {
        let Some(said) = string(line.content) else {
            return;
        };
        if is_true(line.delta) {
            let (message, _) = self.message.get_or_insert_with(|| (String::new(), number));
            message.push_str(&said);
            // No end in sight: what there is goes on as a message, rather than growing for ever.
            if message.len() > STREAM_LINE_BYTES_MAX {
                self.end_message(out);
            }
            return;
        }
        // A whole message either stands alone or repeats its deltas.
        if self
            .message
            .as_ref()
            .is_none_or(|(message, _)| *message != said)
        {
            self.end_message(out);
            self.message = Some((said, number));
        }
        self.end_message(out);
    }

    fn end_message(&mut self, out: Out<'_>) {
        if let Some((text, line)) = self.message.take() {
            self.spoken.said("", &text);
            out(StreamEvent::Text { text, line });
        }
    }

    fn result(&mut self, line: &Line<'_>, number: u64, out: Out<'_>) {
        let failed = word(line.status) != "success";
        if failed {
            self.drop_broken_line(number, out);
        }
        self.end_message(out);
        if let Some(stats) = object::<Stats<'_>>(line.stats) {
            let cached = count(stats.cached);
            out(StreamEvent::Usage(Usage {
                // Its input tokens include the cached ones; ours do not.
                input: count(stats.input_tokens).saturating_sub(cached),
                cached,
                output: count(stats.output_tokens),
            }));
        }
        let failure = object::<Failure<'_>>(line.error);
        let error = failure.and_then(|failure| string(failure.message));
        error
            .into_iter()
            .for_each(|error| out(StreamEvent::Error(error)));
        let text = string(line.response).and_then(|text| self.spoken.unless_repeated(text));
        if let Some(text) = text {
            out(StreamEvent::Text { text, line: number });
        }
        out(StreamEvent::Finished { failed });
    }

    /// Takes the last line off a message whose deltas end in a failure: the answer broke off inside
    /// it, and half a fact must not be remembered as a whole one.
    fn drop_broken_line(&mut self, number: u64, out: Out<'_>) {
        let Some((message, _)) = &mut self.message else {
            return;
        };
        let whole = message.rfind('\n').map_or(0, |feed| feed + 1);
        let broken = message.split_off(whole);
        if whole == 0 {
            self.message = None;
        }
        if !broken.trim().is_empty() {
            let message = format!("the answer broke off inside a line: {}", shown(&broken));
            out(StreamEvent::Unreadable {
                line: number,
                message,
            });
        }
    }
}
