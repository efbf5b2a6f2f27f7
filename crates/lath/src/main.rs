//! The binary: arguments, files, printing, exit codes.

fn main() {}
