//! What happened in a cluster: a row for each event at a node, in the words of the front end.

use super::{Kind, Row, Told};

pub(super) fn rows(told: Told<'_>) -> Vec<Row> {
    let record = told.record;
    let happened = record.processes.happened.iter();
    let rows = happened.filter_map(|happened| {
        let step = &record.steps[happened.step as usize];
        let kind = match happened.what.as_str() {
            "arrives" => Kind::Received,
            "is lost" => Kind::Lost,
            "own" => Kind::Did,
            "fault" => Kind::Struck,
            _ => return None,
        };
        Some(Row {
            step: happened.step,
            kind,
            task: step.task,
            other: happened.from.map(|from| told.names.tag(from)),
            other_task: happened.from,
            text: happened.text.clone(),
            sent: step.after,
            place: step.place,
        })
    });
    rows.collect()
}
