// A process that requests password resets and sends their mails into a folder, until it is killed. `drain` requests
// nothing and stops when all mails are sent.
import { randomInt } from "node:crypto";
import { mailbox, passwordReset } from "../../src/door/auth.ts";
import { mail, mailFiles, outbox } from "../../src/door/features.ts";
import { accounts, createService, defineFeature, Secret } from "../../src/door/index.ts";
import { isPostgresURL, postgresStore, sqliteStore, type Change, type Collection } from "../../src/door/stores.ts";

const [address = "", folder = "", mode = ""] = process.argv.slice(2);

/** A table that already has one row with this key, so that each further insert of it is refused. */
const taken: Collection = { name: "taken", key: "text", columns: [{ name: "value", type: "text" }] };

const people = accounts();
const events = outbox();
const mails = mail(events, {
  send: mailFiles(folder),
  from: "no-reply@example.com",
  publicURL: "https://api.example",
});
const box = mailbox(people, mails);
/** Offers the changes that queue a mail, for a transaction that is always refused. */
const refused = defineFeature({
  name: "refused",
  needs: [mails],
  setUp(host) {
    const queue = host.use(mails).kind<string>({
      name: "refused",
      compose: async () => ({
        to: "refused@example.com",
        template: "password_changed",
        values: { at: "2026-01-31 09:30 UTC" },
      }),
    });
    return { offer: queue, collections: [taken] };
  },
});

const service = await createService({
  store: isPostgresURL(address) ? postgresStore({ url: new Secret(address) }) : sqliteStore({ path: address }),
  secret: new Secret("a secret of the service, long enough"),
  features: [people, events, mails, box, passwordReset(people, box), refused],
});
const { insertUser } = service.use(people).accounts;
const insertTaken: Change = { kind: "insert", collection: taken, key: "taken", values: { value: "x" } };

/** Returns a different loopback address for each request, because one address may request only ten mails a minute. */
function formatPeer(count: number): string {
  return `127.${(count >> 16) % 256}.${(count >> 8) % 256}.${count % 256}`;
}

async function request(email: string, count: number): Promise<number> {
  const body = JSON.stringify({ email });
  const resetRequest = new Request("http://127.0.0.1/api/password/reset/", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return (await service.fetch(resetRequest, { peer: formatPeer(count) })).status;
}

// Starts at a random number, because an earlier process may have used the first addresses in the last minute.
let count = randomInt(2 ** 22);
async function ask(): Promise<void> {
  count++;
  const name = `u${process.pid}-${Date.now()}-${count}`;
  const email = `${name}@example.com`;
  const now = Date.now();
  const user = { name, email, username: name, role: "user", passwordHash: null, now } as const;
  await service.store.write({ changes: insertUser(user) });
  const [knownStatus, unknown] = await Promise.all([
    request(email, count * 2),
    request(`unknown-${name}@example.com`, count * 2 + 1),
    service.store.write({ changes: [...service.use(refused)("x", now), insertTaken] }),
  ]);
  if (knownStatus !== 202 || unknown !== 202)
    throw new Error(`A request was answered with ${knownStatus} and ${unknown}.`);
  process.stdout.write(`${email}\n`);
}

if (mode === "drain") {
  await service.use(events).deliverDue();
  await service.close();
} else {
  await service.store.write({ changes: [insertTaken] });
  for (;;) await Promise.all(Array.from({ length: 4 }, ask));
}
