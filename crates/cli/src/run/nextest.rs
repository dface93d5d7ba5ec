//! What nextest prints for programs: a line of JSON for each thing that happens.

use serde::Deserialize;

use super::{Event, Verdict};
use crate::project::Target;

/// Nextest wants to be told that its users know this form to be young.
pub(super) const CONSENT: (&str, &str) = ("NEXTEST_EXPERIMENTAL_LIBTEST_JSON", "1");

/// What a line says of one of `targets`, if it does.
pub(super) fn line(targets: &[Target], line: &str) -> Option<Event> {
    #[derive(Deserialize)]
    struct Message {
        r#type: String,
        event: String,
        name: String,
        #[serde(default)]
        stdout: Option<String>,
    }
    let message: Message = serde_json::from_str(line).ok().filter(|message: &Message| message.r#type == "test")?;
    let (binary, path) = message.name.split_once('$')?;
    let (package, name) = binary.split_once("::")?;
    let target = targets.iter().position(|target| target.package == package && target.name == name)?;
    // A test that is tried again has the number of the try behind its name.
    let path = path.split_once('#').map_or(path, |(path, _)| path).to_owned();
    let verdict = match message.event.as_str() {
        "ok" => Verdict::Passed,
        "failed" => Verdict::Failed,
        "ignored" => Verdict::Ignored,
        _ => return None,
    };
    Some(Event::Ended { target, path, verdict, output: message.stdout })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::TargetKind;

    #[test]
    fn verdicts_are_read_and_everything_else_is_passed_over() {
        let targets = [Target {
            package: "bank".into(),
            kind: TargetKind::Test,
            name: "accounts".into(),
            executable: "/target/debug/deps/accounts-0123".into(),
        }];
        let read = |text: &str| line(&targets, text);
        assert_eq!(read(r#"{"type":"suite","event":"started","test_count":1}"#), None);
        assert_eq!(read(r#"{"type":"test","event":"started","name":"bank::accounts$one"}"#), None);
        assert_eq!(read("PASS [ 0.1s] bank::accounts one"), None);
        assert_eq!(
            read(r#"{"type":"test","event":"failed","name":"bank::accounts$tests::one#2","stdout":"no"}"#),
            Some(Event::Ended {
                target: 0,
                path: "tests::one".into(),
                verdict: Verdict::Failed,
                output: Some("no".into())
            })
        );
    }
}
