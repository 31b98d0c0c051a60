import { defineFeature, type Feature } from "../../src/door/index.ts";
import type { Collection, JSONValue, Store } from "../../src/door/stores.ts";
import type { Composed, Mailer } from "../../src/features/mail/contract.ts";

// A feature of mail that keeps its queue in a table and composes each mail when a test asks for it.

/** A composed mail, with the token of its link. */
export interface SentMail extends Composed {
  readonly kind: string;
  readonly token: string | null;
}

export interface TestMail {
  readonly feature: Feature<Mailer>;
  /** Returns the queued mails, oldest first, and empties the queue. */
  deliver(now: number): Promise<readonly SentMail[]>;
  /** Returns the number of queued mails, including those whose `compose` returns null. */
  queued(): Promise<number>;
  /** Returns the data of the queued mails, oldest first. */
  about(): Promise<readonly JSONValue[]>;
}

const collection: Collection = {
  name: "test_mails",
  key: "integer",
  columns: [
    { name: "kind", type: "text" },
    { name: "about", type: "json" },
  ],
};

type Compose = (
  about: JSONValue,
  delivery: { readonly store: Store; readonly now: number },
) => Promise<Composed | null>;

/** Makes a feature of mail for one service. */
export function testMail(): TestMail {
  const kinds = new Map<string, Compose>();
  let store: Store | null = null;
  const rows = async () => store!.list({ collection, where: null, sort: [{ column: "id" }], limit: 1000 });
  return {
    feature: defineFeature({
      name: "mail",
      setUp(host) {
        store = host.store;
        const offer: Mailer = {
          publicURL: "https://shop.example",
          kind({ name, compose }) {
            kinds.set(name, compose as unknown as Compose);
            return (about) => [{ kind: "insert", collection, values: { kind: name, about } }];
          },
        };
        return { offer, collections: [collection] };
      },
    }),
    async deliver(now) {
      const sent: SentMail[] = [];
      for (const { record } of await rows()) {
        const kind = record["kind"] as string;
        await store!.write({ changes: [{ kind: "delete", collection, key: record["id"] as number }] });
        const mail = await kinds.get(kind)!(record["about"] as JSONValue, { store: store!, now });
        const link = mail?.values["link"];
        if (mail !== null)
          sent.push({ ...mail, kind, token: link === undefined ? null : new URL(link).searchParams.get("token") });
      }
      return sent;
    },
    queued: async () => (await rows()).length,
    about: async () => (await rows()).map(({ record }) => record["about"] as JSONValue),
  };
}
