//! Store of the frames that are on their way. The simulator's packets are small values without content. The `seq` of
//! a packet is the serial number of its frame in this store.

/// Number of frames kept. Windows and buffers hold some thousands of frames at most.
const SLOTS: u64 = 8192;

/// The last [`SLOTS`] frames by serial number.
#[derive(Debug)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    /// Length and serial number of the frame in each slot.
    held: Vec<(usize, u64)>,
    longest: usize,
    next: u64,
}

impl Frames {
    /// Makes an empty store for frames of at most `longest` bytes.
    pub(super) fn new(longest: usize) -> Frames {
        let slots = SLOTS as usize;
        Frames { bytes: vec![0; slots * longest], held: vec![(0, u64::MAX); slots], longest, next: 0 }
    }

    /// Returns the room for the next frame. The frame that was in its slot is gone.
    pub(super) fn room(&mut self) -> &mut [u8] {
        let slot = (self.next % SLOTS) as usize;
        self.held[slot] = (0, u64::MAX);
        &mut self.bytes[slot * self.longest..(slot + 1) * self.longest]
    }

    /// Keeps the first `length` bytes of the room as a frame. Returns its serial number.
    pub(super) fn keep(&mut self, length: usize) -> u64 {
        let serial = self.next;
        self.held[(serial % SLOTS) as usize] = (length, serial);
        self.next += 1;
        serial
    }

    /// Returns the frame `serial`, unless [`SLOTS`] others came after it.
    pub(super) fn get_mut(&mut self, serial: u64) -> Option<&mut [u8]> {
        let slot = (serial % SLOTS) as usize;
        let &(length, found) = self.held.get(slot)?;
        let start = slot * self.longest;
        (found == serial).then(|| &mut self.bytes[start..start + length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_kept_until_their_slot_is_needed() {
        let mut frames = Frames::new(4);
        for serial in 0..SLOTS + 1 {
            frames.room()[..2].copy_from_slice(&(serial as u16).to_be_bytes());
            assert_eq!(frames.keep(2), serial);
        }
        assert_eq!(frames.get_mut(0), None);
        assert_eq!(frames.get_mut(1), Some(&mut [0, 1][..]));
        assert_eq!(frames.get_mut(SLOTS), Some(&mut (SLOTS as u16).to_be_bytes()[..]));
    }
}
