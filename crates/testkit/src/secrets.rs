//! Secrets for tests of redaction, generated at run time so that no scanner finds one in a source file, and the
//! surroundings in which they occur.

use base64::Engine as _;

/// Pseudo-random number generator: xorshift.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator; equal seeds give equal samples.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `most`.
    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % most.max(1)
    }

    /// Returns characters of a class, as a key generator would choose them.
    pub fn text(&mut self, class: &str, count: usize) -> String {
        let all = members(class);
        (0..count)
            .filter_map(|_| all.get(self.below(all.len())))
            .collect()
    }

    /// Generates a text that matches an expression of the table of formats: literals and `[class]{count}`.
    pub fn sample(&mut self, expression: &str) -> String {
        let mut made = String::new();
        let mut rest = expression;
        while let Some((literal, more)) = rest.split_once('[') {
            made.push_str(literal);
            let Some((class, more)) = more.split_once("]{") else {
                break;
            };
            let Some((counts, more)) = more.split_once('}') else {
                break;
            };
            let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
            let least: usize = least.parse().unwrap_or(0);
            let most = most.parse().unwrap_or(least + 6).min(least + 6);
            let count = least + self.below(most - least + 1);
            made.push_str(&self.text(class, count));
            rest = more;
        }
        made + rest
    }
}

/// Returns the characters of a class.
fn members(class: &str) -> Vec<char> {
    let chars: Vec<char> = class.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(&first) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(&last)) => {
                all.extend(first..=last);
                at += 3;
            }
            _ => {
                all.push(first);
                at += 1;
            }
        }
    }
    all
}

/// A secret, with its name.
#[derive(Debug, Clone)]
pub struct SecretSample {
    /// Rule or name that the sample belongs to.
    pub rule: String,
    /// Name next to the secret.
    pub name: String,
    /// Noun for it in a sentence: a password, an API key, or a token.
    pub noun: SecretNoun,
    /// The secret.
    pub secret: String,
    /// True if it is found without its name.
    pub has_form: bool,
}

/// Noun for a secret in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretNoun {
    /// A password.
    Password,
    /// A key of an interface.
    Key,
}

/// Names of secrets without a format, and the expressions of their values. `%` is a service.
const NAMED: &[(&str, &str)] = &[
    ("%_api_key", "[A-Za-z0-9]{32}"),
    ("%_api_key", "[a-f0-9]{32}"),
    ("%_api_token", "[A-Za-z0-9_-]{43}"),
    ("%_access_token", "[a-f0-9]{40}"),
    ("%_auth_token", "[a-z0-9]{20}"),
    ("%_secret_key", "[A-Za-z0-9/+]{40}"),
    ("%_client_secret", "[A-Za-z0-9_-]{32}"),
    ("%_password", "[a-z]{6}[0-9]{3}[A-Z]{4}"),
    (
        "%_password",
        "[A-Z]{1}[a-z]{2}[0-9]{1}[A-Z]{2}[a-z]{1}[0-9]{1}[A-Za-z0-9]{6}",
    ),
    ("%_passwd", "[a-zA-Z]{5}[0-9]{3}[!]{1}[a-z]{3}"),
];
/// Services in the names.
const SERVICES: &[&str] = &[
    "stripe", "mailgun", "finnhub", "acme", "billing", "search", "maps", "weather", "backup",
    "grafana", "smtp", "ldap",
];

/// Generates named secrets without a format.
pub fn named_samples(seed: u64) -> Vec<SecretSample> {
    let mut samples = Vec::new();
    for (number, (name, expression)) in NAMED.iter().enumerate() {
        for (nth, service) in SERVICES.iter().enumerate() {
            let mut random = Random::new(seed * 7_000 + (number * 100 + nth) as u64);
            let name = name.replace('%', service);
            samples.push(SecretSample {
                rule: name.clone(),
                noun: if name.contains("pass") {
                    SecretNoun::Password
                } else {
                    SecretNoun::Key
                },
                name,
                secret: random.sample(expression),
                has_form: false,
            });
        }
    }
    samples
}

/// Generates a secret of a format, from its parts before and behind the anchor.
pub fn format_sample(rule: &str, before: &str, expression: &str, seed: u64) -> SecretSample {
    let mut random = Random::new(seed);
    SecretSample {
        rule: rule.to_owned(),
        // A name that does not suggest a secret.
        name: "value".to_owned(),
        noun: SecretNoun::Key,
        secret: random.sample(before) + &random.sample(expression),
        has_form: true,
    }
}

/// Returns true if a large part of a secret remains in a text, also with other encodings.
pub fn is_left(clean: &str, sample: &SecretSample) -> bool {
    let part: String = sample
        .secret
        .chars()
        .skip(sample.secret.chars().count() / 3)
        .collect();
    clean.contains(&part) || clean.contains(&percent(&part))
}

/// A surrounding: its name, and the function that writes a sample into it.
pub struct Surrounding {
    /// Name for reports.
    pub name: &'static str,
    /// True if the name of the secret is next to it; without one only secrets with a format can be found.
    pub has_name: bool,
    /// Writes a sample.
    pub write: fn(&SecretSample) -> String,
}

const fn named(name: &'static str, write: fn(&SecretSample) -> String) -> Surrounding {
    Surrounding {
        name,
        has_name: true,
        write,
    }
}

/// Surroundings in which secrets are stored, printed and told.
pub const SURROUNDINGS: &[Surrounding] = &[
    Surrounding {
        name: "bare",
        has_name: false,
        write: |s| s.secret.clone(),
    },
    Surrounding {
        name: "prose",
        has_name: false,
        write: |s| format!("I used {} for the upload, it works.", s.secret),
    },
    named("env", |s| format!("A=1\n{}={}\nB=2\n", upper(s), s.secret)),
    named("export", |s| {
        format!("export {}='{}'\n", upper(s), s.secret)
    }),
    named("YAML", |s| {
        format!("app:\n  {}: \"{}\"\n  debug: true\n", s.name, s.secret)
    }),
    named("YAML, bare", |s| {
        format!("app:\n  {}: {}\n  debug: true\n", s.name, s.secret)
    }),
    named("YAML block", |s| {
        format!("app:\n  {}: |\n    {}\n  debug: true\n", s.name, s.secret)
    }),
    named("JSON", |s| json(&[(&s.name, &s.secret)])),
    named("JSON in JSON in JSON", |s| {
        let inner = json(&[(&s.name, &s.secret)]);
        json(&[("content", &format!("a line\n{}", json(&[("body", &inner)])))])
    }),
    named("TOML", |s| {
        format!("[app]\n{} = \"{}\"\n", s.name, s.secret)
    }),
    named("properties", |s| {
        format!("app.{}={}\n", s.name.replace('_', "."), s.secret)
    }),
    named("set -x", |s| {
        format!("+ export {}={}\n+ make\n", upper(s), s.secret)
    }),
    named("grep", |s| {
        format!("config/app.env:12:{}={}\n", upper(s), s.secret)
    }),
    named("diff", |s| format!("-{0}=\n+{0}={1}\n", upper(s), s.secret)),
    named("XML", |s| {
        format!(
            "<app>\n  <{0}>\n    {1}\n  </{0}>\n</app>",
            s.name, s.secret
        )
    }),
    named("XML attribute", |s| {
        format!("<add key=\"{}\" value=\"{}\" />", s.name, s.secret)
    }),
    named("plist", |s| {
        format!("<key>{}</key>\n<string>{}</string>\n", s.name, s.secret)
    }),
    named("Rust", |s| {
        format!("const {}: &str = \"{}\";\n", upper(s), s.secret)
    }),
    named("Go", |s| {
        format!("var {} string = \"{}\"\n", s.name, s.secret)
    }),
    named("Python", |s| format!("{} = '{}'\n", s.name, s.secret)),
    named("JavaScript", |s| {
        format!("const c = {{ {}: '{}', n: 1 }};\n", s.name, s.secret)
    }),
    named("PHP", |s| format!("${} .= \"{}\";\n", s.name, s.secret)),
    named("Java", |s| {
        format!("System.setProperty(\"{}\", \"{}\");\n", upper(s), s.secret)
    }),
    named("C define", |s| {
        format!("#define {} \"{}\"\n", upper(s), s.secret)
    }),
    named("Terraform variable", |s| {
        format!(
            "variable \"{}\" {{\n  type    = string\n  default = \"{}\"\n}}\n",
            s.name, s.secret
        )
    }),
    named("Dockerfile", |s| format!("ENV {} {}\n", upper(s), s.secret)),
    named("systemd", |s| {
        format!("Environment=\"{}={}\"\n", upper(s), s.secret)
    }),
    named("PowerShell", |s| {
        format!("$env:{} = \"{}\"\n", upper(s), s.secret)
    }),
    named("fish", |s| format!("set -gx {} {}\n", upper(s), s.secret)),
    named("name and value, YAML", |s| {
        format!(
            "env:\n  - name: {}\n    value: {}\n  - name: B\n    value: c\n",
            upper(s),
            s.secret
        )
    }),
    named("value and name, YAML", |s| {
        format!("env:\n  - value: {}\n    name: {}\n", s.secret, upper(s))
    }),
    named("name and value, JSON", |s| {
        format!(
            "[{},{}]",
            json(&[("name", &upper(s)), ("value", &s.secret)]),
            json(&[("name", "B"), ("value", "c")])
        )
    }),
    named("value and name, JSON", |s| {
        format!(
            "{{\"value\": \"{}\", \"name\": \"{}\"}}",
            s.secret,
            upper(s)
        )
    }),
    named("key and value, Postman", |s| {
        format!(
            "{{\n  \"key\": \"{}\",\n  \"value\": \"{}\",\n  \"type\": \"string\"\n}}",
            s.name, s.secret
        )
    }),
    named("header, HAR", |s| {
        format!(
            "{{\"name\": \"X-{}\", \"value\": \"{}\"}}",
            s.name.replace('_', "-"),
            s.secret
        )
    }),
    named("gh secret set", |s| {
        format!("gh secret set {} --body {}\n", upper(s), s.secret)
    }),
    named("gh secret set, piped", |s| {
        format!("echo {} | gh secret set {}\n", s.secret, upper(s))
    }),
    named("Markdown row", |s| {
        format!(
            "| setting | value |\n|---|---|\n| {} | {} |\n",
            s.name, s.secret
        )
    }),
    named("Markdown column", |s| {
        format!("| host | {} |\n|---|---|\n| db1 | {} |\n", s.name, s.secret)
    }),
    named("CSV column", |s| {
        format!("host,{},port\ndb1,{},80\n", s.name, s.secret)
    }),
    named("database shell", |s| {
        format!(
            " host | {} \n------+-------\n db1  | {}\n(1 row)\n",
            s.name, s.secret
        )
    }),
    named("log with colour", |s| {
        format!(
            "12:00:01 \x1b[32mINFO\x1b[0m \x1b[1m{}\x1b[0m=\x1b[31m{}\x1b[0m done\n",
            s.name, s.secret
        )
    }),
    named("URL query", |s| {
        format!(
            "GET https://example.org/a?x=%20&{}={}&y=1\n",
            s.name,
            percent(&s.secret)
        )
    }),
    named("URL password", |s| {
        format!("https://bob:{}@example.org/x\n", percent(&s.secret))
    }),
    named("URL token", |s| {
        format!(
            "git clone https://{}@example.org/x.git\n",
            percent(&s.secret)
        )
    }),
    named("curl -u", |s| {
        format!("curl -u 'bob:{}' https://example.org/\n", s.secret)
    }),
    named("curl -H", |s| {
        format!(
            "curl -s -H \"X-{}: {}\" \\\n  https://example.org/a\n",
            s.name.replace('_', "-"),
            s.secret
        )
    }),
    named("netrc", |s| {
        format!(
            "machine example.org\n  login bob\n  password {}\n",
            s.secret
        )
    }),
    named("HTML", |s| {
        format!("<pre>{}=&quot;{}&quot;</pre>", s.name, s.secret)
    }),
    named("base64 of a file", |s| format!("data: {}\n", encode(s))),
    named("base64 -d", |s| {
        format!("echo {} | base64 -d > .env\n", encode(s))
    }),
    named("English", |s| {
        format!("The {} is {}\n", noun(s, "password", "API key"), s.secret)
    }),
    named("English, code", |s| {
        format!(
            "Remember: the {} is `{}`.\n",
            noun(s, "password", "api key"),
            s.secret
        )
    }),
    named("English, role", |s| {
        format!(
            "Please use {} as the {}.\n",
            s.secret,
            noun(s, "password", "API key")
        )
    }),
    named("English, bold", |s| {
        format!("**{}:** {}\n", noun(s, "Password", "API key"), s.secret)
    }),
    named("German", |s| {
        format!(
            "{} {}.\n",
            noun(s, "Das Passwort lautet", "Der API-Schlüssel ist"),
            s.secret
        )
    }),
    named("French", |s| {
        format!(
            "{} {}\n",
            noun(s, "Le mot de passe est", "La clé API est"),
            s.secret
        )
    }),
    named("Spanish", |s| {
        format!(
            "{} {}\n",
            noun(s, "La contraseña es", "La clave de API es"),
            s.secret
        )
    }),
    named("Italian", |s| {
        format!(
            "{} {}\n",
            noun(s, "La password è", "La chiave API è"),
            s.secret
        )
    }),
    named("Portuguese", |s| {
        format!(
            "{} {}\n",
            noun(s, "A senha é", "A chave de API é"),
            s.secret
        )
    }),
    named("Chinese", |s| {
        format!("{}{}。\n", noun(s, "数据库密码是", "API密钥是"), s.secret)
    }),
    named("Japanese", |s| {
        format!("{}{}です\n", noun(s, "パスワードは", "APIキーは"), s.secret)
    }),
    named("Russian", |s| {
        format!(
            "{} {}\n",
            noun(s, "Пароль от базы:", "Ключ API —"),
            s.secret
        )
    }),
];

/// Returns the name as that of a variable of an environment.
fn upper(sample: &SecretSample) -> String {
    sample.name.to_uppercase()
}

/// Returns the noun of a sample.
fn noun<'n>(sample: &SecretSample, password: &'n str, key: &'n str) -> &'n str {
    match sample.noun {
        SecretNoun::Password => password,
        SecretNoun::Key => key,
    }
}

/// Returns an object with texts.
fn json(fields: &[(&str, &str)]) -> String {
    let fields = fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), serde_json::Value::from(*value)));
    serde_json::Value::Object(fields.collect()).to_string()
}

/// Returns a file of settings in base64.
fn encode(sample: &SecretSample) -> String {
    let file = format!("HOST=db1\n{}={}\nPORT=80\n", upper(sample), sample.secret);
    base64::engine::general_purpose::STANDARD.encode(file)
}

/// Returns the percent-encoding of a text.
pub fn percent(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}
