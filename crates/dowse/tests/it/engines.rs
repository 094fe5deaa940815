//! `[store]` and `[reranker]`: what is asked for is used, and what is missing is said.

use std::process::{Command, Output};

use testkit::Folder;
use testkit::loopback::{Loopback, Reply};
use testkit::turbopuffer::TurbopufferServer;

fn dowse(arguments: &[&str], key: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dowse"));
    command.args(arguments).env_remove("TURBOPUFFER_API_KEY");
    if let Some(key) = key {
        command.env("TURBOPUFFER_API_KEY", key);
    }
    command.output().unwrap()
}

fn text_of(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn folders_are_indexed_and_searched_in_turbopuffer() {
    let server = TurbopufferServer::start();
    let folder = Folder::new();
    folder.write("documents/lisbon.txt", "The yellow tram climbs to the castle of Lisbon.");
    folder.write("documents/porto.txt", "Barrels of wine lie in the cellars of Porto.");
    let text = format!(
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n\
         [store]\nprovider = \"turbopuffer\"\nbase_url = \"{}\"\nnamespace_prefix = \"house-\"\n",
        server.url()
    );
    let config = folder.write("dowse.toml", &text);
    let config = config.to_str().unwrap();
    let checked = dowse(&["check", "--config", config], Some(server.key()));
    assert!(text_of(&checked).contains("earlier name"), "{}", text_of(&checked));
    assert!(text_of(&checked).contains("turbopuffer, which answers"), "{}", text_of(&checked));
    let indexed = dowse(&["index", "--config", config], Some(server.key()));
    assert!(indexed.status.success(), "{}", text_of(&indexed));
    let names = server.namespaces();
    assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("house-")), "{names:?}");
    let found = dowse(&["search", "--config", config, "castle", "tram"], Some(server.key()));
    assert!(text_of(&found).contains("lisbon.txt"), "{}", text_of(&found));
    assert!(!text_of(&found).contains("porto.txt"), "{}", text_of(&found));
    let repaired = dowse(&["check", "--repair", "--config", config], Some(server.key()));
    assert!(repaired.status.success(), "{}", text_of(&repaired));

    let wrong = dowse(&["check", "--config", config], Some("tpuf_wrong"));
    assert!(text_of(&wrong).contains("does NOT answer"), "{}", text_of(&wrong));
    assert!(text_of(&wrong).contains("401") && !text_of(&wrong).contains("tpuf_wrong"));
    let without = dowse(&["check", "--config", config], None);
    assert!(!without.status.success() && text_of(&without).contains("`TURBOPUFFER_API_KEY`"));
}

#[test]
fn engines_that_are_not_built_in_are_said() {
    let folder = Folder::new();
    for (section, expected) in [
        ("engine = \"qdrant\"\n[store.qdrant]\nurls = []", "`store.qdrant.urls` is empty"),
        ("provider = \"postgres\"", "unknown variant `postgres`"),
        ("provider = \"embedded\"\nengine = \"embedded\"", "are both set"),
        ("catalogue = \"postgres\"", "`DOWSE_POSTGRES_URL`"),
        ("catalogue = \"postgres\"\n[store.postgres]\nurl = \"http://h\"", "must look like"),
    ] {
        let text = format!("data_dir = \"data\"\n[store]\n{section}\n");
        let config = folder.write("dowse.toml", &text);
        let checked = dowse(&["check", "--config", config.to_str().unwrap()], None);
        assert!(!checked.status.success());
        assert!(text_of(&checked).contains(expected), "{}", text_of(&checked));
    }
}

#[test]
fn a_reranker_at_the_other_end_of_http_is_asked() {
    let judge = Loopback::start(|seen| {
        let texts = seen.json()["texts"].as_array().map_or(0, Vec::len);
        let scores: Vec<_> =
            (0..texts).map(|index| serde_json::json!({"index": index, "score": 0.9})).collect();
        Reply::json(&scores.into())
    });
    let folder = Folder::new();
    folder.write("documents/lisbon.txt", "The yellow tram climbs to the castle of Lisbon.");
    folder.write("documents/sintra.txt", "A castle above the sea near Sintra.");
    let text = format!(
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n\
         [reranker]\nprovider = \"http\"\napi = \"tei\"\nbase_url = \"{}\"\nmodel = \"judge\"\n",
        judge.url("")
    );
    let config = folder.write("dowse.toml", &text);
    let config = config.to_str().unwrap();
    assert!(dowse(&["index", "--config", config], None).status.success());
    let found = dowse(&["search", "--config", config, "castle"], None);
    assert!(text_of(&found).contains("lisbon.txt"), "{}", text_of(&found));
    assert!(judge.requests().iter().any(|seen| seen.path.ends_with("/rerank")));

    for (section, missing) in [
        ("provider = \"local\"", "`reranker.model` is required"),
        ("provider = \"http\"", "`reranker.base_url` is required"),
        (
            "provider = \"http\"\nbase_url = \"http://127.0.0.1:1\"\napi = \"x\"",
            "`reranker.api` must be",
        ),
        ("provider = \"magic\"", "unknown variant `magic`"),
    ] {
        let text = format!("data_dir = \"data\"\n[reranker]\n{section}\n");
        let config = folder.write("wrong.toml", &text);
        let checked = dowse(&["check", "--config", config.to_str().unwrap()], None);
        assert!(!checked.status.success());
        assert!(text_of(&checked).contains(missing), "{}", text_of(&checked));
    }
}
