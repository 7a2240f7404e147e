//! `heirloom serve`.

use super::run::interrupt_flag;
use crate::open::Session;
use crate::serving::Serving;
use heirloom_model::Fault;
use heirloom_server::{App, Listening, Options, router, serve};
use serde_json::json;
use std::sync::atomic::Ordering;

/// Answer the HTTP API and the page, on this machine only, until Ctrl-C
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address to listen on
    #[arg(long, value_name = "H", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 7717)]
    port: u16,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let stop = interrupt_flag()?;
    drop(session.open()?);
    let options = Options {
        version: env!("CARGO_PKG_VERSION"),
    };
    let app = App::new(Box::new(Serving::new(session)), options);
    let listening = Listening::bind(&args.host, args.port)?;
    let address = format!("http://{}", listening.address());
    if session.out.json {
        session.out.value(&json!({"listening": address}));
    } else {
        session.out.line(&format!("listening on {address}"));
    }
    session.out.flush();
    serve(listening, router(app), move || stop.load(Ordering::Relaxed))?;
    Ok(0)
}
