//! The routes of the page's server.

use super::super::items::Items;
use super::super::worker::Controller;
use super::guard::Guard;
use super::view::{PageText, looked_at, view};
use crate::error::CliError;
use halfspaces_labelling::{ActionError, UndoTarget};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The timeout for the head of a request, for its body, and for open replies after the session stops.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The placeholder of the token in [`PAGE`].
const TOKEN: &str = "{token}";
/// The reply to a browser that requests the page without the token, for instance when it reloads the page. The script
/// takes the token from the session storage of the tab, where the page stored it.
const TOKEN_PAGE: &str = "<!doctype html><title>halfspaces label</title>\
    <p>Open the address that the program printed; it contains the access token.</p>\
    <script>const token = sessionStorage.getItem('token'); if (token && !location.search) location.replace('/?token=' + token);</script>";
/// The content security policy of [`TOKEN_PAGE`], with the hash of its script.
const TOKEN_PAGE_POLICY: &str = "default-src 'none'; script-src 'sha256-glq6EHoTqu6mzfTKG+Nb4VReTbGPsP0o4e9LL5yaSk0='; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Maximum size of the body of a request in bytes.
const MAX_BODY: usize = 4096;
/// The content security policy of the page: its own script and style, images fetched by the script, and nothing from
/// elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The content security policy of an image, which may neither load nor run anything.
const IMAGE_POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

type Reply = Response<Full<Bytes>>;

/// The state shared by all requests.
#[derive(Debug)]
pub(super) struct Server {
    controller: Mutex<Controller>,
    items: Items,
    text: PageText,
    guard: Guard,
    stop: Notify,
    failure: Mutex<Option<CliError>>,
}

impl Server {
    pub(super) fn new(
        controller: Controller,
        items: Items,
        text: PageText,
        guard: Guard,
    ) -> Server {
        let (stop, failure) = (Notify::new(), Mutex::new(None));
        Server { controller: Mutex::new(controller), items, text, guard, stop, failure }
    }

    /// Waits until the session ends.
    pub(super) async fn stopped(&self) {
        self.stop.notified().await;
    }

    /// The error that ended the session; `None` if the person stopped it.
    pub(super) fn failure(&self) -> Option<CliError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn into_parts(self) -> (Controller, Items) {
        (self.controller.into_inner().unwrap_or_else(PoisonError::into_inner), self.items)
    }

    /// Locks the controller. A poisoned lock is still usable, because a handler writes its event to the disk before it
    /// can panic.
    fn controller(&self) -> MutexGuard<'_, Controller> {
        self.controller.lock().unwrap_or_else(PoisonError::into_inner)
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
            return token_page();
        }
        return error(denied.status, denied.why);
    }
    if method == Method::GET {
        return match path.as_str() {
            "/" => reply(
                StatusCode::OK,
                "text/html; charset=utf-8",
                PAGE.replace(TOKEN, server.guard.token()).into(),
            ),
            "/page.css" => reply(
                StatusCode::OK,
                "text/css; charset=utf-8",
                Bytes::from_static(STYLE.as_bytes()),
            ),
            "/page.js" => reply(
                StatusCode::OK,
                "text/javascript; charset=utf-8",
                Bytes::from_static(SCRIPT.as_bytes()),
            ),
            "/api/state" => run_blocking(move || state(&server)).await,
            _ => {
                let row = |folder: &str| path.strip_prefix(folder)?.parse().ok();
                match (row("/api/image/"), row("/api/thumbnail/"), row("/api/item/")) {
                    (Some(row), ..) => run_blocking(move || image(server.items.image(row))).await,
                    (_, Some(row), _) => {
                        run_blocking(move || image(server.items.thumbnail(row))).await
                    }
                    (.., Some(row)) => run_blocking(move || item(&server, row)).await,
                    (None, None, None) => error(StatusCode::NOT_FOUND, "not found"),
                }
            }
        };
    }
    if method != Method::POST {
        return error(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are supported");
    }
    let body = Limited::new(request.into_body(), MAX_BODY).collect();
    let body = match tokio::time::timeout(TIMEOUT, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Err(_) => return error(StatusCode::REQUEST_TIMEOUT, "the request took too long"),
        Ok(Err(_)) => {
            return error(StatusCode::BAD_REQUEST, "the request is truncated or too long");
        }
    };
    run_blocking(move || perform(&server, &path, &body)).await
}

/// Runs work on a thread of its own. The work may wait for disks or locks and must not block other requests.
async fn run_blocking(work: impl FnOnce() -> Reply + Send + 'static) -> Reply {
    match tokio::task::spawn_blocking(work).await {
        Ok(reply) => reply,
        Err(_) => error(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal error; all earlier answers are saved",
        ),
    }
}

fn perform(server: &Server, path: &str, body: &[u8]) -> Reply {
    let mut controller = server.controller();
    let done = match path {
        "/api/answer" => parse(body).and_then(|RowAndClass { row, class }| {
            // The browser repeats an answer if the reply to it was lost.
            let is_repeated = controller.record().label(row) == Some(class);
            if is_repeated { Ok(()) } else { controller.answer(row, class) }
        }),
        "/api/skip" => parse(body).and_then(|Row { row }| controller.skip(row)),
        "/api/uncertain" => parse(body).and_then(|Row { row }| controller.uncertain(row)),
        "/api/undo" => parse(body).and_then(|RowOrSequence { row, sequence }| {
            if row.or(sequence).is_none() {
                let why = "an undo needs the row or the sequence number of the action";
                return Err(ActionError::Rejected(why.to_owned()));
            }
            controller.undo(Some(UndoTarget { row, sequence }))
        }),
        "/api/change" => {
            parse(body).and_then(|RowAndClass { row, class }| controller.change(row, class))
        }
        "/api/stop" => {
            server.stop.notify_one();
            Ok(())
        }
        _ => return error(StatusCode::NOT_FOUND, "not found"),
    };
    let why = match done {
        Ok(()) => None,
        Err(ActionError::Rejected(why)) => Some((StatusCode::CONFLICT, why)),
        Err(ActionError::Failed(failure)) => {
            let why = failure.to_string();
            *server.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            server.stop.notify_one();
            Some((StatusCode::INTERNAL_SERVER_ERROR, why))
        }
    };
    let shown = serde_json::json!({
        "state": view(&controller, &server.items, &server.text),
        "error": why.as_ref().map(|(_, why)| why),
    });
    json(why.map_or(StatusCode::OK, |(status, _)| status), &shown)
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ActionError> {
    serde_json::from_slice(body)
        .map_err(|error| ActionError::Rejected(format!("invalid request: {error}")))
}

fn state(server: &Server) -> Reply {
    let mut controller = server.controller();
    controller.refresh();
    json(
        StatusCode::OK,
        &serde_json::json!({ "state": view(&controller, &server.items, &server.text) }),
    )
}

/// Replies with a row that has an answer, for a second look at it.
fn item(server: &Server, row: usize) -> Reply {
    match looked_at(&server.controller(), &server.items, row) {
        Some(looked) => json(StatusCode::OK, &serde_json::json!(looked)),
        None => error(StatusCode::NOT_FOUND, "the row has no answer"),
    }
}

fn image(read: Result<(&'static str, Vec<u8>), CliError>) -> Reply {
    match read {
        Ok((kind, bytes)) => {
            let mut reply = reply(StatusCode::OK, kind, bytes.into());
            let policy = HeaderValue::from_static(IMAGE_POLICY);
            reply.headers_mut().insert(HeaderName::from_static("content-security-policy"), policy);
            reply
        }
        Err(why) => error(StatusCode::NOT_FOUND, &why.to_string()),
    }
}

fn token_page() -> Reply {
    let body = Bytes::from_static(TOKEN_PAGE.as_bytes());
    let mut reply = reply(StatusCode::UNAUTHORIZED, "text/html; charset=utf-8", body);
    let policy = HeaderValue::from_static(TOKEN_PAGE_POLICY);
    reply.headers_mut().insert(HeaderName::from_static("content-security-policy"), policy);
    reply
}

fn error(status: StatusCode, why: &str) -> Reply {
    json(status, &serde_json::json!({ "error": why }))
}

fn json(status: StatusCode, value: &serde_json::Value) -> Reply {
    reply(status, "application/json", value.to_string().into())
}

fn reply(status: StatusCode, kind: &'static str, body: Bytes) -> Reply {
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
