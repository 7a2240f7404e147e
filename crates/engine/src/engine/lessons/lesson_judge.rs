//! Judgement of a session's candidates by the configured model, within the daily limits.

use super::Lessons;
use heirloom_lessons::{JUDGE_PROMPT, JudgeRequest, Judgement};
use heirloom_model::{Fault, WriteRequest, text};

/// Longest name of a model that is stored, characters.
const MODEL_CHARS_MAX: usize = 100;

impl Lessons<'_> {
    /// Asks the configured model for its verdicts. Stores nothing.
    ///
    /// Errors: `Usage` without a model; those of the service, and `Failed` for an answer of another form. One request that
    /// fails discards the answers to the others.
    pub fn judge(&self, request: &JudgeRequest) -> Result<Judgement, Fault> {
        let summariser = self.engine.summariser.as_ref().ok_or_else(|| {
            Fault::usage("no model is configured that could judge lessons")
                .hint("set `kind` and `model` under `[writer]` in your own config")
        })?;
        let mut answers = Vec::new();
        let mut model = String::new();
        for data in request.data() {
            let written = summariser.write(
                self.engine,
                &WriteRequest {
                    system: JUDGE_PROMPT.to_owned(),
                    data: self.engine.redaction().redact_input(&data).into_owned(),
                    max_output_tokens: summariser.max_output_tokens,
                },
            )?;
            model = text::excerpt(&written.model, MODEL_CHARS_MAX);
            answers.push(written.text);
        }
        let judgement = request.read_answers(&answers, &model);
        judgement.map_err(|problem| Fault::failed(format!("{model} judged nothing: {problem}")))
    }
}
