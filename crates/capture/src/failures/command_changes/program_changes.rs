//! Programs and verbs that change something.

use heirloom_agents::failures::base_name;

/// Programs that change files.
const FILE_PROGRAMS: &str = "\
    mv cp rm ln mkdir rmdir touch chmod chown install patch truncate dd rsync unzip wget trash unlink \
    ssh-keygen ssh-add createdb dropdb";

/// Services that are started by their own program.
const SERVERS: &str = "\
    redis-server postgres pg_ctl pg_ctlcluster mysqld mongod minio nginx caddy memcached rabbitmq-server \
    etcd dockerd colima";

/// Programs that manage packages, versions, databases, services and builds, with a verb among their arguments.
const MANAGERS: &str = "\
    npm pnpm yarn bun npx bunx corepack pip pip3 uv poetry pdm pipenv conda mamba hatch rye cargo rustup \
    go gem bundle composer apt apt-get brew dnf yum apk pacman port choco winget snap mix rebar3 dotnet \
    nuget mvn mvnw gradle gradlew sbt pod swift flutter dart nix stack cabal opam nvm fnm pyenv rbenv \
    asdf mise volta sdk make just task rake rails artisan alembic prisma flyway diesel sqlx terraform \
    helm kubectl direnv";

/// Words of managers that change something. A word is compared with each part between `:`, `.`, `-` and `_`.
const MANAGER_VERBS: &str = "\
    install i ci add remove rm uninstall update up upgrade sync lock get require restore link init \
    create setup generate gen codegen migrate migration apply use default fix rebuild clean reset seed \
    pull tidy vendor deps bootstrap configure drop login allow fmt format";
/// Verbs of `kubectl` that change something.
const KUBECTL_VERBS: &str = "apply create delete patch rollout scale set edit replace";
/// Words of SQL that change something.
const SQL_CHANGES: [&str; 8] = [
    "create ",
    "alter ",
    "drop ",
    "insert ",
    "update ",
    "delete ",
    "grant ",
    "truncate ",
];

/// Words after which a script of a package manager builds files for later commands.
const SCRIPT_RUNNERS: &str = "npm pnpm yarn bun";

/// Subcommands of git that change the working tree or its settings.
const GIT_VERBS: &str = "\
    checkout switch restore reset stash pull merge rebase cherry-pick revert apply am clean submodule rm \
    mv clone config remote lfs";

/// Programs of containers.
const CONTAINERS: &str = "docker podman nerdctl docker-compose";
/// Verbs of containers and service managers.
const SERVICE_VERBS: &str =
    "up start restart stop down run build pull rm create kill enable disable reload login prune";
/// Managers of services.
const SERVICE_MANAGERS: &str =
    "systemctl service launchctl supervisorctl pm2 rc-service initctl minikube";

/// Interpreters that run a script from their arguments or standard input.
const INTERPRETERS: &str = "python python3 node ruby perl php deno";
/// Words of a script that writes files.
const SCRIPT_WRITES: [&str; 10] = [
    ".write(",
    "write_text(",
    "write_bytes(",
    "writeFile",
    "file_put_contents",
    "File.write",
    "'w')",
    "\"w\")",
    "os.rename",
    "shutil.",
];

/// Returns true if a list of words, separated by blanks, has this one.
pub(super) fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Returns true if a program with these arguments changes something. `document` has the bodies of its here-documents.
pub(super) fn is_change(program: &str, arguments: &[&str], document: &str) -> bool {
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
    let has = |wanted: &str| arguments.contains(&wanted);
    if has("--dry-run") || has("--help") || has("--version") || has("--check") {
        return false;
    }
    let in_place = |word: &str| {
        let is_flag = word.contains('i') && !word.contains('e');
        word.starts_with("--in-place") || word.starts_with("-i") || (is_short(word) && is_flag)
    };
    match program {
        "sed" | "perl" if arguments.iter().any(|word| in_place(word)) => return true,
        "psql" | "mysql" | "sqlite3" => {
            let sql = arguments.iter().map(|word| word.to_lowercase());
            let mut sql = sql.chain([document.to_lowercase()]);
            return sql.any(|sql| SQL_CHANGES.iter().any(|change| sql.contains(change)));
        }
        "kubectl" => {
            let mut verbs = arguments.iter().filter(|word| !word.starts_with('-'));
            return verbs
                .next()
                .is_some_and(|verb| has_word(KUBECTL_VERBS, verb));
        }
        "sort" => return has("-o"),
        "find" => return has("-delete"),
        "kill" | "pkill" | "killall" => return true,
        "tar" => {
            let extracts = |word: &&&str| !word.starts_with("--") && word.contains('x');
            return arguments.first().as_ref().is_some_and(extracts) || has("--extract");
        }
        "curl" => return has("-o") || has("-O") || has("--output"),
        "git" => return is_git_change(arguments),
        "configure" | "bootstrap" | "autogen.sh" | "cmake" => return true,
        "gh" | "aws" | "gcloud" | "az" | "heroku" | "fly" | "vercel" => return has("login"),
        _ => {}
    }
    let rewrites = ["--fix", "--write", "--autocorrect", "--in-place"];
    if rewrites.iter().any(|flag| has(flag)) {
        return true;
    }
    if matches!(program, "black" | "isort" | "rustfmt") || (program == "gofmt" && has("-w")) {
        return true;
    }
    if has_word(FILE_PROGRAMS, program) || has_word(SERVERS, program) {
        return true;
    }
    let verbs = || arguments.iter().filter(|word| !word.starts_with('-'));
    if has_word(CONTAINERS, program) && has("run") {
        return has("-d") || has("--detach");
    }
    if has_word(CONTAINERS, program) || has_word(SERVICE_MANAGERS, program) {
        return verbs().take(3).any(|word| has_word(SERVICE_VERBS, word));
    }
    if program == "brew" && has("services") {
        return verbs().any(|word| has_word(SERVICE_VERBS, word));
    }
    if has_word(MANAGERS, program) {
        return is_manager_change(program, arguments) || runs_change(program, arguments, document);
    }
    if has_word(INTERPRETERS, program) {
        return is_script_change(arguments, document);
    }
    // A script of the project with the name of a preparation.
    let is_script = [".sh", ".py", ".js", ".rb"]
        .iter()
        .any(|end| program.ends_with(end));
    is_script && has_verb(program)
}

fn is_git_change(arguments: &[&str]) -> bool {
    let mut words = arguments.iter().skip_while(|word| word.starts_with('-'));
    let Some(verb) = words.next() else {
        return false;
    };
    let is_query = words.next().is_some_and(|word| {
        matches!(
            *word,
            "list" | "show" | "status" | "get" | "--get" | "-v" | "--list"
        )
    });
    let only_asks =
        matches!(*verb, "stash" | "config" | "remote" | "submodule" | "lfs") && is_query;
    has_word(GIT_VERBS, verb) && !only_asks
}

fn is_manager_change(program: &str, arguments: &[&str]) -> bool {
    let mut words = arguments.iter().filter(|word| !word.starts_with('-'));
    let first = words.next().copied().unwrap_or_default();
    if has_word(SCRIPT_RUNNERS, program) && matches!(first, "run" | "run-script") {
        let script = words.next().copied().unwrap_or_default();
        return has_verb(script) || script.starts_with("build");
    }
    // `npm install` names the verb first; `mix ecto.migrate`, `npx prisma migrate` and `make db-setup` name a thing.
    let second = words.next().copied().unwrap_or_default();
    let is_plain_install = first.is_empty() && matches!(program, "yarn" | "bundle" | "pod");
    let is_tool = matches!(
        program,
        "npx"
            | "bunx"
            | "uv"
            | "poetry"
            | "dotnet"
            | "terraform"
            | "conda"
            | "pnpm"
            | "yarn"
            | "bundle"
            | "swift"
            | "flutter"
            | "dart"
            | "go"
            | "rustup"
            | "rails"
            | "sqlx"
            | "diesel"
            | "prisma"
    );
    let is_test = matches!(first, "test" | "check" | "run" | "exec") && second.is_empty();
    let names_verb = is_tool && has_verb(second) && (second != "get" || first == "pub");
    !is_test && (is_plain_install || has_verb(first) || names_verb)
}

/// Returns true if a manager runs another program that changes something: `bundle exec rails db:migrate`.
fn runs_change(program: &str, arguments: &[&str], document: &str) -> bool {
    let is_prefix = matches!(program, "npx" | "bunx");
    let skipped = match arguments.first() {
        Some(&("exec" | "run" | "dlx")) if !has_word(SCRIPT_RUNNERS, program) => 1,
        Some(&("exec" | "dlx")) => 1,
        Some(_) if is_prefix => 0,
        Some(_) | None => return false,
    };
    let inner = arguments.get(skipped..).unwrap_or_default();
    match inner {
        // One level: `npx npx npx …` is not followed.
        [first, rest @ ..] if !is_prefix_program(first) => {
            is_change(base_name(first), rest, document)
        }
        _ => false,
    }
}

fn is_prefix_program(word: &str) -> bool {
    matches!(
        base_name(word),
        "npx" | "bunx" | "bundle" | "poetry" | "uv" | "pipenv" | "pnpm" | "yarn"
    )
}

/// Returns true if a part of a word is a verb that changes something.
fn has_verb(word: &str) -> bool {
    let mut parts = word.split([':', '.', '-', '_', '/']);
    parts.any(|part| has_word(MANAGER_VERBS, part))
}

fn is_script_change(arguments: &[&str], document: &str) -> bool {
    let is_writing = |script: &str| SCRIPT_WRITES.iter().any(|write| script.contains(write));
    let is_inline = arguments
        .iter()
        .any(|word| matches!(*word, "-c" | "-e" | "--eval"));
    if is_inline && arguments.iter().any(|word| is_writing(word)) {
        return true;
    }
    if is_writing(document) {
        return true;
    }
    // `python -m pip install`, `python manage.py migrate`, `php artisan migrate`.
    let mut words = arguments.iter().filter(|word| !word.starts_with('-'));
    let script = words.next().map_or("", |script| base_name(script));
    let verb = words.next().copied().unwrap_or_default();
    let is_manager = ["pip", "manage.py", "artisan", "console", "alembic"];
    script == "venv" || (is_manager.contains(&script) && has_verb(verb))
}
