//! Prefixes of addresses, as `load --route` and `ip` write them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A prefix: addresses with the same first `length` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    pub(super) first: IpAddr,
    pub(super) length: u8,
}

/// An address as a number, with its number of bits. The upper bits of an IPv4 number are zero.
fn number(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

impl Prefix {
    /// First address of the prefix of this length that contains `address`.
    fn around(address: IpAddr, length: u8) -> IpAddr {
        let (bits, all) = number(address);
        let hosts = u32::from(all - length);
        let kept = bits.checked_shr(hosts).unwrap_or(0).checked_shl(hosts).unwrap_or(0);
        match address {
            IpAddr::V4(_) => Ipv4Addr::from_bits(kept as u32).into(),
            IpAddr::V6(_) => Ipv6Addr::from_bits(kept).into(),
        }
    }

    /// True if `address` is in the prefix.
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.first.is_ipv4() && Prefix::around(address, self.length) == self.first
    }

    /// True if every address of `other` is in the prefix.
    pub(super) fn covers(&self, other: &Prefix) -> bool {
        self.length <= other.length && self.contains(other.first)
    }

    /// The address of the family's widest prefix.
    pub(super) fn widest(&self) -> IpAddr {
        Prefix::around(self.first, 0)
    }

    /// Reads the destination of a line of `ip route show`, in which both families call their widest prefix `default`.
    pub(super) fn of_route(to: &str, widest: IpAddr) -> Option<Prefix> {
        if to == "default" { Some(Prefix { first: widest, length: 0 }) } else { to.parse().ok() }
    }

    /// Argument of `ip` for the address family.
    pub(super) fn family(&self) -> &'static str {
        if self.first.is_ipv4() { "-4" } else { "-6" }
    }
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Prefix, String> {
        let expected = "expected an address or a prefix, for example 10.0.0.2 or 10.0.0.0/24";
        let (address, length) = text.split_once('/').unwrap_or((text, ""));
        let address: IpAddr = address.parse().map_err(|_| expected)?;
        let all = number(address).1;
        let length = if text.contains('/') { length.parse().map_err(|_| expected)? } else { all };
        if length > all {
            return Err(format!("expected a length of at most {all} bits"));
        }
        let first = Prefix::around(address, length);
        if first != address {
            return Err(format!("the address has bits beyond the prefix; expected {first}/{length}"));
        }
        Ok(Prefix { first, length })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.length == number(self.first).1 { Ok(()) } else { write!(f, "/{}", self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        let read = |text: &str| text.parse::<Prefix>();
        for text in ["10.0.0.2", "10.0.0.0/24", "0.0.0.0/0", "fd00::2", "fd00::/64", "::/0"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert_eq!(read("10.0.0.2/32").unwrap().to_string(), "10.0.0.2");
        assert!(read("10.0.0.5/24").unwrap_err().contains("expected 10.0.0.0/24"));
        assert!(read("10.0.0.0/33").unwrap_err().contains("at most 32 bits"));
        assert!(read("db1").unwrap_err().contains("expected an address"));
        let net = read("10.0.0.0/24").unwrap();
        assert!(net.contains("10.0.0.255".parse().unwrap()) && !net.contains("10.0.1.0".parse().unwrap()));
        assert!(!read("::/0").unwrap().contains("10.0.0.1".parse().unwrap()));
        assert!(net.covers(&read("10.0.0.7").unwrap()) && !net.covers(&read("10.0.0.0/16").unwrap()));
        for (widest, shown) in [("0.0.0.0", "0.0.0.0/0"), ("::", "::/0")] {
            assert_eq!(Prefix::of_route("default", widest.parse().unwrap()), read(shown).ok());
        }
    }
}
