//! Cycles between sibling modules: modules of one folder that use each other, directly or through others.
//!
//! A module and its children may use each other. The children of one module must not form a cycle, so that each can be
//! read after the ones that it uses. A use counts for the module that defines the item, also if a parent re-exports it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Violation;
use super::super::tokens::lex;
use super::super::tree::{Tree, is_test};
use super::RULE;
use super::paths::{self, Named};
use super::table::{CRATES, CYCLES, Cycles};

/// The file with the list.
const TABLE: &str = "xtask/src/tidy/dependencies/table.rs";

/// Path of a module from the root of its crate; the root is empty.
type ModulePath = Vec<String>;

/// Source files of a crate as modules.
#[derive(Default)]
struct CrateModules<'t> {
    modules: BTreeMap<ModulePath, ModuleFile<'t>>,
}

/// A module with its own file.
struct ModuleFile<'t> {
    path: &'t str,
    uses: Vec<Named>,
}

/// Place of a use.
pub(super) type Place<'t> = (&'t str, usize);

/// Uses between the children of one module: from, to, and the first place.
pub(super) type Siblings<'t> = BTreeMap<(String, String), Place<'t>>;

/// Finds the cycles of every crate, and entries of the list that no longer match the tree.
pub(super) fn check(tree: &Tree, found: &mut Vec<Violation>) {
    for rule in CRATES {
        let all = CrateModules::load(tree, rule.folder).sibling_uses();
        let all: BTreeMap<String, Siblings<'_>> = all
            .into_iter()
            .map(|(parent, siblings)| (module_name(rule.folder, &parent), siblings))
            .collect();
        for (name, siblings) in &all {
            let allowed = CYCLES.iter().find(|cycles| cycles.parent == name);
            found.extend(violation(name, siblings, allowed));
        }
        // Trees of tests have single files and no root.
        if tree
            .get(&format!("crates/{}/src/lib.rs", rule.folder))
            .is_some()
        {
            let of_crate = CYCLES.iter().filter(|cycles| {
                cycles.parent.split("::").next() == Some(rule.folder)
                    && !all.contains_key(cycles.parent)
            });
            found.extend(
                of_crate.map(|cycles| Violation::new(TABLE, 1, RULE, unused(cycles.parent))),
            );
        }
    }
}

fn unused(name: &str) -> String {
    format!("`{name}` has no cycles any more: remove it from `CYCLES`")
}

/// Compares the cycles among the children of one module with the listed number.
pub(super) fn violation(
    name: &str,
    siblings: &Siblings<'_>,
    allowed: Option<&Cycles>,
) -> Option<Violation> {
    let reachable = reachable_modules(siblings);
    let reaches = |from: &String, to: &String| {
        (reachable.get(from)).is_some_and(|modules| modules.contains(to))
    };
    let in_cycles: Vec<&String> = (reachable.keys().copied())
        .filter(|module| reaches(module, module))
        .collect();
    let listed = allowed.map_or(0, |cycles| cycles.modules);
    if in_cycles.len() == listed {
        return None;
    }
    let Some(first) = in_cycles.first() else {
        let (path, line) = siblings.values().next()?;
        return Some(Violation::new(path, *line, RULE, unused(name)));
    };
    let cycle = shortest_cycle(siblings, first);
    let steps: Vec<String> = cycle
        .iter()
        .map(|((from, to), (path, line))| format!("`{from}` uses `{to}` ({path}:{line})"))
        .collect();
    let (path, line) = cycle.first().map(|(_, place)| *place)?;
    let names: Vec<&str> = in_cycles.iter().map(|module| module.as_str()).collect();
    let message = if listed == 0 {
        format!(
            "modules of `{name}` use each other: {}; {}: move what they share to a module that uses neither",
            names.join(", "),
            steps.join(", ")
        )
    } else {
        format!(
            "{} modules of `{name}` are in cycles and `CYCLES` of table.rs lists {listed}: write the smaller number \
             or remove the cycle: {}",
            names.len(),
            steps.join(", ")
        )
    };
    Some(Violation::new(path, line, RULE, message))
}

/// Returns the modules that each module uses, directly or through others.
fn reachable_modules<'s>(siblings: &'s Siblings<'_>) -> BTreeMap<&'s String, BTreeSet<&'s String>> {
    let mut direct: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for (from, to) in siblings.keys() {
        direct.entry(from).or_default().insert(to);
    }
    let reach = |start: &String| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&String> = direct.get(start).into_iter().flatten().copied().collect();
        while let Some(module) = open.pop() {
            if seen.insert(module) {
                open.extend(direct.get(module).into_iter().flatten());
            }
        }
        seen
    };
    direct.keys().map(|start| (*start, reach(start))).collect()
}

/// Returns the uses of a shortest cycle through `start` by a breadth-first search.
fn shortest_cycle<'s, 't>(
    siblings: &'s Siblings<'t>,
    start: &String,
) -> Vec<(&'s (String, String), Place<'t>)> {
    let mut paths = vec![Vec::new()];
    let mut seen = BTreeSet::new();
    while !paths.is_empty() {
        let mut longer = Vec::new();
        for path in &paths {
            let end = path
                .last()
                .map_or(start, |((_, to), _): &(&(String, String), _)| to);
            for (names, place) in siblings.iter().filter(|((from, _), _)| from == end) {
                let mut path = path.clone();
                path.push((names, *place));
                if names.1 == *start {
                    return path;
                }
                if seen.insert(&names.1) {
                    longer.push(path);
                }
            }
        }
        paths = longer;
    }
    Vec::new()
}

impl<'t> CrateModules<'t> {
    fn load(tree: &'t Tree, folder: &str) -> Self {
        let prefix = format!("crates/{folder}/src/");
        let files = (tree.with_extension("rs"))
            .filter_map(|(path, text)| Some((path, path.strip_prefix(&prefix)?, text)))
            .filter(|(path, _, _)| !is_test(path));
        let mut modules = BTreeMap::new();
        for (path, file, text) in files {
            // Unlexable text is reported by the rule about functions.
            let Ok(tokens) = lex(text) else { continue };
            let module = paths::module_of(file);
            let uses = paths::paths(&tokens, &module, false)
                .into_iter()
                .filter(|named| !named.in_test)
                .collect();
            modules.insert(module, ModuleFile { path, uses });
        }
        Self { modules }
    }

    /// Returns the uses between the children of each module.
    fn sibling_uses(&self) -> BTreeMap<ModulePath, Siblings<'t>> {
        let mut found: BTreeMap<ModulePath, Siblings<'t>> = BTreeMap::new();
        for (module, file) in &self.modules {
            for named in &file.uses {
                let Some(target) = self.defining_module(module, &named.segments) else {
                    continue;
                };
                let common = (module.iter().zip(&target))
                    .take_while(|(from, to)| from == to)
                    .count();
                // One of them is a parent of the other, or both are the same.
                let (Some(from), Some(to)) = (module.get(common), target.get(common)) else {
                    continue;
                };
                let parent = module.iter().take(common).cloned().collect();
                (found.entry(parent).or_default())
                    .entry((from.clone(), to.clone()))
                    .or_insert((file.path, named.line));
            }
        }
        found
    }

    /// Returns the module that defines the item of a path which `module` names; none for paths of other crates.
    fn defining_module(&self, module: &[String], segments: &[String]) -> Option<ModulePath> {
        let (mut at, mut rest) = match segments.split_first()? {
            (root, rest) if root == "crate" => (Vec::new(), rest.to_vec()),
            (first, _) if self.has_child(module, first) => (module.to_vec(), segments.to_vec()),
            _ => return None,
        };
        // Each step enters a child or follows a re-export; more steps than modules would be a loop of re-exports.
        for _ in 0..self.modules.len() {
            let Some((next, after)) = rest.split_first() else {
                break;
            };
            if self.has_child(&at, next) {
                at.push(next.clone());
                rest = after.to_vec();
                continue;
            }
            let uses = self.modules.get(&at).map(|file| &file.uses);
            let import = uses.into_iter().flatten().find(|named| {
                named.alias.as_ref() == Some(next)
                    && named.segments.last().is_some_and(|last| last != "*")
            });
            let Some(import) = import else { break };
            let mut target = match import.segments.split_first()? {
                (root, below) if root == "crate" => {
                    at = Vec::new();
                    below.to_vec()
                }
                (first, _) if self.has_child(&at, first) => import.segments.clone(),
                // An item of another crate.
                _ => break,
            };
            target.extend_from_slice(after);
            rest = target;
        }
        Some(at)
    }

    fn has_child(&self, module: &[String], name: &str) -> bool {
        let mut child = module.to_vec();
        child.push(name.to_owned());
        self.modules.contains_key(&child)
    }
}

/// Returns the name of a module in messages and in the list: `store::sqlite`.
fn module_name(folder: &str, module: &[String]) -> String {
    let mut name = folder.to_owned();
    for part in module {
        name.push_str("::");
        name.push_str(part);
    }
    name
}
