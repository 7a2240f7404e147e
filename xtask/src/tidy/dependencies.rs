//! Dependency rules of the architecture: which crate and which module may use which paths.

mod cycles;
mod manifest;
mod paths;
mod reads;
mod table;

use super::Violation;
use super::tokens::lex;
use super::tree::{Tree, is_test};
use paths::Named;
use table::{CRATES, Crate, EFFECTS, Effect, MODULES, Module, OPENS_THE_STORE, SURFACES};

const RULE: &str = "dependencies";

const ENGINE: &str = "crates/engine/src/";

const STORE: &str = "heirloom_store";

/// Reads the manifests and the paths of every source file against the table.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for rule in CRATES {
        dependencies(tree, rule, &mut found);
    }
    cycles::check(tree, &mut found);
    for (path, text) in tree.with_extension("rs") {
        let Some((rule, file)) = CRATES.iter().find_map(|rule| {
            let prefix = format!("crates/{}/src/", rule.folder);
            path.strip_prefix(&prefix).map(|file| (rule, file))
        }) else {
            continue;
        };
        // Unlexable text is reported by the rule about functions.
        let Ok(tokens) = lex(text) else { continue };
        let named = paths::paths(&tokens, &paths::module_of(file), is_test(path));
        for named in &named {
            let wrong = violation(path, file, rule, named);
            found.extend(wrong.map(|wrong| Violation::new(path, named.line, RULE, wrong)));
            let wrong = reads::violation(path, named);
            found.extend(wrong.map(|wrong| Violation::new(path, named.line, RULE, wrong)));
        }
        found.extend(reads::raw_names(path, text).map(|line| {
            let wrong =
                "a name may break the line or steer a terminal: `.to_escaped()` of `EscapedPath`";
            Violation::new(path, line, RULE, wrong)
        }));
    }
    found
}

/// Checks the dependencies of one crate.
fn dependencies(tree: &Tree, rule: &Crate, found: &mut Vec<Violation>) {
    let path = format!("crates/{}/Cargo.toml", rule.folder);
    for dependency in manifest::ours(tree.get(&path).unwrap_or_default()) {
        if !rule.may_use.contains(&dependency.name.as_str()) {
            let allowed = match rule.may_use {
                [] => "none of our crates".to_owned(),
                allowed => format!("only {}", allowed.join(", ")),
            };
            let wrong = format!(
                "`{}` may depend on {allowed}, not on `{}`: move what is shared to the model",
                rule.folder, dependency.name
            );
            found.push(Violation::new(&path, dependency.line, RULE, wrong));
        }
    }
}

/// Returns the violation of one path in one file.
fn violation(path: &str, file: &str, rule: &Crate, named: &Named) -> Option<String> {
    if SURFACES.iter().any(|surface| path.starts_with(surface)) {
        let opens = OPENS_THE_STORE.iter().any(|opens| path.starts_with(opens));
        return (first(named) == STORE && !opens).then(|| {
            format!(
                "a surface uses `{}`: call the Engine",
                shown(&named.segments)
            )
        });
    }
    let Some(module) = module_of(rule.folder, file) else {
        return effect_violation(rule.folder, rule.effects, named)
            .or_else(|| exported_store(path, named));
    };
    sibling_violation(module, &named.segments)
        .or_else(|| effect_violation(module.name, module.effects, named))
        .or_else(|| exported_store(path, named))
}

/// Returns the violation of a module that uses another listed module of its crate.
fn sibling_violation(module: &Module, segments: &[String]) -> Option<String> {
    let [root, target, ..] = segments else {
        return None;
    };
    let is_sibling = root == "crate"
        && target != module.name
        && (MODULES.iter()).any(|other| other.folder == module.folder && other.name == *target);
    is_sibling.then(|| {
        format!(
            "module `{}` uses `{}`: move shared data to the model, or let the Engine compose",
            module.name,
            shown(segments)
        )
    })
}

/// Returns the violation of a path with an effect that its crate or module does not have. Tests may have any.
fn effect_violation(place: &str, effects: &[Effect], named: &Named) -> Option<String> {
    if named.in_test {
        return None;
    }
    let (_, path, instead) = EFFECTS
        .iter()
        .filter(|(effect, _, _)| !effects.contains(effect))
        .find_map(|(effect, paths, instead)| {
            let used = paths.iter().find(|path| reaches(&named.segments, path))?;
            Some((effect, used, instead))
        })?;
    let path = path.trim_end_matches("::{self}");
    Some(format!("`{place}` uses `{path}`: {instead}"))
}

/// True if a path is another path, extends it, or is a glob above it.
fn reaches(segments: &[String], path: &str) -> bool {
    // `std::time::{self}` means the module itself and nothing below it.
    if let Some(path) = path.strip_suffix("::{self}") {
        return shown(segments) == path;
    }
    let glob_above = segments.split_last().is_some_and(|(last, above)| {
        let above = shown(above);
        last == "*"
            && path
                .strip_prefix(&above)
                .is_some_and(|rest| rest.starts_with("::"))
    });
    glob_above || is_under(segments, path)
}

/// True if a path is the given one or extends it.
fn is_under(segments: &[String], path: &str) -> bool {
    let mut segments = segments.iter();
    path.split("::")
        .all(|wanted| segments.next().is_some_and(|segment| segment == wanted))
}

/// Returns the violation of an engine that re-exports the store to all surfaces.
fn exported_store(path: &str, named: &Named) -> Option<String> {
    let last = named.segments.last()?;
    let whole = named.segments.len() == 1 || last == "*" || last == "Store";
    (path.starts_with(ENGINE) && named.exported && first(named) == STORE && whole).then(|| {
        format!(
            "the engine re-exports `{}`, so a surface could use the store: export the one type that is meant",
            shown(&named.segments)
        )
    })
}

/// Returns the listed module that a file of a crate belongs to.
fn module_of(folder: &str, file: &str) -> Option<&'static Module> {
    let top = file.split('/').next()?;
    let name = top.strip_suffix(".rs").unwrap_or(top);
    MODULES
        .iter()
        .find(|module| module.folder == folder && module.name == name)
}

fn first(named: &Named) -> &str {
    named.segments.first().map_or("", String::as_str)
}

fn shown(segments: &[String]) -> String {
    segments.join("::")
}

#[cfg(test)]
mod tests;
