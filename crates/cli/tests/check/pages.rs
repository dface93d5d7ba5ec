//! The page of an explanation.

use drawloom_check::model::{KeyValue, KeyValueOp, KeyValueRet, Register, RegisterOp::*, RegisterRet};
use drawloom_check::{Budget, History, explain};
use drawloom_cli::check::page_of;

#[test]
fn a_page_is_whole_and_bounded_whatever_operations_say() {
    let nasty = format!("</script><b>{}", "x".repeat(20_000));
    let history = History::builder()
        .call(0, KeyValueOp::Put("x".to_owned(), nasty.clone()), KeyValueRet::Done)
        .call(0, KeyValueOp::Get("x".to_owned()), KeyValueRet::Value(String::new()))
        .build()
        .unwrap();
    let model = KeyValue::new(String::new());
    let why = explain::linearizability(&model, &history, Budget::default()).unwrap();
    let page = page_of(&why, "a <test>");
    assert!(page.len() < 1 << 20);
    assert!(page.contains("a &lt;test&gt;") && page.trim_end().ends_with("</html>"));
    assert_eq!(page.matches("</script>").count(), 2, "data cannot end a script");
}

#[test]
fn a_page_says_that_the_explanation_was_given_up() {
    let mut long = History::builder();
    for value in 1..300 {
        long = long.call(0, Write(value), RegisterRet::Written);
    }
    let long = long.call(1, Read, RegisterRet::Value(3)).build().unwrap();
    let why = explain::linearizability(&Register::new(0), &long, Budget::default().steps(500)).unwrap();
    let page = page_of(&why, "given up");
    assert!(page.contains("\"given_up\":true") && page.trim_end().ends_with("</html>"));
}
