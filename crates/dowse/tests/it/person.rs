//! A person at the console, with a browser, a mouse and a keyboard. Without the test bed's browser
//! there is nobody.

use std::time::Instant;

use serde_json::Value;
use testkit::Browser;

use crate::test_server::PATIENCE;

/// A person at the console of a server.
pub(crate) struct Person {
    pub(crate) browser: Browser,
    base: String,
}

impl Person {
    pub(crate) fn at(base: String) -> Option<Person> {
        let mut browser = Browser::start()?;
        browser.resize(1280, 900);
        Some(Person { browser, base })
    }

    #[track_caller]
    pub(crate) fn open(&mut self, path: &str) {
        let address = format!("{}{path}", self.base);
        self.browser.open(&address);
    }

    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        // A page that is still being laid out moves under the mouse.
        self.wait(&format!(
            "document.readyState === 'complete' && document.querySelector({})",
            Value::from(selector)
        ));
        self.browser.click(selector);
    }

    #[track_caller]
    pub(crate) fn fill(&mut self, selector: &str, text: &str) {
        self.wait(&format!("document.querySelector({})", Value::from(selector)));
        self.browser.fill(selector, text);
    }

    /// Clicks on what opens a folded part, and waits until it is open.
    #[track_caller]
    pub(crate) fn unfold(&mut self, label: &str) {
        let folded = format!(
            "[...document.querySelectorAll('summary')].find(it => it.textContent.includes({}))",
            Value::from(label)
        );
        self.wait(&folded);
        self.browser.evaluate(&format!("{folded}.click()"));
    }

    #[track_caller]
    pub(crate) fn wait(&mut self, expression: &str) {
        let begun = Instant::now();
        while !self.browser.is_true(expression) {
            if begun.elapsed() > PATIENCE {
                let page = self.browser.evaluate("location.href + ' ' + document.body.innerText");
                panic!("never: {expression}\n{}", page.as_str().unwrap_or_default());
            }
            std::thread::sleep(std::time::Duration::from_millis(40));
        }
    }

    /// Waits until the page says something.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) {
        self.wait(&format!("document.body.innerText.includes({})", Value::from(text)));
    }

    /// Opens a page until it says something that is still being written.
    #[track_caller]
    pub(crate) fn reopens_until(&mut self, path: &str, text: &str) {
        let is_said = format!("document.body.innerText.includes({})", Value::from(text));
        let begun = Instant::now();
        loop {
            self.open(path);
            if self.browser.is_true(&is_said) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "`{path}` never says `{text}`");
        }
    }

    #[track_caller]
    pub(crate) fn text(&mut self, selector: &str) -> String {
        let script = format!("document.querySelector({})?.innerText ?? ''", Value::from(selector));
        self.browser.evaluate(&script).as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn count(&mut self, selector: &str) -> u64 {
        let script = format!("document.querySelectorAll({}).length", Value::from(selector));
        self.browser.evaluate(&script).as_u64().unwrap()
    }

    /// Drops a file on the place for uploads.
    #[track_caller]
    pub(crate) fn drop_file(&mut self, name: &str, text: &str) {
        self.browser.evaluate(&format!(
            "const given = new DataTransfer(); given.items.add(new File([{}], {})); \
             document.querySelector('[data-upload]').dispatchEvent(new DragEvent('drop', {{ dataTransfer: given, bubbles: true }}))",
            Value::from(text), Value::from(name)
        ));
        self.wait("document.querySelector('[data-uploads] li.ok')");
    }

    /// The page has done nothing that its own policy forbids.
    #[track_caller]
    pub(crate) fn has_not_complained(&mut self) {
        let complaints = self.browser.complaints();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}
