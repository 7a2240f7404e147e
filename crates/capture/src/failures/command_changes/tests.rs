//! Tests of the changes that commands make.

use super::*;

#[test]
fn command_changes_are_named() {
    for (line, changes) in [
        (
            "sed -i s/80/81/ config.toml",
            vec!["ran `sed -i s/80/81/ config.toml`"],
        ),
        (
            "perl -pi -e 's/a/b/' f",
            vec!["ran `perl -pi -e 's/a/b/' f`"],
        ),
        ("echo DB=1 >> .env", vec!["ran `echo DB=1 >> .env`"]),
        (
            "cat > tool.py <<'X'\nprint(1)\nX",
            vec!["ran `cat > tool.py <<'X'`"],
        ),
        ("cat f | tee config.json", vec!["ran `tee config.json`"]),
        (
            "mv a b && rm -rf node_modules",
            vec!["ran `mv a b`", "ran `rm -rf node_modules`"],
        ),
        (
            "cd web && npm install left-pad 2>&1 | tail -3",
            vec!["ran `npm install left-pad 2>&1`"],
        ),
        ("uv pip install -e .", vec!["ran `uv pip install -e .`"]),
        (
            "python -m pip install x",
            vec!["ran `python -m pip install x`"],
        ),
        ("cargo update -p serde", vec!["ran `cargo update -p serde`"]),
        ("go mod tidy", vec!["ran `go mod tidy`"]),
        ("mix deps.get", vec!["ran `mix deps.get`"]),
        (
            "bundle exec rails db:migrate",
            vec!["ran `bundle exec rails db:migrate`"],
        ),
        ("npx prisma generate", vec!["ran `npx prisma generate`"]),
        ("npm run build:css", vec!["ran `npm run build:css`"]),
        ("npx eslint . --fix", vec!["ran `npx eslint . --fix`"]),
        ("make db-setup", vec!["ran `make db-setup`"]),
        ("./scripts/setup.sh", vec!["ran `./scripts/setup.sh`"]),
        ("git -c x=y stash pop", vec![]),
        (
            "docker compose up -d db",
            vec!["ran `docker compose up -d db`"],
        ),
        (
            "sudo systemctl restart redis",
            vec!["ran `sudo systemctl restart redis`"],
        ),
        (
            "redis-server --port 7000 &",
            vec!["started `redis-server --port 7000`"],
        ),
        (
            "npm run dev > /tmp/dev.log 2>&1 & sleep 2",
            vec!["started `npm run dev > /tmp/dev.log 2>&1`"],
        ),
        ("export DATABASE_URL=x", vec!["set `DATABASE_URL=x`"]),
        ("A=1", vec!["set `A=1`"]),
        ("source .env", vec!["loaded `.env`"]),
        ("kill 1234", vec!["ran `kill 1234`"]),
        (
            "psql -c 'CREATE TABLE x ()'",
            vec!["ran `psql -c 'CREATE TABLE x ()'`"],
        ),
        (
            "python3 - <<'E'\nopen('a', 'w').write('b')\nE",
            vec!["ran `python3 - <<'E'`"],
        ),
        (
            "node -e \"fs.writeFileSync('a', 'b')\"",
            vec!["ran `node -e \"fs.writeFileSync('a', 'b')\"`"],
        ),
        ("bash -lc 'rm -f x.lock'", vec!["ran `rm -f x.lock`"]),
        ("(cd a && touch b); ls", vec!["ran `touch b`"]),
        (
            "python gen.py > schema.sql",
            vec!["ran `python gen.py > schema.sql`"],
        ),
    ] {
        assert_eq!(command_changes(line), changes, "{line}");
    }
}

#[test]
fn commands_that_only_read_or_test_are_no_changes() {
    for line in [
        "cargo test",
        "cargo build 2>&1 | tail -5",
        "cd a && npm test > out.log 2>&1",
        "npm test > result.txt",
        "make > /tmp/x.log",
        "ls > /dev/null",
        "grep -i x f",
        "grep '->' f",
        "sed -n 1,5p f",
        "sed -e 's/a/i/' f",
        "awk '$1 > 3' f",
        "echo 'a > b'",
        "diff <(ls a) <(ls b)",
        "cat <<X\na > b\nX",
        "git status",
        "git log --oneline",
        "git diff > /dev/null",
        "git stash list",
        // Undone edits, and another tree.
        "git checkout main",
        "git checkout -- src/a.rs",
        "git restore .",
        "git stash pop",
        "git reset --hard",
        "git config --get user.name",
        "git add -A && git commit -m x",
        "kubectl get pods",
        "docker ps",
        "docker compose logs web",
        "docker run --rm img pytest",
        "python -c 'print(1)'",
        "python x.py",
        "npm run lint",
        "npx jest",
        "black --check .",
        "go test ./...",
        "pytest -x",
        "make",
        "make test",
        "go build ./...",
        "sleep 5",
        "psql -c 'SELECT 1'",
        "terraform plan",
        "",
    ] {
        assert_eq!(command_changes(line), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn long_commands_are_shown_by_program_and_file() {
    let script = "s/".to_owned() + &"x".repeat(200) + "/y/";
    assert_eq!(
        command_changes(&format!("sed -i '{script}' src/config.toml")),
        ["ran `sed -i` on src/config.toml"]
    );
    let long = format!("echo '{}' >> notes/plan.md", "x".repeat(200));
    assert_eq!(command_changes(&long), ["ran `echo` into notes/plan.md"]);
    let packages = "package ".repeat(30);
    assert_eq!(
        command_changes(&format!("npm install {packages}")),
        ["ran `npm install package`"]
    );
}

#[test]
fn background_change_names_the_command() {
    assert_eq!(background_change("npm run dev"), "started `npm run dev`");
}

#[test]
fn assignments_are_those_before_commands() {
    for (line, found) in [
        ("A=1 B='x y' make test", vec!["A=1", "B='x y'"]),
        ("export A=1; make", vec!["A=1"]),
        ("env A=1 make", vec!["A=1"]),
        ("make A=1", vec![]),
        ("cd a && A=1 make", vec!["A=1"]),
        ("make", vec![]),
    ] {
        assert_eq!(assignments(line), found, "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn command_changes_handle_any_text(line in "(sed -i |npm |install |> |>> |& |&& |\\(|\\)|'|\"|<<X\n|X\n|A=1 |\\PC|\u{0}){0,40}") {
        for change in command_changes(&line) {
            proptest::prop_assert!(text::chars(&change) <= 200, "{}", change);
        }
        assignments(&line);
    }
}

#[test]
fn megabyte_lines_are_examined_quickly() {
    for line in [
        "a; ".repeat(400_000),
        "(".repeat(1_000_000),
        "x".repeat(2_000_000),
        "cat <<E\n".repeat(200_000),
    ] {
        command_changes(&line);
        assignments(&line);
    }
}
