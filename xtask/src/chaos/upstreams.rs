//! What the server asks of others, all on loopback: a model that makes vectors and writes, and a
//! PostgreSQL that holds a table. Each can stop, hang, or answer nonsense.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use testkit::loopback::{Loopback, Reply, Seen};
use testkit::{Http, Mcp, Postgres};

use super::Random;
use super::ledger::{Ledger, send};
use super::site::Site;

/// The length of the vectors.
const N_DIMENSIONS: usize = 8;

/// Rows of the table in PostgreSQL.
const N_ROWS: usize = 5;

/// How long a call may take while something that it needs hangs.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// How long a source may stay away after it came back.
const RETURN_LIMIT: Duration = Duration::from_secs(60);

/// How the model behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Behaviour {
    /// It answers.
    Right,
    /// It takes requests and never answers.
    Hang,
    /// It closes the connection.
    Close,
    /// It says that it failed.
    Fail,
    /// It answers something that is no JSON.
    Babble,
    /// It answers vectors of another length, and fewer than were asked for.
    Lie,
}

impl Behaviour {
    const ALL: [Behaviour; 6] = [
        Behaviour::Right,
        Behaviour::Hang,
        Behaviour::Close,
        Behaviour::Fail,
        Behaviour::Babble,
        Behaviour::Lie,
    ];

    fn of(number: u8) -> Behaviour {
        Behaviour::ALL.into_iter().find(|it| *it as u8 == number).unwrap_or(Behaviour::Right)
    }
}

/// The model and the database.
pub(crate) struct Upstreams {
    model: Loopback,
    behaviour: Arc<AtomicU8>,
    /// Absent where the test bed has no PostgreSQL.
    postgres: Option<Postgres>,
}

impl Upstreams {
    /// Starts both.
    pub(crate) fn start() -> Upstreams {
        let behaviour = Arc::new(AtomicU8::new(Behaviour::Right as u8));
        let now = Arc::clone(&behaviour);
        let model = Loopback::start(move |request| {
            answer(request, Behaviour::of(now.load(Ordering::Relaxed)))
        });
        let postgres = Postgres::start();
        if let Some(postgres) = &postgres {
            postgres.run(&format!(
                "CREATE TABLE stops (name text NOT NULL); \
                 INSERT INTO stops SELECT 'stop ' || n FROM generate_series(1, {N_ROWS}) n"
            ));
        }
        Upstreams { model, behaviour, postgres }
    }

    pub(crate) fn has_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    /// Gives the sections of the configuration that name both.
    pub(crate) fn config(&self) -> String {
        let url = self.model.url("");
        let mut config = format!(
            "[embedder]\nprovider = \"http\"\napi = \"openai\"\nmodel = \"test\"\n\
             base_url = \"{url}\"\ndimensions = {N_DIMENSIONS}\n\
             [llm]\nprovider = \"openai\"\nmodel = \"test\"\nbase_url = \"{url}\"\n"
        );
        if let Some(postgres) = &self.postgres {
            let source = format!("{}#stops", postgres.url());
            config += &format!(
                "[[tables]]\nname = \"stops\"\nsource = \"{source}\"\n[tables.fields]\n\
                 name = {{ type = \"string\" }}\n"
            );
        }
        config
    }

    fn behave(&self, behaviour: Behaviour) {
        self.behaviour.store(behaviour as u8, Ordering::Relaxed);
    }
}

/// Lets the model misbehave while changes and questions go on.
pub(crate) fn model_away(
    site: &mut Site,
    ledger: &mut Ledger,
    random: &mut Random,
) -> anyhow::Result<()> {
    let behaviour = Behaviour::ALL[1 + random.below(Behaviour::ALL.len() - 1)];
    site.upstreams().behave(behaviour);
    let with = || format!("with a model that behaves as `{behaviour:?}`");
    let http = site.http()?;
    let n_before = ledger.n_acknowledged();
    for _ in 0..=random.below(4) {
        ledger.add(&http);
    }
    ensure!(ledger.n_acknowledged() > n_before, "no document was taken {}", with());
    probe(&http).with_context(with)?;
    in_time("a search", || ledger.search(&http)).with_context(with)?;
    // A summary may be made without the model, or refused; it may not hang.
    let params = json!({ "name": "get_knowledge_base_summary",
        "arguments": { "knowledge_base_id": ledger.base() } });
    in_time("a summary", || {
        let response = Mcp::new(&http, "/mcp").send("tools/call", &params);
        ensure!(response.status == 200, "{}", response.text());
        Ok(())
    })
    .with_context(with)?;
    // Every third time the server does not live to see the model come back.
    if random.below(3) == 0 {
        site.kill();
        site.start().with_context(with)?;
    }
    site.upstreams().behave(Behaviour::Right);
    Ok(())
}

/// Stops the database while changes and questions go on; the server may start without it.
pub(crate) fn source_away(
    site: &mut Site,
    ledger: &mut Ledger,
    random: &mut Random,
) -> anyhow::Result<()> {
    if let Some(postgres) = &mut site.upstreams_mut().postgres {
        if random.below(2) == 0 { postgres.stop() } else { postgres.kill() }
    }
    let is_restarted = random.below(2) == 0;
    if is_restarted {
        site.stop();
        site.start().context("a source that is away stopped the start")?;
    }
    let http = site.http()?;
    for _ in 0..=random.below(4) {
        ledger.change(&http, random);
    }
    probe(&http).context("a table's source is away")?;
    in_time("a query of a table that is away", || match n_rows(&http) {
        Some(n_rows) => anyhow::bail!("a table that is away gives {n_rows} rows"),
        None => Ok(()),
    })?;
    in_time("a search", || ledger.search(&http)).context("a table's source is away")?;
    if is_restarted {
        let ready = http.get("/readyz");
        let says = ready.text().contains("stops");
        ensure!(says, "`/readyz` does not name the source that is away: {}", ready.text());
    }
    if let Some(postgres) = &mut site.upstreams_mut().postgres {
        postgres.start_again();
    }
    site.touch_configuration(random.next());
    let begun = Instant::now();
    while n_rows(&http) != Some(N_ROWS) {
        ensure!(begun.elapsed() < RETURN_LIMIT, "the table did not come back with its source");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Holds that the server answers whoever asks how it is.
fn probe(http: &Http) -> anyhow::Result<()> {
    let (alive, ready) = (http.get("/healthz"), http.get("/readyz"));
    ensure!(alive.status == 200, "`/healthz`: {}", alive.text());
    ensure!(ready.status == 200, "`/readyz`: {}", ready.text());
    Ok(())
}

fn in_time(what: &str, act: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let begun = Instant::now();
    act().with_context(|| format!("{what} failed"))?;
    ensure!(begun.elapsed() < ANSWER_LIMIT, "{what} took {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Gives how many rows the table has, or nothing when the call was refused.
fn n_rows(http: &Http) -> Option<usize> {
    let params = json!({ "name": "query_table", "arguments": {} });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = testkit::Request::new("POST", "/mcp").header("Accept", "*/*").json(&request);
    let answer: Value = serde_json::from_slice(&send(http, &request)?.body).ok()?;
    if answer["result"]["isError"] == true {
        return None;
    }
    let rows = answer["result"]["structuredContent"]["rows"].as_array()?;
    Some(rows.len())
}

/// Answers as a model that behaves so.
fn answer(request: &Seen, behaviour: Behaviour) -> Reply {
    match behaviour {
        Behaviour::Hang => return Reply::Hang,
        Behaviour::Close => return Reply::Raw(Vec::new()),
        Behaviour::Fail => return Reply::status(500, "out of order"),
        Behaviour::Babble => return Reply::ok("<html>no model here</html>"),
        Behaviour::Right | Behaviour::Lie => {}
    }
    if !request.path.ends_with("/embeddings") {
        let message = json!({ "role": "assistant", "content": "A summary of the documents." });
        return Reply::json(&json!({ "choices": [{ "message": message }], "usage": {} }));
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let texts = body["input"].as_array().cloned().unwrap_or_else(|| vec![body["input"].clone()]);
    let is_lie = behaviour == Behaviour::Lie;
    let (n_texts, n_dimensions) =
        if is_lie { (texts.len() / 2, N_DIMENSIONS + 1) } else { (texts.len(), N_DIMENSIONS) };
    let data: Vec<Value> = texts
        .iter()
        .take(n_texts)
        .enumerate()
        .map(|(index, text)| {
            let vector = vector(text.as_str().unwrap_or_default(), n_dimensions);
            json!({ "index": index, "embedding": vector })
        })
        .collect();
    Reply::json(&json!({ "data": data, "usage": { "total_tokens": 1 } }))
}

/// Gives a direction that depends on the text alone.
fn vector(text: &str, n_dimensions: usize) -> Vec<f64> {
    let seed = text.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    let mut random = Random(seed);
    (0..n_dimensions).map(|_| (random.next() % 2_001) as f64 / 1_000.0 - 1.0).collect()
}
