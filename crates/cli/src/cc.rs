//! Compiling C programs for exploration.
//!
//! Each source is compiled with its accesses to memory announced, as for the thread sanitizer. What is linked is our library in place of that
//! sanitizer's, so compiling and linking are two steps. The linker leads calls of the C library to ours: the source is compiled as it is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::CcArguments;
use crate::error::Error;
use crate::installed;

const LIBRARY: &str = "libdrawloom_posix.a";
const VARIABLE: &str = "DRAWLOOM_POSIX";
const WRAP: &str = "drawloom/wrap.rsp";

/// What the compiler's arguments come to.
#[derive(Default)]
struct Asked {
    sources: Vec<PathBuf>,
    /// Neither source nor output.
    others: Vec<OsString>,
    output: Option<PathBuf>,
    only_compile: bool,
}

impl Asked {
    fn of(arguments: &[OsString]) -> Asked {
        let mut asked = Asked::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            match &*text {
                "-c" => asked.only_compile = true,
                "-o" => asked.output = rest.next().map(PathBuf::from),
                // Their value is no source, whatever it is called.
                "-I" | "-L" | "-l" | "-D" | "-U" | "-include" | "-isystem" | "-x" | "-std" | "-MF" | "-MT" => {
                    asked.others.push(argument.clone());
                    asked.others.extend(rest.next().cloned());
                }
                _ if text.starts_with("-o") && text.len() > 2 => asked.output = Some(text[2..].into()),
                _ if !text.starts_with('-') && is_source(Path::new(argument)) => asked.sources.push(argument.into()),
                _ => asked.others.push(argument.clone()),
            }
        }
        asked
    }
}

const CPP: [&str; 5] = ["cc", "cpp", "cxx", "C", "c++"];

fn is_cpp(file: &Path) -> bool {
    file.extension().and_then(OsStr::to_str).is_some_and(|extension| CPP.contains(&extension))
}

fn is_source(file: &Path) -> bool {
    file.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|extension| matches!(extension, "c" | "i") || CPP.contains(&extension))
}

/// Whether an argument is the linker's, and none of the compiler's.
fn is_for_linking(argument: &OsStr) -> bool {
    let text = argument.to_string_lossy();
    let is_input = !text.starts_with('-');
    is_input || text.starts_with("-l") || text.starts_with("-L") || text.starts_with("-Wl,")
}

/// Compiles and links as the arguments say; the compiler's own exit code if it fails.
pub fn compile(arguments: &CcArguments) -> Result<u8, Error> {
    let asked = Asked::of(&arguments.arguments);
    let headers = installed::headers()?;
    let folder = tempdir()?;
    let mut objects = Vec::new();
    for (number, source) in asked.sources.iter().enumerate() {
        let beside = || PathBuf::from(source.with_extension("o").file_name().unwrap_or_default());
        let object = match asked.only_compile {
            true => asked.output.clone().unwrap_or_else(beside),
            false => folder.join(format!("{number}.o")),
        };
        let compiler = compiler(is_cpp(source));
        let mut command = Command::new(&compiler);
        command.args(asked.others.iter().filter(|argument| !is_for_linking(argument)));
        headers.iter().for_each(|folder| {
            command.arg("-I").arg(folder);
        });
        command.args(["-g", "-fsanitize=thread", "-c"]);
        if let Some(code) = failed(command.arg(source).arg("-o").arg(&object), &compiler)? {
            return Ok(code);
        }
        objects.push(object);
    }
    if asked.only_compile {
        return Ok(0);
    }
    let library = installed::library(LIBRARY, VARIABLE, None)?;
    let mut wrap = OsString::from("-Wl,@");
    wrap.push(installed::in_headers(WRAP)?);
    let is_cpp = asked.sources.iter().any(|source| is_cpp(source));
    let compiler = compiler(is_cpp);
    let mut command = Command::new(&compiler);
    command.arg(wrap);
    // The linker does not reach into a shared library.
    command.args(links_cpp(&compiler, is_cpp).then_some("-static-libstdc++"));
    command.args(&objects).args(&asked.others).arg(library).args(["-lpthread", "-ldl", "-lm"]);
    command.arg("-o").arg(asked.output.unwrap_or_else(|| "a.out".into()));
    let code = failed(&mut command, &compiler)?;
    let _ = std::fs::remove_dir_all(folder);
    Ok(code.unwrap_or(0))
}

/// The compiler of a language.
fn compiler(cpp: bool) -> OsString {
    let (variable, usual) = if cpp { ("CXX", "c++") } else { ("CC", "cc") };
    std::env::var_os(variable).unwrap_or_else(|| usual.into())
}

/// Whether the program is linked with the library of C++, as the compiler's name says if no source does.
fn links_cpp(compiler: &OsStr, is_cpp: bool) -> bool {
    is_cpp || Path::new(compiler).file_name().is_some_and(|name| name.to_string_lossy().contains("++"))
}

/// The exit code of a command that has failed.
fn failed(command: &mut Command, program: &OsStr) -> Result<Option<u8>, Error> {
    let unrunnable = |error| Error::NotRun { program: program.to_string_lossy().into_owned(), error };
    let status = command.status().map_err(unrunnable)?;
    Ok((!status.success()).then(|| status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// A folder of this process's own for objects.
fn tempdir() -> Result<PathBuf, Error> {
    let folder = std::env::temp_dir().join(format!("drawloom-cc-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| Error::Unwritable { file: folder.clone(), error })?;
    Ok(folder)
}
