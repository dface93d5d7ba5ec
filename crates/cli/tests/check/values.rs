//! Values are equal if and only if they are the same value, however they are written.

use crate::{edn, json};

fn register(json_of: fn(&str, &[(&str, &str)]) -> String, written: &str, read: &str) -> String {
    json_of("register", &[("write", written), ("read", read)])
}

#[test]
fn integers_of_any_size_are_told_apart() {
    for (one, other) in [
        ("18446744073709551616", "18446744073709551617"),
        ("9223372036854775808", "9223372036854775809"),
        ("-9223372036854775809", "-9223372036854775810"),
        ("100000000000000000000000000000000000001", "100000000000000000000000000000000000002"),
        ("18446744073709551616", "\"18446744073709551616\""),
        ("18446744073709551616", "1.8446744073709552e19"),
    ] {
        for language in [json, edn] {
            assert_eq!(register(language, one, one), "ok", "{one}");
            assert_eq!(register(language, other, other), "ok", "{other}");
            assert_eq!(register(language, one, other), "illegal", "{one} {other}");
        }
    }
    assert_eq!(register(edn, "18446744073709551616N", "18446744073709551616"), "ok");
    assert_eq!(register(edn, "+18446744073709551616", "18446744073709551616"), "ok");
    assert_eq!(register(edn, "1/3", "\"1/3\""), "illegal");
}

#[test]
fn decimals_that_a_float_cannot_hold_are_told_apart() {
    assert_eq!(register(edn, "1.00000000000000000001M", "1.0M"), "illegal");
    assert_eq!(register(edn, "1e999", "1e998"), "illegal");
    assert_eq!(register(json, "1e999", "1e998"), "illegal");
    assert_eq!(register(json, "1e999", "1e999"), "ok");
    assert_eq!(register(edn, "##Inf", "##Inf"), "ok");
    assert_eq!(register(edn, "##Inf", "##-Inf"), "illegal");
    assert_eq!(register(edn, "##NaN", "##NaN"), "ok");
}

#[test]
fn keys_of_an_object_and_elements_of_a_set_have_no_order() {
    assert_eq!(register(json, r#"{"a":1,"b":{"c":2,"d":3}}"#, r#"{"b":{"d":3,"c":2},"a":1}"#), "ok");
    assert_eq!(register(json, r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#), "illegal");
    assert_eq!(register(edn, "#{1 2 3}", "#{3 2 1}"), "ok");
    assert_eq!(register(edn, "#{1 2 3}", "#{1 2}"), "illegal");
    assert_eq!(register(edn, "[1 2]", "#{1 2}"), "illegal", "a vector has an order, a set has none");
    assert_eq!(register(edn, "[1 2]", "(1 2)"), "ok", "a vector and a list are equal in EDN");
    assert_eq!(register(edn, "{#{1 2} [#{3 4}], :a 1}", "{:a 1, #{2 1} [#{4 3}]}"), "ok");
    assert_eq!(register(edn, "{1 :a}", "{\"1\" :a}"), "illegal", "a number is no string");
    assert_eq!(register(edn, "{:a 1, :b 2}", "{:b 2, :a 1}"), "ok");
    assert_eq!(edn("set", &[("add", "1"), ("add", "2"), ("read", "#{2 1}")]), "ok");
    assert_eq!(edn("set", &[("add", "1"), ("add", "2"), ("read", "[2 1]")]), "ok");
    assert_eq!(edn("set", &[("add", "#{1 2}"), ("read", "[#{2 1}]")]), "ok");
}

#[test]
fn numbers_of_all_kinds_have_one_order() {
    for language in [json, edn] {
        for (small, large) in [
            ("1", "1.5"),
            ("1.5", "2"),
            ("-2", "-1.5"),
            ("9223372036854775807", "9223372036854775808"),
            ("9223372036854775807", "9223372036854775808.0"),
            ("-100000000000000000000", "-99999999999999999999"),
            ("-100000000000000000000", "0.5"),
            ("99999999999999999999", "1e30"),
            ("1e30", "2000000000000000000000000000000"),
        ] {
            let smallest_first = [("insert", large), ("insert", small), ("remove", small), ("remove", large)];
            assert_eq!(language("priority-queue", &smallest_first), "ok", "{small} {large}");
            let largest_first = [("insert", large), ("insert", small), ("remove", large), ("remove", small)];
            assert_eq!(language("priority-queue", &largest_first), "illegal", "{small} {large}");
        }
    }
}

#[test]
fn transactions_tell_large_numbers_from_each_other_and_from_strings() {
    let big = ["18446744073709551616", "18446744073709551617", "9999999999999999999", "-9999999999999999999"];
    let file = |written: &str, read: &str| {
        format!(
            "{{\"process\":0,\"type\":\"ok\",\"f\":\"txn\",\"value\":[[\"w\",\"x\",{written}]]}}\n\
             {{\"process\":1,\"type\":\"ok\",\"f\":\"txn\",\"value\":[[\"r\",\"x\",{read}]]}}\n"
        )
    };
    let verdict =
        |written: &str, read: &str| crate::word(crate::said("t.jsonl", file(written, read), Some("rw-register"), None));
    for one in big {
        for other in big {
            assert_eq!(verdict(one, other), if one == other { "ok" } else { "illegal" }, "{one} {other}");
        }
        assert_eq!(verdict(one, &format!("\"{one}\"")), "illegal");
    }
    let order = r#"{"meta":{"model":"rw-register","order":{"18446744073709551616":[1,2]}}}
{"process":0,"type":"ok","f":"txn","value":[["w",18446744073709551616,1]]}
{"process":1,"type":"ok","f":"txn","value":[["w",18446744073709551616,2]]}
"#;
    assert_eq!(crate::word(crate::said("o.jsonl", order, None, None)), "ok");
}
