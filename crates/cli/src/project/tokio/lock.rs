//! What a lock file says: which packages there are, and who needs them.

/// A package of a lock file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Locked {
    pub(super) name: String,
    pub(super) version: String,
    /// Whether it comes from a registry or a repository, and not from a path.
    pub(super) from_elsewhere: bool,
    /// As they are written: a name, and behind it the version and the source where the name alone is not enough.
    dependencies: Vec<String>,
}

impl Locked {
    /// Whether `other` is one of its dependencies.
    pub(super) fn needs(&self, other: &Locked) -> bool {
        self.dependencies.iter().any(|dependency| {
            let mut words = dependency.split(' ');
            words.next() == Some(&other.name) && words.next().is_none_or(|version| version == other.version)
        })
    }

    /// How cargo is told of it.
    pub(super) fn spec(&self) -> String {
        format!("--package={}@{}", self.name, self.version)
    }

    /// Whether this is a later release, and who takes `other` takes it as well.
    pub(super) fn updates(&self, other: &Locked) -> bool {
        let (ours, theirs) = (numbers(&self.version), numbers(&other.version));
        // Of 0.x all that counts is x, and of 0.0.x nothing is compatible.
        let same = ours.iter().position(|number| *number > 0).map_or(3, |first| first + 1);
        ours > theirs && ours[..same] == theirs[..same]
    }
}

/// The three numbers of a version.
fn numbers(version: &str) -> [u64; 3] {
    let plain = version.split(['-', '+']).next().unwrap_or_default();
    let mut numbers = plain.split('.').map(|number| number.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

/// The packages of the lock file with this text. What is not understood is passed over.
pub(super) fn locked(text: &str) -> Vec<Locked> {
    let mut packages: Vec<Locked> = Vec::new();
    let mut of_a_package = false;
    for line in text.lines() {
        if line.starts_with("[[") {
            of_a_package = line == "[[package]]";
            packages.extend(of_a_package.then(Locked::default));
            continue;
        }
        let Some(package) = packages.last_mut().filter(|_| of_a_package) else { continue };
        let quoted = |text: &str| text.trim().trim_end_matches(',').trim_matches('"').to_owned();
        match line.split_once(" = ") {
            Some(("name", name)) => package.name = quoted(name),
            Some(("version", version)) => package.version = quoted(version),
            Some(("source", _)) => package.from_elsewhere = true,
            None if line.starts_with(" \"") => package.dependencies.push(quoted(line)),
            _ => {}
        }
    }
    packages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_and_who_needs_them() {
        let text = r#"version = 4

[[package]]
name = "bank"
version = "0.1.0"
dependencies = [
 "tokio 1.999.0",
 "old",
]

[[package]]
name = "old"
version = "0.3.1"
source = "registry+https://github.com/rust-lang/crates.io-index"
dependencies = [
 "tokio 0.2.25",
]

[[package]]
name = "tokio"
version = "0.2.25"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[patch.unused]]
name = "tokio"
version = "1.999.0"
"#;
        let packages = locked(text);
        assert_eq!(packages.len(), 3);
        let [bank, old, tokio] = &packages[..] else { panic!("{packages:?}") };
        assert!(old.needs(tokio) && !bank.needs(tokio) && bank.needs(old));
        assert!(tokio.from_elsewhere && !bank.from_elsewhere);
    }

    #[test]
    fn only_what_is_compatible_is_an_update() {
        let of = |version: &str| Locked { version: version.to_owned(), ..Locked::default() };
        for (ours, theirs) in [("1.0.107", "1.0.9"), ("0.2.191", "0.2.98"), ("1.10.0", "1.9.9"), ("2.0.0+a", "2.0.0-b")]
        {
            let later = numbers(ours) > numbers(theirs);
            assert_eq!(of(ours).updates(&of(theirs)), later, "{ours} {theirs}");
            assert!(!of(theirs).updates(&of(ours)));
        }
        for (ours, theirs) in [("3.0.9", "2.0.119"), ("0.3.0", "0.2.9"), ("0.0.2", "0.0.1"), ("1.0.0", "1.0.0")] {
            assert!(!of(ours).updates(&of(theirs)), "{ours} {theirs}");
        }
    }
}
