//! A real browser without a window, driven over its debugging pipe: pages are opened, asked and
//! looked at as a person's browser would show them.
//!
//! The pipe needs no port and no WebSocket: two named pipes stand for the descriptors 3 and 4 on
//! which the browser listens, and messages are JSON with a zero byte after each.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};

use crate::{Folder, bed};

/// How long the browser may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// How often a page is asked for again that another one took the place of.
const MAX_ABORTED: usize = 20;

/// What a page is told about the reader's taste.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourScheme {
    /// Dark letters on a bright ground.
    Light,
    /// Bright letters on a dark ground.
    Dark,
}

/// A running browser with one page. Dropping it ends the process.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    commands: fs_err::File,
    messages: mpsc::Receiver<Value>,
    session: String,
    last_id: u64,
    /// Errors and refusals that pages have written to the browser's console.
    complaints: Vec<String>,
    _folder: Folder,
}

impl Browser {
    /// Starts the browser of the test bed, or gives `None` where there is none.
    #[track_caller]
    pub fn start() -> Option<Self> {
        let program = bed::browser()?;
        let folder = Folder::new();
        let (commands, answers) = (folder.join("commands"), folder.join("answers"));
        let made = Command::new("mkfifo").args([&commands, &answers]).status();
        assert!(made.is_ok_and(|status| status.success()), "`mkfifo` makes the named pipes");
        let child = start_process(&program, &folder, &commands, &answers);
        // Opening waits for the other side; the shell opens them in the same order.
        let commands = fs_err::File::options().write(true).open(&commands);
        let answers = fs_err::File::open(&answers);
        let (sender, messages) = mpsc::channel();
        let mut answers = BufReader::new(answers.expect("the browser answers over a pipe"));
        thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|n_bytes| n_bytes > 0) {
                if message.pop() == Some(0)
                    && let Ok(message) = serde_json::from_slice(&message)
                    && sender.send(message).is_err()
                {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            commands: commands.expect("the browser listens on a pipe"),
            messages,
            session: String::new(),
            last_id: 0,
            complaints: Vec::new(),
            _folder: folder,
        };
        let target = browser.command("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.command("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().expect("a session has an id").to_owned();
        for domain in ["Page.enable", "Log.enable", "Runtime.enable"] {
            browser.command(domain, &json!({}));
        }
        Some(browser)
    }

    /// Opens a page and waits until it is loaded.
    #[track_caller]
    pub fn open(&mut self, url: &str) {
        let mut answer = self.command("Page.navigate", &json!({ "url": url }));
        // A form that was sent just before leads elsewhere at the same moment, and wins.
        for _ in 0..MAX_ABORTED {
            if answer["errorText"] != "net::ERR_ABORTED" {
                break;
            }
            thread::sleep(Duration::from_millis(100));
            answer = self.command("Page.navigate", &json!({ "url": url }));
        }
        assert!(answer.get("errorText").is_none(), "`{url}`: {answer}");
        self.wait_for("Page.loadEventFired");
    }

    /// Sets the size of the window, in CSS pixels.
    #[track_caller]
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.command("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Tells the page whether its reader likes it dark.
    #[track_caller]
    pub fn prefer(&mut self, scheme: ColourScheme) {
        let value = match scheme {
            ColourScheme::Light => "light",
            ColourScheme::Dark => "dark",
        };
        let feature = json!({ "name": "prefers-color-scheme", "value": value });
        self.command("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// Evaluates an expression in the page and gives its value; a promise is waited for.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let arguments =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.command("Runtime.evaluate", &arguments);
        let failed = answer.get("exceptionDetails");
        assert!(failed.is_none(), "`{expression}`: {}", failed.unwrap_or(&Value::Null));
        answer["result"]["value"].take()
    }

    /// Tells whether an expression is true now; a page that is just changing says no.
    #[track_caller]
    pub fn is_true(&mut self, expression: &str) -> bool {
        let guarded = format!(
            "(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()"
        );
        let arguments = json!({ "expression": guarded, "returnByValue": true });
        let answer = self.exchange("Runtime.evaluate", &arguments);
        answer["result"]["result"]["value"] == json!(true)
    }

    /// Gives what pages have complained of since the last time: exceptions, refused content,
    /// addresses that are not there.
    pub fn complaints(&mut self) -> Vec<String> {
        // Whatever was said before the answer to this has arrived by then.
        self.evaluate("0");
        std::mem::take(&mut self.complaints)
    }

    /// Turns scripts of pages on or off; those of tests run all the same.
    #[track_caller]
    pub fn run_scripts(&mut self, is_on: bool) {
        self.command("Emulation.setScriptExecutionDisabled", &json!({ "value": !is_on }));
    }

    /// Clicks on the middle of the first element that a selector names, with the mouse. A question
    /// that a page asks in a dialog is answered yes.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const it = document.querySelector({}); if (!it) return null; \
             it.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const box = it.getBoundingClientRect(); \
             return [box.left + box.width / 2, box.top + box.height / 2]; }})()",
            Value::from(selector)
        ));
        assert!(place.is_array(), "nothing is at `{selector}`");
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.exchange("Input.dispatchMouseEvent", &event);
        }
    }

    /// Clicks into a field and types, in the place of what is in it.
    #[track_caller]
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.evaluate(&format!("document.querySelector({}).select()", Value::from(selector)));
        self.command("Input.insertText", &json!({ "text": text }));
    }

    /// Presses and lets go of a key, such as `j`, `Enter` or `Tab`.
    #[track_caller]
    pub fn press(&mut self, key: &str) {
        let (text, code) = match key {
            "Enter" => ("\r", 13),
            "Tab" => ("", 9),
            "Escape" => ("", 27),
            other => (other, 0),
        };
        let mut down = json!({ "type": "keyDown", "key": key, "text": text });
        if code > 0 {
            down["windowsVirtualKeyCode"] = json!(code);
        }
        self.exchange("Input.dispatchKeyEvent", &down);
        self.exchange("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": key }));
    }

    /// Takes a picture of what is in the window, as PNG.
    #[track_caller]
    pub fn window_screenshot(&mut self) -> Vec<u8> {
        let answer = self.command("Page.captureScreenshot", &json!({ "format": "png" }));
        let picture = answer["data"].as_str().expect("a picture comes as base64");
        base64::engine::general_purpose::STANDARD.decode(picture).expect("it is base64")
    }

    /// Takes a picture of the whole page, as PNG.
    #[track_caller]
    pub fn screenshot(&mut self) -> Vec<u8> {
        let arguments = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.command("Page.captureScreenshot", &arguments);
        let picture = answer["data"].as_str().expect("a picture comes as base64");
        base64::engine::general_purpose::STANDARD.decode(picture).expect("it is base64")
    }

    /// Sends a command of the DevTools protocol and gives its result.
    #[track_caller]
    pub fn command(&mut self, method: &str, params: &Value) -> Value {
        let mut answer = self.exchange(method, params);
        assert!(answer.get("error").is_none(), "`{method}`: {answer}");
        answer["result"].take()
    }

    #[track_caller]
    fn exchange(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let bytes = format!("{message}\0");
        self.commands.write_all(bytes.as_bytes()).expect("the browser listens");
        self.receive(&format!("`{method}`"), |message| message["id"] == json!(id))
    }

    #[track_caller]
    fn wait_for(&mut self, event: &str) {
        self.receive(event, |message| message["method"] == event);
    }

    #[track_caller]
    fn receive(&mut self, what: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        while let Some(left) = ANSWER_LIMIT.checked_sub(begun.elapsed()) {
            match self.messages.recv_timeout(left) {
                Ok(message) => {
                    self.note(&message);
                    if is_wanted(&message) {
                        return message;
                    }
                }
                Err(_) => break,
            }
        }
        let status = self.child.try_wait();
        panic!("the browser did not answer {what} in {ANSWER_LIMIT:?} (it ended: {status:?})");
    }
}

impl Browser {
    /// Remembers what a page complains of, and answers the questions of its dialogs.
    fn note(&mut self, message: &Value) {
        let params = &message["params"];
        let complaint = match message["method"].as_str() {
            Some("Log.entryAdded") if params["entry"]["level"] == "error" => &params["entry"],
            Some("Runtime.exceptionThrown") => &params["exceptionDetails"],
            Some("Runtime.consoleAPICalled") if params["type"] == "error" => &params["args"],
            Some("Page.javascriptDialogOpening") => {
                self.last_id += 1;
                let answer = json!({
                    "id": self.last_id, "method": "Page.handleJavaScriptDialog",
                    "params": { "accept": true }, "sessionId": self.session,
                });
                // A browser that listens no more is noticed by whoever waits for its answer.
                let _ = self.commands.write_all(format!("{answer}\0").as_bytes());
                return;
            }
            _ => return,
        };
        self.complaints.push(complaint.to_string());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its own children end when the main process is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start_process(program: &Path, folder: &Folder, commands: &Path, answers: &Path) -> Child {
    let arguments = [
        "--headless=new",
        "--remote-debugging-pipe",
        // Containers often have neither user namespaces nor a large /dev/shm, and the pages are
        // the test's own.
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--hide-scrollbars",
        "--force-color-profile=srgb",
    ];
    Command::new("sh")
        .args(["-c", "exec \"$@\" 3<\"$COMMANDS\" 4>\"$ANSWERS\"", "sh"])
        .arg(program)
        .args(arguments)
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .env("COMMANDS", commands)
        .env("ANSWERS", answers)
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell can be started")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loopback::{Loopback, Reply};

    #[test]
    fn a_page_is_opened_asked_and_looked_at() {
        let page = "<!doctype html><style>:root{color-scheme:light dark}</style><h1>Hi</h1>";
        let server =
            Loopback::start(move |_| Reply::ok(page).with_header("content-type", "text/html"));
        let Some(mut browser) = Browser::start() else { return };
        browser.resize(400, 300);
        browser.open(&server.url("/"));
        assert_eq!(browser.evaluate("document.querySelector('h1').textContent"), "Hi");
        browser.prefer(ColourScheme::Dark);
        assert_eq!(browser.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"), true);
        assert_eq!(browser.evaluate("Promise.resolve(innerWidth)"), 400);
        assert!(browser.screenshot().starts_with(b"\x89PNG"));
        assert!(browser.window_screenshot().starts_with(b"\x89PNG"));
        assert_eq!(browser.complaints(), [] as [String; 0]);
        browser.evaluate("console.error('on purpose')");
        let complaints = browser.complaints();
        assert!(complaints.len() == 1 && complaints[0].contains("on purpose"), "{complaints:?}");
        browser.evaluate("document.body.innerHTML = '<input id=a><button id=b>B</button>'");
        browser.evaluate("b.addEventListener('click', () => { a.value += confirm('?') })");
        browser.fill("#a", "typed ");
        browser.click("#b");
        assert_eq!(browser.evaluate("a.value"), "typed true");
        browser.evaluate("addEventListener('keydown', event => { a.value = event.key })");
        browser.press("j");
        assert_eq!(browser.evaluate("a.value"), "j");
    }
}
