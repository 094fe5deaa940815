//! Behaviour against real servers on loopback. Proves that
//!
//! - passing failures are tried again, others are not, and `Retry-After` is followed or given back;
//! - no call outlives its deadline, and none accepts more bytes than allowed;
//! - addresses are checked after resolving, on redirects too;
//! - keys reach only the origin they were meant for, and no error shows them;
//! - lines and events are read as the standard says, whatever the server sends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::Deadline;
use proptest::prelude::*;
use testkit::loopback::{Loopback, Reply};

use crate::{Client, Config, Error, Reach, Request, RetryPolicy, Secret, ServerEvent};

fn quick() -> Config {
    Config {
        retry: RetryPolicy {
            max_attempts: 3,
            first_wait: Duration::from_millis(1),
            longest_wait: Duration::from_millis(2),
        },
        reach: Reach::Anywhere,
        ..Config::careful()
    }
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// A server that fails the first requests with a status.
fn failing(n_failures: usize, status: u16, headers: &[(&str, &str)]) -> Loopback {
    let n_seen = AtomicUsize::new(0);
    let headers: Vec<(String, String)> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Loopback::start(move |_| {
        if n_seen.fetch_add(1, Ordering::Relaxed) < n_failures {
            let mut reply = Reply::status(status, "not now");
            for (name, value) in &headers {
                reply = reply.with_header(name, value);
            }
            reply
        } else {
            Reply::ok("fine")
        }
    })
}

#[track_caller]
fn check_attempts(server: &Loopback, expected_status: Option<u16>, expected_attempts: usize) {
    let request = Request::get(&server.url("/")).unwrap();
    let received = match Client::new(quick()).send(&request, &soon()) {
        Ok(_) => None,
        Err(Error::Status { status, .. }) => Some(status),
        Err(error) => panic!("unexpected: {error}"),
    };
    assert_eq!(received, expected_status);
    assert_eq!(server.requests().len(), expected_attempts);
}

#[test]
fn passing_failures_are_tried_again() {
    check_attempts(&failing(0, 500, &[]), None, 1);
    check_attempts(&failing(1, 500, &[]), None, 2);
    check_attempts(&failing(2, 429, &[]), None, 3);
    check_attempts(&failing(2, 503, &[("retry-after", "0")]), None, 3);
    check_attempts(&failing(3, 502, &[]), Some(502), 3);
    check_attempts(&failing(9, 400, &[]), Some(400), 1);
    check_attempts(&failing(9, 401, &[]), Some(401), 1);
    check_attempts(&failing(9, 404, &[("retry-after", "0")]), Some(404), 1);
}

#[test]
fn a_wait_that_is_too_long_is_given_back() {
    let server = failing(9, 429, &[("retry-after", "3600")]);
    let request = Request::get(&server.url("/")).unwrap();
    let error = Client::new(quick()).send(&request, &soon()).unwrap_err();
    assert!(matches!(error, Error::ComeBackLater { status: 429, seconds: 3600, .. }), "{error}");
    assert!(error.is_passing());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_broken_connection_is_tried_again() {
    let n_seen = AtomicUsize::new(0);
    let server = Loopback::start(move |_| match n_seen.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::Raw(Vec::new()),
        1 => Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec()),
        _ => Reply::ok("whole"),
    });
    let request = Request::get(&server.url("/")).unwrap();
    let response = Client::new(quick()).send(&request, &soon()).unwrap();
    assert_eq!(response.body, b"whole");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn garbage_is_an_error_and_not_an_answer() {
    let server = Loopback::start(|_| Reply::Raw(b"\x00\xff\xfe nonsense\r\n\r\n".to_vec()));
    let request = Request::get(&server.url("/")).unwrap();
    let error = Client::new(quick()).send(&request, &soon()).unwrap_err();
    assert!(matches!(error, Error::Transport { .. }), "{error}");
}

#[test]
fn no_call_outlives_its_deadline() {
    let server = Loopback::start(|_| Reply::Hang);
    let request = Request::get(&server.url("/")).unwrap();
    let deadline = Deadline::after(Duration::from_millis(100));
    let error = Client::new(quick()).send(&request, &deadline).unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");

    let cancelled = soon();
    cancelled.cancel();
    let error = Client::new(quick()).send(&request, &cancelled).unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
}

#[test]
fn a_stream_that_stops_half_way_ends_with_the_deadline() {
    // The head promises more than the body brings, and the connection stays open.
    let server = Loopback::start(|seen| match seen.path.as_str() {
        "/" => Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\none\ntwo".to_vec()),
        _ => Reply::Hang,
    });
    let request = Request::get(&server.url("/")).unwrap();
    let stream = Client::new(quick()).stream(&request, &soon()).unwrap();
    let lines: Vec<_> = stream.lines().collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].as_deref().unwrap(), "one");
    assert!(lines[1].is_err());
}

#[test]
fn a_body_over_the_limit_is_refused() {
    let server = Loopback::start(|_| Reply::ok(vec![b'x'; 1000]));
    let request = Request::get(&server.url("/")).unwrap();
    let send = |max_response_bytes| {
        Client::new(Config { max_response_bytes, ..quick() }).send(&request, &soon())
    };
    assert_eq!(send(1000).unwrap().body.len(), 1000);
    let error = send(999).unwrap_err();
    assert!(matches!(error, Error::TooLarge { allowed: 999, .. }), "{error}");
    let stream = Client::new(Config { max_response_bytes: 999, ..quick() })
        .stream(&request, &soon())
        .unwrap();
    let error = stream.lines().last().unwrap().unwrap_err();
    assert!(matches!(error, Error::TooLarge { allowed: 999, .. }), "{error}");
}

#[test]
fn a_line_that_never_ends_is_refused() {
    let server = Loopback::start(|_| Reply::ok(vec![b'x'; 5000]));
    let request = Request::get(&server.url("/")).unwrap();
    let client = Client::new(Config { max_line_bytes: 100, ..quick() });
    let error = client.stream(&request, &soon()).unwrap().lines().last().unwrap().unwrap_err();
    assert!(matches!(error, Error::TooLarge { allowed: 100, .. }), "{error}");
}

#[test]
fn loopback_is_refused_unless_it_is_named() {
    let server = Loopback::start(|_| Reply::ok("inside"));
    let send = |reach, url: &str| {
        Client::new(Config { reach, ..quick() }).send(&Request::get(url).unwrap(), &soon())
    };
    let url = server.url("/");
    let error = send(Reach::PublicOnly, &url).unwrap_err();
    assert!(matches!(error, Error::AddressNotAllowed { .. }), "{error}");
    let by_name = url.replace("127.0.0.1", "localhost");
    let error = send(Reach::PublicOnly, &by_name).unwrap_err();
    assert!(matches!(error, Error::AddressNotAllowed { .. }), "{error}");
    assert!(server.requests().is_empty());
    assert_eq!(send(Reach::public_and_host_of(&url), &url).unwrap().body, b"inside");
}

#[test]
fn a_redirect_cannot_lead_inside() {
    let inside = Loopback::start(|_| Reply::ok("secret"));
    // The same server by another name: only `localhost` is allowed, the redirect goes elsewhere.
    let target = inside.url("/");
    let outside = Loopback::start(move |_| Reply::status(302, "").with_header("location", &target));
    let url = outside.url("/").replace("127.0.0.1", "localhost");
    let client = Client::new(Config { reach: Reach::public_and_host_of(&url), ..quick() });
    let error = client.send(&Request::get(&url).unwrap(), &soon()).unwrap_err();
    assert!(matches!(error, Error::AddressNotAllowed { .. }), "{error}");
    assert!(inside.requests().is_empty());
}

#[test]
fn redirects_are_followed_and_counted() {
    let server = Loopback::start(|seen| match seen.path.as_str() {
        "/old" => Reply::status(301, "").with_header("location", "/new").with_header("x-sum", "7"),
        "/new" => Reply::ok("here"),
        "/post" => Reply::status(307, "").with_header("location", "/echo"),
        "/echo" => Reply::ok(seen.body.clone()),
        "/nowhere" => Reply::status(302, ""),
        _ => Reply::status(302, "").with_header("location", "/loop"),
    });
    let client = Client::new(quick());
    let get = |path: &str| client.send(&Request::get(&server.url(path)).unwrap(), &soon());
    assert_eq!(get("/old").unwrap().body, b"here");
    assert!(matches!(get("/loop").unwrap_err(), Error::Redirect { .. }));
    assert!(matches!(get("/nowhere").unwrap_err(), Error::Redirect { .. }));
    let post = Request::post_json(&server.url("/post"), &"body").unwrap();
    assert_eq!(client.send(&post, &soon()).unwrap().body, b"\"body\"");
    let old = Request::get(&server.url("/old")).unwrap();
    let stream = client.stream(&old, &soon()).unwrap();
    assert_eq!((stream.header("x-sum"), stream.header_on_the_way("x-sum")), (None, Some("7")));
}

#[test]
fn keys_and_bodies_stay_with_their_origin() {
    let other = Loopback::start(|_| Reply::ok("other"));
    let target = other.url("/");
    let server = Loopback::start(move |_| Reply::status(302, "").with_header("location", &target));
    let key = Secret::new("sk-hidden");
    let request = Request::get(&server.url("/")).unwrap().bearer(&key);
    Client::new(quick()).send(&request, &soon()).unwrap();
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer sk-hidden"));
    assert_eq!(other.requests()[0].header("authorization"), None);

    let post = Request::post_json(&server.url("/"), &"body").unwrap();
    assert!(matches!(Client::new(quick()).send(&post, &soon()), Err(Error::Redirect { .. })));
}

#[test]
fn no_error_shows_a_key() {
    let server = Loopback::start(|seen| {
        Reply::status(401, format!("wrong key {}", seen.header("authorization").unwrap()))
    });
    let request =
        Request::get(&server.url("/?key=sk-hidden")).unwrap().bearer(&Secret::new("sk-hidden"));
    let error = Client::new(quick()).send(&request, &soon()).unwrap_err();
    assert!(error.to_string().contains("wrong key Bearer [secret]"), "{error}");
    assert!(
        !format!("{error:?} {error} {request:?}")
            .replace("key=sk-hidden", "")
            .contains("sk-hidden")
    );

    let bad = Request::get(&server.url("/")).unwrap().bearer(&Secret::new("sk-\nhidden"));
    let error = Client::new(quick()).send(&bad, &soon()).unwrap_err();
    assert!(matches!(&error, Error::BadHeader { name } if name == "authorization"), "{error}");
}

fn events_of(body: &[u8]) -> Vec<Result<ServerEvent, String>> {
    let body = body.to_vec();
    let server = Loopback::start(move |_| Reply::ok(body.clone()));
    let request = Request::get(&server.url("/")).unwrap();
    let stream = Client::new(quick()).stream(&request, &soon()).unwrap();
    stream.events().map(|event| event.map_err(|error| error.to_string())).collect()
}

#[test]
fn events_follow_the_standard() {
    let event = |event: Option<&str>, data: &str| {
        Ok(ServerEvent { event: event.map(str::to_owned), data: data.to_owned() })
    };
    assert_eq!(
        events_of(
            "\u{feff}data: one\n\n: a comment\r\nevent: usage\r\ndata: two\r\ndata:three\r\n\r\nid: 7\n\ndata\n\ndata: cut off"
                .as_bytes()
        ),
        [event(None, "one"), event(Some("usage"), "two\nthree"), event(None, "")]
    );
    assert_eq!(events_of(b""), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_bytes_can_be_read_as_events(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        events_of(&body);
    }

    #[test]
    fn data_comes_through_as_it_was_sent(texts in proptest::collection::vec("[a-zäß漢 ]{1,20}", 0..5)) {
        let body: String = texts.iter().map(|text| format!("data: {text}\n\n")).collect();
        let received: Vec<String> =
            events_of(body.as_bytes()).into_iter().map(|event| event.unwrap().data).collect();
        prop_assert_eq!(received, texts);
    }
}
