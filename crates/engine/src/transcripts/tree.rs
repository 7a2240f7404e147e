//! Which lines of a conversation hold, where a person may go back and go on from an earlier line.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// What a line is to its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A person's prompt, or the model's answer.
    Talk,
    /// The answer of a tool: those of calls that were made at once are branches of one line.
    Result,
    /// Something that is not said.
    Aside,
}

#[derive(Debug)]
struct Node {
    at: u64,
    parent: Option<usize>,
    /// What the lines of one answer have in common; 0 for none.
    answer: u64,
    part: Part,
    root: usize,
}

/// Lines as a tree; 48 bytes for each.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    by_name: HashMap<u64, usize>,
}

impl Tree {
    /// Adds the line at `at`, which is called `name` and follows `parent`.
    pub(super) fn add(
        &mut self,
        at: u64,
        name: &str,
        parent: Option<&str>,
        answer: &str,
        part: Part,
    ) {
        let index = self.nodes.len();
        // A parent stands before its children. What is elsewhere, or was too long to be read, begins a tree.
        let parent = parent.and_then(|parent| self.by_name.get(&hash(parent)).copied());
        let above = parent.and_then(|parent| self.nodes.get(parent));
        let root = above.map_or(index, |above| above.root);
        let answer = match answer {
            "" if part == Part::Aside => above.map_or(0, |above| above.answer),
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

    /// Where the lines begin that somebody went back from, in order.
    pub(super) fn dead(&self) -> Vec<u64> {
        let mut leaves: HashMap<usize, usize> = HashMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if node.part != Part::Aside {
                leaves.insert(node.root, index);
            }
        }
        let mut lives = vec![false; self.nodes.len()];
        for &leaf in leaves.values() {
            let mut next = Some(leaf);
            while let Some(index) = next {
                lives[index] = true;
                next = self.nodes[index].parent;
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(parent) = node.parent.filter(|_| !lives[index]) else {
                continue;
            };
            let same_answer = node.answer != 0 && node.answer == self.nodes[parent].answer;
            lives[index] = lives[parent] && (node.part != Part::Talk || same_answer);
        }
        let dead = self.nodes.iter().zip(lives);
        dead.filter(|(node, lives)| !lives && node.part != Part::Aside)
            .map(|(node, _)| node.at)
            .collect()
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish() | 1
}
