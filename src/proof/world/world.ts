import type { Service } from "../../composition/create-service.ts";
import type { People } from "../../features/auth/people/people.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import type { Collection } from "../../store/store.ts";
import { identityIn, type Actor } from "../content/actors.ts";
import type { Marks } from "../content/marks.ts";
import { undo } from "../content/restore.ts";
import { compareStates, readState, withTables, type RowChange, type State } from "../content/state.ts";
import { makeValues, type ValueSource } from "../content/values.ts";
import { makeSight, type Sight } from "../judging/sight.ts";
import { makeAllRecords, type NotTried } from "./all-records.ts";
import { findIdentity, type OpenProved, type ProvedService } from "./opening.ts";
import { planUsers } from "./plan.ts";
import type { Ids } from "./records.ts";
import { collectStructure } from "./structure.ts";
import { makeActors, makeUsers } from "./users.ts";

/** A running service with users and records, and the facts that `prove` knows about them. */
export interface World {
  readonly service: Service;
  readonly people: People;
  readonly actors: readonly Actor[];
  /** The mounts whose records were made. */
  readonly mounts: readonly ServedMount[];
  readonly marks: Marks;
  readonly values: ValueSource;
  /** Draws values that differ from the stored ones, and have the opposite order. */
  readonly otherValues: ValueSource;
  readonly notTried: readonly NotTried[];
  readonly usersTable: string;
  readonly identityFields: readonly string[];
  readonly now: number;
  /** The columns that permissions, references and unique sets use, by table. Their values stay. */
  readonly structure: ReadonlyMap<string, ReadonlySet<string>>;
  /** The tables of the service. */
  readonly collections: () => readonly Collection[];
  /** The rows of the world as they were made. */
  state(): State;
  /** Returns what a caller may see and change, in the made state or in another one. */
  sightOf(actor: Actor, state?: State): Sight;
  /** Returns the rows that were changed since the world was made. */
  findChanges(): Promise<readonly RowChange[]>;
  /** Undoes all changes. Returns false if that is impossible, so that a new world is needed. */
  undoChanges(changes: readonly RowChange[]): Promise<boolean>;
  takeFault(): unknown;
  takeConnections(): readonly string[];
  close(): Promise<void>;
}

const SEED = "prove";

/** Makes a world. Two worlds of the same declarations are equal. */
export async function makeWorld(open: OpenProved): Promise<World> {
  const actorsByName = new Map<string, Actor>();
  const late: { proved: ProvedService | null } = { proved: null };
  const proved = (late.proved = await open(async (name) => {
    const actor = actorsByName.get(name);
    return actor === undefined ? null : findIdentity(late.proved!, actor);
  }));
  const { service, people, watch } = proved;
  const { users, declared } = people.accounts;
  const usersTable = users.collection.name;
  const marks: Marks = new Map();
  const values = makeValues(SEED);
  const ids: Ids = new Map();
  const planned = planUsers(service.mounts, declared.roles);
  const made = await makeUsers(proved, planned, values, marks, ids);
  const served = service.mounts.filter((mount) => mount.older === null);
  const { mounts, notTried } = await makeAllRecords({ proved, made, values, marks, ids }, served);
  const collections = watch.collections().filter(({ links }) => links === undefined);
  const now = service.now();
  const state = await readState(service.store, collections);
  watch.clear();
  for (const actor of makeActors(made, service)) actorsByName.set(actor.name, actor);
  const identityFields = declared.identityFields;
  const sights = new Map<string, Sight>();
  const see = (actor: Actor, at: State): Sight =>
    makeSight({
      identity: identityIn({ state: at, now, usersTable, identityFields }, actor),
      state: at,
      now,
      usersTable,
      hasScopes: true,
    });
  const compareTouched = async (): Promise<readonly RowChange[]> => {
    const touched = watch.touched().filter((each) => collections.includes(each));
    if (touched.length === 0) return [];
    return compareStates(state, withTables(state, await readState(service.store, touched)), touched);
  };
  return {
    service,
    people,
    actors: [...actorsByName.values()],
    mounts,
    marks,
    values,
    otherValues: makeValues(`${SEED} again`, { descending: true }),
    notTried,
    usersTable,
    identityFields,
    now,
    structure: collectStructure(served, usersTable, identityFields),
    collections: () => collections,
    state: () => state,
    sightOf(actor, at) {
      if (at !== undefined) return see(actor, at);
      const known = sights.get(actor.name) ?? see(actor, state);
      sights.set(actor.name, known);
      return known;
    },
    async findChanges() {
      const changes = await compareTouched();
      if (changes.length === 0) watch.clear();
      return changes;
    },
    async undoChanges(changes) {
      const isUndone = (await undo(service.store, changes, collections)) && (await compareTouched()).length === 0;
      watch.clear();
      return isUndone;
    },
    takeFault: proved.takeFault,
    takeConnections: proved.takeConnections,
    close: () => service.close(),
  };
}
