//! The bound on K — Huang, Zhang, Liu, "A Mechanism Achieving Low Latency for Wireless Datacenter
//! Applications", Eq. 1; Alizadeh et al., SIGCOMM 2010, §3.4.

/// Eq. 1: with a threshold above this a DCTCP queue does not run empty. Unit of `bdp`.
pub fn threshold_bound(bdp: f64) -> f64 {
    bdp / 7.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claim `pecn/eq1-threshold`: 250 KB for 10 Gbit/s and 200 us, 15 KB for 1 Gbit/s and 120 us.
    #[test]
    fn a_seventh_of_the_bandwidth_delay_product() {
        assert!((threshold_bound(250.0) - 35.7).abs() < 0.05);
        assert!((threshold_bound(15.0) - 2.1).abs() < 0.05);
        assert!((threshold_bound(7.0) - 1.0).abs() < 1e-9);
    }
}
