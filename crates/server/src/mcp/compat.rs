//! The nine tools of the reference server "memory" over our store: the same names, arguments and answers.
//!
//! Whoever used that server changes one line. What these tools answer is not fenced: programs read it.

use super::pages::page;
use super::server::Server;
use heirloom_engine::Engine;
use heirloom_engine::graph::{Entity, KnowledgeGraph, Relation};
use heirloom_model::{Fault, text};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The address of the whole graph.
const GRAPH_URI: &str = "memory://knowledge-graph";

/// A session of a client that expects the other server.
#[derive(Clone)]
pub(super) struct Compat(pub(super) Server);

/// What a tool does to the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Adds,
    Removes,
}

/// A tool: its name, title, what it is for, the schemas of what it takes and answers.
struct Offered {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    effect: Effect,
    takes: fn() -> Value,
    answers: fn() -> Value,
    call: fn(&Engine, &str, Value) -> Result<Done, Fault>,
}

/// What a tool answers: as text, and as a value.
struct Done {
    text: String,
    value: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireEntity {
    name: String,
    entity_type: String,
    observations: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireRelation {
    from: String,
    to: String,
    relation_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSaid {
    entity_name: String,
    #[serde(alias = "observations")]
    contents: Vec<String>,
}

const ALL: [Offered; 9] = [
    Offered {
        name: "create_entities",
        title: "Create Entities",
        about: "Create multiple new entities in the knowledge graph",
        effect: Effect::Adds,
        takes: || json!({"entities": list(entity())}),
        answers: || json!({"entities": list(closed(entity()))}),
        call: create_entities,
    },
    Offered {
        name: "create_relations",
        title: "Create Relations",
        about: "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice",
        effect: Effect::Adds,
        takes: || json!({"relations": list(relation())}),
        answers: || json!({"relations": list(closed(relation()))}),
        call: create_relations,
    },
    Offered {
        name: "add_observations",
        title: "Add Observations",
        about: "Add new observations to existing entities in the knowledge graph",
        effect: Effect::Adds,
        takes: || {
            let said = object(
                json!({
                    "entityName": told("The name of the entity to add the observations to"),
                    "contents": texts("An array of observation contents to add"),
                }),
                &["entityName", "contents"],
            );
            json!({"observations": list(said)})
        },
        answers: || {
            let result = object(
                json!({
                    "entityName": {"type": "string"},
                    "addedObservations": {"type": "array", "items": {"type": "string"}},
                }),
                &["entityName", "addedObservations"],
            );
            json!({"results": list(closed(result))})
        },
        call: add_observations,
    },
    Offered {
        name: "delete_entities",
        title: "Delete Entities",
        about: "Delete multiple entities and their associated relations from the knowledge graph",
        effect: Effect::Removes,
        takes: || json!({"entityNames": texts("An array of entity names to delete")}),
        answers: success,
        call: delete_entities,
    },
    Offered {
        name: "delete_observations",
        title: "Delete Observations",
        about: "Delete specific observations from entities in the knowledge graph",
        effect: Effect::Removes,
        takes: || {
            let said = object(
                json!({
                    "entityName": told("The name of the entity containing the observations"),
                    "observations": texts("An array of observations to delete"),
                }),
                &["entityName", "observations"],
            );
            json!({"deletions": list(said)})
        },
        answers: success,
        call: delete_observations,
    },
    Offered {
        name: "delete_relations",
        title: "Delete Relations",
        about: "Delete multiple relations from the knowledge graph",
        effect: Effect::Removes,
        takes: || {
            let mut relations = list(relation());
            relations["description"] = json!("An array of relations to delete");
            json!({ "relations": relations })
        },
        answers: success,
        call: delete_relations,
    },
    Offered {
        name: "read_graph",
        title: "Read Graph",
        about: "Read the entire knowledge graph",
        effect: Effect::Reads,
        takes: || json!({}),
        answers: graph_schema,
        call: |engine, _, _| Ok(shown(&engine.graph()?)),
    },
    Offered {
        name: "search_nodes",
        title: "Search Nodes",
        about: "Search for nodes in the knowledge graph based on a query",
        effect: Effect::Reads,
        takes: || {
            let about =
                "The search query to match against entity names, types, and observation content";
            json!({"query": told(about)})
        },
        answers: graph_schema,
        call: |engine, _, mut given| {
            let query: String = taken(&mut given, "query")?;
            Ok(shown(&engine.graph()?.search(&query)))
        },
    },
    Offered {
        name: "open_nodes",
        title: "Open Nodes",
        about: "Open specific nodes in the knowledge graph by their names",
        effect: Effect::Reads,
        takes: || json!({"names": texts("An array of entity names to retrieve")}),
        answers: graph_schema,
        call: |engine, _, mut given| {
            let names: Vec<String> = taken(&mut given, "names")?;
            Ok(shown(&engine.graph()?.open(&names)))
        },
    },
];

fn told(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn texts(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

fn list(of: Value) -> Value {
    let mut schema = json!({"type": "array"});
    schema["items"] = of;
    schema
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "required": required});
    schema["properties"] = properties;
    schema
}

fn closed(mut schema: Value) -> Value {
    schema["additionalProperties"] = json!(false);
    schema
}

fn entity() -> Value {
    object(
        json!({
            "name": told("The name of the entity"),
            "entityType": told("The type of the entity"),
            "observations": texts("An array of observation contents associated with the entity"),
        }),
        &["name", "entityType", "observations"],
    )
}

fn relation() -> Value {
    object(
        json!({
            "from": told("The name of the entity where the relation starts"),
            "to": told("The name of the entity where the relation ends"),
            "relationType": told("The type of the relation"),
        }),
        &["from", "to", "relationType"],
    )
}

fn success() -> Value {
    json!({"success": {"type": "boolean"}, "message": {"type": "string"}})
}

fn graph_schema() -> Value {
    json!({"entities": list(closed(entity())), "relations": list(closed(relation()))})
}

/// The schema of an object that has all of these.
fn schema(properties: Value) -> JsonObject {
    let mut schema = JsonObject::new();
    let names = properties.as_object().into_iter().flatten();
    let names: Vec<_> = names.map(|(name, _)| name.clone()).collect();
    schema.insert(
        "$schema".to_owned(),
        json!("http://json-schema.org/draft-07/schema#"),
    );
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if !names.is_empty() {
        schema.insert("required".to_owned(), json!(names));
    }
    schema
}

fn taken<T: serde::de::DeserializeOwned>(given: &mut Value, name: &str) -> Result<T, Fault> {
    let value = given.get_mut(name).map(Value::take);
    let value = value.ok_or_else(|| Fault::usage(format!("`{name}` is missing")))?;
    serde_json::from_value(value).map_err(|error| Fault::usage(format!("`{name}`: {error}")))
}

fn relations(given: &mut Value) -> Result<Vec<Relation>, Fault> {
    let wire: Vec<WireRelation> = taken(given, "relations")?;
    let of = |wire: WireRelation| Relation {
        from: wire.from,
        to: wire.to,
        sort: wire.relation_type,
    };
    Ok(wire.into_iter().map(of).collect())
}

fn said(given: &mut Value, name: &str) -> Result<Vec<(String, Vec<String>)>, Fault> {
    let wire: Vec<WireSaid> = taken(given, name)?;
    Ok(wire
        .into_iter()
        .map(|said| (said.entity_name, said.contents))
        .collect())
}

fn create_entities(engine: &Engine, client: &str, mut given: Value) -> Result<Done, Fault> {
    let wire: Vec<WireEntity> = taken(&mut given, "entities")?;
    let of = |wire: WireEntity| Entity {
        name: wire.name,
        sort: wire.entity_type,
        observations: wire.observations,
    };
    let entities: Vec<_> = wire.into_iter().map(of).collect();
    let new = engine.graph_add_entities(&entities, client)?;
    Ok(listed("entities", new.iter().map(entity_value).collect()))
}

fn create_relations(engine: &Engine, client: &str, mut given: Value) -> Result<Done, Fault> {
    let new = engine.graph_add_relations(&relations(&mut given)?, client)?;
    Ok(listed(
        "relations",
        new.iter().map(relation_value).collect(),
    ))
}

fn add_observations(engine: &Engine, client: &str, mut given: Value) -> Result<Done, Fault> {
    let new = engine.graph_observe(&said(&mut given, "observations")?, client)?;
    let of = |(name, added): &(String, Vec<String>)| json!({"entityName": name, "addedObservations": added});
    Ok(listed("results", new.iter().map(of).collect()))
}

fn delete_entities(engine: &Engine, client: &str, mut given: Value) -> Result<Done, Fault> {
    let names: Vec<String> = taken(&mut given, "entityNames")?;
    engine.graph_remove_entities(&names, client)?;
    Ok(done("Entities deleted successfully"))
}

fn delete_observations(engine: &Engine, client: &str, mut given: Value) -> Result<Done, Fault> {
    engine.graph_remove_observations(&said(&mut given, "deletions")?, client)?;
    Ok(done("Observations deleted successfully"))
}

fn delete_relations(engine: &Engine, client: &str, mut given: Value) -> Result<Done, Fault> {
    engine.graph_remove_relations(&relations(&mut given)?, client)?;
    Ok(done("Relations deleted successfully"))
}

fn entity_value(entity: &Entity) -> Value {
    json!({"name": entity.name, "entityType": entity.sort, "observations": entity.observations})
}

fn relation_value(relation: &Relation) -> Value {
    json!({"from": relation.from, "to": relation.to, "relationType": relation.sort})
}

fn listed(name: &str, all: Vec<Value>) -> Done {
    let all = Value::Array(all);
    Done {
        text: format!("{all:#}"),
        value: json!({ name: all }),
    }
}

fn done(said: &str) -> Done {
    Done {
        text: said.to_owned(),
        value: json!({"success": true, "message": said}),
    }
}

fn graph_value(graph: &KnowledgeGraph) -> Value {
    json!({
        "entities": graph.entities.iter().map(entity_value).collect::<Value>(),
        "relations": graph.relations.iter().map(relation_value).collect::<Value>(),
    })
}

fn shown(graph: &KnowledgeGraph) -> Done {
    let value = graph_value(graph);
    Done {
        text: format!("{value:#}"),
        value,
    }
}

impl Offered {
    fn tool(&self) -> Tool {
        let hints = ToolAnnotations::new().open_world(false);
        let hints = hints
            .read_only(self.effect == Effect::Reads)
            .destructive(self.effect == Effect::Removes)
            .idempotent(self.effect != Effect::Adds);
        let mut answers = schema((self.answers)());
        answers.insert("additionalProperties".to_owned(), json!(false));
        Tool::new(self.name, self.about, Arc::new(schema((self.takes)())))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(answers))
            .with_annotations(hints)
    }
}

impl Compat {
    async fn graph(
        &self,
        context: &RequestContext<RoleServer>,
        call: impl FnOnce(&Engine, &str) -> Result<Done, Fault> + Send + 'static,
    ) -> Result<Done, Fault> {
        let source = self.0.caller(context).source;
        let asked = self.0.ask(context, move |engine| {
            call(engine, source.as_deref().unwrap_or("mcp"))
        });
        asked.await
    }
}

impl ServerHandler for Compat {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources();
        ServerConfig::new(capabilities.build()).with_server_info(
            Implementation::new("heirloom", self.0.version()).with_title("Heirloom"),
        )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (tools, next) = page(ALL.iter().map(Offered::tool).collect(), request.as_ref())?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offered) = ALL.iter().find(|offered| offered.name == request.name) else {
            let name = text::excerpt(&request.name, 60);
            let said = format!("MCP error -32602: Tool {name} not found");
            return Ok(CallToolResult::error(vec![ContentBlock::text(said)]).into());
        };
        let given = Value::Object(request.arguments.unwrap_or_default());
        let call = offered.call;
        let answered = self.graph(&context, move |engine, client| call(engine, client, given));
        let result = match answered.await {
            Ok(done) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(done.text)]);
                result.is_error = None;
                result.structured_content = Some(done.value);
                result
            }
            Err(fault) => {
                let said = text::printable(&fault.message);
                let hint = fault
                    .hint
                    .map(|hint| format!("\nhint: {}", text::printable(&hint)));
                let said = format!("{said}{}", hint.unwrap_or_default());
                CallToolResult::error(vec![ContentBlock::text(said)])
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let graph = Resource::new(GRAPH_URI, "knowledge-graph")
            .with_title("Knowledge Graph")
            .with_description("The full knowledge graph with all entities and relations")
            .with_mime_type("application/json");
        let (resources, next) = page(vec![graph], request.as_ref())?;
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != GRAPH_URI {
            let said = format!(
                "there is no resource `{}`",
                text::excerpt(&request.uri, 120)
            );
            return Err(ErrorData::resource_not_found(said, None));
        }
        let read = self
            .graph(&context, |engine, _| Ok(shown(&engine.graph()?)))
            .await;
        let read = read.map_err(|fault| ErrorData::internal_error(fault.message, None))?;
        let contents =
            ResourceContents::text(read.text, GRAPH_URI).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.look_for_roots(&context.peer, false).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.0.look_for_roots(&context.peer, true).await;
    }
}
