//! `drawloom mcp`: a session of a client, over stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::hostile::{Machine, STEERS, check, trace};
use crate::sample::Sample;

/// A client that speaks the protocol line by line.
struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    requests: u64,
}

impl Client {
    fn new(sample: &Sample) -> Client {
        let mut command = sample.command(&["mcp"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let to = server.stdin.take();
        let from = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut client = Client { server, to, from, requests: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a test", "version": "1"},
        });
        let welcome = client.request("initialize", hello);
        assert_eq!(welcome["serverInfo"]["name"], "drawloom");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("the session lasts");
        writeln!(to, "{message}").expect("the server reads");
    }

    /// The result of a request.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.from.read_line(&mut line).expect("the server answers");
        let mut message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["id"], id, "{line}");
        message["result"].take()
    }

    /// The text and the structured content of a tool's answer, if it is no error.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<(String, Value), String> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        match result["isError"] == json!(true) {
            true => Err(text),
            false => Ok((text, result["structuredContent"].clone())),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A server whose client is gone ends.
        drop(self.to.take());
        let _ = self.server.wait();
    }
}

#[test]
fn an_agent_tests_lists_explains_replays_shrinks_compares_and_checks() {
    let sample = Sample::new("server");
    let mut client = Client::new(&sample);

    let tools = client.request("tools/list", json!({}));
    let mut names: Vec<&str> =
        tools["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["check", "diff", "explain", "list", "replay", "shrink", "test"]);

    let (text, run) = client.call("test", json!({"filter": "comes_in_between"})).expect("it runs");
    assert!(text.contains("FAILED (seed: 0x5eed, iteration: 1)"), "{text}");
    assert_eq!(run["summary"]["exit_code"], 1);
    let token = run["tests"][0]["exploration"]["findings"][0]["token"].clone();

    let (_, list) = client.call("list", json!({})).expect("it lists");
    assert_eq!(list["findings"][0]["token"], token);

    let (text, _) = client.call("explain", json!({"finding": token})).expect("it explains");
    assert!(text.contains("a deposit was lost"), "{text}");

    let (_, again) = client.call("replay", json!({"finding": token})).expect("it replays");
    assert_eq!(again["failed"], true);

    let (_, less) = client.call("shrink", json!({"finding": "comes_in_between"})).expect("it shrinks");
    assert_eq!(less["minimised"]["after"]["preemptions"], 1);

    let (_, none) = client.call("diff", json!({"one": token, "other": "comes_in_between"})).expect("it compares");
    assert_eq!(none["same"], true);

    let history = sample.store.join("history.jsonl");
    std::fs::write(&history, crate::checking::STALE).expect("a file");
    let asked = json!({"file": history, "model": "cas-register"});
    let (text, checked) = client.call("check", asked).expect("it checks");
    assert_eq!(checked["verdict"], "illegal", "{text}");

    let error = client.call("test", json!({"strategy": "radnom"})).expect_err("there is no such strategy");
    assert!(error.contains("did you mean `random`?"), "{error}");
    let error = client.call("replay", json!({"finding": "dl1AAAA"})).expect_err("that is no token");
    assert!(error.contains("damaged"), "{error}");
}

#[test]
fn an_agent_is_shown_no_file_from_outside_and_nothing_that_steers_a_terminal() {
    let (sample, machine) = (Sample::new("hostile_server"), Machine::new("server"));
    let secret = machine.folder.join("secret.rs").display().to_string();
    let file = machine.trace("a.json", &trace("text", &secret));
    let steers = machine.trace("b.json", &trace(STEERS, &secret));
    let mut client = Client::new(&sample);
    for (tool, arguments) in [
        ("explain", json!({"finding": file})),
        ("explain", json!({"finding": steers})),
        ("diff", json!({"one": file, "other": steers})),
        ("explain", json!({"finding": STEERS})),
        ("check", json!({"file": secret})),
        ("replay", json!({"finding": steers})),
    ] {
        let (text, value) = client.call(tool, arguments).unwrap_or_else(|error| (error, Value::Null));
        check(&text);
        assert!(!value.to_string().contains("the-secret"), "{value}");
    }
}
