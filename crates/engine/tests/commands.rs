//! Templates of custom commands: how they are read and filled in, and that nothing is ever read twice.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_engine::commands::{
    Definition, Step, Template, check_name, name_of, quoted, same_name, variables,
};
use heirloom_model::limits::{
    COMMAND_ARGS_BYTES_MAX, COMMAND_ARGS_MAX, COMMAND_DESCRIPTION_BYTES_MAX,
    COMMAND_NAME_BYTES_MAX, COMMAND_PARTS_MAX, COMMAND_RENDERED_BYTES_MAX,
    COMMAND_TEMPLATE_BYTES_MAX, COMMAND_TIMEOUT_S_DEFAULT, COMMAND_TIMEOUT_S_MAX,
};
use proptest::prelude::*;

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// A filled-in template as one text: `$(script)`, `<path>`.
fn told(steps: &[Step]) -> String {
    let one = |step: &Step| match step {
        Step::Text(text) => text.clone(),
        Step::Shell { script, .. } => format!("$({script})"),
        Step::File { path, .. } => format!("<{path}>"),
    };
    steps.iter().map(one).collect()
}

#[track_caller]
fn check(template: &str, args: &[&str], expected: &str) {
    let (read, problems) = Template::parse(template);
    assert_eq!(problems, [], "{template}");
    let steps = read.prepare(&owned(args)).unwrap();
    assert_eq!(told(&steps), expected, "{template}");
}

#[track_caller]
fn wrong(template: &str, expected: &str) {
    let (_, problems) = Template::parse(template);
    let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(said.join("\n"), expected, "{template}");
}

#[test]
fn places_programs_and_files_are_filled_in() {
    check("plain {text} ! @ { }}", &[], "plain {text} ! @ { }}");
    check("{{arg2}} {{ arg1 }}: {{args}}", &["a", "b"], "b a: a b");
    check("{{{arg1}}}", &["a"], "{a}");
    check(
        "a !{git log} b @{ docs/a.md }c",
        &[],
        "a $(git log) b <docs/a.md>c",
    );
    check("@{docs/{{arg1}}.md}", &["a b"], "<docs/a b.md>");
    check("{{args}}|", &[], "|");
    check("é!{ö}ü", &[], "é$(ö)ü");
}

#[test]
fn a_program_ends_at_its_balanced_brace() {
    check("!{a {b} {c {d}}}e", &[], "$(a {b} {c {d}})e");
    check("!{echo '}' \"}\" \\} x}y", &[], "$(echo '}' \"}\" \\} x)y");
    check("!{echo \"\\\"}\" }z", &[], "$(echo \"\\\"}\" )z");
    check(
        "!{docker ps --format '{{.Names}}'}",
        &[],
        "$(docker ps --format '{{.Names}}')",
    );
    // Quotes are no quotes in a file's name.
    check("@{it's {a}}b", &[], "<it's {a}>b");
    wrong(
        "a\n  !{b '}",
        "line 2, column 3: `!{` is not closed: `}` is missing",
    );
    wrong(
        "@{a {b}",
        "line 1, column 1: `@{` is not closed: `}` is missing",
    );
    wrong(
        "é !{ } @{}",
        "line 1, column 3: `!{}` names no program\nline 1, column 8: `@{}` names no file",
    );
}

#[test]
fn a_backslash_takes_the_meaning_of_an_opener() {
    check(r"\!{a} \@{b} \{{arg1}}", &[], "!{a} @{b} {{arg1}}");
    check(r"\\!{a}", &[], r"\$(a)");
    check(r"\\\!{a}", &[], r"\!{a}");
    check(r"\\n \{ \", &[], r"\\n \{ \");
    check(
        r"!{echo \{{arg1}} {{arg1}}}",
        &["x"],
        "$(echo {{arg1}} \"${HEIRLOOM_ARG1}\")",
    );
}

#[test]
fn what_is_meant_for_an_argument_and_is_none_is_told() {
    wrong(
        "{{arg0}}",
        "line 1, column 1: there is no `{{arg0}}`: arguments are `{{arg1}}` to `{{arg100}}`",
    );
    wrong(
        "{{arg101}}",
        "line 1, column 1: there is no `{{arg101}}`: arguments are `{{arg1}}` to `{{arg100}}`",
    );
    wrong(
        "x{{argx}}",
        "line 1, column 2: there is no `{{argx}}`: write `{{args}}` or `{{arg1}}`, or a backslash before it",
    );
    wrong(
        "{{arg1}",
        "line 1, column 1: `{{arg1` is not closed: `}}` is missing",
    );
    wrong(
        "!{a\n{{args }",
        "line 2, column 1: `{{args` is not closed: `}}` is missing\nline 1, column 1: `!{` is not closed: `}` is missing",
    );
    // Other braces are nobody's business.
    check(
        "{{name}} {{ arguments of }}",
        &[],
        "{{name}} {{ arguments of }}",
    );
    let (read, _) = Template::parse("a {{arg2}}");
    let said = |args: &[&str]| read.prepare(&owned(args)).unwrap_err().to_string();
    assert_eq!(
        said(&["x"]),
        "line 1, column 3: `{{arg2}}` is missing: only 1 argument was given"
    );
    assert_eq!(
        said(&[]),
        "line 1, column 3: `{{arg2}}` is missing: no argument was given"
    );
    assert!(said(&["a\0b", "c"]).contains("NUL"));
}

#[test]
fn an_argument_reaches_a_script_as_a_variable_only() {
    let args = ["a'; rm -rf /", "$(id)"];
    check("!{f {{arg1}}}", &args, "$(f \"${HEIRLOOM_ARG1}\")");
    check(
        "!{f {{args}}}",
        &args,
        "$(f \"${HEIRLOOM_ARG1}\" \"${HEIRLOOM_ARG2}\")",
    );
    check(
        "!{f \"x {{args}}\"}",
        &args,
        "$(f \"x ${HEIRLOOM_ARG1} ${HEIRLOOM_ARG2}\")",
    );
    check(
        "!{f 'x {{arg2}} y'}",
        &args,
        "$(f 'x '\"${HEIRLOOM_ARG2}\"' y')",
    );
    check("!{f {{args}}}", &[], "$(f )");
    check("!{f '{{args}}'}", &[], "$(f '')");
    let given = variables(&owned(&args));
    assert_eq!(given[0], ("HEIRLOOM_ARG1".to_owned(), args[0].to_owned()));
    assert_eq!(given.len(), 2);
    assert_eq!(quoted("it's"), r"'it'\''s'");
}

#[test]
fn a_template_says_what_it_takes() {
    let of = |text: &str| {
        let read = Template::parse(text).0;
        let arguments = read.arguments();
        (arguments.needed, arguments.all, read.runs_programs())
    };
    assert_eq!(of("x"), (0, false, false));
    assert_eq!(of("{{arg3}} @{ {{arg1}} }"), (3, false, false));
    assert_eq!(of("!{f {{args}} {{arg2}}}"), (2, true, true));
}

#[test]
fn a_template_has_its_limits() {
    let fits = |text: &str| Template::parse(text).1.is_empty();
    assert!(fits(&"x".repeat(COMMAND_TEMPLATE_BYTES_MAX)));
    assert!(!fits(&"x".repeat(COMMAND_TEMPLATE_BYTES_MAX + 1)));
    assert!(fits(&"@{a}".repeat(COMMAND_PARTS_MAX)));
    assert!(!fits(&"@{a}".repeat(COMMAND_PARTS_MAX + 1)));
    let (read, _) = Template::parse("{{args}}");
    let takes = |args: Vec<String>| read.prepare(&args).map(drop);
    assert_eq!(takes(vec!["a".to_owned(); COMMAND_ARGS_MAX]), Ok(()));
    assert!(takes(vec!["a".to_owned(); COMMAND_ARGS_MAX + 1]).is_err());
    assert_eq!(takes(vec!["a".repeat(COMMAND_ARGS_BYTES_MAX)]), Ok(()));
    assert!(takes(vec!["a".repeat(COMMAND_ARGS_BYTES_MAX + 1)]).is_err());
    let times = COMMAND_RENDERED_BYTES_MAX / COMMAND_ARGS_BYTES_MAX;
    let filled = |times: usize| {
        let (read, _) = Template::parse(&"{{arg1}}".repeat(times));
        read.prepare(&["a".repeat(COMMAND_ARGS_BYTES_MAX)])
            .map(drop)
    };
    assert_eq!(filled(times), Ok(()));
    let said = filled(times + 1).unwrap_err().to_string();
    assert!(
        said.contains(&COMMAND_RENDERED_BYTES_MAX.to_string()),
        "{said}"
    );
}

#[test]
fn names_can_be_files_everywhere() {
    for good in [
        "review",
        "git:commit",
        "a.b:c-d_e",
        "größe",
        "com",
        "com10",
        "console",
    ] {
        assert_eq!(check_name(good), Ok(()), "{good}");
    }
    let long = "x".repeat(COMMAND_NAME_BYTES_MAX + 1);
    for bad in [
        "", ":", "a:", ":a", "a::b", "..", "a:..", ".a", "a.", "-a", "a/b", "a\\b", "a b", "a\nb",
        "a\0b", "con", "AUX", "nul.txt", "git:com1", "LPT9", "a*", &long,
    ] {
        assert!(check_name(bad).is_err(), "{bad:?}");
    }
    assert_eq!(check_name(&long[1..]), Ok(()));
    let folders = owned(&["git", "hub"]);
    assert_eq!(name_of(&folders, "x", None), "git:hub:x");
    assert_eq!(name_of(&folders, "x", Some("y")), "git:hub:y");
    assert_eq!(name_of(&folders, "x", Some("y:z")), "y:z");
    assert!(same_name("Größe", "größe") && !same_name("a", "b"));
}

#[track_caller]
fn defined(text: &str) -> Definition {
    let (definition, problems) = Definition::read(text);
    assert_eq!(problems, Vec::<String>::new());
    definition
}

#[test]
fn both_forms_of_a_file_are_read() {
    let keys = "name = \"r\"\ndescription = \"two\\nlines\"\ntemplate = \"a {{arg1}}\"\ntimeout_s = 7\nother = 1\n";
    let flat = defined(keys);
    assert_eq!(flat, defined(&format!("\u{feff}[command]\n{keys}")));
    assert_eq!(flat.name.as_deref(), Some("r"));
    assert_eq!(
        (flat.description.as_str(), flat.timeout_s),
        ("two | lines", 7)
    );
    let all = defined("file = \"@{a}\"\nshell = \" !{b} \"\ntemplate = \"c\"");
    assert_eq!(all.timeout_s, COMMAND_TIMEOUT_S_DEFAULT);
    let steps = all.template.prepare(&[]).unwrap();
    assert_eq!(told(&steps), "c\n $(b) \n<a>");
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(Definition::read(text).1, expected, "{text}");
    };
    check("", &["there is no `template`, no `shell` and no `file`"]);
    check(
        "command = 1",
        &["`command`: expected a table, found integer"],
    );
    check(
        "template = 1",
        &["`template`: expected a text, found integer"],
    );
    check(
        "[command]\nname = []\ndescription = {}\ntemplate = true\ntimeout_s = \"1\"",
        &[
            "`name`: expected a text, found array",
            "`description`: expected a text, found table",
            "`timeout_s`: expected a whole number within 1..3600",
            "`template`: expected a text, found boolean",
        ],
    );
    check(
        "template = \"\"\nshell = \"ls\"",
        &["`shell`: expected `!{…}` and nothing else"],
    );
    check(
        "file = \"@{a} @{b}\"",
        &["`file`: expected `@{…}` and nothing else"],
    );
    check(
        "template = '''\na !{'''",
        &["`template`, line 1, column 3: `!{` is not closed: `}` is missing"],
    );
    let timed = |n: u64| {
        Definition::read(&format!("template = 'x'\ntimeout_s = {n}"))
            .1
            .len()
    };
    assert_eq!((timed(0), timed(1)), (1, 0));
    assert_eq!(
        (
            timed(COMMAND_TIMEOUT_S_MAX),
            timed(COMMAND_TIMEOUT_S_MAX + 1)
        ),
        (0, 1)
    );
    let about = |n: usize| {
        Definition::read(&format!(
            "template = 'x'\ndescription = '{}'",
            "x".repeat(n)
        ))
        .1
        .len()
    };
    let most = COMMAND_DESCRIPTION_BYTES_MAX;
    assert_eq!((about(most), about(most + 1)), (0, 1));
    let broken = &Definition::read("template = 'x'\nb = = 1").1[0];
    assert!(broken.starts_with("line 2: "), "{broken}");
}

/// Texts of what templates are made of.
fn bits() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        Just("!{"),
        Just("@{"),
        Just("{{"),
        Just("}}"),
        Just("}"),
        Just("{"),
        Just("\\"),
        Just("arg1"),
        Just("args"),
        Just("{{arg1}}"),
        Just("{{args}}"),
        Just("'"),
        Just("\""),
        Just("\n"),
        Just("a b"),
        Just("é"),
        Just("$(id)"),
        Just("`id`"),
    ];
    proptest::collection::vec(bit, 0..24).prop_map(|bits| bits.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_and_what_an_argument_says_changes_nothing_else(
        template in bits(),
        args in proptest::collection::vec(bits(), 2),
    ) {
        let (read, problems) = Template::parse(&template);
        for problem in &problems {
            prop_assert!(problem.at.line >= 1 && problem.at.column >= 1);
        }
        let marks = owned(&["\u{1}", "\u{2}"]);
        let with_marks = read.prepare(&marks);
        let with_args = read.prepare(&args);
        prop_assert_eq!(with_marks.is_ok(), with_args.is_ok());
        let (Ok(with_marks), Ok(with_args)) = (with_marks, with_args) else { return Ok(()) };
        let put = |text: &str| text.replace('\u{1}', &args[0]).replace('\u{2}', &args[1]);
        for (mark, arg) in with_marks.iter().zip(&with_args) {
            match (mark, arg) {
                (Step::Text(mark), Step::Text(arg)) => prop_assert_eq!(&put(mark), arg),
                (Step::Shell { script: mark, .. }, Step::Shell { script: arg, .. }) => {
                    prop_assert_eq!(mark, arg);
                }
                (Step::File { path: mark, .. }, Step::File { path: arg, .. }) => {
                    let put = put(mark);
                    prop_assert_eq!(put.trim(), arg.trim());
                }
                _ => prop_assert!(false, "{:?} became {:?}", mark, arg),
            }
        }
        prop_assert_eq!(with_marks.len(), with_args.len());
    }

    #[test]
    fn an_escaped_text_comes_back(text in bits()) {
        let escaped = text.replace('\\', "").replace("{{", "{").replace("!{", "\\!{").replace("@{", "\\@{");
        let plain = text.replace('\\', "").replace("{{", "{");
        let (read, problems) = Template::parse(&escaped);
        prop_assert!(problems.is_empty() || escaped.contains("{{"), "{:?}", problems);
        if !escaped.contains("{{") {
            prop_assert_eq!(told(&read.prepare(&[]).unwrap()), plain);
        }
    }
}
