//! The tables of a description that may be left out.

use super::PresetError;
use super::reader::Reader;
use super::transfers::{Rate, TransferTime, Transfers};
use crate::timing::{Dma, Timing};

pub(super) fn timing(root: &Reader<'_>) -> Result<Timing, PresetError> {
    let (usual, table) = (Timing::default(), root.table("timing")?);
    table.only(TIMING, &["revolver_cycles", "register_hazard", "timer_granularity_cycles"])?;
    let granularity = Some(usual.timer_granularity);
    Ok(Timing {
        revolver: table.whole("revolver_cycles", Some(usual.revolver), 1, 1000)?,
        hazard: table.flag("register_hazard", usual.hazard)?,
        dma: dma(root)?,
        timer_granularity: table.whole("timer_granularity_cycles", granularity, 1, 1 << 20)?,
    })
}

fn dma(root: &Reader<'_>) -> Result<Dma, PresetError> {
    let (usual, table) = (Dma::default(), root.table("dma")?);
    let keys =
        ["read_setup_cycles", "write_setup_cycles", "bytes_per_cycle", "row_bytes", "row_cycles"];
    table.only(DMA, &keys)?;
    Ok(Dma {
        read_setup: table.whole("read_setup_cycles", Some(usual.read_setup), 0, 1 << 20)?,
        write_setup: table.whole("write_setup_cycles", Some(usual.write_setup), 0, 1 << 20)?,
        bytes_per_cycle: table.real("bytes_per_cycle", Some(usual.bytes_per_cycle))?,
        row_bytes: table.whole("row_bytes", Some(usual.row_bytes), 8, 1 << 26)?,
        row_cycles: table.whole("row_cycles", Some(usual.row_cycles), 0, 1 << 20)?,
    })
}

pub(super) fn transfers(root: &Reader<'_>) -> Result<Transfers, PresetError> {
    let table = root.table("transfer")?;
    table.only(TRANSFER, &["dpus", "to_dpus_gb_per_s", "from_dpus_gb_per_s", "source", "short"])?;
    short(&table.table("short")?, rates(&table)?)
}

/// Three rows of one length: numbers of DPUs, and what goes to and comes from them.
fn rates(table: &Reader<'_>) -> Result<Transfers, PresetError> {
    let [dpus_key, to_key, from_key] = ["dpus", "to_dpus_gb_per_s", "from_dpus_gb_per_s"];
    let (dpus, to, from) = (table.wholes(dpus_key)?, table.reals(to_key)?, table.reals(from_key)?);
    if dpus.is_empty() && to.is_empty() && from.is_empty() {
        return Ok(Transfers::default());
    }
    let rising = "a row of rising numbers, as in [1, 64, 2048],";
    as_long(table, (dpus_key, dpus.len(), rising), [(to_key, to.len()), (from_key, from.len())])?;
    let rates = dpus.iter().zip(to.iter().zip(&from)).map(|(dpus, (to, from))| Rate {
        dpus: *dpus,
        to_dpus_bytes_per_s: 1e9 * to,
        from_dpus_bytes_per_s: 1e9 * from,
    });
    Transfers::new(rates.collect()).ok_or_else(|| table.wrong(dpus_key, rising))
}

/// What transfers of some lengths took with one number of DPUs.
fn short(table: &Reader<'_>, transfers: Transfers) -> Result<Transfers, PresetError> {
    let [bytes_key, to_key, from_key] = ["bytes_each", "to_dpus_us", "from_dpus_us"];
    table.only(SHORT, &["dpus", bytes_key, to_key, from_key, "source"])?;
    if table.is_empty() {
        return Ok(transfers);
    }
    let dpus = table.whole("dpus", None, 1, 1 << 20)?;
    let (bytes, to, from) =
        (table.wholes(bytes_key)?, table.reals(to_key)?, table.reals(from_key)?);
    let rising = "a row of rising numbers, as in [1024, 16384, 524288],";
    as_long(table, (bytes_key, bytes.len(), rising), [(to_key, to.len()), (from_key, from.len())])?;
    for (key, row) in [(to_key, &to), (from_key, &from)] {
        if row.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(table.wrong(key, "a row of times of which none is below the one before"));
        }
    }
    let timed = bytes.iter().zip(to.iter().zip(&from)).map(|(bytes, (to, from))| TransferTime {
        bytes_each: *bytes,
        to_dpus_s: 1e-6 * to,
        from_dpus_s: 1e-6 * from,
    });
    let timed: Vec<TransferTime> = timed.collect();
    transfers.with_times(dpus, &timed).ok_or_else(|| table.wrong(bytes_key, rising))
}

/// Rows that stand beside one that must not be empty.
fn as_long(
    table: &Reader<'_>,
    (key, length, right): (&str, usize, &str),
    rows: [(&str, usize); 2],
) -> Result<(), PresetError> {
    if length == 0 {
        return Err(table.wrong(key, right));
    }
    match rows.iter().find(|(_, found)| *found != length) {
        Some((row, _)) => Err(table.wrong(row, format!("a row of {length}, as of {key},"))),
        None => Ok(()),
    }
}

const TIMING: &str = "revolver_cycles, register_hazard and timer_granularity_cycles";
const DMA: &str =
    "read_setup_cycles, write_setup_cycles, bytes_per_cycle, row_bytes and row_cycles";
const TRANSFER: &str = "dpus, to_dpus_gb_per_s, from_dpus_gb_per_s, source and the table short";
const SHORT: &str = "dpus, bytes_each, to_dpus_us, from_dpus_us and source";
