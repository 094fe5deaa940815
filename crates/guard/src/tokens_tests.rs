//! What a token must prove: signature, algorithm, audience, issuer, times, claims; and how the
//! issuer's keys are cached and rotated.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::json;

use super::*;

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
    encode(&Header::default(), claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
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
    let good = sign(&claims(), SECRET);
    let body = good.split('.').nth(1).unwrap();
    // {"alg":"none","typ":"JWT"} in base64url.
    let unsigned = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{body}.");
    assert!(tokens().caller(&unsigned).is_err());
    let mut header = Header::new(Algorithm::HS512);
    header.kid = Some("k".to_owned());
    let other = encode(&header, &claims(), &EncodingKey::from_secret(SECRET.as_bytes())).unwrap();
    refused(&other, "the token is signed in a way that is not accepted");
}

#[test]
fn published_keys_are_cached_and_rotation_is_noticed() {
    let n_fetches = Arc::new(AtomicUsize::new(0));
    let now = Arc::new(AtomicI64::new(NOW * 1000));
    let fetch: FetchKeys = {
        let n_fetches = Arc::clone(&n_fetches);
        Arc::new(move |_| {
            n_fetches.fetch_add(1, Ordering::Relaxed);
            Some(r#"{"keys":[]}"#.to_owned())
        })
    };
    let clock = {
        let now = Arc::clone(&now);
        Clock::new(move || Timestamp(now.load(Ordering::Relaxed)))
    };
    let tokens = Tokens::new(config(true), &|_| None, fetch, clock).unwrap();
    let header = Header { kid: Some("unknown".to_owned()), ..Header::default() };
    let token = encode(&header, &claims(), &EncodingKey::from_secret(b"x")).unwrap();
    let expect = |advance_ms: i64, fetches: usize| {
        now.fetch_add(advance_ms, Ordering::Relaxed);
        assert!(tokens.caller(&token).is_err());
        assert_eq!(n_fetches.load(Ordering::Relaxed), fetches);
    };
    expect(0, 1);
    expect(REFETCH_MS - 1, 1);
    expect(1, 2);
    expect(1, 2);
    expect(KEYS_TTL_MS, 3);
}

#[test]
fn a_rotated_key_works_and_the_old_one_stops() {
    let published = Arc::new(Mutex::new(testkit::tokens::published_keys(&["first"])));
    let now = Arc::new(AtomicI64::new(NOW * 1000));
    let fetch: FetchKeys = {
        let published = Arc::clone(&published);
        Arc::new(move |_| Some(published.lock().clone()))
    };
    let clock = {
        let now = Arc::clone(&now);
        Clock::new(move || Timestamp(now.load(Ordering::Relaxed)))
    };
    let tokens = Tokens::new(config(true), &|_| None, fetch, clock).unwrap();
    let (first, second) = (testkit::tokens::SIGNED_FIRST, testkit::tokens::SIGNED_SECOND);
    assert_eq!(tokens.caller(first).unwrap().subject, "ann");
    assert!(tokens.caller(second).is_err());
    *published.lock() = testkit::tokens::published_keys(&["second"]);
    now.fetch_add(REFETCH_MS, Ordering::Relaxed);
    assert_eq!(tokens.caller(second).unwrap().subject, "ann");
    assert!(tokens.caller(first).is_err());
}
