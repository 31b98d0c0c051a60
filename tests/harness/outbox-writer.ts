// A process that writes and receives outbox messages until it is killed. `drain` writes nothing and stops when all
// messages are delivered.
import { appendFileSync } from "node:fs";
import { outbox } from "../../src/door/features.ts";
import { anyone, createService, defineResource, mount, Secret, text } from "../../src/door/index.ts";
import { isPostgresURL, postgresStore, sqliteStore } from "../../src/door/stores.ts";

const [address = "", effects = "", mode = ""] = process.argv.slice(2);
const notes = defineResource({ name: "note", fields: { body: text() } });
const events = outbox({
  subscribers: [
    {
      name: "file",
      to: [notes],
      deliver: ({ record }) => appendFileSync(effects, `${String(record)}\n`, { flush: true }),
    },
  ],
});
const service = await createService({
  store: isPostgresURL(address) ? postgresStore({ url: new Secret(address) }) : sqliteStore({ path: address }),
  features: [events],
  mounts: [mount(notes, { permission: anyone })],
});
const create = async (): Promise<void> => {
  const request = new Request("http://localhost/notes", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"body":"a"}',
  });
  const answer = await service.fetch(request, { peer: null });
  if (answer.status === 201) process.stdout.write(`${String(((await answer.json()) as { id: number }).id)}\n`);
};

if (mode === "drain") {
  await service.use(events).deliverDue();
  await service.close();
} else {
  for (;;) await Promise.all(Array.from({ length: 4 }, create));
}
