//! Messages under any keys, spread over all tasklets of all DPUs.

use super::bank::{Bank, Kernel};
use super::messages::{Item, Round};
use dpu_sim::kernels::many::{Layout, Places, RESULTS_AT};
use sealift_core::Work;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use zeroize::Zeroizing;

/// Works messages of a round and gives out their results.
pub(super) fn work(
    bank: &mut Bank,
    round: &Round,
    items: &[&Item],
    work: &mut Work<'_>,
) -> Result<(), String> {
    bank.load(Kernel::Many)?;
    let shares = shares(items, bank.dpus());
    let busy = shares.iter().enumerate().filter(|(_, share)| !share.is_empty());
    let (mut images, mut places) = (vec![], vec![]);
    for (dpu, share) in busy.clone() {
        let (image, of) = laid_out(round, share)?;
        images.push((dpu, image));
        places.push(of);
    }
    let worked = (|| {
        bank.push(images)?;
        bank.launch()?;
        let wanted: Vec<_> =
            busy.clone().zip(&places).map(|((dpu, _), of)| (dpu, of.results_bytes())).collect();
        bank.pull(RESULTS_AT, &wanted)
    })();
    bank.wipe(busy.clone().map(|(dpu, _)| dpu))?;
    let results = worked?;
    for (((_, share), places), (_, results)) in busy.zip(&places).zip(&results) {
        for (number, item) in share.iter().enumerate() {
            let tag = places.tag(number, results);
            item.give(work, &results[places.text(number)], &tag);
        }
    }
    Ok(())
}

/// One DPU's messages and the keys that they use, as they go to its memory.
fn laid_out(round: &Round, share: &[&Item]) -> Result<(Zeroizing<Vec<u8>>, Places), String> {
    let (mut numbers, mut keys) = (HashMap::new(), vec![]);
    let messages: Vec<_> = share
        .iter()
        .map(|item| {
            let number = *numbers.entry(item.key).or_insert_with(|| {
                keys.push(round.keys[item.key].as_bytes());
                keys.len() - 1
            });
            round.message(item, number)
        })
        .collect();
    let layout = Layout::new(&keys, &messages).map_err(|error| error.to_string())?;
    let (image, places) = layout.into_image();
    Ok((Zeroizing::new(image), places))
}

/// Messages for each DPU: each goes to the one that has the least to do.
fn shares<'i>(items: &[&'i Item], dpus: usize) -> Vec<Vec<&'i Item>> {
    let mut shares = vec![vec![]; dpus];
    let mut idle: BinaryHeap<_> = (0..dpus).map(|dpu| Reverse((0_usize, dpu))).collect();
    for item in items {
        let Some(Reverse((load, dpu))) = idle.pop() else { break };
        shares[dpu].push(*item);
        idle.push(Reverse((load + MESSAGE_BYTES + item.aad.len() + item.text.len(), dpu)));
    }
    shares
}

/// What a message takes besides its bytes is as much as so many of them.
const MESSAGE_BYTES: usize = 128;
