use super::*;

#[test]
fn every_width_copies_every_length_at_every_offset() {
    let source: Vec<u8> =
        (0..6_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    for (name, copier) in copiers() {
        for len in (BYTES_MIN..1_200).chain(4_080..4_200) {
            for (to, from) in [(0, 0), (1, 0), (0, 1), (63, 12), (12, 64), (17, 5)] {
                let mut destination = vec![0xee; len + 200];
                copier(&mut destination[to..to + len], &source[from..from + len]);
                let (before, rest) = destination.split_at(to);
                let (copied, after) = rest.split_at(len);
                assert!(copied == &source[from..from + len], "{name} {len} {to} {from}");
                assert!(before.iter().chain(after).all(|byte| *byte == 0xee), "{name} {len}");
            }
        }
    }
}

#[test]
fn copies_go_past_the_caches_from_an_eighth_of_the_largest_on() {
    assert_eq!(
        [kib("307200K\n"), kib("48K"), kib("K"), kib("5M")],
        [Some(307_200), Some(48), None, None]
    );
    let past = [1 << 10, 1 << 20, 32 << 20, 300 << 20, usize::MAX].map(past_caches_of);
    assert_eq!(past, [BYTES_MIN, 128 << 10, 4 << 20, 4 << 20, 4 << 20]);
}

#[test]
fn the_largest_cache_is_found_where_the_system_tells_it() {
    let told = std::env::temp_dir().join(format!("sealift-caches-{}", std::process::id()));
    assert_eq!(largest_below(&told), usize::MAX, "where nothing is told");
    for (cache, size) in ["48K\n", "32K\n", "2048K\n", "307200K\n"].into_iter().enumerate() {
        let folder = told.join(format!("index{cache}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("size"), size).unwrap();
    }
    assert_eq!(largest_below(&told), 300 << 20);
    fs::remove_dir_all(&told).unwrap();
    let here = Path::new(CACHES);
    if here.join("index0/size").exists() {
        assert!((16 << 10..16 << 30).contains(&largest_below(here)), "{}", largest_below(here));
    }
}

#[test]
fn every_short_length_is_copied_at_once() {
    let source: Vec<u8> = (0..=255).rev().chain(0..=255).chain(0..=7).collect();
    for (len, at) in (65..=512).flat_map(|len| [(len, 0), (len, 13), (len, 63)]) {
        let mut destination = vec![0xee; 600];
        copy_short(&mut destination[at..at + len], &source[5..5 + len]);
        assert!(destination[at..at + len] == source[5..5 + len], "{len} {at}");
        let beside = destination[..at].iter().chain(&destination[at + len..]);
        assert!(beside.into_iter().all(|byte| *byte == 0xee), "{len} {at}");
    }
}

type Copier = fn(&mut [u8], &[u8]);

/// The copiers this processor can run; says which are left out.
fn copiers() -> Vec<(&'static str, Copier)> {
    let mut copiers: Vec<(&'static str, Copier)> = vec![
        ("sse2", |to, from| {
            // SAFETY: every x86-64 processor has SSE2, and the slices have the same length.
            unsafe { copy_128(to.as_mut_ptr(), from.as_ptr(), to.len()) }
        }),
        ("sse2 past the caches", |to, from| {
            // SAFETY: every x86-64 processor has SSE2, and the slices have the same length, at least 4 registers.
            unsafe { stream_128(to.as_mut_ptr(), from.as_ptr(), to.len()) }
        }),
        ("any", copy),
        ("any past the caches", copy_past_caches),
    ];
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: just detected, and the slices have the same length.
        copiers.push(("avx2", |to, from| unsafe {
            copy_256(to.as_mut_ptr(), from.as_ptr(), to.len());
        }));
        // SAFETY: AVX2 was just detected, and the slices have the same length, at least 4 registers.
        copiers.push(("avx2 past the caches", |to, from| unsafe {
            stream_256(to.as_mut_ptr(), from.as_ptr(), to.len());
        }));
    } else {
        eprintln!("avx2 copies are not tested: this processor lacks avx2");
    }
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: just detected, and the slices have the same length.
        copiers.push(("avx512f", |to, from| unsafe {
            copy_512(to.as_mut_ptr(), from.as_ptr(), to.len());
        }));
        // SAFETY: AVX-512F was just detected, and the slices have the same length, at least 320 bytes.
        copiers.push(("avx512f past the caches", |to, from| unsafe {
            stream_512(to.as_mut_ptr(), from.as_ptr(), to.len());
        }));
    } else {
        eprintln!("avx512f copies are not tested: this processor lacks avx512f");
    }
    copiers
}
