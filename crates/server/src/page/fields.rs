//! What a form sent.

use super::Wrong;
use crate::App;
use axum::Form;
use axum::extract::{FromRequest, Request};
use heirloom_model::Fault;
use std::collections::HashMap;

/// The fields of a form, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(HashMap<String, String>);

impl FromRequest<App> for Fields {
    type Rejection = Wrong;

    async fn from_request(request: Request, app: &App) -> Result<Self, Wrong> {
        let form = Form::<Vec<(String, String)>>::from_request(request, app).await;
        let Form(pairs) = form.map_err(|error| Fault::usage(error.body_text()))?;
        Ok(Self(pairs.into_iter().collect()))
    }
}

impl Fields {
    /// What a field says, without space around it; nothing if it is not there.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }

    /// What a field says, as it was typed.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// What a field says, unless it is empty.
    pub(crate) fn some(&self, name: &str) -> Option<String> {
        let value = self.get(name);
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// Where the form wants to go back to.
    pub(crate) fn back(&self, otherwise: &str) -> String {
        match self.get("back") {
            "" => otherwise.to_owned(),
            back => super::look::local(back),
        }
    }
}
