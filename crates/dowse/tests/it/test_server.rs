//! A running binary with a configuration of its own.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Folder, Http, Mcp, Server};

/// How long a test waits for something that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The binary, and the folder with its configuration.
pub(crate) struct TestServer {
    pub(crate) server: Server,
    pub(crate) folder: Folder,
}

impl TestServer {
    /// Starts the binary with this configuration.
    #[track_caller]
    pub(crate) fn start(config: &str) -> TestServer {
        TestServer::start_with(config, &[])
    }

    /// Starts the binary with this configuration and these variables.
    #[track_caller]
    pub(crate) fn start_with(config: &str, variables: &[(&str, &str)]) -> TestServer {
        TestServer::start_in_with(Folder::new(), config, variables)
    }

    /// Starts the binary with this configuration in a folder that holds its sources.
    #[track_caller]
    pub(crate) fn start_in(folder: Folder, config: &str) -> TestServer {
        TestServer::start_in_with(folder, config, &[])
    }

    /// Starts the binary in a folder that holds its sources, with these variables.
    #[track_caller]
    pub(crate) fn start_in_with(
        folder: Folder,
        config: &str,
        variables: &[(&str, &str)],
    ) -> TestServer {
        folder.write("dowse.toml", format!("data_dir = \"data\"\n{config}"));
        let mut command = serve(&folder);
        command.envs(variables.iter().copied());
        TestServer { server: Server::start_command(command), folder }
    }

    /// Ends the binary and starts it again over the same folder.
    #[track_caller]
    pub(crate) fn restarted(self) -> TestServer {
        let TestServer { server, folder } = self;
        server.stop();
        TestServer { server: Server::start_command(serve(&folder)), folder }
    }

    pub(crate) fn http(&self) -> &Http {
        self.server.http()
    }

    /// Gives a plain client for `/mcp`.
    pub(crate) fn mcp(&self) -> Mcp {
        Mcp::new(self.http(), "/mcp")
    }

    /// Puts another configuration in the place of the first.
    pub(crate) fn rewrite(&self, config: &str) {
        self.folder.write("dowse.toml", format!("data_dir = \"data\"\n{config}"));
    }

    /// Holds that the server still answers.
    #[track_caller]
    pub(crate) fn assert_alive(&self) {
        assert_eq!(repair(&self.mcp()), "ab");
    }

    /// Waits until something has become true.
    #[track_caller]
    pub(crate) fn wait_until(&self, condition: impl Fn() -> bool) {
        let is_so = testkit::wait_until(PATIENCE, condition);
        assert!(
            is_so,
            "it printed:
{}",
            self.server.stderr()
        );
    }
}

/// Calls the one tool that every server has, with a text that it leaves as it is.
#[track_caller]
pub(crate) fn repair(mcp: &Mcp) -> String {
    let answer = mcp.call("normalize_ocr_text", &json!({ "text": "ab" })).success();
    answer["normalized_text"].as_str().unwrap_or_default().to_owned()
}

/// Prepares to serve the configuration of a folder.
fn serve(folder: &Folder) -> Command {
    let mut command = dowse("serve");
    command.arg("--config").arg(folder.join("dowse.toml")).args(["--listen", "127.0.0.1:0"]);
    command
}

/// Prepares a command of the binary, without any setting of the developer's.
pub(crate) fn dowse(subcommand: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dowse"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("DOWSE_")) {
        command.env_remove(name);
    }
    // Nor does a test leave anything with the developer's own data.
    command.env("XDG_DATA_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/data-home"));
    command.arg(subcommand);
    command
}

/// Gives `_meta` of a request at 2026-07-28.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
