//! [`Timeouts`] of a pFabric host ([`Host::Minimal`](crate::Host::Minimal)), in place of loss recovery.

use shortflow_spec::{KeywordOr, POSITIVE_TIME, keys};
use shortflow_units::Span;

keys! {
    /// Parameters of such hosts under any law.
    #[derive(Copy)]
    pub struct Timeouts {
        /// time without progress after which all that is out counts as lost; auto: three round trips without queues
        pub rto: Option<Span> = "auto", KeywordOr("auto", POSITIVE_TIME);
        /// timeouts in a row from which on headers probe the path in place of data
        pub probe_after: u32 = "5", 1..=1000u32;
    }
}
