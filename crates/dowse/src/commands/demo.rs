//! `dowse demo`: a small world to try, in one command.

use ::serve::Shared;
use model::Caller;
use tokio_util::sync::CancellationToken;

use crate::cli::DemoArgs;
use crate::commands::block_on;
use crate::commands::serve::bind;
use crate::config::Config;
use crate::wiring::{Lasting, app};
use crate::{print, signals};

pub(super) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let mut config = Config { data_dir: args.data_dir.clone(), ..Config::default() };
    config.server.listen = args.listen;
    let lasting = Lasting::open(&config)?;
    block_on(async move {
        let shutdown = CancellationToken::new();
        signals::shutdown_on_signal(shutdown.clone())?;
        let (listener, config) = bind(config).await?;
        let app = app(&config, &lasting)?;
        let names: Vec<String> = app
            .tools
            .list(&Caller::local_admin())
            .iter()
            .map(|listed| listed.spec.name.clone())
            .collect();
        let base = app.server.link_base();
        print::note(welcome(&base, &names));
        print::note(format!("listening on {base}"));
        ::serve::run(listener, Shared::new(app), shutdown).await?;
        Ok(())
    })
}

fn welcome(base: &str, tools: &[String]) -> String {
    format!(
        r#"
Dowse serves {n_tools} tools: {names}

Connect an agent
  Claude Code     claude mcp add --transport http dowse {base}/mcp
  Claude Desktop  {{ "mcpServers": {{ "dowse": {{ "command": "npx", "args": ["mcp-remote", "{base}/mcp"] }} }} }}
  Cursor          {{ "mcpServers": {{ "dowse": {{ "url": "{base}/mcp" }} }} }}
  ChatGPT         Settings, Connectors, Create: {base}/mcp (needs an address that ChatGPT can reach)

Try it
  curl -s {base}/mcp -H 'Content-Type: application/json' -d '{call}'
"#,
        n_tools = tools.len(),
        names = tools.join(", "),
        call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"normalize_ocr_text","arguments":{"text":"マネ-ジャ-のサ-ビス"}}}"#,
    )
}
