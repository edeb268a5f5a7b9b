//! The cache level into which rows are prefetched.

use raw_cpuid::{CpuId, CpuIdReader};
use std::sync::OnceLock;

/// A cache level. The first level is the closest to the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheLevel {
    First,
    Second,
}

/// The processor family of AMD's Zen 3 and Zen 4. The measurements behind the choice of the cache level were made on
/// model 17 of this family.
const FAMILY_OF_ZEN_4: u8 = 25;

impl CacheLevel {
    /// The cache level into which this processor should prefetch. This is the first level, except on AMD's family 25,
    /// where it is the second. On that family, each line that is being loaded into the first-level cache occupies one
    /// of only a few fill buffers. On other processors, a line prefetched into the second-level cache arrives too late.
    #[inline]
    pub(crate) fn detect() -> CacheLevel {
        if cfg!(miri) {
            return CacheLevel::First; // Miri has no `cpuid`, and no caches.
        }
        static LEVEL: OnceLock<CacheLevel> = OnceLock::new();
        *LEVEL.get_or_init(|| CacheLevel::of(&CpuId::new()))
    }

    fn of<R: CpuIdReader>(processor: &CpuId<R>) -> CacheLevel {
        let amd =
            processor.get_vendor_info().is_some_and(|vendor| vendor.as_str() == "AuthenticAMD");
        let family = processor.get_feature_info().map(|info| info.family_id());
        if amd && family == Some(FAMILY_OF_ZEN_4) { CacheLevel::Second } else { CacheLevel::First }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raw_cpuid::CpuIdResult;

    /// The prefetch level of a processor of `vendor` whose `cpuid` leaf 1 has `signature` in EAX.
    fn level(vendor: &[u8; 12], signature: u32) -> CacheLevel {
        let part =
            |i: usize| u32::from_le_bytes([vendor[i], vendor[i + 1], vendor[i + 2], vendor[i + 3]]);
        let (ebx, edx, ecx) = (part(0), part(4), part(8));
        CacheLevel::of(&CpuId::with_cpuid_reader(move |leaf: u32, _: u32| match leaf {
            0 => CpuIdResult { eax: 1, ebx, ecx, edx },
            1 => CpuIdResult { eax: signature, ebx: 0, ecx: 0, edx: 0 },
            _ => CpuIdResult { eax: 0, ebx: 0, ecx: 0, edx: 0 },
        }))
    }

    #[test]
    fn amd_of_family_25_alone_is_asked_into_the_second_level() {
        let amd = b"AuthenticAMD";
        assert_eq!(level(amd, 0x00a1_0f11), CacheLevel::Second, "family 25, model 17");
        assert_eq!(level(amd, 0x00a0_0f11), CacheLevel::Second, "family 25, model 1");
        assert_eq!(level(amd, 0x00b0_0f21), CacheLevel::First, "family 26, model 2");
        assert_eq!(level(amd, 0x0083_0f10), CacheLevel::First, "family 23, model 49");
        assert_eq!(level(b"GenuineIntel", 0x000a_0671), CacheLevel::First, "family 6, model 167");
        assert_eq!(
            level(b"GenuineIntel", 0x00a1_0f11),
            CacheLevel::First,
            "family 25 of another vendor"
        );
    }
}
