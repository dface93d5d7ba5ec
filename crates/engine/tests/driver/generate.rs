//! Random programs: small, over every kind of operation, some of them deadlocking.

use drawloom_engine::strategy::Tape;

use super::program::Program;

const THINGS: &str = "var x; var y; mutex m; mutex n; rwlock l; cond c; chan q 1; chan z 0; chan u inf; chan v inf; chan w 1; sem s 1; barrier b 2; once o; history h; latch d 2; group g 4; var i; var j; var k\n";

/// Fragments that a thread is put together from; what one takes it gives back.
const FRAGMENTS: &[&str] = &[
    "load r0 x",
    "load r1 y",
    "store x 1",
    "store y r0",
    "faa r2 x 1",
    "xchg r3 y 5",
    "cas r4 x 0 7",
    "cas r4 y 0 8",
    "lock m; unlock m",
    "lock m; load r0 x; unlock m",
    "lock m; lock n; unlock n; unlock m",
    "lock n; lock m; unlock m; unlock n",
    "trylock r5 m; jz r5 L; store y 2; unlock m; label L",
    "trylock r5 n; jz r5 L; unlock n; label L",
    "rlock l; rwunlock l",
    "rlock l; load r0 x; rwunlock l",
    "wlock l; rwunlock l",
    "wlock l; store x 3; downgrade l; rwunlock l",
    "tryrlock r5 l; jz r5 L; rwunlock l; label L",
    "trywlock r5 l; jz r5 L; rwunlock l; label L",
    "lock m; cvwait c m; unlock m",
    "notify c",
    "notifyall c",
    "acquire s; release s",
    "release s",
    "acquire s 2; release s 2",
    "tryacquire r5 s; jz r5 L; release s; label L",
    "arrive r6 b",
    "enter r6 o; jz r6 L; finish o 1; label L",
    "enter r6 o; set r7 r6 == 1; jz r7 L; finish o 0; label L; set r7 r6 == 2; jz r7 M; finish o 1; label M",
    "check r6 o",
    "down r5 d",
    "down r5 d; open d",
    "down r5 d 2",
    "open d; load r0 x",
    "isopen r6 d",
    "send q 1",
    "sendok r5 q 2",
    "recv r0 q",
    "trysend r5 q 3",
    "tryrecv r5 r0 q",
    "send z 4",
    "recv r0 z",
    "trysend r5 z 5",
    "tryrecv r5 r0 z",
    "send u 6",
    "recvok r5 r0 u",
    "tryrecv r5 r0 u",
    "recvok r5 r0 v",
    "tryrecv r5 r0 v",
    "sendok r5 w 7",
    "trysend r5 w 8",
    "call h; return h",
    "call h; faa r2 x 1; return h",
    "choose r6 2",
    "sleep T; now r6",
    "sleep T; load r0 x",
    "recvfor r5 r0 q T",
    "recvfor r5 r0 z T",
    "parkfor r5 T",
    "lock m; cvwaitfor r5 c m T; unlock m",
    "unpark t0",
    "unpark t1",
];

/// Fragments that only the first thread has: nobody else may use an end that it closes.
const FIRST: &[&str] = &[
    "send v 1; close v",
    "close v",
    "recv r0 w; closerecv w",
    "closerecv w",
    "park",
    "spawn late; join late",
    "spawn late",
    "isfinished r6 t1",
];

/// Fragments about one reader–writer lock.
const LOCKED: &[&str] = &[
    "rlock l; rwunlock l",
    "rlock l; load r0 x; rwunlock l",
    "rlock l; rlock l; rwunlock l; rwunlock l",
    "wlock l; rwunlock l",
    "wlock l; store x 3; rwunlock l",
    "wlock l; downgrade l; rwunlock l",
    "tryrlock r5 l; jz r5 L; rwunlock l; label L",
    "trywlock r5 l; jz r5 L; rwunlock l; label L",
    "faa r2 x 1",
];

/// The program of `seed` about a reader–writer lock that prefers one side, with its text.
pub fn generate_preferring(seed: u64) -> (Program, String) {
    let mut tape = Tape::new(seed);
    let mut text = format!("var x; rwlock l {}\n", ["readers", "writers"][tape.below(2) as usize]);
    let mut labels = 0;
    for thread in 0..2 + tape.below(2) {
        text.push_str(&format!("thread t{thread}\n"));
        for _ in 0..1 + tape.below(2) {
            labels += 1;
            let chosen = LOCKED[tape.below(LOCKED.len() as u64) as usize];
            text.push_str(&chosen.replace('L', &format!("L{labels}")));
            text.push('\n');
        }
    }
    (Program::parse(&text), text)
}

/// Fragments about awaits, and what they wait for.
const AWAITED: &[&str] = &[
    "await r0 x == 1",
    "await r1 x == 2",
    "await r0 x != 0",
    "await r1 y == 1",
    "await r0 y == 0",
    "await r1 x == r2",
    "await r1 y < 2",
    "lock m; await r0 x > 0; unlock m",
    "await r0 x != 2; faa r2 x 1",
    "store x 1",
    "store x 2",
    "store x 0",
    "store y 1",
    "store y r0",
    "faa r2 x 1",
    "faa r2 y 1",
    "cas r4 x 0 1",
    "cas r4 x 1 2",
    "cas r4 y 1 0",
    "load r3 x",
    "lock m; unlock m",
    "lock m; store y 1; unlock m",
];

/// The program of `seed` about tasks that await values, with its text.
pub fn generate_awaiting(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0xA3A1_7000, |tape| match tape.below(6) {
        0 => FRAGMENTS[tape.below(FRAGMENTS.len() as u64) as usize],
        _ => AWAITED[tape.below(AWAITED.len() as u64) as usize],
    })
}

/// Fragments about pieces that touch several things at once.
const IN_PIECES: &[&str] = &[
    "piece r0 g 0001 0000",
    "piece r1 g 0011 0000",
    "piece r2 g 0110 0000",
    "piece r3 g 1111 0000",
    "piece _ g 0000 0001",
    "piece _ g 0000 0010",
    "piece _ g 0000 0110",
    "piece _ g 0000 1111",
    "piece r4 g 0001 0010",
    "piece r5 g 0010 0100",
    "piece r6 g 0100 1000",
    "piece r7 g 1000 0001",
    "piece r0 g 0011 0011",
    "piece r1 g 1100 0100",
    "piece r2 g 0001 0001; unpark t0",
    "lock m; piece r3 g 0010 0001; unlock m",
    "recv r0 q; piece r4 g 0001 0100",
    "send q 1; piece r5 g 0100 0000",
];

/// The program of `seed` about pieces, with its text.
pub fn generate_in_pieces(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0x91EC_E000, |tape| match tape.below(8) {
        0 => FRAGMENTS[tape.below(FRAGMENTS.len() as u64) as usize],
        _ => IN_PIECES[tape.below(IN_PIECES.len() as u64) as usize],
    })
}

/// Fragments about steps that come to something else in another place.
const EXCHANGED: &[&str] = &[
    "cas r4 x 0 1",
    "cas r4 x 1 0",
    "cas r5 x 1 2",
    "cas r5 y 0 1",
    "cas r4 x 1 0; faa r2 y 1",
    "cas r4 x 0 1; store y r4",
    "cas r4 y 0 1; cas r5 x 1 0",
    "load r0 y",
    "load r1 x",
    "faa r2 y 1",
    "store x 0",
    "trylock r5 m; jz r5 L; unlock m; label L",
    "trylock r5 m; jz r5 L; store y 2; unlock m; label L",
    "tryacquire r5 s; jz r5 L; release s; label L",
    "tryacquire r5 s",
    "trysend r5 q 3",
    "tryrecv r5 r0 q",
    "notify c",
    "lock m; cvwait c m; unlock m",
];

/// The program of `seed` about exchanges and attempts, with its text.
pub fn generate_exchanging(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0xCA5C_A500, |tape| EXCHANGED[tape.below(EXCHANGED.len() as u64) as usize])
}

/// Fragments about channels that anybody may close.
const CLOSED: &[&str] = &[
    "shut q",
    "shutok r5 q",
    "shut z",
    "shut u",
    "send q 1; shut q",
    "sendok r5 q 2",
    "sendok r5 q 2; sendok r6 q 3",
    "sendok r5 z 4",
    "sendok r6 u 6; shut u",
    "trysend r5 q 3",
    "trysend r6 z 5",
    "recvok r5 r0 q",
    "recvok r5 r0 q; recvok r6 r1 q",
    "recvok r6 r1 z",
    "recvok r6 r1 u",
    "tryrecv r5 r0 q",
    "tryrecv r6 r1 z",
    "tryrecv r6 r1 u",
    "length r2 q",
    "length r3 u",
    "recvok r5 r0 q; length r2 q",
    "faa r2 x 1",
    "recvfor r5 r0 q T",
];

/// The program of `seed` about channels that anybody may close, with its text.
pub fn generate_closing(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0xC105_ED00, |tape| CLOSED[tape.below(CLOSED.len() as u64) as usize])
}

/// Fragments that go one way or another by a choice.
const CHOOSING: &[&str] = &[
    "choose r0 2; jz r0 L; faa r1 x 1; jnz r1 L; faa r2 y 1; label L",
    "choose r0 2; jz r0 L; faa r1 x 1; faa r2 y 1; label L",
    "choose r0 2; jz r0 L; tryacquire r1 s; jz r1 L; store y 1; label L",
    "choose r0 2; jnz r0 L; load r1 x; load r2 y; label L",
    "choose r0 3; store x r0",
    "choose r0 2; jz r0 L; lock m; load r1 x; unlock m; label L",
    "choose r0 2; jz r0 L; send u 1; label L",
    "choose r0 2; jz r0 L; recv r1 u; label L",
    "faa r2 y 1",
    "faa r2 x 1",
    "load r1 y",
    "store y 2",
    "tryacquire r5 s",
    "lock m; store x 1; unlock m",
    "send u 2; load r1 x",
];

/// The program of `seed` about choices, with its text.
pub fn generate_choosing(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0xC400_5E00, |tape| CHOOSING[tape.below(CHOOSING.len() as u64) as usize])
}

/// Fragments about waits that others end, and what they do before and after.
const WAITED: &[&str] = &[
    "recv r0 q",
    "recv r0 q; load r1 x; load r2 x",
    "store y 1; recv r0 u",
    "recv r0 u; store x 1",
    "send q 1",
    "send u 1; load r1 y",
    "send q 1; load r1 y; store x 1",
    "await r0 x == 1",
    "await r0 x != 0; load r1 y",
    "await r0 y != 1; store x 1",
    "store y 1; await r0 x == 1",
    "store x 1",
    "store y 1",
    "load r1 x",
    "load r2 y",
    "faa r2 x 1",
    "acquire s; load r1 x",
    "release s",
    "lock m; load r1 y; unlock m",
    "lock m; store x 1; unlock m",
];

/// The program of `seed` about tasks that wait for each other, with its text.
pub fn generate_waiting(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0x5A11_0000, |tape| WAITED[tape.below(WAITED.len() as u64) as usize])
}

/// Fragments about what is left to the environment, and what it meets.
const LEFT: &[&str] = &[
    "later send q 1",
    "later send u 2",
    "later send u 3 then send q 4",
    "later send z 5",
    "later release s",
    "later release s then tryacquire s",
    "later tryacquire s then send u 6",
    "later down d",
    "later notify c",
    "later notifyall c then send q 7",
    "fault send q 8",
    "fault release s",
    "fault tryacquire s",
    "fault down d then down d",
    "fault send u 9",
    "recv r0 q",
    "tryrecv r5 r0 q",
    "trysend r5 q 3",
    "recv r0 u",
    "recv r1 u; load r2 x",
    "tryrecv r5 r0 u",
    "send u 1; store x 1",
    "recv r0 z",
    "acquire s; load r1 x",
    "tryacquire r5 s",
    "open d; load r1 x",
    "isopen r6 d",
    "lock m; cvwait c m; unlock m",
    "store x 1",
    "load r2 x",
    "faa r2 x 1",
    "sleep T; load r0 x",
    "recvfor r5 r0 q T",
];

/// The program of `seed` about what is left to the environment, with its text.
pub fn generate_left(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0x1EF7_0000, |tape| LEFT[tape.below(LEFT.len() as u64) as usize])
}

/// Fragments about tasks that are killed, and what they leave behind.
const KILLED: &[&str] = &[
    "kill t0",
    "kill t1",
    "kill t0; kill t1",
    "kill t1; load r0 x",
    "kill t0; tryrecv r5 r0 u",
    "kill t1; trylock r5 m",
    "later kill t0",
    "later kill t1",
    "later kill t0 then kill t1",
    "fault kill t0",
    "fault kill t1",
    "later send u 3 then kill t1",
    "store x 1",
    "store x 2; load r2 y",
    "faa r2 y 1",
    "load r0 x",
    "lock m; store x 1; unlock m",
    "lock m; unlock m",
    "trylock r5 m; jz r5 L; unlock m; label L",
    "send u 1; send u 2",
    "recv r0 u; store y 1",
    "recv r0 u",
    "send q 1",
    "recv r0 q",
    "acquire s; load r1 x; release s",
    "tryacquire r5 s",
    "lock m; cvwait c m; unlock m",
    "notify c",
    "unpark t0",
    "unpark t1",
    "choose r6 2; store x r6",
    "sleep T; load r0 x",
    "recvfor r5 r0 q T",
    "down r5 d; open d",
    "await r0 x == 1",
    "arrive r6 b",
    "piece r4 g 0001 0010",
    "wlock l; store x 3; rwunlock l",
    "rlock l; rwunlock l",
    "cas r4 x 0 7",
];

/// The first so many of these kill.
const KILLING: usize = 12;

/// The program of `seed` in which tasks may kill each other, with its text.
pub fn generate_killing(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0xDEAD_0000, |tape| match tape.below(4) {
        0 => KILLED[tape.below(KILLING as u64) as usize],
        _ => KILLED[tape.below(KILLED.len() as u64) as usize],
    })
}

/// The program of `seed` in which tasks are killed by one that is not, as machines by a fault; with its text. Without
/// comparisons: what one would have come to is not known of a task that was killed before it.
pub fn generate_killed(seed: u64) -> (Program, String) {
    let (_, text) = generate_of(seed ^ 0xDEAF_0000, |tape| {
        KILLED[KILLING + tape.below((KILLED.len() - KILLING - 1) as u64) as usize]
    });
    let mut tape = Tape::new(seed ^ 0xFA17_0000);
    let kills: Vec<&str> = (0..1 + tape.below(2)).map(|_| KILLED[tape.below(KILLING as u64) as usize]).collect();
    let text = text.replace("thread late off", &format!("thread killer\n{}\nthread late off", kills.join("\n")));
    (Program::parse(&text), text)
}

/// Fragments about steps on several things at once, and ordinary accesses to these.
const SEVERAL: &[&str] = &[
    "several r0 ri rj",
    "several r1 wi rj",
    "several r2 ri wj",
    "several r3 wi wj",
    "several r4 wj rk",
    "several r5 wk ri",
    "several r6 rj wk ri",
    "several r7 wi wj wk",
    "several r0 ri rj rk",
    "load r1 i",
    "load r2 j",
    "load r3 k",
    "store i 1",
    "store j 2",
    "store k r0",
    "faa r4 i 1",
    "faa r5 k 1",
    "several r2 wi rj; unpark t0",
    "lock m; several r3 wk wj; unlock m",
    "recv r0 q; several r4 wi rk",
    "send q 1; several r5 rj rk",
];

/// The program of `seed` about steps on several things, with its text.
pub fn generate_several(seed: u64) -> (Program, String) {
    generate_of(seed ^ 0x5E7E_4A10, |tape| match tape.below(8) {
        0 => FRAGMENTS[tape.below(FRAGMENTS.len() as u64) as usize],
        _ => SEVERAL[tape.below(SEVERAL.len() as u64) as usize],
    })
}

/// The program of `seed` whose threads take turns, with its text: each has the turn but for where it awaits something.
pub fn generate_in_turns(seed: u64) -> (Program, String) {
    let mut tape = Tape::new(seed ^ 0x70A2_5000);
    let mut text = String::from("var x; var y; turn t\n");
    for thread in 0..2 + tape.below(2) {
        text.push_str(&format!("thread t{thread}\nlock t\n"));
        for _ in 0..2 + tape.below(3) {
            text.push_str(match tape.below(7) {
                0 | 1 => "load r0 x\n",
                2 => "store x 1\n",
                3 => "faa _ y 1\n",
                4 => "load r1 y\n",
                _ => "unlock t\nlock t\n",
            });
        }
        text.push_str("unlock t\n");
    }
    (Program::parse(&text), text)
}

/// The program of `seed`, with its text.
pub fn generate(seed: u64) -> (Program, String) {
    generate_of(seed, |tape| FRAGMENTS[tape.below(FRAGMENTS.len() as u64) as usize])
}

fn generate_of(seed: u64, draw: impl Fn(&mut Tape) -> &'static str) -> (Program, String) {
    let mut tape = Tape::new(seed);
    let mut text = String::from(THINGS);
    let mut labels = 0;
    let mut fragment = |text: &mut String, chosen: &str| {
        labels += 1;
        // Different times: the order of timers of equal deadline is that in which they were started,
        // which the table does not know of.
        let chosen = chosen.replace('T', &(1u64 << labels).to_string());
        let line = chosen.replace('L', &format!("L{labels}")).replace('M', &format!("M{labels}"));
        text.push_str(&line);
        text.push('\n');
    };
    // Few fragments per program, so that threads meet at the same things.
    let palette: Vec<&str> = (0..4).map(|_| draw(&mut tape)).collect();
    for thread in 0..2 + tape.below(2) {
        text.push_str(&format!("thread t{thread}\n"));
        for _ in 0..1 + tape.below(3) {
            let chosen =
                if tape.below(4) > 0 { palette[tape.below(palette.len() as u64) as usize] } else { draw(&mut tape) };
            fragment(&mut text, chosen);
        }
        if thread == 0 && tape.below(3) == 0 {
            fragment(&mut text, FIRST[tape.below(FIRST.len() as u64) as usize]);
        }
    }
    text.push_str("thread late off\nfaa _ x 1\n");
    (Program::parse(&text), text)
}

/// The text of a program with yields put between its instructions, by `seed`.
pub fn with_yields(text: &str, seed: u64) -> String {
    let mut tape = Tape::new(seed ^ 0x71E1_D000);
    let rarity = 1 + tape.below(4);
    let mut lines = text.lines();
    let mut yielding = format!("{}\n", lines.next().unwrap_or_default());
    for instruction in lines.flat_map(|line| line.split(';')).map(str::trim) {
        yielding.push_str(&format!("{instruction}\n"));
        if tape.below(rarity) == 0 {
            (0..=tape.below(2)).for_each(|_| yielding.push_str("yield\n"));
        }
    }
    yielding
}
