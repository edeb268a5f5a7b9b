//! Who may talk to the page's server: a browser on this machine that was given the token, on a page of this server.

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Method, StatusCode, Uri};

/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// What a request must bring.
#[derive(Debug)]
pub(super) struct Guard {
    token: String,
    port: u16,
}

/// Why a request is refused.
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

/// How a request that is let in has shown its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// In the address, as the first request of a browser does; it is answered with a cookie.
    Address,
    /// In a cookie or a header.
    Granted,
}

impl Guard {
    pub(super) fn new(port: u16) -> Result<Guard, getrandom::Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Guard { token, port })
    }

    /// What a person opens.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// The cookie that stands for the token. Cookies know no ports, so its name does.
    pub(super) fn cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.token)
    }

    fn cookie_name(&self) -> String {
        format!("halfspaces-label-{}", self.port)
    }

    /// Lets a request in or says why not.
    pub(super) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Access, Denied> {
        let one = |name: &HeaderName| {
            let mut values = headers.get_all(name).iter();
            let value = values.next().map(|value| value.to_str().unwrap_or("\u{fffd}"));
            // Two of a kind are nobody's honest request.
            if values.next().is_some() { Some("\u{fffd}") } else { value }
        };
        // A name that was made to point here (DNS rebinding) stands in the host.
        let host = one(&HOST).unwrap_or("");
        let ours = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !ours.iter().any(|name| name == host) {
            return Err(Denied::new(
                StatusCode::MISDIRECTED_REQUEST,
                "this server answers to 127.0.0.1 and localhost only",
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
        let access = self.access(uri, one(&COOKIE), one(&AUTHORIZATION));
        const UNKNOWN: Denied = Denied::new(
            StatusCode::UNAUTHORIZED,
            "open the address that the program printed: it has the token",
        );
        let access = access.ok_or(UNKNOWN)?;
        if method == Method::GET {
            return Ok(access);
        }
        if access == Access::Address {
            return Err(UNKNOWN);
        }
        // What a form of another page could send without asking is no JSON; browsers say where a cookie comes from.
        if one(&CONTENT_TYPE).is_none_or(|kind| kind.split(';').next() != Some("application/json"))
        {
            return Err(Denied::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "application/json is understood, nothing else",
            ));
        }
        if origin.is_none() && one(&AUTHORIZATION).is_none() {
            return Err(FOREIGN);
        }
        Ok(access)
    }

    fn access(
        &self,
        uri: &Uri,
        cookie: Option<&str>,
        authorization: Option<&str>,
    ) -> Option<Access> {
        if let Some(given) = authorization {
            let token = given.strip_prefix("Bearer ")?;
            return self.is_token(token).then_some(Access::Granted);
        }
        let mut pairs =
            cookie.unwrap_or("").split(';').filter_map(|pair| pair.trim().split_once('='));
        if pairs.any(|(name, value)| name == self.cookie_name() && self.is_token(value)) {
            return Some(Access::Granted);
        }
        let mut query =
            uri.query().unwrap_or("").split('&').filter_map(|pair| pair.split_once('='));
        let told =
            uri.path() == "/" && query.any(|(name, value)| name == "token" && self.is_token(value));
        told.then_some(Access::Address)
    }

    /// In a time that does not tell how much of it was right.
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

    fn check(method: Method, path: &str, headers: &[(&str, &str)]) -> Result<Access, u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        guard()
            .check(&method, &path.parse().unwrap(), &map)
            .map_err(|denied| denied.status.as_u16())
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:8000");
    const COOKIE: (&str, &str) = ("cookie", "other=1; halfspaces-label-8000=0123abcd");
    const JSON: (&str, &str) = ("content-type", "application/json");
    const OWN: (&str, &str) = ("origin", "http://127.0.0.1:8000");

    #[test]
    fn the_token_is_needed() {
        let get = |path, headers: &[(&str, &str)]| check(Method::GET, path, headers);
        assert_eq!(get("/", &[HERE]), Err(401));
        assert_eq!(get("/?token=0123abce", &[HERE]), Err(401));
        assert_eq!(get("/?token=0123abc", &[HERE]), Err(401));
        assert_eq!(get("/?token=", &[HERE]), Err(401));
        assert_eq!(get("/?token=0123abcd", &[HERE]), Ok(Access::Address));
        assert_eq!(
            get("/api/state?token=0123abcd", &[HERE]),
            Err(401),
            "only the page takes it in the address"
        );
        assert_eq!(get("/api/state", &[HERE, COOKIE]), Ok(Access::Granted));
        assert_eq!(
            get("/api/state", &[HERE, ("cookie", "halfspaces-label-8001=0123abcd")]),
            Err(401)
        );
        assert_eq!(
            get("/api/state", &[HERE, ("authorization", "Bearer 0123abcd")]),
            Ok(Access::Granted)
        );
        assert_eq!(get("/api/state", &[HERE, ("authorization", "Bearer no")]), Err(401));
        assert_eq!(get("/api/state", &[HERE, ("authorization", "Bearer no"), COOKIE]), Err(401));
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
            assert_eq!(
                check(Method::GET, "/api/state", &[("host", host), COOKIE]),
                Err(421),
                "{host}"
            );
        }
        assert_eq!(check(Method::GET, "/api/state", &[COOKIE]), Err(421), "no host");
        assert_eq!(check(Method::GET, "/api/state", &[HERE, HERE, COOKIE]), Err(421), "two hosts");
        assert_eq!(
            check(Method::GET, "/", &[("host", "localhost:8000"), COOKIE]),
            Ok(Access::Granted)
        );
        for origin in [
            "http://evil.example",
            "null",
            "https://127.0.0.1:8000",
            "http://127.0.0.1:8001",
            "http://localhost:8000",
        ] {
            for method in [Method::GET, Method::POST] {
                let headers = [HERE, COOKIE, JSON, ("origin", origin)];
                assert_eq!(check(method, "/api/answer", &headers), Err(403), "{origin}");
            }
        }
        for site in ["cross-site", "same-site"] {
            assert_eq!(
                check(Method::GET, "/api/state", &[HERE, COOKIE, ("sec-fetch-site", site)]),
                Err(403)
            );
        }
        assert_eq!(
            check(Method::GET, "/", &[HERE, COOKIE, ("sec-fetch-site", "none")]),
            Ok(Access::Granted)
        );
    }

    #[test]
    fn what_changes_something_is_json_from_our_page() {
        let post = |headers: &[(&str, &str)]| check(Method::POST, "/api/answer", headers);
        assert_eq!(post(&[HERE, COOKIE, JSON, OWN]), Ok(Access::Granted));
        assert_eq!(post(&[HERE, COOKIE, JSON]), Err(403), "a cookie without its origin");
        assert_eq!(post(&[HERE, COOKIE, OWN]), Err(415));
        assert_eq!(post(&[HERE, COOKIE, OWN, ("content-type", "text/plain")]), Err(415));
        assert_eq!(post(&[HERE, JSON, OWN]), Err(401));
        assert_eq!(
            post(&[HERE, JSON, ("authorization", "Bearer 0123abcd")]),
            Ok(Access::Granted),
            "a script"
        );
        assert_eq!(check(Method::POST, "/?token=0123abcd", &[HERE, JSON, OWN]), Err(401));
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (a, b) = (Guard::new(1).unwrap(), Guard::new(1).unwrap());
        assert_eq!(a.token.len(), 2 * TOKEN_BYTES);
        assert_ne!(a.token, b.token);
        assert!(
            a.address().ends_with(&a.token) && a.cookie().contains("HttpOnly; SameSite=Strict")
        );
    }
}
