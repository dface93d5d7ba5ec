//! Where libraries and headers are: named by a variable, beside this program, in its installation, or in the checkout that it was built in.

use std::path::{Path, PathBuf};

use crate::error::Error;

fn own_folder() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.parent().unwrap_or(Path::new(".")).to_owned()
}

/// A static library: the one that is `named`, or that the variable names, or one of this name.
pub fn library(name: &str, variable: &str, named: Option<&Path>) -> Result<PathBuf, Error> {
    let from_environment = std::env::var_os(variable).map(PathBuf::from);
    if let Some(named) = named.map(Path::to_owned).or(from_environment) {
        return named.canonicalize().map_err(|error| Error::NoRuntime(format!("{}: {error}", named.display())));
    }
    let folder = own_folder();
    let places = ["", "../lib", "../lib/drawloom"].map(|place| folder.join(place).join(name));
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        Error::NoRuntime(format!("{name} is neither beside this program nor in the folder `lib` of its installation"))
    })
}

/// The folders that have `drawloom.h` and `drawloom/pthread.h`.
pub fn headers() -> Result<Vec<PathBuf>, Error> {
    let folder = own_folder();
    let installed = std::env::var_os("DRAWLOOM_INCLUDE").map_or_else(|| folder.join("../include"), PathBuf::from);
    let checkout = |root: &Path| vec![root.join("crates/posix/include"), root.join("crates/capi/include")];
    let candidates = std::iter::once(vec![installed]).chain(folder.ancestors().map(checkout));
    let has = |folders: &Vec<PathBuf>, header: &str| folders.iter().any(|folder| folder.join(header).is_file());
    let complete = |folders: &Vec<PathBuf>| has(folders, "drawloom.h") && has(folders, "drawloom/pthread.h");
    candidates.into_iter().find(complete).ok_or_else(|| {
        Error::NoRuntime(
            "drawloom.h is not in the folder `include` of this installation; set DRAWLOOM_INCLUDE to its folder".into(),
        )
    })
}
