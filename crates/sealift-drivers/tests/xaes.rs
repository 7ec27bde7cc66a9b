//! C2SP's accumulated vectors of XAES-256-GCM: a million messages drawn by SHAKE-128, and one digest of all their ciphertexts.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use sealift_core::{
    Algorithm, Batch, Column, Context, Device, Keys, Notify, Op, Ops, OwnedOutput, Status,
    SystemClock, Tags, Work,
};
use shake::{ExtendableOutput, Shake128, Update, XofReader};
use std::sync::Arc;

/// Messages and the digest, from the specification's `XAES-256-GCM/go/XAES-256-GCM_test.go`.
const DIGESTS: [(usize, &str); 2] = [
    (10_000, "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939"),
    (1_000_000, "2163ae1445985a30b60585ee67daa55674df06901b890593e824b8a7c885ab15"),
];
/// Messages of a batch, each under a key of its own.
const BATCH: usize = 10_000;

#[test]
fn many_messages_have_the_published_digest_on_every_device_and_open_on_the_next() {
    let devices: Vec<_> = ["cpu", "library", "reference"].into_iter().filter_map(device).collect();
    let scale = std::env::var("SEALIFT_TEST_SCALE").map_or(1.0, |scale| scale.parse().unwrap());
    let [(few, _), (all, _)] = DIGESTS;
    let messages = if scale < 1.0 { few } else { all };
    let mut random = Shake128::default().finalize_xof();
    let mut digests = vec![Shake128::default(); devices.len()];
    for done in (BATCH..=messages).step_by(BATCH) {
        let load = Load::draw(&mut random);
        let sealed: Vec<_> = devices.iter().map(|device| load.seal(&**device)).collect();
        for ((digest, sealed), opener) in
            digests.iter_mut().zip(&sealed).zip(devices.iter().cycle().skip(1))
        {
            (0..BATCH).for_each(|message| digest.update(sealed.text_of(message)));
            load.expect_opened(&**opener, sealed);
        }
        if let Some((_, expected)) = DIGESTS.iter().find(|(messages, _)| *messages == done) {
            for (digest, device) in digests.iter().zip(&devices) {
                let mut sum = [0; 32];
                digest.clone().finalize_xof().read(&mut sum);
                let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(&sum, expected, "{}", device.capabilities().name);
            }
        }
    }
}

/// A batch as the specification's test draws its messages.
#[derive(Default)]
struct Load {
    keys: Vec<u8>,
    nonces: Vec<u8>,
    texts: (Vec<u8>, Vec<u32>),
    aads: (Vec<u8>, Vec<u32>),
}

impl Load {
    fn draw(random: &mut impl XofReader) -> Self {
        let mut load =
            Self { texts: (vec![], vec![0]), aads: (vec![], vec![0]), ..Self::default() };
        for _ in 0..BATCH {
            append(random, 32, &mut load.keys);
            append(random, 24, &mut load.nonces);
            for (bytes, offsets) in [&mut load.texts, &mut load.aads] {
                let mut len = [0];
                random.read(&mut len);
                append(random, len[0].into(), bytes);
                offsets.push(bytes.len().try_into().unwrap());
            }
        }
        load
    }

    fn batch<'b>(&'b self, op: Op, texts: Column<'b>) -> Batch<'b> {
        let keys = Keys::Raw(Column::fixed(&self.keys, 32));
        Batch {
            algorithm: Algorithm::Xaes256Gcm,
            ops: Ops::All(op),
            aad: Column::offsets(&self.aads.0, &self.aads.1[..]),
            tags: Tags::Appended,
            ..Batch::seal(BATCH, keys, Column::fixed(&self.nonces, 24), texts)
        }
    }

    fn seal(&self, device: &dyn Device) -> OwnedOutput {
        run(device, &self.batch(Op::Seal, Column::offsets(&self.texts.0, &self.texts.1[..])))
    }

    fn expect_opened(&self, device: &dyn Device, sealed: &OwnedOutput) {
        let texts = (0..BATCH).map(|message| sealed.text_of(message).into()).collect();
        let opened = run(device, &self.batch(Op::Open, Column::Scattered(texts)));
        for message in 0..BATCH {
            let text = self.texts.1[message] as usize..self.texts.1[message + 1] as usize;
            assert_eq!(opened.text_of(message), &self.texts.0[text], "{device:?}, {message}");
        }
    }
}

fn run(device: &dyn Device, batch: &Batch<'_>) -> OwnedOutput {
    let mut output = OwnedOutput::for_batch(batch).unwrap();
    device.run(&mut Work::new(batch, output.as_output(), &()).unwrap()).unwrap();
    assert!(output.status().iter().all(|status| *status == Status::Ok), "{device:?}");
    output
}

fn append(random: &mut impl XofReader, count: usize, to: &mut Vec<u8>) {
    let start = to.len();
    to.resize(start + count, 0);
    random.read(&mut to[start..]);
}

fn device(spec: &str) -> Option<Arc<dyn Device>> {
    let context = Context { clock: Arc::new(SystemClock::new()), notify: Arc::new(Unheard) };
    let opened = sealift_drivers::open(&spec.parse().unwrap(), &context);
    match &opened {
        Ok(_) => sealift_testing::ran(spec),
        Err(absent) => sealift_testing::skip(spec, &absent.to_string()).unwrap(),
    }
    opened.ok()
}

#[derive(Debug)]
struct Unheard;

impl Notify for Unheard {
    fn ring(&self) {}
}
