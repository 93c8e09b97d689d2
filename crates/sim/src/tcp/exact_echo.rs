//! The receiver of DCTCP — RFC 8257 §3.2, Figure 1: ECN-Echo reports the exact number of marked packets, even
//! if one ACK covers several packets.

/// State of Figure 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ExactEcho {
    ce: bool,
}

impl ExactEcho {
    /// True if the mark of an arriving packet differs from the marks before it. Then a delayed ACK must leave
    /// first, with the old echo.
    #[inline]
    pub(crate) fn differs(&self, ce: bool) -> bool {
        self.ce != ce
    }

    /// Records the mark of a data packet.
    #[inline]
    pub(crate) fn on_data(&mut self, ce: bool) {
        self.ce = ce;
    }

    /// The ECN-Echo flag of an ACK sent now.
    #[inline]
    pub(crate) fn ece(&self) -> bool {
        self.ce
    }
}
