//! What a token must prove: signature, algorithm, audience, issuer, times, claims; and how the
//! issuer's keys are cached and rotated.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use model::Timestamp;
use parking_lot::Mutex;
use serde_json::json;
use testkit::tokens::{published_keys, signed_under};

use super::*;
use crate::published::{BURST, KEYS_TTL, MAX_WAITING, REFETCH, REFILL};

const NOW: i64 = 1_800_000_000;
const SECRET: &str = "a shared secret of decent length";

fn config(jwks: bool) -> JwtConfig {
    JwtConfig {
        issuer: "https://id.example.org".to_owned(),
        audience: "dowse".to_owned(),
        jwks_url: jwks.then(|| "https://id.example.org/jwks".to_owned()),
        hs256_secret_env: (!jwks).then(|| "SECRET".to_owned()),
        claims: ClaimNames::default(),
    }
}

fn tokens() -> Tokens {
    let variable = |_: &str| Some(SECRET.to_owned());
    let no_keys: FetchKeys = Arc::new(|_| None);
    Tokens::new(config(false), &variable, no_keys, Clock::fixed(Timestamp(NOW * 1000))).unwrap()
}

fn claims() -> Value {
    json!({
        "iss": "https://id.example.org", "aud": "dowse", "sub": "ann", "tenant_id": "acme",
        "exp": NOW + 60, "roles": ["finance", "admin"], "department": "sales",
        "clearance": "secret",
    })
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    let members = claims.as_object_mut().unwrap();
    if value.is_null() {
        members.remove(name)
    } else {
        members.insert(name.to_owned(), value)
    };
    claims
}

fn sign(claims: &Value, secret: &str) -> String {
    testkit::tokens::hs256(claims, secret.as_bytes())
}

#[track_caller]
fn refused(token: &str, reason: &str) {
    assert_eq!(
        tokens().caller(token).unwrap_err().to_string(),
        format!("Invalid authentication credentials: {reason}")
    );
}

#[test]
fn a_good_token_tells_who_calls() {
    let caller = tokens().caller(&sign(&claims(), SECRET)).unwrap();
    assert_eq!(caller.subject, "ann");
    assert_eq!(caller.tenant, TenantId::new("acme"));
    assert_eq!(caller.department.as_deref(), Some("sales"));
    assert_eq!(caller.clearance, Clearance::Secret);
    assert!(caller.is_admin() && caller.has_role("finance"));
    let plain = with("clearance", Value::Null);
    assert_eq!(tokens().caller(&sign(&plain, SECRET)).unwrap().clearance, Clearance::Internal);
    let single = json!({
        "iss": "https://id.example.org", "aud": ["other", "dowse"], "sub": "bob",
        "tenant_id": "acme", "exp": NOW - 20, "role": "reader",
    });
    assert!(tokens().caller(&sign(&single, SECRET)).unwrap().has_role("reader"));
}

#[test]
fn a_bad_token_is_refused() {
    refused("nonsense", "it is neither a known key nor a readable token");
    refused(&sign(&claims(), "another secret"), "the token's signature is not valid");
    refused(&sign(&with("aud", json!("other")), SECRET), "the token is meant for another audience");
    refused(&sign(&with("iss", json!("x")), SECRET), "the token comes from another issuer");
    refused(&sign(&with("exp", json!(NOW - 31)), SECRET), "the token has expired");
    refused(&sign(&with("nbf", json!(NOW + 31)), SECRET), "the token is not valid yet");
    refused(&sign(&with("tenant_id", Value::Null), SECRET), "the token names no tenant");
    refused(&sign(&with("sub", Value::Null), SECRET), "the token names no subject");
    refused(
        &sign(&with("clearance", json!("cosmic")), SECRET),
        "the token's clearance is none of the known levels",
    );
    for claim in ["exp", "aud", "iss"] {
        refused(
            &sign(&with(claim, Value::Null), SECRET),
            "the token lacks one of the claims `exp`, `aud`, `iss`",
        );
    }
    refused(&"x".repeat(MAX_TOKEN_BYTES + 1), "the token is too long");
}

#[test]
fn unsigned_and_differently_signed_tokens_are_refused() {
    assert!(tokens().caller(&testkit::tokens::unsigned(&claims())).is_err());
    let other = signed_under(&json!({ "alg": "HS512", "kid": "k" }), &claims(), SECRET.as_bytes());
    refused(&other, "the token is signed in a way that is not accepted");
}

#[test]
fn what_must_be_understood_and_is_not_refuses_the_token() {
    let header = json!({ "alg": "HS256", "crit": ["exp"] });
    let token = signed_under(&header, &claims(), SECRET.as_bytes());
    refused(&token, "the token's `crit` header is not understood");
}

#[test]
fn times_and_names_must_be_what_they_say() {
    refused(&sign(&with("nbf", json!("soon")), SECRET), "the token's `nbf` is not a time");
    refused(
        &sign(&with("exp", json!("never")), SECRET),
        "the token lacks one of the claims `exp`, `aud`, `iss`",
    );
    for tenant in ["", " ", "a\u{0}b", " acme"] {
        refused(&sign(&with("tenant_id", json!(tenant)), SECRET), "the token names no tenant");
    }
    refused(&sign(&with("sub", json!("")), SECRET), "the token names no subject");
    refused(&sign(&with("sub", json!("x".repeat(257))), SECRET), "the token names no subject");
}

#[test]
fn a_short_secret_is_refused_at_the_start() {
    let variable = |_: &str| Some("x".repeat(31));
    let clock = Clock::fixed(Timestamp(NOW * 1000));
    let error = Tokens::new(config(false), &variable, Arc::new(|_| None), clock).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the secret in `SECRET` has 31 bytes: HS256 needs at least 32 (try `openssl rand -hex 32`)"
    );
}

/// The secret was shown where a document held it, which the keys of callers were not.
#[test]
fn the_shared_secret_is_known_to_be_hidden() {
    let secret = "0123456789abcdef0123456789abcdef";
    let variable = |_: &str| Some(secret.to_owned());
    let clock = Clock::fixed(Timestamp(NOW * 1000));
    let tokens = Tokens::new(config(false), &variable, Arc::new(|_| None), clock).ok().unwrap();
    assert_eq!(tokens.secret(), Some(secret.as_bytes()));
}

#[test]
fn a_name_that_cannot_be_seen_is_none() {
    for name in ["", " ", "\u{200b}", "acme\u{200b}", "\u{202e}emca", "a\u{feff}b", "a\nb"]
        .into_iter()
        .chain(["\u{3164}", "acme\u{3164}", "\u{115f}", "\u{2800}", "a\u{e0041}", "\u{1d173}x"])
    {
        assert!(!is_name(name), "{name:?}");
    }
    assert!(is_name("acme") && is_name("株式会社") && is_name("a b"));
}

/// An issuer, a clock that only goes on, and the tokens checked against both.
struct Issuer {
    published: Arc<Mutex<Option<String>>>,
    n_fetches: Arc<AtomicUsize>,
    elapsed_ms: Arc<AtomicU64>,
    tokens: Tokens,
}

impl Issuer {
    fn new(published: String) -> Issuer {
        let published = Arc::new(Mutex::new(Some(published)));
        let n_fetches = Arc::new(AtomicUsize::new(0));
        let elapsed_ms = Arc::new(AtomicU64::new(0));
        let fetch: FetchKeys = {
            let (published, n_fetches) = (Arc::clone(&published), Arc::clone(&n_fetches));
            Arc::new(move |_| {
                n_fetches.fetch_add(1, Ordering::Relaxed);
                published.lock().clone()
            })
        };
        let elapsed: Elapsed = {
            let elapsed_ms = Arc::clone(&elapsed_ms);
            Arc::new(move || Duration::from_millis(elapsed_ms.load(Ordering::Relaxed)))
        };
        // The wall clock stands still, as after a step back: only the other one may matter.
        let clock = Clock::fixed(Timestamp(NOW * 1000));
        let tokens = Tokens::with_elapsed(config(true), &|_| None, fetch, clock, elapsed).unwrap();
        Issuer { published, n_fetches, elapsed_ms, tokens }
    }

    fn pass(&self, time: Duration) {
        self.elapsed_ms.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
    }

    fn n_fetches(&self) -> usize {
        self.n_fetches.load(Ordering::Relaxed)
    }
}

/// A token that names a key and is signed by nobody.
fn naming(kid: &str) -> String {
    signed_under(&json!({ "alg": "RS256", "kid": kid }), &claims(), b"x")
}

#[test]
fn published_keys_are_cached_and_a_missing_key_is_asked_for_again() {
    let issuer = Issuer::new(r#"{"keys":[]}"#.to_owned());
    let token = naming("unknown");
    let expect = |advance: Duration, n_fetches: usize| {
        issuer.pass(advance);
        assert!(issuer.tokens.caller(&token).is_err());
        assert_eq!(issuer.n_fetches(), n_fetches);
    };
    let burst = BURST as usize;
    for n in 1..=burst {
        expect(Duration::ZERO, n);
    }
    // From now on all unknown names together get one request in each interval.
    expect(REFILL - Duration::from_millis(1), burst);
    expect(Duration::from_millis(1), burst + 1);
    expect(Duration::from_millis(1), burst + 1);
    expect(REFILL, burst + 2);
    // After a quiet time there is a whole burst again.
    issuer.pass(KEYS_TTL);
    for n in 1..=burst {
        expect(Duration::ZERO, burst + 2 + n);
    }
    expect(Duration::ZERO, burst + 2 + burst);
}

/// A key that had been asked for before it was published waited for half a minute.
#[test]
fn a_key_that_was_unknown_a_moment_ago_works_when_it_has_come() {
    let issuer = Issuer::new(published_keys(&["first"]));
    let (first, second) = (testkit::tokens::SIGNED_FIRST, testkit::tokens::SIGNED_SECOND);
    assert!(issuer.tokens.caller(first).is_ok());
    assert!(issuer.tokens.caller(second).is_err(), "it is not published yet");
    *issuer.published.lock() = Some(published_keys(&["first", "second"]));
    assert_eq!(issuer.tokens.caller(second).unwrap().subject, "ann");
    // After a failure too.
    let issuer = Issuer::new(published_keys(&["first"]));
    assert!(issuer.tokens.caller(first).is_ok());
    *issuer.published.lock() = None;
    assert!(issuer.tokens.caller(second).is_err());
    *issuer.published.lock() = Some(published_keys(&["first", "second"]));
    assert_eq!(issuer.tokens.caller(second).unwrap().subject, "ann");
}

#[test]
fn a_rotated_key_works_and_the_old_one_stops() {
    let issuer = Issuer::new(published_keys(&["first"]));
    let (first, second) = (testkit::tokens::SIGNED_FIRST, testkit::tokens::SIGNED_SECOND);
    assert_eq!(issuer.tokens.caller(first).unwrap().subject, "ann");
    issuer.pass(KEYS_TTL);
    *issuer.published.lock() = Some(published_keys(&["second"]));
    assert!(issuer.tokens.caller(first).is_err(), "the old key went at the next fetch");
    assert_eq!(issuer.tokens.caller(second).unwrap().subject, "ann");
    assert_eq!(issuer.n_fetches(), 2);
}

#[test]
fn made_up_key_names_neither_delay_a_rotated_key_nor_flood_the_issuer() {
    let issuer = Issuer::new(published_keys(&["first"]));
    for n in 0..50 {
        assert!(issuer.tokens.caller(&naming(&format!("made up {n}"))).is_err());
    }
    let burst = BURST as usize;
    assert_eq!(issuer.n_fetches(), burst);
    *issuer.published.lock() = Some(published_keys(&["first", "second"]));
    issuer.pass(REFILL);
    assert_eq!(issuer.tokens.caller(testkit::tokens::SIGNED_SECOND).unwrap().subject, "ann");
    assert_eq!(issuer.n_fetches(), burst + 1);
}

#[test]
fn an_issuer_that_is_away_leaves_the_keys_that_are_known() {
    let issuer = Issuer::new(published_keys(&["first"]));
    assert!(issuer.tokens.caller(testkit::tokens::SIGNED_FIRST).is_ok());
    *issuer.published.lock() = None;
    issuer.pass(KEYS_TTL);
    for _ in 0..3 {
        assert!(issuer.tokens.caller(testkit::tokens::SIGNED_FIRST).is_ok());
    }
    assert_eq!(issuer.n_fetches(), 2);
    *issuer.published.lock() = Some(published_keys(&["second"]));
    issuer.pass(REFETCH);
    assert!(issuer.tokens.caller(testkit::tokens::SIGNED_FIRST).is_err());
}

/// Every caller with a key that nobody knows took a thread for as long as the issuer hung, until
/// there was none left for anybody.
#[test]
fn an_issuer_that_hangs_keeps_few_callers_waiting() {
    let issuer = Issuer::new(published_keys(&["first"]));
    assert!(issuer.tokens.caller(testkit::tokens::SIGNED_FIRST).is_ok());
    let hanging = issuer.published.lock();
    std::thread::scope(|scope| {
        let (answers, answered) = std::sync::mpsc::channel();
        for n in 0..2 * MAX_WAITING {
            let (answers, tokens) = (answers.clone(), &issuer.tokens);
            scope.spawn(move || answers.send(tokens.caller(&naming(&format!("made up {n}")))));
        }
        for _ in 0..MAX_WAITING {
            let answer = answered.recv_timeout(Duration::from_secs(60)).unwrap();
            assert_eq!(answer.unwrap_err().to_string(), Denied::KeysUnavailable.to_string());
        }
        // Whoever has a key that is known waits for nobody.
        assert!(issuer.tokens.caller(testkit::tokens::SIGNED_FIRST).is_ok());
        drop(hanging);
    });
    assert!(issuer.tokens.caller(testkit::tokens::SIGNED_FIRST).is_ok());
}

/// The first of two keys of one name was taken, whatever it was for and whoever signed.
#[test]
fn every_key_of_one_name_is_tried() {
    let both: Value = serde_json::from_str(&published_keys(&["first", "second"])).unwrap();
    let [first, second] = [0, 1].map(|at| both["keys"][at].clone());
    let named = |key: &Value, kid: &str| {
        let mut key = key.clone();
        key["kid"] = json!(kid);
        key
    };
    let (kid, token) = (first["kid"].as_str().unwrap(), testkit::tokens::SIGNED_FIRST);
    let for_encryption_of = |key: &Value, kid: &str| {
        let mut key = named(key, kid);
        key["use"] = json!("enc");
        key
    };
    let for_encryption = for_encryption_of(&second, kid);
    let others = [named(&second, kid), for_encryption, json!({ "kty": "EC", "kid": kid })];
    for other in others {
        for keys in [[first.clone(), other.clone()], [other, first.clone()]] {
            let issuer = Issuer::new(json!({ "keys": keys }).to_string());
            assert_eq!(issuer.tokens.caller(token).unwrap().subject, "ann");
        }
    }
    // However many of that name are for something else.
    let mut many = vec![for_encryption_of(&second, kid); 8];
    many.push(first.clone());
    let issuer = Issuer::new(json!({ "keys": many }).to_string());
    assert_eq!(issuer.tokens.caller(token).unwrap().subject, "ann");
    let strangers = json!({ "keys": [named(&second, kid), named(&second, kid)] });
    let issuer = Issuer::new(strangers.to_string());
    let denied = issuer.tokens.caller(token).unwrap_err();
    assert!(denied.to_string().contains("signature is not valid"), "{denied}");
}

#[test]
fn a_key_that_cannot_be_read_does_not_hide_the_others() {
    let mut keys: Value = serde_json::from_str(&published_keys(&["first"])).unwrap();
    let others = [json!({ "kty": "of the future", "kid": "x" }), json!(7), json!({})];
    keys["keys"].as_array_mut().unwrap().extend(others);
    let issuer = Issuer::new(keys.to_string());
    assert!(issuer.tokens.caller(testkit::tokens::SIGNED_FIRST).is_ok());
}

#[test]
fn keys_for_other_purposes_are_not_used() {
    for (member, value) in [
        ("use", json!("enc")),
        ("key_ops", json!(["encrypt"])),
        ("alg", json!("RSA-OAEP-256")),
        ("kty", json!("oct")),
    ] {
        let mut keys: Value = serde_json::from_str(&published_keys(&["first"])).unwrap();
        keys["keys"][0][member] = value;
        if member == "key_ops" {
            keys["keys"][0].as_object_mut().unwrap().remove("use");
        }
        let issuer = Issuer::new(keys.to_string());
        assert!(issuer.tokens.caller(testkit::tokens::SIGNED_FIRST).is_err(), "{keys}");
    }
}
