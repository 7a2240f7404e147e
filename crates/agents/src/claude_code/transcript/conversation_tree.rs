//! Tree of a conversation's lines: finds abandoned branches after a person continued from an earlier line.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Role of a line in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineRole {
    /// A person's prompt or the model's answer.
    Message,
    /// A tool result. Results of parallel calls are branches of one line.
    Result,
    /// Any other line.
    Other,
}

#[derive(Debug)]
struct Node {
    at: u64,
    parent: Option<usize>,
    /// Hash of the id shared by the lines of one answer; 0 if the line belongs to none.
    answer: u64,
    part: LineRole,
    root: usize,
}

/// Tree of lines; 48 bytes each.
#[derive(Debug, Default)]
pub(super) struct ConversationTree {
    nodes: Vec<Node>,
    by_name: HashMap<u64, usize>,
    /// Number of lines whose parent was not read.
    orphans: usize,
}

impl ConversationTree {
    /// Adds the line at offset `at` with id `name` and parent `parent`.
    pub(super) fn add(
        &mut self,
        at: u64,
        name: &str,
        parent: Option<&str>,
        answer: &str,
        part: LineRole,
    ) {
        let index = self.nodes.len();
        // A parent precedes its children. A line whose parent is missing or was too long begins a tree.
        let names_parent = parent.is_some();
        let parent = parent.and_then(|parent| self.by_name.get(&hash(parent)).copied());
        self.orphans += usize::from(names_parent && parent.is_none());
        let above = parent.and_then(|parent| self.nodes.get(parent));
        let root = above.map_or(index, |above| above.root);
        let answer = match answer {
            "" if part == LineRole::Other => above.map_or(0, |above| above.answer),
            "" => 0,
            answer => hash(answer),
        };
        self.nodes.push(Node {
            at,
            parent,
            answer,
            part,
            root,
        });
        self.by_name.insert(hash(name), index);
    }

    /// Returns the number of lines whose parent was not read. With more than one, a branch may begin at an earlier line.
    pub(super) fn orphans(&self) -> usize {
        self.orphans
    }

    /// Returns the offsets of the lines in abandoned branches, in order.
    pub(super) fn superseded_lines(&self) -> Vec<u64> {
        let mut leaves: HashMap<usize, usize> = HashMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if node.part != LineRole::Other {
                leaves.insert(node.root, index);
            }
        }
        let mut is_current = vec![false; self.nodes.len()];
        for &leaf in leaves.values() {
            let mut next = Some(leaf);
            while let Some(index) = next {
                is_current[index] = true;
                next = self.nodes[index].parent;
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(parent) = node.parent.filter(|_| !is_current[index]) else {
                continue;
            };
            let same_answer = node.answer != 0 && node.answer == self.nodes[parent].answer;
            is_current[index] =
                is_current[parent] && (node.part != LineRole::Message || same_answer);
        }
        let dead = self.nodes.iter().zip(is_current);
        dead.filter(|(node, is_current)| !is_current && node.part != LineRole::Other)
            .map(|(node, _)| node.at)
            .collect()
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish() | 1
}
