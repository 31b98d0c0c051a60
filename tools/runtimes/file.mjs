// A service with a file and a writer thread, behind the HTTP server of any runtime.
import { anyone, createService, defineResource, listen, mount, text } from "latchkey";
import { sqliteStore } from "latchkey/stores";

const note = defineResource({ name: "note", fields: { title: text() }, search: ["title"] });
const serve = () =>
  createService({
    store: sqliteStore({ path: process.env.DATABASE }),
    mounts: [mount(note, { permission: anyone })],
  });
const service = await serve();
const listener = await listen(service, { port: 0 });
const ask = (path, options = {}) => fetch(listener.url + path, options);
const posting = (title) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ title }),
});
const send = (title) => ask("/notes", posting(title));
const written = await Promise.all(["one", "two", "three"].map(send));
const statuses = written.map(({ status }) => status);
const counted = await ask("/notes?search=tw&limit=1", {
  headers: { prefer: "count=exact", "accept-encoding": "gzip" },
});
const found = (await counted.json()).map(({ title }) => title);
// Opens and closes another store on the same file, and one more when no other has it open.
const one = async () => {
  const other = await serve();
  const { status } = await other.fetch(new Request("http://127.0.0.1/notes", posting("more")));
  await other.close();
  return status;
};
statuses.push(await one(), (await send("four")).status);
await listener.close();
await service.close();
statuses.push(await one());
process.stdout.write(JSON.stringify({ statuses, found, count: counted.headers.get("x-total-count") }));
