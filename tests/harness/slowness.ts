/** How many times as long as usual this machine takes at the moment: a MiB of plain JSON there and back, of which 8 ms are usual. Measured anew after two seconds. */
export function slowness(): number {
  if (performance.now() - measuredAt > 2000) {
    latest = measure();
    measuredAt = performance.now();
  }
  return latest;
}

let latest = 1;
let measuredAt = -Infinity;

function measure(): number {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id}`, on: [1, 2.5, null] })),
  );
  let least = Infinity;
  for (let times = 0; times < 3; times++) {
    const before = performance.now();
    JSON.stringify(JSON.parse(text));
    least = Math.min(least, performance.now() - before);
  }
  return Math.max(1, least / 8);
}
