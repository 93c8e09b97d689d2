//! The bound on g — Nahar, Kumar, Aduri, "xDCTCP", Eq. 5; Alizadeh et al., SIGCOMM 2010, §3.4.
//!
//! Deviation D1: §V-A quotes 0.112 for Table I, which is this formula without its factor 2; Eq. 5 as
//! printed gives 0.080.

/// Eq. 5: below this weight alpha covers at least one congestion event. `bdp` and `threshold` in packets.
pub fn gain_bound(bdp: f64, threshold: f64) -> f64 {
    1.386 / libm::sqrt(2.0 * (bdp + threshold))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claim `xdctcp/eq5-g-bound`: 10 Gbit/s, 100 us and K = 65, with packets of 1460 and 1500 bytes.
    #[test]
    fn the_setting_of_table_1_allows_a_gain_of_eight_percent() {
        for (packet, bound) in [(1_460.0, 0.0799), (1_500.0, 0.0805)] {
            assert!((gain_bound(125_000.0 / packet, 65.0) - bound).abs() < 5e-5);
        }
        assert!((gain_bound(50.0, 50.0) / (1.386 / 200f64.sqrt()) - 1.0).abs() < 1e-9);
    }

    /// Claim `xdctcp/eq5-g-bound-value` (differs) does not hold as printed, D1: 0.112 is this without the 2.
    #[test]
    fn the_quoted_bound_lacks_a_factor() {
        assert!((gain_bound(125_000.0 / 1_460.0, 65.0) * 2f64.sqrt() - 0.1129).abs() < 5e-5);
    }
}
