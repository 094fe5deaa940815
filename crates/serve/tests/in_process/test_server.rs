//! A server with a tool that waits to be told, and one that breaks.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use guard::{Audit, AuditConfig, AuthConfig, Authenticator, Entry, Limiter, LimitsConfig, Metrics};
use model::Caller;
use serde_json::{Value, json};
use serve::{App, ServerConfig, Shared, SlotLimits, Slots};
use testkit::{Folder, Mcp, Request};
use tokio_util::sync::CancellationToken;
use tools::{Answer, Call, Code, Progress, Registry, ResourceSet, Spec, Tool, ToolError};

/// How long a test waits for something that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How often the waiting tool looks whether it should go on.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What the waiting tool tells the test.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Notification {
    Started,
    Finished,
    Cancelled,
}

/// A tool that works until the test lets it go or its deadline is over.
struct Waiting {
    notifications: Mutex<Sender<Notification>>,
    go: Mutex<Receiver<()>>,
}

impl Tool for Waiting {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        let spec = Spec::read_only("wait", "Wait", "Waits.").with_input(json!({
            "type": "object",
            "properties": {
                "query": { "type": "string" },
                "speed": { "type": "string", "enum": ["fast", "faster", "slow"] },
            },
        }));
        Some(Arc::new(spec))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let tell = |notifications| self.notifications.lock().unwrap().send(notifications).unwrap();
        (call.progress)(Progress { done: 0.0, total: Some(1.0), message: None });
        tell(Notification::Started);
        let go = self.go.lock().unwrap();
        loop {
            if go.recv_timeout(LOOK_EVERY).is_ok() {
                tell(Notification::Finished);
                return Ok(Answer::new(json!({ "waited": true })));
            }
            if call.deadline.is_over() {
                tell(Notification::Cancelled);
                return Err(ToolError::new(Code::DeadlineExceeded, "stopped"));
            }
        }
    }
}

/// A tool that breaks.
struct Broken;

impl Tool for Broken {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        Some(Arc::new(Spec::read_only("break", "Break", "Breaks.")))
    }

    fn call(&self, _call: &Call<'_>) -> Result<Answer, ToolError> {
        panic!("the secret cause");
    }
}

/// A running server.
pub(crate) struct TestServer {
    pub(crate) shared: Shared,
    pub(crate) mcp: Arc<Mcp>,
    pub(crate) notifications: Receiver<Notification>,
    pub(crate) go: Sender<()>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) address: String,
    served: Option<JoinHandle<()>>,
    folder: Folder,
    registry: Registry,
}

impl TestServer {
    /// Starts a server on a free port.
    pub(crate) fn start(limits: LimitsConfig, resources: ResourceSet) -> TestServer {
        let folder = Folder::new();
        let (notification_sender, notifications) = channel();
        let (go, go_receiver) = channel();
        let waiting =
            Waiting { notifications: Mutex::new(notification_sender), go: Mutex::new(go_receiver) };
        let registry = Registry::new(vec![Box::new(waiting), Box::new(Broken)]);
        let shared = Shared::new(app(&folder, registry.clone(), limits, resources));
        let shutdown = CancellationToken::new();
        let (bound, address) = channel();
        let served = {
            let (shared, shutdown) = (shared.clone(), shutdown.clone());
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                runtime.block_on(async {
                    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                    bound.send(listener.local_addr().unwrap().to_string()).unwrap();
                    serve::run(listener, shared, shutdown).await.unwrap();
                });
                runtime.shutdown_background();
            })
        };
        let address = address.recv_timeout(PATIENCE).unwrap();
        let mcp = Arc::new(Mcp::new(&testkit::Http::new(&address), "/mcp"));
        TestServer {
            shared,
            mcp,
            notifications,
            go,
            shutdown,
            address,
            served: Some(served),
            folder,
            registry,
        }
    }

    /// Makes another application with the same tools.
    pub(crate) fn another_app(&self, limits: LimitsConfig) -> App {
        app(&self.folder, self.registry.clone(), limits, ResourceSet::default())
    }

    /// Calls the waiting tool on another thread.
    pub(crate) fn call_in_background(&self) -> JoinHandle<Value> {
        let mcp = Arc::clone(&self.mcp);
        let call = json!({ "name": "wait", "arguments": { "query": "how long" } });
        let handle = std::thread::spawn(move || mcp.request("tools/call", &call));
        assert_eq!(self.notifications.recv_timeout(PATIENCE), Ok(Notification::Started));
        handle
    }

    /// Gives a request for the waiting tool as bytes of HTTP.
    pub(crate) fn raw_call(&self) -> Vec<u8> {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "wait" },
        });
        Request::new("POST", "/mcp").json(&call).bytes(&self.address)
    }

    /// Waits until the audit holds an entry that fits.
    pub(crate) fn audited(&self, fits: impl Fn(&Entry) -> bool) -> Entry {
        let waited = std::time::Instant::now();
        loop {
            let found = Audit::tail(self.folder.path(), 100, &fits).unwrap().pop();
            match found {
                Some(entry) => return entry,
                None if waited.elapsed() > PATIENCE => panic!("no entry fits"),
                None => std::thread::yield_now(),
            }
        }
    }

    /// Waits until the server has ended.
    pub(crate) fn join(mut self) {
        self.served.take().unwrap().join().unwrap();
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
        // A call that still waits must not hold up the end.
        while self.go.send(()).is_ok() && self.served.as_ref().is_some_and(|s| !s.is_finished()) {
            std::thread::yield_now();
        }
    }
}

fn app(folder: &Folder, tools: Registry, limits: LimitsConfig, resources: ResourceSet) -> App {
    let clock = testkit::fixed_clock();
    let no_variable = |_: &str| None;
    App {
        server: ServerConfig::default(),
        audit_config: AuditConfig::default(),
        authenticator: Authenticator::new(
            &AuthConfig::default(),
            &no_variable,
            Arc::new(|_| None),
            clock.clone(),
        )
        .unwrap(),
        token_issuer: None,
        limiter: Arc::new(Limiter::new(&limits)),
        slots: Slots::new(SlotLimits::of(&limits)),
        failed_logins: Arc::default(),
        limits,
        audit: Arc::new(Audit::open(folder.path()).unwrap()),
        answers: Arc::new(guard::Answers::new(
            &folder.path().join("answers"),
            &AuditConfig::default(),
        )),
        metrics: Arc::new(Metrics::new()),
        clock,
        tools,
        resources,
        first_table: None,
        exposed: Default::default(),
        endpoints: None,
        across: across::Service::new(Vec::new()),
        tables: None,
        charts: None,
        files: None,
        reconciliation: None,
        knowledge: None,
        contexts: None,
        queue: None,
        instructions: "a server under test".to_owned(),
        console: serve::ConsoleSettings::open(folder.path(), &serve::ConsoleConfig::default())
            .unwrap(),
        readiness: Arc::new(serve::Health::good),
    }
}
