//! Text that goes to a model: its envelope, and neutralised signals.

use crate::engine::Contexts;
use heirloom_agents::hooks::wrap_in_envelope;
use heirloom_agents::signals::{self, SignalRules};
use heirloom_model::prompt_safety::neutralize_document;
use heirloom_model::{Fault, text};

impl<'e> Contexts<'e> {
    /// Returns the prefixes of signal and status lines.
    pub fn signal_rules(&self) -> Result<&'e SignalRules, Fault> {
        if let Some(rules) = self.engine.signal_rules.get() {
            return Ok(rules);
        }
        let settings = &self.engine.settings;
        let rules = SignalRules::new(&settings.memory_prefixes, &settings.status_prefixes);
        let rules = rules.map_err(|error| {
            Fault::usage(error.to_string())
                .hint("see `signals.prefixes` and `signals.status_prefixes` in `heirloom config`")
        })?;
        Ok(self.engine.signal_rules.get_or_init(|| rules))
    }

    /// Wraps a complete answer to a model in an injection envelope with its origin. Returns an empty text for an
    /// empty one.
    pub fn render_envelope(&self, body: &str) -> String {
        wrap_in_envelope(
            &self.engine.display_name(),
            &self.neutralize_text(body),
            usize::MAX,
        )
    }

    /// Neutralises signals, so that an agent that repeats the text writes nothing, and the markup of hosts and of chat
    /// templates. Invisible characters are removed first: one inside of a prefix would hide the signal.
    pub fn neutralize_text(&self, body: &str) -> String {
        let plain = neutralize_document(&text::strip_ansi(body)).into_owned();
        match self.signal_rules() {
            Ok(rules) => signals::neutralize_signals(&plain, rules),
            Err(_) => plain,
        }
    }
}
