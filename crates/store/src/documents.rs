//! Documents of a store on a database server: small texts that all machines share, such as the access tokens.

use crate::StoreError;

/// Storage of documents by name, each with a version that counts its changes.
pub trait DocumentStore {
    /// Returns the version of a document; `None` if it does not exist.
    fn document_version(&self, name: &str) -> Result<Option<i64>, StoreError>;

    /// Returns the version and the text of a document; `None` if it does not exist.
    fn document(&self, name: &str) -> Result<Option<(i64, String)>, StoreError>;

    /// Replaces the version `expected` of a document, or creates it if that is `None`. Returns false, and changes nothing,
    /// if the document has another version.
    fn replace_document(
        &self,
        name: &str,
        expected: Option<i64>,
        text: &str,
    ) -> Result<bool, StoreError>;
}
