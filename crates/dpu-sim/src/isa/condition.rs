//! Conditions, and how each class of instructions numbers them.

/// What an instruction may ask of its result, its operands and the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the vendor's names; `Condition::name` spells them")]
#[rustfmt::skip]
pub enum Condition {
    False, True, Z, Nz, Xz, Xnz, Pl, Mi, Sz, Snz, Spl, Smi, Ov, Nov, C, Nc,
    Nc5, Nc6, Nc7, Nc8, Nc9, Nc10, Nc11, Nc12, Nc13, Nc14,
    Ltu, Geu, Lts, Ges, Les, Gts, Leu, Gtu, Xles, Xgts, Xleu, Xgtu,
    Max, Nmax, E, O, Se, So, Nsh32, Sh32, Small, Large,
}

/// A way of numbering conditions; which one holds depends on the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the vendor's names")]
#[rustfmt::skip]
pub enum Class {
    Acquire, AddNz, Boot, CountNz, Div, ExtSubSet, ImmShiftNz, LogNz, LogSet, MulNz, Release, ShiftNz, SubNz, SubSet,
    True, TrueFalse,
}

use Condition::*;

impl Condition {
    /// The vendor's name, as assembly spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, condition)| *condition == self).map_or("", |(name, _)| name)
    }

    /// Finds a condition by name; `eq`, `neq` are others for `z`, `nz`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, condition)| *condition)
    }
}

impl Class {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "acquire" => Self::Acquire,
            "add_nz" => Self::AddNz,
            "boot" => Self::Boot,
            "count_nz" => Self::CountNz,
            "div" => Self::Div,
            "ext_sub_set" => Self::ExtSubSet,
            "imm_shift_nz" => Self::ImmShiftNz,
            "log_nz" => Self::LogNz,
            "log_set" => Self::LogSet,
            "mul_nz" => Self::MulNz,
            "release" => Self::Release,
            "shift_nz" => Self::ShiftNz,
            "sub_nz" => Self::SubNz,
            "sub_set" => Self::SubSet,
            "true" => Self::True,
            "true_false" => Self::TrueFalse,
            _ => return None,
        })
    }

    /// What a number means in this class.
    #[must_use]
    pub fn condition(self, number: i64) -> Option<Condition> {
        let found = self.numbers().find(|(known, _)| *known == number);
        found.map(|(_, condition)| condition)
    }

    /// The number of a condition in this class.
    #[must_use]
    pub fn number(self, condition: Condition) -> Option<i64> {
        let condition = match condition {
            C if self.subtracts() => Geu,
            Nc if self.subtracts() => Ltu,
            other => other,
        };
        self.numbers().find(|(_, known)| *known == condition).map(|(number, _)| number)
    }

    fn subtracts(self) -> bool {
        matches!(self, Self::SubNz | Self::ExtSubSet | Self::SubSet)
    }

    fn numbers(self) -> impl Iterator<Item = (i64, Condition)> {
        let tables: [&[Numbered]; 3] = match self {
            Self::Acquire => [&[(1, True), (2, Z), (3, Nz)], &[], &[]],
            Self::Release => [&[(0, Nz)], &[], &[]],
            Self::True => [&[(1, True)], &[], &[]],
            Self::TrueFalse => [&[(0, False), (1, True)], &[], &[]],
            Self::LogSet | Self::SubSet => [SET, &[], &[]],
            Self::ExtSubSet => [SET, EXTENDED, &[]],
            Self::Div => [&[(0, False), (1, True)], SOURCE, &[]],
            Self::Boot => [PLAIN, SOURCE, &[(0, False)]],
            Self::LogNz => [PLAIN, SOURCE, SIGN],
            Self::CountNz => [PLAIN, SOURCE, &[(8, Max), (9, Nmax)]],
            Self::MulNz => [PLAIN, SOURCE, &[(30, Small), (31, Large)]],
            Self::ImmShiftNz => [PLAIN, SOURCE, PARITY],
            Self::ShiftNz => [PLAIN, SOURCE, SHIFTED],
            Self::AddNz => [PLAIN, SOURCE, ADDED],
            Self::SubNz => [PLAIN, SOURCE, SUBTRACTED],
        };
        tables.into_iter().flatten().copied()
    }
}

type Numbered = (i64, Condition);

const PLAIN: &[Numbered] = &[(1, True), (2, Z), (3, Nz), (4, Xz), (5, Xnz)];
const SOURCE: &[Numbered] = &[(12, Sz), (13, Snz), (14, Spl), (15, Smi)];
const SIGN: &[Numbered] = &[(8, Pl), (9, Mi)];
const SET: &[Numbered] = &[(6, Z), (7, Nz), (10, Xz), (11, Xnz)];
const PARITY: &[Numbered] = &[(8, Pl), (9, Mi), (24, E), (25, O), (30, Se), (31, So)];
const SHIFTED: &[Numbered] =
    &[(8, Pl), (9, Mi), (24, E), (25, O), (28, Nsh32), (29, Sh32), (30, Se), (31, So)];
#[rustfmt::skip]
const ADDED: &[Numbered] = &[
    (8, Pl), (9, Mi), (18, Ov), (19, Nov), (20, C), (21, Nc), (22, Nc5), (23, Nc6), (24, Nc7), (25, Nc8), (26, Nc9),
    (27, Nc10), (28, Nc11), (29, Nc12), (30, Nc13), (31, Nc14),
];
#[rustfmt::skip]
const SUBTRACTED: &[Numbered] = &[
    (8, Pl), (9, Mi), (18, Ov), (19, Nov), (20, Ltu), (21, Geu), (22, Lts), (23, Ges), (24, Les), (25, Gts), (26, Leu),
    (27, Gtu), (28, Xles), (29, Xgts), (30, Xleu), (31, Xgtu),
];
#[rustfmt::skip]
const EXTENDED: &[Numbered] = &[
    (33, True), (34, Z), (35, Nz), (36, Xz), (37, Xnz), (40, Pl), (41, Mi), (44, Sz), (45, Snz), (46, Spl), (47, Smi), (50, Ov), (51, Nov), (52, Ltu),
    (53, Geu), (54, Lts), (55, Ges), (56, Les), (57, Gts), (58, Leu), (59, Gtu), (60, Xles), (61, Xgts), (62, Xleu),
    (63, Xgtu),
];
#[rustfmt::skip]
const NAMES: &[(&str, Condition)] = &[
    ("false", False), ("true", True), ("z", Z), ("nz", Nz), ("xz", Xz), ("xnz", Xnz), ("pl", Pl), ("mi", Mi),
    ("sz", Sz), ("snz", Snz), ("spl", Spl), ("smi", Smi), ("ov", Ov), ("nov", Nov), ("c", C), ("nc", Nc),
    ("nc5", Nc5), ("nc6", Nc6), ("nc7", Nc7), ("nc8", Nc8), ("nc9", Nc9), ("nc10", Nc10), ("nc11", Nc11),
    ("nc12", Nc12), ("nc13", Nc13), ("nc14", Nc14), ("ltu", Ltu), ("geu", Geu), ("lts", Lts), ("ges", Ges),
    ("les", Les), ("gts", Gts), ("leu", Leu), ("gtu", Gtu), ("xles", Xles), ("xgts", Xgts), ("xleu", Xleu),
    ("xgtu", Xgtu), ("max", Max), ("nmax", Nmax), ("e", E), ("o", O), ("se", Se), ("so", So), ("nsh32", Nsh32),
    ("sh32", Sh32), ("small", Small), ("large", Large), ("eq", Z), ("neq", Nz),
];
