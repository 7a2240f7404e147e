//! Operations of the surfaces for agents: knowledge graph, and recall by agents.

use crate::table::Again::{Nothing, Refused};
use crate::table::Leaves::AllOrNothing;
use crate::table::{Operation, filled, row};
use crate::world::World;
use heirloom_engine::RecallRequest;
use heirloom_formats::knowledge_graph::{Entity, Relation};
use heirloom_model::Fault;

/// Writes by agents.
pub(crate) fn writes() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole(
            "forget_as",
            filled,
            |w| {
                w.engine
                    .records()
                    .forget_as(w.named("old"), "user")
                    .map(drop)
            },
            Refused,
        ),
        whole(
            "graph_add_entities",
            filled,
            |w| {
                w.engine
                    .graph()
                    .add_entities(&[entity("Shop")], "a")
                    .map(drop)
            },
            Nothing,
        ),
        whole(
            "graph_add_relations",
            create_graph,
            |w| {
                let new = [relation("Db", "Shop")];
                w.engine.graph().add_relations(&new, "a").map(drop)
            },
            Nothing,
        ),
        whole(
            "graph_observe",
            create_graph,
            |w| {
                w.engine
                    .graph()
                    .add_observations(&output("Shop", "more"), "a")
                    .map(drop)
            },
            Nothing,
        ),
        whole(
            "graph_remove_entities",
            create_graph,
            |w| w.engine.graph().remove_entities(&["Shop".to_owned()], "a"),
            Nothing,
        ),
        whole(
            "graph_remove_observations",
            create_graph,
            |w| {
                w.engine
                    .graph()
                    .remove_observations(&output("Shop", "first"), "a")
            },
            Nothing,
        ),
        whole(
            "graph_remove_relations",
            create_graph,
            |w| {
                w.engine
                    .graph()
                    .remove_relations(&[relation("Shop", "Db")], "a")
            },
            Nothing,
        ),
    ]
}

/// Reads by agents.
pub(crate) fn reads() -> Vec<Operation> {
    let reads = |name, act| row(name, create_graph, act, AllOrNothing, Nothing);
    vec![
        reads("graph", |w| w.engine.graph().read().map(drop)),
        reads("recall_all", |w| {
            let request = RecallRequest {
                question: "what is the shop".to_owned(),
                ..RecallRequest::default()
            };
            w.engine.recall().search_all(&request).map(drop)
        }),
    ]
}

fn entity(name: &str) -> Entity {
    Entity {
        name: name.to_owned(),
        entity_type: "Service".to_owned(),
        observations: vec!["first".to_owned()],
    }
}

fn relation(from: &str, to: &str) -> Relation {
    Relation {
        from: from.to_owned(),
        to: to.to_owned(),
        relation_type: "uses".to_owned(),
    }
}

fn output(name: &str, words: &str) -> Vec<(String, Vec<String>)> {
    vec![(name.to_owned(), vec![words.to_owned()])]
}

fn create_graph(w: &World) -> Result<(), Fault> {
    let entities = [entity("Shop"), entity("Db")];
    w.engine.graph().add_entities(&entities, "a")?;
    let relations = [relation("Shop", "Db")];
    w.engine.graph().add_relations(&relations, "a").map(drop)
}
