//! `drawloom exec`: other programs, with a library preloaded.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sample::Sample;

/// Runs `drawloom exec` with `named` as the library.
fn run(named: &str, arguments: &[&str]) -> (i32, String, String) {
    let sample = Sample::unbuilt();
    let mut command = sample.command(&[&["run", "--"], arguments].concat());
    let answer = sample.answer(&command.env("DRAWLOOM_PRELOAD", named).output().expect("the binary is there"));
    (answer.code, answer.out, answer.err)
}

#[test]
fn a_command_is_run_with_the_library_before_all_others() {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_library.so");
    std::fs::write(&library, "").expect("a file");
    let library = library.canonicalize().expect("a file").display().to_string();
    // What the linker says of a file that is no library does not matter.
    let (code, out, _) = run(&library, &["sh", "-c", "echo $LD_PRELOAD; exit 7"]);
    let (_, named, _) = run(&library, &["sh", "-c", "echo $DRAWLOOM_PRELOAD"]);
    assert_eq!((code, out.lines().next()), (7, named.lines().next()));
    assert!(named.contains("no_library.so"), "{named}");
}

#[test]
fn what_is_missing_is_said() {
    let (code, out, err) = run("/missing/library.so", &["true"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        err,
        "error: the library to be preloaded is not found: DRAWLOOM_PRELOAD names /missing/library.so: \
         No such file or directory (os error 2)\n\
         help: build it by `cargo build --release -p drawloom-preload`, and set DRAWLOOM_PRELOAD to it\n"
    );
    let (code, _, err) = run("/", &["no-such-program"]);
    assert_eq!(code, 2);
    assert_eq!(err, "error: `no-such-program` cannot be run: No such file or directory (os error 2)\n");
}

/// A folder of its own for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("running").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.canonicalize().expect("a folder")
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_whose_path_the_linker_would_split_is_loaded_by_a_link() {
    for name in ["a blank.so", "a:colon.so", "a$ORIGIN.so"] {
        let library = folder("split").join(name);
        std::fs::write(&library, "").expect("a file");
        let named = library.display().to_string();
        let (code, out, _) = run(&named, &["sh", "-c", "echo $LD_PRELOAD; exit 7"]);
        let loaded = out.lines().next().expect("a line").to_owned();
        assert_eq!(code, 7, "{out}");
        assert!(!loaded.contains([' ', ':', '$']), "{loaded}");
        assert_eq!(Path::new(&loaded).canonicalize().expect("a link"), library);
    }
}

/// Compiles a program of C; none if there is no compiler here that can.
fn compiled(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Option<String> {
    let (file, built) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&file, source).expect("a file");
    let done = Command::new("gcc").args(flags).arg("-o").arg(&built).arg(&file).output().ok()?;
    done.status.success().then(|| built.display().to_string())
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_with_the_address_sanitizer_lives() {
    let folder = folder("sanitized");
    let library = compiled(&folder, "library.so", "int drawloom_there(void) { return 5; }", &["-shared", "-fPIC"]);
    let source = "#include <dlfcn.h>\nint main(void) { int (*there)(void) = dlsym(RTLD_DEFAULT, \"drawloom_there\"); \
                  return there ? there() : 1; }";
    let program = compiled(&folder, "program", source, &["-fsanitize=address", "-ldl"]);
    let (Some(library), Some(program)) = (library, program) else {
        println!("SKIPPED: there is no gcc with the address sanitizer here");
        return;
    };
    let (code, _, err) = run(&library, &[&program]);
    assert_eq!(code, 5, "run by itself: {err}");
    let (code, _, err) = run(&library, &["sh", "-c", &program]);
    assert_eq!(code, 5, "run by a shell: {err}");
}
