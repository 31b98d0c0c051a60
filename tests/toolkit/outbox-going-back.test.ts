import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { outbox, type RecordEvent } from "../../src/door/features.ts";
import { anyone, createService, defineResource, mount, text } from "../../src/door/index.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const page = new URL("../../docs/operation/versions-and-secrets.md", import.meta.url);
const notes = defineResource({ name: "note", fields: { body: text() } });

test("hands waiting events to an older version with the statement of the docs", async (t) => {
  // No event is delivered before the test asks for it.
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  const [, statement] = /`(UPDATE outbox [^`]*)`/.exec(readFileSync(page, "utf8"))!;
  const database = await sharedDatabase(t);
  const delivered: RecordEvent[] = [];
  const start = async () => {
    const subscriber = (name: string) => ({
      name,
      to: [notes],
      deliver: (event: RecordEvent) => void delivered.push(event),
    });
    const events = outbox({ subscribers: [subscriber("mail"), subscriber("search")] });
    const mounts = [mount(notes, { permission: anyone })];
    const service = await createService({ store: database.open(), features: [events], mounts, observe: null });
    return { service, deliver: () => service.use(events).deliverDue() };
  };
  const newer = await start();
  const headers = { "content-type": "application/json" };
  const request = new Request("http://localhost/notes", { method: "POST", headers, body: '{"body":"a"}' });
  assert.equal((await newer.service.fetch(request, { peer: null })).status, 201);
  await newer.service.close();
  const rows = () => database.ask("SELECT subscriber, receiver FROM outbox ORDER BY id");
  const names = (all: readonly object[]) => all.map((row) => ({ ...row }));
  assert.deepEqual(names(await rows()), [
    { subscriber: "", receiver: "mail" },
    { subscriber: "", receiver: "search" },
  ]);

  await database.ask(statement!);
  await database.ask(statement!);

  // Older versions read rows by `subscriber`.
  assert.deepEqual(names(await rows()), [
    { subscriber: "mail", receiver: "" },
    { subscriber: "search", receiver: "" },
  ]);
  const again = await start();
  t.after(() => again.service.close());
  await again.deliver();
  assert.equal(delivered.length, 2);
  assert.deepEqual(await rows(), []);
});
