//! The programs that the kernels are compiled to, and what each is made of.

use crate::gpu::About;
use crate::message::{GROUP_MAX, LANES};
use sealift_core::KeyLength;

/// A program: the kernels for one key length with one kind of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The length of its keys.
    pub key: KeyLength,
    /// How it computes the S-box.
    pub tables: Tables,
}

/// How a program computes the S-box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tables {
    /// As a circuit of gates: no table, no local memory.
    None,
    /// One table, and rotations; each lane of a warp has its own copy, so that all look-ups take the same time.
    OneForEachLane,
    /// Four tables, each lane with its own copies.
    FourForEachLane,
    /// One table for all lanes. Its time tells of the bytes that are looked up: for tests only.
    OneShared,
}

/// The kernels' source: these files one behind the other, in this order, by name.
pub const SOURCES: [(&str, &str); 9] = [
    ("dialect.h", include_str!("../kernels/dialect.h")),
    ("message.h", include_str!("../kernels/message.h")),
    ("ghash.h", include_str!("../kernels/ghash.h")),
    ("aes_table.h", include_str!("../kernels/aes_table.h")),
    ("aes_circuit.h", include_str!("../kernels/aes_circuit.h")),
    ("aes.h", include_str!("../kernels/aes.h")),
    ("gcm.h", include_str!("../kernels/gcm.h")),
    ("many.cl", include_str!("../kernels/many.cl")),
    ("long.cl", include_str!("../kernels/long.cl")),
];

impl Variant {
    /// All programs there are.
    pub fn all() -> impl Iterator<Item = Self> {
        let keys = [KeyLength::Aes128, KeyLength::Aes192, KeyLength::Aes256];
        keys.into_iter().flat_map(|key| Tables::ALL.map(|tables| Self { key, tables }))
    }

    /// `KEY_WORDS`, `TABLES` and `COPIES`, which the kernels' source is compiled with.
    #[must_use]
    pub fn defines(self) -> [(&'static str, usize); 3] {
        let (tables, copies) = self.tables.numbers();
        [("KEY_WORDS", self.key.bytes() / 4), ("TABLES", tables), ("COPIES", copies)]
    }

    /// Its name, which names its file, too: `aes128-tables1-copies32`.
    #[must_use]
    pub fn name(self) -> String {
        let (tables, copies) = self.tables.numbers();
        format!("aes{}-tables{tables}-copies{copies}", 8 * self.key.bytes())
    }
}

impl Tables {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::None, Self::OneForEachLane, Self::FourForEachLane, Self::OneShared];

    /// The fastest that a device has the local memory for, and whose time tells of nothing there. On a device whose
    /// local memory is cached none is safe that looks up, so that it gets the one that is fastest in a cache.
    #[must_use]
    pub fn best(about: &About) -> Self {
        if about.local_is_cached {
            return Self::OneShared;
        }
        let fits = |tables: &Self| tables.local_bytes() <= about.local_bytes;
        let found = [Self::FourForEachLane, Self::OneForEachLane].into_iter().find(fits);
        found.unwrap_or(Self::None)
    }

    /// Work-groups, and the work-items of each, for so many items. Tables are made anew by each group, so that there are
    /// as many as a device has at the same time and not more: registers leave room for [`GROUP_MAX`] work-items.
    #[must_use]
    pub fn grid(self, items: usize, about: &About) -> (usize, usize) {
        let units = about.units.max(1);
        let most = match about.capability {
            Some(_) => GROUP_MAX,
            // PoCL, which computes on processors, compiles a kernel anew for each size of group.
            None if about.local_is_cached => LANES,
            None => SMALL_GROUP,
        };
        let most = (most.min(about.group_items_max) / LANES * LANES).max(LANES);
        let group = items.div_ceil(units).next_multiple_of(LANES).clamp(LANES, most);
        (items.div_ceil(group).clamp(1, units * GROUP_MAX.div_ceil(most)), group)
    }

    /// Local memory that a work-group needs, in bytes.
    #[must_use]
    pub fn local_bytes(self) -> usize {
        match self {
            Self::None => 0,
            _ => {
                let (tables, copies) = self.numbers();
                tables * copies * 256 * size_of::<u32>()
            }
        }
    }

    /// How many tables, and how many copies of each.
    fn numbers(self) -> (usize, usize) {
        match self {
            Self::None => (0, 1),
            Self::OneForEachLane => (1, 32),
            Self::FourForEachLane => (4, 32),
            Self::OneShared => (1, 1),
        }
    }
}

/// Work-items of a group that every library takes, whatever its compiler makes of a kernel.
const SMALL_GROUP: usize = 256;

/// A kernel of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Many messages, one work-item each.
    Many,
    /// What long messages need before their texts: round keys, hash key, first counter, hashed aad.
    LongPrepare,
    /// Pieces of long messages' texts, 32 work-items each.
    LongPieces,
    /// Joins what the work-items hashed of each piece.
    LongJoin,
    /// Joins the pieces of each message; tags and statuses.
    LongFinish,
    /// Zeros over the texts of long messages that failed.
    LongClear,
    /// Of the lab: each work-item works all messages.
    Replicated,
    /// Of the lab: each message is worked once.
    Partitioned,
    /// Of the lab: products of matrices of one type of numbers.
    Types,
    /// Of the lab: logic on three words, again and again.
    Lop3,
    /// Of the lab: permutations of bytes.
    Prmt,
    /// Of the lab: shifts of two words.
    Shf,
    /// Of the lab: products of words, and one more added.
    Imad,
    /// Of the lab: the same with a result of two words.
    ImadWide,
    /// Of the lab: look-ups in shared memory without conflicts of banks.
    Lds,
    /// Of the lab: products of matrices of bits.
    Bmma,
}

impl Kernel {
    /// Those of each program that drivers use.
    pub const OF_DRIVERS: [Self; 6] = [
        Self::Many,
        Self::LongPrepare,
        Self::LongPieces,
        Self::LongJoin,
        Self::LongFinish,
        Self::LongClear,
    ];

    /// Its function's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Many => "many",
            Self::LongPrepare => "long_prepare",
            Self::LongPieces => "long_pieces",
            Self::LongJoin => "long_join",
            Self::LongFinish => "long_finish",
            Self::LongClear => "long_clear",
            Self::Replicated => "replicated",
            Self::Partitioned => "partitioned",
            Self::Types => "types",
            Self::Lop3 => "lop3",
            Self::Prmt => "prmt",
            Self::Shf => "shf",
            Self::Imad => "imad",
            Self::ImadWide => "imad_wide",
            Self::Lds => "lds",
            Self::Bmma => "bmma",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(units: usize, local_bytes: usize, local_is_cached: bool) -> About {
        About {
            name: "a device".to_owned(),
            detail: String::new(),
            capability: None,
            units,
            local_bytes,
            group_items_max: 1_024,
            buffer_bytes_max: 1 << 30,
            local_is_cached,
            is_simulated: false,
        }
    }

    #[test]
    fn a_device_gets_the_largest_tables_that_fit_its_local_memory() {
        for (local_kib, tables) in [
            (228, Tables::FourForEachLane),
            (128, Tables::FourForEachLane),
            (127, Tables::OneForEachLane),
            (32, Tables::OneForEachLane),
            (31, Tables::None),
            (0, Tables::None),
        ] {
            assert_eq!(Tables::best(&device(1, local_kib << 10, false)), tables, "{local_kib}");
        }
        assert_eq!(Tables::best(&device(1, 1 << 20, true)), Tables::OneShared);
    }

    #[test]
    fn a_grid_has_work_for_all_units_and_whole_warps() {
        let cuda = About { capability: Some(90), ..device(132, 228 << 10, false) };
        for tables in [Tables::FourForEachLane, Tables::OneForEachLane, Tables::None] {
            assert_eq!(tables.grid(1, &cuda), (1, 32));
            assert_eq!(tables.grid(132 * 32, &cuda), (132, 32));
            assert_eq!(tables.grid(10_000, &cuda), (105, 96));
            assert_eq!(tables.grid(1 << 20, &cuda), (132, 384));
        }
        let (gpu, host) = (device(60, 64 << 10, false), device(2, 1 << 20, true));
        assert_eq!(Tables::OneForEachLane.grid(1 << 20, &gpu), (120, 256));
        assert_eq!(Tables::OneShared.grid(100, &host), (4, 32));
        assert_eq!(Tables::OneShared.grid(100_000, &host), (24, 32));
        let narrow = About { group_items_max: 100, ..gpu };
        assert_eq!(Tables::None.grid(1 << 20, &narrow), (240, 96));
        // Nobody is left over who waits for another round while units have nothing to do.
        for items in 1..cuda.units * GROUP_MAX {
            let (groups, group) = Tables::None.grid(items, &cuda);
            assert!(groups * group >= items && groups <= cuda.units, "{items}");
        }
    }

    #[test]
    fn programs_have_names_of_their_own_and_their_defines_in_them() {
        let names: Vec<_> = Variant::all().map(Variant::name).collect();
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!((names.len(), distinct.len()), (12, 12));
        assert_eq!(names[1], "aes128-tables1-copies32");
        let shared = Variant { key: KeyLength::Aes256, tables: Tables::OneShared };
        assert_eq!(shared.defines(), [("KEY_WORDS", 8), ("TABLES", 1), ("COPIES", 1)]);
        let bytes = Tables::ALL.map(Tables::local_bytes);
        assert_eq!(bytes, [0, 32 << 10, 128 << 10, 1 << 10]);
    }
}
