import {
  accounts,
  anyone,
  createService,
  defineEndpoint,
  defineResource,
  mount,
  Secret,
  text,
  tokenLogin,
  type Service,
  type ServiceOptions,
} from "latchkey";
import { sqliteStore } from "latchkey/stores";

const books = defineResource({
  name: "book",
  fields: { title: text({ maxLength: 200 }) },
  filters: { title: ["eq"] },
});

/** Shows the caller that the service sees. */
const caller = defineEndpoint({
  method: "GET",
  path: "/caller",
  access: "open",
  handle: ({ call: { client } }) => ({
    status: 200,
    body: {
      kind: "data",
      element: "caller",
      value: { address: client.address, encrypted: client.encrypted, viaTrustedProxy: client.viaTrustedProxy },
    },
  }),
});

const people = accounts({ registration: "open" });

/** Starts a service whose paths are all under `/api`. */
export const startService = (options: Partial<ServiceOptions> = {}): Promise<Service> =>
  createService({
    basePath: "/api",
    store: sqliteStore({ path: ":memory:" }),
    secret: new Secret("a secret of at least 32 letters, from your environment"),
    features: [people, tokenLogin(people)],
    mounts: [mount(books, { permission: anyone })],
    endpoints: [caller],
    ...options,
  });
