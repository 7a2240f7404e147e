//! Tests of custom command templates: parsing, rendering, and that substituted text is never parsed again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_model::limits::{
    COMMAND_ARGS_BYTES_MAX, COMMAND_ARGS_MAX, COMMAND_DESCRIPTION_BYTES_MAX,
    COMMAND_NAME_BYTES_MAX, COMMAND_PARTS_MAX, COMMAND_RENDERED_BYTES_MAX,
    COMMAND_TEMPLATE_BYTES_MAX, COMMAND_TIMEOUT_S_DEFAULT, COMMAND_TIMEOUT_S_MAX,
};
use heirloom_prompt::custom_commands::{
    CommandDefinition, RenderStep, Template, argument_variables, check_name, command_name,
    is_same_name, quote_for_shell,
};
use proptest::prelude::*;

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// Returns a rendered template as one text: `$(script)`, `<path>`.
fn render_text(steps: &[RenderStep]) -> String {
    let one = |step: &RenderStep| match step {
        RenderStep::Text(text) => text.clone(),
        RenderStep::Shell { script, .. } => format!("$({script})"),
        RenderStep::File { path, .. } => format!("<{path}>"),
    };
    steps.iter().map(one).collect()
}

#[track_caller]
fn check(template: &str, args: &[&str], expected: &str) {
    let (read, problems) = Template::parse(template);
    assert_eq!(problems, [], "{template}");
    let steps = read.prepare(&owned(args)).unwrap();
    assert_eq!(render_text(&steps), expected, "{template}");
}

#[track_caller]
fn assert_error(template: &str, expected: &str) {
    let (_, problems) = Template::parse(template);
    let output: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(output.join("\n"), expected, "{template}");
}

#[test]
fn render_fills_arguments_scripts_and_files() {
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
fn parse_script_ends_at_balanced_brace() {
    check("!{a {b} {c {d}}}e", &[], "$(a {b} {c {d}})e");
    check("!{echo '}' \"}\" \\} x}y", &[], "$(echo '}' \"}\" \\} x)y");
    check("!{echo \"\\\"}\" }z", &[], "$(echo \"\\\"}\" )z");
    check(
        "!{docker ps --format '{{.Names}}'}",
        &[],
        "$(docker ps --format '{{.Names}}')",
    );
    // Quotes in a file name are literal.
    check("@{it's {a}}b", &[], "<it's {a}>b");
    assert_error(
        "a\n  !{b '}",
        "line 2, column 3: `!{` is not closed: `}` is missing",
    );
    assert_error(
        "@{a {b}",
        "line 1, column 1: `@{` is not closed: `}` is missing",
    );
    assert_error(
        "é !{ } @{}",
        "line 1, column 3: `!{}` names no program\nline 1, column 8: `@{}` names no file",
    );
}

#[test]
fn parse_backslash_escapes_opener() {
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
fn parse_malformed_argument_is_reported() {
    assert_error(
        "{{arg0}}",
        "line 1, column 1: there is no `{{arg0}}`: arguments are `{{arg1}}` to `{{arg100}}`",
    );
    assert_error(
        "{{arg101}}",
        "line 1, column 1: there is no `{{arg101}}`: arguments are `{{arg1}}` to `{{arg100}}`",
    );
    assert_error(
        "x{{argx}}",
        "line 1, column 2: there is no `{{argx}}`: write `{{args}}` or `{{arg1}}`, or a backslash before it",
    );
    assert_error(
        "{{arg1}",
        "line 1, column 1: `{{arg1` is not closed: `}}` is missing",
    );
    assert_error(
        "!{a\n{{args }",
        "line 2, column 1: `{{args` is not closed: `}}` is missing\nline 1, column 1: `!{` is not closed: `}` is missing",
    );
    // Other braces are literal.
    check(
        "{{name}} {{ arguments of }}",
        &[],
        "{{name}} {{ arguments of }}",
    );
    let (read, _) = Template::parse("a {{arg2}}");
    let output = |args: &[&str]| read.prepare(&owned(args)).unwrap_err().to_string();
    assert_eq!(
        output(&["x"]),
        "line 1, column 3: `{{arg2}}` is missing: only 1 argument was given"
    );
    assert_eq!(
        output(&[]),
        "line 1, column 3: `{{arg2}}` is missing: no argument was given"
    );
    assert!(output(&["a\0b", "c"]).contains("NUL"));
}

#[test]
fn render_passes_arguments_to_scripts_as_variables() {
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
    let given = argument_variables(&owned(&args));
    assert_eq!(given[0], ("HEIRLOOM_ARG1".to_owned(), args[0].to_owned()));
    assert_eq!(given.len(), 2);
    assert_eq!(quote_for_shell("it's"), r"'it'\''s'");
}

#[test]
fn template_lists_its_arguments() {
    let of = |text: &str| {
        let read = Template::parse(text).0;
        let arguments = read.arguments();
        (
            arguments.required_count,
            arguments.takes_all,
            read.runs_programs(),
        )
    };
    assert_eq!(of("x"), (0, false, false));
    assert_eq!(of("{{arg3}} @{ {{arg1}} }"), (3, false, false));
    assert_eq!(of("!{f {{args}} {{arg2}}}"), (2, true, true));
}

#[test]
fn template_limits_are_enforced() {
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
    let output = filled(times + 1).unwrap_err().to_string();
    assert!(
        output.contains(&COMMAND_RENDERED_BYTES_MAX.to_string()),
        "{output}"
    );
}

#[test]
fn command_names_are_portable_file_names() {
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
    assert_eq!(command_name(&folders, "x", None), "git:hub:x");
    assert_eq!(command_name(&folders, "x", Some("y")), "git:hub:y");
    assert_eq!(command_name(&folders, "x", Some("y:z")), "y:z");
    assert!(is_same_name("Größe", "größe") && !is_same_name("a", "b"));
}

#[track_caller]
fn defined(text: &str) -> CommandDefinition {
    let (definition, problems) = CommandDefinition::parse(text);
    assert_eq!(problems, Vec::<String>::new());
    definition
}

#[test]
fn parse_file_reads_both_formats() {
    let keys = "name = \"r\"\ndescription = \"two\\nlines\"\ntemplate = \"a {{arg1}}\"\ntimeout_s = 7\nother = 1\n";
    let flat = defined(keys);
    assert_eq!(flat, defined(&format!("\u{feff}[command]\n{keys}")));
    assert_eq!(flat.name.as_deref(), Some("r"));
    assert_eq!(
        (flat.description.as_str(), flat.timeout_s),
        ("two | lines", 7)
    );
    let radium = defined(
        "[command]\nname = \"build\"\nshell = \"!{cargo build} {{args}}\"\nargs = [\"what\", \"how\"]",
    );
    let steps = radium.template.prepare(&owned(&["a", "b"])).unwrap();
    assert_eq!(render_text(&steps), "$(cargo build) a b");
    assert_eq!(radium.argument_names, ["what", "how"]);
    let all = defined("file = \"@{a}\"\nshell = \" !{b} \"\ntemplate = \"c\"");
    assert_eq!(all.timeout_s, COMMAND_TIMEOUT_S_DEFAULT);
    let steps = all.template.prepare(&[]).unwrap();
    assert_eq!(render_text(&steps), "c\n $(b) \n<a>");
}

#[test]
fn parse_file_error_is_explained() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(CommandDefinition::parse(text).1, expected, "{text}");
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
        &["`shell`: there is no `!{…}` in it"],
    );
    check("file = \"a\"", &["`file`: there is no `@{…}` in it"]);
    check(
        "template = \"\"\nargs = [1]",
        &["`args`: expected a list of texts"],
    );
    check(
        "template = '''\na !{'''",
        &["`template`, line 1, column 3: `!{` is not closed: `}` is missing"],
    );
    let timed = |n: u64| {
        CommandDefinition::parse(&format!("template = 'x'\ntimeout_s = {n}"))
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
        CommandDefinition::parse(&format!(
            "template = 'x'\ndescription = '{}'",
            "x".repeat(n)
        ))
        .1
        .len()
    };
    let most = COMMAND_DESCRIPTION_BYTES_MAX;
    assert_eq!((about(most), about(most + 1)), (0, 1));
    let broken = &CommandDefinition::parse("template = 'x'\nb = = 1").1[0];
    assert!(broken.starts_with("line 2: "), "{broken}");
}

/// Fragments of templates.
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
    fn render_any_text_arguments_change_nothing_else(
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
                (RenderStep::Text(mark), RenderStep::Text(arg)) => prop_assert_eq!(&put(mark), arg),
                (RenderStep::Shell { script: mark, .. }, RenderStep::Shell { script: arg, .. }) => {
                    prop_assert_eq!(mark, arg);
                }
                (RenderStep::File { path: mark, .. }, RenderStep::File { path: arg, .. }) => {
                    let put = put(mark);
                    prop_assert_eq!(put.trim(), arg.trim());
                }
                _ => prop_assert!(false, "{:?} became {:?}", mark, arg),
            }
        }
        prop_assert_eq!(with_marks.len(), with_args.len());
    }

    #[test]
    fn parse_escaped_text_round_trips(text in bits()) {
        let escaped = text.replace('\\', "").replace("{{", "{").replace("!{", "\\!{").replace("@{", "\\@{");
        let plain = text.replace('\\', "").replace("{{", "{");
        let (read, problems) = Template::parse(&escaped);
        prop_assert!(problems.is_empty() || escaped.contains("{{"), "{:?}", problems);
        if !escaped.contains("{{") {
            prop_assert_eq!(render_text(&read.prepare(&[]).unwrap()), plain);
        }
    }
}
