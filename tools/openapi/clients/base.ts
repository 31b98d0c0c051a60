// The client of orval requests relative URLs, as a page does.
const { fetch: ask } = globalThis;
const { BASE = "" } = process.env;

globalThis.fetch = (input, init) => ask(typeof input === "string" ? new URL(input, BASE) : input, init);

export {};
