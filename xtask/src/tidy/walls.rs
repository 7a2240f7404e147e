//! The walls of the architecture: which crate and which room may use what.

mod manifest;
mod paths;
mod table;

use std::collections::BTreeMap;

use super::Violation;
use super::tokens::lex;
use super::tree::{Tree, is_test};
use paths::Named;
use table::{CRATES, Crate, DURABLE, OPENS_THE_STORE, POWERS, Power, ROOMS, Room, SURFACES};

const RULE: &str = "walls";

const ENGINE: &str = "crates/engine/src/";

const STORE: &str = "heirloom_store";

/// Reads the manifests and the paths of every source file against the table.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for wall in CRATES {
        dependencies(tree, wall, &mut found);
    }
    let exports = exports(tree);
    for (path, text) in tree.with_extension("rs") {
        let Some((wall, file)) = CRATES.iter().find_map(|wall| {
            let prefix = format!("crates/{}/src/", wall.folder);
            path.strip_prefix(&prefix).map(|file| (wall, file))
        }) else {
            continue;
        };
        // What does not lex is said by the rule about functions.
        let Ok(tokens) = lex(text) else { continue };
        let named = paths::paths(&tokens, &paths::module_of(file), is_test(path));
        for named in &named {
            let wrong = breach(path, file, wall, named, &exports);
            found.extend(wrong.map(|wrong| Violation::new(path, named.line, RULE, wrong)));
        }
        found.extend(unknown_room(path, file));
    }
    found
}

/// The dependencies of one crate.
fn dependencies(tree: &Tree, wall: &Crate, found: &mut Vec<Violation>) {
    let path = format!("crates/{}/Cargo.toml", wall.folder);
    for dependency in manifest::ours(tree.get(&path).unwrap_or_default()) {
        if !wall.may_use.contains(&dependency.name.as_str()) {
            let allowed = match wall.may_use {
                [] => "none of our crates".to_owned(),
                allowed => format!("only {}", allowed.join(", ")),
            };
            let wrong = format!(
                "`{}` may depend on {allowed}, not on `{}`: move what is shared to the model",
                wall.folder, dependency.name
            );
            found.push(Violation::new(&path, dependency.line, RULE, wrong));
        }
    }
}

/// What is wrong with one path in one file, if anything.
fn breach(
    path: &str,
    file: &str,
    wall: &Crate,
    named: &Named,
    exports: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    if SURFACES.iter().any(|surface| path.starts_with(surface)) {
        let open = path == OPENS_THE_STORE || is_under(&named.segments, DURABLE);
        return (first(named) == STORE && !open).then(|| {
            format!(
                "a surface uses `{}`: call the Engine",
                shown(&named.segments)
            )
        });
    }
    let Some(room) = room_of(path, file) else {
        return power_breach(wall.folder, wall.powers, named)
            .or_else(|| exported_store(path, named));
    };
    sibling_breach(room, &named.segments, exports)
        .or_else(|| power_breach(room.name, room.powers, named))
        .or_else(|| exported_store(path, named))
}

/// A room that reaches a crate or another part of the engine that it may not use.
fn sibling_breach(
    room: &Room,
    segments: &[String],
    exports: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let (first, rest) = segments.split_first()?;
    let open = room.powers.contains(&Power::Files) && is_under(segments, DURABLE);
    if first.starts_with("heirloom_") && !room.crates.contains(&first.as_str()) && !open {
        return Some(format!(
            "room `{}` uses `{}`, it may use {}: let the Engine fetch it and pass it in",
            room.name,
            shown(segments),
            room.crates.join(", ")
        ));
    }
    if first != "crate" {
        return None;
    }
    let target = rest.first()?;
    if target == room.name || room.inside.contains(&target.as_str()) {
        return None;
    }
    // What lib.rs re-exports is judged by where it comes from.
    if let Some(origin) = exports.get(target) {
        return sibling_breach(room, origin, &BTreeMap::new());
    }
    Some(format!(
        "room `{}` uses `{}` outside itself: move what is shared to the model, or let the Engine compose",
        room.name,
        shown(segments)
    ))
}

/// A path that uses a power which its place does not have. Tests may.
fn power_breach(place: &str, powers: &[Power], named: &Named) -> Option<String> {
    if named.in_test {
        return None;
    }
    let (_, path, instead) = POWERS
        .iter()
        .filter(|(power, _, _)| !powers.contains(power))
        .find_map(|(power, paths, instead)| {
            let used = paths.iter().find(|path| reaches(&named.segments, path))?;
            Some((power, used, instead))
        })?;
    let path = path.trim_end_matches("::{self}");
    Some(format!("`{place}` uses `{path}`: {instead}"))
}

/// Whether a path uses another: it is that path, goes on from it, or is a glob above it.
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

/// Whether a path is the given one or goes on from it.
fn is_under(segments: &[String], path: &str) -> bool {
    let mut segments = segments.iter();
    path.split("::")
        .all(|wanted| segments.next().is_some_and(|segment| segment == wanted))
}

/// An engine that re-exports the store itself hands it to every surface.
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

/// A part of the engine that the table does not know.
fn unknown_room(path: &str, file: &str) -> Option<Violation> {
    let top = file.split('/').next()?;
    let name = top.strip_suffix(".rs").unwrap_or(top);
    let known = name == "lib" || name == "engine" || name == "tests";
    (path.starts_with(ENGINE) && !known && room_of(path, file).is_none()).then(|| {
        let wrong = format!(
            "room `{name}` has no walls: say in ARCHITECTURE.md and xtask/src/tidy/walls/table.rs what it may use"
        );
        Violation::new(path, 1, RULE, wrong)
    })
}

/// The room that a file of the engine belongs to.
fn room_of(path: &str, file: &str) -> Option<&'static Room> {
    let top = file.split('/').next()?;
    let name = top.strip_suffix(".rs").unwrap_or(top);
    ROOMS
        .iter()
        .find(|room| path.starts_with(ENGINE) && room.name == name)
}

/// What the engine's `lib.rs` re-exports: the name, and where it comes from.
fn exports(tree: &Tree) -> BTreeMap<String, Vec<String>> {
    let text = tree.get("crates/engine/src/lib.rs").unwrap_or_default();
    let tokens = lex(text).unwrap_or_default();
    paths::paths(&tokens, &[], false)
        .into_iter()
        .filter(|named| named.exported)
        .filter_map(|named| {
            let mut origin = named.segments;
            // In the root, `signals::Parser` means `crate::signals::Parser`.
            let inside = origin.first().is_some_and(|first| {
                first == "engine" || ROOMS.iter().any(|room| room.name == first)
            });
            if inside {
                origin.insert(0, "crate".to_owned());
            }
            Some((named.alias?, origin))
        })
        .collect()
}

fn first(named: &Named) -> &str {
    named.segments.first().map_or("", String::as_str)
}

fn shown(segments: &[String]) -> String {
    segments.join("::")
}

#[cfg(test)]
mod tests;
