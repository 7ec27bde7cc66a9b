"""What the options of `sealift advise` mean, and examples."""

HELP = {
    "--size": "Bytes of each of your messages, as in 128, 1k (1,000) or 4KiB (4,096): answers for "
    "these alone, in half a minute.",
    "--from": "Your messages' lengths: CSV with a column bytes and, if lengths repeat, one count; "
    "or one number a line. Instead of --size.",
    "--rate": "Your messages a second, as in 40000, 40k or 1.5M.",
    "--p99": "Within how many microseconds 99 of 100 messages are to be back, waiting for the rest "
    "of their batch included, as in 500 or 2ms.",
    "--device": "A card that you don't own, described in a card.toml, or the name of one that "
    "comes with Sealift. It is projected, not measured. May be repeated.",
    "--core-price": "What a core costs you, in the currency of the cards: says whether one pays.",
    "--workload": "plain: the grid of --sizes and --keys. as-stated: document 003's messages as "
    "its text has them (128 B, three key sizes, half seals, a quarter failing opens). as-logged: "
    "as its log shows them (28 B on average, a fresh key for each message).",
    "--sizes": "Bytes of text: numbers, as 64 or 4KiB, and ranges first:last:*factor or "
    "first:last:+step. [default: 16,64,128,256,1024,8192,16384]",
    "--keys": "Key regimes: one key; sessions:N (or N, as 1024 or 5k) installed keys used in turn; "
    "fresh, a raw key for each message. [default: one,sessions:1024,fresh; with --size or --from: "
    "one]",
    "--mix": "seal, open, or weights seal/open/bad as in 50/25/25. [default: seal]",
    "--key-bits": "128, 192 or 256. [default: 128]",
    "--threads": "Thread counts, as in 1,2: each thread works all messages; with --size or --from "
    "one number, of the cores that may encrypt. [default: 1]",
    "--batch": "Messages handed over at once; those of one batch have tags of one length. "
    "[default: 1024, fewer where these are over 16 MiB; with --rate the number that costs the "
    "processor least and meets --p99, or, without that, is full within 1 ms]",
    "--devices": "Devices that do the work; the first is what the others are compared with. "
    "`sealift devices` lists them and their roles: only those whose role is real are advised. "
    "[default: library and every other real one]",
    "--seconds": "Time for all of it, as in 90 (seconds) or 3m. [default: 120; quick: 45; with "
    "--size or --from: 20]",
    "--quick": "Not for a load of your own. Answer within a minute: document 003's messages as "
    "stated under three key regimes and as logged, and all seven sizes sealed under 1,024 keys.",
    "--seed": "Of messages and order: same seed, same bytes. [default: 1]",
    "--run": "Advise from what this run has measured; measures nothing. One that was made with "
    "--size or --from can be asked about other rates and cards.",
    "--csv": "Every figure as CSV instead of the answer.",
    "--json": "Everything as JSON instead of the answer.",
    "--out": "Keep the run in this new folder: samples, summary and page.",
}
# \b keeps the lines as they are.
EXAMPLES = """\b
Numbers: k or K is 1,000 and KiB 1,024, so M and MiB, G and GiB; times us, ms, s, m, h.

\b
The answer is for one piece of work; --csv and --json have every figure, and the page
of a kept run (--out) draws them. With messages of your own and a --rate the number is
how busy the load keeps the processor.
Figures are measured here, simulated (p99), or projected from a card's description, and
marked so. Devices that noise doesn't tell apart are said to be not settled.

\b
"Document 003" is the measurement that --workload repeats: "NVIDIA CUDA on CPU
(+- Intel oneAPI) & GP-GPU" (Ebadollahyvahed, 2024), AES-GCM on CPU threads, with
Intel's library and on GPUs.

\b
Examples:
  sealift advise --quick
  sealift advise --size 128 --keys sessions:5000 --rate 40k --p99 2ms --device card.toml
  sealift advise --from lengths.csv --rate 1.5M --out runs/load
  sealift advise --run runs/load --rate 3M --device quad-hifn-7751
  sealift advise --sizes 128 --keys sessions:1024 --threads 1,2
  sealift advise --devices library,cpu:isa=aesni,cpu:isa=vaes512 --sizes 16:16384:*4
  sealift advise --workload as-logged --budget 20 --csv > rows.csv
  sealift advise --sizes 128 --mix 50/25/25 --key-bits 256 --out runs/mine
"""
