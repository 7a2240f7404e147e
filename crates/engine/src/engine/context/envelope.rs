//! Text that goes to a model: its envelope, and neutralised signals.

use crate::engine::Contexts;
use heirloom_agents::hooks::wrap_in_envelope;
use heirloom_agents::signals::{self, SignalRules};
use heirloom_model::{Fault, text};

impl Contexts<'_> {
    /// Returns the prefixes of signal and status lines.
    pub fn signal_rules(&self) -> Result<SignalRules, Fault> {
        SignalRules::new(
            &self.engine.settings.memory_prefixes,
            &self.engine.settings.status_prefixes,
        )
        .map_err(|error| {
            Fault::usage(error.to_string())
                .hint("see `signals.prefixes` and `signals.status_prefixes` in `heirloom config`")
        })
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

    /// Neutralises signals, so that an agent that repeats the text writes nothing, and removes terminal control
    /// characters.
    pub fn neutralize_text(&self, body: &str) -> String {
        let plain = text::replace_control_chars(body);
        match self.signal_rules() {
            Ok(rules) => signals::neutralize_signals(&plain, &rules),
            Err(_) => plain,
        }
    }
}
