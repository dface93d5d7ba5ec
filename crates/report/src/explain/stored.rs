//! A guard as it is written to files: the engine's own types know nothing of files.

use drawloom_engine::guard::{Guard, Region, Site};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::record::Place;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Lock(Vec<Stretch>),
    Atomic(Vec<Stretch>),
    Order { before: Place, after: Place },
    NotifyAll(Vec<Place>),
}

#[derive(Serialize, Deserialize)]
struct Stretch {
    enter: Place,
    leave: Place,
}

pub(super) fn serialize<S: Serializer>(guard: &Option<Guard>, serializer: S) -> Result<S::Ok, S::Error> {
    let stretches = |regions: &[Region]| {
        regions.iter().map(|r| Stretch { enter: place(&r.enter), leave: place(&r.leave) }).collect()
    };
    let stored = guard.as_ref().map(|guard| match guard {
        Guard::Lock(regions) => Stored::Lock(stretches(regions)),
        Guard::Atomic(regions) => Stored::Atomic(stretches(regions)),
        Guard::Order { before, after } => Stored::Order { before: place(before), after: place(after) },
        Guard::NotifyAll(sites) => Stored::NotifyAll(sites.iter().map(place).collect()),
    });
    stored.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Guard>, D::Error> {
    let regions = |stretches: Vec<Stretch>| {
        stretches.into_iter().map(|s| Region { enter: site(&s.enter), leave: site(&s.leave) }).collect()
    };
    let stored = Option::<Stored>::deserialize(deserializer)?;
    Ok(stored.map(|stored| match stored {
        Stored::Lock(stretches) => Guard::Lock(regions(stretches)),
        Stored::Atomic(stretches) => Guard::Atomic(regions(stretches)),
        Stored::Order { before, after } => Guard::Order { before: site(&before), after: site(&after) },
        Stored::NotifyAll(places) => Guard::NotifyAll(places.iter().map(site).collect()),
    }))
}

fn place(site: &Site) -> Place {
    Place { file: site.file.clone(), line: site.line, column: site.column }
}

/// A place as guards name it.
pub(super) fn site(place: &Place) -> Site {
    Site { file: place.file.clone(), line: place.line, column: place.column }
}
