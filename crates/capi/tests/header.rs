//! The header is what the sources say.

use std::path::Path;

/// The header, made anew. `DRAWLOOM_BLESS=1` writes it.
#[test]
fn the_header_is_the_one_that_the_sources_make() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("the configuration of cbindgen");
    let mut made = Vec::new();
    let bindings = cbindgen::Builder::new().with_crate(root).with_config(config).generate().expect("bindings");
    bindings.write(&mut made);
    let made = String::from_utf8(made).expect("a text");
    let path = root.join("include/drawloom.h");
    if std::env::var_os("DRAWLOOM_BLESS").is_some() {
        std::fs::write(&path, &made).expect("the header is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(made == kept, "include/drawloom.h is out of date: run this test with DRAWLOOM_BLESS=1");
}
