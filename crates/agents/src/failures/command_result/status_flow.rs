//! Flow of the exit status through a command line: what the status of the whole shows about its parts.

use super::ShapePart;
use super::flow_node::FlowNode;
use super::part_role::PartRole;

/// Statuses that are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Possible {
    pub(super) success: bool,
    pub(super) failure: bool,
}

impl Possible {
    const ANY: Self = Self {
        success: true,
        failure: true,
    };
    const SUCCESS: Self = Self {
        success: true,
        failure: false,
    };

    fn known(self) -> Option<bool> {
        match (self.success, self.failure) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            (true, true) | (false, false) => None,
        }
    }
}

/// Known states of the parts of a line.
pub(super) struct Flow {
    /// Success or failure of each part.
    statuses: Vec<Option<bool>>,
    /// True or false if a part is known to have begun or not.
    begun: Vec<Option<bool>>,
    /// True for parts whose failure is wanted.
    inverted: Vec<bool>,
    /// True if the line succeeded.
    pub(super) has_succeeded: bool,
}

impl Flow {
    pub(super) fn new(parts: usize) -> Self {
        Self {
            statuses: vec![None; parts],
            begun: vec![None; parts],
            inverted: vec![false; parts],
            has_succeeded: false,
        }
    }

    /// Sets the status of commands such as `echo` and `false`.
    pub(super) fn fix_constants(&mut self, parts: &[ShapePart]) {
        for (number, part) in parts.iter().enumerate() {
            match part.role {
                PartRole::Message => self.set(number, true),
                PartRole::Constant(succeeds) => self.set(number, succeeds),
                PartRole::Work
                | PartRole::Setup
                | PartRole::Filter
                | PartRole::Reader
                | PartRole::Lookup => {}
            }
        }
    }

    /// Sets the status of a part, unless it is known.
    pub(super) fn set(&mut self, number: usize, succeeded: bool) {
        if let Some(status) = self.statuses.get_mut(number)
            && status.is_none()
        {
            *status = Some(succeeded);
        }
    }

    /// Sets that a part ran and failed or succeeded.
    pub(super) fn set_shown(&mut self, number: usize, succeeded: bool) {
        self.set(number, succeeded);
        self.set_begun(number, true);
    }

    /// Sets if a part began.
    pub(super) fn set_begun(&mut self, number: usize, begun: bool) {
        if let Some(known) = self.begun.get_mut(number) {
            known.get_or_insert(begun);
        }
    }

    /// Returns the status of a part.
    pub(super) fn status(&self, number: usize) -> Option<bool> {
        let status = self.statuses.get(number).copied().flatten();
        status.filter(|_| !self.is_skipped(number))
    }

    /// Returns the status of a part, or the contrary if its failure is wanted.
    pub(super) fn outcome(&self, number: usize) -> Option<bool> {
        let status = self.status(number)?;
        Some(status != self.is_inverted(number))
    }

    /// Returns true if a part may have run, and its status is not known.
    pub(super) fn is_open(&self, number: usize) -> bool {
        !self.is_skipped(number) && self.statuses.get(number) == Some(&None)
    }

    /// Returns true if a part did not begin.
    pub(super) fn is_skipped(&self, number: usize) -> bool {
        self.begun.get(number) == Some(&Some(false))
    }

    /// Returns true if a failure of a part is wanted.
    pub(super) fn is_inverted(&self, number: usize) -> bool {
        self.inverted.get(number) == Some(&true)
    }

    /// Returns the statuses that a node can have.
    pub(super) fn possible(&self, node: &FlowNode) -> Possible {
        let of = |node: &FlowNode| self.possible(node);
        match node {
            FlowNode::Empty | FlowNode::Background(_) => Possible::SUCCESS,
            FlowNode::Part(number) => match self.statuses.get(*number).copied().flatten() {
                Some(succeeded) => Possible {
                    success: succeeded,
                    failure: !succeeded,
                },
                None => Possible::ANY,
            },
            FlowNode::And(a, b) => both(of(a), of(b)),
            FlowNode::Or(a, b) => {
                let (a, b) = (of(a), of(b));
                Possible {
                    success: a.success || a.failure && b.success,
                    failure: a.failure && b.failure,
                }
            }
            FlowNode::Then(_, last) | FlowNode::Arguments(_, last) => of(last),
            FlowNode::Pipe { stages, is_strict } => match is_strict {
                true => stages.iter().map(of).fold(Possible::SUCCESS, both),
                false => stages.last().map_or(Possible::SUCCESS, of),
            },
            FlowNode::Inverted { inner, .. } => {
                let inner = of(inner);
                Possible {
                    success: inner.failure,
                    failure: inner.success,
                }
            }
            FlowNode::Branch {
                condition,
                holds,
                otherwise,
            } => {
                let (condition, holds, otherwise) = (of(condition), of(holds), of(otherwise));
                Possible {
                    success: condition.success && holds.success
                        || condition.failure && otherwise.success,
                    failure: condition.success && holds.failure
                        || condition.failure && otherwise.failure,
                }
            }
            FlowNode::Repeated(_) | FlowNode::Until(..) => Possible::ANY,
            FlowNode::Remote(number, inner) => both(of(&FlowNode::Part(*number)), of(inner)),
        }
    }

    /// Returns true or false if the first command of a node is known to have begun or not.
    fn begun(&self, node: &FlowNode) -> Option<bool> {
        let mut ran = false;
        node.for_each_part(&mut |number| ran |= self.begun.get(number) == Some(&Some(true)));
        if ran {
            return Some(true);
        }
        let first = node.first_part()?;
        self.begun.get(first).copied().flatten()
    }

    fn skip(&mut self, node: &FlowNode) {
        node.for_each_part(&mut |number| {
            if let Some(begun) = self.begun.get_mut(number) {
                begun.get_or_insert(false);
            }
        });
    }

    /// Narrows the statuses of the parts of a node that ran, and whose status is `wanted` if it is known.
    pub(super) fn narrow(&mut self, node: &FlowNode, wanted: Option<bool>) {
        let wanted = wanted.or_else(|| self.possible(node).known());
        match node {
            FlowNode::Empty => {}
            FlowNode::Part(number) => {
                if let Some(succeeded) = wanted {
                    self.set(*number, succeeded);
                }
            }
            FlowNode::And(a, b) => self.narrow_and(a, b, wanted),
            FlowNode::Or(a, b) => self.narrow_or(a, b, wanted),
            FlowNode::Then(a, b) => {
                self.narrow(a, None);
                self.narrow(b, wanted);
            }
            FlowNode::Arguments(all, main) => {
                all.iter().for_each(|one| self.narrow(one, None));
                self.narrow(main, wanted);
            }
            FlowNode::Pipe { stages, is_strict } => self.narrow_pipe(stages, *is_strict, wanted),
            FlowNode::Background(inner) => self.narrow(inner, None),
            FlowNode::Inverted { inner, is_wanted } => {
                inner.for_each_part(&mut |number| {
                    if let Some(inverted) = self.inverted.get_mut(number) {
                        *inverted = *is_wanted;
                    }
                });
                self.narrow(inner, wanted.map(|succeeded| !succeeded));
            }
            FlowNode::Branch {
                condition,
                holds,
                otherwise,
            } => self.narrow_branch(condition, holds, otherwise, wanted),
            FlowNode::Repeated(all) => {
                let only = Some(wanted).filter(|_| all.len() == 1).flatten();
                let failed = only.filter(|succeeded| !succeeded);
                all.iter().for_each(|one| self.narrow(one, failed));
            }
            FlowNode::Until(condition, body) => {
                self.narrow(body, None);
                self.narrow(condition, Some(true).filter(|_| wanted != Some(false)));
            }
            FlowNode::Remote(number, inner) => {
                self.narrow_and(&FlowNode::Part(*number), inner, wanted);
            }
        }
    }

    fn narrow_and(&mut self, a: &FlowNode, b: &FlowNode, wanted: Option<bool>) {
        let is_a_known = match (wanted, self.begun(b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (_, Some(false)) => Some(false),
            (Some(false), None) => match (self.possible(a), self.possible(b)) {
                (Possible { success: false, .. }, _) | (_, Possible { failure: false, .. }) => {
                    Some(false)
                }
                (Possible { failure: false, .. }, _) => Some(true),
                _ => None,
            },
            (None, None) => None,
        };
        self.narrow(a, is_a_known);
        match self.possible(a).known() {
            Some(true) => self.narrow(b, wanted),
            Some(false) => self.skip(b),
            None => self.narrow(b, wanted.filter(|succeeded| *succeeded)),
        }
    }

    fn narrow_or(&mut self, a: &FlowNode, b: &FlowNode, wanted: Option<bool>) {
        let is_a_known = match (wanted, self.begun(b)) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (_, Some(false)) => Some(true),
            (Some(true), None) => match (self.possible(a), self.possible(b)) {
                (Possible { success: false, .. }, _) => Some(false),
                (Possible { failure: false, .. }, _) | (_, Possible { success: false, .. }) => {
                    Some(true)
                }
                _ => None,
            },
            (None, None) => None,
        };
        self.narrow(a, is_a_known);
        match self.possible(a).known() {
            Some(false) => self.narrow(b, wanted),
            Some(true) => self.skip(b),
            None => self.narrow(b, wanted.filter(|succeeded| !succeeded)),
        }
    }

    fn narrow_pipe(&mut self, stages: &[FlowNode], is_strict: bool, wanted: Option<bool>) {
        let Some((last, before)) = stages.split_last() else {
            return;
        };
        let fallible: Vec<&FlowNode> = stages
            .iter()
            .filter(|stage| self.possible(stage).failure)
            .collect();
        // `tail` does not fail, so that a failure shows that the shell is set to `pipefail`.
        let is_strict = is_strict || wanted == Some(false) && !self.possible(last).failure;
        if !is_strict {
            before.iter().for_each(|stage| self.narrow(stage, None));
            self.narrow(last, wanted);
            return;
        }
        let only = match fallible.as_slice() {
            [one] if wanted == Some(false) => Some(*one),
            _ => None,
        };
        for stage in stages {
            let wanted = match only {
                Some(one) if std::ptr::eq(one, stage) => Some(false),
                _ => wanted.filter(|succeeded| *succeeded),
            };
            self.narrow(stage, wanted);
        }
    }

    fn narrow_branch(
        &mut self,
        condition: &FlowNode,
        holds: &FlowNode,
        otherwise: &FlowNode,
        wanted: Option<bool>,
    ) {
        let begun = (self.begun(holds), self.begun(otherwise));
        let holds_known = match begun {
            (Some(true), _) | (_, Some(false)) => Some(true),
            (Some(false), _) | (_, Some(true)) => Some(false),
            (None, None) => {
                let (first, second) = (self.possible(holds), self.possible(otherwise));
                match wanted {
                    Some(false) if !second.failure => Some(true),
                    Some(false) if !first.failure => Some(false),
                    Some(_) | None => None,
                }
            }
        };
        self.narrow(condition, holds_known);
        match self.possible(condition).known() {
            Some(true) => {
                self.narrow(holds, wanted);
                self.skip(otherwise);
            }
            Some(false) => {
                self.narrow(otherwise, wanted);
                self.skip(holds);
            }
            None => {
                self.narrow(holds, None);
                self.narrow(otherwise, None);
            }
        }
    }
}

/// Returns the possible statuses of `a && b`.
fn both(a: Possible, b: Possible) -> Possible {
    Possible {
        success: a.success && b.success,
        failure: a.failure || a.success && b.failure,
    }
}
