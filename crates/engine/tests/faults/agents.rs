//! What the surfaces that serve agents do to the store: the knowledge graph, and memory asked by others than a person.

use crate::table::Again::{Nothing, Refused};
use crate::table::Leaves::AllOrNothing;
use crate::table::{Operation, filled, row};
use crate::world::World;
use heirloom_engine::RecallRequest;
use heirloom_engine::graph::{Entity, Relation};
use heirloom_model::Fault;

/// What agents write.
pub(crate) fn writes() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole(
            "forget_for",
            filled,
            |w| w.engine.forget_for(w.named("old"), "user").map(drop),
            Refused,
        ),
        whole(
            "graph_add_entities",
            filled,
            |w| {
                w.engine
                    .graph_add_entities(&[entity("Shop")], "a")
                    .map(drop)
            },
            Nothing,
        ),
        whole(
            "graph_add_relations",
            a_graph,
            |w| {
                let new = [relation("Db", "Shop")];
                w.engine.graph_add_relations(&new, "a").map(drop)
            },
            Nothing,
        ),
        whole(
            "graph_observe",
            a_graph,
            |w| w.engine.graph_observe(&said("Shop", "more"), "a").map(drop),
            Nothing,
        ),
        whole(
            "graph_remove_entities",
            a_graph,
            |w| w.engine.graph_remove_entities(&["Shop".to_owned()], "a"),
            Nothing,
        ),
        whole(
            "graph_remove_observations",
            a_graph,
            |w| {
                w.engine
                    .graph_remove_observations(&said("Shop", "first"), "a")
            },
            Nothing,
        ),
        whole(
            "graph_remove_relations",
            a_graph,
            |w| {
                w.engine
                    .graph_remove_relations(&[relation("Shop", "Db")], "a")
            },
            Nothing,
        ),
    ]
}

/// What agents read.
pub(crate) fn reads() -> Vec<Operation> {
    let reads = |name, act| row(name, a_graph, act, AllOrNothing, Nothing);
    vec![
        reads("graph", |w| w.engine.graph().map(drop)),
        reads("recall_all", |w| {
            let request = RecallRequest {
                question: "what is the shop".to_owned(),
                ..RecallRequest::default()
            };
            w.engine.recall_all(&request).map(drop)
        }),
    ]
}

fn entity(name: &str) -> Entity {
    Entity {
        name: name.to_owned(),
        sort: "Service".to_owned(),
        observations: vec!["first".to_owned()],
    }
}

fn relation(from: &str, to: &str) -> Relation {
    Relation {
        from: from.to_owned(),
        to: to.to_owned(),
        sort: "uses".to_owned(),
    }
}

fn said(name: &str, words: &str) -> Vec<(String, Vec<String>)> {
    vec![(name.to_owned(), vec![words.to_owned()])]
}

fn a_graph(w: &World) -> Result<(), Fault> {
    let entities = [entity("Shop"), entity("Db")];
    w.engine.graph_add_entities(&entities, "a")?;
    let relations = [relation("Shop", "Db")];
    w.engine.graph_add_relations(&relations, "a").map(drop)
}
