//! One headless Chromium for all tests of the program. It is driven over pipes with the DevTools protocol: messages of JSON,
//! each ended by a zero byte.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// No answer takes longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Starts `$0` with the protocol on descriptors 3 and 4, and removes its profile `$1` when it ends. It ends when the test
/// program ends, however that is: then the pipe is closed.
const LAUNCHER: &str = r#"profile=$1; shift
"$0" --user-data-dir="$profile" "$@" 3<&0 4>&1 >/dev/null 2>"$profile.log"
rm -rf "$profile" "$profile.log""#;

const FLAGS: [&str; 12] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    // As root there is no sandbox; the pages are our own.
    "--no-sandbox",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    // Several windows are looked at side by side.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
];

struct Chromium {
    input: Mutex<ChildStdin>,
    inbox: Arc<Inbox>,
    next: AtomicU64,
}

/// What Chromium sent and nobody took yet.
#[derive(Default)]
struct Inbox {
    messages: Mutex<Messages>,
    arrived: Condvar,
}

#[derive(Default)]
struct Messages {
    answers: HashMap<u64, Value>,
    /// By session.
    events: HashMap<String, Vec<Value>>,
    ended: bool,
}

impl Inbox {
    /// A test that fails while it holds the lock does not disturb the others.
    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sorts what arrives, until Chromium ends.
    fn fill(&self, output: ChildStdout) {
        for message in BufReader::new(output).split(0).map_while(Result::ok) {
            let Ok(mut message) = serde_json::from_slice::<Value>(&message) else { break };
            let mut messages = self.messages();
            if let Some(id) = message["id"].as_u64() {
                messages.answers.insert(id, message.take());
            } else if let Some(session) = message["sessionId"].as_str() {
                let session = session.to_owned();
                messages.events.entry(session).or_default().push(message);
            }
            self.arrived.notify_all();
        }
        self.messages().ended = true;
        self.arrived.notify_all();
    }

    /// Waits until something is there.
    #[track_caller]
    fn wait<T>(&self, what: &str, mut take: impl FnMut(&mut Messages) -> Option<T>) -> T {
        let mut found = None;
        let unfinished = |messages: &mut Messages| {
            found = take(messages);
            found.is_none() && !messages.ended
        };
        drop(self.arrived.wait_timeout_while(self.messages(), PATIENCE, unfinished));
        found.unwrap_or_else(|| panic!("the browser ended, or does not answer: {what}"))
    }
}

impl Chromium {
    /// The one of this program.
    fn shared(program: &Path) -> &'static Chromium {
        static SHARED: OnceLock<Chromium> = OnceLock::new();
        SHARED.get_or_init(|| Chromium::start(program))
    }

    #[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
    fn start(program: &Path) -> Chromium {
        let mut command = Command::new("sh");
        let profile = crate::browser::folder().join(format!("profile-{}", std::process::id()));
        command.args(["-c", LAUNCHER]).arg(program).arg(profile).args(FLAGS);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell starts");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let inbox = Arc::new(Inbox::default());
        let filled = inbox.clone();
        std::thread::spawn(move || {
            filled.fill(output);
            child.wait()
        });
        Chromium { input: Mutex::new(input), inbox, next: AtomicU64::new(1) }
    }

    /// Sends a message, and returns its number.
    fn send(&self, session: Option<&str>, method: &str, parameters: Value) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let text = format!("{message}\0");
        // Where this fails, Chromium has ended, and so says who waits for the answer.
        let _ = self.input.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes());
        id
    }

    /// Calls a method, and returns its result.
    #[track_caller]
    fn call(&self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        let id = self.send(session, method, parameters);
        let mut answer = self.inbox.wait(method, |messages| messages.answers.remove(&id));
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }
}

/// A window of the browser. It is closed when it is dropped.
pub(crate) struct Window {
    chromium: &'static Chromium,
    context: String,
    session: String,
}

impl Window {
    /// Opens a page, and waits until it is loaded.
    #[track_caller]
    pub(crate) fn open(program: &Path, page: &Path, size: (u32, u32), dark: bool) -> Window {
        let chromium = Chromium::shared(program);
        let word = |value: &Value| value.as_str().expect("a word").to_owned();
        // Pages of one context share a process, in which they would wait for each other.
        let context = word(&chromium.call(None, "Target.createBrowserContext", json!({}))["browserContextId"]);
        let blank = json!({ "url": "about:blank", "newWindow": true, "browserContextId": context });
        let target = word(&chromium.call(None, "Target.createTarget", blank)["targetId"]);
        let attached = json!({ "targetId": target, "flatten": true });
        let session = word(&chromium.call(None, "Target.attachToTarget", attached)["sessionId"]);
        let window = Window { chromium, context, session };
        for domain in ["Page", "Runtime", "Log"] {
            window.call(&format!("{domain}.enable"), json!({}));
        }
        window.call("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        window.resize(size);
        let scheme = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        window.call("Emulation.setEmulatedMedia", json!({ "features": [scheme] }));
        let went = window.call("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        assert!(went["errorText"].is_null(), "{}: {went}", page.display());
        let loader = &went["loaderId"];
        chromium.inbox.wait("the page is loaded", |messages| {
            let events = messages.events.get(&window.session)?;
            let is_load = |event: &Value| event["params"]["name"] == "load" && event["params"]["loaderId"] == *loader;
            events.iter().any(is_load).then_some(())
        });
        window
    }

    #[track_caller]
    fn call(&self, method: &str, parameters: Value) -> Value {
        self.chromium.call(Some(&self.session), method, parameters)
    }

    /// Gives the screen this width and height.
    #[track_caller]
    pub(crate) fn resize(&self, (width, height): (u32, u32)) {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", screen);
    }

    /// The picture of the window, as PNG.
    #[track_caller]
    pub(crate) fn picture(&self) -> Vec<u8> {
        bytes(&self.call("Page.captureScreenshot", json!({ "format": "png" }))["data"])
    }

    /// The page on paper, as PDF, as `--print-to-pdf` prints it.
    #[track_caller]
    pub(crate) fn paper(&self) -> Vec<u8> {
        bytes(&self.call("Page.printToPDF", json!({ "printBackground": true, "preferCSSPageSize": true }))["data"])
    }

    /// What an expression, or the promise that it makes, comes to. The page's policy does not hold for it.
    #[track_caller]
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].take()
    }

    /// What the page wrote to the console until now: its own lines, errors, and what its policy refused.
    #[track_caller]
    pub(crate) fn console(&self) -> Vec<String> {
        // What the page wrote before is sent before this answer.
        self.evaluate("0");
        let messages = self.chromium.inbox.messages();
        let written = ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"];
        let events = messages.events.get(&self.session).into_iter().flatten();
        events.filter(|event| written.iter().any(|name| event["method"] == *name)).map(Value::to_string).collect()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.chromium.send(None, "Target.disposeBrowserContext", json!({ "browserContextId": self.context }));
        self.chromium.inbox.messages().events.remove(&self.session);
    }
}

/// The bytes that a text of base 64 stands for.
fn bytes(text: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(text.as_str().expect("a text")).expect("base 64")
}
