//! What each request is answered.

use super::super::desk::{Desk, Meant, Refusal};
use super::super::items::Items;
use super::guard::Guard;
use super::view::view;
use crate::error::CliError;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The time for a request's head to arrive, for its body to arrive, and for replies once the session stops.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Stands for the token in [`PAGE`].
const TOKEN: &str = "{token}";
/// The answer to a browser that asks for the page without the token, as when it is loaded again: the page had kept it for
/// this tab.
const ASK_AGAIN: &str = "<!doctype html><title>halfspaces label</title>\
    <p>Open the address that the program printed: it has the token.</p>\
    <script>const token = sessionStorage.getItem('token'); if (token && !location.search) location.replace('/?token=' + token);</script>";
/// With the hash of the script of [`ASK_AGAIN`].
const ASK_AGAIN_POLICY: &str = "default-src 'none'; script-src 'sha256-glq6EHoTqu6mzfTKG+Nb4VReTbGPsP0o4e9LL5yaSk0='; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Bytes of a request's body at most.
const MAX_BODY: usize = 4096;
/// The page loads its own script and style, shows images that its script has fetched, and nothing from anywhere else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// An image does nothing at all.
const IMAGE_POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

type Reply = Response<Full<Bytes>>;

#[derive(Debug)]
pub(super) struct Server {
    desk: Mutex<Desk>,
    items: Items,
    pool: String,
    guard: Guard,
    stop: Notify,
    fault: Mutex<Option<CliError>>,
}

impl Server {
    pub(super) fn new(desk: Desk, items: Items, pool: String, guard: Guard) -> Server {
        let (stop, fault) = (Notify::new(), Mutex::new(None));
        Server { desk: Mutex::new(desk), items, pool, guard, stop, fault }
    }

    pub(super) async fn stopped(&self) {
        self.stop.notified().await;
    }

    /// What ended the session, if it was not the person.
    pub(super) fn fault(&self) -> Option<CliError> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn into_parts(self) -> (Desk, Items) {
        (self.desk.into_inner().unwrap_or_else(PoisonError::into_inner), self.items)
    }

    /// A handler that panicked has shown its message; what it has changed is on the disk first.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowAndClass {
    row: usize,
    class: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    row: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowOrSequence {
    row: Option<usize>,
    sequence: Option<usize>,
}

pub(super) async fn respond(server: Arc<Server>, request: Request<Incoming>) -> Reply {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    if let Err(denied) = server.guard.check(&method, request.uri(), request.headers()) {
        let is_page = method == Method::GET && path == "/";
        let is_browser = is_page && !request.headers().contains_key(AUTHORIZATION);
        if denied.status == StatusCode::UNAUTHORIZED && is_browser {
            return ask_again();
        }
        return error(denied.status, denied.why);
    }
    if method == Method::GET {
        return match path.as_str() {
            "/" => of_kind(
                StatusCode::OK,
                "text/html; charset=utf-8",
                PAGE.replace(TOKEN, server.guard.token()).into(),
            ),
            "/page.css" => of_kind(
                StatusCode::OK,
                "text/css; charset=utf-8",
                Bytes::from_static(STYLE.as_bytes()),
            ),
            "/page.js" => of_kind(
                StatusCode::OK,
                "text/javascript; charset=utf-8",
                Bytes::from_static(SCRIPT.as_bytes()),
            ),
            "/api/state" => on_a_thread(move || state(&server)).await,
            _ => match path.strip_prefix("/api/image/").and_then(|row| row.parse().ok()) {
                Some(row) => on_a_thread(move || image(&server, row)).await,
                None => error(StatusCode::NOT_FOUND, "there is nothing of that name"),
            },
        };
    }
    if method != Method::POST {
        return error(StatusCode::METHOD_NOT_ALLOWED, "GET and POST are understood");
    }
    let body = Limited::new(request.into_body(), MAX_BODY).collect();
    let body = match tokio::time::timeout(PATIENCE, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Err(_) => return error(StatusCode::REQUEST_TIMEOUT, "the request takes too long"),
        Ok(Err(_)) => return error(StatusCode::BAD_REQUEST, "the request is cut off or too long"),
    };
    on_a_thread(move || change(&server, &path, &body)).await
}

/// Disks and locks are waited for where no other request is kept waiting.
async fn on_a_thread(work: impl FnOnce() -> Reply + Send + 'static) -> Reply {
    match tokio::task::spawn_blocking(work).await {
        Ok(reply) => reply,
        Err(_) => error(
            StatusCode::INTERNAL_SERVER_ERROR,
            "a fault of the program; answers given are kept",
        ),
    }
}

fn change(server: &Server, path: &str, body: &[u8]) -> Reply {
    let mut desk = server.desk();
    let done = match path {
        "/api/answer" => parse(body).and_then(|RowAndClass { row, class }| {
            // The reply to an answer may be lost on its way, and the answer sent again.
            let again = desk.record().label(row) == Some(class);
            if again { Ok(()) } else { desk.answer(row, class) }
        }),
        "/api/skip" => parse(body).and_then(|Row { row }| desk.skip(row)),
        "/api/undo" => parse(body).and_then(|RowOrSequence { row, sequence }| {
            if row.or(sequence).is_none() {
                let why = "name the row or the sequence number of what is to be taken back";
                return Err(Refusal::Unfit(why.to_owned()));
            }
            desk.undo(Some(Meant { row, sequence }))
        }),
        "/api/change" => parse(body).and_then(|RowAndClass { row, class }| desk.change(row, class)),
        "/api/stop" => {
            server.stop.notify_one();
            Ok(())
        }
        _ => return error(StatusCode::NOT_FOUND, "there is nothing of that name"),
    };
    let why = match done {
        Ok(()) => None,
        Err(Refusal::Unfit(why)) => Some((StatusCode::CONFLICT, why)),
        Err(Refusal::Failed(failure)) => {
            let why = failure.to_string();
            *server.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            server.stop.notify_one();
            Some((StatusCode::INTERNAL_SERVER_ERROR, why))
        }
    };
    let shown = serde_json::json!({
        "state": view(&desk, &server.items, &server.pool),
        "error": why.as_ref().map(|(_, why)| why),
    });
    json(why.map_or(StatusCode::OK, |(status, _)| status), &shown)
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body)
        .map_err(|error| Refusal::Unfit(format!("the request is not understood: {error}")))
}

fn state(server: &Server) -> Reply {
    let mut desk = server.desk();
    desk.refresh();
    json(StatusCode::OK, &serde_json::json!({ "state": view(&desk, &server.items, &server.pool) }))
}

fn image(server: &Server, row: usize) -> Reply {
    match server.items.image(row) {
        Ok((kind, bytes)) => {
            let mut reply = of_kind(StatusCode::OK, kind, bytes.into());
            let policy = HeaderValue::from_static(IMAGE_POLICY);
            reply.headers_mut().insert(HeaderName::from_static("content-security-policy"), policy);
            let keep = HeaderValue::from_static("private, max-age=3600");
            reply.headers_mut().insert(CACHE_CONTROL, keep);
            reply
        }
        Err(why) => error(StatusCode::NOT_FOUND, &why.to_string()),
    }
}

fn ask_again() -> Reply {
    let body = Bytes::from_static(ASK_AGAIN.as_bytes());
    let mut reply = of_kind(StatusCode::UNAUTHORIZED, "text/html; charset=utf-8", body);
    let policy = HeaderValue::from_static(ASK_AGAIN_POLICY);
    reply.headers_mut().insert(HeaderName::from_static("content-security-policy"), policy);
    reply
}

fn error(status: StatusCode, why: &str) -> Reply {
    json(status, &serde_json::json!({ "error": why }))
}

fn json(status: StatusCode, value: &serde_json::Value) -> Reply {
    of_kind(status, "application/json", value.to_string().into())
}

fn of_kind(status: StatusCode, kind: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in [
        ("cache-control", "no-store"),
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    reply
}
