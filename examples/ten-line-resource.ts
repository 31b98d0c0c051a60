import { anyone, createService, defineResource, integer, listen, mount, text } from "latchkey";
import { sqliteStore } from "latchkey/stores";

const book = defineResource({
  name: "book",
  fields: { title: text({ maxLength: 200 }), pages: integer({ minimum: 1 }) },
  filters: { title: ["eq", "starts"] },
});
const mounts = [mount(book, { permission: anyone })];
const service = await createService({ store: sqliteStore({ path: ":memory:" }), mounts });
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url + book.path);
