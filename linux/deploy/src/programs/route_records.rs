//! Records of the routes of `load --route`, among the pins: what a command knows of routes that it cannot see.

use super::pins::{Pins, remove};
use super::prefix::Prefix;
use crate::Failure;
use std::fs;
use std::path::PathBuf;

/// Directory of the records: `routes/INODE/CONTROL@PREFIX`.
pub(super) const RECORD: &str = "routes";

/// A route that `load` was about to make, or has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// Number of the network namespace.
    pub inode: u64,
    /// Congestion control of the route.
    pub control: String,
    /// Destination of the route.
    pub prefix: Prefix,
}

impl Record {
    /// Name of the file. A bpf file system has no names with dots.
    fn name(&self) -> String {
        format!("{}@{}", self.control, self.prefix).replace('.', "-").replace('/', "+")
    }

    fn read(inode: u64, name: &str) -> Option<Record> {
        let (control, prefix) = name.split_once('@')?;
        let prefix = prefix.replace('-', ".").replace('+', "/").parse().ok()?;
        Some(Record { inode, control: control.to_owned(), prefix })
    }

    fn path(&self, pins: &Pins) -> PathBuf {
        pins.path(RECORD).join(self.inode.to_string()).join(self.name())
    }

    /// All records.
    pub(super) fn all(pins: &Pins) -> Vec<Record> {
        let names = |path: PathBuf| {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.file_name().into_string().ok())
        };
        let namespaces = names(pins.path(RECORD)).filter_map(|inode| inode.parse::<u64>().ok());
        let of_one = |inode: u64| {
            let found = names(pins.path(RECORD).join(inode.to_string()));
            found.filter_map(move |name| Record::read(inode, &name))
        };
        let mut all: Vec<Record> = namespaces.flat_map(of_one).collect();
        all.sort_by_key(|record| (record.inode, record.prefix));
        all
    }

    /// Writes the record. This comes before the route, so that a later command finds the route after any failure.
    /// Fails without the right to change the pins.
    pub(super) fn write(&self, pins: &Pins) -> Result<(), Failure> {
        let path = self.path(pins);
        fs::create_dir_all(&path).map_err(Failure::host(path.display()))
    }

    /// Removes the record, and the directory of its namespace if it is empty then.
    /// Fails without the right to change the pins.
    pub(super) fn forget(&self, pins: &Pins) -> Result<(), Failure> {
        let path = self.path(pins);
        if path.exists() {
            remove(&path)?;
        }
        // Other routes of the namespace keep their directory.
        let _ = fs::remove_dir(pins.path(RECORD).join(self.inode.to_string()));
        let _ = fs::remove_dir(pins.path(RECORD));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_record_has_no_dot_and_is_read_again() {
        for prefix in ["10.0.0.0/24", "192.0.2.7", "0.0.0.0/0", "fd00::2", "::/0", "::ffff:10.0.0.2"] {
            let prefix = prefix.parse().unwrap();
            let record = Record { inode: 4026531840, control: "sf_dctcp".to_owned(), prefix };
            let name = record.name();
            assert!(!name.contains(['.', '/']), "{name}");
            assert_eq!(Record::read(4026531840, &name), Some(record));
        }
        assert_eq!(Record::read(1, "sf_dctcp"), None);
    }
}
