import { accounts, authenticated, createService, listen, Secret, tokenLogin } from "latchkey";
import { sqliteStore } from "latchkey/stores";

const people = accounts({ registration: "open" });
const reply = { status: 200, body: { kind: "data", value: { hello: "you" }, element: "greeting" } } as const;
const hello = { method: "GET", path: "/hello", access: authenticated, handle: () => reply } as const;
const service = await createService({
  store: sqliteStore({ path: ":memory:" }),
  // All processes share it, and it stays the same after a restart. Otherwise all users have to log in again.
  secret: new Secret(process.env["SECRET"] ?? crypto.randomUUID()),
  features: [people, tokenLogin(people)],
  endpoints: [hello],
});
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url);
