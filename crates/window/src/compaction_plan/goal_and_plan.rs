//! Detection of the user's goal and of the model's first plan, which anchors and summaries repeat.

use super::Plan;
use crate::markers;
use crate::message::{ChatMessage, ChatRole};
use heirloom_model::limits::WINDOW_PLAN_CHARS_MAX;
use heirloom_model::text::excerpt;

/// A user message shorter than this does not change the goal, characters.
const GOAL_CHARS_MIN: usize = 40;
/// A first reply longer than this is a plan, characters.
const PLAN_CHARS_MIN: usize = 50;

impl Plan {
    /// Notes the goal of a user message, unless it is short or a program's text.
    pub(super) fn note_goal(&mut self, message: &ChatMessage, at: usize) {
        let text = message.text();
        let trimmed = text.trim();
        if (message.has_outputs() && trimmed.is_empty()) || trimmed == markers::LEFT_OUT_TEXT {
            return;
        }
        self.last_user = Some(at);
        let is_goal =
            !markers::is_program_text(trimmed) && trimmed.chars().count() >= GOAL_CHARS_MIN;
        if is_goal || self.goal.is_none() {
            self.goal = Some(at);
        }
    }

    /// Notes the plan of the model's first reply.
    pub(super) fn note_plan(&mut self, message: &ChatMessage) {
        let plan_wanted = self.plan.is_none() && message.role == ChatRole::Assistant;
        if plan_wanted && self.turns <= 1 {
            let text = message.text();
            if text.chars().count() > PLAN_CHARS_MIN {
                self.plan = Some(excerpt(&text, WINDOW_PLAN_CHARS_MAX));
            }
        }
    }
}
