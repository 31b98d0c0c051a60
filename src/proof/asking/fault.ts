/** Returns the message of a fault and its place in the code of the project. */
export function describeThrown(error: unknown): string {
  if (!(error instanceof Error)) return `its code throws ${String(error)}`;
  const places = (error.stack ?? "")
    .split("\n")
    .flatMap((line) => /(?:file:\/\/)?(\/[^\s()]+:\d+):\d+\)?$/.exec(line)?.[1] ?? []);
  const own = places.find((place) => !place.includes("/node_modules/") && !isOfLatchkey(place));
  return `its code throws ${error.name}: ${error.message}${own === undefined ? "" : ` (${own})`}`;
}

const HERE = new URL("../../", import.meta.url).pathname;

function isOfLatchkey(place: string): boolean {
  return place.startsWith(HERE);
}
