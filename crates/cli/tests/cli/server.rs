//! `drawloom mcp`: a session of a client, over stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hostile::{Machine, STEERS, check, trace};
use crate::sample::Sample;

/// No answer takes longer, however busy the machine is.
const LONGEST: Duration = Duration::from_secs(300);

/// A client that speaks the protocol line by line.
struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    requests: u64,
    /// What the server has told without being asked.
    told: Vec<Value>,
    schemas: Vec<Value>,
}

/// Asserts that a value is what a schema says, as far as ours go: types, words, required properties, items.
fn conforms(schema: &Value, value: &Value, at: &str) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) => {
            if number.is_f64() {
                "number"
            } else {
                "integer"
            }
        }
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = match &schema["type"] {
        Value::Array(kinds) => kinds.contains(&json!(kind)),
        Value::String(one) => one == kind,
        _ => true,
    };
    assert!(fits, "{at} is {kind}, which {schema} does not allow: {value}");
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{at}: {value}");
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(value.is_null() || value.get(name).is_some(), "{at} has no {name}: {value}");
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        value.get(name).into_iter().for_each(|value| conforms(inner, value, &format!("{at}.{name}")));
    }
    value.as_array().into_iter().flatten().for_each(|value| conforms(&schema["items"], value, at));
}

impl Client {
    fn new(sample: &Sample) -> Client {
        let mut command = sample.command(&["mcp"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let to = server.stdin.take();
        let out = BufReader::new(server.stdout.take().expect("a pipe"));
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                let _ = sender.send(message);
            }
        });
        let mut client = Client { server, to, from, requests: 0, told: Vec::new(), schemas: Vec::new() };
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

    /// Sends a request, and does not wait for what comes of it.
    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message that answers a request; what the server tells besides is kept.
    fn next(&mut self, id: u64) -> Value {
        loop {
            let message = self.from.recv_timeout(LONGEST).expect("the server answers");
            if message["id"] == id {
                return message;
            }
            assert!(message["id"].is_null() || message["id"].as_u64() < Some(id), "{message}");
            self.told.push(message);
        }
    }

    /// The result of a request.
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.next(id)["result"].take()
    }

    /// The message of the protocol's error that a call is answered with.
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let answer = self.next(id);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        answer["error"]["message"].as_str().expect("a message").to_owned()
    }

    /// The text and the structured content of a tool's answer, if it is no error.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<(String, Value), String> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        match result["isError"] == json!(true) {
            true => Err(text),
            false => {
                let value = result["structuredContent"].clone();
                if self.schemas.is_empty() {
                    let tools = self.request("tools/list", json!({}))["tools"].take();
                    self.schemas = tools.as_array().expect("tools").clone();
                }
                let described = self.schemas.iter().find(|described| described["name"] == tool).expect("it is listed");
                conforms(&described["outputSchema"], &value, tool);
                Ok((text, value))
            }
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
    assert_eq!(names, ["analyze", "check", "diff", "explain", "findings", "replay", "shrink", "test"]);

    let (text, run) = client.call("test", json!({"filter": "comes_in_between"})).expect("it runs");
    assert!(text.contains("FAILED (seed: 0x5eed, iteration: 1)"), "{text}");
    assert_eq!(run["summary"]["exit_code"], 1);
    let token = run["tests"][0]["exploration"]["findings"][0]["token"].clone();

    let (_, list) = client.call("findings", json!({})).expect("it lists");
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

#[test]
fn every_tool_says_what_it_takes_and_gives_and_whether_it_changes_anything() {
    let sample = Sample::new("server_tools");
    let mut client = Client::new(&sample);
    let tools = client.request("tools/list", json!({}));
    for tool in tools["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        let reads = ["explain", "diff", "check", "findings"].contains(&name);
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{name}");
        // What the command takes, the tool takes.
        let help = sample.run(&[name, "--help"]).out;
        let words = help.split([' ', '\n', ',']).filter_map(|word| word.strip_prefix("--"));
        let known: Vec<String> = words.map(|word| word.replace('-', "_")).collect();
        let people = ["help", "version", "format", "json", "quiet", "github", "html"];
        let properties = tool["inputSchema"]["properties"].as_object().expect("properties");
        for option in known.iter().filter(|option| option.chars().all(|c| c.is_ascii_lowercase() || c == '_')) {
            let is_option = help.contains(&format!("--{} ", option.replace('_', "-")))
                || help.contains(&format!("--{}\n", option.replace('_', "-")));
            if is_option && !people.contains(&option.as_str()) && !option.is_empty() {
                assert!(properties.contains_key(option), "{name} has no argument {option}");
            }
        }
        for (property, schema) in properties {
            assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {property}");
        }
    }
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let sample = Sample::new("server_strict");
    let mut client = Client::new(&sample);
    let message = client.refused("test", json!({"fliter": "x"}));
    assert!(message.starts_with("`test` has no argument `fliter`; it takes `filter`, `seed`"), "{message}");
    assert_eq!(client.refused("explain", json!({})), "`explain` needs the argument `finding`");
    assert_eq!(client.refused("test", json!({"tokio": "yes"})), "`tokio` takes `true` or `false`, not \"yes\"");
    assert_eq!(client.refused("list", json!({"filter": {}})), "`filter` takes a text or a number, not {}");
    let message = client.refused("check", json!({"file": "-"}));
    assert!(message.contains("begins with a dash"), "stdin is the client's: {message}");
    let error = client.call("test", json!({"runner": "make"})).expect_err("there is no such runner");
    assert!(error.contains("make"), "{error}");
}

#[test]
fn an_agent_is_told_how_far_a_run_has_come() {
    let sample = Sample::new("server_progress");
    let mut client = Client::new(&sample);
    let arguments = json!({"name": "test", "arguments": {"filter": "passes"}, "_meta": {"progressToken": "p1"}});
    let result = client.request("tools/call", arguments);
    let tests = result["structuredContent"]["summary"]["tests"].as_u64().expect("a number");
    let told: Vec<&Value> =
        client.told.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert_eq!(told.len() as u64, tests + 1, "{told:?}");
    for (at, message) in told.iter().enumerate() {
        let params = &message["params"];
        assert_eq!((&params["progressToken"], params["progress"].as_f64()), (&json!("p1"), Some(at as f64)));
        assert_eq!(params["total"].as_f64(), Some(tests as f64));
    }
}

/// Starts a run that would take ten minutes, and waits until tests are explored.
fn long_run(client: &mut Client) -> u64 {
    let arguments = json!({"filter": "passes_as_far", "time": "600s"});
    let params = json!({"name": "test", "arguments": arguments, "_meta": {"progressToken": 7}});
    let id = client.ask("tools/call", params);
    let told = client.from.recv_timeout(LONGEST).expect("it says that it has begun");
    assert_eq!(told["method"], "notifications/progress", "{told}");
    id
}

/// Whether a process has children; no where that cannot be told.
fn has_children(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    children.into_iter().any(|children| !children.trim().is_empty())
}

#[test]
fn a_call_that_is_cancelled_ends_and_the_next_one_is_answered() {
    let sample = Sample::new("server_cancel");
    let mut client = Client::new(&sample);
    let id = long_run(&mut client);
    // Between the build and the first test there may be no child for a moment.
    let asked = Instant::now();
    while cfg!(target_os = "linux") && !has_children(client.server.id()) {
        assert!(asked.elapsed() < LONGEST, "no test runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    let began = Instant::now();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    let (_, run) = client.call("test", json!({"filter": "passes_in_every_order"})).expect("it runs");
    assert_eq!(run["summary"]["passed"], 1);
    while has_children(client.server.id()) {
        assert!(began.elapsed() < Duration::from_secs(120), "the tests go on");
        std::thread::sleep(Duration::from_millis(20));
    }
    // And with the client, the server ends, which waits for nothing.
    drop(client);
    assert!(began.elapsed() < Duration::from_secs(240), "{:?}", began.elapsed());
}

#[test]
fn the_server_ends_with_its_input_whatever_it_does() {
    let sample = Sample::new("server_ends");
    let mut client = Client::new(&sample);
    long_run(&mut client);
    let began = Instant::now();
    drop(client.to.take());
    while client.server.try_wait().expect("it is a child").is_none() {
        assert!(began.elapsed() < Duration::from_secs(120), "the server goes on without a client");
        std::thread::sleep(Duration::from_millis(20));
    }
}
