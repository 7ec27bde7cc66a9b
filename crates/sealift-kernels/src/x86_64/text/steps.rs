//! Steps of a text, of eight registers.

use core::arch::x86_64::__m128i;
use core::hint::black_box;

use super::{
    STEP,
    counters::{Counters, First},
    end::{self, InOrder, end},
    end_registers,
    span::{LINE, Span},
};
use crate::{
    model::aes::ROUND_KEYS_MAX,
    schedule::{Expanded, POWERS},
    x86_64::{
        ghash::{Between, Power, Sums},
        isa::Isa,
    },
};

/// How far before they are needed texts are asked for. The processor finds a text's lines by itself, but
/// begins anew with each page.
const AHEAD: usize = 4 << 10;

/// The same for results. What follows a result is most often the next one.
const AHEAD_TO_WRITE: usize = 2 << 10;

/// A text on its way, and what its ciphertext so far makes of the hash, in lanes.
pub(in crate::x86_64) struct Steps<'s, I: Isa> {
    pub(super) isa: I,
    pub(super) schedule: &'s Expanded,
    /// Round keys in all lanes, if they are loaded.
    keys: Option<&'s Keys<I>>,
    /// What the registers of a step are multiplied with, where there are steps.
    powers: Option<&'s [Power<I>; STEP]>,
    pub(super) counters: Counters<I>,
    pub(super) hash: I::Register,
}

/// The round keys of the longest key.
pub(super) type Keys<I> = [<I as Isa>::Register; ROUND_KEYS_MAX];

/// Round keys in all lanes, and behind the last one of a shorter key what follows it in the schedule, secret as well.
#[inline(always)]
pub(super) fn keys<I: Isa>(isa: I, schedule: &Expanded) -> Keys<I> {
    let mut keys = [isa.broadcast(&0); ROUND_KEYS_MAX];
    for (key, block) in keys.iter_mut().zip(schedule.first_blocks()) {
        *key = isa.broadcast(block);
    }
    keys
}

/// The power for each register of a step, in all lanes.
#[inline(always)]
pub(super) fn powers<I: Isa>(isa: I, schedule: &Expanded) -> [Power<I>; STEP] {
    // Pieces alone take what is made for them.
    const { assert!(!I::HAS_PIECES || end_registers::<I>() == STEP) };
    let known = end_registers::<I>();
    let of = |register: usize| {
        Power::broadcast(isa, schedule, POWERS - I::LANES * (STEP - register).min(known))
    };
    let mut powers = [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)];
    let missing = STEP - known;
    for i in (0..missing).rev() {
        let product = Sums::nothing(isa).and(isa, powers[i + known].h, powers[missing]);
        powers[i] = Power::of(isa, product.reduced(isa));
    }
    powers
}

impl<'s, I: Isa> Steps<'s, I> {
    /// Before the first step of a text, with the hash of what comes before it.
    #[inline(always)]
    pub(super) fn new(
        isa: I,
        schedule: &'s Expanded,
        powers: &'s [Power<I>; STEP],
        keys: Option<&'s Keys<I>>,
        first: First,
        hash: I::Register,
    ) -> Steps<'s, I> {
        // The compiler would load all of them before the loop, into registers that it does not have. (As a pair they would be put
        // down by halves and loaded as a whole, for which a processor waits.)
        let (schedule, powers) = (black_box(schedule), black_box(powers));
        let (powers, keys) = (Some(powers), black_box(keys));
        Steps { isa, schedule, keys, powers, counters: Counters::new(isa, first), hash }
    }

    /// The same for a text that has none.
    #[inline(always)]
    pub(super) fn without_powers(
        isa: I,
        schedule: &'s Expanded,
        first: First,
        hash: I::Register,
    ) -> Steps<'s, I> {
        Steps { isa, schedule, keys: None, powers: None, counters: Counters::new(isa, first), hash }
    }

    /// The powers, where there are steps.
    #[inline(always)]
    pub(super) fn known_powers(&self) -> &'s [Power<I>; STEP] {
        self.powers.expect("there are powers wherever there are steps")
    }

    /// The first blocks of a text by themselves, fewer than a register has, so that a cache line's begin follows.
    ///
    /// # Safety
    /// So much text is left to read and to write.
    #[inline(always)]
    pub(super) unsafe fn work_head<const SEAL: bool>(&mut self, text: &mut Span, blocks: usize) {
        let (isa, head) = (self.isa, text.first(16 * blocks));
        let mut input = [isa.broadcast(&0)];
        // SAFETY: the caller promises so many bytes, a part of one register.
        unsafe { end::load(isa, &head, 0..1, &mut input) };
        let mut states = self.counters.blocks::<1>(isa, self.round_key(0), blocks);
        self.rounds(1, &mut states, &mut []);
        // SAFETY: the caller promises as many to write, and nothing was taken from the text since.
        let output = unsafe { end::store(self, &states, &input, &head) };
        self.take_first(if SEAL { &output } else { &input }, blocks);
        text.begin_line(head.len());
    }

    /// Takes so many blocks of ciphertext into the hash, with zeros behind them. Nothing is in its other lanes yet.
    #[inline(always)]
    fn take_first<const N: usize>(&mut self, ciphertext: &[I::Register; N], blocks: usize) {
        let powers = InOrder { schedule: self.schedule, first: POWERS - blocks };
        let sums = self.weave(&mut [], ciphertext, powers, &mut []);
        self.hash = self.isa.first_lane(self.isa.sum(sums.reduced(self.isa)));
    }

    /// The first two registers of a text by themselves, so that the end has more.
    ///
    /// # Safety
    /// As for [`seal_step`](Self::seal_step).
    #[inline(always)]
    pub(super) unsafe fn work_two<const SEAL: bool>(&mut self, text: &mut Span) {
        // SAFETY: the caller promises so much text.
        let input = unsafe { load::<I, 2>(self.isa, text) };
        let mut states = self.begin();
        self.rounds(1, &mut states, &mut []);
        fetch(self.isa, text, 2 * I::BYTES);
        // SAFETY: the caller promises as many to write, and nothing was taken from the text since.
        let output = unsafe { self.finish(&states, &input, text) };
        self.take_first(if SEAL { &output } else { &input }, 2 * I::LANES);
    }

    /// Seals a text: a step is hashed while the next one is encrypted, and `mask`, a block with the first round key added, is
    /// encrypted with the first.
    ///
    /// # Safety
    /// `text` is readable and writable for its length, at least one byte.
    #[inline(always)]
    pub(super) unsafe fn seal(
        mut self,
        text: &mut Span,
        lengths: Option<__m128i>,
        mask: &mut [__m128i; 1],
    ) -> __m128i {
        if text.len() <= STEP * I::BYTES {
            // SAFETY: the caller promises a byte at least, and it is a step at most.
            return unsafe { self.seal_middle(&[], text, lengths, mask) };
        }
        if I::HAS_PIECES {
            // SAFETY: more than a step of text is left.
            let last = unsafe { I::seal_pieces(&mut self, &mut mask[0], text) };
            // SAFETY: a step is left at most, and one byte at least.
            return unsafe { end::<I, true, STEP, 0>(self, &last, text, lengths, &mut []) };
        }
        // SAFETY: more than a step of text is left.
        let mut last = unsafe { self.seal_step::<STEP, 0, 1>(&[], text, mask) };
        while text.len() > STEP * I::BYTES {
            // SAFETY: the loop goes on only while more than a step of text is left.
            last = unsafe { self.seal_step::<STEP, STEP, 0>(&last, text, &mut []) };
        }
        // SAFETY: a step is left at most, and one byte at least.
        unsafe { self.seal_middle(&last, text, lengths, &mut []) }
    }

    /// Seals what is left where that may be more than a whole end.
    ///
    /// # Safety
    /// `text` is readable and writable for its length, at least one byte and at most a step.
    #[inline(always)]
    unsafe fn seal_middle<const M: usize, const X: usize>(
        mut self,
        last: &[I::Register; M],
        text: &mut Span,
        lengths: Option<__m128i>,
        mask: &mut [__m128i; X],
    ) -> __m128i {
        const { assert!(end_registers::<I>() == STEP || end_registers::<I>() == 4) };
        if end_registers::<I>() < STEP && text.len() > end_registers::<I>() * I::BYTES {
            // Where an end is shorter than a step, it has four registers.
            // SAFETY: more than a whole end is left.
            let middle = unsafe { self.seal_step::<4, M, X>(last, text, mask) };
            // SAFETY: a whole end is left at most, because a step is two of them, and one byte at least.
            return unsafe { end::<I, true, 4, 0>(self, &middle, text, lengths, &mut []) };
        }
        // SAFETY: a whole end is left at most, and one byte at least.
        unsafe { end::<I, true, M, X>(self, last, text, lengths, mask) }
    }

    /// Opens a text: a step is hashed while it is decrypted, and `mask` is encrypted with the end.
    ///
    /// # Safety
    /// As for [`seal`](Self::seal).
    #[inline(always)]
    pub(super) unsafe fn open(
        mut self,
        text: &mut Span,
        lengths: Option<__m128i>,
        mask: &mut [__m128i; 1],
    ) -> __m128i {
        if I::HAS_PIECES {
            // SAFETY: the caller promises the text.
            unsafe { I::open_pieces(&mut self, text) };
        } else {
            while text.len() > STEP * I::BYTES {
                // SAFETY: more than a step of text is left.
                unsafe { self.open_step::<STEP>(text) };
            }
            if text.len() > end_registers::<I>() * I::BYTES {
                // SAFETY: more than a whole end is left, which has four registers where it is shorter than a step.
                unsafe { self.open_step::<4>(text) };
            }
        }
        // SAFETY: a whole end is left at most, and one byte at least.
        unsafe { end::<I, false, 0, 1>(self, &[], text, lengths, mask) }
    }

    /// `N` registers of text, and between their rounds the hash of the `M` before. Returns their ciphertext.
    ///
    /// # Safety
    /// So much text is left to read and to write.
    #[inline(always)]
    unsafe fn seal_step<const N: usize, const M: usize, const X: usize>(
        &mut self,
        last: &[I::Register; M],
        text: &mut Span,
        mask: &mut [__m128i; X],
    ) -> [I::Register; N] {
        let mut states = self.begin::<N>();
        self.take_in(&mut states, last, mask);
        self.rounds(M + 1, &mut states, mask);
        fetch(self.isa, text, N * I::BYTES);
        // SAFETY: the caller promises so many registers.
        let input = unsafe { load(self.isa, text) };
        // SAFETY: the caller promises as many to write, and nothing was taken from the text since.
        unsafe { self.finish(&states, &input, text) }
    }

    /// `N` registers of text, and between their rounds their hash.
    ///
    /// # Safety
    /// As for [`seal_step`](Self::seal_step).
    #[inline(always)]
    unsafe fn open_step<const N: usize>(&mut self, text: &mut Span) {
        // SAFETY: the caller promises so many registers.
        let input = unsafe { load(self.isa, text) };
        let mut states = self.begin::<N>();
        self.take_in(&mut states, &input, &mut []);
        // Not before: what comes from memory is hashed at once, and would wait behind what is asked for (a quarter longer on Zen 4,
        // while it still asked).
        fetch(self.isa, text, N * I::BYTES);
        self.rounds(N + 1, &mut states, &mut []);
        // SAFETY: the caller promises as many to write, and nothing was taken from the text since.
        unsafe { self.finish(&states, &input, text) };
    }

    /// The next counters, before the first round.
    #[inline(always)]
    pub(super) fn begin<const N: usize>(&mut self) -> [I::Register; N] {
        self.counters.blocks(self.isa, self.round_key(0), N * I::LANES)
    }

    /// Takes registers of ciphertext into the hash, in lanes, between as many rounds.
    #[inline(always)]
    pub(super) fn take_in<const N: usize, const M: usize, const X: usize>(
        &mut self,
        states: &mut [I::Register; N],
        texts: &[I::Register; M],
        mask: &mut [__m128i; X],
    ) {
        if M > 0
            && let Some(powers) = self.powers
        {
            let powers = InLanes { powers, first: STEP - M };
            self.hash = self.weave(states, texts, powers, mask).reduced(self.isa);
        } else {
            assert!(M == 0, "there are powers wherever something waits");
        }
    }

    /// The first `M` rounds, and between them the products of as many registers of ciphertext, with what was hashed before in
    /// the first.
    #[inline(always)]
    pub(super) fn weave<const N: usize, const M: usize, const X: usize>(
        &self,
        states: &mut [I::Register; N],
        texts: &[I::Register; M],
        powers: impl Powers<I>,
        mask: &mut [__m128i; X],
    ) -> Sums<I> {
        let isa = self.isa;
        let mut sums = Sums::nothing(isa);
        // A loop would not be unrolled everywhere.
        macro_rules! products {
            ($($i:literal)+) => {$(
                if let Some(text) = texts.get($i) {
                    let key = self.round_key($i + 1);
                    let block = isa.reverse(*text);
                    let y = if $i == 0 { isa.xor(block, self.hash) } else { block };
                    let round = Round { isa, key, states: &mut *states };
                    sums = powers.add(isa, sums, y, $i, round);
                    self.mask_round($i + 1, mask);
                }
            )+};
        }
        products!(0 1 2 3 4 5 6 7);
        sums
    }

    /// Rounds from one on, but for the last; the mask has its last one, too.
    #[inline(always)]
    pub(super) fn rounds<const N: usize, const X: usize>(
        &self,
        from: usize,
        states: &mut [I::Register; N],
        mask: &mut [__m128i; X],
    ) {
        for round in from..self.last_round() {
            let key = self.round_key(round);
            for state in &mut *states {
                *state = self.isa.pin(self.isa.aes(*state, key));
            }
            self.mask_round(round, mask);
        }
        let (isa, key) = (self.isa.into(), &self.schedule.first_blocks()[self.last_round()]);
        for mask in mask {
            *mask = isa.aes_last(*mask, isa.broadcast(key));
        }
    }

    /// A round of what is encrypted beside the text.
    #[inline(always)]
    fn mask_round<const X: usize>(&self, round: usize, mask: &mut [__m128i; X]) {
        let (isa, key) = (self.isa.into(), &self.schedule.first_blocks()[round]);
        for mask in mask {
            *mask = isa.pin(isa.aes(*mask, isa.broadcast(key)));
        }
    }

    #[inline(always)]
    pub(super) fn last_round(&self) -> usize {
        self.schedule.round_keys().len() - 1
    }

    #[inline(always)]
    pub(super) fn round_key(&self, round: usize) -> I::Register {
        match self.keys {
            Some(keys) if I::LOADS_BLOCKS => keys[round],
            _ => self.isa.broadcast(&self.schedule.first_blocks()[round]),
        }
    }

    /// The last round and `N` registers of text, of which the output is returned.
    ///
    /// # Safety
    /// So much text is writable.
    #[inline(always)]
    unsafe fn finish<const N: usize>(
        &self,
        states: &[I::Register; N],
        input: &[I::Register; N],
        text: &mut Span,
    ) -> [I::Register; N] {
        let isa = self.isa;
        let key = self.round_key(self.last_round());
        let mut output = *states;
        for (i, register) in output.iter_mut().enumerate() {
            *register = isa.aes_last(*register, isa.xor(key, input[i]));
            // SAFETY: the caller promises `N` registers.
            unsafe { store(isa, text, i, *register) };
        }
        text.advance(N * I::BYTES);
        output
    }
}

/// What registers of ciphertext are multiplied with.
pub(super) trait Powers<I: Isa> {
    /// Adds the product of one of them.
    fn add(
        &self,
        isa: I,
        sums: Sums<I>,
        y: I::Register,
        register: usize,
        between: impl Between,
    ) -> Sums<I>;
}

/// The same power in all lanes, of the last registers of a step from one on.
struct InLanes<'s, I: Isa> {
    powers: &'s [Power<I>; STEP],
    first: usize,
}

impl<I: Isa> Powers<I> for InLanes<'_, I> {
    #[inline(always)]
    fn add(
        &self,
        isa: I,
        sums: Sums<I>,
        y: I::Register,
        register: usize,
        between: impl Between,
    ) -> Sums<I> {
        sums.and_between(isa, y, &self.powers[self.first + register], between)
    }
}

/// A round of some states.
struct Round<'r, I: Isa, const N: usize> {
    isa: I,
    key: I::Register,
    states: &'r mut [I::Register; N],
}

impl<I: Isa, const N: usize> Between for Round<'_, I, N> {
    #[inline(always)]
    fn quarter(&mut self, quarter: usize) {
        for state in &mut self.states[quarter * N / 4..(quarter + 1) * N / 4] {
            *state = self.isa.pin(self.isa.aes(*state, self.key));
        }
    }
}

/// `N` registers of text, loaded once.
///
/// # Safety
/// So much text is readable.
#[inline(always)]
unsafe fn load<I: Isa, const N: usize>(isa: I, text: &Span) -> [I::Register; N] {
    let mut input = [isa.broadcast(&0); N];
    for (i, register) in input.iter_mut().enumerate() {
        // SAFETY: the caller promises `N` registers.
        *register = unsafe { isa.load(text.from().wrapping_add(i * I::BYTES)) };
    }
    input
}

/// Stores a whole register of a text's result, past the caches if that is asked.
///
/// # Safety
/// So much text is writable.
#[inline(always)]
pub(super) unsafe fn store<I: Isa>(isa: I, text: &Span, at: usize, register: I::Register) {
    let to = text.to().wrapping_add(at * I::BYTES);
    if I::BYTES == LINE && text.is_passed() {
        debug_assert!(to.addr().is_multiple_of(LINE), "registers are cache lines");
        // SAFETY: the caller promises the text, which begins with a cache line, as every register of it does.
        unsafe { isa.store_past_caches(to, register) };
    } else {
        // SAFETY: the caller promises the text.
        unsafe { isa.store(to, register) };
    }
}

/// Asks the cache for as many bytes as are worked now, further on, if the text is far.
#[inline(always)]
pub(super) fn fetch<I: Isa>(isa: I, text: &Span, bytes: usize) {
    if text.is_far() {
        let (from, to) = (text.ahead(AHEAD, bytes), text.to());
        for line in (0..bytes).step_by(LINE) {
            isa.into().prefetch(from.wrapping_add(line));
            isa.into().prefetch_to_write(to.wrapping_add(AHEAD_TO_WRITE + line));
        }
    }
}
