//! Extractor of form fields.

use super::PageError;
use crate::App;
use axum::Form;
use axum::extract::{FromRequest, Request};
use heirloom_model::Fault;
use std::collections::HashMap;

/// Fields of a form; of a repeated field the last value.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormFields(HashMap<String, String>);

impl FromRequest<App> for FormFields {
    type Rejection = PageError;

    async fn from_request(request: Request, app: &App) -> Result<Self, PageError> {
        let form = Form::<Vec<(String, String)>>::from_request(request, app).await;
        let Form(pairs) = form.map_err(|error| Fault::usage(error.body_text()))?;
        Ok(Self(pairs.into_iter().collect()))
    }
}

impl FormFields {
    /// Returns a trimmed field; empty if it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }

    /// Returns a field as it was typed.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Returns a trimmed field that is not empty.
    pub(crate) fn non_empty(&self, name: &str) -> Option<String> {
        let value = self.get(name);
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// Returns the path to which the form returns.
    pub(crate) fn return_path(&self, otherwise: &str) -> String {
        match self.get("back") {
            "" => otherwise.to_owned(),
            back => super::request_context::local_path(back),
        }
    }
}
