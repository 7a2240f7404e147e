//! Policy of one conversation, with the resolved rules of each tool.

use crate::compaction_policy::{PREVIEW_CHARS_MIN, Policy};
use crate::message::ToolOutput;
use crate::output_truncation::STALE_CHARS;
use heirloom_model::limits::CHARS_PER_TOKEN;
use heirloom_model::text::hash16;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;

/// Resolved rules of one tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolLimits {
    /// Length above which its outputs are shortened.
    pub(crate) max: usize,
    /// Length of previews.
    pub(crate) preview: usize,
    /// Maximum length of stubs: a short preview is replaced by a shorter stub.
    pub(crate) stub: usize,
    /// True if outputs never become stale.
    pub(crate) critical: bool,
    /// True if the tool reads files.
    pub(crate) read: bool,
}

/// Policy with cached rules per tool.
pub(crate) struct PolicyLookup<'a> {
    policy: &'a Policy,
    /// Rules by the tool's index in the conversation.
    tools: RefCell<Vec<Option<ToolLimits>>>,
    /// See [`crate::WindowState::expanded`].
    expanded: BTreeMap<String, usize>,
}

/// Rules of an expanded output.
const UNLIMITED: ToolLimits = ToolLimits {
    max: usize::MAX,
    preview: usize::MAX,
    stub: STALE_CHARS,
    critical: true,
    read: false,
};

impl<'a> PolicyLookup<'a> {
    pub(crate) fn new(policy: &'a Policy, expanded: &BTreeMap<String, usize>) -> Self {
        Self {
            policy,
            tools: RefCell::default(),
            expanded: expanded.clone(),
        }
    }

    /// Returns true if an output was expanded and leaves enough space for other content.
    fn is_expanded(&self, output: &ToolOutput) -> bool {
        let target = self.policy.summary_threshold;
        let fits = target == 0 || output.chars <= target.saturating_mul(CHARS_PER_TOKEN) / 2;
        let is_after_expansion = |id: &str| {
            let from = self.expanded.get(id);
            output
                .call
                .zip(from)
                .is_some_and(|((call, _), from)| call >= *from)
        };
        output.shortened_form.is_none()
            && output.chars > PREVIEW_CHARS_MIN
            && fits
            && (output.expand_id.as_deref().is_some_and(is_after_expansion)
                || is_after_expansion(&hash16(&output.text)))
    }

    pub(crate) fn limits_for(&self, output: &ToolOutput) -> ToolLimits {
        if !self.expanded.is_empty() && self.is_expanded(output) {
            return UNLIMITED;
        }
        let number = output.tool_index;
        if let Some(Some(tool)) = self.tools.borrow().get(number) {
            return *tool;
        }
        let name = &output.tool;
        let (max, preview) = self.policy.lengths(name);
        let tool = ToolLimits {
            max,
            preview,
            stub: STALE_CHARS.min(preview / 4 * 3),
            critical: self.policy.is_critical(name),
            read: self.policy.is_read_tool(name),
        };
        let mut tools = self.tools.borrow_mut();
        if tools.len() <= number {
            tools.resize(number + 1, None);
        }
        tools[number] = Some(tool);
        tool
    }
}

impl Deref for PolicyLookup<'_> {
    type Target = Policy;

    fn deref(&self) -> &Policy {
        self.policy
    }
}
