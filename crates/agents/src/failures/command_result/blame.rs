//! Parts of a line that can be blamed for its failure, and those that cannot.

use super::ShapePart;
use super::flow_node::{FlowNode, collect_excused};
use super::part_role::PartRole;
use super::status_flow::Flow;

impl Flow {
    /// Returns the parts that can be the reason of a failure of a node, in the order of the line.
    pub(super) fn failure_candidates(&self, root: &FlowNode) -> Vec<usize> {
        let mut found = Vec::new();
        self.collect_candidates(root, &mut found);
        found
    }

    fn collect_candidates(&self, node: &FlowNode, found: &mut Vec<usize>) {
        match node {
            FlowNode::Empty | FlowNode::Background(_) => {}
            FlowNode::Part(number) => {
                if self.is_open(*number) {
                    found.push(*number);
                }
            }
            FlowNode::Then(_, last) | FlowNode::Arguments(_, last) => {
                self.collect_candidates(last, found);
            }
            FlowNode::Pipe { stages, is_strict } => {
                let is_strict = *is_strict
                    || stages
                        .last()
                        .is_some_and(|last| !self.possible(last).failure);
                let skipped = if is_strict {
                    0
                } else {
                    stages.len().saturating_sub(1)
                };
                // The last stages fail because of the first ones.
                for stage in stages.iter().skip(skipped).rev() {
                    self.collect_candidates(stage, found);
                }
            }
            FlowNode::Remote(number, inner) => {
                self.collect_candidates(&FlowNode::Part(*number), found);
                self.collect_candidates(inner, found);
            }
            FlowNode::Branch {
                holds, otherwise, ..
            } => {
                self.collect_candidates(holds, found);
                self.collect_candidates(otherwise, found);
            }
            FlowNode::And(..)
            | FlowNode::Or(..)
            | FlowNode::Inverted { .. }
            | FlowNode::Until(..)
            | FlowNode::Repeated(_) => {
                for child in node.children() {
                    self.collect_candidates(child, found);
                }
            }
        }
    }

    /// Returns the parts of alternatives such as `a || b` that need not be known, because the line succeeded.
    pub(super) fn excused_parts(&self, root: &FlowNode, parts: &[ShapePart]) -> Vec<usize> {
        let mut excused = Vec::new();
        if self.has_succeeded {
            collect_excused(root, parts, &mut excused);
        }
        excused
    }

    /// Returns the parts whose failure another command made up for, as in `a || b` where `b` did the work.
    pub(super) fn handled_parts(&self, root: &FlowNode, parts: &[ShapePart]) -> Vec<usize> {
        let mut handled = Vec::new();
        self.collect_handled(root, parts, &mut handled);
        handled
    }

    fn collect_handled(&self, node: &FlowNode, parts: &[ShapePart], handled: &mut Vec<usize>) {
        if let FlowNode::Or(a, b) = node {
            let mut has_worked = false;
            b.for_each_part(&mut |number| {
                let is_work = parts
                    .get(number)
                    .is_some_and(|part| part.role == PartRole::Work);
                has_worked |= is_work && self.status(number) == Some(true);
            });
            if has_worked {
                a.for_each_part(&mut |number| handled.push(number));
            }
        }
        for child in node.children() {
            self.collect_handled(child, parts, handled);
        }
    }
}
