//! Lists, page by page.

use crate::errors::Error;
use crate::operations::Operation;
use crate::transport::Transport;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::{fmt, vec};

/// Items of a page: the maximum of the API.
const PAGE_ITEMS: &str = "1000";

/// Page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// Cursor of the next page; `None` on the last one.
    pub(crate) next: Option<String>,
}

/// Items of a list, which is read page by page. It ends after an error.
pub struct Items<T> {
    transport: Transport,
    operation: &'static Operation,
    id: Option<String>,
    query: Vec<(&'static str, String)>,
    page: vec::IntoIter<T>,
    /// `None` after the last page; the first page has no cursor.
    cursor: Option<Option<String>>,
}

impl<T> Items<T> {
    /// Creates a list without reading it.
    pub(crate) fn new(
        transport: Transport,
        operation: &'static Operation,
        id: Option<String>,
        query: Vec<(&'static str, String)>,
        cursor: Option<String>,
    ) -> Self {
        Self {
            transport,
            operation,
            id,
            query,
            page: Vec::new().into_iter(),
            cursor: Some(cursor),
        }
    }
}

impl<T: DeserializeOwned> Iterator for Items<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.page.next() {
                return Some(Ok(item));
            }
            let cursor = self.cursor.take()?;
            let mut query = self.query.clone();
            query.push(("limit", PAGE_ITEMS.to_owned()));
            query.extend(cursor.map(|cursor| ("cursor", cursor)));
            let id = self.id.as_deref();
            match self.transport.call::<Page<T>>(self.operation, id, &query) {
                Ok(page) => {
                    self.page = page.items.into_iter();
                    self.cursor = page.next.map(Some);
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("path", &self.operation.path)
            .finish_non_exhaustive()
    }
}
