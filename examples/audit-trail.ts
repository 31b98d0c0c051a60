// An audit trail: every write of every mounted resource leaves a line, in the same transaction, of who did what and
// how.
import {
  accounts,
  administrator,
  authenticated,
  basicLogin,
  createService,
  dateTime,
  defineFeature,
  defineResource,
} from "latchkey";
import { integer, listen, mount, text } from "latchkey";
import { sqliteStore } from "latchkey/stores";

const lines = defineResource({
  name: "line",
  plural: "audit",
  fields: {
    at: dateTime({ readOnly: true }),
    did: text({ readOnly: true, maxLength: 100 }),
    resource: text({ readOnly: true, maxLength: 100 }),
    record: integer({ readOnly: true, optional: true }),
    user_id: integer({ readOnly: true, optional: true }),
    scheme: text({ readOnly: true, optional: true, maxLength: 100 }),
    request_id: text({ readOnly: true, maxLength: 200 }),
  },
  filters: { user_id: ["eq"], resource: ["eq"], at: ["gte", "lt"] },
  sorts: ["at"],
});
const trail = mount(lines, { permission: { list: administrator, read: administrator } });

const audit = defineFeature({
  name: "audit",
  setUp: ({ now }) => ({
    offer: null,
    mounts: [trail],
    alongside: ({ resource, kind, action, id, deletedWith, cause }) => [
      {
        kind: "insert",
        collection: trail.collection,
        values: {
          at: new Date(now()).toISOString(),
          did: deletedWith === null ? (action ?? kind) : `delete with ${deletedWith.resource.name} ${deletedWith.id}`,
          resource: resource.plural,
          record: id,
          user_id: cause.userId,
          scheme: cause.scheme,
          request_id: cause.requestId,
        },
      },
    ],
  }),
});

const notes = defineResource({ name: "note", fields: { body: text() } });
const people = accounts({ registration: "open" });
const service = await createService({
  store: sqliteStore({ path: process.env["DATABASE"] ?? ":memory:" }),
  features: [people, basicLogin(people), audit],
  mounts: [mount(notes, { permission: authenticated })],
});
// The first administrator, whom no request could make.
const { accounts: found, logins } = service.use(people);
const first = {
  name: "Admin",
  email: "admin@example.com",
  username: "admin@example.com",
  role: "admin",
  emailOrigin: "vouched",
  now: Date.now(),
} as const;
const passwordHash = await logins.passwords.hash(null, process.env["ADMIN_PASSWORD"] ?? "the password of them");
await service.store.write({ changes: found.insertUser({ ...first, passwordHash }) });
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url);
