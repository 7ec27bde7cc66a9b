// As interpolate.c: for each number on a line of input, the sum of that many interpolations, in 65,536ths.
"use strict";

function interpolate(table, x) {
  const k = Math.floor(x);
  return table[k] + (table[k + 1] - table[k]) * (x - k);
}

function sum(table, count) {
  let total = 0;
  for (let i = 0; i < count; i++) {
    const position = Math.imul(i, 0x9e3779b9);
    total += interpolate(table, (position >>> 6) / 65536);
  }
  return total;
}

const table = Float64Array.from({ length: 1025 }, (_, k) => (k * (11 * k + 37)) % 4096);
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => console.log(String(65536 * sum(table, Number(line)))));
