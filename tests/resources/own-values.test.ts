import assert from "node:assert/strict";
import { anyone, dateTime, decimal, defineResource, mount, text } from "../../src/door/index.ts";
import { array, url, uuid } from "../../src/door/resources.ts";
import { onBoth } from "../harness/existing.ts";
import { ownService } from "../harness/own-service.ts";

const summer = "2020-01-01T01:00:00+01:00";
const values = {
  label: " x ",
  at: summer,
  price: "12.5",
  code: "0198C5D8-7A4C-7B1F-9D0E-3F2A61C4B7E5",
  link: "https://EXAMPLE.org",
  times: [summer],
};
const read = {
  label: "x",
  at: "2020-01-01T00:00:00.000Z",
  price: "12.50",
  code: "0198c5d8-7a4c-7b1f-9d0e-3f2a61c4b7e5",
  link: "https://example.org/",
  times: ["2020-01-01T00:00:00.000Z"],
};
const filters = ["at=2020-01-01T00:00:00Z", `code=${values.code}`, "label=x", "price=12.5"];

onBoth(
  "stores a default in the same form as a sent value, also in existing rows",
  "SELECT 1",
  async ({ makeStore }, t) => {
    const before = defineResource({ name: "thing", fields: { title: text() } });
    const now = defineResource({
      name: "thing",
      fields: {
        title: text(),
        label: text({ default: values.label }),
        at: dateTime({ default: values.at }),
        price: decimal({ scale: 2, maximum: "100", default: values.price }),
        code: uuid({ default: values.code }),
        link: url({ default: values.link }),
        times: array(dateTime(), { default: values.times }),
      },
      filters: { at: ["eq"], code: ["eq"], label: ["eq"], price: ["eq"] },
    });
    const old = await ownService(t, { store: makeStore(), mounts: [mount(before, { permission: anyone })] });
    await old.ask("POST", "/things", { body: { title: "A" } });
    const { ask, get } = await ownService(t, { store: makeStore(), mounts: [mount(now, { permission: anyone })] });

    await ask("POST", "/things", { body: { title: "B" } });
    await ask("POST", "/things", { body: { title: "C", ...values } });

    const all = ["A", "B", "C"].map((title, at) => ({ id: at + 1, title, ...read }));
    assert.deepEqual((await get("/things")).json, all);
    for (const filter of filters) assert.equal((await get(`/things?${filter}`)).json.length, 3, filter);
  },
);
