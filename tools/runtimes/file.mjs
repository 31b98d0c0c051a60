// A service with a file, which writes in a thread, behind the HTTP server of whichever runtime.
import { anyone, createService, defineResource, listen, mount, text } from "latchkey";
import { sqliteStore } from "latchkey/stores";

const note = defineResource({ name: "note", fields: { title: text() }, search: ["title"] });
const service = await createService({
  store: sqliteStore({ path: process.env.DATABASE }),
  mounts: [mount(note, { permission: anyone })],
});
const listener = await listen(service, { port: 0 });
const ask = (path, options = {}) => fetch(listener.url + path, options);
const send = (title) =>
  ask("/notes", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ title }) });
const written = await Promise.all(["one", "two", "three"].map(send));
const statuses = written.map(({ status }) => status);
const counted = await ask("/notes?search=tw&limit=1", {
  headers: { prefer: "count=exact", "accept-encoding": "gzip" },
});
const found = (await counted.json()).map(({ title }) => title);
await listener.close();
await service.close();
process.stdout.write(JSON.stringify({ statuses, found, count: counted.headers.get("x-total-count") }));
