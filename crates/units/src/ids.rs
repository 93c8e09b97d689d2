//! Identifiers. Each type indexes one table, so a port cannot be looked up as a node.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in the table that this identifier indexes.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            /// Tables larger than 2³² entries do not occur; the conversion saturates.
            fn from(index: usize) -> Self {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }
        }
    )+};
}

ids! {
    /// A host or a switch.
    NodeId,
    /// A host, counted from 0 among hosts.
    HostId,
    /// The sending side of one direction of a link.
    PortId,
    /// A slot in the connection table; slots are reused.
    ConnId,
    /// A flow: one message, one row of the flow table.
    FlowId,
    /// A traffic class such as `short` or `long`.
    ClassId,
}

impl FlowId {
    /// A flow without a row in the flow table.
    pub const NONE: FlowId = FlowId(u32::MAX);
}
