//! The real binary over real pipes: one JSON message a line, as `dowse mcp` speaks.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::ToolResult;

/// How long a test waits for the next line.
const LINE_TIMEOUT: Duration = Duration::from_secs(60);

/// A process that speaks MCP on its pipes. Dropping it kills the process.
#[derive(Debug)]
pub struct StdioSession {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: u64,
}

impl StdioSession {
    /// Starts a command with pipes; its stderr goes to the test's.
    #[track_caller]
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout was asked for");
        let (line, lines) = mpsc::channel();
        thread::spawn(move || {
            for read in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line.send(read).is_err() {
                    return;
                }
            }
        });
        StdioSession { child, stdin, lines, last_id: 0 }
    }

    /// Does the handshake of the revisions up to 2025-11-25 and gives the server's answer.
    #[track_caller]
    pub fn initialize(&mut self, protocol_version: &str) -> Value {
        let params = json!({
            "protocolVersion": protocol_version,
            "capabilities": {},
            "clientInfo": {"name": "testkit", "version": "0"},
        });
        let result = self.request("initialize", &params);
        self.send_line(
            &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        );
        result
    }

    /// Sends one request and gives its `result`, passing over notifications.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_line(&message.to_string());
        loop {
            let mut answer = self.next_message();
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "`{method}` failed: {answer}");
                return answer["result"].take();
            }
        }
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> ToolResult {
        let params = json!({"name": tool, "arguments": arguments});
        ToolResult::new(self.request("tools/call", &params))
    }

    /// Sends a line as it is, also what is not JSON.
    #[track_caller]
    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open until `close`");
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).expect("the process reads stdin");
    }

    /// Waits for the next line; one that is not JSON is a panic, as it would break every client.
    #[track_caller]
    pub fn next_message(&mut self) -> Value {
        let line = self.lines.recv_timeout(LINE_TIMEOUT).expect("the process answers in time");
        serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("stdout carries something else ({error}): {line}"))
    }

    /// Closes stdin, as a client that leaves does, and waits for the process to end.
    #[track_caller]
    pub fn close(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.child.wait().expect("a child can be waited for")
    }
}

impl Drop for StdioSession {
    fn drop(&mut self) {
        // A session that was closed is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
