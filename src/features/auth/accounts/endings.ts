import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { isObject, isText, buildChoiceCheck, shown, shownWithoutText } from "../../../core/checking/members.ts";
import type { Assembled } from "../../../feature/feature.ts";
import { collectCollections } from "../../../http/mount/placing.ts";
import type { Collection, Where } from "../../../store/store.ts";
import type { RevocationsOptions } from "../records/revocation.ts";

type When = "password" | "account";

/** The tables whose rows are deleted when a password changes, or with the account. Features name them in `setUp`. */
export interface Endings {
  readonly ends: Pick<RevocationsOptions, "endWithGeneration" | "endWithAccount" | "findEnded">;
  /**
   * Adds a table, and the condition of the rows that end. Throws `DeclarationError` if it is not suitable, or if the
   * service has already started.
   */
  add(when: When, collection: Collection, ended?: Where): void;
  /**
   * Returns the added tables that the service does not have, each with its fix. Without this check at the start, each
   * change of a password would fail.
   */
  mistakes(all: Assembled): readonly string[];
}

export function makeEndings(): Endings {
  const named: Record<When, Collection[]> = { password: [], account: [] };
  const conditions = new Map<Collection, Where>();
  let isAssembled = false;
  return {
    ends: {
      endWithGeneration: named.password,
      endWithAccount: named.account,
      findEnded: (collection) => conditions.get(collection) ?? null,
    },
    add(when, collection, ended) {
      const wrong = buildChoiceCheck("password", "account")(when);
      if (wrong !== null) throw new DeclarationError([`registerTable: its first argument is ${shown(when)}; ${wrong}`]);
      const input: unknown = collection;
      if (!isObject(input) || !isText(input["name"]) || !Array.isArray(input["columns"]))
        throw new DeclarationError([
          `registerTable("${when}"): the table is ${shownWithoutText(input)}; give a collection`,
        ]);
      const found = tableMistakes(when, collection);
      if (isAssembled)
        found.push(`${describeCall(when, collection)}: the features are set up already; call it in setUp`);
      if (found.length > 0) throw new DeclarationError(found);
      named[when].push(collection);
      if (ended !== undefined) conditions.set(collection, ended);
    },
    mistakes({ collections, mounts }) {
      isAssembled = true;
      const tableNames = new Set([...collections, ...collectCollections(mounts)].map(({ name }) => name));
      return (["password", "account"] as const).flatMap((when) =>
        named[when]
          .filter(({ name }) => !tableNames.has(name))
          .map(
            (collection) =>
              `${describeCall(when, collection)}: the service has no such table; add it to the collections of the feature`,
          ),
      );
    },
  };
}

function tableMistakes(when: When, collection: Collection): string[] {
  const types = new Map(collection.columns.map(({ name, type }) => [name, type]));
  const needed = types.has("generation") ? ["user_id", "generation"] : ["user_id"];
  return needed
    .filter((name) => types.get(name) !== "integer")
    .map((name) => {
      const wrong = types.has(name) ? `holds ${types.get(name)}` : "is missing";
      return `${describeCall(when, collection)}: the column ${name} ${wrong}; declare { name: "${name}", type: "integer" }`;
    });
}

function describeCall(when: When, { name }: Collection): string {
  return `registerTable("${when}", ${name})`;
}
