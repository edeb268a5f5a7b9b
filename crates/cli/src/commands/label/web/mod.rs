//! Labelling in a browser: a page of this machine's, served to this machine alone.

mod guard;
mod routes;
mod view;

use super::desk::Desk;
use super::items::Items;
use crate::error::CliError;
use crate::output::note;
use guard::Guard;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use routes::{PATIENCE, Server, respond};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpListener;

/// Serves the page until the person stops, and hands back the session.
pub(super) fn run(
    desk: Desk,
    items: Items,
    pool: String,
    port: u16,
) -> Result<(Desk, Items), CliError> {
    let failed = |error: std::io::Error| CliError::system(format!("the page's server: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(failed)?;
    let server = runtime.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await;
        let listener = listener.map_err(|error| {
            CliError::user(format!(
                "--port {port}: {error}; another port may be free, 0 takes any that is"
            ))
        })?;
        let port = listener.local_addr().map_err(failed)?.port();
        let guard = Guard::new(port)
            .map_err(|error| CliError::system(format!("no random token: {error}")))?;
        note(&format!("open {}", guard.address()));
        let server = Arc::new(Server::new(desk, items, pool, guard));
        serve(&listener, &server).await?;
        Ok::<_, CliError>(server)
    })?;
    // Waits for work that a reply has left behind.
    drop(runtime);
    match Arc::try_unwrap(server) {
        Ok(server) => Ok(server.into_parts()),
        Err(_) => unreachable!("the runtime is gone, and all connections with it"),
    }
}

async fn serve(listener: &TcpListener, server: &Arc<Server>) -> Result<(), CliError> {
    let connections = GracefulShutdown::new();
    let mut stopped = pin!(server.stopped());
    loop {
        let next = poll_fn(|context| match stopped.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => listener.poll_accept(context).map(Some),
        });
        let Some(accepted) = next.await else { break };
        // A connection that ends before it is accepted is no fault of the server.
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let theirs = Arc::clone(server);
        let service = service_fn(move |request| {
            let server = Arc::clone(&theirs);
            async move { Ok::<_, Infallible>(respond(server, request).await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
        let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A browser that goes away in the middle is none either.
            let _ = connection.await;
        });
    }
    // What is still under way after that is given up; every answer is on the disk.
    let _ = tokio::time::timeout(PATIENCE, connections.shutdown()).await;
    server.fault().map_or(Ok(()), Err)
}
