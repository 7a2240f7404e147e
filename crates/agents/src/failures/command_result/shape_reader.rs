//! Reads the structure of a command line from the syntax tree of the parser.

use super::flow_node::FlowNode;
use super::parse_limits::is_within_limits;
use super::part_description::{ShellOptions, shape_part};
use super::part_role::PartRole;
use super::{CommandShape, ShapePart};
use heirloom_model::limits::COMMAND_PART_CHARS_MAX;
use heirloom_model::text;
use rable::{ListOperator, Node, NodeKind};

/// Simple commands of a line that are read.
const PARTS_MAX: usize = 24;
/// Command lines within command lines: `ssh host "bash -c '…'"`.
const LINES_MAX: usize = 4;

/// Returns the structure of a command line. A line that cannot be parsed is one part.
pub(super) fn read_shape(line: &str) -> CommandShape {
    let mut reader = ShapeReader {
        parts: Vec::new(),
        depth: 0,
        status_names: Vec::new(),
    };
    let root = reader.read_line(line, ShellOptions::default());
    match root {
        Some(root) => CommandShape {
            parts: reader.parts,
            root,
            is_opaque: false,
        },
        None => {
            reader.parts.clear();
            CommandShape {
                root: reader.push(shape_part(line, false)),
                parts: reader.parts,
                is_opaque: has_operator(line),
            }
        }
    }
}

/// Returns true if a text may consist of several commands.
fn has_operator(line: &str) -> bool {
    line.contains(['|', ';', '&', '\n', '(', '{', '`'])
}

/// Reader of one command line with those within it.
pub(super) struct ShapeReader {
    pub(super) parts: Vec<ShapePart>,
    /// Number of command lines around the current one.
    pub(super) depth: usize,
    /// Variables that hold an exit status, with what had run.
    pub(super) status_names: Vec<(String, FlowNode)>,
}

/// A command line while it is read.
pub(super) struct LineCursor<'l> {
    text: &'l str,
    /// Byte offset of each character.
    offsets: Vec<usize>,
    pub(super) options: ShellOptions,
    /// True if the positions of the nodes are those of another text.
    pub(super) is_detached: bool,
    /// True within a condition.
    pub(super) is_condition: bool,
}

impl LineCursor<'_> {
    pub(super) fn text_of(&self, node: &Node) -> String {
        let offset = |at: usize| self.offsets.get(at).copied().unwrap_or(self.text.len());
        let range = offset(node.span.start)..offset(node.span.end);
        match self.text.get(range) {
            Some(found) if !self.is_detached && !found.is_empty() => found.trim().to_owned(),
            Some(_) | None => joined_words(node),
        }
    }
}

/// Returns true for a structure whose output goes to a file.
fn has_redirections(kind: &NodeKind) -> bool {
    if let NodeKind::If { redirects, .. }
    | NodeKind::While { redirects, .. }
    | NodeKind::Until { redirects, .. }
    | NodeKind::For { redirects, .. }
    | NodeKind::Case { redirects, .. }
    | NodeKind::Subshell { redirects, .. }
    | NodeKind::BraceGroup { redirects, .. } = kind
    {
        return !redirects.is_empty();
    }
    false
}

fn joined_words(node: &Node) -> String {
    let NodeKind::Command {
        assignments, words, ..
    } = &node.kind
    else {
        return String::new();
    };
    let words = assignments.iter().chain(words).filter_map(word_text);
    words.collect::<Vec<_>>().join(" ")
}

pub(super) fn word_text(node: &Node) -> Option<&str> {
    let NodeKind::Word { value, .. } = &node.kind else {
        return None;
    };
    Some(value)
}

impl ShapeReader {
    pub(super) fn read_line(&mut self, text: &str, options: ShellOptions) -> Option<FlowNode> {
        if !is_within_limits(text) || self.depth >= LINES_MAX {
            return None;
        }
        let nodes = rable::parse(text, true).ok()?;
        let mut line = LineCursor {
            text,
            offsets: text.char_indices().map(|(at, _)| at).collect(),
            options,
            is_detached: false,
            is_condition: false,
        };
        self.depth += 1;
        let mut all = FlowNode::Empty;
        for node in &nodes {
            if let Some(passed) = self.passed_status(node) {
                passed.apply(&mut all);
                continue;
            }
            let next = self.read_node(node, &mut line, false);
            all = sequence(all, next, line.options.stops);
            self.keep_status(&all);
        }
        self.depth -= 1;
        (self.parts.len() <= PARTS_MAX).then_some(all)
    }

    /// Reads a node; `is_piped` if its input is the output of another command.
    pub(super) fn read_node(
        &mut self,
        node: &Node,
        line: &mut LineCursor<'_>,
        is_piped: bool,
    ) -> FlowNode {
        let first = self.parts.len();
        let read = self.read_kind(node, line, is_piped);
        if has_redirections(&node.kind) {
            self.hide_markers(first);
        }
        read
    }

    /// Forgets what the parts from a number on print: it goes to a file or to another command.
    pub(super) fn hide_markers(&mut self, first: usize) {
        for part in self.parts.get_mut(first..).unwrap_or_default() {
            part.marker = None;
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the parser has forty kinds of nodes for words, which are no commands"
    )]
    fn read_kind(&mut self, node: &Node, line: &mut LineCursor<'_>, is_piped: bool) -> FlowNode {
        match &node.kind {
            NodeKind::Command { .. } => self.read_command(node, line, is_piped),
            NodeKind::Pipeline { commands, .. } => self.read_pipeline(commands, line),
            NodeKind::List { items } => self.read_list(items, line, is_piped),
            NodeKind::If {
                condition,
                then_body,
                else_body,
                ..
            } => {
                let condition = self.read_condition(condition, line);
                let holds = self.read_node(then_body, line, is_piped);
                let otherwise = else_body.as_ref();
                let otherwise = otherwise.map(|body| self.read_node(body, line, is_piped));
                FlowNode::Branch {
                    condition: Box::new(condition),
                    holds: Box::new(holds),
                    otherwise: Box::new(otherwise.unwrap_or_default()),
                }
            }
            NodeKind::While {
                condition, body, ..
            }
            | NodeKind::Until {
                condition, body, ..
            } => {
                let condition = self.read_condition(condition, line);
                let body = FlowNode::Repeated(vec![self.read_node(body, line, is_piped)]);
                let is_until = matches!(node.kind, NodeKind::Until { .. });
                // `while ! a` and `until a` end when `a` succeeds.
                if is_until {
                    FlowNode::Until(Box::new(condition), Box::new(body))
                } else if let FlowNode::Inverted { inner, .. } = condition {
                    FlowNode::Until(inner, Box::new(body))
                } else {
                    FlowNode::Repeated(vec![condition, body])
                }
            }
            NodeKind::For { body, .. }
            | NodeKind::ForArith { body, .. }
            | NodeKind::Select { body, .. } => {
                FlowNode::Repeated(vec![self.read_node(body, line, is_piped)])
            }
            NodeKind::Case { patterns, .. } => {
                let bodies = patterns.iter().filter_map(|pattern| pattern.body.as_ref());
                let bodies = bodies.map(|body| self.read_node(body, line, is_piped));
                let mut bodies: Vec<FlowNode> = bodies.collect();
                // One alternative runs, so that a failure is not certainly that of the only body.
                bodies.push(FlowNode::Empty);
                FlowNode::Repeated(bodies)
            }
            NodeKind::Subshell { body, .. } => {
                let outer = line.options;
                let inner = self.read_node(body, line, is_piped);
                line.options = outer;
                inner
            }
            NodeKind::BraceGroup { body, .. } | NodeKind::Time { pipeline: body, .. } => {
                self.read_node(body, line, is_piped)
            }
            NodeKind::Negation { pipeline } => FlowNode::Inverted {
                inner: Box::new(self.read_node(pipeline, line, is_piped)),
                is_wanted: !line.is_condition,
            },
            NodeKind::Coproc { command, .. } => {
                FlowNode::Background(Box::new(self.read_node(command, line, is_piped)))
            }
            NodeKind::ConditionalExpr { .. } | NodeKind::ArithmeticCommand { .. } => {
                let text = line.text_of(node);
                self.push(ShapePart {
                    text: text::clip(&text, COMMAND_PART_CHARS_MAX).to_owned(),
                    role: PartRole::Lookup,
                    ..ShapePart::default()
                })
            }
            // The definition of a function runs nothing; the other kinds occur only within words.
            _ => FlowNode::Empty,
        }
    }

    /// Reads a condition, whose failure does not end the shell.
    fn read_condition(&mut self, node: &Node, line: &mut LineCursor<'_>) -> FlowNode {
        let stops = std::mem::take(&mut line.options.stops);
        let was_condition = std::mem::replace(&mut line.is_condition, true);
        let read = self.read_node(node, line, false);
        line.options.stops |= stops;
        line.is_condition = was_condition;
        read
    }

    fn read_list(
        &mut self,
        items: &[rable::ListItem],
        line: &mut LineCursor<'_>,
        is_piped: bool,
    ) -> FlowNode {
        let mut all: Option<FlowNode> = None;
        let mut before = None;
        for item in items {
            if let (Some(all), Some(passed)) = (&mut all, self.passed_status(&item.command)) {
                passed.apply(all);
                before = item.operator;
                continue;
            }
            let mut next = self.read_node(&item.command, line, is_piped);
            if item.operator == Some(ListOperator::Background) {
                next = FlowNode::Background(Box::new(next));
            }
            all = Some(match (all.take(), before) {
                (Some(first), Some(ListOperator::And)) => {
                    FlowNode::And(Box::new(first), Box::new(next))
                }
                (Some(first), Some(ListOperator::Or)) => {
                    FlowNode::Or(Box::new(first), Box::new(next))
                }
                (Some(first), Some(ListOperator::Semi | ListOperator::Background) | None) => {
                    sequence(first, next, line.options.stops)
                }
                (None, _) => next,
            });
            if let Some(all) = &all {
                self.keep_status(all);
            }
            before = item.operator;
        }
        all.unwrap_or_default()
    }

    fn read_pipeline(&mut self, commands: &[Node], line: &mut LineCursor<'_>) -> FlowNode {
        let first = self.parts.len();
        let stages: Vec<FlowNode> = commands
            .iter()
            .enumerate()
            .map(|(number, command)| self.read_node(command, line, number > 0))
            .collect();
        let shown = self.parts.get(first..).unwrap_or_default();
        let shown = shown.iter().filter_map(|part| part.lines_shown).min();
        for part in self.parts.get_mut(first..).unwrap_or_default() {
            part.lines_shown = shown;
        }
        self.hide_markers(first);
        FlowNode::Pipe {
            stages,
            is_strict: line.options.is_strict,
        }
    }
}

pub(super) fn sequence(first: FlowNode, next: FlowNode, stops: bool) -> FlowNode {
    if first == FlowNode::Empty {
        return next;
    }
    if next == FlowNode::Empty {
        return first;
    }
    match stops {
        true => FlowNode::And(Box::new(first), Box::new(next)),
        false => FlowNode::Then(Box::new(first), Box::new(next)),
    }
}
