/// The laws that have a fixed-point form, by their names in `shortflow_cc`.
pub const NAMES: [&str; 6] = ["dctcp", "d2tcp", "l2dct", "xdctcp", "atcp", "fast"];
