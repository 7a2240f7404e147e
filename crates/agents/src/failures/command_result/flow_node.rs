//! Structure of a command line, as far as its exit status depends on it.

use super::ShapePart;
use super::part_role::PartRole;
use serde::{Deserialize, Serialize};

/// Structure of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FlowNode {
    /// Nothing that can fail.
    #[default]
    Empty,
    /// A simple command, by its number.
    Part(usize),
    /// `a && b`, and `a; b` under `set -e`.
    And(Box<FlowNode>, Box<FlowNode>),
    /// `a || b`.
    Or(Box<FlowNode>, Box<FlowNode>),
    /// `a; b`.
    Then(Box<FlowNode>, Box<FlowNode>),
    /// `a | b`; strict under `set -o pipefail`.
    Pipe {
        /// Stages.
        stages: Vec<FlowNode>,
        /// True if each stage counts.
        is_strict: bool,
    },
    /// `a &`.
    Background(Box<FlowNode>),
    /// `! a`, as a statement if its failure is wanted, or as a condition.
    Inverted {
        /// Command.
        inner: Box<FlowNode>,
        /// True for a statement.
        is_wanted: bool,
    },
    /// `if a; then b; else c; fi`.
    Branch {
        /// Condition.
        condition: Box<FlowNode>,
        /// Commands if it holds.
        holds: Box<FlowNode>,
        /// Commands otherwise.
        otherwise: Box<FlowNode>,
    },
    /// Commands that run several times, or one of several alternatives.
    Repeated(Vec<FlowNode>),
    /// A loop that ends when its condition succeeds, with the commands in it.
    Until(Box<FlowNode>, Box<FlowNode>),
    /// A program that runs commands elsewhere, such as `ssh`, by its number, and these commands.
    Remote(usize, Box<FlowNode>),
    /// Commands in the arguments of a command.
    Arguments(Vec<FlowNode>, Box<FlowNode>),
}

/// Place where the status of a node is printed.
pub(super) struct PrintedStatus<'n> {
    /// The node.
    pub(super) node: &'n FlowNode,
    /// Number of the part that prints it.
    pub(super) printer: usize,
}

impl FlowNode {
    /// Returns the commands that are followed by `echo $?`.
    pub(super) fn printed_statuses(&self) -> Vec<PrintedStatus<'_>> {
        let mut found = Vec::new();
        self.collect_printed(&mut found);
        found
    }

    fn collect_printed<'n>(&'n self, found: &mut Vec<PrintedStatus<'n>>) {
        if let Self::Then(before, after) = self
            && let Some(printer) = after.first_part()
        {
            found.push(PrintedStatus {
                node: before.last_node(),
                printer,
            });
        }
        for child in self.children() {
            child.collect_printed(found);
        }
    }

    pub(super) fn children(&self) -> Vec<&Self> {
        match self {
            Self::Empty | Self::Part(_) => Vec::new(),
            Self::And(a, b) | Self::Or(a, b) | Self::Then(a, b) | Self::Until(b, a) => vec![a, b],
            Self::Pipe { stages, .. } => stages.iter().collect(),
            Self::Background(inner) | Self::Inverted { inner, .. } | Self::Remote(_, inner) => {
                vec![inner]
            }
            Self::Branch {
                condition,
                holds,
                otherwise,
            } => vec![condition, holds, otherwise],
            Self::Repeated(all) => all.iter().collect(),
            Self::Arguments(all, main) => all.iter().chain([main.as_ref()]).collect(),
        }
    }

    /// Returns the command whose status is that of the node in `a; b`.
    fn last_node(&self) -> &Self {
        match self {
            Self::Then(_, last) => last.last_node(),
            Self::Empty
            | Self::Part(_)
            | Self::And(..)
            | Self::Or(..)
            | Self::Pipe { .. }
            | Self::Background(_)
            | Self::Inverted { .. }
            | Self::Branch { .. }
            | Self::Repeated(_)
            | Self::Until(..)
            | Self::Remote(..)
            | Self::Arguments(..) => self,
        }
    }

    /// Returns the number of the command that runs first.
    pub(super) fn first_part(&self) -> Option<usize> {
        match self {
            Self::Part(number) | Self::Remote(number, _) => Some(*number),
            Self::Empty | Self::Background(_) => None,
            Self::Arguments(_, main) => main.first_part(),
            Self::And(..)
            | Self::Or(..)
            | Self::Then(..)
            | Self::Pipe { .. }
            | Self::Inverted { .. }
            | Self::Branch { .. }
            | Self::Until(..)
            | Self::Repeated(_) => self.children().first().and_then(|child| child.first_part()),
        }
    }

    pub(super) fn for_each_part(&self, visit: &mut dyn FnMut(usize)) {
        if let Self::Part(number) | Self::Remote(number, _) = self {
            visit(*number);
        }
        for child in self.children() {
            child.for_each_part(visit);
        }
    }
}

/// Adds the parts of `a || b` that need not be known if one of both did the work.
pub(super) fn collect_excused(node: &FlowNode, parts: &[ShapePart], excused: &mut Vec<usize>) {
    match node {
        FlowNode::And(a, b) => {
            collect_excused(a, parts, excused);
            collect_excused(b, parts, excused);
        }
        FlowNode::Then(_, last) | FlowNode::Arguments(_, last) => {
            collect_excused(last, parts, excused);
        }
        FlowNode::Or(a, b) => {
            let FlowNode::Part(second) = b.as_ref() else {
                return;
            };
            let is_work = |part: &ShapePart| part.role == PartRole::Work;
            if parts.get(*second).is_some_and(is_work) {
                a.for_each_part(&mut |number| excused.push(number));
                excused.push(*second);
            }
        }
        FlowNode::Empty
        | FlowNode::Part(_)
        | FlowNode::Pipe { .. }
        | FlowNode::Background(_)
        | FlowNode::Inverted { .. }
        | FlowNode::Branch { .. }
        | FlowNode::Repeated(_)
        | FlowNode::Until(..)
        | FlowNode::Remote(..) => {}
    }
}
