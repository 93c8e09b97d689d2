//! DCTCP's receiver — RFC 8257 §3.2, Figure 1: ECN-Echo tells the CE mark of each packet exactly,
//! also when one ACK stands for several.

/// The state of Figure 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactEcho {
    ce: bool,
}

impl ExactEcho {
    /// A data packet arrives. True if its mark differs from the ones before: an ACK that is being
    /// delayed must go first, with the old echo.
    #[inline]
    pub fn differs(&self, ce: bool) -> bool {
        self.ce != ce
    }

    /// The packet counts.
    #[inline]
    pub fn on_data(&mut self, ce: bool) {
        self.ce = ce;
    }

    /// The ECN-Echo flag of an ACK sent now.
    #[inline]
    pub fn ece(&self) -> bool {
        self.ce
    }
}
