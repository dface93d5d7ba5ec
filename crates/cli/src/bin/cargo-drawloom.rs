//! `cargo drawloom`: cargo calls this with the name of the subcommand as the first argument.

fn main() -> std::process::ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "drawloom") {
        arguments.remove(1);
    }
    drawloom_cli::main(arguments)
}
