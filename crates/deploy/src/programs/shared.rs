//! Maps that all programs share.

use super::pins::Pins;
use libbpf_rs::{MapCore, Object, ObjectBuilder, OpenObject};

/// Their names; the other maps have those of the directories beside them.
const SHARED: [&str; 2] = ["flows", "ports"];

/// Opens an object and gives it the shared maps that are pinned already.
pub(super) fn open(code: &[u8], pins: &Pins) -> libbpf_rs::Result<OpenObject> {
    let mut object = ObjectBuilder::default().open_memory(code)?;
    for mut map in object.maps_mut() {
        let path = pins.path(&map.name().to_string_lossy());
        if SHARED.iter().any(|shared| path.ends_with(shared)) && path.exists() {
            map.reuse_pinned_map(path)?;
        }
    }
    Ok(object)
}

/// Pins those that are not yet.
pub(super) fn pin_shared(object: &mut Object, pins: &Pins) -> libbpf_rs::Result<()> {
    for mut map in object.maps_mut() {
        let path = pins.path(&map.name().to_string_lossy());
        if SHARED.iter().any(|shared| path.ends_with(shared)) && !path.exists() {
            map.pin(path)?;
        }
    }
    Ok(())
}
