// API keys of your own kind: shown once, at most five for each user, and good for one thing only.
import { accepted, accounts, authenticated, basicLogin, createService, defineFeature, defineResource } from "latchkey";
import { listen, owner, reference, rejected, scope, Secret, type Context, type Scheme } from "latchkey";
import { identityOf, mountCredentials } from "latchkey/auth";
import { findByToken, shownOnce } from "latchkey/resources";
import { sqliteStore } from "latchkey/stores";

const user_id = reference("users", { readOnly: true, onDelete: "cascade" });
const [key, mine] = [shownOnce({ owner: "user_id", prefix: "agent" }), owner("user_id")];
const agentKey = defineResource({ name: "agent_key", id: "text", fields: { user_id, key } });
const people = accounts({ registration: "open" });
const agentKeys = defineFeature({
  name: "agent-keys",
  needs: [people],
  setUp(host) {
    const { accounts: users, logins, confirming, endings } = host.use(people);
    const get = async (id: number) => (await users.find(id))!;
    const caller = async (context: Context) => get(context.requireIdentity().id);
    const keys = mountCredentials({ endings }, agentKey, {
      permission: { list: mine, read: mine, create: authenticated, delete: mine },
      maximum: 5,
      requireAdmission: async ({ context: c }) => ({ admission: await logins.vouch(c, await caller(c)) }),
      requireOtherLogin: async ({ current }) => confirming.keepOtherLogin(await get(current.user_id), "program"),
    });
    const authenticate: Scheme["authenticate"] = async (presented) => {
      const found = await findByToken(keys, host, presented);
      const user = found.kind === "genuine" ? await users.find(found.record.user_id) : null;
      if (user?.active !== true) return rejected(found.kind === "genuine" ? "inactive" : found.kind);
      return accepted(identityOf(user, "agent-key", { scopes: ["agents:report"] }));
    };
    const carriers = [{ in: "header", name: "X-Agent-Key" }] as const;
    return { offer: null, mounts: [keys], schemes: [{ name: "agent-key", carriers, proves: "program", authenticate }] };
  },
});
const handle = () => ({ status: 204 });
const report = { method: "POST", path: "/reports", access: scope("agents:report"), handle } as const;
const store = sqliteStore({ path: process.env["DATABASE"] ?? ":memory:" });
const secret = new Secret(process.env["SECRET"] ?? "of 32 characters or more, and kept");
const features = [people, basicLogin(people), agentKeys];
const home = await createService({ store, secret, features, endpoints: [report] });
console.log((await listen(home, { port: Number(process.env["PORT"] ?? 8000) })).url);
