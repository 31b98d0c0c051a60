// Projects with teams: members see their projects, owners change them, and the treasurers see the money. Whoever
// creates a project becomes its owner, and the last owner stays.
import { accounts, apiTokens, basicLogin, createService, listen, Secret, sessionLogin, tokenLogin } from "latchkey";
import { consolePages, documentation } from "latchkey/features";
import { csv } from "latchkey/http";
import { isPostgresURL, postgresStore, sqliteStore } from "latchkey/stores";
import { mounts, users } from "./projects.ts";

const about = { title: "Teams", version: "1", description: "Plan together what is to be done." };
const people = accounts({ registration: "open", ...users });

// A file, or the URL of a PostgreSQL database.
const database = (process.env["DATABASE"] ?? ":memory:").replace(/^sqlite:/, "");
const service = await createService({
  name: "teams",
  store: isPostgresURL(database) ? postgresStore({ url: new Secret(database) }) : sqliteStore({ path: database }),
  secret: new Secret(process.env["SECRET"] ?? `${crypto.randomUUID()}${crypto.randomUUID()}`),
  features: [
    people,
    basicLogin(people),
    sessionLogin(people),
    tokenLogin(people),
    apiTokens(people),
    documentation(about),
    consolePages({ title: about.title, description: about.description }),
  ],
  formats: [csv()],
  mounts,
});

// The first administrator, whom no request could make.
const password = process.env["ADMIN_PASSWORD"];
const { accounts: found, logins } = service.use(people);
if (password !== undefined && (await found.findByUsername("admin")) === null) {
  const first = { name: "Admin", email: "admin@example.com", username: "admin", role: "admin" } as const;
  const passwordHash = await logins.passwords.hash(null, password);
  const changes = found.insertUser({ ...first, passwordHash, emailOrigin: "vouched", now: Date.now() });
  await service.store.write({ changes });
}
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url);
