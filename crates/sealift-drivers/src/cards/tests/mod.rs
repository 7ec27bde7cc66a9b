mod copies;
mod device;
mod driver;
mod model;
mod read;

use super::*;
use crate::cache::Cache;

/// A card that stands apart from those that come with Sealift: every table, every number another one.
const WHOLE: &str = r#"
name = "whole"
summary = "a card with everything"
source = "made up"
algorithm = "aes-gcm"

[card]
units = 3
rate_gbit_per_s = { value = 8, source = "its data sheet", fitted = false }
setup_us = { value = 5.5, fitted = true }
slots = 16
messages_per_request = 4

[host]
request_us = 2
copies = 1
copy_gbit_per_s = 80

[link]
gbit_per_s = 16
duplex = true
latency_us = 0.7

[interrupts]
merge_requests = 8
merge_us = 30
interrupt_us = 1.5

[price]
watts = 25
price = 499.5
currency = "EUR"
"#;

/// One without what may be left out: 1 µs a request at the host, 4 µs and 1 ns a byte at each of two units.
const SMALL: &str = r#"
name = "small"
summary = "a card with little"
source = "made up"
[card]
units = 2
rate_gbit_per_s = 8
setup_us = 4
slots = 4
messages_per_request = 1
[host]
request_us = 1
copies = 0
copy_gbit_per_s = 1
"#;

fn card(text: &str) -> Card {
    Card::made("test", text, &nowhere()).unwrap()
}

/// A cache in which nothing is.
fn nowhere() -> Cache {
    Cache::at("no-such-folder".into())
}
