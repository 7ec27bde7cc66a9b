//! Cards from TOML.

use super::CardError;
use super::card::{Constant, Parts, Sharing, Texts};
use super::copy_time;
use super::line::{Affine, Host, Interrupts, Line, Link};
use super::tables::{Kind, Table};
use crate::cache::Cache;
use crate::copying::CopyCost;

/// Reads what makes a card; what copies cost where it doesn't say is asked of the cache.
///
/// # Errors
/// The first thing that is wrong, with its place and what would be right.
pub(super) fn read(file: &str, text: &str, cache: &Cache) -> Result<Parts, CardError> {
    let document = super::tables::parse(file, text)?;
    let root = document.root();
    root.only(&[
        "name",
        "summary",
        "source",
        "algorithm",
        "card",
        "host",
        "link",
        "interrupts",
        "board",
        "price",
    ])?;
    let name = root.name("name")?;
    let (summary, source) = (root.text("summary")?, root.text("source")?);
    let algorithm = root.optional_text("algorithm")?;
    let other = algorithm.filter(|algorithm| !algorithm.eq_ignore_ascii_case(AES_GCM));
    let algorithm = other.unwrap_or_else(|| AES_GCM.to_owned());
    let mut numbers = Numbers { source: source.clone(), found: vec![], cache };
    let line = numbers.line(&root)?;
    let sharing = numbers.sharing(&root, &line)?;
    let (watts, price, currency) = numbers.price(&root)?;
    let texts = Texts { name, summary, source, algorithm, currency };
    Ok(Parts { texts, line, sharing, constants: numbers.found, watts, price })
}

/// Reads numbers and keeps where each comes from.
struct Numbers<'c> {
    /// Of those that name none.
    source: String,
    found: Vec<Constant>,
    cache: &'c Cache,
}

impl Numbers<'_> {
    fn line(&mut self, root: &Table<'_>) -> Result<Line, CardError> {
        let card = root.table("card")?;
        card.only(&["units", "rate_gbit_per_s", "setup_us", "slots", "messages_per_request"])?;
        let units = self.count(&card, "units", COUNT_MAX)?;
        let unit_byte_ns = 8.0 / self.number(&card, "rate_gbit_per_s", RATE)?;
        let setup_ns = US * self.number(&card, "setup_us", TIME)?;
        let slots = self.count(&card, "slots", COUNT_MAX)?;
        let messages_per_request = self.count(&card, "messages_per_request", MESSAGES_MAX)?;
        let host = self.host(root)?;
        let link = self.link(root)?;
        let interrupts = self.interrupts(root)?;
        let unit = Affine { request_ns: setup_ns, byte_ns: unit_byte_ns };
        if setup_ns + host.request_ns == 0.0 {
            let right = "more than 0, as host.request_us is 0: no request takes no time";
            return Err(card.wrong("setup_us", right));
        }
        Ok(Line { messages_per_request, host, link, units, unit, interrupts, slots })
    }

    fn host(&mut self, root: &Table<'_>) -> Result<Host, CardError> {
        let host = root.table("host")?;
        host.only(&["request_us", "copies", "copy_gbit_per_s"])?;
        let request_ns = US * self.number(&host, "request_us", TIME)?;
        let copies = self.number(&host, "copies", Kind::Whole { least: 0, most: COPIES_MAX })?;
        let copy = match self.optional(&host, "copy_gbit_per_s", RATE)? {
            None if copies > 0.0 => self.measured_copy(&host),
            rate => CopyCost::even(8.0 / rate.unwrap_or(f64::INFINITY)),
        };
        Ok(Host { request_ns, copies, copy })
    }

    /// What copies cost on this machine, where its card's description doesn't say.
    fn measured_copy(&mut self, host: &Table<'_>) -> CopyCost {
        let copying = copy_time::of_this_machine(self.cache);
        self.found.push(Constant {
            name: host.path("copy_gbit_per_s"),
            value: 8.0 / copying.cost.byte_ns(),
            unit: RATE.unit(),
            source: copying.source,
            fitted: false,
            measured: true,
        });
        copying.cost
    }

    fn link(&mut self, root: &Table<'_>) -> Result<Option<Link>, CardError> {
        let Some(link) = root.optional_table("link")? else { return Ok(None) };
        link.only(&["gbit_per_s", "duplex", "latency_us", "streams"])?;
        let byte_ns = 8.0 / self.number(&link, "gbit_per_s", RATE)?;
        let latency_ns = US * self.number(&link, "latency_us", TIME)?;
        let (duplex, streams) = (link.flag("duplex")?, link.optional_flag("streams")?);
        Ok(Some(Link { byte_ns, duplex, streams: streams.unwrap_or(false), latency_ns }))
    }

    fn interrupts(&mut self, root: &Table<'_>) -> Result<Interrupts, CardError> {
        let Some(table) = root.optional_table("interrupts")? else {
            return Ok(Interrupts { merged_max: 1, hold_ns: 0.0, host_ns: 0.0 });
        };
        table.only(&["merge_requests", "merge_us", "interrupt_us"])?;
        Ok(Interrupts {
            merged_max: self.count(&table, "merge_requests", MERGED_MAX)?,
            hold_ns: US * self.number(&table, "merge_us", TIME)?,
            host_ns: US * self.number(&table, "interrupt_us", TIME)?,
        })
    }

    fn sharing(&mut self, root: &Table<'_>, line: &Line) -> Result<Sharing, CardError> {
        let Some(board) = root.optional_table("board")? else {
            return Ok(Sharing {
                user_ns: 0.0,
                block_ns: 0.0,
                look_ns: 0.0,
                line_units: line.units,
                merged_max: 1,
            });
        };
        board.only(&["user_us", "block_us", "look_us", "line_units", "chain_requests"])?;
        let user_ns = US * self.optional(&board, "user_us", TIME)?.unwrap_or(0.0);
        let block_ns = US * self.optional(&board, "block_us", TIME)?.unwrap_or(0.0);
        let look_ns = US * self.number(&board, "look_us", TIME)?;
        let line_units = self.optional_count(&board, "line_units", COUNT_MAX)?;
        let line_units = line_units.unwrap_or(line.units);
        let merged_max = self.count(&board, "chain_requests", MERGED_MAX)?;
        let sharing = Sharing { user_ns, block_ns, look_ns, line_units, merged_max };
        if line_units > line.units {
            return Err(board.wrong("line_units", "at most card.units"));
        }
        if sharing.apart_ns() > line.host.request_ns {
            let right = "so little that user_us, block_us and look_us for each of line_units are at \
                         most host.request_us, which they are part of";
            return Err(board.wrong("look_us", right));
        }
        Ok(sharing)
    }

    fn price(&mut self, root: &Table<'_>) -> Result<Price, CardError> {
        let Some(price) = root.optional_table("price")? else { return Ok((None, None, None)) };
        price.only(&["watts", "price", "currency"])?;
        let currency = price.optional_text("currency")?;
        let (watts, money) = (Kind::amount("W"), Kind::amount("the currency"));
        let watts = self.optional(&price, "watts", watts)?;
        Ok((watts, self.optional(&price, "price", money)?, currency))
    }

    fn count(&mut self, table: &Table<'_>, key: &str, most: u32) -> Result<usize, CardError> {
        let right = Kind::Whole { least: 1, most }.right();
        self.optional_count(table, key, most)?.ok_or_else(|| table.missing(key, &right))
    }

    fn optional_count(
        &mut self,
        table: &Table<'_>,
        key: &str,
        most: u32,
    ) -> Result<Option<usize>, CardError> {
        let whole = self.optional(table, key, Kind::Whole { least: 1, most })?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        Ok(whole.map(|whole| whole as usize))
    }

    fn number(&mut self, table: &Table<'_>, key: &str, kind: Kind) -> Result<f64, CardError> {
        self.optional(table, key, kind)?.ok_or_else(|| table.missing(key, &kind.right()))
    }

    fn optional(
        &mut self,
        table: &Table<'_>,
        key: &str,
        kind: Kind,
    ) -> Result<Option<f64>, CardError> {
        let Some(found) = table.number(key, kind)? else { return Ok(None) };
        self.found.push(Constant {
            name: table.path(key),
            value: found.value,
            unit: kind.unit(),
            source: found.source.unwrap_or_else(|| self.source.clone()),
            fitted: found.fitted,
            measured: false,
        });
        Ok(Some(found.value))
    }
}

type Price = (Option<f64>, Option<f64>, Option<String>);

const AES_GCM: &str = "aes-gcm";
const US: f64 = 1_000.0;
/// Ten seconds, and a rate of a kilobit a second: whoever writes more has taken the wrong unit.
const TIME: Kind = Kind::Real { unit: "us", least: 0.0, most: 1e7 };
const RATE: Kind = Kind::Real { unit: "Gbit/s", least: 1e-6, most: 1e6 };
const COUNT_MAX: u32 = 1 << 16;
const MESSAGES_MAX: u32 = 1 << 24;
const COPIES_MAX: u32 = 64;
const MERGED_MAX: u32 = 1 << 10;
