//! Access matrix: every route of the OpenAPI description, called by every role for every project. A new route fails
//! until it is classified.

use crate::client::{Answer, Server};
use crate::driver::ProjectFixture;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Text in every record and file of the served project.
const MARKER: &str = "zebramarker";
/// Project of the tokens that must not see the served project.
const OTHER: &str = "the-other-project";
const ROLES: [&str; 4] = ["agent", "orchestrator", "user", "admin"];

/// Roles that may call a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Permission {
    /// Every role.
    All,
    /// Every role except agents.
    NoAgent,
    /// Only admins, with a token of the whole store.
    Admin,
    /// Every role. The answer is an endless stream, so only the refusal of another project is tested.
    Stream,
}

/// Returns every operation of the description, with the body fields or parameters that the smallest valid ones lack.
fn route_table() -> Vec<(&'static str, Permission, Value)> {
    use Permission::{Admin, All, NoAgent, Stream};
    let none = || json!({});
    vec![
        ("GET /api/analytics", All, none()),
        ("GET /api/conflicts", All, none()),
        ("POST /api/conflicts/{id}/resolve", NoAgent, none()),
        (
            "GET /api/context",
            All,
            json!({"invocation": "coder[input:README.md]"}),
        ),
        (
            "POST /api/context",
            All,
            json!({"invocation": "coder[input:README.md]", "group": "main"}),
        ),
        (
            "POST /api/compact",
            All,
            json!({"messages": [{"role": "user", "content": "hello"}]}),
        ),
        ("GET /api/events", Stream, none()),
        ("POST /api/errors", All, none()),
        ("POST /api/errors/{id}/resolve", All, none()),
        ("GET /api/expand/{id}", All, none()),
        ("GET /api/groups", All, none()),
        ("GET /api/groups/{id}", All, none()),
        ("POST /api/groups/{id}", All, none()),
        ("GET /api/history", All, none()),
        ("GET /api/history/{id}", All, none()),
        ("GET /api/memory/artifacts", All, none()),
        (
            "POST /api/memory/artifacts",
            All,
            json!({"path": "README.md"}),
        ),
        ("GET /api/memory/artifacts/verify", All, none()),
        ("DELETE /api/memory/artifacts/{id}", All, none()),
        ("GET /api/memory/episodes", All, none()),
        ("POST /api/memory/episodes", All, none()),
        ("GET /api/memory/knowledge", All, none()),
        ("POST /api/memory/knowledge", All, none()),
        ("GET /api/memory/knowledge/{id}", All, none()),
        ("DELETE /api/memory/knowledge/{id}", All, none()),
        (
            "POST /api/memory/tool",
            All,
            json!({"command": "view", "path": "/memories/SOUL.md"}),
        ),
        ("GET /api/memory/working", All, none()),
        ("PUT /api/memory/working", All, none()),
        ("DELETE /api/memory/working", All, none()),
        ("GET /api/notes", All, none()),
        ("POST /api/notes", All, none()),
        ("GET /api/projects", All, none()),
        ("POST /api/prune", NoAgent, none()),
        (
            "POST /api/purge",
            Admin,
            json!({"query": "nothing says this"}),
        ),
        ("GET /api/recall", All, json!({"query": MARKER})),
        ("POST /api/recall", All, json!({"query": MARKER})),
        ("GET /api/receipts", All, none()),
        ("GET /api/receipts/diff", All, none()),
        ("GET /api/receipts/{id}", All, none()),
        ("GET /api/records", All, none()),
        ("GET /api/records/{id}", All, none()),
        ("DELETE /api/records/{id}", All, none()),
        ("POST /api/records/{id}/mark", NoAgent, none()),
        ("GET /api/sessions", All, none()),
        ("GET /api/messages", All, json!({"query": MARKER})),
        ("GET /api/sessions/{id}", All, none()),
        ("GET /api/sessions/{id}/messages", All, none()),
        ("POST /api/sessions/{id}/messages", All, none()),
        ("GET /api/sessions/{id}/summary", All, none()),
        ("GET /api/status", All, none()),
        ("GET /api/tasks", All, none()),
        ("GET /api/tasks/{id}", All, none()),
        ("PUT /api/tasks/{id}", All, none()),
        ("POST /api/tasks/{id}/end", All, none()),
        ("POST /api/tasks/{id}/steps", All, none()),
        ("GET /api/tokens", Admin, none()),
        ("POST /api/tokens", Admin, none()),
        ("DELETE /api/tokens/{id}", Admin, none()),
        ("GET /api/tried", All, json!({"approach": MARKER})),
        ("POST /api/undo/{id}", NoAgent, none()),
        ("GET /api/workspace", All, none()),
        ("POST /api/workspace", All, none()),
    ]
}

/// Operation of the description.
struct Operation {
    name: String,
    method: String,
    path: String,
    /// Query parameters: required ones with the smallest valid value, others without a value.
    query: BTreeMap<String, Option<Value>>,
    /// Schema of the body.
    body: Option<Value>,
}

/// OpenAPI document.
struct Document(Value);

impl Document {
    fn operations(&self) -> Vec<Operation> {
        let mut all = Vec::new();
        for (path, item) in self.0["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let method = method.to_uppercase();
                let mut query = BTreeMap::new();
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    if parameter["in"] == "query" {
                        let value = (parameter["required"] == true)
                            .then(|| self.smallest_value(&parameter["schema"]));
                        query.insert(parameter["name"].as_str().unwrap().to_owned(), value);
                    }
                }
                let body = &operation["requestBody"]["content"]["application/json"]["schema"];
                all.push(Operation {
                    name: format!("{method} {path}"),
                    method,
                    path: path.clone(),
                    query,
                    body: Some(body.clone()).filter(|body| !body.is_null()),
                });
            }
        }
        all
    }

    fn resolve_reference<'d>(&'d self, schema: &'d Value) -> &'d Value {
        match schema["$ref"].as_str() {
            Some(at) => self.0.pointer(at.trim_start_matches('#')).unwrap(),
            None => schema,
        }
    }

    /// Returns the smallest value that is valid for a schema.
    fn smallest_value(&self, schema: &Value) -> Value {
        let schema = self.resolve_reference(schema);
        if let Some(parts) = schema["allOf"].as_array() {
            let mut whole = Map::new();
            for part in parts {
                if let Value::Object(map) = self.smallest_value(part) {
                    whole.extend(map);
                }
            }
            return Value::Object(whole);
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(first) = schema[choice].as_array().and_then(|all| all.first()) {
                return self.smallest_value(first);
            }
        }
        if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
            return first.clone();
        }
        let type_name = &schema["type"];
        let type_name = type_name
            .as_array()
            .map_or(type_name, |type_names| &type_names[0]);
        let type_name = type_name.as_str().unwrap_or("object");
        match type_name {
            "string" => json!("x"),
            "integer" | "number" => json!(1),
            "boolean" => json!(false),
            "array" => json!([]),
            _ => {
                let needed = schema["required"].as_array().into_iter().flatten();
                let needed = needed.filter_map(Value::as_str);
                let pairs = needed.map(|name| {
                    (
                        name.to_owned(),
                        self.smallest_value(&schema["properties"][name]),
                    )
                });
                Value::Object(pairs.collect())
            }
        }
    }

    /// Returns true if a body has the field `project`.
    fn has_project(&self, schema: &Value) -> bool {
        let schema = self.resolve_reference(schema);
        let has_field = !schema["properties"]["project"].is_null();
        let parts = schema["allOf"].as_array().into_iter().flatten();
        has_field || parts.into_iter().any(|part| self.has_project(part))
    }
}

/// Server whose project contains the marker everywhere, and the ids of records in it.
pub(crate) struct MatrixFixture {
    pub(crate) server: Server,
    document: Document,
    /// Values of `{id}`, by the beginning of the path.
    ids: Vec<(&'static str, String)>,
}

impl MatrixFixture {
    pub(crate) fn new() -> Self {
        let fixture = ProjectFixture::git();
        for file in [
            "README.md",
            ".heirloom/workspace/SOUL.md",
            ".heirloom/groups/main/CLAUDE.md",
        ] {
            fixture
                .project
                .write(file, format!("- {MARKER}\n"))
                .unwrap();
        }
        let server = Server::start_in(fixture, &[]);
        let marked_text = format!("the {MARKER} sleeps");
        let post = |path: &str, body: Value| server.post(path, &body).json();
        let id = |made: Value| {
            made["id"]
                .as_str()
                .unwrap_or_else(|| panic!("{made}"))
                .to_owned()
        };
        let knowledge = id(post(
            "/api/memory/knowledge",
            json!({"key": "k", "value": marked_text}),
        ));
        id(post("/api/notes", json!({"text": marked_text})));
        id(post("/api/groups/main", json!({"text": marked_text})));
        post(
            "/api/workspace",
            json!({"type": "fact", "text": marked_text}),
        );
        let artifact = json!({"task_id": "7", "path": "README.md", "description": marked_text});
        let artifact = id(post("/api/memory/artifacts", artifact));
        let tried = json!({"task_id": "7", "action": "failed", "approach": marked_text});
        id(post("/api/memory/episodes", tried));
        id(post(
            "/api/tasks/7/steps",
            json!({"text": marked_text, "state": "pending"}),
        ));
        let error = id(post(
            "/api/errors",
            json!({"text": marked_text, "task_id": "7"}),
        ));
        id(post(
            "/api/sessions/s1/messages",
            json!({"role": "user", "text": marked_text}),
        ));
        let plan = json!({"current_plan": marked_text});
        server
            .send_as(&server.token, "PUT", "/api/memory/working", &plan)
            .expect(200);
        let made = post("/api/context", json!({"query": MARKER}));
        let receipt = made["receipt"].as_str().unwrap().to_owned();
        assert!(made["text"].as_str().unwrap().contains(MARKER), "{made}");
        let document = server.get("/openapi.json").expect(200).json();
        let ids = vec![
            ("/api/memory/artifacts", artifact),
            ("/api/errors", error),
            ("/api/groups", "main".to_owned()),
            ("/api/sessions", "s1".to_owned()),
            ("/api/tasks", "7".to_owned()),
            ("/api/tokens", "00000000".to_owned()),
            ("/api/receipts", receipt),
            ("/api/expand", "0123456789abcdef".to_owned()),
            ("/api", knowledge),
        ];
        Self {
            server,
            document: Document(document),
            ids,
        }
    }

    fn id_for(&self, path: &str) -> &str {
        let found = self.ids.iter().find(|(begin, _)| path.starts_with(begin));
        &found.unwrap().1
    }

    /// Calls an operation with valid arguments for this project; `None` if it cannot name a project.
    fn call(
        &self,
        operation: &Operation,
        more: &Value,
        token: &str,
        project: Option<&str>,
    ) -> Option<Answer> {
        let (path, body) = self.valid_request(operation, more, project)?;
        Some(match operation.method.as_str() {
            "GET" => self.server.get_as(token, &path),
            method => self.server.send_as(token, method, &path, &body),
        })
    }

    /// Returns the address and body of a valid request for this project; `None` if it cannot name a project.
    fn valid_request(
        &self,
        operation: &Operation,
        more: &Value,
        project: Option<&str>,
    ) -> Option<(String, Value)> {
        let id = self.id_for(&operation.path);
        let mut path = operation.path.replace("{id}", id);
        let mut body = operation
            .body
            .as_ref()
            .map(|schema| self.document.smallest_value(schema));
        let mut query: BTreeMap<String, Value> = BTreeMap::new();
        for (name, value) in &operation.query {
            query.extend(value.clone().map(|value| (name.clone(), value)));
        }
        for name in ["first", "second"] {
            query
                .entry(name.to_owned())
                .and_modify(|value| *value = json!(id));
        }
        let more = more.as_object().unwrap();
        match &mut body {
            Some(Value::Object(body)) => {
                if body.contains_key("command") {
                    body.clear();
                }
                body.extend(more.clone());
                body.entry("keep").and_modify(|keep| *keep = json!(id));
            }
            _ => query.extend(
                more.clone()
                    .into_iter()
                    .filter(|(name, _)| operation.query.contains_key(name)),
            ),
        }
        if let Some(project) = project {
            let in_body = operation
                .body
                .as_ref()
                .is_some_and(|body| self.document.has_project(body));
            match &mut body {
                Some(body) if in_body => body["project"] = json!(project),
                _ if operation.query.contains_key("project") => {
                    query.insert("project".to_owned(), json!(project));
                }
                _ => return None,
            }
        }
        let pairs = query.iter().map(|(name, value)| {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}={}", percent_encode(&value))
        });
        let pairs: Vec<_> = pairs.collect();
        if !pairs.is_empty() {
            path = format!("{path}?{}", pairs.join("&"));
        }
        Some((path, body.unwrap_or_else(|| json!({}))))
    }

    /// Returns the method, address and body of a valid request for each operation that answers at once.
    pub(crate) fn valid_requests(&self) -> Vec<(String, String, Value)> {
        let table = route_table();
        let operations = self.document.operations().into_iter();
        let requests = operations.filter_map(|operation| {
            let (_, permission, more) = table.iter().find(|(name, ..)| *name == operation.name)?;
            let (path, body) = self.valid_request(&operation, more, None)?;
            (*permission != Permission::Stream).then_some((operation.method, path, body))
        });
        requests.collect()
    }
}

fn percent_encode(value: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(escape).collect()
}

#[test]
fn every_route_is_classified() {
    let server = Server::start();
    let document = Document(server.get("/openapi.json").expect(200).json());
    let route_table = route_table();
    for operation in document.operations() {
        assert!(
            operation.name.starts_with("GET /health")
                || route_table.iter().any(|(name, ..)| *name == operation.name),
            "`{}` is not classified: add it to `route_table` in crates/heirloom/tests/serve/access_matrix.rs with its permission",
            operation.name
        );
    }
    for (name, ..) in &route_table {
        let is_there = document
            .operations()
            .iter()
            .any(|operation| operation.name == *name);
        assert!(
            is_there,
            "`{name}` is in the table and not in the description"
        );
    }
}

#[test]
fn token_of_another_project_learns_nothing_of_the_served_project() {
    let fixture = MatrixFixture::new();
    let served = fixture.server.get("/api/projects").expect(200).json();
    let served = served["items"].as_array().unwrap().iter();
    let served = served.filter(|project| project["served"] == true);
    let served = served
        .map(|project| project["name"].as_str().unwrap())
        .next()
        .unwrap()
        .to_owned();
    let route_table = route_table();
    let permission = |name: &str| {
        let found = route_table.iter().find(|(known, ..)| *known == name);
        found
            .map(|(_, permission, more)| (*permission, more.clone()))
            .unwrap()
    };
    let operations = fixture.document.operations();
    // Control: the served project's own token finds the marker.
    for name in [
        "POST /api/recall",
        "POST /api/context",
        "POST /api/memory/tool",
        "GET /api/workspace",
    ] {
        let operation = operations
            .iter()
            .find(|operation| operation.name == name)
            .unwrap();
        let answer = fixture
            .call(operation, &permission(name).1, &fixture.server.token, None)
            .unwrap();
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(
            text.contains(&format!("the {MARKER}")) || text.contains(&format!("- {MARKER}")),
            "{name}: {text}"
        );
    }
    for role in ROLES {
        let token = fixture.server.create_token(role, &["--project", OTHER]);
        for operation in &operations {
            let (permission, more) = permission(&operation.name);
            for project in [None, Some(OTHER), Some(served.as_str())] {
                if permission == Permission::Stream && project != Some(served.as_str()) {
                    continue;
                }
                let Some(answer) = fixture.call(operation, &more, &token, project) else {
                    continue;
                };
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                let case = format!(
                    "{role} {} for {project:?}: {} {text}",
                    operation.name, answer.status
                );
                assert!(answer.status < 500, "{case}");
                // The query may be repeated in the answer; text of the served project may not.
                assert!(!text.contains(&format!("the {MARKER}")), "{case}");
                assert!(!text.contains(&format!("- {MARKER}")), "{case}");
                if project == Some(served.as_str()) {
                    assert_eq!(answer.status, 403, "{case}");
                }
            }
        }
    }
    fixture.server.assert_alive();
}

#[test]
fn roles_without_permission_are_refused() {
    let fixture = MatrixFixture::new();
    let route_table = route_table();
    for role in ROLES {
        let token = fixture.server.create_token(role, &[]);
        for operation in fixture.document.operations() {
            let (_, permission, more) = route_table
                .iter()
                .find(|(name, ..)| *name == operation.name)
                .unwrap();
            if *permission == Permission::Stream {
                continue;
            }
            let answer = fixture.call(&operation, more, &token, None).unwrap();
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            let case = format!("{role} {}: {} {text}", operation.name, answer.status);
            assert!(answer.status < 500, "{case}");
            let is_refused = match permission {
                Permission::All | Permission::Stream => false,
                Permission::NoAgent => role == "agent",
                Permission::Admin => role != "admin",
            };
            if is_refused {
                assert_eq!(answer.status, 403, "{case}");
            } else if *permission != Permission::All {
                assert_ne!(answer.status, 403, "{case}");
            }
        }
    }
}
