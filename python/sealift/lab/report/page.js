// Draws the figures and lets the data be saved; everything else on the page works without it.
"use strict";

const read = (id) => JSON.parse(document.getElementById(id).textContent);

// The interpreter needs no eval, which the page's policy forbids.
const options = { actions: false, ast: true, renderer: "svg", tooltip: { theme: "custom" } };

const draw = async (id, spec) => {
  const place = document.getElementById(id);
  try {
    await vegaEmbed(place, spec, options);
    place.dataset.drawn = "yes";
  } catch (error) {
    place.textContent = "This figure could not be drawn: " + error.message;
    console.error(error);
  }
};

// A large run's is compressed.
const csv = async () => {
  const held = read("csv");
  if (typeof held === "string") return held;
  const bytes = Uint8Array.from(atob(held.gzip), (each) => each.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text();
};

const offerCsv = (button) => {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([await csv()], { type: "text/csv" }));
    link.download = button.dataset.name;
    link.click();
    URL.revokeObjectURL(link.href);
  });
};

// A figure that is folded away has no width yet: it is drawn when it is unfolded.
const waiting = new Map(Object.entries(read("specs")));
const drawShown = () => {
  for (const [id, spec] of waiting) {
    if (document.getElementById(id).getClientRects().length === 0) continue;
    waiting.delete(id);
    draw(id, spec);
  }
};
document.addEventListener("toggle", drawShown, true);
drawShown();
const button = document.getElementById("save");
if (button) offerCsv(button);

// Paper unfolds nothing by itself.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("main details:not(#data details)")) folded.open = true;
});
