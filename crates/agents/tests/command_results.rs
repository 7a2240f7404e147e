//! Results of command lines whose exit status is masked, or is that of one of several parts.

use heirloom_agents::failures::command_result::{
    CommandShape,
    CommandState::{self, Failed, Succeeded, Unknown},
    ReportedStatus::{self, Failure, Rejected, Success, Unreported},
};

/// Command line, reported status, output, expected state, expected blamed part (empty: none).
type Case = (
    &'static str,
    ReportedStatus,
    &'static str,
    CommandState,
    &'static str,
);

const fn code(code: i64) -> ReportedStatus {
    Failure(Some(code))
}

/// Lines with a filter, an alternative or a later command that hides the status.
const MASKED: [Case; 34] = [
    (
        "make test 2>&1 | tail -20",
        Success,
        "building\nlinking",
        Unknown,
        "",
    ),
    (
        "pytest -q 2>&1 | tail -3",
        Success,
        "FAILED tests/test_cart.py::test_sum - assert 3 == 4\n1 failed, 7 passed in 0.42s",
        Failed,
        "pytest -q 2>&1",
    ),
    (
        "pytest -q 2>&1 | tail -3",
        Success,
        "8 passed in 0.42s",
        Succeeded,
        "",
    ),
    (
        "cargo build 2>&1 | grep -E '^error' | head",
        Success,
        "error[E0425]: cannot find value `total` in this scope\nerror: could not compile `shop` (bin \"shop\") due to 1 previous error",
        Failed,
        "cargo build 2>&1",
    ),
    (
        "cargo test 2>&1 | tee test.log",
        Success,
        "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        Succeeded,
        "",
    ),
    (
        "npx tsc --noEmit | head -20",
        Success,
        "src/cart.ts(4,7): error TS2322: Type 'string' is not assignable to type 'number'.",
        Failed,
        "npx tsc --noEmit",
    ),
    (
        "uv run ruff check . | head -100",
        Success,
        "src/a.py:1:1: F401 `os` imported but unused\nFound 15 errors.\n[*] 3 fixable with the `--fix` option.",
        Failed,
        "uv run ruff check .",
    ),
    (
        "ruff check . | tail -1",
        Success,
        "All checks passed!",
        Succeeded,
        "",
    ),
    (
        "mypy src | tail -1",
        Success,
        "Success: no issues found in 12 source files",
        Succeeded,
        "",
    ),
    (
        "mypy src || true",
        Success,
        "src/a.py:3: error: Incompatible return value type\nFound 1 error in 1 file (checked 4 source files)",
        Failed,
        "mypy src",
    ),
    (
        "npm run build || true",
        Success,
        "> shop@1.0.0 build\n> node build.js",
        Unknown,
        "",
    ),
    (
        "git stash && git checkout main && uv run ty check 2>&1 | grep 'Found.*diagnostics' || echo none",
        Success,
        "Saved working directory and index state\nSwitched to branch 'main'\nFound 12 diagnostics",
        Failed,
        "uv run ty check 2>&1",
    ),
    (
        "go vet ./...; echo \"exit: $?\"",
        Success,
        "# example.com/shop\n./cart.go:7:2: undefined: total\nexit: 1",
        Failed,
        "go vet ./...",
    ),
    (
        "go vet ./...; echo \"exit: $?\"",
        Success,
        "exit: 0",
        Succeeded,
        "",
    ),
    ("make lint; echo done", Success, "done", Unknown, ""),
    (
        "terraform validate > out.txt 2>&1; echo $?",
        Success,
        "1",
        Failed,
        "terraform validate > out.txt 2>&1",
    ),
    (
        "mix test 2>&1 | tail -5; echo \"status ${PIPESTATUS[0]}\"",
        Success,
        "12 tests, 0 failures\nstatus 0",
        Succeeded,
        "",
    ),
    (
        "bundle exec rspec | tail -4",
        Success,
        "Finished in 1.2 seconds\n14 examples, 2 failures",
        Failed,
        "bundle exec rspec",
    ),
    (
        "python manage.py migrate && echo MIGRATED || echo BROKEN",
        Success,
        "Traceback (most recent call last):\n  File \"manage.py\", line 3\nModuleNotFoundError: No module named 'django'\nBROKEN",
        Failed,
        "python manage.py migrate",
    ),
    (
        "python manage.py migrate && echo MIGRATED || echo BROKEN",
        Success,
        "Applying shop.0002... OK\nMIGRATED",
        Succeeded,
        "",
    ),
    ("npm run dev &", Success, "[1] 4211", Unknown, ""),
    (
        "npm run lint; npm run test",
        Success,
        "\u{2716} 3 problems (3 errors, 0 warnings)\n\nTests: 4 passed, 4 total",
        Failed,
        "npm run lint",
    ),
    (
        "echo \"version: $(poetry version -s)\"",
        Success,
        "bash: line 1: poetry: command not found\nversion: ",
        Failed,
        "poetry version -s",
    ),
    (
        "for d in api web; do (cd $d && npm test); done",
        Success,
        "Tests: 1 failed, 3 passed, 4 total\nTests: 9 passed, 9 total",
        Failed,
        "npm test",
    ),
    (
        "for f in a.py b.py; do python -m py_compile $f; done",
        Success,
        "",
        Unknown,
        "",
    ),
    (
        "if cargo clippy -q; then echo clean; else echo dirty; fi",
        Success,
        "dirty",
        Failed,
        "cargo clippy -q",
    ),
    (
        "if grep -q redis compose.yml; then echo yes; else echo no; fi",
        Success,
        "no",
        Succeeded,
        "",
    ),
    (
        "pip install shop-tools || pip3 install shop-tools",
        Success,
        "bash: pip: command not found\nSuccessfully installed shop-tools-1.2",
        Succeeded,
        "",
    ),
    (
        "set -o pipefail; cargo test | tail -5",
        Success,
        "running 0 tests",
        Succeeded,
        "",
    ),
    (
        "set -o pipefail\npytest | tail -2",
        code(1),
        "3 failed, 1 passed in 2.0s",
        Failed,
        "pytest",
    ),
    (
        "ssh deploy@shop 'systemctl restart shop | cat'",
        Success,
        "",
        Unknown,
        "",
    ),
    (
        "bash -c 'npm test | tail -1'",
        Success,
        "# fail 0",
        Unknown,
        "",
    ),
    (
        "./gradlew test | tail -3",
        Success,
        "BUILD SUCCESSFUL in 4s\n3 actionable tasks: 1 executed, 2 up-to-date",
        Succeeded,
        "",
    ),
    (
        "head -5 notes.txt; node report.js; ls",
        Success,
        "one\nnode:internal/modules/cjs/loader:1080\n  throw err;\n\nError: Cannot find module '/srv/report.js'\nnotes.txt",
        Failed,
        "node report.js",
    ),
];

/// Lines whose failure or success is that of one part.
const BLAMED: [Case; 34] = [
    (
        "cd services/api && npm test",
        code(1),
        "bash: line 1: cd: services/api: No such file or directory",
        Failed,
        "cd services/api",
    ),
    (
        "cd /srv/shop && make deploy",
        code(1),
        "/bin/sh: 1: cd: can't cd to /srv/shop",
        Failed,
        "cd /srv/shop",
    ),
    (
        "cd web && npm ci && npm run build",
        code(1),
        "added 12 packages\nnpm error Missing script: \"build\"",
        Failed,
        "npm run build",
    ),
    (
        "git add -A && git commit -m 'fix: round' && git push",
        code(1),
        "On branch main\nnothing to commit, working tree clean",
        Failed,
        "git commit -m 'fix: round'",
    ),
    (
        "git add notes.md && git commit -m x && git push",
        code(1),
        "[main 1a2b3c4] x\n 1 file changed\n! [rejected]        main -> main (fetch first)\nerror: failed to push some refs",
        Failed,
        "git push",
    ),
    (
        "git add dist && git commit -m x",
        code(1),
        "The following paths are ignored by one of your .gitignore files:\ndist",
        Failed,
        "git add dist",
    ),
    (
        "make && ./run.sh",
        code(2),
        "make: *** No rule to make target 'all'.  Stop.",
        Failed,
        "make",
    ),
    (
        "make build && echo BUILT && make check",
        code(2),
        "cc main.c\nBUILT\nmain.c is wrong",
        Failed,
        "make check",
    ),
    (
        "make build && echo BUILT && make check",
        code(2),
        "cc main.c",
        Failed,
        "make build",
    ),
    (
        "cargo build --release && ls target",
        Success,
        "   Compiling shop v0.1.0\nwarning: error handling is incomplete",
        Succeeded,
        "",
    ),
    (
        "cat settings.toml && cargo run",
        code(1),
        "cat: settings.toml: No such file or directory",
        Failed,
        "cat settings.toml",
    ),
    (
        "mkdir build; cd build; cmake ..",
        code(1),
        "mkdir: cannot create directory 'build': File exists\nCMake Error: The source directory \"/srv\" does not appear to contain CMakeLists.txt.",
        Failed,
        "cmake ..",
    ),
    (
        "pytests tests",
        code(127),
        "zsh: command not found: pytests",
        Failed,
        "pytests tests",
    ),
    (
        "source venv/bin/activate && python main.py",
        code(1),
        "bash: venv/bin/activate: No such file or directory",
        Failed,
        "source venv/bin/activate",
    ),
    ("grep -rn 'structlog' src", code(1), "", Succeeded, ""),
    (
        "grep -rn structlog srcs",
        code(2),
        "grep: srcs: No such file or directory",
        Failed,
        "grep -rn structlog srcs",
    ),
    (
        "diff a.txt b.txt",
        code(1),
        "1c1\n< a\n---\n> b",
        Succeeded,
        "",
    ),
    ("test -f .env && cat .env", code(1), "", Succeeded, ""),
    (
        "[ -d node_modules ] || npm ci",
        code(1),
        "npm error code ENOTFOUND",
        Failed,
        "npm ci",
    ),
    ("npm ls | grep left-pad", code(1), "", Unknown, ""),
    ("! grep -q TODO src/main.rs", Success, "", Succeeded, ""),
    (
        "! ./shop --bad-flag",
        Success,
        "error: unexpected argument '--bad-flag'",
        Succeeded,
        "",
    ),
    (
        "timeout 60 cargo test",
        code(101),
        "test result: FAILED. 3 passed; 1 failed; 0 ignored",
        Failed,
        "timeout 60 cargo test",
    ),
    (
        "timeout 5 npm start",
        code(124),
        "listening on 3000",
        Failed,
        "timeout 5 npm start",
    ),
    (
        "set -e\nnpm ci\nnpm run lint\nnpm test",
        code(1),
        "added 4 packages\n> lint\n> eslint .\n\n/srv/a.js\n  1:1  error  'x' is not defined  no-undef\n\n\u{2716} 1 problem (1 error, 0 warnings)",
        Failed,
        "npm run lint",
    ),
    (
        "set -euo pipefail; make gen; make test",
        Success,
        "ok",
        Succeeded,
        "",
    ),
    (
        "(cd web && npm test)",
        code(1),
        "Tests: 2 failed, 4 passed, 6 total",
        Failed,
        "npm test",
    ),
    (
        "bash -lc 'cd api && cargo check'",
        code(101),
        "error: could not find `Cargo.toml` in `/srv/api` or any parent directory",
        Failed,
        "cargo check",
    ),
    (
        "ssh deploy@shop 'cd /srv && make up'",
        code(255),
        "ssh: connect to host shop port 22: Connection refused",
        Failed,
        "ssh deploy@shop 'cd /srv && make up'",
    ),
    (
        "docker exec shop-db sh -c 'pg_dump shop > /tmp/x'",
        code(1),
        "Error response from daemon: No such container: shop-db",
        Failed,
        "docker exec shop-db sh -c 'pg_dump shop > /tmp/x'",
    ),
    (
        "docker compose exec web sh -c 'cd app && flask db upgrade'",
        code(1),
        "Error: No such command 'db'.",
        Failed,
        "flask db upgrade",
    ),
    (
        "python - <<'X'\nimport shop\nshop.run() || exit\nX",
        code(1),
        "Traceback (most recent call last):\n  File \"<stdin>\", line 1\nModuleNotFoundError: No module named 'shop'",
        Failed,
        "python - <<'X'",
    ),
    (
        "VERSION=$(git describe --tags) && npm version $VERSION",
        code(128),
        "fatal: No names found, cannot describe anything.",
        Failed,
        "git describe --tags",
    ),
    (
        "echo 'a && b",
        code(2),
        "bash: -c: line 1: unexpected EOF while looking for matching `''",
        Failed,
        "echo 'a && b",
    ),
];

/// Further lines, written after the rules.
const FURTHER: [Case; 35] = [
    (
        "cargo test --quiet || true",
        Success,
        "error: test failed, to rerun pass `--lib`",
        Failed,
        "cargo test --quiet",
    ),
    ("npm test || exit 0", Success, "", Unknown, ""),
    (
        "make -j8 > build.log 2>&1; tail -20 build.log",
        Success,
        "main.c:3:1: error: expected ';'\nmake: *** [all] Error 2",
        Failed,
        "make -j8 > build.log 2>&1",
    ),
    (
        "cargo build > out.log 2>&1; tail -5 out.log",
        Success,
        "error: could not compile `shop` (lib) due to 2 previous errors",
        Failed,
        "cargo build > out.log 2>&1",
    ),
    (
        "python seed.py; exit 0",
        Success,
        "Traceback (most recent call last):\n  File \"seed.py\", line 2, in <module>\nKeyError: 'x'",
        Failed,
        "python seed.py",
    ),
    (
        "docker exec web sh -c 'pytest | tail -1'",
        Success,
        "3 failed, 5 passed in 1.20s",
        Failed,
        "pytest",
    ),
    (
        "find . -name '*.py' | xargs grep -l structlog",
        code(123),
        "",
        Succeeded,
        "",
    ),
    (
        "curl -sf localhost:3000/health || echo down",
        Success,
        "down",
        Failed,
        "curl -sf localhost:3000/health",
    ),
    (
        "command -v jq >/dev/null || brew install jq",
        Success,
        "",
        Succeeded,
        "",
    ),
    (
        "if ! cargo fmt --check; then echo 'needs format'; fi",
        Success,
        "Diff in /srv/main.rs:3:\nneeds format",
        Failed,
        "cargo fmt --check",
    ),
    (
        "until nc -z localhost 5432; do sleep 1; done",
        Success,
        "",
        Succeeded,
        "",
    ),
    (
        "while ! nc -z localhost 5432; do sleep 1; done; psql -c 'select 1'",
        Success,
        "1",
        Succeeded,
        "",
    ),
    (
        "while read -r f; do rubocop $f; done < files",
        Success,
        "",
        Unknown,
        "",
    ),
    (
        "npm test &> log; cat log",
        Success,
        "  3 passing\n  1 failing",
        Failed,
        "npm test &> log",
    ),
    (
        "git push origin main 2>&1 | tail -2",
        Success,
        "error: failed to push some refs to 'origin'",
        Failed,
        "git push origin main 2>&1",
    ),
    (
        "xcodebuild test | xcpretty; exit ${PIPESTATUS[0]}",
        code(65),
        "** TEST FAILED **",
        Failed,
        "xcodebuild test",
    ),
    (
        "make check; rc=$?; echo \"rc=$rc\"",
        Success,
        "rc=2",
        Failed,
        "make check",
    ),
    (
        "make check\nSTATUS=$?\nrm -rf tmp\nexit $STATUS",
        code(2),
        "checking\nboom",
        Failed,
        "make check",
    ),
    (
        "[ -f a ] && echo yes || echo no",
        Success,
        "no",
        Succeeded,
        "",
    ),
    (
        "cat missing.txt | head -5",
        Success,
        "cat: missing.txt: No such file or directory",
        Failed,
        "cat missing.txt",
    ),
    (
        "source .env && cargo run",
        code(101),
        "thread 'main' panicked at src/main.rs:4:10:\nmissing DATABASE_URL",
        Failed,
        "cargo run",
    ),
    (
        "sudo systemctl restart nginx && curl -s localhost",
        code(1),
        "Job for nginx.service failed because the control process exited with error code.",
        Failed,
        "sudo systemctl restart nginx",
    ),
    (
        "npm ci && npm run build",
        code(1),
        "npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync",
        Failed,
        "npm ci",
    ),
    (
        "make build && make test",
        code(2),
        "cc -o x\nmake: *** [Makefile:4: build] Error 1",
        Failed,
        "make build",
    ),
    (
        "cargo build && cargo test",
        code(101),
        "error[E0425]: cannot find value `x` in this scope\nerror: could not compile `shop` (lib) due to 1 previous error",
        Failed,
        "cargo build",
    ),
    (
        "ruff check . && mypy .",
        code(1),
        "All checks passed!\nsrc/a.py:3: error: Name \"x\" is not defined  [name-defined]\nFound 1 error in 1 file (checked 3 source files)",
        Failed,
        "mypy .",
    ),
    (
        "ruff check . && mypy .",
        code(1),
        "src/a.py:1:1: F401 `os` imported but unused\nFound 1 error.",
        Failed,
        "ruff check .",
    ),
    (
        "cat > a.py <<'E'\nraise ValueError('error: no')\nE\npython a.py",
        Success,
        "",
        Succeeded,
        "",
    ),
    ("pkill -f 'vite' && npm run dev", code(143), "", Unknown, ""),
    (
        "journal-export --all | grep -i error | tail -3",
        Success,
        "ERROR list: could not start",
        Unknown,
        "",
    ),
    (
        "sudo echo works",
        code(1),
        "sudo: a password is required",
        Failed,
        "sudo echo works",
    ),
    (
        "git add docs/a.md && git commit -m \"$(cat <<'E'\ndocs: describe docs/a.md\nE\n)\"",
        code(128),
        "fatal: pathspec 'docs/a.md' did not match any files",
        Failed,
        "git add docs/a.md",
    ),
    (
        "gh api repos/x/y | jq '.jobs[]'",
        code(5),
        "gh: Not Found (HTTP 404)\njq: error (at <stdin>:0): Cannot iterate over null",
        Failed,
        "gh api repos/x/y",
    ),
    (
        "shop-tool --help 2>&1 | head -30",
        Success,
        "Installed 28 packages\nUsage: shop-tool [OPTIONS]",
        Unknown,
        "",
    ),
    (
        "(make 2>&1; echo done) | tee log",
        Success,
        "cc main.c\ndone",
        Unknown,
        "",
    ),
];

/// Rejected calls, unreported outcomes, other shells, damaged lines.
const UNREPORTED: [Case; 10] = [
    (
        "rm -rf build",
        Rejected,
        "The user doesn't want to proceed",
        Unknown,
        "",
    ),
    (
        "cargo test",
        Unreported,
        "test result: FAILED. 3 passed; 1 failed",
        Failed,
        "cargo test",
    ),
    (
        "cargo test",
        Unreported,
        "test result: ok. 4 passed; 0 failed",
        Succeeded,
        "",
    ),
    ("cargo run", Unreported, "hello", Unknown, ""),
    (
        "Get-ChildItem src | Select-Object -First 3",
        Success,
        "a.ps1",
        Unknown,
        "",
    ),
    (
        "if (Test-Path x) { Remove-Item x }",
        Success,
        "",
        Unknown,
        "",
    ),
    (
        "cd web; and npm test",
        code(1),
        "Tests: 1 failed, 1 total",
        Failed,
        "npm test",
    ),
    (
        "git commit -m 'a long message that was cut",
        Success,
        "",
        Succeeded,
        "",
    ),
    (
        "cd web && npm test -- --grep 'cart | tail",
        Success,
        "2 passing",
        Unknown,
        "",
    ),
    ("", Success, "", Unknown, ""),
];

fn wrong(cases: &[Case]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (line, reported, output, state, blamed) in cases {
        let shape = CommandShape::parse(line);
        let result = shape.read_result(*reported, output);
        let part = result
            .blamed
            .and_then(|part| shape.parts.get(part))
            .map_or("", |part| part.text.as_str());
        if result.state != *state || part != *blamed {
            wrong.push(format!(
                "{line}\n   {:?} {part:?} ({:?})\n   expected {state:?} {blamed:?}",
                result.state, result.reason
            ));
        }
    }
    wrong
}

#[test]
fn masked_status_is_unknown_unless_the_output_shows_it() {
    let wrong = wrong(&MASKED);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn failure_is_that_of_the_part_which_the_error_names() {
    let wrong = wrong(&BLAMED);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn further_lines_are_read_as_a_person_reads_them() {
    let wrong = wrong(&FURTHER);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_without_a_usable_status_are_unknown() {
    let wrong = wrong(&UNREPORTED);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn deeply_nested_and_long_lines_are_refused() {
    for open in [
        "(",
        "$(",
        "\"$(",
        "{ ",
        "if ",
        "while ",
        "case a in b) ",
        "${a:-",
        "$((",
        "[[ ! ",
        "f() ",
        "`",
        "'",
        "<(",
        "a <<A\n",
        "! ",
        "a | ",
        "a && ",
        "\\",
        "if ( { while ",
        "é\"",
    ] {
        for times in [20, 400, 20_000] {
            let line = open.repeat(times);
            CommandShape::parse(&line).read_result(Failure(None), &line);
        }
    }
    let nested = format!("{}make{}", "bash -c 'sh -c \"".repeat(12), "\"'".repeat(12));
    CommandShape::parse(&nested);
}

proptest::proptest! {
    #[test]
    fn any_line_and_output_are_read(
        line in "(make|cd a|grep x|echo \\$\\?|;| \\| | && | \\|\\| |\\$\\(|\\)|\\(|'|\"|if |; then |; fi|set -e|bash -c |!|\n|&|<<A\n|é|\\PC){0,24}",
        output in "(make: |error|0|: |not found|exit code 1|\n|é|\\PC){0,30}",
        code in proptest::option::of(-1_i64..260),
    ) {
        let shape = CommandShape::parse(&line);
        for reported in [Success, Failure(code), Rejected, Unreported] {
            let result = shape.read_result(reported, &output);
            proptest::prop_assert!(result.blamed.is_none_or(|part| part < shape.parts.len()));
            proptest::prop_assert_eq!(result.blamed.is_some(), result.state == Failed);
        }
        let stored = serde_json::to_string(&shape).unwrap();
        let read: CommandShape = serde_json::from_str(&stored).unwrap();
        proptest::prop_assert_eq!(read, shape);
    }
}
