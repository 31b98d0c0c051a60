import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { groupInvitations, memberOf, type AccountsOptions, type Permission } from "../../src/door/auth.ts";
import { documentation } from "../../src/door/features.ts";
import {
  administrator,
  anyOf,
  authenticated,
  defineFeature,
  defineResource,
  enumeration,
  mount,
  reference,
  text,
  type Feature,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { olderShape, type Mount } from "../../src/door/resources.ts";
import type { Store } from "../../src/door/stores.ts";
import { ada, as, root, startMailed, type Headers, type Mailed } from "./verified-emails.ts";

// Teams with UUIDs, and seats in them without a unique set. Ada (2) owns team one.

export const team = defineResource({ name: "team", id: "uuid", fields: { name: text() } });
export const seat = defineResource({
  name: "seat",
  id: "uuid",
  fields: {
    user_id: reference("users"),
    team_id: reference(team, { onDelete: "cascade" }),
    role: enumeration(["owner", "guest"], { default: "guest" }),
    invited_by: reference("users", { optional: true }),
    note: text({ optional: true }),
    code: text({ default: () => codes.next() }),
  },
  // An invitation has an address in place of the user. The check cannot say who a reserved seat is for.
  check(record: Readonly<Record<string, unknown>>) {
    const names = Object.keys(record).toSorted().join();
    assert.equal(names, "code,invited_by,note,role,team_id,user_id");
    const { role, note, user_id } = record as { role: string; note: string | null; user_id: number };
    const refused = { pointer: "/note", code: "invalid", detail: "This note is not for them." };
    if (note === "reserved") return user_id.toFixed() === "2" ? [refused] : [];
    return role === "owner" && note === "guest" ? [refused] : [];
  },
});

/** The source of the codes of seats. It may fail, like one of another service. */
export const codes = { next: (): string => "code" };

export interface Seats extends Mailed {
  readonly teamId: string;
  /** Invites and returns the token of the mail. */
  invite(body?: object, headers?: Headers): Promise<string>;
  accept(body: object, headers?: Headers): ReturnType<Mailed["ask"]>;
  list(query?: string, headers?: Headers): ReturnType<Mailed["ask"]>;
}

export interface SeatOptions {
  readonly create?: Permission<"team_id" | "id">;
  readonly seats?: object;
  readonly groups?: object;
  readonly mounts?: readonly Mount[];
  readonly features?: readonly Feature[];
  readonly store?: Store;
  readonly people?: AccountsOptions;
  readonly service?: Partial<ServiceOptions>;
}

/** Starts a service with seats, which stops with the test. */
export async function startSeats(t: TestContext, options: SeatOptions = {}): Promise<Seats> {
  const members = memberOf(seat, { user: "user_id" });
  const owners = memberOf(seat, { user: "user_id", where: { role: "owner" } });
  const teams = mount(team, {
    permission: {
      list: authenticated,
      read: anyOf(administrator, members),
      create: administrator,
      delete: administrator,
    },
    ...options.groups,
  });
  const seats = mount(seat, {
    permission: {
      list: anyOf(administrator, members),
      read: anyOf(administrator, members),
      create: options.create ?? anyOf(administrator, owners),
      update: administrator,
      delete: administrator,
    },
    invitations: { user: "user_id" },
    ...options.seats,
  });
  const mounts: readonly Mount[] = [
    // The older shapes come first, and are not the mounts of the invitations.
    olderShape(teams, { prefix: "/v1", fields: {}, defaults: { name: "old" } } as never),
    olderShape(seats, { prefix: "/v1", fields: { user_id: "user_id", team_id: "team_id", rank: "role" } }),
    teams,
    seats,
    ...(options.mounts ?? []),
  ] as never;
  const mailed = await startMailed(
    t,
    { registration: "open", invitations: true, ...options.people },
    (people, box) => [
      groupInvitations(people, box),
      defineFeature({ name: "seats", setUp: () => ({ offer: null, mounts }) }),
      documentation({ title: "Seats", version: "1" }),
      ...(options.features ?? []),
    ],
    options.store,
    options.service,
  );
  const made = await mailed.post("/teams", { name: "One" }, root);
  assert.equal(made.status, 201, made.text);
  const teamId = made.json.id as string;
  const owner = await mailed.post("/seats", { user_id: 2, team_id: teamId, role: "owner" }, root);
  assert.equal(owner.status, 201, owner.text);
  return {
    ...mailed,
    teamId,
    async invite(body = {}, headers = as(ada)) {
      const sent = await mailed.post(
        "/seats/invitations",
        { email: "ben@example.com", team_id: teamId, ...body },
        headers,
      );
      assert.equal(sent.status, 202, sent.text);
      return (await mailed.onlyMail()).token!;
    },
    accept: (body, headers) => mailed.post("/api/invitations/accept/", body, headers),
    list: (query = "", headers = as(ada)) => mailed.ask("GET", `/seats/invitations${query}`, undefined, headers),
  };
}
