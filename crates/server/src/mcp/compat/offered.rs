//! The tools: their names, their schemas, and what they do to the graph.

use heirloom_engine::Engine;
use heirloom_engine::graph::{Entity, KnowledgeGraph, Relation};
use heirloom_model::Fault;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// What a tool does to the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Adds,
    Removes,
}

/// A tool: its name, title, what it is for, the schemas of what it takes and answers.
pub(super) struct Offered {
    pub(super) name: &'static str,
    title: &'static str,
    about: &'static str,
    effect: Effect,
    takes: fn() -> Value,
    answers: fn() -> Value,
    pub(super) call: fn(&Engine, &str, Value) -> Result<Done, Fault>,
}

/// What a tool answers: as text, and as a value.
pub(super) struct Done {
    pub(super) text: String,
    pub(super) value: Value,
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

/// The tools, in the order in which they are listed.
pub(super) const ALL: [Offered; 9] = [
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

/// A graph as an answer.
pub(super) fn shown(graph: &KnowledgeGraph) -> Done {
    let value = graph_value(graph);
    Done {
        text: format!("{value:#}"),
        value,
    }
}

impl Offered {
    /// It as it is listed.
    pub(super) fn tool(&self) -> Tool {
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
