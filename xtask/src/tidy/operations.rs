//! Every operation of the engine runs over a store that fails.

use std::collections::BTreeSet;

use proc_macro2::TokenTree;

use super::Violation;
use super::tokens::{braces, ident, inside, lex, line};
use super::tree::{Tree, is_test};

const RULE: &str = "operations";

/// Files of the engine and of the services above it.
const FOLDERS: [&str; 2] = ["crates/engine/src/engine", "crates/capture/src/"];

/// Folder of the fault tables.
const TABLES: &str = "crates/capture/tests/faults/";
/// Main fault table, which messages name.
const TABLE: &str = "crates/capture/tests/faults/table.rs";

/// Sources of the services whose rows cover [`PARTS`].
const CAPTURE: &str = "crates/capture/src/";

/// Parts of operations of `capture`, which its rows cover. Surfaces do not call them.
const PARTS: [&str; 17] = [
    "Contexts::signal_rules",
    "Engine::apply",
    "Engine::apply_decided",
    "Errors::error_change",
    "Errors::error_like",
    "Errors::open_error_named",
    "Errors::resolutions_before",
    "Recall::search_locally",
    "Records::redacted_change_of",
    "Sessions::append_turns",
    "Sessions::count_messages",
    "Sessions::find",
    "Sessions::last_iteration_without_task",
    "Sessions::put_session",
    "Tasks::step_change",
    "Tasks::steps",
    "Tasks::task_change",
];

/// Operations without a store call: they return a path, check an argument, prepare a change, use files only, or call a
/// database server alone.
const WITHOUT_STORE: [&str; 12] = [
    "Maintenance::announce_server",
    "Maintenance::remove_copies",
    "Maintenance::server_address",
    "Maintenance::shared_status",
    "Mirror::path",
    "Mirror::path_for",
    "Records::change_of",
    "Sessions::import_working_memories",
    "Sessions::save_working_memory",
    "Sessions::take_working_memory",
    "Tasks::check_approach",
    "Windows::store_output",
];

/// Services of the engine, each with `&Engine` as its only field.
const SERVICES: [&str; 23] = [
    "Artifacts",
    "Conflicts",
    "Contexts",
    "Errors",
    "Graph",
    "Groups",
    "Hooks",
    "Imports",
    "Maintenance",
    "MemoryTool",
    "Mirror",
    "Outputs",
    "ProjectFiles",
    "Recall",
    "Records",
    "Redaction",
    "Runs",
    "Sessions",
    "Tasks",
    "TeamSharing",
    "Transcripts",
    "Windows",
    "Workspaces",
];

/// Operation of the engine or of a service.
#[derive(Debug, PartialEq, Eq)]
struct Operation {
    owner: String,
    name: String,
    line: usize,
}

/// Finds public functions of `Engine` and its services that can fail and that the fault table does not call.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let (mut called, mut captured) = (Calls::default(), Calls::default());
    for (path, text) in tree.with_extension("rs") {
        if path.starts_with(TABLES) {
            called.add(&lex(text).unwrap_or_default());
        } else if path.starts_with(CAPTURE) && !is_test(path) {
            captured.add(&lex(text).unwrap_or_default());
        }
    }
    let mut found = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        if !FOLDERS.iter().any(|folder| path.starts_with(folder)) || is_test(path) {
            continue;
        }
        // Unlexable text is reported by the rule about functions.
        for operation in operations(&lex(text).unwrap_or_default()) {
            let Operation { owner, name, line } = operation;
            let full = format!("{owner}::{name}");
            let wrong = if PARTS.contains(&full.as_str()) {
                if captured.has(&owner, &name) {
                    continue;
                }
                format!(
                    "`{full}` is in `PARTS`, but nothing in {CAPTURE} calls it: remove it there"
                )
            } else if called.has(&owner, &name) || WITHOUT_STORE.contains(&full.as_str()) {
                continue;
            } else {
                format!("`{full}` has no row in {TABLE}: let each call of it fail")
            };
            found.push(Violation::new(path, line, RULE, wrong));
        }
    }
    found
}

/// Calls of a fault table.
#[derive(Default)]
struct Calls {
    /// Called functions: the receiver's last call or path, without underscores and case, and the function.
    pairs: BTreeSet<(String, String)>,
    /// All words.
    words: BTreeSet<String>,
}

impl Calls {
    /// Adds the calls `service().name` and `Service::new(…).name`, and all words.
    fn add(&mut self, tokens: &[TokenTree]) {
        for (at, token) in tokens.iter().enumerate() {
            if let TokenTree::Group(group) = token {
                self.add(&inside(group));
                self.add_call(tokens, at);
            }
            self.words.extend(ident(Some(token)));
        }
    }

    /// Adds the call whose receiver ends with the group of arguments at `at`.
    fn add_call(&mut self, tokens: &[TokenTree], at: usize) {
        let is_dot =
            matches!(tokens.get(at + 1), Some(TokenTree::Punct(punct)) if punct.as_char() == '.');
        let before = at
            .checked_sub(1)
            .and_then(|before| ident(tokens.get(before)));
        let (true, Some(mut receiver), Some(name)) = (is_dot, before, ident(tokens.get(at + 2)))
        else {
            return;
        };
        // `Service::new(…)`: two colons before `new`.
        if receiver == "new" {
            let owner = at.checked_sub(4).and_then(|owner| ident(tokens.get(owner)));
            receiver = owner.unwrap_or(receiver);
        }
        self.pairs.insert((plain(&receiver), name));
    }

    /// Returns true if the table calls this function: of `Engine` under any receiver, of a service under its name.
    fn has(&self, owner: &str, name: &str) -> bool {
        match owner {
            "Engine" => self.words.contains(name),
            _ => self.pairs.contains(&(plain(owner), name.to_owned())),
        }
    }
}

/// Returns a name without case, underscores and plural, so that `team_sharing` and `TeamSharing` are equal.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| *letter != '_');
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    match plain.as_str() {
        // Accessors that are shorter than their types.
        "team" => "teamsharing".to_owned(),
        "files" => "projectfile".to_owned(),
        _ => plain.strip_suffix('s').map_or(plain.clone(), str::to_owned),
    }
}

/// The public functions in `impl Engine`, and in the `impl` of each type with a lifetime, that return a `Fault` when
/// they fail.
fn operations(tokens: &[TokenTree]) -> Vec<Operation> {
    let is = |at: usize, word: &str| ident(tokens.get(at)).as_deref() == Some(word);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if !is(at, "impl") {
            continue;
        }
        let header = tokens
            .iter()
            .skip(at + 1)
            .take_while(|token| braces(Some(token)).is_none());
        let header: Vec<&TokenTree> = header.collect();
        let names: Vec<String> = header
            .iter()
            .filter_map(|token| ident(Some(token)))
            .collect();
        let owner = names
            .iter()
            .find(|name| name.chars().next().is_some_and(char::is_uppercase));
        let is_service =
            owner.is_some_and(|owner| SERVICES.contains(&owner.as_str()) || owner == "Engine");
        let (Some(owner), true, false) =
            (owner, is_service, names.iter().any(|name| name == "for"))
        else {
            continue;
        };
        let body = tokens.get(at + 1 + header.len());
        let functions = body
            .and_then(|token| braces(Some(token)))
            .map(|body| fallible(&inside(body)));
        for (name, line) in functions.unwrap_or_default() {
            found.push(Operation {
                owner: owner.clone(),
                name,
                line,
            });
        }
    }
    found
}

fn fallible(body: &[TokenTree]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, token) in body.iter().enumerate() {
        let is_public = ident(Some(token)).as_deref() == Some("pub")
            && ident(body.get(at + 1)).as_deref() == Some("fn");
        let (true, Some(name)) = (is_public, ident(body.get(at + 2))) else {
            continue;
        };
        let rest = body.get(at + 3..).unwrap_or_default();
        let is_body = |token: &TokenTree| braces(Some(token)).is_some();
        let mut signature = rest.iter().take_while(|token| !is_body(token));
        if signature.any(|token| ident(Some(token)).as_deref() == Some("Fault")) && takes_self(rest)
        {
            found.push((name, line(token)));
        }
    }
    found
}

/// True if the first group of tokens, the arguments, contains `self`.
fn takes_self(signature: &[TokenTree]) -> bool {
    let mut groups = signature.iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(inside(group)),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    });
    let arguments = groups.next().unwrap_or_default();
    (arguments.iter()).any(|token| ident(Some(token)).as_deref() == Some("self"))
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    fn with(engine: &str) -> Vec<String> {
        let table = "fn t() { row(\"a\", |w| w.engine.keep(1)); row(\"b\", |w| w.engine.records().get(1)); \
                     row(\"c\", |w| Hooks::new(&w.engine).answer(1)) }";
        run_rule(
            check,
            &[(TABLE, table), ("crates/engine/src/engine/a.rs", engine)],
        )
    }

    #[test]
    fn part_that_capture_does_not_call_is_violation() {
        let part = "impl Sessions<'_> { pub fn put_session(&self) -> Result<u8, Fault> { x } }";
        let wrong = with(part);
        assert_eq!(wrong.len(), 1);
        assert!(
            wrong[0].contains("`Sessions::put_session` is in `PARTS`"),
            "{wrong:?}"
        );
        let capture = "fn f(&self) { self.engine.sessions().put_session(&s) }";
        let files = [
            ("crates/capture/src/hooks.rs", capture),
            ("crates/engine/src/engine/a.rs", part),
        ];
        assert!(run_rule(check, &files).is_empty());
    }

    #[test]
    fn operation_without_row_in_fault_table_is_violation() {
        let wrong =
            with("impl Engine {\n    pub fn lose(&self, n: u8) -> Result<(), Fault> { x }\n}");
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].contains("a.rs:2: operations: `Engine::lose` has no row"));
        let other = with("impl Tasks<'_> { pub fn get(&self) -> Result<u8, Fault> { x } }");
        assert!(other[0].contains("`Tasks::get` has no row"), "{other:?}");
        for fine in [
            "impl Engine { pub fn keep(&self) -> Result<u8, Fault> { x } }",
            "impl Engine { pub(crate) fn lose(&self) -> Result<u8, Fault> { x } }",
            "impl Engine { pub fn lose(&self) -> u8 { Fault } }",
            "impl Engine { pub fn lose(a: Store) -> Result<u8, Fault> { x } }",
            "impl Observer<'_> { pub fn lose(&self) -> Result<u8, Fault> { x } }",
            "impl Mirror<'_> { pub fn path(&self) -> Result<u8, Fault> { x } }",
            "impl Records<'_> { pub fn get(&self) -> Result<u8, Fault> { x } }",
            "impl<'e> Hooks<'e> { pub fn answer(&self) -> Result<u8, Fault> { x } }",
            "impl Clone for Records<'_> { pub fn lose(&self) -> Result<u8, Fault> { x } }",
        ] {
            assert!(with(fine).is_empty(), "{fine}");
        }
    }
}
