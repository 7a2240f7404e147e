//! Tools of the reference server: names, schemas, and their effect on the graph.

use heirloom_engine::Engine;
use heirloom_formats::knowledge_graph::{Entity, KnowledgeGraph, Relation};
use heirloom_model::Fault;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Effect of a tool on the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Adds,
    Removes,
}

/// Definition of a tool: name, title, description, input and output schema.
pub(super) struct CompatTool {
    pub(super) name: &'static str,
    title: &'static str,
    about: &'static str,
    effect: Effect,
    input_properties: fn() -> Value,
    output_properties: fn() -> Value,
    pub(super) call: fn(&Engine, &str, Value) -> Result<ToolOutput, Fault>,
}

/// Output of a tool, as text and as a value.
pub(super) struct ToolOutput {
    pub(super) text: String,
    pub(super) value: Value,
}

/// An entity; answers keep this order of fields.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct WireEntity {
    name: String,
    entity_type: String,
    observations: Vec<String>,
}

/// A relation; answers keep this order of fields.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct WireRelation {
    from: String,
    to: String,
    relation_type: String,
}

/// A graph in an answer.
#[derive(Serialize)]
struct WireGraph {
    entities: Vec<WireEntity>,
    relations: Vec<WireRelation>,
}

/// Observations that were added to an entity, in an answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedObservations {
    entity_name: String,
    added_observations: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireObservations {
    entity_name: String,
    #[serde(alias = "observations")]
    contents: Vec<String>,
}

/// All tools, in listing order.
pub(super) const ALL: [CompatTool; 9] = [
    CompatTool {
        name: "create_entities",
        title: "Create Entities",
        about: "Create multiple new entities in the knowledge graph",
        effect: Effect::Adds,
        input_properties: || json!({"entities": array_schema(entity())}),
        output_properties: || json!({"entities": array_schema(closed_schema(entity()))}),
        call: create_entities,
    },
    CompatTool {
        name: "create_relations",
        title: "Create Relations",
        about: "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice",
        effect: Effect::Adds,
        input_properties: || json!({"relations": array_schema(relation())}),
        output_properties: || json!({"relations": array_schema(closed_schema(relation()))}),
        call: create_relations,
    },
    CompatTool {
        name: "add_observations",
        title: "Add Observations",
        about: "Add new observations to existing entities in the knowledge graph",
        effect: Effect::Adds,
        input_properties: || {
            let item = object_schema(
                json!({
                    "entityName": string_schema("The name of the entity to add the observations to"),
                    "contents": string_list_schema("An array of observation contents to add"),
                }),
                &["entityName", "contents"],
            );
            json!({"observations": array_schema(item)})
        },
        output_properties: || {
            let result = object_schema(
                json!({
                    "entityName": {"type": "string"},
                    "addedObservations": {"type": "array", "items": {"type": "string"}},
                }),
                &["entityName", "addedObservations"],
            );
            json!({"results": array_schema(closed_schema(result))})
        },
        call: add_observations,
    },
    CompatTool {
        name: "delete_entities",
        title: "Delete Entities",
        about: "Delete multiple entities and their associated relations from the knowledge graph",
        effect: Effect::Removes,
        input_properties: || json!({"entityNames": string_list_schema("An array of entity names to delete")}),
        output_properties: success,
        call: delete_entities,
    },
    CompatTool {
        name: "delete_observations",
        title: "Delete Observations",
        about: "Delete specific observations from entities in the knowledge graph",
        effect: Effect::Removes,
        input_properties: || {
            let item = object_schema(
                json!({
                    "entityName": string_schema("The name of the entity containing the observations"),
                    "observations": string_list_schema("An array of observations to delete"),
                }),
                &["entityName", "observations"],
            );
            json!({"deletions": array_schema(item)})
        },
        output_properties: success,
        call: delete_observations,
    },
    CompatTool {
        name: "delete_relations",
        title: "Delete Relations",
        about: "Delete multiple relations from the knowledge graph",
        effect: Effect::Removes,
        input_properties: || {
            let mut relations = array_schema(relation());
            relations["description"] = json!("An array of relations to delete");
            json!({ "relations": relations })
        },
        output_properties: success,
        call: delete_relations,
    },
    CompatTool {
        name: "read_graph",
        title: "Read Graph",
        about: "Read the entire knowledge graph",
        effect: Effect::Reads,
        input_properties: || json!({}),
        output_properties: graph_schema,
        call: |engine, _, _| graph_output(&engine.graph().read()?),
    },
    CompatTool {
        name: "search_nodes",
        title: "Search Nodes",
        about: "Search for nodes in the knowledge graph based on a query",
        effect: Effect::Reads,
        input_properties: || {
            let about =
                "The search query to match against entity names, types, and observation content";
            json!({"query": string_schema(about)})
        },
        output_properties: graph_schema,
        call: |engine, _, mut given| {
            let query: String = take_argument(&mut given, "query")?;
            graph_output(&engine.graph().read()?.search(&query))
        },
    },
    CompatTool {
        name: "open_nodes",
        title: "Open Nodes",
        about: "Open specific nodes in the knowledge graph by their names",
        effect: Effect::Reads,
        input_properties: || json!({"names": string_list_schema("An array of entity names to retrieve")}),
        output_properties: graph_schema,
        call: |engine, _, mut given| {
            let names: Vec<String> = take_argument(&mut given, "names")?;
            graph_output(&engine.graph().read()?.open(&names))
        },
    },
];

fn string_schema(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn string_list_schema(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

fn array_schema(of: Value) -> Value {
    let mut schema = json!({"type": "array"});
    schema["items"] = of;
    schema
}

fn object_schema(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "required": required});
    schema["properties"] = properties;
    schema
}

fn closed_schema(mut schema: Value) -> Value {
    schema["additionalProperties"] = json!(false);
    schema
}

fn entity() -> Value {
    object_schema(
        json!({
            "name": string_schema("The name of the entity"),
            "entityType": string_schema("The type of the entity"),
            "observations": string_list_schema("An array of observation contents associated with the entity"),
        }),
        &["name", "entityType", "observations"],
    )
}

fn relation() -> Value {
    object_schema(
        json!({
            "from": string_schema("The name of the entity where the relation starts"),
            "to": string_schema("The name of the entity where the relation ends"),
            "relationType": string_schema("The type of the relation"),
        }),
        &["from", "to", "relationType"],
    )
}

fn success() -> Value {
    json!({"success": {"type": "boolean"}, "message": {"type": "string"}})
}

fn graph_schema() -> Value {
    json!({"entities": array_schema(closed_schema(entity())), "relations": array_schema(closed_schema(relation()))})
}

/// Returns the schema of an object with these required properties.
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

fn take_argument<T: serde::de::DeserializeOwned>(
    given: &mut Value,
    name: &str,
) -> Result<T, Fault> {
    let value = given.get_mut(name).map(Value::take);
    let value = value.ok_or_else(|| Fault::usage(format!("`{name}` is missing")))?;
    serde_json::from_value(value).map_err(|error| Fault::usage(format!("`{name}`: {error}")))
}

fn relations(given: &mut Value) -> Result<Vec<Relation>, Fault> {
    let wire: Vec<WireRelation> = take_argument(given, "relations")?;
    let of = |wire: WireRelation| Relation {
        from: wire.from,
        to: wire.to,
        relation_type: wire.relation_type,
    };
    Ok(wire.into_iter().map(of).collect())
}

fn take_observations(given: &mut Value, name: &str) -> Result<Vec<(String, Vec<String>)>, Fault> {
    let wire: Vec<WireObservations> = take_argument(given, name)?;
    Ok(wire
        .into_iter()
        .map(|item| (item.entity_name, item.contents))
        .collect())
}

fn create_entities(engine: &Engine, client: &str, mut given: Value) -> Result<ToolOutput, Fault> {
    let wire: Vec<WireEntity> = take_argument(&mut given, "entities")?;
    let of = |wire: WireEntity| Entity {
        name: wire.name,
        entity_type: wire.entity_type,
        observations: wire.observations,
    };
    let entities: Vec<_> = wire.into_iter().map(of).collect();
    let new = engine.graph().add_entities(&entities, client)?;
    list_output("entities", &new.iter().map(wire_entity).collect::<Vec<_>>())
}

fn create_relations(engine: &Engine, client: &str, mut given: Value) -> Result<ToolOutput, Fault> {
    let new = engine
        .graph()
        .add_relations(&relations(&mut given)?, client)?;
    list_output(
        "relations",
        &new.iter().map(wire_relation).collect::<Vec<_>>(),
    )
}

fn add_observations(engine: &Engine, client: &str, mut given: Value) -> Result<ToolOutput, Fault> {
    let new = engine
        .graph()
        .add_observations(&take_observations(&mut given, "observations")?, client)?;
    let of = |(name, added): (String, Vec<String>)| AddedObservations {
        entity_name: name,
        added_observations: added,
    };
    list_output("results", &new.into_iter().map(of).collect::<Vec<_>>())
}

fn delete_entities(engine: &Engine, client: &str, mut given: Value) -> Result<ToolOutput, Fault> {
    let names: Vec<String> = take_argument(&mut given, "entityNames")?;
    engine.graph().remove_entities(&names, client)?;
    Ok(success_output("Entities deleted successfully"))
}

fn delete_observations(
    engine: &Engine,
    client: &str,
    mut given: Value,
) -> Result<ToolOutput, Fault> {
    engine
        .graph()
        .remove_observations(&take_observations(&mut given, "deletions")?, client)?;
    Ok(success_output("Observations deleted successfully"))
}

fn delete_relations(engine: &Engine, client: &str, mut given: Value) -> Result<ToolOutput, Fault> {
    engine
        .graph()
        .remove_relations(&relations(&mut given)?, client)?;
    Ok(success_output("Relations deleted successfully"))
}

fn wire_entity(entity: &Entity) -> WireEntity {
    WireEntity {
        name: entity.name.clone(),
        entity_type: entity.entity_type.clone(),
        observations: entity.observations.clone(),
    }
}

fn wire_relation(relation: &Relation) -> WireRelation {
    WireRelation {
        from: relation.from.clone(),
        to: relation.to.clone(),
        relation_type: relation.relation_type.clone(),
    }
}

fn list_output<T: Serialize>(name: &str, all: &[T]) -> Result<ToolOutput, Fault> {
    Ok(ToolOutput {
        text: pretty(&all)?,
        value: json!({ name: all }),
    })
}

/// Formats JSON as the reference server does: two spaces of indentation, fields in order.
fn pretty(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string_pretty(value).map_err(|error| Fault::failed(error.to_string()))
}

fn success_output(message: &str) -> ToolOutput {
    ToolOutput {
        text: message.to_owned(),
        value: json!({"success": true, "message": message}),
    }
}

/// Converts a graph to the output of a tool.
pub(super) fn graph_output(graph: &KnowledgeGraph) -> Result<ToolOutput, Fault> {
    let wire = WireGraph {
        entities: graph.entities.iter().map(wire_entity).collect(),
        relations: graph.relations.iter().map(wire_relation).collect(),
    };
    Ok(ToolOutput {
        text: pretty(&wire)?,
        value: json!(wire),
    })
}

impl CompatTool {
    /// Returns the tool as MCP lists it.
    pub(super) fn tool(&self) -> Tool {
        let hints = ToolAnnotations::new().open_world(false);
        let hints = hints
            .read_only(self.effect == Effect::Reads)
            .destructive(self.effect == Effect::Removes)
            .idempotent(self.effect != Effect::Adds);
        let mut answers = schema((self.output_properties)());
        answers.insert("additionalProperties".to_owned(), json!(false));
        Tool::new(
            self.name,
            self.about,
            Arc::new(schema((self.input_properties)())),
        )
        .with_title(self.title)
        .with_raw_output_schema(Arc::new(answers))
        .with_annotations(hints)
    }
}
