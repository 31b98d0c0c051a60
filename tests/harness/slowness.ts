/**
 * Returns how many times slower than usual this machine is at the moment. Measures how long it takes to parse and write
 * a MiB of plain JSON, which usually takes 8 ms. Keeps the result for two seconds.
 */
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
