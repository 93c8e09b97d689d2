/// Names, in `shortflow_cc`, of the laws that have a fixed-point form.
pub const NAMES: [&str; 6] = ["dctcp", "d2tcp", "l2dct", "xdctcp", "atcp", "fast"];
