//! `drawloom`.

fn main() -> std::process::ExitCode {
    drawloom_cli::main(std::env::args_os())
}
