//! What holds for every route, laid over the description that the routes give of themselves.

use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Content, OpenApi, PathItem, Ref, RefOr, ResponseBuilder};
use utoipa::{PartialSchema, openapi};

/// An error as RFC 9457 has it.
#[derive(Debug, Serialize, ToSchema)]
struct ProblemDocument {
    /// Always `about:blank`: the status says what sort it is.
    r#type: String,
    title: String,
    status: u16,
    /// What went wrong, and where.
    detail: String,
    /// What to do next.
    hint: Option<String>,
}

/// Adds what every operation may answer, and how clients say who they are.
pub(super) fn complete(document: &mut OpenApi, version: &str) {
    document.info = openapi::Info::new("Heirloom", version);
    document.info.description =
        Some("What one session learns, the next inherits: memory for coding agents.".to_owned());
    let components = document.components.get_or_insert_with(Components::new);
    components
        .schemas
        .insert("ProblemDocument".to_owned(), ProblemDocument::schema());
    components.add_security_scheme(
        "token",
        SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
    );
    let none: [&str; 0] = [];
    document.security = Some(vec![SecurityRequirement::new("token", none)]);
    for item in document.paths.paths.values_mut() {
        operations(item).for_each(answer_with_problems);
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let all = [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
    ];
    all.into_iter().filter_map(Option::as_mut)
}

fn answer_with_problems(operation: &mut Operation) {
    let schema = Ref::from_schema_name("ProblemDocument");
    let content = Content::new(Some(RefOr::Ref(schema)));
    let problem = ResponseBuilder::new()
        .description("What went wrong, and what to do next")
        .content("application/problem+json", content)
        .build();
    for status in [
        "400", "401", "403", "404", "405", "408", "409", "412", "413", "415", "422", "500", "503",
        "507",
    ] {
        let responses = &mut operation.responses.responses;
        responses
            .entry(status.to_owned())
            .or_insert_with(|| problem.clone().into());
    }
}
