//! Files of users. Only regular files up to a limit of size are read.

use crate::errors::config_error;
use pyo3::prelude::*;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Largest size of a file in bytes; a trace of ten million flows is smaller.
const LARGEST: u64 = 512_000_000;
/// Bytes read between two checks for signals.
const PORTION: usize = 1 << 20;

/// The content of a file, or the reason why the file cannot be read. A signal during the read is a Python error.
pub(crate) fn read(py: Python<'_>, path: &Path) -> PyResult<Result<Vec<u8>, String>> {
    let (mut bytes, mut portion) = (Vec::new(), vec![0; PORTION]);
    let mut file = match py.detach(|| open(path)) {
        Ok(file) => file,
        Err(reason) => return Ok(Err(reason)),
    };
    loop {
        py.check_signals()?;
        match py.detach(|| file.read(&mut portion)) {
            Ok(0) => return Ok(Ok(bytes)),
            Ok(count) => bytes.extend_from_slice(&portion[..count]),
            // A read from /proc or a network file system may block. A signal ends the read, and the loop checks for it.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error.to_string())),
        }
        if bytes.len() as u64 > LARGEST {
            return Ok(Err(too_large(bytes.len() as u64)));
        }
    }
}

/// The content of a user's file. Raises `ConfigError` if the path is no regular file, or if the file is too large.
#[pyfunction]
pub(crate) fn read_file(py: Python<'_>, path: &str) -> PyResult<Vec<u8>> {
    read(py, Path::new(path))?.map_err(|reason| config_error(format!("{path}: cannot be read: {reason}")))
}

/// The content of a file as UTF-8 text, or the reason why it cannot be read.
pub(crate) fn read_text(py: Python<'_>, path: &Path) -> PyResult<Result<String, String>> {
    Ok(read(py, path)?.and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            format!("line {line} is not text in UTF-8")
        })
    }))
}

fn open(path: &Path) -> Result<File, String> {
    let about = fs::metadata(path).map_err(|error| reason(path, &error))?;
    let kind = about.file_type();
    let found = match () {
        () if kind.is_file() && about.len() > LARGEST => return Err(too_large(about.len())),
        () if kind.is_file() => return File::open(path).map_err(|error| reason(path, &error)),
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(format!("it is {found}; expected a regular file"))
}

fn too_large(size: u64) -> String {
    let [size, largest] = [size, LARGEST].map(|bytes| bytes as f64 / 1e6);
    format!("it has {size:.0} MB; expected at most {largest:.0} MB")
}

fn reason(path: &Path, error: &io::Error) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match (error.kind(), folder) {
        (ErrorKind::NotFound, Some(folder)) if !folder.is_dir() => {
            format!("there is no directory {}", folder.display())
        }
        (ErrorKind::NotFound, Some(folder)) => format!("there is no such file in {}", folder.display()),
        (ErrorKind::NotFound, None) => "there is no such file".to_owned(),
        _ => error.to_string(),
    }
}
