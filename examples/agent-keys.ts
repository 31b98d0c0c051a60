// API keys of your own kind: shown once, at most five for each user, and good for one thing only.
import { accepted, accounts, authenticated, basicLogin, createService, defineFeature, defineResource } from "latchkey";
import { listen, owner, reference, rejected, scope, Secret, type Scheme } from "latchkey";
import { identityOf, mountCredentials } from "latchkey/auth";
import { findByToken, shownOnce } from "latchkey/resources";
import { sqliteStore } from "latchkey/stores";

const user_id = reference("users", { readOnly: true, onDelete: "cascade" });
const key = shownOnce({ owner: "user_id", prefix: "agent" });
const agentKey = defineResource({ name: "agent_key", id: "text", fields: { user_id, key } });
const people = accounts({ registration: "open" });
const mine = owner("user_id");
const agentKeys = defineFeature({
  name: "agent-keys",
  needs: [people],
  setUp(host) {
    const { accounts: users, logins, confirming, endings } = host.use(people);
    const find = async (id: number) => (await users.find(id))!;
    const keys = mountCredentials({ endings }, agentKey, {
      permission: { list: mine, read: mine, create: authenticated, delete: mine },
      maximum: 5,
      requireAdmission: async ({ context: c }) => ({
        admission: await logins.vouch(c, await find(c.requireIdentity().id)),
      }),
      requireOtherLogin: async ({ current }) => confirming.keepOtherLogin(await find(current.user_id), "program"),
    });
    const authenticate: Scheme["authenticate"] = async (presented) => {
      const found = await findByToken(keys, host, presented);
      if (found.kind !== "genuine") return rejected(found.kind);
      return accepted(identityOf(await find(found.record.user_id), "agent-key", { scopes: ["agents:report"] }));
    };
    const carriers = [{ in: "header", name: "X-Agent-Key" }] as const;
    return { offer: null, mounts: [keys], schemes: [{ name: "agent-key", carriers, proves: "program", authenticate }] };
  },
});
const handle = () => ({ status: 204 });
const report = { method: "POST", path: "/reports", access: scope("agents:report"), handle } as const;
const [store, secret] = [sqliteStore({ path: ":memory:" }), new Secret("of 32 characters or more, and kept")];
const features = [people, basicLogin(people), agentKeys];
const home = await createService({ store, secret, features, endpoints: [report] });
console.log((await listen(home, { port: Number(process.env["PORT"] ?? 8000) })).url);
