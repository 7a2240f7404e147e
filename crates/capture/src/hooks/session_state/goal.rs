//! Goal of a session: the prompts that state it.

use super::HookSessionState;
use crate::failures::without_wrapping;
use heirloom_model::text;

/// Minimum length of a prompt that changes the goal, characters.
const GOAL_CHARS_MIN: usize = 40;

impl HookSessionState {
    /// Counts a prompt, and takes the goal from it if it states one.
    pub(in crate::hooks) fn add_prompt(&mut self, prompt: &str) {
        const PROMPT_CHARS: usize = 600;
        let plain = without_wrapping(prompt);
        let prompt = if plain.is_empty() { prompt } else { plain };
        let short = text::excerpt(prompt, PROMPT_CHARS);
        self.goal.get_or_insert_with(|| short.clone());
        // Short prompts answer a question or say to go on.
        if self.current_goal.is_none() || text::chars(prompt.trim()) >= GOAL_CHARS_MIN {
            self.current_goal = Some(short.clone());
        }
        self.prompt = Some(short);
        self.prompts = self.prompts.saturating_add(1);
    }

    /// Returns the newest prompt that states a goal.
    pub(in crate::hooks) fn current_goal(&self) -> Option<&str> {
        self.current_goal.as_deref()
    }
}
