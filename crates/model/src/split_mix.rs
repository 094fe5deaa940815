//! Numbers that look random and are the same on every machine and in every version: for demo
//! data, benches and laws.

/// SplitMix64 (Steele, Lea and Flood, 2014): tiny and well mixed. Not for secrets.
#[derive(Debug, Clone)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// Gives the next of a row that the seed alone decides.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Gives a number below a limit; 0 for a limit of 0. Low numbers are more frequent by less
    /// than `limit / 2^64`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next_number() % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the published generator with the seed 1234567.
    #[test]
    fn numbers_are_those_of_the_publication() {
        let mut numbers = SplitMix64(1_234_567);
        let first = [numbers.next_number(), numbers.next_number(), numbers.next_number()];
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, published);
        assert_eq!(numbers.below(0), 0);
    }
}
