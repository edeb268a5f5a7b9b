//! Labelling in a browser: serves a page to this machine only.

mod guard;
mod routes;
mod view;

use super::items::Items;
use super::worker::Controller;
use crate::error::CliError;
use crate::output::note;
use guard::Guard;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use routes::{Server, TIMEOUT, respond};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpListener;
pub(super) use view::PageText;

/// Serves the page until the person stops, then returns the session.
pub(super) fn run(
    controller: Controller,
    items: Items,
    text: PageText,
    port: u16,
) -> Result<(Controller, Items), CliError> {
    let failed = |error: std::io::Error| CliError::system(format!("web server: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(failed)?;
    let server = runtime.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await;
        let listener = listener.map_err(|error| {
            CliError::user(format!(
                "--port {port}: {error}; try another port, or 0 for any free port"
            ))
        })?;
        let port = listener.local_addr().map_err(failed)?.port();
        let guard = Guard::new(port)
            .map_err(|error| CliError::system(format!("cannot create a random token: {error}")))?;
        note(&format!("open {}", guard.address()));
        let server = Arc::new(Server::new(controller, items, text, guard));
        serve(&listener, &server).await?;
        Ok::<_, CliError>(server)
    })?;
    // Waits for tasks that are still running.
    drop(runtime);
    match Arc::try_unwrap(server) {
        Ok(server) => Ok(server.into_parts()),
        Err(_) => unreachable!("the runtime and all its connections are dropped"),
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
        // A connection that is closed before it is accepted is not an error of the server.
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let server_of_service = Arc::clone(server);
        let service = service_fn(move |request| {
            let server = Arc::clone(&server_of_service);
            async move { Ok::<_, Infallible>(respond(server, request).await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(TIMEOUT);
        let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A browser that disconnects in the middle of a request is not an error either.
            let _ = connection.await;
        });
    }
    // Open requests are abandoned after the timeout; every answer is on the disk.
    let _ = tokio::time::timeout(TIMEOUT, connections.shutdown()).await;
    server.failure().map_or(Ok(()), Err)
}
