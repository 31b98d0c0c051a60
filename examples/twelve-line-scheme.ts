import { accepted, authenticated, createService, listen, rejected, Secret, type Scheme } from "latchkey";
import { sqliteStore } from "latchkey/stores";

const bell = new Secret("ding-dong");
const ada = { id: 1, username: "ada", role: "user", scheme: "doorbell", scopes: null, expiresAt: null } as const;
const authenticate = (rung: string) => (bell.equals(rung) ? accepted(ada) : rejected("unknown", "Nobody opens."));
const doorbell: Scheme = { name: "doorbell", carriers: [{ in: "header", name: "X-Doorbell" }], authenticate };

const reply = { status: 200, body: { kind: "data", value: { hello: "ada" }, element: "greeting" } } as const;
const hello = { method: "GET", path: "/hello", access: authenticated, handle: () => reply } as const;
const home = await createService({ store: sqliteStore({ path: ":memory:" }), schemes: [doorbell], endpoints: [hello] });
console.log((await listen(home, { port: Number(process.env["PORT"] ?? 8000) })).url + hello.path);
