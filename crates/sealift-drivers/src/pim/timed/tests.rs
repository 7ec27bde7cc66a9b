use super::*;

fn timed(cipher: Cipher, dpus: usize, bytes: usize, tasklets: usize) -> Timed {
    let system = Preset::named("upmem-640-266").unwrap();
    Timed { cipher, system, dpus, bytes, tasklets, key_bytes: 16, message_bytes: 96 }
}

#[test]
fn each_kernel_is_right_on_several_dpus_and_its_times_are_told_apart() {
    for (_, cipher) in Cipher::ALL {
        for key_bytes in [16, 32] {
            let asked = Timed { key_bytes, ..timed(cipher, 3, 4128, 5) };
            let mut run = Run::new(asked).unwrap();
            run.launch().unwrap();
            let took = run.finish().unwrap();
            assert_eq!((took.bytes, run.ended()), (3 * 4128, 3));
            assert!(took.compute_seconds > took.cycles as f64 / 267e6);
            assert!(took.bus_in_seconds > 0.0 && took.simulating_seconds > 0.0);
            assert!(took.instructions > 300 * took.bytes / 16);
        }
    }
}

#[test]
fn a_wrong_byte_is_found() {
    let mut run = Run::new(timed(Cipher::Ctr, 2, 64, 1)).unwrap();
    run.set.copy_to(1, "nonce", 0, &ctr_parameters(&nonce(1), 2)).unwrap();
    run.launch().unwrap();
    assert_eq!(run.finish().unwrap_err(), "DPU 1 computed byte 0 wrong");
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    let refused = |timed| Run::new(timed).err().unwrap();
    assert!(refused(timed(Cipher::Ctr, 1, 33, 1)).contains("a multiple of 32"));
    assert!(refused(timed(Cipher::Ctr, 641, 32, 1)).contains("1 to 640"));
    assert!(refused(timed(Cipher::Gcm, 1, 32, 25)).contains("1 to 24 tasklets"));
    assert!(refused(timed(Cipher::Ecb, 1, 32, 0)).contains("1 to 24 tasklets"));
    assert!(refused(timed(Cipher::Many, 1, 64, 1)).contains("96 bytes, and not a multiple"));
    let key = Timed { key_bytes: 17, ..timed(Cipher::Ctr, 1, 32, 1) };
    assert!(refused(key).contains("17 bytes"));
}
