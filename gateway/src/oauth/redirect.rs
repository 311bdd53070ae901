//! The loopback port that the browser is redirected to.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

use super::error::OAuthError;

const PATH: &str = "/callback";
/// Codes and states have some hundred bytes; a request line may have a few thousand.
const MAX_REQUEST_BYTES: usize = 16 * 1024;
const MAX_REQUEST_TIME: Duration = Duration::from_secs(10);

/// The parameters of a successful redirect.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    pub(super) code: String,
    pub(super) issuer: Option<String>,
}

/// Listens on the loopback address only, which other machines cannot reach.
#[derive(Debug)]
pub(super) struct RedirectListener {
    listener: TcpListener,
    port: u16,
}

impl RedirectListener {
    /// `port` 0 takes a free one; a client that was registered by hand may need a fixed one.
    pub(super) async fn bind(port: u16) -> Result<Self, OAuthError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(OAuthError::Listen)?;
        let port = listener.local_addr().map_err(OAuthError::Listen)?.port();
        Ok(Self { listener, port })
    }

    /// The redirect URI.
    pub(super) fn uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the redirect with `state`.
    ///
    /// Any page in the browser can send requests here, so one with another state gets an error and
    /// is otherwise ignored: it must neither log in nor end the login. Connections are served
    /// concurrently, because browsers open some that they never use.
    pub(super) async fn redirect(
        self,
        state: &str,
        wait: Duration,
    ) -> Result<Redirect, OAuthError> {
        let mut ignored = 0;
        timeout(wait, self.first_redirect(state, &mut ignored))
            .await
            .unwrap_or(Err(OAuthError::NoAnswer {
                waited: wait,
                ignored,
            }))
    }

    async fn first_redirect(&self, state: &str, ignored: &mut u32) -> Result<Redirect, OAuthError> {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted.map_err(OAuthError::Listen)?;
                    let state = state.to_owned();
                    connections.spawn(timeout(MAX_REQUEST_TIME, serve(stream, state)));
                }
                Some(served) = connections.join_next() => match served {
                    Ok(Ok(Request::Redirect(answer))) => return answer,
                    Ok(Ok(Request::Foreign)) => *ignored += 1,
                    Ok(Ok(Request::Unrelated) | Err(_)) | Err(_) => {}
                },
            }
        }
    }
}

/// The kind of a request.
enum Request {
    Redirect(Result<Redirect, OAuthError>),
    /// A redirect of another login.
    Foreign,
    /// A favicon, a port scan, an incomplete request.
    Unrelated,
}

async fn serve(mut stream: TcpStream, state: String) -> Request {
    let Some(target) = read_target(&mut stream).await else {
        return Request::Unrelated;
    };
    let request = classify(&target, &state);
    let (status, text) = match &request {
        Request::Redirect(Ok(_)) => ("200 OK", "You are logged in. You can close this window."),
        Request::Redirect(Err(_)) => (
            "200 OK",
            "The login was refused. The terminal says more; you can close this window.",
        ),
        Request::Foreign => (
            "400 Bad Request",
            "This redirect does not belong to the login that is waiting here.",
        ),
        Request::Unrelated => ("404 Not Found", "There is nothing here."),
    };
    let body = format!("<!doctype html><meta charset=\"utf-8\"><title>pml</title><p>{text}</p>\n");
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    // The login does not depend on whether the browser reads the page.
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
    request
}

/// The target of a GET request, after its whole head was read.
async fn read_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut chunk).await.ok()?;
        if read == 0 || head.len() + read > MAX_REQUEST_BYTES {
            return None;
        }
        head.extend_from_slice(&chunk[..read]);
    }
    let head = std::str::from_utf8(&head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next()? == "GET").then_some(())?;
    words.next().map(str::to_owned)
}

fn classify(target: &str, state: &str) -> Request {
    let Ok(url) = Url::parse("http://127.0.0.1").and_then(|base| base.join(target)) else {
        return Request::Unrelated;
    };
    if url.path() != PATH {
        return Request::Unrelated;
    }
    let parameter = |name: &str| {
        url.query_pairs()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    };
    if parameter("state").as_deref() != Some(state) {
        return Request::Foreign;
    }
    if let Some(error) = parameter("error") {
        return Request::Redirect(Err(OAuthError::Refused {
            error,
            description: parameter("error_description"),
        }));
    }
    match parameter("code") {
        Some(code) => Request::Redirect(Ok(Redirect {
            code,
            issuer: parameter("iss"),
        })),
        None => Request::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(10);

    async fn get(uri: &str) -> String {
        let url = Url::parse(uri).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", url.port().unwrap()))
            .await
            .unwrap();
        let request = format!(
            "GET {}?{} HTTP/1.1\r\nhost: x\r\n\r\n",
            url.path(),
            url.query().unwrap_or_default()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    #[tokio::test]
    async fn the_redirect_with_the_right_state_is_accepted() {
        let listener = RedirectListener::bind(0).await.unwrap();
        let uri = listener.uri();
        let answer = tokio::spawn(listener.redirect("s1", WAIT));
        let page = get(&format!("{uri}?code=c%201&state=s1&iss=https%3A%2F%2Fas")).await;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        assert_eq!(
            answer.await.unwrap().unwrap(),
            Redirect {
                code: "c 1".into(),
                issuer: Some("https://as".into())
            }
        );
    }

    #[tokio::test]
    async fn a_wrong_state_neither_logs_in_nor_ends_the_login() {
        let listener = RedirectListener::bind(0).await.unwrap();
        let uri = listener.uri();
        let answer = tokio::spawn(listener.redirect("right", WAIT));
        assert!(
            get(&format!("{uri}?code=evil&state=wrong"))
                .await
                .starts_with("HTTP/1.1 400")
        );
        assert!(
            get(&format!("{uri}?code=evil"))
                .await
                .starts_with("HTTP/1.1 400")
        );
        assert!(
            get(&format!("{uri}?error=access_denied&state=wrong"))
                .await
                .starts_with("HTTP/1.1 400")
        );
        get(&format!("{uri}?code=good&state=right")).await;
        assert_eq!(answer.await.unwrap().unwrap().code, "good");
    }

    #[tokio::test]
    async fn a_timeout_reports_how_many_redirects_were_ignored() {
        let listener = RedirectListener::bind(0).await.unwrap();
        let uri = listener.uri();
        let answer = tokio::spawn(listener.redirect("right", Duration::from_millis(300)));
        get(&format!("{uri}?code=evil&state=wrong")).await;
        match answer.await.unwrap() {
            Err(OAuthError::NoAnswer { ignored: 1, .. }) => {}
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_refusal_is_an_error_with_its_reason() {
        let listener = RedirectListener::bind(0).await.unwrap();
        let uri = listener.uri();
        let answer = tokio::spawn(listener.redirect("s", WAIT));
        get(&format!(
            "{uri}?error=access_denied&error_description=not+today&state=s"
        ))
        .await;
        let message = answer.await.unwrap().unwrap_err().to_string();
        assert_eq!(message, "the login was refused: access_denied (not today)");
    }

    #[tokio::test]
    async fn idle_connections_and_other_pages_do_not_delay_the_redirect() {
        let listener = RedirectListener::bind(0).await.unwrap();
        let uri = listener.uri();
        let idle = TcpStream::connect(uri.trim_start_matches("http://").trim_end_matches(PATH))
            .await
            .unwrap();
        let answer = tokio::spawn(listener.redirect("s", WAIT));
        let favicon = get(&uri.replace(PATH, "/favicon.ico")).await;
        assert!(favicon.starts_with("HTTP/1.1 404"), "{favicon}");
        get(&format!("{uri}?code=c&state=s")).await;
        assert_eq!(answer.await.unwrap().unwrap().code, "c");
        drop(idle);
    }
}
