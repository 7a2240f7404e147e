//! Extractor of form fields.

use super::PageError;
use crate::App;
use axum::Form;
use axum::extract::{FromRequest, Request};
use heirloom_model::Fault;

/// Fields of a form.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormFields(Vec<(String, String)>);

impl FromRequest<App> for FormFields {
    type Rejection = PageError;

    async fn from_request(request: Request, app: &App) -> Result<Self, PageError> {
        let form = Form::<Vec<(String, String)>>::from_request(request, app).await;
        let Form(pairs) = form.map_err(|error| Fault::usage(error.body_text()))?;
        Ok(Self(pairs))
    }
}

impl FormFields {
    /// Returns a trimmed field, of a repeated one the last value; empty if it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Returns a field as it was typed, of a repeated one the last value.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.values(name).last().unwrap_or_default()
    }

    /// Returns all values of a repeated field, in the order of the form.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(one, _)| one == name);
        named.map(|(_, value)| value.as_str())
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
