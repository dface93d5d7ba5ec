//! The terminal that reports go to.

/// How many columns the terminal behind stderr has, if it is one.
pub fn columns() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: this request fills in a `winsize`, and fails where there is no terminal.
    let answer = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (answer == 0 && size.ws_col > 0).then(|| usize::from(size.ws_col))
}
