//! Reads the simple commands of a syntax tree, those in their arguments and those that they run elsewhere.

use super::ShapePart;
use super::flow_node::FlowNode;
use super::part_description::{STATUSES, carried_line, inner_line, printed_status, shape_part};
use super::part_role::PartRole;
use super::shape_reader::{LineCursor, ShapeReader, sequence, word_text};
use crate::failures::command_line::split_words;
use crate::failures::normal_command::{SHELLS, base_name, without_prefixes};
use rable::{Node, NodeKind};

impl ShapeReader {
    /// Notes what had run when a variable took the exit status.
    pub(super) fn keep_status(&mut self, all: &FlowNode) {
        let is_new = |(_, node): &&mut (String, FlowNode)| *node == FlowNode::Empty;
        for (_, node) in self.status_names.iter_mut().filter(is_new) {
            *node = all.clone();
        }
    }

    /// Recognises `exit $?`, whose status is that of an earlier command.
    pub(super) fn passed_status(&self, node: &Node) -> Option<PassedStatus> {
        let NodeKind::Command { words, .. } = &node.kind else {
            return None;
        };
        let words: Vec<&str> = words.iter().filter_map(word_text).collect();
        let [program, value] = words.as_slice() else {
            return None;
        };
        let value = value.trim_matches('"');
        let name = value.trim_start_matches('$').trim_matches(['{', '}']);
        let kept = self
            .status_names
            .iter()
            .rev()
            .find(|(known, _)| known == name);
        let is_exit = matches!(*program, "exit" | "return");
        (is_exit && (kept.is_some() || STATUSES.contains(&value))).then(|| PassedStatus {
            node: kept.map(|(_, node)| node.clone()),
            is_strict: value.contains('['),
        })
    }

    pub(super) fn read_command(
        &mut self,
        node: &Node,
        line: &mut LineCursor<'_>,
        is_piped: bool,
    ) -> FlowNode {
        let NodeKind::Command {
            assignments, words, ..
        } = &node.kind
        else {
            return FlowNode::Empty;
        };
        let first_inner = self.parts.len();
        let inner = self.read_substitutions(assignments.iter().chain(words), line);
        if words.is_empty() {
            let names = assignments.iter().filter_map(word_text).filter_map(|word| {
                let (name, value) = word.split_once('=')?;
                let is_status = STATUSES.contains(&value.trim_matches('"'));
                is_status.then(|| (name.to_owned(), FlowNode::Empty))
            });
            self.status_names.extend(names);
            // The status of `A=$(b)` is that of `b`.
            let all = inner.into_iter();
            return all.fold(FlowNode::Empty, |all, next| sequence(all, next, false));
        }
        let text = line.text_of(node);
        let program = words.first().and_then(word_text).unwrap_or_default();
        if program == "set" {
            let flags = words.iter().skip(1).filter_map(word_text);
            line.options.read(flags);
        }
        let main = self.add_command(&text, is_piped);
        if let FlowNode::Part(number) = main
            && let Some(part) = self.parts.get_mut(number)
            && part.role == PartRole::Message
        {
            part.printed_status = printed_status(&part.text, &self.status_names);
        }
        let only_prints =
            |part: &ShapePart| matches!(part.role, PartRole::Message | PartRole::Setup);
        if let FlowNode::Part(number) = main
            && !self.parts.get(number).is_some_and(only_prints)
        {
            let inner = self.parts.get_mut(first_inner..number).unwrap_or_default();
            inner.iter_mut().for_each(|part| part.is_substituted = true);
        }
        match inner.is_empty() {
            true => main,
            false => FlowNode::Arguments(inner, Box::new(main)),
        }
    }

    /// Reads the commands in `$(…)`.
    fn read_substitutions<'n>(
        &mut self,
        words: impl Iterator<Item = &'n Node>,
        line: &mut LineCursor<'_>,
    ) -> Vec<FlowNode> {
        let mut found = Vec::new();
        for word in words {
            let NodeKind::Word { parts, .. } = &word.kind else {
                continue;
            };
            for part in parts {
                if let NodeKind::CommandSubstitution { command, .. } = &part.kind {
                    let was_detached = std::mem::replace(&mut line.is_detached, true);
                    let options = line.options;
                    let first = self.parts.len();
                    found.push(self.read_node(command, line, false));
                    line.options = options;
                    line.is_detached = was_detached;
                    self.hide_markers(first);
                }
            }
        }
        found
    }

    /// Adds a simple command, or the commands of the line that it runs.
    fn add_command(&mut self, text: &str, is_piped: bool) -> FlowNode {
        let words = split_words(text);
        let plain = without_prefixes(&words);
        let program = plain.first().map_or("", |word| base_name(word));
        let number = self.parts.len();
        if SHELLS.contains(&program)
            && let Some((inner, options)) = inner_line(&plain)
            && let Some(node) = self.read_line(&inner, options)
        {
            return node;
        }
        self.parts.truncate(number);
        let main = self.push(shape_part(text, is_piped));
        if let Some((inner, options)) = carried_line(program, &plain)
            && let Some(node) = self.read_line(&inner, options)
            && let FlowNode::Part(number) = main
        {
            return FlowNode::Remote(number, Box::new(node));
        }
        self.parts.truncate(number + 1);
        main
    }

    pub(super) fn push(&mut self, part: ShapePart) -> FlowNode {
        self.parts.push(part);
        FlowNode::Part(self.parts.len() - 1)
    }
}

/// Exit status of an earlier command with which a line ends.
pub(super) struct PassedStatus {
    /// The commands that had run when a variable took it; `None` for the command before.
    node: Option<FlowNode>,
    /// True if each stage of a pipe counts.
    is_strict: bool,
}

impl PassedStatus {
    pub(super) fn apply(self, all: &mut FlowNode) {
        if let Some(node) = self.node
            && node != *all
        {
            *all = FlowNode::Then(Box::new(std::mem::take(all)), Box::new(node));
        }
        let mut last = all;
        while let FlowNode::Then(_, next) = last {
            last = next;
        }
        if let FlowNode::Pipe { is_strict, .. } = last {
            *is_strict |= self.is_strict;
        }
    }
}
