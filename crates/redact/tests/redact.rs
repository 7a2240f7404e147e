//! Tests of redaction: secrets, other text, and general properties.

use heirloom_model::limits;
use heirloom_model::settings::RedactSettings;
use heirloom_redact::Redactor;
use heirloom_testkit::secrets::Random;
use regex::RegexBuilder;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

fn redactor() -> Redactor {
    Redactor::default()
}

/// Checks rows of `before -> after`. In `before`, `‹…›` marks a secret; the redacted text has the mark of `kind` in
/// its place.
#[track_caller]
fn check(kind: &str, rows: &[&str]) {
    for row in rows {
        let before = row.replace(['‹', '›'], "");
        let mut after = String::new();
        for part in row.split('‹') {
            match part.split_once('›') {
                Some((_, rest)) => after.push_str(&format!("[redacted:{kind}]{rest}")),
                None => after.push_str(part),
            }
        }
        assert_eq!(redactor().redact(&before), after, "{row}");
        assert_eq!(redactor().redact(&after), after, "again: {row}");
    }
}

/// Checks that these texts stay unchanged.
#[track_caller]
fn check_clean(rows: &[&str]) {
    for row in rows {
        let clean = redactor().redact(row);
        assert!(matches!(clean, Cow::Borrowed(_)), "{row}\n  became {clean}");
    }
}

/// Returns characters of a class, as a key generator would choose them.
fn random(class: &str, count: usize, seed: u64) -> String {
    Random::new(seed).text(class, count)
}

/// Generates a text that matches an expression of the table.
fn sample(expression: &str, seed: u64) -> String {
    Random::new(seed).sample(expression)
}

#[test]
fn redact_every_format_finds_its_sample() {
    let mut kinds = BTreeSet::new();
    let mut sources = BTreeSet::new();
    for (number, rule) in heirloom_redact::formats().enumerate() {
        let known = ["gitleaks ", "trufflehog ", "GitHub ", "own, "];
        assert!(
            known.iter().any(|set| rule.source.starts_with(set)),
            "{rule:?}"
        );
        for seed in 1..6 {
            let seed = seed * 1_000 + number as u64;
            let secret = sample(rule.before, seed) + &sample(rule.expression, seed + 500);
            for text in [
                secret.clone(),
                format!("it is `{secret}`."),
                format!("x={secret}\n"),
                format!("[\"{secret}\"]"),
            ] {
                let clean = redactor().redact(&text).into_owned();
                assert!(!clean.contains(&secret), "{rule:?} left {text}");
                let tail: String = secret
                    .chars()
                    .rev()
                    .take(8)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .collect();
                assert!(
                    !clean.contains(&tail),
                    "{rule:?} left the end of {text} in {clean}"
                );
                assert!(clean.contains("[redacted:"), "{clean}");
            }
            let alone = redactor().redact(&secret).into_owned();
            assert!(
                alone.starts_with("[redacted:"),
                "{rule:?}: {secret} became {alone}"
            );
        }
        kinds.insert(rule.kind);
        sources.insert(rule.source);
    }
    assert!(kinds.len() >= 90, "{} kinds", kinds.len());
    assert!(
        sources.len() >= 90,
        "{} rules of public sets",
        sources.len()
    );
}

#[test]
fn redact_documentation_examples_stay() {
    check_clean(&[
        "AKIAIOSFODNN7EXAMPLE",
        &format!("ghp_{}", "x".repeat(36)),
        &format!("ghp_{}", "a".repeat(36)),
        "sk-ant-api03-...",
        "glpat-<your-token>",
        "a token begins with ghp_ and has 36 letters",
    ]);
}

#[test]
fn redact_passwords_in_assignments() {
    check(
        "password",
        &[
            "PASSWORD=‹hunter2›",
            "export DB_PASSWORD=‹supersecret›",
            "DB_PASSWORD=‹p@ss;w&rd,x)›",
            "MYSQL_ROOT_PASSWORD: ‹rootpw›",
            "  POSTGRES_PASSWORD: ‹mysecretpassword›",
            "docker run -e POSTGRES_PASSWORD=‹mysecretpassword› postgres",
            "ENV ADMIN_PASSWORD ‹Passw0rd›",
            "password = \"‹hunter2›\"",
            "password = '‹correct horse battery staple›'",
            "let password = \"‹s3cr3t!›\";",
            "\"password\": \"‹hunter2›\"",
            "\"password\" : \"‹hunter\\\"2›\", \"user\": \"bob\"",
            "{\\\"password\\\":\\\"‹hunter2›\\\",\\\"user\\\":\\\"bob\\\"}",
            "password: ‹hunter2›",
            "  db_password: \"‹hunter2›\"",
            "db.password=‹s3cret›",
            "password=‹hunter›",
            "password: ‹12345678›",
            "\"password\": ‹12345678›",
            ":password => \"‹hunter2›\"",
            "$config['password'] = '‹hunter2›';",
            "config[\"db_password\"] = \"‹hunter2›\"",
            "password := \"‹hunter2›\"",
            "if password == \"‹hunter2›\" {",
            "Server=db;User Id=sa;Password=‹hunter2!x›;Encrypt=true",
            "Server=db;Uid=sa;Pwd=‹hunter2›;",
            "PGPASSWORD: ${DB_PASSWORD:-‹hunter2›}",
            "<password>‹hunter2›</password>",
            "<add key=\"Password\" value=\"‹hunter2›\" />",
            "<input type=\"hidden\" name=\"password\" value=\"‹hunter2›\">",
            "mytool --password ‹hunter2› --verbose",
            "mytool --password=‹hunter› --verbose",
            "mytool --db-password '‹hunter2 x›'",
            "sshpass -p ‹hunter2› ssh host",
            "sshpass -p '‹hunter2›' ssh host",
            "mysql -uroot -p‹Secret123› app",
            "machine example.org login me password ‹secretword›",
            "user.setPassword(\"‹hunter2›\")",
            "CREATE USER x WITH PASSWORD '‹hunter2›';",
            "CREATE USER x IDENTIFIED BY '‹hunter›';",
            "https://example.org/login?user=x&password=‹hunter2›&next=/",
            "https://example.org/?pwd=‹hunter2›",
            "curl -u admin:‹hunter2› https://example.org",
            "curl -s --user 'admin:‹hunter2›' https://example.org",
            "curl https://example.org \\\n  -u admin:‹hunter2›",
            "the password is ‹hunter2horse!›",
            "The admin password was `‹hunter2x›`, I changed it.",
            "passphrase = \"‹four words of mine›\"",
        ],
    );
    check(
        "url-password",
        &[
            "postgres://user:‹hunter2›@host/db",
            "DATABASE_URL=postgres://user:‹hunter›@db:5432/app",
            "redis://:‹hunter2›@localhost:6379/0",
            "git clone https://me:‹t0p@x›@example.org/x.git",
            "mongodb+srv://admin:‹hunter2›@cluster0.mongodb.net/test",
            "\"amqp://guest:‹hunter2›@mq\"",
        ],
    );
}

#[test]
fn redact_secrets_tokens_and_keys() {
    let hex = random("a-f0-9", 40, 7);
    let alnum = random("A-Za-z0-9", 40, 8);
    let uuid = "3f2b8c1e-9d47-4a6f-b5e0-7c81d2a94f36";
    check(
        "token",
        &[
            &format!("GITLAB_TOKEN=‹{alnum}›"),
            &format!("\"access_token\": \"‹{alnum}›\""),
            &format!("auth_token: ‹{hex}›"),
            &format!("//registry.example.org/:_authToken=‹{uuid}›"),
            &format!("tool --token ‹{alnum}›"),
            &format!("https://example.org/?access_token=‹{alnum}›&x=1"),
        ],
    );
    check(
        "key",
        &[
            &format!("api_key = \"‹{alnum}›\""),
            &format!("HEROKU_API_KEY=‹{uuid}›"),
            &format!("AWS_SECRET_ACCESS_KEY=‹{}/+x›", random("A-Za-z0-9", 37, 9)),
            &format!("X-Api-Key: ‹{hex}›"),
            &format!(
                "AccountName=x;AccountKey=‹{}==›;EndpointSuffix=core.windows.net",
                random("A-Za-z0-9+/", 86, 3)
            ),
            &format!("apiKey: '‹{hex}›',"),
        ],
    );
    check(
        "secret",
        &[
            &format!("client_secret: \"‹{alnum}›\""),
            "JWT_SECRET=‹kittens4everX›",
            "\"webhookSecret\": \"‹shh9secret1›\"",
            "SECRET_KEY_NOT=1 APP_SECRET='‹x9x8x7x6›'",
        ],
    );
    let jwt = format!(
        "eyJhbGciOiJIUzI1NiJ9.{}.{}",
        random("A-Za-z0-9_-", 40, 1),
        random("A-Za-z0-9_-", 43, 2)
    );
    check(
        "jwt",
        &[
            &format!("it sent ‹{jwt}› twice"),
            &format!("session_token=‹{jwt}›"),
        ],
    );
}

#[test]
fn redact_headers() {
    let token = random("A-Za-z0-9", 32, 11);
    check(
        "authorization",
        &[
            &format!("Authorization: Bearer ‹{token}›"),
            "Authorization: Basic ‹dXNlcjpwYXNzd29yZA==›",
            &format!("Authorization: token ‹{token}›"),
            &format!("authorization: ‹{token}›"),
            &format!("\"Authorization\": \"Bearer ‹{token}›\","),
            &format!("curl -H 'Authorization: Bearer ‹{token}›' https://example.org"),
            &format!("curl -H \"Authorization: ApiKey ‹{token}›\" https://example.org"),
            "Proxy-Authorization: Basic ‹dXNlcjpwYXNz›",
            "Authorization: Digest ‹username=\"x\", response=\"6629fae49393a05397450978507c4ef1\"›"
                .split('"')
                .next()
                .unwrap()
                .trim_end_matches("username=")
                .trim_end_matches('‹')
                .trim_end(),
        ],
    );
    check(
        "bearer-token",
        &[&format!("setRequestHeader('X', 'Bearer ‹{token}›')")],
    );
    check(
        "cookie",
        &[
            &format!("Cookie: ‹theme=dark; sid={token}›"),
            &format!("Set-Cookie: sid=‹{token}›; Path=/; HttpOnly"),
            &format!("curl -H 'Cookie: ‹sid={token}›' https://example.org"),
            &format!("\"cookie\": \"‹sid={token}›\""),
            &format!("curl --cookie \"‹sid={token}›\" https://example.org"),
        ],
    );
}

/// A private key block with this label and line break.
fn block(label: &str, newline: &str) -> String {
    let dashes = "-".repeat(5);
    let lines: Vec<_> = (0..5).map(|n| random("A-Za-z0-9+/", 64, 20 + n)).collect();
    let body = lines.join(newline);
    format!(
        "{dashes}BEGIN {label}{dashes}{newline}{body}{newline}Zm9vYg=={newline}{dashes}END {label}{dashes}"
    )
}

#[test]
fn redact_private_keys() {
    for label in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        for newline in ["\n", "\r\n", "\\n", "\\r\\n", "\n    "] {
            let key = block(label, newline);
            check(
                "private-key",
                &[
                    &format!("before\n‹{key}›\nafter"),
                    &format!("{{\"private_key\": \"‹{key}›\", \"x\": 1}}"),
                ],
            );
        }
    }
    let key = block("RSA PRIVATE KEY", "\n");
    let cut = &key[..key.len() - 60];
    check(
        "private-key",
        &[
            &format!("key:\n‹{cut}›"),
            &format!("‹{cut}›\n\nand so on, more words"),
        ],
    );
    let crypted = key.replacen(
        "\n",
        "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n",
        1,
    );
    check("private-key", &[&format!("‹{crypted}›\n")]);
    let cut = &crypted[..crypted.len() - 60];
    check("private-key", &[&format!("‹{cut}›\n")]);
    let lines: Vec<_> = (0..3).map(|n| random("A-Za-z0-9+/", 64, 40 + n)).collect();
    check(
        "private-key",
        &[&format!(
            "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 3\n‹{}›\nPrivate-MAC: x",
            lines.join("\n")
        )],
    );
    check_clean(&[
        "The file begins with -----BEGIN PRIVATE KEY----- and that is wrong.",
        "if text.contains(\"-----BEGIN RSA PRIVATE KEY-----\") { skip(\"-----END RSA PRIVATE KEY-----\") }",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE...\n-----END RSA PRIVATE KEY-----",
        &block("CERTIFICATE", "\n"),
        &block("PUBLIC KEY", "\n"),
        &block("PGP PUBLIC KEY BLOCK", "\n"),
    ]);
}

#[test]
fn redact_placeholders_stay() {
    check_clean(&[
        "PASSWORD=",
        "PASSWORD=\"\"",
        "PASSWORD=$DB_PASSWORD",
        "PASSWORD=${DB_PASSWORD:-x1}",
        "PASSWORD=$(pass show db)",
        "password: {{ db_password }}",
        "password: ${{ secrets.DB_PASSWORD }}",
        "password=<your-password>",
        "password=changeme",
        "password: xxxxxxxx",
        "password: '********'",
        "password = \"example-password1\"",
        "api_key = \"YOUR_API_KEY_HERE1\"",
        "API_KEY=your-api-key-123456789",
        "password=%DB_PASSWORD%",
        "password = os.environ[\"DB_PASSWORD1\"]",
        "password: process.env.DB_PASSWORD_2",
        "password = getenv(\"X1\")",
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PASS@localhost/db",
        "postgres://{user}:{pw1}@localhost",
        "https://user:<token>@host/",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: `Bearer ${token1}`",
        "Authorization: Bearer ...",
        "headers = {\"Authorization\": \"Bearer \" + token2}",
        "curl -u $USER:$PASS x",
        "curl -u user:password x",
        "password: [redacted:password]",
        "token = [redacted:github-token]",
        "https://u:[redacted:url-password]@h",
        "password: \"[hidden]\"",
        "token: \"sk-...abc1\"",
        "PASSWORD=DB_PASSWORD",
        "password: !vault |",
    ]);
}

#[test]
fn redact_code_and_prose_stay() {
    check_clean(&[
        "token = getToken()",
        "password: string",
        "the password is checked in auth.rs",
        "secret_key_base is read from env",
        "password: String,",
        "password: &str",
        "pub password: Option<String>,",
        "def login(user, password):",
        "password=password,",
        "login(user=user, password=pw1)",
        "self.password = password",
        "this.password = user.password2;",
        "const token = req.headers.token1;",
        "password: z.string().min(8)",
        "\"password\": {\"type\": \"string\"}",
        "\"password\": \"string\"",
        "\"password\": \"Password\"",
        "\"password\": \"Your password must have 8 letters\"",
        "password: \"Please enter your password\"",
        "forgot_password: \"/reset/1\"",
        "<label for=\"password\">Password</label>",
        "<input type=\"password\" name=\"pw1\">",
        "password_hash = sha256(x)",
        "password.length >= 12",
        "if (password !== confirm2) {",
        "max_tokens=4096",
        "\"tokens\": 1234567",
        "the token is JWT-based",
        "the password is base64-encoded",
        "the password is sha256 hashed",
        "the token is v2",
        "token: Token",
        "next_token = lexer.next()",
        "tokenizer = \"gpt2\"",
        "key = \"0af3c2b1d4e5f60718293a4b5c6d7e8f\"",
        "cache_key: 9f86d081884c7d659a2feaa0c55ad015",
        "primary_key: id1",
        "public_key = \"ssh-ed25519\"",
        "secretName: my-tls-secret-2",
        "secrets: inherit",
        "author: \"A. Writer 2024\"",
        "authenticate with OAuth2",
        "auth: basic",
        "cookie: the session one",
        "The Authorization: header carries a Bearer token",
        "document.cookie = name1",
        "pass: 12 tests",
        "passed: 120, failed: 0",
        "bypass=true1",
        "compass: \"north1\"",
        "Token expired: please log in",
        "password: required",
        "# password: see 1Password",
        "--password is asked for",
        "use --token to set it",
        "git push -u origin main",
        "mkdir -p a/b2",
        "the key is in the file",
        "password => Hash::make($request->password)",
        "private String password;",
        "String password = request.getParameter(\"password\");",
        "password: this.form.value.password1,",
        "const [password, setPassword] = useState(\"\")",
        "setPassword(\"value\")",
        "Keyboard: qwerty1",
        "password_reset_token_expires_at: 2024-01-01T00:00:00Z",
        "token: abc",
        "http://localhost:8080/@fs/a.js",
        "git@github.com:a/b.git",
        "ssh://git@host:22/x",
        "password = None",
        "password: null",
        "secretKeyRef:",
        "name: SECRET_KEY",
        "import { token } from './token1'",
        "token_type: \"Bearer\"",
        "auth/login2",
        "Password: ",
    ]);
}

#[test]
fn redact_clean_corpus_stays() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/redact_clean");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        files += 1;
        let redactor = redactor();
        let found: Vec<_> = redactor
            .find(&text)
            .iter()
            .map(|one| {
                let line = text[..one.start].matches('\n').count() + 1;
                format!("{line}: {} in `{}`", one.kind, &text[one.start..one.end])
            })
            .collect();
        assert_eq!(found, Vec::<String>::new(), "{}", path.display());
        assert!(matches!(redactor.redact(&text), Cow::Borrowed(_)));
    }
    assert!(files >= 20, "{files} files");
}

fn with_rules(rules: &[(&str, &str)], allow: &[&str]) -> RedactSettings {
    let own = |(kind, rule): &(&str, &str)| ((*kind).to_owned(), (*rule).to_owned());
    RedactSettings {
        rules: rules.iter().map(own).collect(),
        allow: allow.iter().map(|&allow| allow.to_owned()).collect(),
    }
}

#[test]
fn redact_user_rules_and_allow_list() {
    let settings = with_rules(
        &[("order", "ORD-[0-9]+"), ("badge", "badge (?<id>\\d+)")],
        &["hunter[0-9]", "ORD-7"],
    );
    let redactor = Redactor::new(&settings).unwrap();
    assert_eq!(
        redactor.redact("ORD-12 ORD-7 badge 44 password=hunter2 password=hunter22"),
        "[redacted:order] ORD-7 badge [redacted:badge] password=hunter2 password=[redacted:password]"
    );
    // A rule that matches marks does not consume them.
    let greedy = Redactor::new(&with_rules(&[("all", "[a-z]+")], &[])).unwrap();
    let once = greedy.redact("some words").into_owned();
    assert_eq!(once, "[redacted:all] [redacted:all]");
    assert_eq!(greedy.redact(&once), once);
}

#[test]
fn redact_invalid_rule_is_rejected() {
    let assert_rejected = |rules: &[(&str, &str)], allow: &[&str]| {
        Redactor::new(&with_rules(rules, allow))
            .unwrap_err()
            .to_string()
    };
    assert!(assert_rejected(&[("x", "(")], &[]).contains("unclosed group"));
    assert!(assert_rejected(&[("X y", "a")], &[]).contains("small letters"));
    assert!(assert_rejected(&[], &["a)|(b"]).contains("unopened group"));
    assert!(
        assert_rejected(
            &[("x", &"a".repeat(limits::REDACT_RULE_BYTES_MAX + 1))],
            &[]
        )
        .contains("at most")
    );
    assert!(assert_rejected(&[("x", "(?:[a-z]{500}){500}")], &[]).contains("size limit"));
    assert!(
        assert_rejected(
            &[(&"k".repeat(limits::REDACT_KIND_BYTES_MAX + 1), "a")],
            &[]
        )
        .contains("the kind must")
    );
    let many = vec![("x", "a"); limits::REDACT_RULES_MAX + 1];
    assert!(assert_rejected(&many, &[]).contains("at most 200"));
}

#[test]
fn redact_rule_size_limit() {
    let rule = |times: usize| format!(r"id:\w{{{times}}}");
    let compiles = |times: usize, most: usize| {
        let regex = RegexBuilder::new(&rule(times)).size_limit(most).build();
        regex.is_ok()
    };
    let most = limits::REDACT_REGEX_BYTES_MAX;
    let over = (1..1_000).find(|times| !compiles(*times, most)).unwrap();
    assert!(
        over > 1 && compiles(over, 2 * most),
        "only its size is wrong"
    );
    let redactor = Redactor::new(&with_rules(&[("x", &rule(over - 1))], &[])).unwrap();
    let text = format!("id:{}", "é".repeat(over - 1));
    assert_eq!(redactor.redact(&text), "[redacted:x]");
    let error = Redactor::new(&with_rules(&[("x", &rule(over))], &[])).unwrap_err();
    assert!(error.to_string().contains(&most.to_string()), "{error}");
}

#[test]
fn redact_json_values_of_secret_names() {
    let mut value = serde_json::json!({
        "api_key": random("A-Za-z0-9", 32, 5),
        "password": "hunter",
        "pin": {"passwd": 12_345_678, "note": "password=hunter2"},
        "list": [{"secret": "kittens4ever"}, "postgres://u:hunter2@h"],
        "headers": {"Authorization": "Basic dXNlcjpwYXNz", "Cookie": "sid=abc123def"},
        "token_count": 12, "tokens": "many", "state": "open", "password_hint": "the usual1",
        format!("ghp_{}", random("A-Za-z0-9", 36, 4)): 1,
    });
    let mut kinds = Vec::new();
    redactor().redact_value(&mut value, &mut kinds);
    let expected = serde_json::json!({
        "api_key": "[redacted:key]",
        "password": "[redacted:password]",
        "pin": {"passwd": "[redacted:password]", "note": "password=[redacted:password]"},
        "list": [{"secret": "[redacted:secret]"}, "postgres://u:[redacted:url-password]@h"],
        "headers": {"Authorization": "[redacted:authorization]", "Cookie": "[redacted:cookie]"},
        "token_count": 12, "tokens": "many", "state": "open", "password_hint": "the usual1",
        "[redacted:github-token]": 1,
    });
    assert_eq!(value, expected);
    assert_eq!(kinds.len(), 9, "{kinds:?}");
    let again = value.clone();
    redactor().redact_value(&mut value, &mut kinds);
    assert_eq!(value, again);
    assert_eq!(kinds.len(), 9);
}

#[test]
fn redact_findings_are_sorted_and_disjoint() {
    let text = "password=hunter2 and postgres://a:b1b2b3@c";
    let redactor = redactor();
    let found: Vec<_> = redactor
        .find(text)
        .iter()
        .map(|one| (one.kind, &text[one.start..one.end]))
        .collect();
    assert_eq!(found, [("password", "hunter2"), ("url-password", "b1b2b3")]);
}

#[test]
fn redact_items_of_lists_of_messages_are_no_pairs() {
    let redactor = redactor();
    let lists = [
        r#"["never show the plain password", "ask before you push"]"#,
        r#"["must pass", "should pass", "tests pass", "updated the readme"]"#,
    ];
    for text in lists {
        assert_eq!(redactor.find(text), [], "{text}");
    }
    let pairs = [
        r#"("password", "correct horse battery staple")"#,
        r#"("db pass", "hunter2")"#,
        r#"("The DB Password", "hunter2")"#,
        r#"("pass", "correct horse battery staple")"#,
    ];
    for text in pairs {
        assert_eq!(redactor.find(text).len(), 1, "{text}");
    }
}

/// A mark in place of a quote changes the quotes after it, at any distance.
#[test]
fn redact_finds_secret_after_distant_mark() {
    let bytes = include_bytes!("../../../fuzz/corpus/redact/quotes-far-apart");
    let text = String::from_utf8_lossy(bytes);
    let redactor = Redactor::default();
    let clean = redactor.redact(&text);
    assert!(redactor.is_clean(&clean), "{clean:?}");
}

/// Secrets after or split by an escape, and escaped names and values.
#[test]
fn redact_escaped_secret_and_nothing_else() {
    let token = ["gh", "p_", "q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4Pa"].concat();
    let (head, tail) = token.split_at(17);
    check(
        "github-token",
        &[
            &format!("{{\"log\":\"a\\n‹{token}›\"}}"),
            &format!("{{\"log\":\"{{\\\"a\\\":\\\"b\\\\n‹{token}›\\\"}}\"}}"),
            &format!("\x1b[31m‹{token}›\x1b[0m"),
            &format!("\\u001b[31m‹{token}›\\u001b[0m"),
            &format!("\\x1b[1;31m‹{token}›\\x1b[0m"),
            &format!("[31m‹{token}›[0m"),
            &format!("a\\t‹{token}›"),
            &format!("x%20‹{token}›%20y"),
            &format!("?q=a%3D‹{token}›&b=1"),
            &format!("?q=a%253D‹{token}›&b=1"),
            &format!("&quot;‹{token}›&quot;"),
            &format!("a&#61;‹{token}›"),
            &format!("a\\u003d‹{token}›"),
            &format!("x=3Dy, it is ‹{head}=\n{tail}› here"),
            &format!("x\x1b[31m‹{token}›\x1b[0m"),
            &format!("x\\u001b[31m‹{token}›\\u001b[0m"),
            &format!("\\0‹{token}›"),
            &format!("\\s‹{token}›"),
            &format!("a=20‹{token}›"),
            &format!("a=0A‹{token}›"),
            &format!("it is ‹{head}\\\n    {tail}› here"),
            &format!("\x1b[32m‹{head}\x1b[1m\x1b[33m{tail}›\x1b[0m"),
            &format!("‹{}›", token.replace('_', "\\u005f")),
            &format!("‹{}›", token.replace('_', "%5F")),
            &format!("‹{}›", token.replace('_', "&lowbar;")),
            &format!("‹{}›", token.replace('_', "\\_")),
        ],
    );
    check(
        "password",
        &[
            "\x1b[32mpassword\x1b[0m: \x1b[31m‹hunter2Xq9zP›\x1b[0m",
            "{\"password\\u0022: \\u0022‹hunter2Xq9zP›\\u0022, \"a\": 1}",
            "&quot;password&quot;: &quot;‹hunter2Xq9zP›&quot;",
            "%22password%22%3A%22‹hunter2Xq9zP›%22",
        ],
    );
    check(
        "authorization",
        &["Authorization: \x1b[31mBearer ‹k3yAb9Cd8Ef7Gh6Ij5Kl4Mn3Op2›\x1b[0m"],
    );
    check_clean(&[
        "{\"a\": \"line\\nnext\\tand \\\"more\\\"\"}",
        "\x1b[32mok\x1b[0m 12 tests",
        "https://example.org/a%20b?x=%3D&y=1",
        "&lt;a href=&quot;x&quot;&gt;",
    ]);
}

/// Fillers next to or inside of a secret do not hide it.
#[test]
fn redact_secret_with_filler() {
    let token = random("A-Za-z0-9", 36, 61);
    let key = random("A-Za-z0-9_", 36, 62);
    let more = random("A-Za-z0-9", 20, 63);
    for text in [
        format!("ghp_{token}____________________________________________"),
        format!("sk-ant-api03-{key}----------------------------------------------"),
        format!("glpat-{more}------------------------------------"),
        format!("ghp_{token}example"),
        format!("sk-proj-{key}xxxx{more}"),
        "DB_PASSWORD=correcthorse...battery9".to_owned(),
        "DB_PASSWORD=Zk3dummyLm9XvB4cRt8W".to_owned(),
        "PASSWORD='$Zk3Lm9XvB4cRt8W'".to_owned(),
        "PASSWORD=[Zk3Lm9XvB4cRt8W]".to_owned(),
        "password: <Zk3Lm9XvB4cRt8W>".to_owned(),
        "password: {Zk3Lm9XvB4cRt8W}".to_owned(),
        "password: \"Hunter2 Xq9zP is best\"".to_owned(),
    ] {
        let clean = redactor().redact(&text).into_owned();
        for part in [&token, &key, &more] {
            assert!(!clean.contains(&part[part.len() / 2..]), "{text}: {clean}");
        }
        assert!(clean.contains("[redacted:"), "{text}: {clean}");
        assert!(
            !clean.contains("battery9") && !clean.contains("Xq9zP"),
            "{clean}"
        );
    }
    // The rule of a table behind a token stays.
    let rule = format!("glpat-{more}----------------");
    assert_eq!(
        redactor().redact(&rule),
        "[redacted:gitlab-token]----------------"
    );
    check_clean(&[
        "AKIAI44QH8DHBEXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "password: \"Use your password to sign in.\"",
        "token: <your-token-123>",
        "API_KEY=<api-key>",
        "password: [hidden]",
    ]);
}

/// A key whose first or last line is missing.
#[test]
fn redact_private_key_without_its_first_line() {
    for newline in ["\n", "\r\n", "\\n", "\n    "] {
        let key = block("RSA PRIVATE KEY", newline);
        let lines: Vec<_> = key.split(newline).collect();
        for from in 1..4 {
            let rest = lines[from..].join(newline);
            check(
                "private-key",
                &[&format!("‹{rest}›"), &format!("exit 1:\n‹{rest}›\n$ ")],
            );
        }
    }
    let body = |start: &str| {
        format!(
            "{start}{}\n{}",
            random("A-Za-z0-9+/", 48, 71),
            random("A-Za-z0-9+/", 64, 72)
        )
    };
    for start in [
        "MIIEpAIBAAKCAQEA",
        "MIIEvgIBADANBgkq",
        "b3BlbnNzaC1rZXktdjEAAAAA",
    ] {
        check("private-key", &[&format!("key:\n‹{}›\n", body(start))]);
    }
    check_clean(&[
        block("CERTIFICATE", "\n").split_once('\n').unwrap().1,
        "text.contains(\"-----END RSA PRIVATE KEY-----\")",
    ]);
}

/// A `=` at the end of a line is no soft line break, except in mail.
#[test]
fn redact_keeps_text_after_base64() {
    for (text, clean) in [
        (
            "SECRET_KEY=Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg=\nDEBUG=1\nPORT=80\n",
            "SECRET_KEY=[redacted:key]\nDEBUG=1\nPORT=80\n",
        ),
        (
            "Authorization: Basic YXBpOmh1bnRlcjJYcTl6UA==\nHost: example.com\n",
            "Authorization: Basic [redacted:authorization]\nHost: example.com\n",
        ),
        (
            "export A_TOKEN=Zm9vYmFyMTIzNDU2Nzg5MDEyMzQ1Ng==\r\nexport PATH=/usr/bin\r\n",
            "export A_TOKEN=[redacted:token]\r\nexport PATH=/usr/bin\r\n",
        ),
    ] {
        assert_eq!(redactor().redact(text), clean);
    }
}
