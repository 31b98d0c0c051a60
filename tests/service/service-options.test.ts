import assert from "node:assert/strict";
import { test } from "node:test";
import { createService, type ServiceOptions } from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { assembleService, sqliteStore, type Collection, type Store } from "../../src/door/stores.ts";

const due = () => [];
const feature = (upkeep: unknown) => ({
  features: [{ name: "sweeper", needs: [], setUp: () => ({ offer: null, upkeep }) }],
});

/** Wrong options, which JavaScript code without type checks can pass, and the messages about them. */
const slips: readonly (readonly [options: object, told: RegExp])[] = [
  [{ allowedOrigins: "https://a.example" }, /allowedOrigins is 'https.*a list of origins/],
  [{ allowedOrigins: ["https://a.example/"] }, /allowedOrigins is .*without a path or a slash at the end/],
  [{ allowedOrigins: ["https://A.example"] }, /allowedOrigins is .*a list of origins/],
  [{ ownOrigins: ["a.example"] }, /ownOrigins is .*a list of origins/],
  [{ hsts: "subdomain" }, /hsts is 'subdomain'; it has to be one of host, subdomains; did you mean subdomains\?/],
  [{ compression: "no" }, /compression is 'no'; it has to be true or false/],
  [{ allowCleartextLogins: "false" }, /allowCleartextLogins is 'false'; it has to be true or false/],
  [{ trustedProxies: "loopback" }, /trustedProxies is 'loopback'; it has to be a list of addresses/],
  [{ scopesAllow: true }, /scopesAllow is true; it has to be a function/],
  [{ secret: "a secret of thirty-two characters." }, /secret is not a Secret; write secret: new Secret/],
  [
    feature([{ everySecond: 60, due }]),
    /sweeper: upkeep\[0\]: there is no option everySecond; did you mean everySeconds/,
  ],
  [feature([{ everySeconds: 0.5, due }]), /upkeep\[0\]: everySeconds is 0\.5; it has to be a whole number from 1/],
  [feature({ everySeconds: 1, due }), /sweeper: upkeep is an object; it has to be a list/],
];

for (const [options, pattern] of slips)
  test(`refuses to start with the message ${pattern.source.slice(0, 70)}`, async () => {
    const whole = { store: sqliteStore({ path: ":memory:" }), ...options } as ServiceOptions;
    await assert.rejects(createService(whole), (thrown: unknown) => {
      assert.ok(thrown instanceof DeclarationError, String(thrown));
      assert.match(thrown.message, pattern);
      return true;
    });
  });

test("lets a store serve one service at a time, and another service after a close or a failed start", async () => {
  const store = sqliteStore({ path: ":memory:" });
  const first = await createService({ store });

  await assert.rejects(
    createService({ store }),
    /createService: store already serves an open service; make a store for each/,
  );
  assert.equal((await first.fetch(new Request("http://a/"), { peer: null })).status, 404);
  await first.close();
  await assert.rejects(createService({ store, collections: [{ name: "a", key: "none" as "text", columns: [] }] }));

  await (await createService({ store })).close();
});

test("assembles services without opening their store, and lets only one of them open it at a time", async () => {
  const opened: string[][] = [];
  const memory = sqliteStore({ path: ":memory:" });
  const store: Store = {
    ...memory,
    open(collections) {
      opened.push(collections.map(({ name }) => name));
      return memory.open(collections);
    },
  };
  const events: Collection = { name: "events", key: "integer", columns: [] };
  const [first, second] = [
    assembleService({ store, collections: [events] }),
    assembleService({ store, collections: [events] }),
  ];
  assert.equal(opened.length, 0);

  const service = await first.open();

  assert.deepEqual(opened, [first.collections.map(({ name }) => name)]);
  assert.ok(opened[0]!.includes("events"));
  await assert.rejects(second.open(), /store already serves an open service/);
  await service.close();
  await (await second.open()).close();
  assert.throws(() => assembleService({ store, hsts: "all" as "host" }), DeclarationError);
});
