// A service in memory for any runtime, used by Fetch requests. The test checks its output.
import {
  accounts,
  caller,
  createService,
  defineResource,
  integer,
  mount,
  owner,
  Secret,
  text,
  tokenLogin,
} from "latchkey";
import { sqliteStore } from "latchkey/stores";

const note = defineResource({
  name: "note",
  fields: { title: text({ maxLength: 200 }), owner_id: integer({ default: caller, readOnly: true }) },
  filters: { title: ["icontains"] },
});
const people = accounts({ registration: "open" });
const service = await createService({
  store: sqliteStore({ path: ":memory:" }),
  secret: new Secret("a secret of 32 characters or more."),
  features: [people, tokenLogin(people)],
  mounts: [mount(note, { permission: owner("owner_id") })],
});

async function ask(method, path, { body, access } = {}) {
  const request = new Request(`http://127.0.0.1${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(access === undefined ? {} : { authorization: `Bearer ${access}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await service.fetch(request, { peer: "127.0.0.1" });
  return { status: response.status, value: await response.json() };
}

const ann = { username: "ann", name: "Ann", email: "ann@example.com", password: "not a common password" };
const registered = await ask("POST", "/users", { body: ann });
const pair = await ask("POST", "/api/token/", { body: { username: ann.username, password: ann.password } });
const { access } = pair.value;
const stranger = await ask("POST", "/notes", { body: { title: "no" } });
const created = await ask("POST", "/notes", { body: { title: "Ünï 1" }, access });
const listed = await ask("GET", `/notes?title[icontains]=${encodeURIComponent("ü")}`, { access });
const wrong = await ask("POST", "/notes", { body: { titel: "a" }, access });
await service.close();
process.stdout.write(
  JSON.stringify({
    statuses: [registered, pair, stranger, created, listed, wrong].map(({ status }) => status),
    listed: listed.value.map(({ title }) => title),
    wrong: wrong.value.errors.map(({ pointer }) => pointer),
  }),
);
