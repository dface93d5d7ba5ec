//! The page of a history.

use std::path::PathBuf;

use drawloom_cli::check::{Options, check};

/// The page that the command writes of a history.
fn page(name: &str, content: &str, model: &str, level: Option<&str>) -> String {
    let path = |ending: &str| -> PathBuf {
        std::env::temp_dir().join(format!("drawloom-page-{}-{name}.{ending}", std::process::id()))
    };
    let (file, html) = (path("history"), path("html"));
    std::fs::write(&file, content).unwrap();
    let options = Options {
        file: file.clone(),
        model: Some(model.to_owned()),
        consistency: level.map(str::to_owned),
        html: Some(html.clone()),
        budget: drawloom_check::Budget::default().steps(200_000),
        ..Options::default()
    };
    check(&options).unwrap();
    let page = std::fs::read_to_string(&html).unwrap();
    std::fs::remove_file(file).unwrap();
    std::fs::remove_file(html).unwrap();
    assert!(page.trim_end().ends_with("</html>"));
    page
}

/// What the page is told.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn line(process: usize, kind: &str, f: &str, value: &str) -> String {
    format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
}

fn call(process: usize, f: &str, value: &str) -> String {
    line(process, "invoke", f, value) + &line(process, "ok", f, value)
}

#[test]
fn a_page_is_whole_and_bounded_whatever_operations_say() {
    let nasty = format!("\"</script><b>{}\"", "x".repeat(20_000));
    let page = page("nasty", &(call(0, "write", &nasty) + &call(0, "read", "0")), "register", None);
    assert!(page.len() < 1 << 20);
    assert_eq!(page.matches("</script>").count(), 2, "data cannot end a script");
}

#[test]
fn a_page_of_very_many_operations_shows_those_around_the_failure() {
    let mut history: String = (0..30_000).map(|value| call(value % 7, "write", &value.to_string())).collect();
    history += &call(1, "read", "5");
    history += &(0..30_000).map(|value| call(value % 7, "write", &(value + 50_000).to_string())).collect::<String>();
    let page = page("many", &history, "register", None);
    assert!(page.len() < 1 << 20, "{}", page.len());
    let timeline = &data(&page)["timeline"];
    let drawn = timeline["drawn"].as_array().unwrap();
    assert_eq!(drawn.len(), 4_000);
    assert_eq!(timeline["parts"][0]["culprits"][0], 30_000);
    assert!(drawn.iter().any(|op| op["id"] == 30_000));
    assert_eq!(
        timeline["before"].as_u64().unwrap() + timeline["after"].as_u64().unwrap() + drawn.len() as u64,
        timeline["operations"].as_u64().unwrap()
    );
}

#[test]
fn a_page_shows_the_longest_prefix_that_can_be_explained_and_what_cannot_be_placed() {
    let history = call(0, "write", "1")
        + &line(1, "invoke", "write", "2")
        + &call(2, "read", "2")
        + &line(1, "ok", "write", "2")
        + &line(3, "invoke", "write", "9")
        + &line(3, "fail", "write", "9")
        + &call(0, "read", "1")
        + &call(2, "write", "3");
    let page = page("prefix", &history, "register", None);
    let timeline = data(&page)["timeline"].clone();
    let part = &timeline["parts"][0];
    assert_eq!((&part["standing"], &part["placed"]), (&"prefix".into(), &3.into()), "{timeline}");
    let drawn = timeline["drawn"].as_array().unwrap();
    assert_eq!(drawn.len(), 6, "the whole history is on the page");
    let ranks: Vec<Option<u64>> = drawn.iter().map(|op| op["rank"].as_u64()).collect();
    assert_eq!(ranks, [Some(0), Some(1), Some(2), None, None, None]);
    assert_eq!(drawn[2]["state"], "2");
    assert_eq!((&drawn[3]["failed"], &part["culprits"]), (&true.into(), &serde_json::json!([4])));
}

#[test]
fn a_page_of_a_history_that_is_right_shows_an_order_that_keeps_real_time() {
    let history = line(0, "invoke", "enqueue", "1")
        + &line(1, "invoke", "enqueue", "2")
        + &line(0, "ok", "enqueue", "1")
        + &line(1, "ok", "enqueue", "2")
        + &call(2, "dequeue", "2")
        + &call(2, "dequeue", "1");
    for level in ["linearizable", "sequential"] {
        let page = page(level, &history, "queue", Some(level));
        let data = data(&page);
        assert_eq!((&data["verdict"], &data["explanation"]), (&"ok".into(), &serde_json::Value::Null));
        let drawn = data["timeline"]["drawn"].as_array().unwrap().clone();
        let ranks: Vec<u64> = drawn.iter().map(|op| op["rank"].as_u64().unwrap()).collect();
        assert_eq!(ranks, [1, 0, 2, 3], "{level}: what was enqueued last came out first");
    }
}

#[test]
fn each_key_has_an_order_of_its_own() {
    let keyed = |process: usize, f: &str, key: &str, value: &str| {
        let line = |kind: &str| {
            format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"key\":\"{key}\",\"value\":{value}}}\n")
        };
        line("invoke") + &line("ok")
    };
    let history = keyed(0, "put", "x", "1")
        + &keyed(1, "put", "y", "1")
        + &keyed(0, "get", "x", "1")
        + &keyed(1, "put", "y", "2")
        + &keyed(0, "get", "y", "1");
    let timeline = data(&page("keys", &history, "key-value", None))["timeline"].clone();
    let standings: Vec<&str> =
        timeline["parts"].as_array().unwrap().iter().map(|part| part["standing"].as_str().unwrap()).collect();
    assert_eq!(standings, ["all", "prefix"], "{timeline}");
    assert_eq!(timeline["parts"][1]["culprits"], serde_json::json!([4]));
}

#[test]
fn a_page_says_that_the_explanation_was_given_up() {
    let mut long: String = (1..300).map(|value| call(0, "write", &value.to_string())).collect();
    long += &call(1, "read", "3");
    let path = |ending: &str| -> PathBuf {
        std::env::temp_dir().join(format!("drawloom-page-{}-given-up.{ending}", std::process::id()))
    };
    std::fs::write(path("history"), long).unwrap();
    let options = Options {
        file: path("history"),
        model: Some("register".to_owned()),
        html: Some(path("html")),
        budget: drawloom_check::Budget::default().steps(500),
        ..Options::default()
    };
    check(&options).unwrap();
    let page = std::fs::read_to_string(path("html")).unwrap();
    std::fs::remove_file(path("history")).unwrap();
    std::fs::remove_file(path("html")).unwrap();
    assert!(page.contains("\"given_up\":true") && page.trim_end().ends_with("</html>"));
}
