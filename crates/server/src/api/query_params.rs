//! Query parameters of requests, with checked names.

use super::field_checks::check_field;
use crate::Problem;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

/// Query parameters, with checked names.
pub(super) struct QueryParams<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        for (name, value) in pairs.map_or_else(|_| Vec::new(), |pairs| pairs.0) {
            check_field(&name, &value)?;
        }
        let Query(params) = Query::<T>::from_request_parts(parts, state).await.map_err(
            |rejected: QueryRejection| {
                Problem::new(StatusCode::BAD_REQUEST, rejected.body_text())
                    .hint("/openapi.json describes the accepted values")
            },
        )?;
        Ok(Self(params))
    }
}

/// Query with only a project.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ProjectQuery {
    /// The project; by default the token's project or the served one.
    pub(super) project: Option<String>,
}

/// Query for the newest items.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct NewestQuery {
    /// The project; by default the token's project or the served one.
    pub(super) project: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    pub(super) limit: Option<usize>,
}
