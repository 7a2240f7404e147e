//! The rules of language: measured for the whole tree, and compared with a committed list that may only shrink.

mod allow_list;
mod doc_openings;
mod house_words;
mod module_names;
mod prose;
mod type_names;

use std::collections::BTreeMap;
use std::path::Path;

use super::Violation;
use super::tree::{Tree, is_fixture};
use allow_list::{Counts, Lists};

const RULE: &str = "language";

/// Names of the rules in the list.
const DOC_OPENINGS: &str = "doc_openings";
const HOUSE_WORDS: &str = "house_words";
const MODULE_NAMES: &str = "module_names";
const TYPE_NAMES: &str = "type_names";

const RULES: [&str; 4] = [DOC_OPENINGS, HOUSE_WORDS, MODULE_NAMES, TYPE_NAMES];

/// By how much the list of a rule may exceed the tree: cleaning on several branches at once must not conflict, and a
/// list that is far behind would hide new places.
const STALE_MAX: usize = 40;

/// Places that a message names.
const NAMED_MAX: usize = 6;

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    what: String,
}

/// Everything that breaks a rule, and what there is in total.
#[derive(Debug, Default)]
struct Measure {
    /// By rule, then by file or type name.
    found: BTreeMap<&'static str, BTreeMap<String, Vec<Place>>>,
    docs: usize,
    words: usize,
}

impl Measure {
    fn of(tree: &Tree) -> Self {
        let mut measure = Self::default();
        for (path, text) in tree.files().filter(|(path, _)| !is_fixture(path)) {
            if let Some(name) = module_names::bad_name(path) {
                measure.add(MODULE_NAMES, path, 1, format!("`{name}`"));
            }
            for line in prose::lines(path, text) {
                measure.docs += usize::from(line.opens_doc);
                measure.words += house_words::count(&line.text);
                if let Some(word) = doc_openings::question_word(&line) {
                    measure.add(DOC_OPENINGS, path, line.number, format!("`{word}`"));
                }
                for word in house_words::house_words(&line.text) {
                    let what = format!("`{}` ({})", word.phrase, word.instead);
                    measure.add(HOUSE_WORDS, path, line.number, what);
                }
            }
        }
        for (name, files) in type_names::crowded(tree) {
            for file in files {
                measure.add(TYPE_NAMES, &name, 1, file);
            }
        }
        measure
    }

    fn add(&mut self, rule: &'static str, place: &str, line: usize, what: String) {
        let places = self.found.entry(rule).or_default();
        let places = places.entry(place.to_owned()).or_default();
        places.push(Place { line, what });
    }

    /// The counts as the list has them.
    fn lists(&self) -> Lists {
        let counts = |rule: &str| -> Counts {
            let places = self.found.get(rule).into_iter().flatten();
            places
                .map(|(place, found)| (place.clone(), found.len()))
                .collect()
        };
        let lists = RULES
            .into_iter()
            .map(|rule| (rule.to_owned(), counts(rule)));
        lists.collect()
    }

    fn total(&self, rule: &str) -> usize {
        let places = self.found.get(rule).into_iter().flatten();
        places.map(|(_, found)| found.len()).sum()
    }
}

/// Compares the tree with the list.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let measure = Measure::of(tree);
    let allowed = match allow_list::parse(tree.get(allow_list::PATH).unwrap_or_default()) {
        Ok(allowed) => allowed,
        Err(line) => {
            let wrong = "cannot read this line: run `cargo xtask tidy --update-language`";
            return vec![Violation::new(allow_list::PATH, line, RULE, wrong)];
        }
    };
    let mut violations = Vec::new();
    for rule in RULES {
        let none = Counts::new();
        let allowed = allowed.get(rule).unwrap_or(&none);
        for (place, found) in measure.found.get(rule).into_iter().flatten() {
            let most = allowed.get(place).copied().unwrap_or(0);
            if found.len() > most {
                violations.push(too_many(rule, place, found, most));
            }
        }
        let (listed, real) = (allow_list::total(allowed), measure.total(rule));
        if listed > real + STALE_MAX {
            let wrong = format!(
                "{rule} lists {listed} places, the tree has {real}: run `cargo xtask tidy --update-language`"
            );
            violations.push(Violation::new(allow_list::PATH, 1, RULE, wrong));
        }
    }
    violations
}

fn too_many(rule: &str, place: &str, found: &[Place], most: usize) -> Violation {
    let count = found.len();
    let named = found.iter().take(NAMED_MAX);
    let (path, line) = match found {
        [first, ..] if rule == TYPE_NAMES => (first.what.as_str(), 1),
        [.., last] => (place, last.line),
        [] => (place, 1),
    };
    let wrong = match rule {
        MODULE_NAMES => {
            let named: Vec<_> = named.map(|one| one.what.as_str()).collect();
            let name = named.join(", ");
            format!(
                "the module name {name} is no noun phrase: name the thing, as `group_commit`, `project_cache`"
            )
        }
        TYPE_NAMES => {
            let files: Vec<_> = named.map(|one| one.what.as_str()).collect();
            let max = type_names::MODULES_MAX;
            format!(
                "{count} modules define a type `{place}`; at most {max} may (and {most} are listed): name it after \
                 what it is ({})",
                files.join(", ")
            )
        }
        _ => {
            let named: Vec<_> = named
                .map(|one| format!("line {}: {}", one.line, one.what))
                .collect();
            let subject = match rule {
                DOC_OPENINGS => {
                    "docs begin with a question word; begin with a verb or a noun phrase"
                }
                _ => "house words; write the plain word of the field",
            };
            let rest = if count > NAMED_MAX { "; …" } else { "" };
            format!(
                "{count} {subject} ({most} are listed): {}{rest}",
                named.join("; ")
            )
        }
    };
    Violation::new(path, line, RULE, wrong)
}

/// The figures of today, one line a rule.
pub(super) fn figures(tree: &Tree) -> Vec<String> {
    let measure = Measure::of(tree);
    let (docs, words) = (measure.docs, measure.words);
    let openings = measure.total(DOC_OPENINGS);
    let house = measure.total(HOUSE_WORDS);
    let types = measure.found.get(TYPE_NAMES);
    let names: Vec<_> = types
        .into_iter()
        .flatten()
        .map(|(name, files)| format!("{name} {}", files.len()))
        .collect();
    vec![
        format!(
            "language: docs that begin with a question word: {openings} of {docs}, {} % (at most 5)",
            tenths(openings, docs, 100)
        ),
        format!(
            "language: house words: {house} in {words} words, {} per 10,000 (at most 5)",
            tenths(house, words, 10_000)
        ),
        format!(
            "language: module names that are no noun phrase: {} (none)",
            measure.total(MODULE_NAMES)
        ),
        format!(
            "language: type names in more than {} modules: {} (none): {}",
            type_names::MODULES_MAX,
            names.len(),
            names.join(", ")
        ),
    ]
}

/// `part` of `whole`, times `unit`, with one decimal.
fn tenths(part: usize, whole: usize, unit: usize) -> String {
    let tenths = (10 * unit * part + whole / 2)
        .checked_div(whole)
        .unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Writes the list as the tree is now. Refuses to raise the total of a rule unless `may_grow`.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the repository, under version control"
)]
pub(super) fn update(tree: &Tree, root: &Path, may_grow: bool) -> Result<Vec<String>, String> {
    let (text, changes) = updated(tree, may_grow)?;
    std::fs::write(root.join(allow_list::PATH), text)
        .map_err(|error| format!("cannot write {}: {error}", allow_list::PATH))?;
    Ok(changes)
}

/// The new list, and one line for each rule with its totals before and after.
fn updated(tree: &Tree, may_grow: bool) -> Result<(String, Vec<String>), String> {
    let lists = Measure::of(tree).lists();
    let mut changes = Vec::new();
    // A list that is missing or has conflict markers does not limit anything: then `may_grow` is needed.
    let before = tree.get(allow_list::PATH).map(allow_list::parse);
    let before = before.and_then(Result::ok).unwrap_or_default();
    for (rule, counts) in &lists {
        let old = before.get(rule).cloned().unwrap_or_default();
        let (from, to) = (allow_list::total(&old), allow_list::total(counts));
        changes.push(format!("{rule}: {from} → {to}"));
        if to > from && !may_grow {
            let grown = counts
                .iter()
                .filter(|(place, count)| old.get(*place) < Some(count));
            let grown: Vec<_> = grown
                .map(|(place, _)| place.as_str())
                .take(NAMED_MAX)
                .collect();
            return Err(format!(
                "{rule} would grow from {from} to {to} ({}): rewrite what was added; after a merge of branches that \
                 did not have the list, `--grow` accepts it",
                grown.join(", ")
            ));
        }
    }
    Ok((allow_list::render(&lists), changes))
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    const LIST: &str = "[doc_openings]\n\"a/src/a.rs\" = 1\n\n[house_words]\n\"a/src/a.rs\" = 2\n";

    fn check_with(list: &str, text: &str) -> Vec<String> {
        run_rule(check, &[("a/src/a.rs", text), (allow_list::PATH, list)])
    }

    #[test]
    fn listed_counts_are_accepted_and_smaller_ones_too() {
        let text = "/// Whether it stands beside.\nfn f() {}\n";
        assert!(check_with(LIST, text).is_empty());
        assert!(check_with(LIST, "/// Returns.\nfn f() {}\n").is_empty());
    }

    #[test]
    fn larger_counts_are_rejected_with_lines_and_suggestions() {
        let text =
            "/// Whether it stands beside.\nfn f() {}\n// Nobody.\n/// How it is.\nfn g() {}\n";
        let report = check_with(LIST, text);
        assert_eq!(report.len(), 2, "{report:?}");
        assert!(
            report[0].starts_with("a/src/a.rs:4: language: 2 docs begin"),
            "{report:?}"
        );
        assert!(
            report[1].starts_with("a/src/a.rs:3: language: 3 house words"),
            "{report:?}"
        );
        assert!(report[1].contains("line 1: `stands`") && report[1].contains("(2 are listed)"));
    }

    #[test]
    fn new_module_and_type_names_are_rejected() {
        let text = "struct Kept;\n";
        let files = [
            ("a/src/told.rs", text),
            ("a/src/b.rs", text),
            ("a/src/c.rs", text),
            ("a/src/d.rs", text),
        ];
        let report = run_rule(check, &files);
        assert_eq!(report.len(), 2, "{report:?}");
        assert!(report[0].contains("a/src/told.rs:1: language: the module name `told`"));
        assert!(report[1].contains("4 modules define a type `Kept`"));
        let list = "[module_names]\n\"a/src/told.rs\" = 1\n\n[type_names]\n\"Kept\" = 4\n";
        let listed = [&files[..], &[(allow_list::PATH, list)]].concat();
        assert!(super::super::run_rule(check, &listed).is_empty());
    }

    #[test]
    fn list_far_above_the_tree_is_rejected() {
        let list = |count: usize| format!("[house_words]\n\"gone.rs\" = {count}\n");
        assert!(check_with(&list(STALE_MAX), "").is_empty());
        let report = check_with(&list(STALE_MAX + 1), "");
        assert_eq!(report.len(), 1);
        assert!(report[0].contains("--update-language"), "{report:?}");
    }

    #[test]
    fn broken_list_is_rejected() {
        let report = check_with("[house_words]\n<<<<<<< HEAD\n", "");
        assert!(report[0].starts_with("xtask/language.toml:2: language: cannot read"));
    }

    #[test]
    fn update_lowers_the_list_and_refuses_to_raise_it() {
        let tree = |text: &str| Tree::of(&[("a/src/b.rs", text), (allow_list::PATH, LIST)]);
        // The file was renamed: its place is new, the totals are not larger.
        let (text, changes) = updated(&tree("// It stands.\n"), false).unwrap();
        assert!(
            text.contains("[house_words]\n\"a/src/b.rs\" = 1\n"),
            "{text}"
        );
        assert!(
            changes.contains(&"house_words: 2 → 1".to_owned()),
            "{changes:?}"
        );
        let more = tree("// It stands beside, anew.\n");
        let refused = updated(&more, false).unwrap_err();
        assert!(
            refused.contains("2 to 3") && refused.contains("a/src/b.rs"),
            "{refused}"
        );
        assert!(updated(&more, true).is_ok());
        let listed = updated(&more, true).unwrap().0;
        let files = [
            ("a/src/b.rs", "// It stands beside, anew.\n"),
            (allow_list::PATH, listed.as_str()),
        ];
        assert!(run_rule(check, &files).is_empty());
    }

    #[test]
    fn figures_name_every_rule() {
        let tree = Tree::of(&[(
            "a/src/told.rs",
            "/// Whether it lies.\n/// Two.\nfn f() {}\n",
        )]);
        let figures = figures(&tree);
        assert_eq!(figures.len(), RULES.len());
        assert!(figures[0].contains("1 of 1, 100.0 %"), "{figures:?}");
        assert!(
            figures[1].contains("1 in 4 words, 2500.0 per 10,000"),
            "{figures:?}"
        );
        assert!(figures[2].contains(": 1 (none)"), "{figures:?}");
        assert_eq!(tenths(1, 0, 100), "0.0");
    }
}
