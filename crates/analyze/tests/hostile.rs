//! Source that is no source: nothing may panic or hang, whatever is in a file.

use std::path::{Path, PathBuf};

use drawloom_analyze::Options;
use drawloom_analyze::target::analyse_text;

/// A generator that is the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

fn programs() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("programs").map(|it| it.expect("a file").path()).collect();
    all.sort();
    all.into_iter().map(|file| (file.clone(), std::fs::read_to_string(file).expect("a program"))).collect()
}

/// A program with lines, words and characters taken out, doubled and moved.
fn mutated(text: &str, others: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let foreign: Vec<&str> = others.lines().collect();
    for _ in 0..=random.next(6) {
        if lines.is_empty() {
            break;
        }
        let at = random.next(lines.len());
        match random.next(7) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => lines.insert(at, foreign[random.next(foreign.len())].to_owned()),
            3 => lines[at] = format!("{}{}", " ".repeat(random.next(9)), lines[at].trim()),
            4 => {
                let other = random.next(lines.len());
                lines.swap(at, other);
            }
            5 => {
                let kept = random.next(lines[at].chars().count() + 1);
                lines[at] = lines[at].chars().take(kept).collect();
            }
            _ => {
                let words = [
                    "await ", "async ", "yield ", "(", "}", "lambda: ", "finally:", "é", "\u{0}", "del ", "*", "&mut ",
                ];
                let kept = random.next(lines[at].chars().count() + 1);
                let (one, other): (String, String) =
                    (lines[at].chars().take(kept).collect(), lines[at].chars().skip(kept).collect());
                lines[at] = format!("{one}{}{other}", words[random.next(words.len())]);
            }
        }
    }
    lines.join("\n")
}

fn mutate(count: usize) {
    let programs = programs();
    let mut random = Random(0x5eed);
    for round in 0..count {
        let (file, text) = &programs[random.next(programs.len())];
        let others = &programs[random.next(programs.len())].1;
        let text = mutated(text, others, &mut random);
        let analysis = analyse_text(file, &text, Options::default());
        assert!(analysis.is_some(), "round {round} panicked on {}:\n{text}", file.display());
    }
}

#[test]
fn mutated_programs_harm_nobody() {
    mutate(200);
}

/// `cargo test -p drawloom-analyze --test hostile -- --ignored`
#[test]
#[ignore = "takes a minute"]
fn ten_thousand_mutated_programs_harm_nobody() {
    mutate(10_000);
}

#[test]
fn what_nests_or_goes_on_without_end_harms_nobody() {
    let many = 3000;
    let texts = [
        "(".repeat(many),
        "[".repeat(many) + &"]".repeat(many),
        "x = ".to_owned() + &"not ".repeat(many) + "y\n",
        "x = ".to_owned() + &"a.b().".repeat(many) + "c\n",
        "x = ".to_owned() + &"1 + ".repeat(many) + "1\n",
        (0..100).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect::<String>() + &" ".repeat(100) + "pass\n",
        "async def f():\n".to_owned()
            + &(0..60).map(|depth| format!("{}try:\n", " ".repeat(depth + 1))).collect::<String>(),
        "def f():\n    return f() + f() + f()\n".to_owned(),
        "async def a():\n    await b()\nasync def b():\n    await a()\n".to_owned(),
        "class A(B): pass\nclass B(A): pass\nasync def f(x: A):\n    x.y = await x.y()\n".to_owned(),
        "fn main() { ".to_owned() + &"{ ".repeat(many),
        "fn main() { x".to_owned() + &".y()".repeat(many) + "; }",
        "fn main() { ".to_owned() + &"!".repeat(many) + "x; }",
        "\u{feff}x = 1\r\ry = 2".to_owned(),
        String::new(),
    ];
    for (at, text) in texts.iter().enumerate() {
        for name in ["a.py", "a.rs"] {
            assert!(analyse_text(Path::new(name), text, Options::default()).is_some(), "text {at} as {name}");
        }
    }
}
