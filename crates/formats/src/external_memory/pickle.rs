//! Reader of pickled Python objects that executes nothing.
//!
//! Classes and functions are only names: a call of one becomes an object with its arguments. The local vector store of
//! Qdrant keeps its points in this form. <https://docs.python.org/3/library/pickletools.html>.

use heirloom_model::limits::{PICKLE_DEPTH_MAX, PICKLE_VALUES_MAX};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Error of reading a pickle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PickleError {
    /// The bytes end, or refer to a missing value.
    #[error("it is truncated or damaged")]
    Damaged,
    /// An operation that Python's pickle does not produce for data.
    #[error("it has the unknown operation {0:#04x}")]
    UnknownOperation(u8),
    /// The object has more values, or deeper ones, than the limits.
    #[error("it has more than {PICKLE_VALUES_MAX} values or {PICKLE_DEPTH_MAX} levels")]
    TooLarge,
}

/// Index of a node. Nodes are shared as Python's objects are, so that a memoized list grows everywhere.
type NodeId = usize;

#[derive(Debug, Clone)]
enum Node {
    Leaf(Value),
    List(Vec<NodeId>),
    Dict(Vec<(NodeId, NodeId)>),
    /// A call of a class or function: its arguments, and the state that was set afterwards.
    Object(Vec<NodeId>, Option<NodeId>),
}

#[derive(Default)]
struct Machine<'b> {
    bytes: &'b [u8],
    nodes: Vec<Node>,
    stack: Vec<NodeId>,
    marks: Vec<usize>,
    memo: HashMap<u64, NodeId>,
}

/// Reads the object of a pickle as JSON: an object of a class is its state, or the list of its arguments.
pub(super) fn read(bytes: &[u8]) -> Result<Value, PickleError> {
    let mut machine = Machine {
        bytes,
        ..Machine::default()
    };
    while let Some(operation) = machine.byte() {
        if operation == b'.' {
            let root = machine.pop()?;
            return machine.to_json(root, 0, &mut 0);
        }
        machine.run(operation)?;
        if machine.nodes.len() > PICKLE_VALUES_MAX {
            return Err(PickleError::TooLarge);
        }
    }
    Err(PickleError::Damaged)
}

impl<'b> Machine<'b> {
    fn run(&mut self, operation: u8) -> Result<(), PickleError> {
        match operation {
            // PROTO and FRAME.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'N' => self.push_leaf(Value::Null),
            0x88 => self.push_leaf(json!(true)),
            0x89 => self.push_leaf(json!(false)),
            b'K' | b'M' | b'J' | 0x8a | b'G' | b'I' | b'L' | b'F' => self.push_number(operation)?,
            0x8c | b'X' | 0x8d | b'C' | b'B' | 0x8e | 0x96 | b'U' | b'T' => {
                self.push_text(operation)?;
            }
            b'}' => self.push(Node::Dict(Vec::new())),
            b']' | b')' | 0x8f => self.push(Node::List(Vec::new())),
            b'l' | b't' | 0x91 => {
                let items = self.pop_mark()?;
                self.push(Node::List(items));
            }
            0x85..=0x87 => {
                let items = self.pop_many(usize::from(operation - 0x84))?;
                self.push(Node::List(items));
            }
            b'd' => {
                let items = self.pop_mark()?;
                self.push(Node::Dict(pairs(&items)));
            }
            b'a' => {
                let item = self.pop()?;
                self.extend_list(vec![item])?;
            }
            b'e' | 0x90 => {
                let items = self.pop_mark()?;
                self.extend_list(items)?;
            }
            b's' => {
                let items = self.pop_many(2)?;
                self.extend_dict(&items)?;
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.extend_dict(&items)?;
            }
            _ => return self.run_memo_or_call(operation),
        }
        Ok(())
    }

    fn run_memo_or_call(&mut self, operation: u8) -> Result<(), PickleError> {
        match operation {
            0x94 => {
                let (number, top) = (self.memo.len() as u64, self.top()?);
                self.memo.insert(number, top);
            }
            b'q' | b'r' => {
                let number = self.number(if operation == b'q' { 1 } else { 4 })?;
                let top = self.top()?;
                self.memo.insert(number, top);
            }
            b'h' | b'j' => {
                let number = self.number(if operation == b'h' { 1 } else { 4 })?;
                let node = self.memo.get(&number).ok_or(PickleError::Damaged)?;
                self.stack.push(*node);
            }
            // GLOBAL: two lines of text.
            b'c' => {
                self.line()?;
                self.line()?;
                self.push_leaf(Value::Null);
            }
            0x93 => {
                self.pop_many(2)?;
                self.push_leaf(Value::Null);
            }
            // REDUCE and NEWOBJ; NEWOBJ_EX has named arguments too.
            b'R' | 0x81 => {
                let called = self.pop_many(2)?;
                self.push_object(called.get(1..2))?;
            }
            0x92 => {
                let called = self.pop_many(3)?;
                self.push_object(called.get(1..3))?;
            }
            b'b' => {
                let state = self.pop()?;
                let object = self.top()?;
                match self.nodes.get_mut(object) {
                    Some(Node::Object(_, known)) => *known = Some(state),
                    _ => return Err(PickleError::Damaged),
                }
            }
            unknown => return Err(PickleError::UnknownOperation(unknown)),
        }
        Ok(())
    }

    fn push_object(&mut self, arguments: Option<&[NodeId]>) -> Result<(), PickleError> {
        let mut all = Vec::new();
        for one in arguments.ok_or(PickleError::Damaged)? {
            match self.nodes.get(*one) {
                Some(Node::List(items)) => all.extend_from_slice(items),
                _ => all.push(*one),
            }
        }
        self.push(Node::Object(all, None));
        Ok(())
    }

    fn push_number(&mut self, operation: u8) -> Result<(), PickleError> {
        let value = match operation {
            b'K' => json!(self.number(1)?),
            b'M' => json!(self.number(2)?),
            b'J' => {
                let bytes = self.take(4)?.try_into().map_err(|_| PickleError::Damaged)?;
                json!(i32::from_le_bytes(bytes))
            }
            b'G' => {
                let bytes = self.take(8)?.try_into().map_err(|_| PickleError::Damaged)?;
                json!(f64::from_be_bytes(bytes))
            }
            0x8a => {
                let size = usize::try_from(self.number(1)?).map_err(|_| PickleError::Damaged)?;
                let bytes = self.take(size)?;
                let is_negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
                let mut whole = [if is_negative { 0xff } else { 0 }; 8];
                match whole.get_mut(..bytes.len()) {
                    Some(target) => {
                        target.copy_from_slice(bytes);
                        json!(i64::from_le_bytes(whole))
                    }
                    // Too large for any field that is imported.
                    None => Value::Null,
                }
            }
            // Protocol 0: text.
            _ => {
                let line = self.line()?.trim_end_matches('L').to_owned();
                match line.as_str() {
                    "00" => json!(false),
                    "01" => json!(true),
                    line => serde_json::from_str(line).map_err(|_| PickleError::Damaged)?,
                }
            }
        };
        self.push_leaf(value);
        Ok(())
    }

    fn push_text(&mut self, operation: u8) -> Result<(), PickleError> {
        let width = match operation {
            0x8c | b'C' | b'U' => 1,
            b'X' | b'B' | b'T' => 4,
            _ => 8,
        };
        let size = usize::try_from(self.number(width)?).map_err(|_| PickleError::Damaged)?;
        let text = String::from_utf8_lossy(self.take(size)?).into_owned();
        self.push_leaf(Value::String(text));
        Ok(())
    }

    fn extend_list(&mut self, items: Vec<NodeId>) -> Result<(), PickleError> {
        let top = self.top()?;
        match self.nodes.get_mut(top) {
            Some(Node::List(list)) => list.extend(items),
            // A class that behaves as a list.
            Some(Node::Object(..)) => {}
            _ => return Err(PickleError::Damaged),
        }
        Ok(())
    }

    fn extend_dict(&mut self, items: &[NodeId]) -> Result<(), PickleError> {
        let top = self.top()?;
        match self.nodes.get_mut(top) {
            Some(Node::Dict(dict)) => dict.extend(pairs(items)),
            // A class that behaves as a dictionary, such as OrderedDict.
            Some(Node::Object(_, state)) => {
                let known = *state;
                let id = match known {
                    Some(id) => id,
                    None => {
                        self.nodes.push(Node::Dict(Vec::new()));
                        self.nodes.len() - 1
                    }
                };
                if let Some(Node::Dict(dict)) = self.nodes.get_mut(id) {
                    dict.extend(pairs(items));
                }
                if let Some(Node::Object(_, state)) = self.nodes.get_mut(top) {
                    *state = Some(id);
                }
            }
            _ => return Err(PickleError::Damaged),
        }
        Ok(())
    }

    /// Converts a node. Shared nodes are converted each time, so their number is limited here again.
    fn to_json(&self, id: NodeId, depth: usize, count: &mut usize) -> Result<Value, PickleError> {
        *count += 1;
        if depth > PICKLE_DEPTH_MAX || *count > PICKLE_VALUES_MAX {
            return Err(PickleError::TooLarge);
        }
        let list = |items: &[NodeId], count: &mut usize| {
            let items = items
                .iter()
                .map(|item| self.to_json(*item, depth + 1, count));
            items.collect::<Result<Vec<_>, _>>().map(Value::Array)
        };
        match self.nodes.get(id).ok_or(PickleError::Damaged)? {
            Node::Leaf(value) => Ok(value.clone()),
            Node::List(items) => list(items, count),
            Node::Dict(entries) => {
                let mut fields = Map::new();
                for (key, value) in entries {
                    let name = match self.nodes.get(*key) {
                        Some(Node::Leaf(Value::String(name))) => name.clone(),
                        Some(Node::Leaf(other)) => other.to_string(),
                        _ => continue,
                    };
                    fields.insert(name, self.to_json(*value, depth + 1, count)?);
                }
                // The fields of a Pydantic model.
                match fields.remove("__dict__") {
                    Some(inner @ Value::Object(_)) => Ok(inner),
                    _ => Ok(Value::Object(fields)),
                }
            }
            Node::Object(_, Some(state)) => self.to_json(*state, depth + 1, count),
            Node::Object(arguments, None) => list(arguments, count),
        }
    }

    fn push(&mut self, node: Node) {
        self.nodes.push(node);
        self.stack.push(self.nodes.len() - 1);
    }

    fn push_leaf(&mut self, value: Value) {
        self.push(Node::Leaf(value));
    }

    fn top(&self) -> Result<NodeId, PickleError> {
        self.stack.last().copied().ok_or(PickleError::Damaged)
    }

    fn pop(&mut self) -> Result<NodeId, PickleError> {
        self.stack.pop().ok_or(PickleError::Damaged)
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<NodeId>, PickleError> {
        let at = self
            .stack
            .len()
            .checked_sub(count)
            .ok_or(PickleError::Damaged)?;
        Ok(self.stack.split_off(at))
    }

    fn pop_mark(&mut self) -> Result<Vec<NodeId>, PickleError> {
        let at = self.marks.pop().ok_or(PickleError::Damaged)?;
        match at <= self.stack.len() {
            true => Ok(self.stack.split_off(at)),
            false => Err(PickleError::Damaged),
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], PickleError> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or(PickleError::Damaged)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn line(&mut self) -> Result<String, PickleError> {
        let end = memchr::memchr(b'\n', self.bytes).ok_or(PickleError::Damaged)?;
        let line = String::from_utf8_lossy(self.take(end)?).into_owned();
        self.take(1)?;
        Ok(line.trim_end().to_owned())
    }

    /// Reads a little-endian number.
    fn number(&mut self, bytes: usize) -> Result<u64, PickleError> {
        let mut whole = [0; 8];
        let taken = self.take(bytes)?;
        if let Some(target) = whole.get_mut(..taken.len()) {
            target.copy_from_slice(taken);
        }
        Ok(u64::from_le_bytes(whole))
    }
}

fn pairs(items: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let pair = |pair: &[NodeId]| Some((*pair.first()?, *pair.get(1)?));
    items.chunks_exact(2).filter_map(pair).collect()
}
