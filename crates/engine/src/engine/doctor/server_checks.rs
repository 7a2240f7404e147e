//! Checks of a memory on a database server.

use super::{Doctor, HealthCheck};
use heirloom_model::Fault;
use heirloom_store::Store;
use std::sync::Arc;

impl Doctor {
    /// Runs the checks of a memory on a database server, and of the files in the project's folder. The content of the
    /// database is checked by the server's own tools.
    pub(super) fn examine_server(
        &self,
        server: &Result<Arc<dyn Store>, Fault>,
    ) -> Vec<HealthCheck> {
        vec![
            server_check(server),
            self.permissions(),
            self.leftover_check(),
            self.disk(0),
            self.check_clock(None),
            self.config(),
        ]
    }
}

/// Checks that the server answers and has the tables of this version.
fn server_check(server: &Result<Arc<dyn Store>, Fault>) -> HealthCheck {
    let described = match server {
        Ok(store) => store.describe().map_err(Fault::from),
        Err(fault) => Err(fault.clone()),
    };
    match described {
        Ok(found) => HealthCheck::ok(
            "database",
            format!(
                "{}, {} MB, schema {}",
                found.location,
                found.size_bytes / 1_000_000,
                found.schema_version
            ),
        ),
        Err(fault) => {
            let mut check = HealthCheck::bad("database", fault.message);
            check.hint = fault.hint;
            check
        }
    }
}
