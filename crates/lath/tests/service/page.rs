//! The page of `lath serve --demo` in a real Chromium: provenance is read, a refused edit tells the tenant's reason, an edit is
//! saved, a review approved, an upgrade walked through with its orphan; by mouse and by keyboard.
//!
//! With `LATH_BLESS` the screenshots in `docs/images` are made anew.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::process::Running;

/// A session of a browser, spoken to over WebDriver.
struct Browser {
    driver: Client,
    session: String,
    _process: Running,
}

impl Browser {
    fn start() -> Browser {
        let process = Running::start(
            "chromedriver",
            &["--port=0"],
            &[],
            "started successfully on port ",
        );
        let port: u16 = process.told.trim_end_matches('.').parse().unwrap();
        let mut driver = Client::new(([127, 0, 0, 1], port).into(), "");
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--window-size=1200,900",
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {"browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": {"args": arguments}}}});
        let session = driver.post("/session", &wanted).ok(200)["value"]["sessionId"]
            .as_str()
            .unwrap()
            .to_owned();
        Browser {
            driver,
            session,
            _process: process,
        }
    }

    fn post(&mut self, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{path}", self.session);
        self.driver.post(&path, body).ok(200)["value"].clone()
    }

    fn go(&mut self, url: &str) {
        self.post("url", &json!({"url": url}));
    }

    /// What a script says.
    fn js(&mut self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until the page's text holds something.
    #[track_caller]
    fn sees(&mut self, wanted: &str) {
        self.until(
            wanted,
            &format!("return document.body.innerText.includes({})", json!(wanted)),
        );
    }

    #[track_caller]
    fn until(&mut self, what: &str, script: &str) {
        let start = Instant::now();
        while self.js(script) != json!(true) {
            if start.elapsed() > Duration::from_secs(20) {
                let text = self.js("return document.body.innerText");
                panic!("no {what} on the page:\n{}", text.as_str().unwrap());
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn find(&mut self, how: &str, what: &str) -> String {
        let path = format!("/session/{}/element", self.session);
        let found = self
            .driver
            .post(&path, &json!({"using": how, "value": what}));
        let found = found.ok(200);
        let (_, id) = found["value"].as_object().unwrap().iter().next().unwrap();
        id.as_str().unwrap().to_owned()
    }

    fn click(&mut self, css: &str) {
        let id = self.find("css selector", css);
        self.post(&format!("element/{id}/click"), &json!({}));
    }

    /// Clicks a button by what it says.
    fn press(&mut self, text: &str) {
        let id = self.find("xpath", &format!("//button[normalize-space()='{text}']"));
        self.post(&format!("element/{id}/click"), &json!({}));
    }

    fn write(&mut self, css: &str, text: &str) {
        let id = self.find("css selector", css);
        self.post(&format!("element/{id}/clear"), &json!({}));
        self.post(&format!("element/{id}/value"), &json!({"text": text}));
    }

    /// Keys to whatever has the focus.
    fn keys(&mut self, keys: &[&str]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| {
                [
                    json!({"type": "keyDown", "value": key}),
                    json!({"type": "keyUp", "value": key}),
                ]
            })
            .collect();
        self.post(
            "actions",
            &json!({"actions": [{"type": "key", "id": "k", "actions": actions}]}),
        );
    }

    fn sign_in(&mut self, base: &str, token: &str, fragment: &str) {
        self.go("about:blank");
        self.go(base);
        self.js("sessionStorage.clear()");
        self.go("about:blank");
        self.go(&format!("{base}/#{fragment}"));
        self.sees("Sign in");
        self.write("#token", token);
        self.click("#sign-in button");
        self.until("a table", "return document.getElementById('work').hidden === false && document.querySelectorAll('#view table, #view p, #view h2').length > 0");
    }

    /// The line of a key, opened.
    fn open(&mut self, key: &str) {
        self.click(&format!("tr[data-key='{key}'] button"));
    }

    fn picture(&mut self, name: &str) {
        if std::env::var_os("LATH_BLESS").is_none() {
            return;
        }
        let path = format!("/session/{}/screenshot", self.session);
        let taken = self.driver.get(&path).ok(200);
        let bytes = base64(taken["value"].as_str().unwrap());
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images");
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(format!("{folder}/{name}.png"), bytes).unwrap();
    }

    fn emulate(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.post(
            "goog/cdp/execute",
            &json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}),
        );
    }

    /// What the browser's console complains of.
    fn complaints(&mut self) -> Vec<String> {
        let log = self.post("se/log", &json!({"type": "browser"}));
        let lines = log.as_array().unwrap().iter();
        lines
            .filter(|line| line["level"] == "SEVERE")
            .map(|line| line["message"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self
            .driver
            .try_send("DELETE", &format!("/session/{}", self.session), &[], b"");
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let text = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::new();
    for part in text.chunks(4) {
        let number = part.iter().fold(0, |n, &b| n << 6 | digit(b)) << (6 * (4 - part.len()));
        out.extend(number.to_be_bytes()[1..].iter().take(part.len() * 6 / 8));
    }
    out
}

#[test]
fn a_tenant_lives_with_the_page() {
    let node = Running::lath(
        &["serve", "--demo", "--listen", "127.0.0.1:0"],
        &[],
        "listening on ",
    );
    let base = node.told.clone();
    let mut browser = Browser::start();

    // A workspace admin approves what the user asked for.
    browser.sign_in(&base, "demo-marketing", "view=Reviews");
    browser.sees("model.cost_cap = 4");
    browser.picture("page-review");
    browser.press("Approve");
    browser.sees("approved");
    browser.sees("Nothing waits for a review.");
    browser.sign_in(&base, "demo-u4", "");
    browser.until("the approved value", "return document.querySelector('tr[data-key=\"model.cost_cap\"]')?.innerText.includes('4') ?? false");

    // A user: where a value comes from, what may be changed, and what may not, with the reason.
    browser.sign_in(&base, "demo-u4", "");
    browser.sees("fact_grounding_threshold");
    browser.sees("locked by tenant: works council agreement");
    let strip = browser.js("return document.querySelector('tr[data-key=\"fact_grounding_threshold\"] .strip').getAttribute('aria-label')");
    assert_eq!(
        strip,
        "host absent, app overridden, tenant overridden, workspace stands, user absent, runtime absent"
    );
    browser.picture("page-settings");
    browser.open("fact_grounding_threshold");
    browser.sees("Why fact_grounding_threshold is what it is");
    browser.sees("legal review 2026-04");
    browser.write("textarea", "0.5");
    browser.sees("is out of range: policy grounding-floor of tenant acme");
    browser.sees("ask legal@acme");
    let disabled = "return document.querySelector('form button.primary').disabled";
    assert_eq!(browser.js(disabled), true);
    browser.picture("page-refused");
    browser.write("textarea", "0.9");
    browser.sees("Then fact_grounding_threshold is 0.9, from user.");
    browser.picture("page-what-if");
    browser.press("Save for acme/marketing/u4");
    browser.sees("fact_grounding_threshold is saved");
    browser.until("the saved value", "return document.querySelector('tr[data-key=\"fact_grounding_threshold\"]').innerText.includes('0.9')");
    browser.open("workflow.human_review");
    browser.sees("The tenant has locked it: works council agreement.");

    // The same by keyboard: filter, open, next.
    browser.sign_in(&base, "demo-u4", "");
    browser.sees("fact_grounding_threshold");
    browser.js("document.getElementById('main').focus()");
    browser.keys(&["/"]);
    assert_eq!(browser.js("return document.activeElement.id"), "filter");
    browser.keys(&["m", "o", "d", "e", "l"]);
    browser.until(
        "three keys",
        "return document.querySelectorAll('tr[data-key]:not([hidden])').length === 3",
    );
    browser.keys(&["\u{E004}", "\u{E015}", "\u{E007}"]);
    browser.until("an open line", "return document.activeElement.getAttribute('aria-expanded') === 'true' && document.activeElement.textContent === 'model.fallback'");
    let unnamed = browser.js("return [...document.querySelectorAll('button, input, select, textarea')].filter(e => e.checkVisibility() && !(e.ariaLabel || e.textContent.trim() || e.labels?.length)).length");
    assert_eq!(unnamed, 0, "every control has a name");

    // A tenant admin: readiness, history and back, then the upgrade with its orphan.
    browser.sign_in(&base, "demo-acme", "view=Readiness");
    browser.sees("content-factory-app for acme");
    browser.picture("page-readiness");
    browser.press("History");
    browser.sees("What acme has set, newest first");
    browser.press("Upgrade");
    browser.sees("Verdict: needs-review");
    browser.sees("export.watermark");
    browser.picture("page-upgrade");
    assert_eq!(
        browser.js("return [...document.querySelectorAll('button.primary')].at(-1).disabled"),
        true
    );
    browser
        .js("document.querySelectorAll('#view input[type=checkbox]').forEach(box => box.click())");
    browser.press("Switch to 2.0.0");
    browser.sees("content-factory-app is now 2.0.0");
    browser.press("Orphans");
    browser.sees("export.watermark");
    browser.picture("page-orphans");
    browser.press("Remove");
    browser.sees("There are no orphans.");

    // Dark, narrow, and somebody with the wrong token.
    browser.emulate("dark");
    browser.sign_in(&base, "demo-acme", "");
    browser.sees("fact_grounding_threshold");
    browser.picture("page-dark");
    let ground = browser.js("return getComputedStyle(document.body).backgroundColor");
    assert_eq!(ground, "rgb(22, 25, 29)");
    browser.post("window/rect", &json!({"width": 500, "height": 900}));
    browser.until(
        "no sideways scrolling",
        "return document.documentElement.scrollWidth <= window.innerWidth",
    );
    browser.picture("page-narrow");
    let outside = browser.js("return performance.getEntriesByType('resource').filter(e => !e.name.startsWith(location.origin)).length");
    assert_eq!(outside, 0, "nothing comes from elsewhere");
    let complaints = browser.complaints();
    let ours: Vec<_> = complaints
        .iter()
        .filter(|line| {
            !["401", "412", "422"]
                .iter()
                .any(|status| line.contains(status))
        })
        .collect();
    assert!(ours.is_empty(), "{ours:?}");
    browser.press("Sign out");
    browser.sees("Paste a token");
    browser.write("#token", "wrong");
    browser.click("#sign-in button");
    browser.sees("That token is not known, or no longer valid.");
}
