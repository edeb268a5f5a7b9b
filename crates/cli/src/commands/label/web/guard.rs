//! Access control of the page's server: only requests that come from this server's own page and carry the token are
//! accepted.
//!
//! There is no cookie, because browsers send cookies to all ports of a machine. The page stores the token and sends it
//! in a header.

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Method, StatusCode, Uri};

/// Length of a token in bytes.
const TOKEN_BYTES: usize = 16;

/// Checks requests: their host, origin, token and content type.
#[derive(Debug)]
pub(super) struct Guard {
    token: String,
    port: u16,
}

/// The reason why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Denied {
    pub(super) status: StatusCode,
    pub(super) why: &'static str,
}

impl Denied {
    const fn new(status: StatusCode, why: &'static str) -> Denied {
        Denied { status, why }
    }
}

/// The files of the page. A browser requests them without the header, so the token is in their address.
const PAGE_FILES: [&str; 3] = ["/", "/page.css", "/page.js"];

impl Guard {
    pub(super) fn new(port: u16) -> Result<Guard, getrandom::Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Guard { token, port })
    }

    /// The address to open in the browser.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// The token, for the page.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Accepts a request, or returns the reason why it is refused.
    pub(super) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), Denied> {
        let one = |name: &HeaderName| {
            let mut values = headers.get_all(name).iter();
            let value = values.next().map(|value| value.to_str().unwrap_or("\u{fffd}"));
            // A header that occurs twice is invalid.
            if values.next().is_some() { Some("\u{fffd}") } else { value }
        };
        // In a DNS-rebinding attack, the header contains a foreign host name that resolves to this machine.
        let host = one(&HOST).unwrap_or("");
        let ours = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !ours.iter().any(|name| name == host) {
            return Err(Denied::new(
                StatusCode::MISDIRECTED_REQUEST,
                "this server can be reached only as 127.0.0.1 or localhost",
            ));
        }
        const FOREIGN: Denied =
            Denied::new(StatusCode::FORBIDDEN, "the request comes from another page");
        let origin = one(&ORIGIN);
        if origin.is_some_and(|origin| origin != format!("http://{host}")) {
            return Err(FOREIGN);
        }
        let site = one(&HeaderName::from_static("sec-fetch-site"));
        if site.is_some_and(|site| site != "same-origin" && site != "none") {
            return Err(FOREIGN);
        }
        const UNKNOWN: Denied = Denied::new(
            StatusCode::UNAUTHORIZED,
            "open the address that the program printed; it contains the access token",
        );
        let authorization = one(&AUTHORIZATION);
        let shows_token = match authorization {
            Some(given) => given.strip_prefix("Bearer ").is_some_and(|token| self.is_token(token)),
            None => method == Method::GET && self.is_in_address(uri),
        };
        if !shows_token {
            return Err(UNKNOWN);
        }
        if method == Method::GET {
            return Ok(());
        }
        // A form on another page can send requests without the permission of this server, but not as JSON.
        if one(&CONTENT_TYPE).is_none_or(|kind| kind.split(';').next() != Some("application/json"))
        {
            return Err(Denied::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "only application/json is supported",
            ));
        }
        Ok(())
    }

    /// Whether the address names a file of the page and contains the token.
    fn is_in_address(&self, uri: &Uri) -> bool {
        let mut query =
            uri.query().unwrap_or("").split('&').filter_map(|pair| pair.split_once('='));
        PAGE_FILES.contains(&uri.path())
            && query.any(|(name, value)| name == "token" && self.is_token(value))
    }

    /// Compares the token in constant time, so that the duration reveals nothing about the token.
    fn is_token(&self, given: &str) -> bool {
        let (a, b) = (self.token.as_bytes(), given.as_bytes());
        a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (x, y)| differ | (x ^ y)) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard { token: "0123abcd".into(), port: 8000 }
    }

    fn check(method: Method, path: &str, headers: &[(&str, &str)]) -> Result<(), u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        guard()
            .check(&method, &path.parse().unwrap(), &map)
            .map_err(|denied| denied.status.as_u16())
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:8000");
    const BEARER: (&str, &str) = ("authorization", "Bearer 0123abcd");
    const JSON: (&str, &str) = ("content-type", "application/json");
    const OWN: (&str, &str) = ("origin", "http://127.0.0.1:8000");

    #[test]
    fn the_token_is_needed() {
        let get = |path: &str, headers: &[(&str, &str)]| check(Method::GET, path, headers);
        for path in ["/", "/page.js", "/page.css"] {
            assert_eq!(get(path, &[HERE]), Err(401));
            assert_eq!(get(&format!("{path}?token=0123abce"), &[HERE]), Err(401));
            assert_eq!(get(&format!("{path}?token=0123abc"), &[HERE]), Err(401));
            assert_eq!(get(&format!("{path}?token="), &[HERE]), Err(401));
            assert_eq!(get(&format!("{path}?token=0123abcd"), &[HERE]), Ok(()));
        }
        for path in ["/api/state?token=0123abcd", "/api/image/0?token=0123abcd"] {
            assert_eq!(
                get(path, &[HERE]),
                Err(401),
                "only files of the page accept it in the address"
            );
        }
        assert_eq!(get("/api/state", &[HERE, BEARER]), Ok(()));
        let cookie = ("cookie", "halfspaces-label-8000=0123abcd");
        assert_eq!(get("/api/state", &[HERE, cookie]), Err(401), "cookies are ignored");
        assert_eq!(get("/api/state", &[HERE, ("authorization", "Bearer no")]), Err(401));
        assert_eq!(get("/?token=0123abcd", &[HERE, ("authorization", "Bearer no")]), Err(401));
    }

    #[test]
    fn other_hosts_and_origins_are_refused() {
        for host in [
            "evil.example:8000",
            "127.0.0.1",
            "127.0.0.1:8001",
            "localhost:8000.evil.example",
            "0.0.0.0:8000",
        ] {
            let headers = [("host", host), BEARER];
            assert_eq!(check(Method::GET, "/api/state", &headers), Err(421), "{host}");
        }
        assert_eq!(check(Method::GET, "/api/state", &[BEARER]), Err(421), "no host");
        assert_eq!(check(Method::GET, "/api/state", &[HERE, HERE, BEARER]), Err(421), "two hosts");
        assert_eq!(check(Method::GET, "/", &[("host", "localhost:8000"), BEARER]), Ok(()));
        for origin in [
            "http://evil.example",
            "null",
            "https://127.0.0.1:8000",
            "http://127.0.0.1:8001",
            "http://localhost:8000",
        ] {
            for method in [Method::GET, Method::POST] {
                let headers = [HERE, BEARER, JSON, ("origin", origin)];
                assert_eq!(check(method, "/api/answer", &headers), Err(403), "{origin}");
            }
        }
        for site in ["cross-site", "same-site"] {
            let headers = [HERE, BEARER, ("sec-fetch-site", site)];
            assert_eq!(check(Method::GET, "/api/state", &headers), Err(403));
        }
        assert_eq!(check(Method::GET, "/", &[HERE, BEARER, ("sec-fetch-site", "none")]), Ok(()));
    }

    #[test]
    fn post_requests_need_json_and_the_token_in_a_header() {
        let post = |headers: &[(&str, &str)]| check(Method::POST, "/api/answer", headers);
        assert_eq!(post(&[HERE, BEARER, JSON, OWN]), Ok(()));
        assert_eq!(post(&[HERE, BEARER, JSON]), Ok(()), "a script");
        assert_eq!(post(&[HERE, BEARER, OWN]), Err(415));
        assert_eq!(post(&[HERE, BEARER, OWN, ("content-type", "text/plain")]), Err(415));
        assert_eq!(post(&[HERE, JSON, OWN]), Err(401));
        assert_eq!(check(Method::POST, "/?token=0123abcd", &[HERE, JSON, OWN]), Err(401));
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (a, b) = (Guard::new(1).unwrap(), Guard::new(1).unwrap());
        assert_eq!(a.token.len(), 2 * TOKEN_BYTES);
        assert_ne!(a.token, b.token);
        assert!(a.address().ends_with(&a.token));
    }
}
