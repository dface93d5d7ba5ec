//! What a lock file says: which packages there are, and who needs them.

/// A package of a lock file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
}
