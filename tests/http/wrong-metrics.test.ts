import assert from "node:assert/strict";
import { test } from "node:test";
import { metrics } from "../../src/door/features.ts";
import { anyone, createService, defineFeature } from "../../src/door/index.ts";
import type { MetricFamily, Observation } from "../../src/door/ops.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { readExposition, readMetric } from "../harness/metrics-format.ts";

const family = { name: "books_total", help: "Books.", type: "gauge", samples: [["books_total", 7]] } as const;
const wrong = (value: unknown) => value as readonly MetricFamily[];
let thrown = 0;
const rows: Readonly<Record<string, readonly [measure: () => readonly MetricFamily[], told: RegExp]>> = {
  throws: [
    () => {
      throw new Error("no count");
    },
    /measure threw Error: no count/,
  ],
  "throws a different error each time": [
    () => {
      throw new Error(`no count ${++thrown}`);
    },
    /measure threw Error: no count 1/,
  ],
  "throws a value that is not an error": [
    () => {
      throw "gone" as unknown as Error;
    },
    /measure threw .*, which is no error/,
  ],
  "returns nothing": [() => wrong(undefined), /measure gave missing; it has to give a list of families/],
  "returns a promise": [
    () => wrong(Promise.reject(new Error("late"))),
    /measure gave a promise; it has to give its value at once/,
  ],
  "returns a text": [() => wrong("books_total 7"), /measure gave a text; it has to give a list of families/],
  "returns null in a list": [() => wrong([null]), /measure gave families\[0\], which is null, not a family/],
  "returns an invalid name": [
    () => wrong([{ ...family, name: "books total" }]),
    /families\[0\]: name is 'books total'; it has to be/,
  ],
  "returns an unknown type": [() => wrong([{ ...family, type: "guage" }]), /type is 'guage'.*did you mean gauge\?/],
  "returns invalid samples": [
    () => wrong([{ ...family, samples: [["books_total", "7"]] }]),
    /families\[0\]: samples is a list; it has to be/,
  ],
  "returns a series with a line break": [
    () => wrong([{ ...family, samples: [["books_total\nother 1", 7]] }]),
    /samples is a list; it has to be/,
  ],
  "returns a family that another feature returned before": [
    () => [{ ...family, name: "good_total" }],
    /the family good_total is there already/,
  ],
};

for (const [what, [measure, pattern]] of Object.entries(rows))
  test(`logs once which feature has a measure that ${what}, and serves the metrics of the other features`, async (t) => {
    const observed: Observation[] = [];
    const service = await createService({
      store: sqliteStore({ path: ":memory:" }),
      features: [
        metrics({ permission: anyone }),
        defineFeature({
          name: "first",
          setUp: () => ({
            offer: null,
            measure: () => [{ name: "good_total", help: "a", type: "counter", samples: [["good_total", 1]] }],
          }),
        }),
        defineFeature({ name: "broken", setUp: () => ({ offer: null, measure }) }),
        defineFeature({
          name: "last",
          setUp: () => ({ offer: null, measure: () => [{ ...family, name: "last", samples: [["last", 7]] }] }),
        }),
      ],
      observe: (each) => void observed.push(each),
    });
    t.after(() => service.close());
    const scrape = async (): Promise<Response> => service.fetch(new Request("http://a/metrics"), { peer: null });

    const answer = await scrape();
    const text = await answer.text();
    await scrape();

    assert.equal(answer.status, 200);
    assert.equal(readMetric(readExposition(text), "good_total", {}), 1);
    assert.match(text, /^# TYPE last gauge$/m);
    assert.match(text, /^api_process|^process_/m);
    const notices = observed.flatMap((each) => (each.kind === "notice" ? [each] : []));
    assert.equal(notices.length, 1, "one notice, and not one for each scrape");
    assert.equal(notices[0]!.level, "error");
    assert.match(notices[0]!.message, /^feature broken: measure (?:gave|threw)/);
    assert.match(notices[0]!.message, pattern);
  });

test("checks the metric families of the `families` option too", async (t) => {
  const messages: string[] = [];
  const service = await createService({
    store: sqliteStore({ path: ":memory:" }),
    features: [metrics({ permission: anyone, families: () => wrong([{ ...family, help: 5 }]) })],
    observe: (each) => void (each.kind === "notice" && messages.push(each.message)),
  });
  t.after(() => service.close());

  const answer = await service.fetch(new Request("http://a/metrics"), { peer: null });

  assert.equal(answer.status, 200);
  assert.deepEqual(messages, ["feature metrics: families gave families[0]: help is 5; it has to be a text"]);
});
